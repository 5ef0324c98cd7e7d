"""Distinct counts on a terminal: a golden text, the width of the page, each answer that can be.

The golden text is rewritten with `BLESS=1 pytest tests/report`; read the difference before committing it.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from pathlib import Path

import numpy as np
import pytest
from counted_values import outcome
from described_table import described

from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.ndv.analyse import analyse
from dbdyno.analysis.ndv.findings import RIGHT, WRONG, ForeignKey, NdvFindings, NodeChange, PlanChange, WhatIf
from dbdyno.report.ndv.terminal import render
from dbdyno.report.ndv.words import answer, count, next_steps, times, within

GOLDEN = Path(__file__).parent / "golden" / "distinct-counts.txt"
ROWS = 100_000
PLACE = "dbdyno-ndv/t-20261122T210000Z"


@functools.cache
def found() -> NdvFindings:
    """A key, a column that is right, and one of 40 hot keys beside 40,000 that come once: the planner knows 1,000."""
    place = np.arange(ROWS)
    columns = {
        "id": place,
        "status": np.where(place % 10 == 0, -1, place % 7),
        "customer id": np.where(place % 5 < 3, place % 40, 1_000 + place),
    }
    catalogue = described(
        **{
            "id": {"unique": True, "statistics": {"n_distinct": -1.0}},
            "status": {"statistics": {"n_distinct": 7.0}},
            "customer id": {"quoted": '"customer id"', "indexed": True, "statistics": {"n_distinct": 1_000.0}},
        }
    )
    left_out = {"column": "doc", "type": "json", "reason": "json has no equality"}
    groups = [["status", "customer id"]]
    scan = {"via": "copy", "where": None, "in_order": True, "groups": groups, "not_counted": [left_out]}
    counted = outcome(columns, pages=1_000, groups=groups)
    return analyse(catalogue, scan, {**counted, "bytes": 2_400_000, "elapsed_ns": 200_000_000}, [7_000.0])


def with_plans() -> NdvFindings:
    """With a statement whose plan changes, one that cannot be planned, and a column that refers to another."""
    nodes = [
        NodeChange(0, "GroupAggregate", None, 1_000.0, None, 9_000.0, None),
        NodeChange(0, None, "HashAggregate", None, 40_024.0, None, 2_500.0),
        NodeChange(1, "Seq Scan on t", "Seq Scan on t", 100_000.0, 100_000.0, 1_541.0, 1_541.0),
    ]
    changed = PlanChange("SELECT 1", "other_plan", 9_000.0, 2_500.0, "GroupAggregate > Seq Scan on t",
                         "HashAggregate > Seq Scan on t", nodes, None, None, None)  # fmt: skip
    refused = PlanChange("nonsense", "not_planned", None, None, None, None, [], None, None, "no statement")
    key = ForeignKey("customer id", "customers.id", Estimate(0.01, 0.005, 0.02), False, 0.9, "likely", "names agree")
    chance = ForeignKey("status", "customers.id", Estimate(0.0, 0.0, 0.0), True, 0.01, "possible", "by chance")
    return dataclasses.replace(
        found(), what_if=WhatIf(None, [changed, refused], ["2 statements of others"]), foreign_keys=[key, chance]
    )


def test_golden_text() -> None:
    """The whole text, to the blank; never wider than 80, but for what is to be copied."""
    text = render(with_plans(), PLACE, f"{PLACE}/ndv.html")
    if os.environ.get("BLESS") == "1":
        GOLDEN.write_text(text, encoding="utf-8")

    assert text == GOLDEN.read_text(encoding="utf-8")
    assert max(len(line) for line in text.splitlines() if not line.startswith(("ALTER", "CREATE", "ANALYZE"))) <= 80


def test_the_fix_goes_where_it_was_counted() -> None:
    """The line to type names the database, so that no other one of the shell's environment is mended."""
    target = "postgres://me@/shop?host=/run/postgresql&port=5432"

    (step,) = [line for _, line in next_steps(dataclasses.replace(found(), target=target), "d", None) if "psql" in line]

    assert step == f"psql '{target}' -f d/fix.sql"


def test_the_answer_is_one_sentence() -> None:
    """Wrong and it matters, wrong and it does not, all right, not compared."""
    one = found()
    wrong = [dataclasses.replace(column, verdict=WRONG) for column in one.columns]
    right = [dataclasses.replace(column, verdict=RIGHT) for column in one.columns]

    assert answer(dataclasses.replace(one, columns=wrong, groups=[])).endswith("3 of 3 columns; it matters for none:")
    assert answer(dataclasses.replace(one, columns=right, groups=[])).endswith(
        "right for all 3 columns: within a factor of 2."
    )
    one_column = [
        answer(dataclasses.replace(one, columns=[column], groups=[])) for column in (right[0], wrong[0], one.columns[2])
    ]
    assert one_column == [
        "The planner's distinct count is right: within a factor of 2.",
        "The planner's distinct count is wrong; it does not matter:",
        "The planner's distinct count is wrong, and it matters:",
    ]
    assert answer(dataclasses.replace(one, columns=[], groups=[])) == "Nothing is compared with the planner's figures."


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (count(999.4), "999"),
        (count(1_234_567.0), "1,230,000"),
        (times(1.04), "1.0x"),
        (times(9.96), "10x"),
        (times(369.2), "369x"),
        (within(Estimate(100.0, 98.0, 102.0), exact=False), "+-2 %"),
        (within(Estimate(100.0, 100.0, 100.0), exact=True), "exact"),
    ],
)
def test_figures(shown: str, expected: str) -> None:
    """Three digits of what is estimated."""
    assert shown == expected
