"""`dbdyno compare` at the command line: profiles, runs, the gate, and every wrong pair in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import server_record as make
from compared_runs import ALL, recorded
from packed import write_run
from server_record import SECOND

from dbdyno.analysis.runs_compared.record import Recorded
from dbdyno.commands.app import run
from dbdyno.store import profile_directory
from dbdyno.store.archive import pack
from dbdyno.store.journal import FILE_NAME, Journal


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


def stored(directory: Path, one: Recorded) -> Path:
    """A run directory with these records in it."""
    (directory / "experiment").mkdir(parents=True)
    (directory / "experiment" / "experiment.toml").write_text('question = "?"\n')
    journal = Journal(directory / FILE_NAME)
    for kind, bodies in (("run", [one.run]), ("machine", [one.machine]), ("trial", one.trials)):
        for body in bodies:
            journal.append(kind, body)
    journal.close()
    return directory


def test_the_gate_is_the_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """3 where B is worse, 0 where A is or nothing is; the line is on stderr, stdout has the report or the document."""
    then = stored(tmp_path / "then", recorded(1, arms=2))
    worse = stored(tmp_path / "worse", recorded(2, arms=2, slower=dict.fromkeys(ALL, 1.10)))
    same = stored(tmp_path / "same", recorded(3, arms=2))

    assert run(["compare", str(then), str(worse), "--gate"]) == 3
    seen = capsys.readouterr()
    assert seen.err.startswith("gate: B is worse than A: io-bound/wait-immediate 0.9")
    assert seen.err.count("\n") == 1
    assert "gate:" not in seen.out
    assert run(["compare", str(worse), str(then), "--gate", "--json"]) == 0
    seen = capsys.readouterr()
    assert seen.err == "gate: holds: no verdict of 2 arms is worse\n"
    assert [arm["verdict"] for arm in json.loads(seen.out)["arms"]] == ["better", "better"]
    assert run(["compare", str(then), str(same), "--gate"]) == 0
    assert run(["compare", str(then), str(worse)]) == 0


def test_runs_and_their_archives_are_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The document does not depend on how a run is kept; a run beside its own archive is refused."""
    one, two = stored(tmp_path / "1", recorded(1, arms=2)), stored(tmp_path / "2", recorded(2, arms=2))
    archive = pack(one, tmp_path / "1.tar.gz")[0]

    assert run(["compare", str(one), str(two), "--json"]) == 0
    expected = capsys.readouterr().out
    assert run(["compare", str(archive), str(two), "--json"]) == 0
    assert capsys.readouterr().out == expected
    document = json.loads(expected)
    assert (document["kind"], document["format"]) == ("runs", 1)
    assert run(["compare", str(archive), str(two)]) == 0
    assert f"    dbdyno unpack {archive} --out run-a\n" in capsys.readouterr().out
    assert run(["compare", str(archive), str(one)]) == 2
    assert "is the same run as" in capsys.readouterr().err


def test_three_runs_are_a_history_and_any_number_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As text, as a document, as a page."""
    runs = [str(stored(tmp_path / str(seed), recorded(seed, arms=2, blocks=6))) for seed in (3, 1, 2)]
    page = tmp_path / "page.html"

    assert run(["compare", *runs, "--html", str(page)]) == 0
    assert capsys.readouterr().out.endswith(f"Page: {page}\n")
    assert "runs along the time" in page.read_text()
    assert run(["compare", *runs, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["kind"] == "history"
    assert [one["seed"] for one in document["runs"]] == [1, 2, 3]
    assert run(["compare", *runs[:2], "--html", str(page)]) == 0
    assert "two runs compared" in page.read_text()


def test_what_cannot_be_compared_is_said_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A profile and a run, a run and itself, nothing at all, a damaged record: exit code 2 and the reason."""
    profile, empty = saved(tmp_path / "a", 800), tmp_path / "empty"
    empty.mkdir()
    ran, other = write_run(tmp_path / "run"), stored(tmp_path / "other", recorded(2, arms=2, blocks=6))
    damaged = saved(tmp_path / "d", 100)
    path = damaged / profile_directory.RECORD
    path.write_bytes(path.read_bytes().replace(b"Lock:tuple", b"Lock:tuplE"))

    for arguments, words in (
        ((profile, ran), "compare those of one kind"),
        ((ran, ran), "is the same run as"),
        ((ran,), "is alone"),
        ((empty, profile), "holds no run and no profile"),
        ((tmp_path / "nowhere", profile), "holds no run and no profile"),
        ((profile, damaged), "is damaged"),
        ((profile, profile, profile), "compare takes two"),
        ((profile, profile, "--gate"), "--gate: is for runs"),
        ((profile, profile, "--html", "x.html"), "--html: is for runs"),
        ((ran, ran, ran, "--gate"), "--gate: compares two runs, not 3"),
        ((ran, ran, "--html", ran), "is no name for a page"),
        ((ran, other, "--html", tmp_path / "nowhere" / "x.html"), "cannot be written"),
    ):
        assert run(["compare", *map(str, arguments)]) == 2, arguments
        error = capsys.readouterr().err
        assert words in error
        assert error.count("\n") == 1
