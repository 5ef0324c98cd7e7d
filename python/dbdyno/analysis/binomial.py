"""How often something with a known chance happens in so many tries, by chance alone."""

from __future__ import annotations

import math


def central_range(tries: int, chance: float, confidence: float = 0.95) -> tuple[int, int]:
    """The fewest and the most successes that leave at most half of the rest of `confidence` beyond each of them."""
    tail = (1.0 - confidence) / 2.0
    below, fewest = 0.0, 0
    probabilities = [math.comb(tries, k) * chance**k * (1.0 - chance) ** (tries - k) for k in range(tries + 1)]
    while below + probabilities[fewest] <= tail:
        below += probabilities[fewest]
        fewest += 1
    above, most = 0.0, tries
    while above + probabilities[most] <= tail:
        above += probabilities[most]
        most -= 1
    return fewest, most
