"""What charts of single trials show: the elapsed time of fixed work, otherwise the throughput."""

from __future__ import annotations

import dataclasses

from dbdyno.analysis.findings import Arm, ArmTrial, Findings
from dbdyno.report.html.quantity import Unit, time_unit

PER_SECOND = Unit("units of work per second", 1.0)


@dataclasses.dataclass(frozen=True, slots=True)
class Measure:
    """A figure that every trial has; `short_unit` stands behind it in a label."""

    heading: str
    of_elapsed: bool
    unit: Unit
    short_unit: str

    def trial(self, trial: ArmTrial) -> float:
        """The figure of one trial."""
        return trial.elapsed_ns if self.of_elapsed and trial.elapsed_ns is not None else trial.throughput_per_s

    def arm(self, arm: Arm) -> float:
        """The estimate over the trials of an arm."""
        elapsed = arm.elapsed_ns
        return elapsed.estimate if self.of_elapsed and elapsed is not None else arm.throughput_per_s.estimate

    def label(self, arm: Arm) -> str:
        """The estimate and its unit, short."""
        return f"{self.unit.text(self.arm(arm))}{self.short_unit}"


def measure_of(findings: Findings) -> Measure:
    """Elapsed time where all arms do fixed work."""
    elapsed = [arm.elapsed_ns.estimate for arm in findings.arms if arm.elapsed_ns is not None]
    if not elapsed or len(elapsed) < len(findings.arms):
        return Measure("throughput", False, PER_SECOND, "/s")
    unit = time_unit(elapsed)
    return Measure("elapsed time", True, Unit(f"{unit.name} elapsed", unit.size), f" {unit.name}")
