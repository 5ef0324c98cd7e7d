"""The journal keeps what was written and says where it is damaged."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbdyno.errors import DynoError
from dbdyno.store.journal import FILE_NAME, Journal, encode, read


def write(path: Path, count: int) -> bytes:
    journal = Journal(path)
    for number in range(count):
        journal.append("trial", {"trial": number, "arm": "ä/b"})
    journal.close()
    return path.read_bytes()


def test_what_was_appended_is_read_back(tmp_path: Path) -> None:
    """Order, kinds and bodies; every line is plain JSON."""
    path = tmp_path / FILE_NAME
    data = write(path, 3)

    assert [(record.seq, record.kind, record.body["trial"]) for record in read(path).records] == [
        (0, "trial", 0),
        (1, "trial", 1),
        (2, "trial", 2),
    ]
    assert [sorted(json.loads(line)) for line in data.splitlines()] == [["body", "kind", "seq", "sha256"]] * 3


@given(cut=st.integers(min_value=0, max_value=600))
def test_a_crash_at_any_byte_loses_at_most_the_last_record(cut: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Cut anywhere: whole lines are read, the torn one is ignored and cut off when the journal is continued."""
    path = tmp_path_factory.mktemp("journal") / FILE_NAME
    data = write(path, 4)
    path.write_bytes(data[:cut])
    whole = data[:cut].count(b"\n")

    contents = read(path)
    continued = Journal(path, contents)
    continued.append("trial", {"trial": 99})
    continued.close()

    assert len(contents.records) == whole
    assert [record.body["trial"] for record in read(path).records] == [*range(whole), 99]


@given(position=st.integers(min_value=0, max_value=10_000), bit=st.integers(0, 7))
def test_a_flipped_bit_is_never_read_as_data(position: int, bit: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    """In an earlier line it is an error with the line's number; in the last one the record is left out."""
    path = tmp_path_factory.mktemp("journal") / FILE_NAME
    data = bytearray(write(path, 4))
    position %= len(data)
    line = bytes(data[:position]).count(b"\n")
    joins_the_last_two = line == 2 and data[position] == ord("\n")
    data[position] ^= 1 << bit
    path.write_bytes(data)

    if line == 3 or joins_the_last_two:
        assert len(read(path).records) == line
    else:
        with pytest.raises(DynoError, match="is damaged"):
            read(path)


def test_a_ctrl_c_while_a_record_becomes_durable_leaves_a_readable_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The record that was written counts, and the one that says why the run ended has the next number."""

    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    journal = Journal(tmp_path / FILE_NAME)
    with monkeypatch.context() as patched:
        patched.setattr(os, "fdatasync", interrupted)
        with pytest.raises(KeyboardInterrupt):
            journal.append("trial", {"trial": 0})
    journal.append("end", {"reason": "interrupted"})
    journal.close()

    assert [(record.seq, record.kind) for record in read(tmp_path / FILE_NAME).records] == [(0, "trial"), (1, "end")]


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    """Two copies of the tool cannot interleave their trials."""
    path = tmp_path / FILE_NAME
    write(path, 1)
    contents = read(path)
    first = Journal(path, contents)

    with pytest.raises(DynoError, match="another dbdyno is writing"):
        Journal(path, contents)

    first.close()


def test_not_a_number_is_refused() -> None:
    """No JSON reader has NaN."""
    with pytest.raises(ValueError, match="Out of range float"):
        encode(0, "trial", {"x": float("nan")})


def test_a_full_disk_is_one_line_and_loses_nothing(tmp_path: Path) -> None:
    """/dev/full fails every write with ENOSPC."""
    journal = Journal(tmp_path / FILE_NAME)
    journal.append("trial", {"trial": 0})
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, journal._descriptor)

    with pytest.raises(DynoError, match=r"No space left on device; free some space") as caught:
        journal.append("trial", {"trial": 1})

    assert caught.value.exit_code == 1
    assert len(read(tmp_path / FILE_NAME).records) == 1
