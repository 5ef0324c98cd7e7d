"""The rates of the proving ground are those of the program: on the same noise both say the same, bit by bit.

The proving ground judges bare numbers, tens of thousands of times. Here the schedule, the loop, the journal and the
whole analysis run on a fake bench, and every verdict must be the one that the proving ground counted.
"""

from __future__ import annotations

import math
from pathlib import Path

import fake_bench
import numpy as np
import proving_ground as ground
import pytest
from noise_models import MODELS

BY_DAY, BY_NIGHT = 4, 100


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("percent", [0, 3])
@pytest.mark.parametrize("count", [BY_DAY, pytest.param(BY_NIGHT, marks=pytest.mark.nightly)])
def test_the_program_says_what_the_proving_ground_counts(model: str, percent: int, count: int, tmp_path: Path) -> None:
    """Verdict, p value, interval and the blocks that were run, of three comparisons looked at four times."""
    random = np.random.default_rng([7, percent])
    slowness = MODELS[model](random, count, len(ground.ARMS) * ground.BLOCKS)
    effect = math.log1p(percent / 100)
    for seed in range(count):
        counted = ground.with_looks(slowness[seed], effect, seed)
        found = fake_bench.run_on_fake(tmp_path / str(seed), slowness[seed], effect, seed, ground.ARMS, ground.LOOKS)
        first = found.comparisons[0]

        assert (first.arm, found.blocks_complete, first.verdict) == ("a", counted.blocks, counted.verdict)
        assert found.stopping.decided_early is (counted.blocks < ground.BLOCKS)
        assert (first.p_value is not None and first.p_value < 0.05) is counted.different
        # The program judges throughput, the proving ground slowness: ends change places.
        ends = (-math.log(first.ratio.high or math.nan), -math.log(first.ratio.low or math.nan))
        assert ends == pytest.approx(counted.interval, abs=1e-9)
        assert any((one.p_value_holm or 1.0) < 0.05 for one in found.comparisons) is counted.any_different
