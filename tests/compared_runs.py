"""Synthetic runs to compare: their records as `dbdyno compare` reads them, with what a test plants in them."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping

import synthetic

from dbdyno.analysis.runs_compared.record import Recorded

ALL = tuple(synthetic.SHAPES)


def recorded(
    seed: int,
    *,
    arms: int = 4,
    blocks: int = 12,
    noise: float = 0.004,
    slower: Mapping[str, float] | None = None,
    metric: str = "throughput_per_s",
) -> Recorded:
    """A run of the first so many arms on the day of its seed; `slower` stretches the units of some arms.

    Blocks drift three times as much as trials vary, so with little noise the trials of a run are nearly alike.
    The same run is made once: change a copy of it.
    """
    return _recorded(seed, arms, blocks, noise, tuple(sorted((slower or {}).items())), metric)


@functools.cache
def _recorded(
    seed: int, arms: int, blocks: int, noise: float, slower: tuple[tuple[str, float], ...], metric: str
) -> Recorded:
    stretch = dict(slower)
    shapes = {
        name: dataclasses.replace(shape, cpu=shape.cpu + round(shape.response_ns * (stretch.get(name, 1.0) - 1.0)))
        for name, shape in synthetic.SHAPES.items()
    }
    run, machine, trials = synthetic.run(arms=arms, blocks=blocks, seed=seed, shapes=shapes, noise=noise, metric=metric)
    run["started_at"] = f"2026-11-{seed:02d}T06:00:00.000Z"
    run["run_id"] = f"commit-write-202611{seed:02d}T060000Z-{seed}"
    run["experiment_file"] = "experiment.toml"
    return Recorded(f"run-{seed}", run, machine, trials, {"experiment.toml": "0" * 64})
