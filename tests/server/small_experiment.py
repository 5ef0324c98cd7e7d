"""Small experiments for tests that run the whole program."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SMALL = """
question = "Does a second connection help?"
metric = "throughput_per_s"
baseline = { clients = "one" }
[workload]
schema = "pgbench"
script = "builtin:select-only"
[design]
blocks = 6
reset = ["checkpoint"]
warm_up = "20 ms"
window = "100 ms"
[factors.clients]
one = { clients = 1 }
two = { clients = 2 }
"""


def write_experiment(directory: Path, text: str = SMALL, files: Mapping[str, str] | None = None) -> Path:
    """The experiment file in a new directory, with its scripts beside it."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in (files or {}).items():
        (directory / name).write_text(content)
    path = directory / "small.toml"
    path.write_text(text)
    return path


def command(*arguments: object) -> list[str]:
    """The command line of dbdyno in this interpreter."""
    return [sys.executable, "-m", "dbdyno", *map(str, arguments)]


def run_experiment(path: Path, out: Path, *arguments: object, timeout_s: float = 240) -> dict[str, Any]:
    """Run it, check that it went well, return the findings."""
    done = subprocess.run(
        command("run", path, "--out", out, "--seed", 1, "--json", *arguments),
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    findings: dict[str, Any] = json.loads(done.stdout)
    return findings


def arm_of(findings: Mapping[str, Any], name: str) -> dict[str, Any]:
    """One arm of the findings."""
    return next(arm for arm in findings["arms"] if arm["arm"] == name)


def trials_of(run: Path) -> list[dict[str, Any]]:
    """The trial records of a run directory."""
    lines = (run / "journal.jsonl").read_text().splitlines()
    return [record["body"] for record in map(json.loads, lines) if record["kind"] == "trial"]
