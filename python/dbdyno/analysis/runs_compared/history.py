"""Runs along the time: the primary metric of each arm in each, and what changed in the records from run to run."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from dbdyno.analysis.documents import Document
from dbdyno.analysis.estimates import pseudo_median
from dbdyno.analysis.findings import Warning
from dbdyno.analysis.metrics import HIGHER_IS_BETTER
from dbdyno.analysis.runs_compared.common_arms import other_work
from dbdyno.analysis.runs_compared.differences import differences
from dbdyno.analysis.runs_compared.failed_checks import failed_check_warnings
from dbdyno.analysis.runs_compared.findings import FORMAT, ArmHistory, Change, LeftOut, RunsHistory
from dbdyno.analysis.runs_compared.record import (
    Measured,
    Recorded,
    check_distinct,
    check_one_metric,
    measured,
    summary,
)
from dbdyno.errors import DynoError

LETTERS = ("A", "B")


def runs_history(runs: Sequence[Recorded]) -> RunsHistory:
    """Two or more runs in the order in which they were started; two are called A and B as they were named.

    Raises:
        DynoError: they have no metric or no arm in common, or one of them has no complete block.
    """
    check_distinct(runs)
    check_one_metric(runs)
    in_order = sorted(range(len(runs)), key=lambda place: _started(runs[place]))
    labels = {place: LETTERS[place] if len(runs) == len(LETTERS) else str(at) for at, place in enumerate(in_order, 1)}
    known = [measured(runs[place], labels[place]) for place in in_order]
    arms, left_out = _arms(known)
    last = known[-1].run
    return RunsHistory(
        format=FORMAT,
        experiment=last["experiment"],
        metric=last["metric"],
        higher_is_better=HIGHER_IS_BETTER[last["metric"]],
        margin=min(float(run.run["margin"]) for run in runs),
        runs=[summary(run) for run in known],
        arms=arms,
        changes=[_change(before, after) for before, after in itertools.pairwise(known)],
        left_out=left_out,
        warnings=[
            Warning(
                "confounded",
                "runs differ in the day, in the machine's state and in all that is listed as different; a step from "
                "one to the next says that something changed, not what",
            ),
            *failed_check_warnings(known, [arm.arm for arm in arms]),
        ],
    )


def _started(recorded: Recorded) -> tuple[str, str]:
    return recorded.run["started_at"], recorded.run["run_id"]


def _arms(runs: Sequence[Measured]) -> tuple[list[ArmHistory], list[LeftOut]]:
    """Every arm that at least two runs have, doing the work that it does in the first of them."""
    found: list[ArmHistory] = []
    left_out: list[LeftOut] = []
    for name in dict.fromkeys(name for run in runs for name in run.arms):
        first: Document = next(run.arms[name] for run in runs if name in run.arms)
        others = {run.label: other_work(first, run.arms[name]) for run in runs if name in run.arms}
        left_out += [
            LeftOut(name, f"does other work in run {label}: {', '.join(words)}")
            for label, words in others.items()
            if words
        ]
        values = [pseudo_median(run.figures[name]) if others.get(run.label) == [] else None for run in runs]
        if sum(value is not None for value in values) > 1:
            found.append(ArmHistory(name, dict(first["levels"]), first["baseline"], values))
        else:
            left_out.append(LeftOut(name, "in one run only"))
    if not found:
        raise DynoError(
            "nothing_common",
            f"{runs[-1].recorded.name}: has no arm in common with the other runs that does the same work; "
            "compare runs of one experiment",
        )
    return found, left_out


def _change(before: Measured, after: Measured) -> Change:
    common = [name for name in before.arms if name in after.arms]
    return Change(before.label, after.label, differences(before, after, common))
