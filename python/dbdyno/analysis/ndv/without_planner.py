"""Findings of a source whose planner, if it has one, is not asked: files, and tables of DuckDB and SQLite.

    {"server_version": null,
     "relation": {"name": "orders", "quoted": "orders-*.parquet", "kind": "files", "files": 12},
     "columns": [{"name": "id", "quoted": "id", "type": "int64", "unique": false, "refers_to": null}]}

What is left is the count itself, its growth, and which columns refer to which.
"""

from __future__ import annotations

from dbdyno.analysis.documents import Document
from dbdyno.analysis.ndv.columns import bare_column, growth_points
from dbdyno.analysis.ndv.counts import counted, notes
from dbdyno.analysis.ndv.facts import RowOrder, key_facts
from dbdyno.analysis.ndv.findings import FORMAT, ColumnFindings, NdvFindings, NotCounted
from dbdyno.analysis.ndv.groups import bare_group
from dbdyno.analysis.ndv.growth import growth


def analyse_without_planner(source: Document, scan: Document, outcome: Document) -> NdvFindings:
    """What the counts say by themselves; the arguments are those of `analyse`."""
    relation, rows = source["relation"], outcome["rows"]
    types = {column["name"]: column["type"] for column in source["columns"]}
    return NdvFindings(
        format=FORMAT,
        table=relation["quoted"],
        kind=relation["kind"],
        files=relation["files"],
        via=scan["via"],
        where=scan["where"],
        rows=rows,
        bytes=outcome.get("bytes"),
        elapsed_ns=outcome["elapsed_ns"],
        server_version=None,
        analyzed_at=None,
        columns=[_column(source, scan, found, types[found["name"]], rows) for found in outcome["columns"]],
        groups=[
            bare_group(names, found, counted(found, rows))
            for names, found in zip(scan["groups"], outcome["groups"], strict=True)
        ],
        foreign_keys=[],
        not_counted=[NotCounted(one["column"], one["type"], one["reason"]) for one in scan["not_counted"]],
        what_if=None,
        fix_script=None,
        undo_script=None,
        warnings=notes(outcome),
    )


def _column(source: Document, scan: Document, found: Document, type_: str, rows: int) -> ColumnFindings:
    nulls = int(found["nulls"])
    truth = counted(found, rows - nulls)
    if truth.estimate <= 0:
        return bare_column(found["name"], type_, found, truth)
    order = RowOrder(key_facts(source, found["name"]).unique, clustered=False, correlation=None, counts_up=False)
    points = growth_points(found) if scan["in_order"] else []
    grown = growth(order, points, truth.estimate, rows, nulls)
    return bare_column(found["name"], type_, found, truth, grown=grown)
