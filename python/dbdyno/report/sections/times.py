"""What a unit of work costs in time."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from rich.text import Text

from dbdyno.analysis.findings import Arm
from dbdyno.report import numbers
from dbdyno.report.layout import Column, table
from dbdyno.report.naming import ArmNames
from dbdyno.report.sections.arms import arm_rows, tables, title


def unit_of_work(arms: Sequence[Arm], names: ArmNames) -> list[Text]:
    """Arrival rate, then the response time of a unit part by part: each row adds up to its mean."""
    return tables(arms, names, _table)


def _table(arms: Sequence[Arm], names: ArmNames) -> list[Text]:
    unit = numbers.time_unit(median(arm.profile_total_ns for arm in arms))

    def times(*heading: str, of: Sequence[float | None], style: str = "") -> Column:
        return Column(heading, tuple(numbers.in_unit(value, unit) for value in of), style)

    profiles = [arm.profile_ns for arm in arms]
    columns = _elapsed(arms, unit)
    columns.append(
        Column(("units", "per s"), tuple(numbers.significant(arm.throughput_per_s.estimate) for arm in arms))
    )
    if any(arm.rows_per_s for arm in arms):
        rows = [arm.rows_per_s for arm in arms]
        columns.append(Column(("rows", "per s"), tuple(numbers.significant(r.estimate) if r else "-" for r in rows)))
    if any(arm.bytes_per_s for arm in arms):
        rates = [arm.bytes_per_s for arm in arms]
        columns.append(
            Column(("MB", "per s"), tuple(numbers.significant(r.estimate / 1e6) if r else "-" for r in rates))
        )
    if any(profile.queue > 0 for profile in profiles):
        columns.append(times("queue", of=[profile.queue for profile in profiles]))
    columns += [
        times("CPU", of=[profile.cpu for profile in profiles]),
        times("run", "queue", of=[profile.run_queue for profile in profiles]),
        times("wait", of=[sum(profile.waits.values()) + profile.asleep_no_wait_event for profile in profiles]),
        times("client", "+net", of=[profile.client_and_network for profile in profiles]),
        times("unac-", "counted", of=[profile.unaccounted for profile in profiles], style="dim"),
        times("mean", of=[arm.profile_total_ns for arm in arms], style="bold"),
    ]
    if any(arm.has_percentiles for arm in arms):
        p99 = [arm.response_time_ns.p99.estimate if arm.has_percentiles else None for arm in arms]
        columns.append(times("p99", of=p99))
    return [
        *title(f"A unit of work, in {unit.name}: the parts add up to the mean"),
        *table(arm_rows(arms, names), columns),
    ]


def _elapsed(arms: Sequence[Arm], unit: numbers.Unit) -> list[Column]:
    """The time that fixed work took, in a unit of its own where there are many units of work."""
    elapsed = [None if arm.elapsed_ns is None else arm.elapsed_ns.estimate for arm in arms]
    known = [ns for ns in elapsed if ns is not None]
    if not known:
        return []
    own = numbers.time_unit(median(known))
    heading = ("elapsed",) if own == unit else ("elapsed,", own.name)
    return [Column(heading, tuple(numbers.in_unit(ns, own) for ns in elapsed), "bold")]
