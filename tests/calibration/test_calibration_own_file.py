"""The file that is measured: nobody else's, and gone with its process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dbdyno.calibration import own_file
from dbdyno.calibration.own_file import PREFIX, OwnFile, remove_leftovers


def test_it_has_no_name_and_can_be_opened_again(tmp_path: Path) -> None:
    """What is written through one descriptor is read through the other, and the directory stays empty."""
    with OwnFile(tmp_path) as own:
        own.path.write_bytes(b"page")

        assert own.path.read_bytes() == b"page"
        assert list(tmp_path.iterdir()) == []


def test_where_no_file_may_be_without_a_name_it_loses_it_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file system without O_TMPFILE."""
    real = os.open

    def refusing(path: Path, flags: int, *more: int) -> int:
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(95, "Operation not supported")
        return real(path, flags, *more)

    monkeypatch.setattr(own_file.os, "open", refusing)
    with OwnFile(tmp_path) as own:
        own.path.write_bytes(b"page")

        assert own.path.read_bytes() == b"page"
        assert list(tmp_path.iterdir()) == []


def test_leftovers_are_removed_and_nothing_else(tmp_path: Path) -> None:
    """Empty files of our name go; one that holds something, and others' files, stay."""
    (tmp_path / f"{PREFIX}00").touch()
    (tmp_path / f"{PREFIX}01").write_text("not ours: ours are empty until they have no name")
    (tmp_path / "data").touch()

    removed = remove_leftovers(tmp_path)

    assert [path.name for path in removed] == [f"{PREFIX}00"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{PREFIX}01", "data"]


@pytest.mark.parametrize(
    "delay_s",
    [pytest.param(0.1 * step, marks=[] if step % 5 == 0 else pytest.mark.nightly) for step in range(1, 21)],
)
def test_a_kill_leaves_no_file(tmp_path: Path, delay_s: float) -> None:
    """kill -9 at 20 moments of a calibration, at 4 of them by day: while it starts, fills and reads."""
    place = tmp_path / "place"
    place.mkdir()
    command = [sys.executable, "-m", "dbdyno", "calibrate", str(place), "--file-size", "0.0625", "--out"]
    process = subprocess.Popen([*command, str(tmp_path / "out")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.4 + delay_s)
    process.send_signal(signal.SIGKILL)
    process.wait()

    assert list(place.iterdir()) == []
