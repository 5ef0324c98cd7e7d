"""What a self-test shows: planted truths against what was found, and what watching cost."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

from dbdyno.analysis.findings import NullArm, SamplingCost

# A planted time that is found within this share of itself is found.
TOLERANCE = 0.03

# Standing in line for a CPU lengthens what is planted at one end and what is found at the other; with more of it than
# this a repeat that missed says more about the machine than about the instrument.
RUN_QUEUE_SHARE_MAX = 0.05

Verdict = Literal["holds", "machine too busy", "fails"]
WORST_FIRST: tuple[Verdict, ...] = ("fails", "machine too busy", "holds")


@dataclasses.dataclass(frozen=True, slots=True)
class Planted:
    """One truth, once: its length and what the profile gave, in ns a unit of work."""

    true_ns: float
    found_ns: float
    run_queue_share: float

    @property
    def ratio(self) -> float:
        """Found over true."""
        return self.found_ns / self.true_ns

    @property
    def inside(self) -> bool:
        """Whether it was found."""
        return abs(self.ratio - 1) <= TOLERANCE

    @property
    def disturbed(self) -> bool:
        """Whether it was missed on a machine that had no CPU to spare."""
        return not self.inside and self.run_queue_share > RUN_QUEUE_SHARE_MAX


@dataclasses.dataclass(frozen=True, slots=True)
class TruthResult:
    """All repeats of one truth."""

    name: str
    says: str
    repeats: tuple[Planted, ...]

    @property
    def inside(self) -> int:
        """Repeats within the tolerance."""
        return sum(planted.inside for planted in self.repeats)

    @property
    def disturbed(self) -> int:
        """Repeats that missed on a busy machine."""
        return sum(planted.disturbed for planted in self.repeats)

    @property
    def verdict(self) -> Verdict:
        """Of all repeats together."""
        missed = len(self.repeats) - self.inside
        if missed == 0:
            return "holds"
        return "machine too busy" if missed == self.disturbed else "fails"


@dataclasses.dataclass(frozen=True, slots=True)
class SelfTest:
    """The whole."""

    server_version: str
    truths: tuple[TruthResult, ...]
    cost: SamplingCost
    null_arm: NullArm

    @property
    def verdict(self) -> Verdict:
        """The worst of the truths' verdicts."""
        found = {truth.verdict for truth in self.truths}
        return next(verdict for verdict in WORST_FIRST if verdict in found)

    def document(self) -> dict[str, Any]:
        """The JSON of `dbdyno selftest --json`, which is also what is kept for later reports (docs/findings.md)."""
        return {
            "format": 1,
            "server_version": self.server_version,
            "verdict": self.verdict,
            "tolerance": TOLERANCE,
            "truths": [
                {
                    "name": truth.name,
                    "says": truth.says,
                    "verdict": truth.verdict,
                    "inside": truth.inside,
                    "repeats": [{**dataclasses.asdict(planted), "ratio": planted.ratio} for planted in truth.repeats],
                }
                for truth in self.truths
            ],
            "cost": dataclasses.asdict(self.cost),
            "null_arm": dataclasses.asdict(self.null_arm),
        }
