"""What disturbed trials: from outside, from within, and from the trial before."""

from __future__ import annotations

import dataclasses

NOISE_WORDS = {
    "steal": "CPU time taken by other guests (steal)",
    "other_cpu": "CPU of other processes",
    "other_disk": "disk I/O of others",
    "cpu_pressure": "tasks in line for a CPU",
    "io_pressure": "tasks held up by I/O",
    "memory_pressure": "tasks held up for memory",
    "cpu_clock": "a lower clock of the CPUs",
}


@dataclasses.dataclass(frozen=True, slots=True)
class Noise:
    """One source of noise on the host, and the trials that it hit; trials are named by their place in the schedule.

    `trials` is how many know the figure, `limit` from where on a trial counts as hit; where `above_median` it counts
    from the median of the trial's own arm, because the load itself has a part in the figure.
    `hit_ratio` is the run's metric in the trials that were hit, over the others, arms and blocks allowed for.
    `correlation` (Spearman) is with the metric, positive where more noise goes with a better figure; `p_value` is
    corrected for all sources; `told`: more noise goes with a worse figure, and not by chance.
    """

    source: str
    trials: int
    trials_hit: list[int]
    share_median: float
    share_max: float
    limit: float
    above_median: bool
    hit_ratio: float | None
    correlation: float | None
    p_value: float | None
    told: bool

    @property
    def words(self) -> str:
        """What the source is called."""
        return NOISE_WORDS[self.source]


@dataclasses.dataclass(frozen=True, slots=True)
class After:
    """Trials that ran right after one arm: how many, and their metric over that of the others."""

    arm: str
    trials: int
    ratio: float


@dataclasses.dataclass(frozen=True, slots=True)
class CarryOver:
    """Whether the arm before leaves something behind; `after` has the strongest first."""

    p_value: float
    told: bool
    after: list[After]


@dataclasses.dataclass(frozen=True, slots=True)
class Steadiness:
    """Whether an arm's trials ran steadily; trials are named by their place in the schedule.

    `start_ratio` is the rate in the first fifth of the window over that in its last half, `p_value` that of "they are
    the same"; both None where it was not asked: fixed work, too short a window, or too few trials for a p value.
    `warm_up_over` is False where the two differ beyond chance and beyond what does not matter.
    `flagged`: `step`, `warm_up` (a step in the first fifth), `checkpoint`, `autovacuum` to the trials that show it.
    """

    trials: int
    start_ratio: float | None
    p_value: float | None
    warm_up_over: bool
    flagged: dict[str, list[int]]
