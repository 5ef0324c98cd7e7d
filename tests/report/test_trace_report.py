"""Profiles of traces on a terminal: a golden text, the width of the page, statements without a text.

The golden text is rewritten with `BLESS=1 pytest tests/report`; read the difference before committing it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from traced import MS, calls, file, row, statement, wait

from dbdyno.analysis.trace.analyse import analyse
from dbdyno.report.trace.terminal import render
from dbdyno.report.trace.words import statement_name

GOLDEN = Path(__file__).parent / "golden" / "trace.txt"
CLIENT = "SQL*Net message from client"
INSERT = "INSERT INTO order_lines (order_id, line, product_id, quantity)\n   VALUES (:1, :2, :3, :4)"


def shop(**given: Any) -> dict[str, Any]:
    """Orders that are written line by line, and a report that is fetched row by row."""
    of_insert = [
        wait("log file sync", "work", 2000, 2400 * MS, line=120),
        wait(CLIENT, "think_time", 2000, 900 * MS, between=True, line=130),
    ]
    of_query = [
        wait("db file sequential read", "work", 250, 510 * MS, line=5100),
        wait(CLIENT, "think_time", 900, 350 * MS, between=True, line=5200),
    ]
    recursive = {"exec": calls(1, 1 * MS, 1 * MS), "fetch": calls(3, 2 * MS, 3 * MS, rows=3)}
    rows = [
        row(0, {"exec": calls(2000, 300 * MS, 2720 * MS, rows=2000)}, of_insert),
        row(1, {"exec": calls(1, 1 * MS, 1 * MS), "fetch": calls(900, 140 * MS, 680 * MS, rows=899)}, of_query),
        row(2, recursive, [], depth_min=1),
    ]
    statements = [
        statement(0, INSERT.replace(", ", ",")),
        statement(1, "SELECT * FROM orders WHERE placed > :since " + "AND region = 'north' " * 9),
        statement(2, "", kind="not_in_trace", sql_id=None),
    ]
    notes = [{"code": "unfinished_line", "count": 1, "line": 9001}]
    transactions = {"commits": 2000, "first_line": 118, "last_line": 4990}
    return file(statements, rows, 4700 * MS, notes=notes, transactions=transactions, **given)


def test_golden_text() -> None:
    """The whole text, to the blank; never wider than 80."""
    text = render(analyse({"format": 1, "files": [shop(), file([], [], 0, file="empty.trc", version=None)]}))
    if os.environ.get("BLESS") == "1":
        GOLDEN.write_text(text, encoding="utf-8")

    assert text == GOLDEN.read_text(encoding="utf-8")
    assert max(map(len, text.splitlines())) <= 80


def test_waits_beyond_the_largest_are_told_together() -> None:
    """Twenty lines by name; the last is what nobody accounts for."""
    waits = [wait(f"event {number:02}", "work", 1, (number + 1) * MS) for number in range(30)]
    text = render(analyse({"format": 1, "files": [file([], [row(0, {}, waits)], 500 * MS) | {
        "statements": [statement(0, "select 1")]
    }]}))  # fmt: skip

    assert "event 29" in text
    assert "event 10" in text
    assert "event 09" not in text
    assert "10 more waits took 55.0 ms." in " ".join(text.split())


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({}, "sql0000000003"),
        ({"sql_id": None}, "statement 3"),
        ({"kind": "not_in_trace", "sql_id": None}, "(text not in trace 3)"),
        ({"kind": "no_cursor", "sql_id": None}, "(no cursor)"),
        ({"kind": "others", "sql_id": None}, "(others)"),
    ],
)
def test_statements_have_names(given: dict[str, Any], name: str) -> None:
    """SQL_ID, or what is known of it."""
    rows = [row(3, {"exec": calls(1, 1 * MS, 1 * MS)}, [])]
    (scope,) = analyse({"format": 1, "files": [file([statement(3, "select 1", **given)], rows, 2 * MS)]}).scopes

    assert [statement_name(one) for one in scope.statements] == [name]
