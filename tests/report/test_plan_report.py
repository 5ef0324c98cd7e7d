"""The plan of a run on the terminal."""

from __future__ import annotations

from pathlib import Path

from dbdyno.analysis.findings import Outlook, Pilot
from dbdyno.design.asked import Asked
from dbdyno.design.experiment import load_experiment
from dbdyno.design.plan import plan_document
from dbdyno.report.layout import WIDTH
from dbdyno.report.plan import render

EXPERIMENT = """
question = "Is it worth it?"
baseline = { commit = "on" }
[target]
settings = { shared_buffers = "64MB" }
[workload]
script = "builtin:select-only"
scale = 10
[factors.commit]
on = {}
off = { set = { synchronous_commit = "off" } }
"""
EXPECTED = """\
worth: Is it worth it?

90 trials: 3 arms in at most 30 blocks, each 0.3 s of warm-up and 1 s of window.
Time: at least 1 min 57 s; log-ins and resets come on top, and --pilot measures
  them.
Space: pgbench at scale 10, about 150 MiB; WAL comes on top, and --pilot
  measures it.
Verdicts: on the throughput; less than 3 % does not matter. Looked at after 12,
  18, 24 and 30 blocks; it stops where all is decided.

Arms
- on: baseline; 1 client; builtin:select-only; before each trial vacuum,
  checkpoint.
- off: against on; 1 client; builtin:select-only; session synchronous_commit =
  off; before each trial vacuum, checkpoint.
- null-arm: a second copy of on, to count false alarms.

Statements
builtin:select-only
  \\set aid random(1, 100000 * :scale)
  SELECT abalance FROM pgbench_accounts WHERE aid = :aid;

Settings of the embedded server
  shared_buffers = 64MB

Order, drawn with seed 1
1: on, off, null-arm
2: on, null-arm, off
3: off, on, null-arm
... 27 blocks more; --json has them all

Next:  dbdyno run worth.toml --seed 1"""


def lines_of(tmp_path: Path, pilot: Pilot | None = None) -> list[str]:
    """What is printed."""
    path = tmp_path / "worth.toml"
    path.write_text(EXPERIMENT)
    plan = plan_document(load_experiment(path, Asked(null_arm=True)), seed=1)
    return [line.plain.rstrip() for line in render(plan, pilot, "dbdyno run worth.toml --seed 1")]


def test_the_whole_plan(tmp_path: Path) -> None:
    """In 80 columns."""
    lines = lines_of(tmp_path)

    assert "\n".join(lines) == EXPECTED
    assert max(map(len, lines)) <= WIDTH


def test_a_pilot_replaces_what_was_not_known(tmp_path: Path) -> None:
    """Time, space, WAL, and what the run will find."""
    pilot = Pilot(1.5, 135.0, 160_000_000, 9_000_000, Outlook(8, 30, 1, 0.021, 0.03, True, 20))
    text = " ".join(" ".join(lines_of(tmp_path, pilot)).split())

    assert "Time: 2 min 15 s, 1.50 s a trial with its resets as the pilot took them." in text
    assert "Space: pgbench at scale 10, about 153 MiB; all trials write about 8.58 MiB of WAL." in text
    assert "After 8 blocks: 30 blocks will find differences of 2.1 % or more, 4 times in 5; the margin of 3 %" in text
