"""Which arms stand together, under which label and in which colour: decided once for all charts.

A group holds the arms that are compared with each other (`report.naming`) and is drawn on a scale of its own:
a CPU-bound unit of 15 ms would flatten an I/O-bound one of 1 ms.
Within a group an arm goes by its short name, and equal names look the same in every group.
"""

from __future__ import annotations

import dataclasses

from dbdyno.analysis.findings import Arm, Comparison, Findings
from dbdyno.report.html import palette
from dbdyno.report.html.palette import Fill, Mark
from dbdyno.report.naming import ArmNames


@dataclasses.dataclass(frozen=True, slots=True)
class Placed:
    """An arm, its label within the group and its mark."""

    arm: Arm
    label: str
    mark: Mark


@dataclasses.dataclass(frozen=True, slots=True)
class Group:
    """Arms of the same circumstances; `name` is None where there is but one group without a name."""

    name: str | None
    placed: list[Placed]


@dataclasses.dataclass(frozen=True, slots=True)
class Arrangement:
    """The groups in file order, and the fill of each wait event (largest first)."""

    groups: list[Group]
    wait_fills: dict[str, Fill]

    def placed(self) -> list[Placed]:
        """Every arm, group after group."""
        return [one for group in self.groups for one in group.placed]

    def marks(self) -> dict[str, Mark]:
        """Label to mark, for a key."""
        return {one.label: one.mark for one in self.placed()}


def arrange(findings: Findings) -> Arrangement:
    """Part the arms into groups and give out labels and colours."""
    names = ArmNames(findings)
    labels = {arm.arm: names.short(arm.arm) for arm in findings.arms}
    marks = palette.arm_marks((labels[arm.arm], arm) for arm in findings.arms)
    members: dict[str | None, list[Placed]] = {}
    for arm in findings.arms:
        label = labels[arm.arm]
        members.setdefault(names.group(arm.arm), []).append(Placed(arm, label, marks[label]))
    groups = [Group(name, placed) for name, placed in members.items()]
    return Arrangement(groups, palette.wait_fills(_waits_by_size(findings)))


def primary(findings: Findings) -> dict[str, Comparison]:
    """The comparison of each arm with its baseline; where all pairs are compared, the others stand in the table."""
    baselines = {arm.arm: arm.baseline for arm in findings.arms}
    return {one.arm: one for one in findings.comparisons if one.baseline == baselines[one.arm]}


def _waits_by_size(findings: Findings) -> list[str]:
    largest: dict[str, float] = {}
    for arm in findings.arms:
        for event, ns in arm.profile_ns.waits.items():
            largest[event] = max(largest.get(event, 0.0), ns)
        for part in arm.tail.extra if arm.tail is not None else ():
            if ":" in part.part:
                largest.setdefault(part.part, 0.0)
    return sorted(largest, key=lambda event: (-largest[event], event))
