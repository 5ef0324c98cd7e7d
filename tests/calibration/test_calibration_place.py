"""Where we do not measure, and the word for it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from dbdyno.calibration import place
from dbdyno.calibration.place import inspect
from dbdyno.errors import DynoError
from dbdyno.probes.storage import Storage

MIB = 1 << 20


def refusal(directory: Path, file_bytes: int = MIB) -> tuple[str, str]:
    """Code and message of the refusal."""
    with pytest.raises(DynoError) as raised:
        inspect(directory, file_bytes)
    assert raised.value.exit_code == 2
    assert "\n" not in raised.value.message
    return raised.value.code, raised.value.message


class Space:
    """What statvfs says."""

    def __init__(self, free: int, used: int, flags: int = 0) -> None:
        self.f_frsize, self.f_bavail, self.f_bfree = 1, free, free
        self.f_blocks, self.f_flag = free + used, flags


def on(monkeypatch: pytest.MonkeyPatch, space: Space, file_system: str = "ext4") -> None:
    """As if the directory were there."""
    monkeypatch.setattr(place.os, "statvfs", lambda _: space)
    monkeypatch.setattr(place, "find_storage", lambda _: Storage(file_system, "sda", False, "rw"))


def test_a_directory_that_may_be_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Space enough, on a disk: no word about it."""
    on(monkeypatch, Space(free=100 * MIB, used=0))

    found = inspect(tmp_path, 10 * MIB)

    assert found.directory == tmp_path
    assert [warning for warning in found.warnings if warning["code"] != "no_direct_io"] == []


def test_what_is_no_directory_is_refused(tmp_path: Path) -> None:
    """Absent, or a file."""
    (tmp_path / "file").touch()

    assert refusal(tmp_path / "absent")[0] == "no_directory"
    assert refusal(tmp_path / "file")[1].endswith("is no directory; name a directory on the storage in question")


@pytest.mark.parametrize(
    ("space", "file_system", "code", "words"),
    [
        (Space(100 * MIB, 0), "tmpfs", "no_storage", "is on tmpfs, which is memory"),
        (Space(100 * MIB, 0, os.ST_RDONLY), "ext4", "read_only", "is mounted read-only"),
        (Space(MIB, 19 * MIB), "ext4", "too_full", "95% full"),
        (Space(29 * MIB, 0), "ext4", "too_little_space", "3 times the file"),
    ],
)
def test_what_may_not_be_measured_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, space: Space, file_system: str, code: str, words: str
) -> None:
    """Memory, read-only, full, and too little space: nothing is written."""
    on(monkeypatch, space, file_system)

    found = refusal(tmp_path, 10 * MIB)

    assert found[0] == code
    assert words in found[1]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("file_system", "code"), [("overlay", "overlay"), ("nfs4", "network_file_system")])
def test_what_is_not_quite_a_disk_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file_system: str, code: str
) -> None:
    """Measured all the same, with a warning."""
    on(monkeypatch, Space(free=100 * MIB, used=0), file_system)

    assert code in [warning["code"] for warning in inspect(tmp_path, MIB).warnings]


def test_without_direct_io_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reads may then come from the page cache of this host."""
    on(monkeypatch, Space(free=100 * MIB, used=0))
    real = os.open

    def refusing(path: Any, flags: int, *more: int) -> int:
        if flags & os.O_DIRECT:
            raise OSError(22, "Invalid argument")
        return real(path, flags, *more)

    monkeypatch.setattr(place.os, "open", refusing)
    found = inspect(tmp_path, MIB)

    assert found.direct is False
    assert [warning["code"] for warning in found.warnings] == ["no_direct_io"]
