"""What was reached beside what was expected, and beside the link; where the kernel keeps the link's speed."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
import synthetic_calibration

from dbdyno.analysis.calibration.ceilings import ceilings, link_bytes_per_s
from dbdyno.analysis.calibration.recognising import verdicts
from dbdyno.analysis.findings import Estimate
from dbdyno.calibration.inventory import is_virtual, link_of

DISK, NOTHING = synthetic_calibration.virtual_disk(), synthetic_calibration.nothing()
NVME = {"current_link_speed": "8.0 GT/s PCIe", "current_link_width": "4"}


def codes(asked: dict[str, Any], inventory: dict[str, Any]) -> list[tuple[str, str]]:
    """What is recognised of ceilings alone."""
    found = ceilings(asked, inventory, DISK.loads, DISK.sizes)
    return [(one.code, one.sentence) for one in verdicts(dataclasses.replace(NOTHING, ceilings=found), 0.0)]


@pytest.mark.parametrize(
    ("link", "words", "bytes_per_s"),
    [
        (NVME, "PCIe 8 GT/s x4", 3.938e9),
        ({"current_link_speed": "2.5 GT/s PCIe", "current_link_width": "1"}, "PCIe 2.5 GT/s x1", 250e6),
        ({"current_link_speed": "64.0 GT/s PCIe", "current_link_width": "4"}, "PCIe 64 GT/s x4", 30.25e9),
        ({**NVME, "sata_spd": "6.0 Gbps"}, "SATA 6 Gbit/s", 600e6),
        ({"negotiated_linkrate": "12.0 Gbit"}, "SAS 12 Gbit/s", 1.2e9),
    ],
)
def test_a_links_rate_is_what_its_code_leaves(link: dict[str, str], words: str, bytes_per_s: float) -> None:
    """As their standards say; the closest link counts."""
    found = link_bytes_per_s(link)

    assert found is not None
    assert found[0] == words
    assert found[1] == pytest.approx(bytes_per_s, rel=1e-3)


@pytest.mark.parametrize("link", [{}, {"current_link_speed": "Unknown", "current_link_width": "63"}])
def test_a_link_that_is_not_told_is_no_ceiling(link: dict[str, str]) -> None:
    """Nothing is guessed."""
    assert link_bytes_per_s(link) is None


def test_results_stand_beside_what_was_expected() -> None:
    """The most of all loads, with where it was reached; below it nothing is recognised."""
    iops, rate = ceilings({"expect_iops": 100_000, "expect_mbps": 2_000}, {}, DISK.loads, DISK.sizes)

    assert (iops.name, iops.most, iops.reached.estimate, iops.at, iops.above) == (
        "expected_iops",
        100_000,
        78_100,
        "depth 128",
        False,
    )
    assert (rate.name, rate.most, rate.reached.estimate, rate.at) == (
        "expected_bytes_per_s",
        2e9,
        1_290e6,
        "1024 KiB in order, depth 8",
    )
    assert codes({"expect_iops": 100_000, "expect_mbps": 2_000}, {}) == []


def test_faster_than_the_link_is_a_cache() -> None:
    """1.29 GB/s over a link of 0.6; where a hypervisor made the link up, or it is fast enough, nothing is said."""
    link = {"link": {"sata_spd": "6.0 Gbps"}}

    assert codes({}, link) == [
        (
            "faster_than_link",
            "Faster than its link: 1.29 GB/s over SATA 6 Gbit/s, which carries 600 MB/s: this is a cache.",
        )
    ]
    assert codes({}, {**link, "virtual": True}) == []
    assert codes({}, {"link": NVME}) == []


def test_faster_than_expected_is_flagged_if_chance_does_not_explain_it() -> None:
    """The whole interval must lie above."""
    assert [code for code, _ in codes({"expect_iops": 60_000}, {})] == ["faster_than_expected"]
    assert codes({"expect_iops": 77_000}, {}) == []
    wide = [dataclasses.replace(load, iops=Estimate(load.iops.estimate, None, None)) for load in DISK.loads]
    assert ceilings({"expect_iops": 77_000}, {}, wide, ())[0].above


def test_the_link_is_found_where_the_kernel_keeps_it(tmp_path: Path) -> None:
    """An NVMe's function; the port of a SATA disk; a SAS disk's phy; the closest one counts."""

    def file(path: str, text: str) -> None:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(f"{text}\n")

    devices = "devices/pci0000:00/0000:00:1d.0"
    file(f"{devices}/current_link_speed", "16.0 GT/s PCIe")
    file(f"{devices}/0000:01:00.0/current_link_speed", "8.0 GT/s PCIe")
    file(f"{devices}/0000:01:00.0/current_link_width", "4")
    file(f"{devices}/0000:01:00.0/nvme/nvme0/nvme0n1/dev", "259:0")
    file(f"{devices}/ata1/link1/ata_link/link1/sata_spd", "6.0 Gbps")
    file(f"{devices}/ata1/host0/target0:0:0/0:0:0:0/block/sda/dev", "8:0")
    file(f"{devices}/ata2/link2/ata_link/link2/sata_spd", "<unknown>")
    file(f"{devices}/ata2/host1/target1:0:0/1:0:0:0/block/sdb/dev", "8:16")
    file(f"{devices}/host2/port-2:0/phy-2:0/sas_phy/phy-2:0/negotiated_linkrate", "12.0 Gbit")
    file(f"{devices}/host2/port-2:0/end_device-2:0/target2:0:0/2:0:0:0/block/sdc/dev", "8:32")
    file("devices/virtual/block/dm-0/dev", "253:0")

    def of(path: str) -> dict[str, str]:
        return link_of(tmp_path / path)

    assert of(f"{devices}/0000:01:00.0/nvme/nvme0/nvme0n1") == NVME
    assert of(f"{devices}/ata1/host0/target0:0:0/0:0:0:0/block/sda")["sata_spd"] == "6.0 Gbps"
    assert "sata_spd" not in of(f"{devices}/ata2/host1/target1:0:0/1:0:0:0/block/sdb")
    sas = of(f"{devices}/host2/port-2:0/end_device-2:0/target2:0:0/2:0:0:0/block/sdc")
    assert sas["negotiated_linkrate"] == "12.0 Gbit"
    assert of("devices/virtual/block/dm-0") == {}
    assert link_of(None) == {}


def test_a_hypervisor_is_known_by_the_cpus_flags() -> None:
    """A flag of that name, not a word of it elsewhere."""
    assert is_virtual("flags\t\t: fpu vme hypervisor lahf_lm\n")
    assert not is_virtual("model name\t: hypervisor\nflags\t\t: fpu vme\n")
