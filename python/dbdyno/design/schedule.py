"""The order of a run: randomised complete blocks from a recorded seed.

Every arm appears once in each block, in an order drawn anew for each block. The draw uses only `Random.random`,
the one method whose sequence Python promises to keep, so that a seed gives the same schedule for good.
"""

from __future__ import annotations

import dataclasses
import hashlib
import random
from collections.abc import Sequence


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """One trial to run: index in the schedule, block, position in the block, arm and how often it was tried."""

    trial: int
    block: int
    position: int
    arm: str
    attempt: int = 0


def schedule(arms: Sequence[str], blocks: int, seed: int) -> list[Place]:
    """`blocks` times all `arms`, each block in its own random order."""
    places: list[Place] = []
    for block in range(blocks):
        for position, arm in enumerate(block_order(arms, seed, block)):
            places.append(Place(len(places), block, position, arm))
    return places


def block_order(arms: Sequence[str], seed: int, block: int, attempt: int = 0) -> list[str]:
    """The order of one block (Fisher-Yates); a repeated block gets an order of its own."""
    generator = random.Random(f"{seed}/{block}/{attempt}")
    order = list(arms)
    for last in range(len(order) - 1, 0, -1):
        chosen = int(generator.random() * (last + 1))
        order[last], order[chosen] = order[chosen], order[last]
    return order


def trial_seed(seed: int, block: int) -> int:
    """The seed of the parameter streams: shared by the arms of a block, so that they meet the same keys."""
    digest = hashlib.sha256(f"{seed}/{block}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
