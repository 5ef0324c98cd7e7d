"""Holm, the five verdicts, and the blocks that a missing verdict would take."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbdyno.analysis.holm import holm, minimum_blocks
from dbdyno.analysis.verdict import Effect, blocks_needed, verdict


def effect(ratio: float = 1.10, half_width: float = 0.05, p: float | None = 0.001, blocks: int = 10) -> Effect:
    """An effect whose intervals are symmetric in logs; the 90 % one is 1.645/1.96 as wide."""
    log, narrow = math.log(ratio), half_width * 1.645 / 1.96
    inside = abs(log) + narrow < math.log(1.03)
    return Effect(blocks, log, half_width, inside, narrow, p)


def test_holm_by_hand() -> None:
    """0.01 x 4, then 0.02 x 3, then 0.03 x 2, then the last, never below one before."""
    assert holm([0.03, 0.01, 0.9, 0.02]) == pytest.approx([0.06, 0.04, 0.9, 0.06])


def test_holm_of_nothing_and_of_one() -> None:
    """No comparison, no p value; one comparison needs no correction."""
    assert holm([]) == []
    assert holm([0.04]) == [0.04]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_lies_between_raw_and_bonferroni_and_keeps_the_order(p_values: list[float]) -> None:
    """Never less strict than no correction, never stricter than Bonferroni."""
    adjusted = holm(p_values)

    for raw, corrected in zip(p_values, adjusted, strict=True):
        assert raw <= corrected <= min(1.0, raw * len(p_values)) or corrected == pytest.approx(max(adjusted))
    in_order = [adjusted[place] for place in sorted(range(len(p_values)), key=lambda place: p_values[place])]
    assert in_order == sorted(in_order)


@pytest.mark.parametrize(("comparisons", "blocks"), [(1, 6), (3, 7), (6, 8), (12, 9)])
def test_minimum_blocks(comparisons: int, blocks: int) -> None:
    """2 m / 2^n < 0.05."""
    assert minimum_blocks(comparisons) == blocks


@pytest.mark.parametrize(
    ("given_effect", "higher_is_better", "expected"),
    [
        (effect(1.10), True, "better"),
        (effect(1.10), False, "worse"),
        (effect(0.90), True, "worse"),
        (effect(0.90), False, "better"),
        (effect(1.02, 0.005), True, "small"),
        (effect(0.98, 0.005), True, "small"),
        (effect(1 / 1.0301, 0.005), True, "worse"),
        (effect(1.001, 0.01, p=0.7), True, "same"),
        (effect(1.01, 0.05, p=0.7), True, "undecided"),
        (effect(1.50, 0.60, p=0.06), True, "undecided"),
        (effect(3.00, 0.01, p=None, blocks=5), True, "undecided"),
    ],
)
def test_verdict(given_effect: Effect, higher_is_better: bool, expected: str) -> None:
    """Direction, margin and significance each change the word."""
    assert verdict(given_effect, 0.03, higher_is_better) == expected


def test_blocks_needed_follows_the_square_of_the_half_width() -> None:
    """One comparison, effect log 1.5, half-width twice as wide: four times the blocks."""
    wide = effect(1.5, half_width=2 * math.log(1.5), p=0.3, blocks=10)

    assert blocks_needed(wide, 0.03, comparisons=1) == 40


def test_blocks_needed_counts_holm() -> None:
    """Six comparisons must reach 0.05/6: z 2.638 instead of 1.960, hence 1.81 times the blocks."""
    wide = effect(1.5, half_width=2 * math.log(1.5), p=0.3, blocks=10)

    assert blocks_needed(wide, 0.03, comparisons=6) == math.ceil(40 * (2.638257 / 1.959964) ** 2)


def test_blocks_needed_to_show_sameness() -> None:
    """No effect at all: the 90 % interval must shrink into the margin."""
    none = effect(1.0, half_width=3 * math.log(1.03) * 1.96 / 1.645, p=1.0, blocks=10)

    assert blocks_needed(none, 0.03, comparisons=6) in {90, 91}


def test_blocks_needed_is_more_than_there_were() -> None:
    """Undecided at 10 blocks: the advice is never 10 again."""
    near = effect(1.5, half_width=0.2, p=0.06, blocks=10)

    assert blocks_needed(near, 0.03, comparisons=1) == 11


def test_blocks_needed_with_too_few_blocks_is_the_least_that_can_decide() -> None:
    """Five blocks have no interval: eight is where six comparisons can begin to be decided."""
    assert blocks_needed(Effect(5, 1.0, None, False, None, None), 0.03, comparisons=6) == 8


def test_blocks_needed_refuses_nonsense() -> None:
    """An effect at the very margin in great noise would need many thousands."""
    assert blocks_needed(effect(1.02, half_width=2.0, p=0.9), 0.03, comparisons=1) is None
