"""The parts of a unit of work with their error bars: CPU, run queue, the greatest waits by name."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from rich.text import Text

from dbdyno.analysis.findings import Arm, Estimate, event_note
from dbdyno.report import numbers
from dbdyno.report.layout import Column, paragraph, table
from dbdyno.report.naming import ArmNames
from dbdyno.report.sections.arms import arm_rows, tables, title

# More wait events than this make no row clearer; the others are summed in a column of their own.
TOP_WAITS = 4
# A part that is nowhere so much of the response time needs no column.
SMALLEST_SHARE = 0.005
HEADINGS = {"cpu": "CPU", "run_queue": "run|queue", "asleep_no_wait_event": "asleep,|no event"}


def parts(arms: Sequence[Arm], names: ArmNames) -> list[Text]:
    """A column with its interval for each part; the sections before it have what is no work of the server."""
    return tables(arms, names, _table)


def _table(arms: Sequence[Arm], names: ArmNames) -> list[Text]:
    waits = _shown(arms, [event for arm in arms for event in arm.profile_ns.waits])
    top = waits[:TOP_WAITS]
    columns = _shown(arms, ["cpu", "run_queue"]) + top + _shown(arms, ["asleep_no_wait_event"])
    unit = numbers.time_unit(median(arm.profile_total_ns for arm in arms))
    found = [_column(part, arms, unit) for part in columns]
    rest = [sum(ns for event, ns in arm.profile_ns.waits.items() if event not in top) for arm in arms]
    if any(ns >= SMALLEST_SHARE * arm.profile_total_ns for ns, arm in zip(rest, arms, strict=True)):
        found.append(Column(("other", "waits"), tuple(numbers.in_unit(ns, unit) for ns in rest)))
    if not found:
        return []
    words = f"Where it goes, in {unit.name} per unit of work, ± 95 % interval"
    if any(arm.profile_route == "sql" for arm in arms):
        words += " (sampled over SQL: rough)"
    return [*title(words), *table(arm_rows(arms, names), found), *_notes(top), *_few_trials(arms)]


def _shown(arms: Sequence[Arm], candidates: Sequence[str]) -> list[str]:
    """Those that are not negligible everywhere, the greatest anywhere first; CPU and its like in their own order."""
    greatest = {
        part: max(arm.profile_ns.parts().get(part, 0.0) / arm.profile_total_ns for arm in arms)
        for part in dict.fromkeys(candidates)
    }
    seen = [part for part, share in greatest.items() if share >= SMALLEST_SHARE]
    if any(":" not in part for part in seen):
        return seen
    times = {part: max(arm.profile_ns.waits.get(part, 0.0) for arm in arms) for part in seen}
    return sorted(seen, key=lambda part: -times[part])


def _column(part: str, arms: Sequence[Arm], unit: numbers.Unit) -> Column:
    """Each cell is the time and how far the farther end of its interval is from it, in per cent of it."""
    name = HEADINGS.get(part, part) + ("*" if event_note(part) else "")
    kind, _, event = name.partition(":")
    values = [arm.profile_ns.parts().get(part, 0.0 if event else None) for arm in arms]
    times = numbers.align_points([numbers.in_unit(ns, unit) for ns in values])
    cells = tuple(time + _give_or_take(_interval(arm, part)) for time, arm in zip(times, arms, strict=True))
    return Column((f"{kind}:", event) if event else tuple(name.split("|")), cells, words=True)


def _interval(arm: Arm, part: str) -> Estimate | None:
    known = arm.intervals.parts if arm.intervals else []
    return next((one.ns for one in known if one.part == part), None)


def _give_or_take(ns: Estimate | None) -> str:
    if ns is None or ns.low is None or ns.high is None or not ns.estimate:
        return ""
    farther = max(ns.estimate - ns.low, ns.high - ns.estimate)
    return f" ±{numbers.percent(farther / abs(ns.estimate))}"


def _notes(events: Sequence[str]) -> list[Text]:
    notes = {note: None for event in events if (note := event_note(event))}
    return [line for note in notes for line in paragraph(Text(f"* {note}", style="dim"))]


def _few_trials(arms: Sequence[Arm]) -> list[Text]:
    few = [arm.intervals.clusters for arm in arms if arm.intervals and arm.intervals.resampled == "chunks"]
    if not few:
        return []
    words = f"Few trials: the intervals come from {min(few)} chunks of them and miss what differs from trial to trial."
    return paragraph(Text(words, style="dim"))
