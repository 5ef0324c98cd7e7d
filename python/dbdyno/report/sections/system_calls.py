"""The system calls of one process, as `--syscalls PID` saw them: a table by call, the files behind the busiest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.text import Text

from dbdyno.report import numbers
from dbdyno.report.layout import Column, Row, paragraph, table
from dbdyno.report.sections.arms import title

# Calls and files that are worth a line; all are in the JSON document.
CALLS_SHOWN = 12
FILES_SHOWN = 8
ENDED = {
    "time": "the time was up",
    "calls": "enough calls were seen",
    "stopped": "it was stopped",
    "gone": "the process ended",
}


def system_calls(record: Mapping[str, Any]) -> list[Text]:
    """The whole report of one tracing."""
    calls: Sequence[Mapping[str, Any]] = record["calls"]
    lines = title(f"System calls of process {record['pid']}")
    if not calls:
        return [*lines, *paragraph(Text("It made none."))]
    shown = calls[:CALLS_SHOWN]
    columns = [
        Column(("calls",), tuple(f"{call['count']:,}" for call in shown)),
        _column("bytes", [call["bytes"] for call in shown], numbers.byte_unit),
        _column("mean size", [_mean_bytes(call) for call in shown], numbers.byte_unit),
        _column("total", [call["total_ns"] for call in shown], numbers.time_unit),
        _column("mean", [call["total_ns"] / call["count"] for call in shown], numbers.time_unit),
        _column("longest", [call["max_ns"] for call in shown], numbers.time_unit),
    ]
    lines += table([Row(call["call"]) for call in shown], columns)
    for call, file in _busiest_files(calls):
        said = f"{call} {file['file']}: {numbers.count(file['count'], 'call')}, {numbers.duration(file['total_ns'])}"
        lines += paragraph(Text(said), first="  ", rest="    ")
    return [*lines, *paragraph(Text(_cost(record), style="dim"))]


def _busiest_files(calls: Sequence[Mapping[str, Any]]) -> list[tuple[str, Mapping[str, Any]]]:
    files = [(call["call"], file) for call in calls for file in call["files"]]
    return sorted(files, key=lambda pair: -pair[1]["total_ns"])[:FILES_SHOWN]


def _column(heading: str, values: Sequence[float | None], unit_for: Callable[[float], numbers.Unit]) -> Column:
    """Figures in one unit, that of the middle one; blank where a call has none."""
    known = sorted(value for value in values if value)
    unit = unit_for(known[len(known) // 2] if known else 0.0)
    cells = ("" if value is None else numbers.in_unit(value, unit) for value in values)
    return Column((heading, unit.name), tuple(cells))


def _mean_bytes(call: Mapping[str, Any]) -> float | None:
    done = call["count"] - call["errors"]
    return call["bytes"] / done if call["bytes"] and done else None


def _cost(record: Mapping[str, Any]) -> str:
    """What the tracing itself cost: every call stops the process twice."""
    held = numbers.percent(record["held_ns"] / record["elapsed_ns"])
    said = f"Traced for {numbers.duration(record['elapsed_ns'])} until {ENDED[record['ended']]}. "
    said += f"The process stood still for us {record['stops']} times, at least {held} of that time. "
    shortest = record["shortest_ns"]
    if shortest is not None:
        said += f"Each time holds the tracing, up to {numbers.duration(shortest)} a call (the shortest one seen)."
    return said.rstrip()
