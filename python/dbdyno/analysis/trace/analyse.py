"""From the outcome of `_core.trace_profile` (docs/architecture.md, "Traces") to findings."""

from __future__ import annotations

from collections.abc import Iterator

from dbdyno.analysis.documents import Document
from dbdyno.analysis.trace.advice import findings, unaccounted_words
from dbdyno.analysis.trace.findings import (
    FORMAT,
    Edge,
    Scope,
    Target,
    TraceFile,
    TraceFindings,
    Transactions,
    UnknownLines,
)
from dbdyno.analysis.trace.notes import warnings
from dbdyno.analysis.trace.profile import lines_of
from dbdyno.analysis.trace.statements import statement_findings


def analyse(outcome: Document) -> TraceFindings:
    """All files, and all scopes of each."""
    return TraceFindings(
        format=FORMAT,
        files=[_file(file) for file in outcome["files"]],
        scopes=[scope for file in outcome["files"] for scope in _scopes(file)],
    )


def _file(file: Document) -> TraceFile:
    return TraceFile(
        file=file["file"],
        version=file["version"],
        bytes=file["bytes"],
        text_bytes=file["text_bytes"],
        compression=file["compression"],
        lines=file["lines"],
        time_unit=file["time_unit"],
        records=dict(file["records"]),
        unknown_lines=UnknownLines(file["unknown_lines"]["count"], list(file["unknown_lines"]["shapes"])),
        broken=file["broken"],
        warnings=list(warnings(file)),
    )


def _scopes(file: Document) -> Iterator[Scope]:
    overlap = any(note["code"] == "sessions_overlap" for note in file["notes"])
    known = {statement["statement"]: statement for statement in file["statements"]}
    for scope in file["scopes"]:
        duration_ns, split = scope["duration_ns"], scope["profile_ns"]
        profile = lines_of(split["cpu"], scope["waits"], split["unaccounted"], duration_ns)
        statements = [statement_findings(known[row["statement"]], row, duration_ns) for row in scope["statements"]]
        transactions = Transactions(**scope["transactions"])
        within_ns, between_ns = split["unaccounted_within_calls"], split["unaccounted_between_calls"]
        yield Scope(
            scope=scope["scope"],
            file=file["file"],
            session=scope["session"],
            process=scope["process"],
            duration_ns=duration_ns,
            begin_line=scope["begin_line"],
            end_line=scope["end_line"],
            profile_ns={name: split[name] for name in ("cpu", "waits", "unaccounted")},
            wait_counts={wait["event"]: wait["count"] for wait in scope["waits"]},
            profile=profile,
            unaccounted_within_calls_ns=within_ns,
            unaccounted_between_calls_ns=between_ns,
            unaccounted_words=unaccounted_words(
                within_ns,
                between_ns,
                duration_ns,
                coarse=file["cpu_clock_is_coarse"],
                overlap=overlap and scope["scope"] == "file",
            ),
            findings=findings(duration_ns, profile, statements, transactions),
            statements=sorted(statements, key=lambda one: (-one.response_ns, one.statement)),
            call_tree=[Edge(**edge) for edge in scope["call_tree"]],
            targets=sorted((Target(**one) for one in scope["targets"]), key=lambda one: -one.sum_ns),
            transactions=transactions,
        )
