"""The null arm: a second copy of its baseline, so any difference that is found is a false alarm.

One run shows little: at 5 %, 19 of 20 show nothing. All runs of a machine together show how often this laboratory is
wrong there, so they are counted in a ledger; the count from before the run stands in the machine's record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dbdyno.analysis.binomial import central_range
from dbdyno.analysis.blocks import Block, log_ratios
from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import FalseAlarms, NullArm
from dbdyno.analysis.holm import SIGNIFICANCE
from dbdyno.analysis.judging import figures, ratio_of
from dbdyno.analysis.readings import Reading, reading_of


def null_arm(run: Document, machine: Document, blocks: Mapping[int, Block]) -> NullArm | None:
    """What the run called its null arm; None where it has none, or too few blocks to call it anything."""
    arm = next((arm for arm in run["arms"] if arm.get("null")), None)
    if arm is None or not blocks:
        return None
    found = figures(run, blocks, run["metric"])
    logs = log_ratios(found[arm["arm"]], found[arm["baseline"]])
    reading = reading_of(run, len(blocks))
    return judge_null_arm(arm["arm"], arm["baseline"], run["metric"], logs, reading, machine.get("null_arms"))


def judge_null_arm(
    arm: str, baseline: str, metric: str, logs: Sequence[float], reading: Reading, before: Document | None
) -> NullArm | None:
    """A null arm from its log ratios; `before` counts those of this machine's runs so far, None: no run yet."""
    p = reading.p_value(logs)
    if p is None:
        return None
    different = p < SIGNIFICANCE
    return NullArm(
        arm=arm,
        baseline=baseline,
        metric=metric,
        ratio=ratio_of(logs, reading, 0.95),
        p_value=p,
        different=different,
        on_this_machine=_with_this_run(before or {"runs": 0, "different": 0}, different=different),
    )


def _with_this_run(before: Document, *, different: bool) -> FalseAlarms:
    runs = before["runs"] + 1
    fewest, most = central_range(runs, SIGNIFICANCE)
    return FalseAlarms(runs, before["different"] + different, fewest, most)
