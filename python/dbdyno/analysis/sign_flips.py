"""The sum of ranks whose signs are fair coins: how likely it is to be so small. Exact, in two ways.

Counting: with one rank more there are as many ways to a sum as there were without it, and as there were to the sum
that lacks it. Without ties the ranks are 1 to n whatever was measured, so one table serves all effects over n blocks.
With ties every effect has ranks of its own, and those of 1,000 blocks take 0.2 s to count.

Fourier's way: a distribution on 0, ..., N - 1 is the mean of N waves, and here a wave is a product of one factor a
rank. Nearly all of the products are nothing: of a million some hundred are left, those near frequency 0, and with
few different ranks some others. Which ones is not guessed: |factor| <= exp(-p (1 - p) (1 - cos(frequency x rank)))
bounds every product, and a Fourier transform of the ranks has these bounds for all frequencies.
"""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# Ways to a sum are counted in floats, which hold numbers up to 2^1023, and n ranks have 2^n sums.
SCALED_AFTER = 512
# So many steps of counting take about as long as the other way, some hundredths of a second.
COUNTED = 20_000_000
# Products below e^-50 are left out: a million of them are less than a rounding error of what is kept.
NEGLIGIBLE = 50.0
# So many factors at a time: they stay in the cache.
PORTION = 20_000


def lower_tail(ranks: Integers, most: int) -> float:
    """P(sum <= most), where each of these whole ranks is in the sum or not, by a fair coin.

    Args:
        ranks: sorted, and positive.
        most: at least 0, and at most half of the sum of all ranks.
    """
    if np.array_equal(ranks, np.arange(1, len(ranks) + 1)):
        return float(without_ties(len(ranks))[most])
    if len(ranks) * most <= COUNTED:
        return float(_counted(ranks, most)[most])
    return _by_waves(ranks, most)


@functools.lru_cache(maxsize=8)
def without_ties(count: int) -> Floats:
    """P(sum <= s) of the ranks 1 to `count`, for s = 0, 1, ... to half of the greatest sum; the rest mirrors it."""
    return _counted(np.arange(1, count + 1), count * (count + 1) // 4)


def _counted(ranks: Integers, most: int) -> Floats:
    """P(sum <= s) for s = 0, 1, ..., `most`."""
    ways, without = np.zeros(most + 1), np.zeros(most + 1)
    ways[0] = 1.0
    end = 1
    for count, rank in enumerate(ranks.tolist(), start=1):
        end = min(end + rank, most + 1)
        ways, without = without, ways
        ways[:rank] = without[:rank]
        np.add(without[rank:end], without[: max(end - rank, 0)], out=ways[rank:end])
        if count % SCALED_AFTER == 0:
            ways *= 2.0**-SCALED_AFTER
    tail: Floats = np.cumsum(ways * 2.0 ** -(len(ranks) % SCALED_AFTER))
    return tail


def _by_waves(ranks: Integers, most: int) -> float:
    """P(sum <= most) from the waves that matter.

    The coins are tilted first, each rank by its size, so that the sum is about `most` on average (Esscher 1932); what
    is found there is tilted back. So a tail of 1e-100 is found to as many digits as one of 0.1.
    """
    values, times = np.unique(ranks, return_counts=True)
    tilt = _tilt(values, times, most)
    chances = 1.0 / (1.0 + np.exp(tilt * values))
    points = 1 << int(ranks.sum()).bit_length()
    waves = _waves(values, times * chances * (1.0 - chances), points)

    def angles(steps: Integers) -> Floats:
        """How far each wave turns over so many steps: whole turns are taken off first, or digits would be lost."""
        return np.asarray(2.0 * np.pi / points * (waves[:, None] * steps & (points - 1)))

    product = np.ones(len(waves), dtype=np.complex128)
    for some in np.array_split(np.arange(len(values)), 1 + len(waves) * len(values) // PORTION):
        turned = angles(values[some])
        factors = 1.0 - chances[some] * (1.0 - np.cos(turned)) + 1j * (chances[some] * np.sin(turned))
        tied = times[some] > 1
        factors[:, tied] **= times[some][tied]
        product *= factors.prod(axis=1)
    to_most, beyond, one = 1j * angles(np.array([most, most + 1, 1])).T
    # Each wave is summed over the sums 0 to most, tilted back from there.
    with np.errstate(invalid="ignore"):  # wave 0 without a tilt: a sum of ones
        summed = np.expm1(beyond - tilt * (most + 1)) / np.expm1(one - tilt)
    summed = np.where((waves == 0) & (tilt == 0), most + 1, summed)
    both_ways = np.where((waves == 0) | (waves == points // 2), 1.0, 2.0)
    total = float((both_ways * (product * np.exp(-to_most) * summed).real).sum()) / points
    tilted_back = (times * np.log((1.0 + np.exp(-tilt * values)) / 2.0)).sum() + tilt * most
    return float(np.exp(tilted_back)) * total


def _waves(ranks: Integers, shrinking: Floats, points: int) -> Integers:
    """The waves whose product may be more than negligible.

    The exponent f of the bound, sum of `shrinking` x (1 - cos(frequency x rank)), has no wave of its own faster than
    the greatest rank, so it is looked at in fewer points. In between, its root moves by less than sqrt(max f'' / 2)
    for each unit of frequency, as that of any function does that is never negative.
    """
    coarse = min(points, 32 << int(ranks[-1]).bit_length())
    exponents = shrinking.sum() - np.fft.rfft(np.bincount(ranks, shrinking), coarse).real
    reach = np.pi / coarse * np.sqrt((shrinking * ranks.astype(np.float64) ** 2).sum() / 2.0)
    near = np.flatnonzero(exponents < (np.sqrt(NEGLIGIBLE) + reach) ** 2)
    between = points // coarse
    around = near[:, None] * between + np.arange(-(between // 2), between // 2 + 1)
    return np.unique(np.clip(around, 0, points // 2))


def _tilt(values: Integers, times: Integers, mean: int) -> float:
    """About the tilt with which the sum has this mean, by Newton's method; any tilt would do for a right answer."""
    tilt = 0.0
    for _ in range(4):
        chances = 1.0 / (1.0 + np.exp(tilt * values))
        excess = float((times * values * chances).sum()) - mean
        tilt = max(0.0, tilt + excess / float((times * values**2 * chances * (1.0 - chances)).sum()))
    return tilt
