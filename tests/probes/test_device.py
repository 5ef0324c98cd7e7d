"""A device's `stat` file, of disks and partitions, of old kernels and new ones."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dbdyno.probes.device import DeviceCounts, device_counts, device_work, read_device_counts
from dbdyno.probes.storage import block_device_of

DISK = "10 1 80 5 20 2 4000 9 0 14 14 3 0 24 1 7 2\n"
OLD = "10 1 80 5 20 2 4000 9 0 14 14\n"


def test_sectors_are_512_bytes_whatever_the_device() -> None:
    """Flushes came with Linux 5.5."""
    assert device_counts(DISK) == DeviceCounts(reads=10, read_bytes=40_960, writes=20, write_bytes=2_048_000, flushes=7)
    assert device_counts(OLD).flushes is None


def test_a_partition_has_the_flushes_of_its_disk(tmp_path: Path) -> None:
    """The kernel does not count them for partitions."""
    partition = tmp_path / "vda" / "vda1"
    partition.mkdir(parents=True)
    (partition.parent / "stat").write_text(DISK)
    (partition / "stat").write_text("3 0 24 5 6 2 48 9 0 14 14 0 0 0 0 0 0\n")
    (partition / "partition").write_text("1\n")

    assert read_device_counts(partition) == DeviceCounts(3, 12_288, 6, 24_576, 7)
    assert read_device_counts(tmp_path / "gone") is None


def test_work_is_the_difference(tmp_path: Path) -> None:
    """As the trial's record names it."""
    before, after = device_counts(DISK), DeviceCounts(12, 49_152, 21, 2_050_048, 9)

    assert device_work(tmp_path / "vda", before, after) == {
        "name": "vda",
        "reads": 2,
        "read_bytes": 8_192,
        "writes": 1,
        "write_bytes": 2_048,
        "flushes": 2,
    }


def test_what_is_written_and_flushed_reaches_the_device(tmp_path: Path) -> None:
    """One MiB, synchronously."""
    block = block_device_of(tmp_path)
    before = None if block is None else read_device_counts(block)
    if block is None or before is None:
        pytest.skip("no block device below this directory")
    with (tmp_path / "file").open("wb") as file:
        file.write(os.urandom(1 << 20))
        os.fsync(file.fileno())
    after = read_device_counts(block)

    assert after is not None
    assert device_work(block, before, after)["write_bytes"] >= 1 << 20
