"""Which trials something else on the host disturbed, and whether it moved the run's metric.

A trial is *hit* where a source passes its limit. Whether that matters is asked of all trials: the rank correlation of
the source with the metric, both without their arm's and their block's share, corrected over all sources by Holm.
What others do to a whole block alike cancels in the verdicts, and is not blamed here either.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from dbdyno.analysis import limits
from dbdyno.analysis.blocks import Block
from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Noise, finite
from dbdyno.analysis.holm import holm
from dbdyno.analysis.metrics import HIGHER_IS_BETTER
from dbdyno.analysis.residuals import Floats, aligned_rank_correlation, log_figures, without_arm_and_block

Read = Callable[[Document], float | None]


@dataclasses.dataclass(frozen=True, slots=True)
class _Source:
    """How a source is read from a trial, and from where on it hits one."""

    name: str
    read: Read
    limit: float
    above_median: bool = False


def _of_noise(key: str) -> Read:
    return lambda trial: (trial.get("noise") or {}).get(key)


def _other_disk(trial: Document) -> float | None:
    noise = trial.get("noise") or {}
    quiet = noise.get("other_disk_bytes_per_s", 0.0) < limits.OTHER_DISK_BYTES_PER_S
    return 0.0 if quiet and "other_disk_share" in noise else noise.get("other_disk_share")


_SOURCES = (
    _Source("steal", lambda trial: (trial.get("host") or {}).get("cpu_steal_share"), limits.STEAL_SHARE),
    _Source("other_cpu", _of_noise("other_cpu_share"), limits.OTHER_CPU_SHARE),
    _Source("other_disk", _other_disk, limits.OTHER_DISK_SHARE, above_median=True),
    _Source("cpu_pressure", _of_noise("cpu_pressure_some_share"), limits.CPU_PRESSURE_SHARE, above_median=True),
    _Source("io_pressure", _of_noise("io_pressure_some_share"), limits.IO_PRESSURE_SHARE, above_median=True),
    _Source("memory_pressure", _of_noise("memory_pressure_some_share"), limits.MEMORY_PRESSURE_SHARE, True),
    _Source("cpu_clock", _of_noise("cpu_clock_hz"), limits.CLOCK_LOST_SHARE),
)


def noise(run: Document, blocks: Mapping[int, Block]) -> list[Noise]:
    """Every source that some counted trial knows; empty where no block is complete.

    Args:
        run: the run document.
        blocks: the counted blocks.
    """
    if not blocks:
        return []
    arms = [arm["arm"] for arm in run["arms"]]
    numbers = np.asarray([[block[arm]["trial"] for arm in arms] for block in blocks.values()])
    left = without_arm_and_block(log_figures(run, blocks))
    seen = {source: _shares(source, blocks, arms) for source in _SOURCES}
    known = {source: shares for source, shares in seen.items() if not np.isnan(shares).all()}
    better = 1 if HIGHER_IS_BETTER[run["metric"]] else -1
    tests = {source: _test(shares, left * better) for source, shares in known.items()}
    asked = [source for source, test in tests.items() if test is not None]
    adjusted = dict(zip(asked, holm([test[1] for test in tests.values() if test is not None]), strict=True))
    return [_finding(source, known[source], left, numbers, tests[source], adjusted.get(source)) for source in known]


def _shares(source: _Source, blocks: Mapping[int, Block], arms: list[str]) -> Floats:
    """The grid of a source; not a number where a trial does not know it."""
    read = [[source.read(block[arm]) for arm in arms] for block in blocks.values()]
    shares = np.asarray(read, dtype=np.float64)
    if source.name == "cpu_clock" and not np.isnan(shares).all():
        lost: Floats = 1 - shares / np.nanmax(shares)
        return lost
    return shares


def _test(shares: Floats, better: Floats) -> tuple[float, float] | None:
    """Correlation with the metric, positive where more noise goes with a better figure, and its p value."""
    if np.isnan(shares).any() or shares.shape[1] < 2:
        return None
    return aligned_rank_correlation(better, without_arm_and_block(shares))


def _finding(
    source: _Source,
    shares: Floats,
    left: Floats,
    numbers: npt.NDArray[np.int64],
    test: tuple[float, float] | None,
    p_adjusted: float | None,
) -> Noise:
    present = ~np.isnan(shares)
    usual = _median_of_arms(shares) if source.above_median else 0.0
    hit = present & (np.nan_to_num(shares) > usual + source.limit)
    correlation = None if test is None else finite(test[0])
    return Noise(
        source=source.name,
        trials=int(present.sum()),
        trials_hit=sorted(numbers[hit].tolist()),
        share_median=finite(float(np.median(shares[present]))),
        share_max=finite(float(shares[present].max())),
        limit=source.limit,
        above_median=source.above_median,
        hit_ratio=_hit_ratio(left, hit, present & ~hit),
        correlation=correlation,
        p_value=p_adjusted,
        told=bool(
            correlation is not None
            and correlation < 0
            and p_adjusted is not None
            and p_adjusted < limits.DISTURBANCE_LEVEL
        ),
    )


def _median_of_arms(shares: Floats) -> Floats:
    """That of each arm over the trials that know it; an arm without any has no trial that could be hit."""
    return np.asarray([np.median(known) if (known := arm[~np.isnan(arm)]).size else 0.0 for arm in shares.T])


def _hit_ratio(left: Floats, hit: npt.NDArray[np.bool_], others: npt.NDArray[np.bool_]) -> float | None:
    if not hit.any() or not others.any():
        return None
    return finite(math.exp(float(np.median(left[hit]) - np.median(left[others]))))
