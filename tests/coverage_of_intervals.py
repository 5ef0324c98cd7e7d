"""How often intervals hold the truth: many simulated arms, analysed, against one great pool of units.

The edges of a band are taken as the analysis found them; the truth is what units between these edges are like.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np
import simulated_units as simulated

from dbdyno.analysis.findings import Band, Estimate, Intervals, Tail
from dbdyno.analysis.time_spent import TimeSpent

# A tenth of a real trial's units, so that a thousand arms take minutes: fewer units, wider intervals, same promise.
SERVER = dataclasses.replace(simulated.SERVER, units_a_trial=400)
POOL_TRIALS = 1_500
MEAN_PARTS = ("cpu", "IO:WalSync", "LWLock:WALWrite", "asleep_no_wait_event")
TAIL_PARTS = ("IO:WalSync", "LWLock:WALWrite", simulated.LOCK)


def coverage(trials: int, repeats: int) -> Mapping[str, float]:
    """For each figure the share of repeats whose interval holds the truth."""
    random = np.random.default_rng(20261121)
    pool = simulated.pooled([simulated.truth(SERVER, random) for _ in range(POOL_TRIALS)])
    held: Counter[str] = Counter()
    for seed in range(repeats):
        arm, _ = simulated.trials(SERVER, trials, seed)
        spent = TimeSpent(arm, seed)
        intervals, (tail, _) = spent.intervals(), spent.tail()
        assert intervals is not None
        assert tail is not None
        for figure, estimate, true in _figures(intervals, tail, pool):
            held[figure] += estimate.low is not None and estimate.low <= true <= (estimate.high or 0.0)
    return {figure: count / repeats for figure, count in held.items()}


def _figures(intervals: Intervals, tail: Tail, pool: simulated.Truth) -> Iterator[tuple[str, Estimate, float]]:
    of_mean = {part.part: part for part in intervals.parts}
    mean_ns = pool.response_ns.mean()
    for part in MEAN_PARTS:
        yield f"mean {part}", of_mean[part].ns, pool.mean(part)
        yield f"mean share {part}", of_mean[part].share, pool.mean(part) / mean_ns
    slow, median = (_chosen(band, pool) for band in (tail.slow, tail.median))
    of_slow, extra = ({part.part: part for part in found} for found in (tail.slow.parts, tail.extra))
    extra_ns = pool.response_ns[slow].mean() - pool.response_ns[median].mean()
    for part in TAIL_PARTS:
        true_ns = pool.mean(part, slow)
        yield f"tail {part}", of_slow[part].ns, true_ns
        yield f"extra {part}", extra[part].ns, true_ns - pool.mean(part, median)
        yield f"extra share {part}", extra[part].share, (true_ns - pool.mean(part, median)) / extra_ns


def _chosen(band: Band, pool: simulated.Truth) -> np.ndarray:
    low, high = band.low_ns or 0.0, band.high_ns or np.inf
    return (pool.response_ns >= low) & (pool.response_ns < high)
