"""Files that are read at the same time, and storage that fails while it is measured."""

from __future__ import annotations

from typing import Any

import pytest
from programmed_device import FILE_BYTES, INVENTORY, law, without

from dbdyno.analysis.calibration.analyse import analyse
from dbdyno.analysis.calibration.findings import Calibration
from dbdyno.analysis.calibration.judge import Judge
from dbdyno.calibration.cells import DATA, GROWING, LOG, Planned
from dbdyno.calibration.procedure import measure, measure_files
from dbdyno.calibration.spending import Spending
from dbdyno.calibration.storage import Document, GoOn, Storage
from dbdyno.errors import DynoError

FILES_ONLY = without("idle", "cache_map", "sweep", "sizes", "burst")


class Nobody:
    """Who watches and does not care."""

    def begin(self, what: str, left_ns: int) -> None:
        """Nobody is told."""

    def go_on(self) -> bool:
        """Always."""
        return True


def side_by_side() -> list[Document]:
    """Two devices that share nothing, each with a file."""
    storages = [(Storage.programmed(law(drift=None, seed=seed)), FILE_BYTES) for seed in (1, 2)]
    return measure_files(storages, FILES_ONLY, 3, Judge(3), Nobody(), Spending.without_end()).entries


def found(entries: list[Document]) -> Calibration:
    """What is concluded of them."""
    named = [{"path": name, "bytes": FILE_BYTES, "device": name, "file_system": "ext4"} for name in ("a", "b")]
    return analyse(
        {
            "budget": "quick",
            "measured_at": "2026-11-22T00:00:00+00:00",
            "seed": 3,
            "engine": "programmed",
            "inventory": INVENTORY,
            "asked": {"num_disks": 1, "max_latency_ms": 20.0, "p99_budget_ns": None},
            "file_bytes": FILE_BYTES,
            "filled_bytes": 0,
            "entries": entries,
            "interrupted": False,
            "files": named,
            "warnings": [],
        }
    )


def test_files_that_share_nothing_get_all_of_it() -> None:
    """In every block both are read at once after each was read alone, and what the kernel counts then is of both."""
    entries = side_by_side()
    of_block = [entry["phase"] for entry in entries if entry["block"] == 5]
    told = found(entries)

    assert of_block == ["files"] * 10 + ["together"] * 2
    assert {entry["kernel"] for entry in entries if entry["phase"] == "together"} == {None}
    for file in told.files:
        assert file.together is not None
        assert file.together.estimate == pytest.approx(1.0, abs=0.02)
    assert told.verdicts == ()


def test_files_that_share_their_device_are_named_with_what_each_gets() -> None:
    """Half of it."""
    entries = side_by_side()
    for entry in entries:
        if entry["phase"] == "together":
            entry["outcome"]["reads"] //= 2
    told = found(entries)

    assert [verdict.code for verdict in told.verdicts] == ["shared_device"]
    assert told.verdicts[0].sentence == (
        "These share a device, a link or a limit: read at the same time each gets a part of what it gets alone "
        "(a 0.50, b 0.50)."
    )


class Failing:
    """A device that fails with its thirtieth cell."""

    def __init__(self) -> None:
        self.storage, self.ran = Storage.programmed(law()), 0

    def run(self, planned: Planned, go_on: GoOn) -> Document:
        """Like any other until then."""
        self.ran += 1
        if self.ran == 30:
            raise DynoError("io", "/srv/data: Input/output error (os error 5)")
        return self.storage.run(planned, go_on)


def test_what_was_measured_before_storage_failed_is_kept() -> None:
    """And nothing is asked of it afterwards."""
    failing: Any = Failing()
    measured = measure(
        dict.fromkeys((DATA, LOG, GROWING), failing), without("burst"), FILE_BYTES, 1, Judge(1), Nobody()
    )

    assert len(measured.entries) == 29
    assert failing.ran == 30
    assert measured.failed is not None
    assert measured.failed.message == "/srv/data: Input/output error (os error 5)"
