"""A run goes through an archive: it is resumed and run again on the other side."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from small_experiment import command, run_experiment, trials_of, write_experiment

pytestmark = pytest.mark.server


def dbdyno(*arguments: object, cwd: Path) -> str:
    """What a command that must go well prints."""
    done = subprocess.run(
        command(*arguments), capture_output=True, text=True, check=False, cwd=cwd, timeout=120, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a finished run of an experiment that is called `second-connection`."""
    directory = tmp_path_factory.mktemp("here")
    experiment = write_experiment(directory / "second-connection")
    run_experiment(experiment.rename(experiment.with_name("experiment.toml")), directory / "run")
    return directory


def test_the_printed_command_runs_it_again(here: Path, tmp_path: Path) -> None:
    """The same order of arms, under the experiment's own name though its directory has another."""
    dbdyno("pack", "run", "--out", tmp_path / "archive", cwd=here)
    unpacked = dbdyno("unpack", "archive", "--out", "with space", cwd=tmp_path).splitlines()
    program, *arguments = shlex.split(unpacked[-1].removeprefix("Rerun it:  "))
    again = tmp_path / "again"
    again.mkdir()

    findings = json.loads(dbdyno(arguments[0], f"../{arguments[1]}", *arguments[2:], "--out", ".", "--json", cwd=again))

    assert program == "dbdyno"
    assert [trial["arm"] for trial in trials_of(again)] == [trial["arm"] for trial in trials_of(here / "run")]
    assert (findings["experiment"], findings["run_id"]) == ("second-connection", "again")


def test_an_interrupted_run_is_resumed_on_the_other_side(here: Path, tmp_path: Path) -> None:
    """Packing it says that it is not finished; what was measured before stays as it was."""
    cut = tmp_path / "cut"
    dbdyno("pack", "run", "--out", tmp_path / "whole", cwd=here)
    dbdyno("unpack", "whole", "--out", "cut", cwd=tmp_path)
    lines = (cut / "journal.jsonl").read_text().splitlines(keepends=True)
    (cut / "journal.jsonl").write_text("".join(lines[:9]))
    before = trials_of(cut)

    packed = subprocess.run(
        [sys.executable, "-m", "dbdyno", "pack", "cut", "--out", "half"],
        cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    unpacked = dbdyno("unpack", "half", "--out", "resumed", cwd=tmp_path)
    dbdyno("run", "--resume", "resumed", cwd=tmp_path)

    assert packed.stderr == "cut: is not finished; after dbdyno unpack it can be resumed\n"
    assert "Resume it: dbdyno run --resume resumed\n" in unpacked
    assert len(before) == 7
    assert trials_of(tmp_path / "resumed")[:7] == before
    assert len(trials_of(tmp_path / "resumed")) == 12
