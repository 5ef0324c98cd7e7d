"""How arms and parts of a profile are called in a report.

An arm's name is its levels joined by `/`.
Levels that an arm always shares with its baseline are the circumstances in which it is compared (the load, say):
they name the group. The others are what is compared: they name the arm within its group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

PART_NAMES = {
    "queue": "queue time",
    "cpu": "CPU",
    "run_queue": "run queue",
    "asleep_no_wait_event": "sleep without a wait event",
    "client_and_network": "client and network",
    "unaccounted": "unaccounted time",
}


def part_name(part: str) -> str:
    """A part of a profile in words; a wait event keeps the engine's own name."""
    return PART_NAMES.get(part, part)


class Named(Protocol):
    """What has the name of an arm, its levels and the arm that it is compared with."""

    @property
    def arm(self) -> str:
        """All levels, joined by `/`."""

    @property
    def levels(self) -> Mapping[str, str]:
        """Factor to level."""

    @property
    def baseline(self) -> str | None:
        """The arm that it is compared with."""


class WithArms(Protocol):
    """Findings of whatever kind."""

    @property
    def arms(self) -> Sequence[Named]:
        """In file order."""


One = TypeVar("One", bound=Named)


class ArmNames:
    """Group and short name of every arm of some findings."""

    def __init__(self, findings: WithArms) -> None:
        self._arms = {arm.arm: arm for arm in findings.arms}
        self._shared = _shared_factors(findings.arms)

    def group(self, arm: str) -> str | None:
        """The circumstances, as in `io-bound`; None where arms have none in common with their baselines."""
        levels = self._arms[arm].levels
        return "/".join(levels[factor] for factor in levels if factor in self._shared) or None

    def short(self, arm: str) -> str:
        """The name within the group, as in `nowait-batch`; a null arm has its baseline's levels and keeps its name."""
        levels = self._arms[arm].levels
        if arm != "/".join(levels.values()):
            return arm
        return "/".join(levels[factor] for factor in levels if factor not in self._shared) or arm

    def grouped(self, arms: Sequence[One]) -> list[One]:
        """The arms with those of one group together, groups and arms in the order of first sight."""
        groups = list(dict.fromkeys(self.group(arm.arm) for arm in arms))
        return sorted(arms, key=lambda arm: groups.index(self.group(arm.arm)))


def _shared_factors(arms: Sequence[Named]) -> set[str]:
    by_name = {arm.arm: arm for arm in arms}
    compared = [(arm, by_name[arm.baseline]) for arm in arms if arm.baseline in by_name]
    if not compared:
        return set()
    return {
        factor
        for factor in compared[0][0].levels
        if all(arm.levels.get(factor) == baseline.levels.get(factor) for arm, baseline in compared)
    }


def script_name(script: str) -> str:
    """A kind of transaction as a report calls it: its script without the ending."""
    return script.removesuffix(".sql")


def outcome_name(name: str) -> tuple[str, bool]:
    """An outcome in words, and whether it is a size: a name that says `bytes` gives that up to the unit."""
    words = name.replace("_", " ").split()
    return " ".join(word for word in words if word != "bytes") or name, "bytes" in words
