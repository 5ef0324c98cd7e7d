"""The null arm: a second copy of its baseline, so any difference that is found is a false alarm.

One run shows little: at 5 %, 19 of 20 show nothing. All runs of a machine together show how often this laboratory is
wrong there, so they are counted in a ledger; the count from before the run stands in the machine's record.
"""

from __future__ import annotations

from collections.abc import Mapping

from dbdyno.analysis.binomial import central_range
from dbdyno.analysis.blocks import Block, log_ratios
from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import FalseAlarms, NullArm
from dbdyno.analysis.holm import SIGNIFICANCE
from dbdyno.analysis.judging import figures, ratio_of
from dbdyno.analysis.readings import reading_of


def null_arm(run: Document, machine: Document, blocks: Mapping[int, Block]) -> NullArm | None:
    """What the run called its null arm; None where it has none, or too few blocks to call it anything."""
    arm = next((arm for arm in run["arms"] if arm.get("null")), None)
    if arm is None or not blocks:
        return None
    found = figures(run, blocks, run["metric"])
    logs = log_ratios(found[arm["arm"]], found[arm["baseline"]])
    reading = reading_of(run, len(blocks))
    p = reading.p_value(logs)
    if p is None:
        return None
    different = p < SIGNIFICANCE
    return NullArm(
        arm=arm["arm"],
        baseline=arm["baseline"],
        metric=run["metric"],
        ratio=ratio_of(logs, reading, 0.95),
        p_value=p,
        different=different,
        on_this_machine=_with_this_run(machine.get("null_arms"), different=different),
    )


def _with_this_run(before: Document | None, *, different: bool) -> FalseAlarms:
    kept = before or {"runs": 0, "different": 0}
    return false_alarms(kept["runs"] + 1, kept["different"] + different)


def false_alarms(runs: int, different: int) -> FalseAlarms:
    """How many of so many null arms were called different, and how many chance explains at 5 %."""
    fewest, most = central_range(runs, SIGNIFICANCE)
    return FalseAlarms(runs, different, fewest, most)
