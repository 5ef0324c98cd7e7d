"""Which trial comes next, from the design and the trials recorded so far. Pure, so that a resumed run cannot differ.

Blocks are run in order; a block in which a trial failed is left at once and repeated after all others, in a new
order, at most `MAX_ATTEMPTS` times.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dbdyno.design.schedule import Place, block_order

MAX_ATTEMPTS = 3


def next_place(arms: Sequence[str], blocks: int, seed: int, trials: Sequence[Mapping[str, Any]]) -> Place | None:
    """The next trial to run, or None when every block is complete or given up."""
    return next(_places(arms, blocks, seed, trials), None)


def trials_left(arms: Sequence[str], blocks: int, seed: int, trials: Sequence[Mapping[str, Any]]) -> int:
    """How many trials are still to come if none of them fails."""
    return sum(1 for _ in _places(arms, blocks, seed, trials))


def _places(arms: Sequence[str], blocks: int, seed: int, trials: Sequence[Mapping[str, Any]]) -> Iterator[Place]:
    seen: dict[tuple[int, int], dict[str, str]] = {}
    for trial in trials:
        seen.setdefault((trial["block"], trial["attempt"]), {})[trial["arm"]] = trial["status"]
    finished: set[int] = set()
    for attempt in range(MAX_ATTEMPTS):
        for block in range(blocks):
            statuses = seen.get((block, attempt), {})
            if block in finished or "failed" in statuses.values():
                continue
            finished.add(block)
            for position, arm in enumerate(block_order(arms, seed, block, attempt)):
                if arm not in statuses:
                    yield Place((attempt * blocks + block) * len(arms) + position, block, position, arm, attempt)


def hopeless_arm(trials: Sequence[Mapping[str, Any]]) -> str | None:
    """An arm that failed twice and never succeeded: going on would only fail again."""
    failures: dict[str, int] = {}
    succeeded = {trial["arm"] for trial in trials if trial["status"] == "ok"}
    for trial in trials:
        if trial["status"] == "failed":
            failures[trial["arm"]] = failures.get(trial["arm"], 0) + 1
    return next((arm for arm, count in failures.items() if count >= 2 and arm not in succeeded), None)
