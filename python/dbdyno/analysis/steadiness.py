"""Whether the trials of an arm ran steadily inside their windows, from the units in each step of the series.

- *The warm-up is not over* where the first fifth of the window runs at another rate than the last half: one figure a
  trial, tested over the arm's trials by signed ranks.
- *A step* is the split of one trial's series at which the rates of both sides differ most, where they differ by more
  than chance and more than does not matter. One in the first fifth is that trial's own warm-up.
- *A checkpoint, an automatic vacuum* during a trial, by the server's own counters.

Long series are merged into 20 steps, so that a side of a split is a tenth of the window at least: a stall of a tenth
of a second in a minute is no step. Where units are long, a window begins and ends in the middle of some, so each
side may lack one unit per client; that much is always allowed for.
Fixed work has no warm-up and no rate to keep: its whole course is what was asked for.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from dbdyno.analysis import limits
from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Steadiness, finite
from dbdyno.analysis.residuals import Floats
from dbdyno.analysis.signed_rank import p_value

# With fewer steps neither their scatter nor the place of a split is known.
LEAST_STEPS = 8
MOST_STEPS = 20
LEAST_STEPS_A_SIDE = 2
# A window of fewer steps has no fifth.
LEAST_STEPS_OF_A_START = 5


def steadiness(arm: Document, trials: Sequence[Document]) -> Steadiness:
    """What the counted trials of one arm show; `codes_by_trial` turns it round.

    Args:
        arm: the arm's entry in the run document.
        trials: its counted trials, at least one.
    """
    timed = arm.get("fixed_units") is None
    flagged: dict[str, list[int]] = {"step": [], "warm_up": [], "checkpoint": [], "autovacuum": []}
    for trial, code in zip(trials, _steps(arm, trials) if timed else [], strict=False):
        if code is not None:
            flagged[code].append(trial["trial"])
    for trial in trials:
        if checkpointed(trial):
            flagged["checkpoint"].append(trial["trial"])
        if vacuumed(trial):
            flagged["autovacuum"].append(trial["trial"])
    starts = [start for trial in trials if (start := _start(arm, trial)) is not None] if timed else []
    ratio, p, over = _warm_up(starts)
    return Steadiness(len(trials), ratio, p, over, {code: found for code, found in flagged.items() if found})


def codes_by_trial(found: Steadiness) -> dict[int, list[str]]:
    """The codes of each trial that is flagged."""
    codes: dict[int, list[str]] = {}
    for code, trials in found.flagged.items():
        for trial in trials:
            codes.setdefault(trial, []).append(code)
    return codes


def checkpointed(trial: Document) -> bool:
    """Whether a checkpoint ended, or was under way, between the reset and the end of the work.

    The counter knows those that ended. One that spreads its writes sleeps between them, and one under way waits for
    its I/O; an idle checkpointer does neither.
    """
    waits = _waits(trial, "checkpointer")
    under_way = any(event.startswith("IO:") or event == "Timeout:CheckpointWriteDelay" for event in waits)
    return under_way or trial["server"].get("checkpoints", 0) > 0


def vacuumed(trial: Document) -> bool:
    """Whether autovacuum finished a table of users during the trial, or was at work when the window began."""
    present = any(process["backend_type"] == "autovacuum worker" for process in trial["outcome"]["background"])
    return present or trial["server"].get("autovacuums", 0) > 0


def _waits(trial: Document, backend_type: str) -> Counter[str]:
    waits: Counter[str] = Counter()
    for process in trial["outcome"]["background"]:
        if process["backend_type"] == backend_type:
            waits.update({event: ns for event, ns in process["waits_ns"].items() if ns > 0})
    return waits


def _full_steps(trial: Document) -> list[int]:
    """The last step of the series may be cut off by the end of the window."""
    outcome = trial["outcome"]
    units: list[int] = outcome["series"]["units"]
    return units[: outcome["window_ns"] // outcome["series"]["step_ns"]]


def _across(arm: Document, trial: Document) -> float:
    """So many units, at most, may lie across an edge: one a client, which may run in step; of arrivals those inside."""
    closed = arm["arrival"]["kind"] == "closed"
    return float(arm["clients"] if closed else trial["outcome"]["mean_in_flight"])


def _start(arm: Document, trial: Document) -> tuple[float, float] | None:
    """The log of first fifth over last half, and how far the edges may move it; None in too short a window."""
    units = _full_steps(trial)
    if len(units) < LEAST_STEPS_OF_A_START:
        return None
    first, last = units[: len(units) // 5], units[-(len(units) // 2) :]
    # Half a unit more on both sides: a start without any is a great difference, not an infinite one.
    counts = sum(first) + 0.5, sum(last) + 0.5
    log_ratio = math.log(counts[0] / len(first)) - math.log(counts[1] / len(last))
    return log_ratio, _across(arm, trial) * (1 / counts[0] + 1 / counts[1])


def _warm_up(starts: Sequence[tuple[float, float]]) -> tuple[float | None, float | None, bool]:
    """The ratio over the trials, its p value, and whether the warm-up is over."""
    logs = [log_ratio for log_ratio, _ in starts]
    p = p_value(logs)
    if p is None:
        return None, None, True
    typical, edges = (float(np.median([start[place] for start in starts])) for place in (0, 1))
    differs = p < limits.WARM_UP_LEVEL and abs(typical) > math.log1p(limits.WARM_UP_SIZE) + edges
    return finite(math.exp(typical)), p, not differs


def _steps(arm: Document, trials: Sequence[Document]) -> list[str | None]:
    """`step`, `warm_up` or None for each trial; those with series of one length are judged together."""
    series = [_full_steps(trial) for trial in trials]
    found: list[str | None] = [None] * len(trials)
    for length in {len(units) for units in series if len(units) >= LEAST_STEPS}:
        alike = [at for at, units in enumerate(series) if len(units) == length]
        units = np.asarray([series[at] for at in alike], dtype=np.float64)
        across = np.asarray([_across(arm, trials[at]) for at in alike])
        for at, share in zip(alike, _split_shares(units, across), strict=True):
            if not math.isnan(share):
                found[at] = "warm_up" if share <= 0.2 else "step"
    return found


def _split_shares(units: Floats, across: Floats) -> Floats:
    """For each row of units a step where in it the rate steps, as a share of the window; not a number: nowhere.

    The standard error comes from the scatter within both sides, and is never less than that of units that come at
    random; the ratio is judged in logs.
    """
    edges = np.linspace(0, units.shape[1], min(MOST_STEPS, units.shape[1]) + 1).astype(np.int64)
    widths = np.diff(edges)
    counts = np.add.reduceat(units, edges[:-1], axis=1)
    rates = counts / widths
    steps = len(widths)
    splits = np.arange(LEAST_STEPS_A_SIDE, steps - LEAST_STEPS_A_SIDE + 1)
    before, after = splits, steps - splits
    sums, squares = rates.cumsum(axis=1), (rates**2).cumsum(axis=1)
    left, right = sums[:, splits - 1] / before, (sums[:, -1:] - sums[:, splits - 1]) / after
    within = squares[:, -1:] - before * left**2 - after * right**2
    at_random = (rates.mean(axis=1) / widths.mean())[:, None]
    variance = np.maximum(np.maximum(within, 0) / (steps - 2), at_random)
    errors = np.abs(right - left) / np.sqrt(np.maximum(variance, 1e-300) * (1 / before + 1 / after))
    best = errors.argmax(axis=1)
    rows = np.arange(len(units))
    low, high = np.sort(np.stack([left[rows, best], right[rows, best]]), axis=0)
    place = edges[splits[best]]
    units_a_side = np.stack([left[rows, best] * place, right[rows, best] * (edges[-1] - place)])
    allowed = across * (1 / np.maximum(units_a_side, 0.5)).sum(axis=0) + math.log1p(limits.STEP_SIZE)
    differs = high > low * np.exp(np.minimum(allowed, 700.0))
    share: Floats = np.where(differs & (errors[rows, best] > limits.STEP_STANDARD_ERRORS), place / edges[-1], np.nan)
    return share
