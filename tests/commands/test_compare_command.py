"""`dbdyno compare` at the command line: two profiles, and every wrong pair in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import server_record as make
from packed import write_run
from server_record import SECOND

from dbdyno.commands.app import run
from dbdyno.store import profile_directory


def saved(directory: Path, seen: int) -> Path:
    """A profile of one session that waits for a lock so often in 1000 snapshots."""
    steps = [make.step(at, [[0, "1", "active", 1, seen, 9, 9]], [[0, 0, 0]]) for at in range(15)]
    record: dict[str, Any] = make.record(steps, [make.process(7, 15 * SECOND)], ["", "Lock:tuple"])
    profile_directory.create(directory)
    profile_directory.write_record(directory, {key: value for key, value in record.items() if key != "format"})
    return directory


def test_two_profiles_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As text and as one JSON document."""
    first, second = saved(tmp_path / "a", 800), saved(tmp_path / "b", 200)

    assert run(["compare", str(first), str(second)]) == 0
    assert "Average active sessions fell from 0.80 to 0.20" in " ".join(capsys.readouterr().out.split())
    assert run(["compare", str(first), str(second), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["parts"][0]["name"] == "Lock:tuple"
    assert document["parts"][0]["difference"]["estimate"] == pytest.approx(-0.6)


def test_what_cannot_be_compared_is_said_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A profile and a run, two runs, nothing at all, a damaged record: exit code 2 and the reason."""
    profile, empty = saved(tmp_path / "a", 800), tmp_path / "empty"
    empty.mkdir()
    ran = write_run(tmp_path / "run")
    damaged = saved(tmp_path / "d", 100)
    path = damaged / profile_directory.RECORD
    path.write_bytes(path.read_bytes().replace(b"Lock:tuple", b"Lock:tuplE"))

    for arguments, words in (
        ((profile, ran), "compare two of one kind"),
        ((ran, ran), "compare takes profiles"),
        ((empty, profile), "holds no profile"),
        ((tmp_path / "nowhere", profile), "holds no profile"),
        ((profile, damaged), "is damaged"),
    ):
        assert run(["compare", *map(str, arguments)]) == 2, arguments
        error = capsys.readouterr().err
        assert words in error
        assert error.count("\n") == 1
