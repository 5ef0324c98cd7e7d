"""Findings of distinct counts for tests of reports: each answer that there can be, from columns of known values."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np
from counted_values import Values, outcome
from described_table import described

from dbdyno.analysis.findings import Estimate, Warning
from dbdyno.analysis.ndv.analyse import analyse
from dbdyno.analysis.ndv.findings import (
    NOT_COMPARED,
    ForeignKey,
    NdvFindings,
    NodeChange,
    NotCounted,
    PlanChange,
    WhatIf,
)

ROWS = 100_000
PLACE = np.arange(ROWS)
# Ratio: keys that come for good beside hot ones. Constant: so many values, met early. Right: a key, and seven values.
GROWING: Values = np.where(PLACE % 5 < 3, PLACE % 40, 1_000 + PLACE)
SATURATED: Values = np.minimum(PLACE * 7_919 % 3_001, 3_000)
FEW: Values = PLACE % 7
SCAN: dict[str, Any] = {"via": "copy", "where": None, "in_order": True, "groups": [], "not_counted": []}


@functools.cache
def wrong() -> NdvFindings:
    """Two columns and a group that are wrong, the other two right; plans, references, and a column left out."""
    columns = {"id": PLACE, "status": FEW, "customer": GROWING, "article": SATURATED}
    catalogue = described(
        id={"unique": True, "statistics": {"n_distinct": -1.0}},
        status={"statistics": {"n_distinct": 7.0}},
        customer={"indexed": True, "statistics": {"n_distinct": 1_000.0}},
        article={"override": "12000", "statistics": {"n_distinct": 12_000.0}},
    )
    left_out = {"column": "doc", "type": "json", "reason": "json has no equality"}
    scan = SCAN | {"groups": [["status", "article"]], "not_counted": [left_out]}
    counted = outcome(columns, pages=1_000, groups=scan["groups"])
    found = analyse(catalogue, scan, {**counted, "bytes": 2_400_000, "elapsed_ns": 200_000_000}, [500.0])
    return dataclasses.replace(found, what_if=WhatIf(None, _plans(), ["2 statements of others"]), foreign_keys=_keys())


def _plans() -> list[PlanChange]:
    nodes = [
        NodeChange(0, "GroupAggregate", None, 1_000.0, None, 9_000.0, None),
        NodeChange(0, None, "HashAggregate", None, 40_024.0, None, 12_500.0),
        NodeChange(1, "Seq Scan on t", "Seq Scan on t", 100_000.0, 100_000.0, 1_541.0, 1_541.0),
    ]
    shapes = ("GroupAggregate > Seq Scan on t", "HashAggregate > Seq Scan on t")
    return [
        PlanChange("SELECT 1", "other_plan", 9_000.0, 12_500.0, *shapes, nodes, 40, 2_000.0, None),
        PlanChange("nonsense", "not_planned", None, None, None, None, [], None, None, "no statement"),
    ]


def _keys() -> list[ForeignKey]:
    orphans = Estimate(0.01, 0.005, 0.02)
    return [
        ForeignKey("t.customer", "customers.id", orphans, False, 0.9, "likely", "the names agree"),
        ForeignKey("t.status", "t.id", Estimate(0.0, 0.0, 0.0), True, 0.0001, "possible", "small numbers"),
    ]


@functools.cache
def wide() -> NdvFindings:
    """Sixty columns, of which twenty are wrong, some with names as long as the server lets them be."""
    names = [f"c{number:02}" if number % 10 else f"c{number:02}_{'a_rather_long_name_' * 3}x" for number in range(60)]
    columns = {name: (GROWING if number % 3 == 0 else FEW) for number, name in enumerate(names)}
    given = {
        name: {"statistics": {"n_distinct": 500.0 + number if number % 3 == 0 else 7.0}}
        for number, name in enumerate(names)
    }
    return analyse(described(**given), SCAN, _timed(outcome(columns, pages=1_000)))


@functools.cache
def never_analyzed() -> NdvFindings:
    """One column without statistics, for which ANALYZE alone is the fix, and stores the other form."""
    counted = outcome({"article": PLACE % 20_000}, pages=1_000)
    return analyse(described(article={"statistics": None}), SCAN, _timed(counted))


@functools.cache
def by_the_server() -> NdvFindings:
    """The server counted: rows in no order, and no samples."""
    counted = outcome({"customer": GROWING, "status": FEW}, pages=1_000)
    for column in counted["columns"]:
        column |= {"growth": [], "samples": []}
    catalogue = described(customer={"statistics": {"n_distinct": 1_000.0}}, status={"statistics": {"n_distinct": 7.0}})
    return analyse(catalogue, SCAN | {"via": "sql", "in_order": False}, _timed(counted) | {"bytes": None})


@functools.cache
def some_rows() -> NdvFindings:
    """Nothing is compared."""
    scan = SCAN | {"where": "status = 3"}
    return analyse(described(status={}), scan, _timed(outcome({"status": FEW[:1_000]}, pages=1_000)))


@functools.cache
def without_planner() -> NdvFindings:
    """What a source has that has none: counts and their growth, nothing to compare or to mend."""
    found = wrong()
    nothing: dict[str, Any] = dict.fromkeys(
        (
            *("n_distinct", "planner", "planner_source", "error_factor", "error_factor_low", "error_factor_high"),
            *("forecast", "forecast_after_fix", "sufficient_target", "fix_n_distinct", "fix", "undo", "alternative"),
        )
    )
    nothing |= {"verdict": NOT_COMPARED, "reasons": [], "uses": [], "analyze": []}
    columns = [dataclasses.replace(one, **nothing) for one in found.columns]
    return dataclasses.replace(
        found, columns=columns, groups=[], what_if=None, fix_script=None, undo_script=None, foreign_keys=[]
    )


@functools.cache
def empty() -> NdvFindings:
    """No rows."""
    return analyse(described(status={}), SCAN, _timed(outcome({"status": FEW[:0]}, pages=0)))


def with_interval(found: NdvFindings, name: str, low: float, high: float) -> NdvFindings:
    """The same where the count of a column may be so many times what it is, with its error factor."""
    columns = [
        dataclasses.replace(one, error_factor_low=one.error_factor * low, error_factor_high=one.error_factor * high)
        if one.column == name and one.error_factor is not None
        else one
        for one in found.columns
    ]
    return dataclasses.replace(found, columns=columns)


def hostile(text: str) -> NdvFindings:
    """The first one, with `text` wherever a name or a message may come from a user."""
    found = wrong()
    names = {one.column: f"{text}{place}" for place, one in enumerate(found.columns)}
    columns = [
        dataclasses.replace(
            one,
            column=names[one.column],
            type=text,
            reasons=[text],
            uses=[dataclasses.replace(use, words=text) for use in one.uses],
            growth=None if one.growth is None else dataclasses.replace(one.growth, words=text),
            alternative=text,
        )
        for one in found.columns
    ]
    groups = [dataclasses.replace(one, columns=[names[name] for name in one.columns]) for one in found.groups]
    nodes = [NodeChange(0, text, text, 1.0, 2.0, 3.0, 4.0)]
    return dataclasses.replace(
        found,
        table=text,
        kind=text,
        where=text,
        columns=columns,
        groups=groups,
        foreign_keys=[ForeignKey(text, text, Estimate(0.0, 0.0, 0.0), True, 1.0, "likely", text)],
        not_counted=[NotCounted(text, text, text)],
        what_if=WhatIf(text, [PlanChange(text, "other_plan", 3.0, 4.0, text, text, nodes, None, None, text)], [text]),
        fix_script=f"-- x\n{text}",
        undo_script=text,
        warnings=[Warning("not_owner", text)],
    )


def _timed(counted: dict[str, Any]) -> dict[str, Any]:
    return counted | {"elapsed_ns": 200_000_000}
