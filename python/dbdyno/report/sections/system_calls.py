"""The system calls of one process, as `--syscalls PID` saw them: a table by call, the files behind the busiest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    rows = [Row(call["call"]) for call in calls[:CALLS_SHOWN]]
    columns = [
        Column(("calls",), tuple(str(call["count"]) for call in calls[:CALLS_SHOWN])),
        Column(("bytes",), tuple(_size(call["bytes"]) for call in calls[:CALLS_SHOWN])),
        Column(("mean size",), tuple(_mean_size(call) for call in calls[:CALLS_SHOWN])),
        Column(("total",), tuple(numbers.duration(call["total_ns"]) for call in calls[:CALLS_SHOWN])),
        Column(("mean",), tuple(numbers.duration(call["total_ns"] / call["count"]) for call in calls[:CALLS_SHOWN])),
        Column(("longest",), tuple(numbers.duration(call["max_ns"]) for call in calls[:CALLS_SHOWN])),
    ]
    lines += table(rows, columns)
    for call, file in _busiest_files(calls):
        said = f"{call} {file['file']}: {numbers.count(file['count'], 'call')}, {numbers.duration(file['total_ns'])}"
        lines += paragraph(Text(said), first="  ", rest="    ")
    return [*lines, *paragraph(Text(_cost(record), style="dim"))]


def _busiest_files(calls: Sequence[Mapping[str, Any]]) -> list[tuple[str, Mapping[str, Any]]]:
    files = [(call["call"], file) for call in calls for file in call["files"]]
    return sorted(files, key=lambda pair: -pair[1]["total_ns"])[:FILES_SHOWN]


def _size(value_bytes: int | None) -> str:
    return "" if value_bytes is None else numbers.size(value_bytes)


def _mean_size(call: Mapping[str, Any]) -> str:
    done = call["count"] - call["errors"]
    return numbers.size(call["bytes"] / done) if call["bytes"] and done else ""


def _cost(record: Mapping[str, Any]) -> str:
    """What the tracing itself cost: every call stops the process twice."""
    held = numbers.percent(record["held_ns"] / record["elapsed_ns"])
    said = f"Traced for {numbers.duration(record['elapsed_ns'])} until {ENDED[record['ended']]}. "
    said += f"The process stood still for us {record['stops']} times, at least {held} of that time. "
    shortest = record["shortest_ns"]
    if shortest is not None:
        said += f"Each time holds the tracing, up to {numbers.duration(shortest)} a call (the shortest one seen)."
    return said.rstrip()
