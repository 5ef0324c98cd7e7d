"""How far from the truth the answers of an arm are, what they cost, and which arm is the fastest at which error.

An error is known by its distribution over seeds. An arm that always answers the same, because nothing in it hangs on a
seed, has shown one draw: unless it claims to be exact it is not ranked.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from statistics import fmean

from dbdyno.analysis.blocks import log_ratios
from dbdyno.analysis.documents import Document
from dbdyno.analysis.estimates import pseudo_median, ratio
from dbdyno.analysis.findings import Answer, Arm, Cost, Estimate, Step, Tradeoff
from dbdyno.analysis.work import units_in_all


def answers(run: Document, trials: Sequence[Document]) -> list[Answer]:
    """One for each question that every trial of an arm has answered."""
    return [
        _answer(question, float(truth), [float(trial["answers"][question]) for trial in trials])
        for question, truth in (run.get("truth") or {}).items()
        if all(question in trial["answers"] for trial in trials)
    ]


def relative_error(answer: float, truth: float) -> float:
    """Of an answer other than zero where nothing is right: all of it is wrong."""
    return (answer - truth) / truth if truth else float(answer != 0)


def _answer(question: str, truth: float, found: list[float]) -> Answer:
    errors = [relative_error(answer, truth) for answer in found]
    return Answer(
        question=question,
        truth=truth,
        answers=found,
        error_mean=fmean(errors),
        error_rms=math.sqrt(fmean(error * error for error in errors)),
        error_low=min(errors),
        error_high=max(errors),
    )


def cost(trials: Sequence[Document]) -> Cost | None:
    """Of an arm whose trials were watched; None of any other."""
    if not all(trial.get("work") for trial in trials):
        return None
    units = units_in_all(trials)
    temp_bytes = sum(trial["server"].get("temp_bytes", 0) + trial["work"].get("write_bytes", 0) for trial in trials)
    return Cost(
        memory_bytes=_known([trial["work"]["memory_bytes"] for trial in trials]),
        cpu_ns=_known([trial["work"]["cpu_ns"] for trial in trials]),
        temp_bytes=temp_bytes / units if units else None,
    )


def _known(values: Sequence[int | None]) -> Estimate | None:
    known = [float(value) for value in values if value is not None]
    return pseudo_median(known) if len(known) == len(values) else None


def tradeoffs(run: Document, arms: Mapping[str, Arm]) -> list[Tradeoff]:
    """For each baseline, the arms that work where it does, then those that work on copies of its tables.

    Arms that did something else than their name says are left out.
    """
    records = {arm["arm"]: arm for arm in run["arms"]}
    found = []
    for baseline in dict.fromkeys(arm.baseline or arm.arm for arm in arms.values()):
        compared = [arm for arm in arms.values() if baseline in (arm.arm, arm.baseline) and not arm.null]
        for on_copy in (False, True):
            fit = [arm for arm in compared if arm.answers and not arm.failed_checks and _is_on_copy(arm) == on_copy]
            ranked = [arm for arm in fit if _is_exact(records[arm.arm]) or records[arm.arm].get("seeded")]
            if ranked:
                exact = {arm.arm for arm in ranked if _is_exact(records[arm.arm])}
                single = [arm.arm for arm in fit if arm not in ranked]
                found.append(Tradeoff(baseline, on_copy, _steps(ranked, exact), single))
    return found


def _is_exact(record: Document) -> bool:
    """Whether it claims to have no error."""
    return (record.get("expect") or {}).get("error") == 0


def _is_on_copy(arm: Arm) -> bool:
    return arm.engine in ("duckdb", "sqlite")


def _steps(arms: Sequence[Arm], exact: Collection[str]) -> list[Step]:
    """Class by class: the exact ones, then by error; a class without anything that is told to be faster adds none."""

    def rank(arm: Arm) -> tuple[bool, float]:
        return arm.arm not in exact, max(answer.error_rms for answer in arm.answers)

    steps: list[Step] = []
    last: Arm | None = None
    for worst in sorted({rank(arm) for arm in arms}):
        allowed = [arm for arm in arms if rank(arm) <= worst]
        fastest = min(allowed, key=_elapsed_ns)
        ratio = None if last is None else _ratio(fastest, last)
        if ratio is not None and (ratio.high is None or ratio.high >= 1):
            continue
        rivals = [arm.arm for arm in allowed if arm is not fastest and not _is_slower(arm, fastest)]
        steps.append(Step(fastest.arm, fastest.arm in exact, rank(fastest)[1], ratio, rivals))
        last = fastest
    return steps


def _elapsed_ns(arm: Arm) -> float:
    return arm.elapsed_ns.estimate if arm.elapsed_ns else arm.response_time_ns.mean.estimate


def _ratio(arm: Arm, other: Arm) -> Estimate:
    """Of their elapsed times, within blocks."""
    times = [
        {trial.block: trial.elapsed_ns or trial.response_time_ns_mean for trial in one.by_trial} for one in (arm, other)
    ]
    blocks = sorted(times[0].keys() & times[1].keys())
    return ratio(log_ratios([times[0][block] for block in blocks], [times[1][block] for block in blocks]))


def _is_slower(arm: Arm, other: Arm) -> bool:
    low = _ratio(arm, other).low
    return low is not None and low > 1
