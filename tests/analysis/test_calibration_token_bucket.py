"""A planted token bucket is found with its figures; none is seen where a device is only noisy, or recovers."""

from __future__ import annotations

import numpy as np
import pytest
import simulated_storage as simulated

from dbdyno.analysis.calibration.token_bucket import TokenBucket, token_bucket

STEP_NS = 100_000_000
STEP_S = 0.1
MIB = 2**20


def throttled(
    random: np.random.Generator, steps: int, burst: float, sustained: float, burst_s: float, noise: float = 0.1
) -> np.ndarray:
    """Bytes moved by step; the bucket runs dry in the middle of a step, whatever the noise."""
    left_s = np.clip(burst_s - STEP_S * np.arange(steps), 0.0, STEP_S)
    rates = (burst * left_s + sustained * (STEP_S - left_s)) / STEP_S
    return rates * STEP_S * np.maximum(1 + noise * simulated.ar1(random, steps, 0.6), 0.0)


def truth(burst: float, sustained: float, burst_s: float) -> list[float]:
    """In the order of the fields."""
    return [burst, burst_s * 1e9, (burst - sustained) * burst_s, sustained]


def figures(found: TokenBucket) -> list[tuple[float, float, float]]:
    """Low, estimate and high of each field."""
    fields = (found.burst_bytes_per_s, found.burst_for_ns, found.bucket_bytes, found.sustained_bytes_per_s)
    return [(one.low or 0.0, one.estimate, one.high or 0.0) for one in fields]


def held(runs: int, steps: int, ratio: float, noise: float = 0.1) -> tuple[int, np.ndarray]:
    """In how many runs a throttle to 1 / ratio is found, and in how many of those each interval holds the truth."""
    random = np.random.default_rng(20261122)
    found_in, holds = 0, np.zeros(4)
    for seed in range(runs):
        planted = (300 * MIB * ratio, 300 * MIB, float(random.uniform(0.02, 0.06)) * steps)
        found = token_bucket(throttled(random, steps, *planted, noise=noise), STEP_NS, seed)
        if found is not None:
            found_in += 1
            holds += [low <= true <= high for (low, _, high), true in zip(figures(found), truth(*planted), strict=True)]
    return found_in, holds


def alarms(steps: int, runs: int) -> int:
    """In how many series of a device without a throttle one is seen."""
    random = np.random.default_rng(20261122)
    return sum(
        token_bucket(throttled(random, steps, 300 * MIB, 300 * MIB, 0.0), STEP_NS, seed) is not None
        for seed in range(runs)
    )


@pytest.mark.parametrize("steps", [200, 600])
def test_a_throttle_is_found_with_its_figures(steps: int) -> None:
    """To a third, at noise of 10 %: in 19 of 20 runs at least, and each interval holds the truth in 34 of 40."""
    found_in, holds = held(40, steps, 3.0)

    assert found_in >= 38
    assert holds.min() >= 34


@pytest.mark.parametrize("steps", [60, 200, 600])
def test_a_device_without_a_throttle_has_none(steps: int) -> None:
    """At most 1 false alarm in 20."""
    assert alarms(steps, 40) <= 2


def test_an_exact_bucket_is_fitted_exactly() -> None:
    """Without noise the figures are those planted, though the bucket runs dry inside a step."""
    planted = (900.0 * MIB, 300.0 * MIB, 7.34)
    found = token_bucket(throttled(np.random.default_rng(1), 300, *planted, noise=0.0), STEP_NS, seed=1)

    assert found is not None
    assert [estimate for _, estimate, _ in figures(found)] == pytest.approx(truth(*planted), rel=1e-9)


def test_what_recovers_or_rises_is_no_throttle() -> None:
    """A neighbour who comes and goes; a warm-up; a slow decline."""
    random = np.random.default_rng(1)
    noise = 1 + 0.02 * random.normal(size=300)

    for level in (np.repeat([3.0, 1.0, 3.0], 100), np.repeat([1.0, 3.0, 3.0], 100), np.linspace(3.0, 1.0, 300)):
        assert token_bucket(level * MIB * noise, STEP_NS, seed=1) is None


def test_a_refill_in_gulps_is_a_throttle_all_the_same() -> None:
    """Half a second at the rate of the burst in every ten, after the bucket has run dry."""
    series = np.concatenate([np.full(100, 3.0), np.tile(np.repeat([0.8, 3.0], [95, 5]), 4), np.full(100, 0.8)]) * MIB
    found = token_bucket(series * (1 + 0.02 * np.random.default_rng(1).normal(size=600)), STEP_NS, seed=1)

    assert found is not None
    assert found.burst_for_ns.estimate == pytest.approx(10e9, rel=0.01)


def test_the_seed_decides() -> None:
    """The same seed gives the same intervals, another one others."""
    series = throttled(np.random.default_rng(1), 300, 900.0 * MIB, 300.0 * MIB, 7.0)

    assert token_bucket(series, STEP_NS, 1) == token_bucket(series, STEP_NS, 1)
    assert token_bucket(series, STEP_NS, 1) != token_bucket(series, STEP_NS, 2)


@pytest.mark.nightly
@pytest.mark.parametrize(("steps", "ratio"), [(200, 3.0), (600, 3.0), (600, 1.5)])
def test_throttles_are_found_in_many_runs(steps: int, ratio: float) -> None:
    """At least 95 of 100, and each interval holds the truth in 90 of 100 at least."""
    found_in, holds = held(400, steps, ratio)

    assert found_in >= 380
    assert holds.min() / found_in >= 0.90


@pytest.mark.nightly
@pytest.mark.parametrize("steps", [60, 200, 600, 1200])
def test_devices_without_a_throttle_have_none_in_many_runs(steps: int) -> None:
    """At most 5 of 100."""
    assert alarms(steps, 400) <= 20
