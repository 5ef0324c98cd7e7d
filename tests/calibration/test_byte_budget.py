"""The byte budget, on a device of known truth whose bytes are counted, and on this machine's own storage."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from programmed_device import FILE_BYTES, law

from dbdyno.analysis.calibration.judge import Judge
from dbdyno.calibration.budget import QUICK
from dbdyno.calibration.cells import DATA, GROWING, LOG
from dbdyno.calibration.procedure import measure
from dbdyno.calibration.running import CUT_SHORT
from dbdyno.calibration.spending import Spending
from dbdyno.calibration.storage import Storage

GIB = 1 << 30
Document = dict[str, Any]


class Nobody:
    """Who watches and does not care."""

    def begin(self, what: str, left_ns: int) -> None:
        """Nobody is told."""

    def go_on(self) -> bool:
        """Always."""
        return True


def measured(most_bytes: int | None, moved: Callable[[], int | None] = lambda: None) -> tuple[list[Document], Spending]:
    """A quick calibration of a programmed device."""
    storage = Storage.programmed(law())
    spending = Spending(most_bytes, 0, moved)
    budget = dataclasses.replace(QUICK, burst_ns=2_000_000_000)
    files = dict.fromkeys((DATA, LOG, GROWING), storage)
    return measure(files, budget, FILE_BYTES, 1, Judge(1), Nobody(), spending).entries, spending


def bytes_of(entries: list[Document]) -> int:
    """Read and written."""
    return sum(entry["read_bytes"] + entry["written_bytes"] for entry in entries)


def test_without_a_budget_nothing_is_left_out() -> None:
    """And every entry says what it moved."""
    entries, spending = measured(None)

    assert spending.left_out is None
    assert CUT_SHORT not in {entry["phase"] for entry in entries}
    cell = next(entry for entry in entries if entry["phase"] == "idle")
    assert cell["read_bytes"] == cell["outcome"]["reads_in_all"] * 8192
    assert cell["written_bytes"] == 0
    commits = [entry for entry in entries if entry["phase"] in ("flush", "flush_growing")]
    assert sum(entry["written_bytes"] for entry in commits) == 24 * 5 * 20 * 8192


@pytest.mark.parametrize("most_gib", [1, 2, 4])
def test_it_is_exceeded_by_no_more_than_a_cell(most_gib: int) -> None:
    """Where the kernel does not say what is moved, a cell is counted when it has ended; commits are kept."""
    entries, spending = measured(most_gib * GIB)
    largest = max(entry["read_bytes"] for entry in entries)

    assert bytes_of(entries) <= most_gib * GIB + largest
    assert len([entry for entry in entries if entry["phase"] == "flush"]) == 96
    assert spending.left_out is not None
    assert "72 of 72 cells of sizes" in spending.left_out


def test_a_cell_that_would_go_beyond_is_cut_and_its_figures_are_not_used() -> None:
    """The burst may take half of what is left, and what comes then goes on."""
    moved = iter(range(0, 10**15, 10**9))  # each look sees another gigabyte gone
    entries, spending = measured(2 * GIB, lambda: next(moved))
    cut = [entry for entry in entries if entry["phase"] == CUT_SHORT]

    assert cut
    assert {entry["level"]["phase"] for entry in cut} <= {"idle", "cache_map", "burst", "sweep", "sizes", "rested"}
    assert not any(entry["phase"] == "burst" for entry in entries)
    assert "1 of 1 cells of burst" in str(spending.left_out)


def test_on_a_real_device_it_is_kept(tmp_path: Path) -> None:
    """All bytes together stay below it but for a twentieth of a second; what is left out is said."""
    place = tmp_path / "place"
    place.mkdir()
    more = ("--file-size", "0.0625", "--byte-budget", "0.5")
    told = subprocess.run(
        [sys.executable, "-m", "dbdyno", "calibrate", str(place), *more, "--out", str(tmp_path / "out"), "--json"],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    if "which is memory" in told.stderr:
        pytest.skip("the tests' directory is in memory")

    assert told.returncode == 0, told.stderr
    found = json.loads(told.stdout)
    assert 0.4 * GIB < found["bytes_read"] + found["bytes_written"] < 0.8 * GIB
    [message] = [warning["message"] for warning in found["warnings"] if warning["code"] == "byte_budget"]
    assert message.startswith("left out by the byte budget of 0.5 GiB: ")
    assert "; moves at most 0.5 GiB in all" in told.stderr
    assert found["flush"][0]["method"] == "fdatasync"


def test_one_that_does_not_hold_the_file_is_refused(tmp_path: Path) -> None:
    """Before anything is written."""
    told = subprocess.run(
        [sys.executable, "-m", "dbdyno", "calibrate", str(tmp_path), "--byte-budget", "1"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert told.returncode == 2
    assert told.stderr == (
        "dbdyno: --byte-budget 1: filling the file takes 1.00 GiB, and as much should be left to read; give 2 or more, "
        "or a smaller --file-size\n"
    )
    assert list(tmp_path.iterdir()) == []
