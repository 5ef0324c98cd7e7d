"""Holm's correction: with several comparisons, the chance of even one false alarm stays at 5 %.

What it costs: the strongest of m comparisons must reach p < 0.05 / m.
The smallest p value that n blocks can give is 2 / 2^n, so 6 comparisons need n = 8 blocks to find anything at all
(6 x 2/2^8 = 0.047); one comparison needs 6.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

SIGNIFICANCE = 0.05


def holm(p_values: Sequence[float]) -> list[float]:
    """The adjusted p values, in the order given."""
    adjusted = [1.0] * len(p_values)
    largest_so_far = 0.0
    by_size = sorted(range(len(p_values)), key=lambda place: p_values[place])
    for step, place in enumerate(by_size):
        largest_so_far = max(largest_so_far, min(1.0, (len(p_values) - step) * p_values[place]))
        adjusted[place] = largest_so_far
    return adjusted


def of_all(
    p_values: Sequence[float | None], correct: Callable[[Sequence[float]], list[float]] = holm
) -> list[float | None]:
    """The adjusted p values of a family; where blocks are too few for one question they are for all, hence None."""
    known = [p for p in p_values if p is not None]
    return list(correct(known)) if len(known) == len(p_values) else [None] * len(p_values)


def minimum_blocks(comparisons: int) -> int:
    """The fewest blocks with which the strongest of so many comparisons can be significant."""
    blocks = 1
    while comparisons * 2.0 / 2.0**blocks >= SIGNIFICANCE:
        blocks += 1
    return blocks
