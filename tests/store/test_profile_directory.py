"""A profile's directory: whole or not there, and damage is found."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from dbdyno.errors import DynoError
from dbdyno.store import profile_directory

RECORD = {"watch": {"steps": []}, "stacks": None}


def test_a_record_comes_back_as_it_was_written(tmp_path: Path) -> None:
    """With its format; the file is one JSON document whose last key is the checksum of what stands before it."""
    profile_directory.create(tmp_path / "p")
    path = profile_directory.write_record(tmp_path / "p", RECORD)

    assert profile_directory.read_record(tmp_path / "p") == {"format": 1, **RECORD}
    data = path.read_bytes()
    covered = data.rpartition(b',"sha256":"')[0]
    assert json.loads(data)["sha256"] == hashlib.sha256(covered).hexdigest()
    assert list((tmp_path / "p").iterdir()) == [path]
    assert profile_directory.is_profile(tmp_path / "p")


def test_a_byte_that_changed_is_found(tmp_path: Path) -> None:
    """Wherever it is."""
    path = profile_directory.write_record(tmp_path, RECORD)
    whole = path.read_bytes()
    for place in range(len(whole) - 1):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(DynoError, match="is damaged; restore the directory"):
            profile_directory.read_record(tmp_path)


def test_a_profile_that_did_not_end_says_so(tmp_path: Path) -> None:
    """Only the snapshots were there when it was killed."""
    (tmp_path / profile_directory.SNAPSHOTS).touch()

    assert profile_directory.is_profile(tmp_path)
    with pytest.raises(DynoError, match=r"holds no record\.json: that dbdyno profile did not end"):
        profile_directory.read_record(tmp_path)


def test_a_directory_in_which_nothing_came_about_goes_again(tmp_path: Path) -> None:
    """With its parent, if that is empty; what others put there stays."""
    profile_directory.create(tmp_path / "profiles" / "one")
    (tmp_path / "profiles" / "one" / profile_directory.SNAPSHOTS).touch()
    profile_directory.discard(tmp_path / "profiles" / "one")
    assert list(tmp_path.iterdir()) == []

    profile_directory.create(tmp_path / "profiles" / "two")
    (tmp_path / "profiles" / "other").touch()
    profile_directory.discard(tmp_path / "profiles" / "two")
    assert list(tmp_path.rglob("*")) == [tmp_path / "profiles", tmp_path / "profiles" / "other"]


def test_another_format_is_refused(tmp_path: Path) -> None:
    """By its number."""
    profile_directory.write_record(tmp_path, {"format": 2})

    with pytest.raises(DynoError, match="has format 2; this dbdyno reads 1"):
        profile_directory.read_record(tmp_path)
