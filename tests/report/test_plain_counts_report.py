"""Counts of a source without a planner on a terminal: no planner's columns, no fix, which columns are keys.

The golden text is rewritten with `BLESS=1 pytest tests/report`; read the difference before committing it.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from pathlib import Path

import numpy as np
import pytest
from counted_values import Values, outcome
from described_source import described_source

from dbdyno.analysis.ndv.analyse import analyse, with_foreign_keys
from dbdyno.analysis.ndv.findings import NdvFindings
from dbdyno.analysis.ndv.foreign_keys import foreign_keys
from dbdyno.analysis.ndv.overlapping import overlaps
from dbdyno.report.ndv.terminal import render
from dbdyno.report.ndv.words import answer

GOLDEN = Path(__file__).parent / "golden" / "distinct-counts-plain.txt"
ROWS = 100_000
PLACE = np.arange(ROWS)
COLUMNS: dict[str, Values] = {
    "id": PLACE,
    "parent_id": np.where(PLACE % 10 == 0, -1, PLACE // 2),
    "customer": np.where(PLACE % 5 < 3, PLACE % 40, 1_000 + PLACE),
    "status": PLACE % 7,
    "tenant": np.zeros(ROWS, dtype=np.int64),
    "comment": np.full(ROWS, -1),
}
SCAN = {"via": "parquet", "where": None, "in_order": True, "groups": [["status", "customer"]], "not_counted": []}


@functools.cache
def found() -> NdvFindings:
    """A key, one that refers to it, one that grows, one that does not, a constant and nothing."""
    source = described_source(**{name: {"type": "text"} if name == "comment" else {} for name in COLUMNS})
    left_out = {"column": "tags", "type": "text[]", "reason": "lists are not counted"}
    counted = outcome(COLUMNS, pages=1_000, groups=SCAN["groups"])
    counted |= {"bytes": 2_400_000, "elapsed_ns": 200_000_000}
    findings = analyse(source, {**SCAN, "not_counted": [left_out]}, counted)
    pair = {"first": [0, 0], "second": [0, 1], "seen_of_first": 1024, "seen_of_second": 500, "common": 500}
    return with_foreign_keys(findings, foreign_keys(overlaps([{**pair, "exact": False}], [(source, findings)])[0]))


def test_golden_text() -> None:
    """The whole text, to the blank; never wider than 80."""
    text = render(found(), "dbdyno-ndv/t-20261122T210000Z")
    if os.environ.get("BLESS") == "1":
        GOLDEN.write_text(text, encoding="utf-8")

    assert text == GOLDEN.read_text(encoding="utf-8")
    assert max(map(len, text.splitlines())) <= 80


def test_nothing_is_said_of_a_planner() -> None:
    """Neither figures of it nor a fix; but whether the count grows."""
    for column in found().columns:
        assert (column.planner, column.verdict, column.fix, column.analyze) == (None, "not_compared", None, [])
    assert (found().server_version, found().fix_script, found().warnings) == (None, None, [])
    assert [(one.column, one.growth.evidence if one.growth else None) for one in found().columns] == [
        ("id", "unique"),
        ("parent_id", "grows"),
        ("customer", "grows"),
        ("status", "saturates"),
        ("tenant", "saturates"),
        ("comment", None),
    ]


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        (["parent_id", "status"], "No column has a value of its own in each row."),
        (["id"], "A value of their own in each row: id."),
        (["tenant"], "One value only: tenant."),
    ],
)
def test_the_answer(columns: list[str], sentence: str) -> None:
    """Which columns are keys, which say nothing."""
    shown = [one for one in found().columns if one.column in columns]

    assert answer(dataclasses.replace(found(), columns=shown)) == sentence


def test_no_rows() -> None:
    """That is the answer, and no figure divides by them."""
    empty = analyse(described_source(id={}), {**SCAN, "groups": []}, outcome({"id": PLACE[:0]}, pages=1))

    assert answer(empty) == "There are no rows."
    assert "0  exact" in render(empty)
