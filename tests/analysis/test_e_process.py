"""The bet on signs: its exact mean under fair coins, its interval as the turned test, its independence of the rest."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dbdyno.analysis.e_process import interval, p_value


def capital(differences: list[float], side: int) -> float:
    """One side's capital, written down block by block."""
    found = 1.0
    for block, difference in enumerate(differences, start=1):
        magnitudes = [abs(one) for one in differences[:block]]
        rank = sum(one < magnitudes[-1] for one in magnitudes) + (1 + magnitudes.count(magnitudes[-1])) / 2
        x = side * math.copysign(1.0, difference) * rank / (block + 1) if difference else 0.0
        found *= math.exp(x) / math.cosh(x)
    return found


def test_the_p_value_is_one_over_the_richer_bettors_capital() -> None:
    """Each side has half; ties, and a zero that bets on nothing."""
    differences = [0.02, -0.01, 0.03, 0.03, 0.0, 0.05, 0.04, -0.02]
    richer = max(capital(differences, 1), capital(differences, -1)) / 2

    assert p_value(differences) == pytest.approx(min(1.0, 1 / richer), rel=1e-12)
    assert p_value([0.01 * n for n in range(1, 31)]) == pytest.approx(
        2 / capital([0.01 * n for n in range(1, 31)], 1), rel=1e-12
    )


@pytest.mark.parametrize("magnitudes", [[1, 2, 3, 4, 5, 6, 7], [7, 1, 6, 6, 2, 9, 9], [3, 3, 3, 3, 3, 3, 3]])
def test_fair_coins_make_nobody_richer(magnitudes: list[float]) -> None:
    """Over all 128 draws of signs the mean capital is 1: whatever the magnitudes, in whatever order."""
    draws = [
        [magnitude * sign for magnitude, sign in zip(magnitudes, signs, strict=True)]
        for signs in itertools.product((1, -1), repeat=len(magnitudes))
    ]

    assert sum(capital(draw, 1) for draw in draws) / len(draws) == pytest.approx(1.0, rel=1e-12)


def test_the_interval_is_the_test_turned_round() -> None:
    """Its ends are where p passes 5 %; what lies inside is not excluded, what lies outside is."""
    random = np.random.default_rng(3)
    for _ in range(40):
        differences = random.standard_t(3, 25).tolist()
        low, high = interval(differences) or (math.nan, math.nan)
        shifts = np.linspace(-3, 3, 121)
        inside = [shift for shift in shifts if (p_value([one - shift for one in differences]) or 0.0) > 0.05]

        assert all(low <= shift <= high for shift in inside)
        assert len(inside) == sum(low < shift < high for shift in shifts)


def test_an_interval_at_a_lower_confidence_lies_inside() -> None:
    """90 % within 95 %."""
    differences = np.random.default_rng(4).normal(0.1, 1.0, 40).tolist()
    (low, high), (low_90, high_90) = interval(differences, 0.95) or (0, 0), interval(differences, 0.90) or (0, 0)

    assert low < low_90 < high_90 < high


def test_too_few_blocks_say_nothing() -> None:
    """Five have no p value; six have one, but no interval that ends on both sides."""
    assert p_value([0.1] * 5) is None
    assert interval([0.1] * 5) is None
    assert (p_value([0.1] * 6) or 0) > 0.05
    assert interval([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]) is None
