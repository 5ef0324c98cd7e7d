"""A disk that fills up in the middle of a run: one line, exit code 1, and every finished trial is kept."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_experiment import SMALL, command, write_experiment

pytestmark = [
    pytest.mark.server,
    pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root"),
]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for a few trials."""
    mount = tmp_path / "disk"
    mount.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96k", "tmpfs", mount], check=True)
    try:
        yield mount
    finally:
        subprocess.run(["umount", mount], check=True)


def test_a_full_disk_ends_the_run_and_keeps_the_trials(small_disk: Path, tmp_path: Path) -> None:
    """What was measured before can still be reported and, with space, resumed."""
    experiment = write_experiment(tmp_path / "experiment", SMALL.replace("blocks = 6", "blocks = 40\nlooks = []"))
    run = small_disk / "run"

    done = subprocess.run(
        command("run", experiment, "--out", run), capture_output=True, text=True, check=False, timeout=240
    )

    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].endswith(
        "cannot be written: No space left on device; free some space, then dbdyno run --resume"
    )
    trials = (run / "journal.jsonl").read_text().count('"kind": "trial"')
    assert trials >= 1

    report = subprocess.run(command("report", run), capture_output=True, text=True, check=True, timeout=60)

    assert "dbdyno run --resume" in report.stdout
