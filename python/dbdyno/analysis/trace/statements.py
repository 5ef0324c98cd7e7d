"""One statement's part of a scope: its calls, what they waited for, its plans, its slowest execution."""

from __future__ import annotations

from dbdyno.analysis.documents import Document
from dbdyno.analysis.trace.findings import Calls, Plan, RowSource, Slowest, StatementFindings
from dbdyno.analysis.trace.profile import lines_of


def statement_findings(statement: Document, row: Document, duration_ns: int) -> StatementFindings:
    """From a row of a scope, and what is known of its statement in the whole file."""
    calls = [_calls(kind, sums) for kind, sums in row["calls"].items()]
    own_cpu_ns = sum(one.own_cpu_ns for one in calls)
    own_elapsed_ns = sum(one.own_elapsed_ns for one in calls)
    between_ns = sum(int(wait["between_calls_ns"]) for wait in row["waits"])
    within_ns = sum(int(wait["sum_ns"]) for wait in row["waits"]) - between_ns
    response_ns = own_elapsed_ns + between_ns
    slowest = row["executions"]["slowest"]
    return StatementFindings(
        statement=statement["statement"],
        kind=statement["kind"],
        sql_id=statement["sql_id"],
        sql_id_is_computed=statement["sql_id_is_computed"],
        hash_value=statement["hash_value"],
        text=statement["text"],
        text_bytes=statement["text_bytes"],
        user=statement["user"],
        line=statement["line"],
        depth=row["depth_min"],
        response_ns=response_ns,
        share=response_ns / duration_ns if duration_ns > 0 else None,
        executions=sum(one.count for one in calls if one.kind == "exec"),
        rows=sum(one.rows for one in calls),
        profile=lines_of(own_cpu_ns, row["waits"], own_elapsed_ns - own_cpu_ns - within_ns, response_ns),
        calls=calls,
        plans=[_plan(plan) for plan in row["plans"]],
        slowest=None if slowest is None else Slowest(**slowest),
    )


def _calls(kind: str, sums: Document) -> Calls:
    return Calls(
        kind=kind,
        count=sums["count"],
        cpu_ns=sums["cpu_ns"],
        elapsed_ns=sums["elapsed_ns"],
        own_cpu_ns=sums["own_cpu_ns"],
        own_elapsed_ns=sums["own_elapsed_ns"],
        physical_reads=sums["physical_reads"],
        consistent_reads=sums["consistent_reads"],
        current_reads=sums["current_reads"],
        misses=sums["misses"],
        rows=sums["rows"],
        first_line=sums["first_line"],
        slowest_ns=sums["slowest_ns"],
        slowest_line=sums["slowest_line"],
    )


def _plan(plan: Document) -> Plan:
    sources = [
        RowSource(
            id=source["id"],
            parent=source["parent"],
            operation=source["operation"],
            rows=source["rows"],
            consistent_reads=source["consistent_reads"],
            physical_reads=source["physical_reads"],
            physical_writes=source["physical_writes"],
            starts=source["starts"],
            time_ns=source["time_ns"],
        )
        for source in plan["row_sources"]
    ]
    return Plan(plan["plan_hash"], plan["count"], plan["line"], sources)
