"""Simulated experiments for ways of judging: how often does one cry wolf, hold the truth, find what is there?

A way of judging is a layout of trials in time and what it concludes from them. Ours is the product's own code:
`design.schedule` for the order, `analysis.judging` for the verdict. The others are the foils that must fail here, or
these proofs would prove nothing.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable

import numpy as np
from noise_models import MODELS
from numpy.typing import NDArray
from scipy import stats

from dbdyno.analysis.judging import Judged, judge_logs
from dbdyno.analysis.readings import AtAnyTime, reading_of
from dbdyno.analysis.stopping import settled
from dbdyno.design.schedule import block_order

ARMS = ["baseline", "a", "b", "c"]
BLOCKS = 30
LOOKS = [12, 18, 24, 30]
MARGIN = 0.03
SEED = 20261122


@dataclasses.dataclass(frozen=True)
class Seen:
    """What an experiment concluded of arm `a`, and of any arm; `interval` is of the log ratio of `a`."""

    different: bool
    any_different: bool
    interval: tuple[float, float]
    verdict: str
    blocks: int


# Log slowness of each trial in time, the log effect of arm `a`, the seed of the experiment.
Way = Callable[[NDArray[np.float64], float, int], Seen]


def experiments(model: str, effect: float, count: int, way: Way, blocks: int = BLOCKS) -> list[Seen]:
    """`count` experiments of four arms under one kind of noise, of which `a` is slower by `effect`, a log."""
    place = sorted(MODELS).index(model)
    random = np.random.default_rng([SEED, place])
    slowness = MODELS[model](random, count, len(ARMS) * blocks)
    return [way(slowness[number], effect, SEED * (place + 1) + number) for number in range(count)]


def in_blocks(slowness: NDArray[np.float64], effect: float, seed: int) -> dict[str, NDArray[np.float64]]:
    """The slowness of each arm in each block, as the product lays trials out."""
    trials = iter(slowness)
    seen: dict[str, list[float]] = {arm: [] for arm in ARMS}
    for block in range(len(slowness) // len(ARMS)):
        for arm in block_order(ARMS, seed, block):
            seen[arm].append(next(trials) + (effect if arm == "a" else 0.0))
    return {arm: np.array(figures) for arm, figures in seen.items()}


def judged(logs: dict[str, NDArray[np.float64]], blocks: int, run: dict[str, object]) -> list[Judged]:
    """The verdicts after so many blocks."""
    ratios = {(arm, "baseline"): (logs[arm] - logs["baseline"])[:blocks].tolist() for arm in logs if arm != "baseline"}
    return judge_logs(ratios, reading_of(run, blocks), MARGIN, higher_is_better=False)


def _seen(found: list[Judged], blocks: int) -> Seen:
    first = found[0]
    low, high = first.ratio.low, first.ratio.high
    return Seen(
        different=first.p_value is not None and first.p_value < 0.05,
        any_different=any(each.p_value_holm is not None and each.p_value_holm < 0.05 for each in found),
        interval=(-math.inf if low is None else math.log(low), math.inf if high is None else math.log(high)),
        verdict=first.verdict,
        blocks=blocks,
    )


def planned(slowness: NDArray[np.float64], effect: float, seed: int) -> Seen:
    """All blocks, one look at the end."""
    logs = in_blocks(slowness, effect, seed)
    return _seen(judged(logs, BLOCKS, {"blocks": BLOCKS}), BLOCKS)


def _stopping(arms: Iterable[str], looks: Iterable[int], run: dict[str, object]) -> Way:
    def way(slowness: NDArray[np.float64], effect: float, seed: int) -> Seen:
        all_logs = in_blocks(slowness, effect, seed)
        logs = {arm: all_logs[arm] for arm in arms}
        last = max(looks)
        for look in looks:
            found = judged(logs, look, run)
            if look == last or settled(found, MARGIN):
                break
        return _seen(found, look)

    return way


# The product's rule: stop at a planned look at which all is decided; of one pair, and of three.
one_pair_with_looks = _stopping(["baseline", "a"], LOOKS, {"blocks": BLOCKS, "looks": LOOKS})
with_looks = _stopping(ARMS, LOOKS, {"blocks": BLOCKS, "looks": LOOKS})
until_decided = _stopping(["baseline", "a"], range(6, 61), {"blocks": 60, "until_decided": True})


def worst_stop(slowness: NDArray[np.float64], effect: float, seed: int) -> Seen:
    """The e-process for somebody who stops at the very block at which it looks most different."""
    logs = in_blocks(slowness, effect, seed)
    differences = (logs["a"] - logs["baseline"]).tolist()
    anytime = AtAnyTime()
    p_values = {blocks: anytime.p_value(differences[:blocks]) or 1.0 for blocks in range(6, len(differences) + 1)}
    worst = min(p_values, key=lambda blocks: p_values[blocks])
    interval = anytime.interval(differences[:worst], 0.95) or (-math.inf, math.inf)
    return Seen(p_values[worst] < 0.05, p_values[worst] < 0.05, interval, "", worst)


def one_after_the_other(slowness: NDArray[np.float64], effect: float, seed: int) -> Seen:
    """Foil: all of the baseline, then all of `a`, then Welch's t-test."""
    baseline, a = slowness[:BLOCKS], slowness[BLOCKS : 2 * BLOCKS] + effect
    test = stats.ttest_ind(a, baseline, equal_var=False)
    low, high = test.confidence_interval(0.95)
    different = bool(test.pvalue < 0.05)
    return Seen(different, different, (float(low), float(high)), "", BLOCKS)


def round_robin(slowness: NDArray[np.float64], effect: float, seed: int) -> Seen:
    """Foil: the arms in the same order in every block, then the Mann-Whitney test."""
    baseline, *others = slowness.reshape(BLOCKS, len(ARMS)).T
    others[0] = others[0] + effect
    p_values = [float(stats.mannwhitneyu(other, baseline).pvalue) for other in others]
    return Seen(p_values[0] < 0.05, min(p_values) < 0.05 / 3, (-math.inf, math.inf), "", BLOCKS)


def peeking(slowness: NDArray[np.float64], effect: float, seed: int) -> Seen:
    """Foil: our own test, looked at after every block as if it were the last; stopped as soon as it says so."""
    logs = in_blocks(slowness, effect, seed)
    for blocks in range(6, BLOCKS + 1):
        found = judged({arm: logs[arm] for arm in ("baseline", "a")}, blocks, {"blocks": blocks})
        if (found[0].p_value or 1.0) < 0.05:
            break
    return _seen(found, blocks)


@dataclasses.dataclass(frozen=True)
class Rates:
    """Shares of experiments."""

    count: int
    different: float
    any_different: float
    covered: float
    mean_blocks: float


def rates(seen: list[Seen], effect: float) -> Rates:
    """How often each happened; an interval covers if it holds the true effect."""
    return Rates(
        count=len(seen),
        different=sum(one.different for one in seen) / len(seen),
        any_different=sum(one.any_different for one in seen) / len(seen),
        covered=sum(one.interval[0] <= effect <= one.interval[1] for one in seen) / len(seen),
        mean_blocks=sum(one.blocks for one in seen) / len(seen),
    )


def allowance(share: float, count: int) -> float:
    """What chance may add to a share in so many experiments: 2.6 standard errors, 1 in 200 on each side."""
    return 2.6 * math.sqrt(share * (1.0 - share) / count)


def assert_no_more_false_alarms_than_promised(found: Rates) -> None:
    """At most 5 % of comparisons, and of experiments after Holm, of arms that do not differ."""
    most = 0.05 + allowance(0.05, found.count)
    assert found.different <= most, f"{found.different:.4f} of comparisons, at most {most:.4f}"
    assert found.any_different <= most, f"{found.any_different:.4f} of experiments, at most {most:.4f}"
