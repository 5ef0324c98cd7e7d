"""Units of work of very different lengths stand in tables of their own, each in its own unit of time."""

from __future__ import annotations

import dataclasses

import example_findings
import pytest

from dbdyno.analysis.findings import Arm
from dbdyno.report.naming import ArmNames
from dbdyno.report.sections.parts import parts
from dbdyno.report.sections.times import unit_of_work


def stretched(arm: Arm, times: int) -> Arm:
    """All of its time so many times."""
    profile = arm.profile_ns
    return dataclasses.replace(
        arm,
        profile_total_ns=arm.profile_total_ns * times,
        profile_ns=dataclasses.replace(
            profile, cpu=(profile.cpu or 0) * times, waits={event: ns * times for event, ns in profile.waits.items()}
        ),
    )


@pytest.mark.parametrize(("longer", "units"), [(1, ["ms"]), (50, ["s"]), (5_000, ["ms", "s"])])
def test_a_unit_a_thousand_times_as_long_has_a_table_of_its_own(longer: int, units: list[str]) -> None:
    """The CPU-bound arms, made so many times as long as they are."""
    findings = example_findings.commit_write()
    arms = [stretched(arm, longer if arm.arm.startswith("cpu") else 1) for arm in findings.arms]

    for section, heading in ((unit_of_work, "A unit of work, in "), (parts, "Where it goes, in ")):
        lines = [line.plain for line in section(arms, ArmNames(findings))]
        titles = [place for place, line in enumerate(lines) if line.startswith(heading)]
        named = [lines[place].removeprefix(heading).split(" ")[0].strip(":") for place in titles]
        assert sorted(named) == units
        assert all(lines[place - 1] == "" for place in titles[1:])
