"""What is said of a trace file in sentences."""

from __future__ import annotations

import re

from dbdyno.analysis.trace.findings import Scope, StatementFindings, TraceFile
from dbdyno.report import numbers

TEXT_CHARACTERS = 160


def heading(file: TraceFile) -> str:
    """What was read."""
    release = f"Oracle {file.version}" if file.version else "release unknown"
    packed = f" of {file.compression}" if file.compression != "none" else ""
    return f"{file.file}: {release}, {file.lines:,} lines, {numbers.size(file.bytes)}{packed}"


def answer(scope: Scope) -> str:
    """How long it took, and what most of that was."""
    whose = "" if scope.session is None else f"Session {scope.session}: "
    if scope.session is None and scope.process is not None:
        whose = f"Process {scope.process}: "
    if scope.duration_ns <= 0:
        return f"{whose}no time went by between its lines."
    largest = max(scope.profile, key=lambda line: line.ns)
    lines = f"lines {scope.begin_line:,} to {scope.end_line:,}"
    took = f"{whose}{numbers.duration(scope.duration_ns)} ({lines})"
    return f"{took}; {numbers.percent(largest.share or 0.0)} of it is {largest.name}."


def statement_name(one: StatementFindings) -> str:
    """SQL_ID where there is one."""
    match one.kind:
        case "no_cursor":
            return "(no cursor)"
        case "others":
            return "(others)"
        case "not_in_trace":
            return f"(text not in trace {one.statement})"
        case _:
            return one.sql_id or f"statement {one.statement}"


def statement_words(one: StatementFindings) -> str:
    """Its name, where it is, what most of its time is, and the beginning of its text."""
    largest = max(one.profile, key=lambda line: line.ns)
    mostly = "" if largest.share is None else f", {numbers.percent(largest.share)} {largest.name}"
    # A line breaks at blanks, which lists of columns often lack.
    text = re.sub(r",(?=\S)", ", ", re.sub(r"\s+", " ", one.text)).strip() or "no text in the trace"
    shown = f"{text[:TEXT_CHARACTERS]}{'...' if len(text) > TEXT_CHARACTERS else ''}"
    return f"{statement_name(one)}, line {one.line:,}{mostly}: {shown}"
