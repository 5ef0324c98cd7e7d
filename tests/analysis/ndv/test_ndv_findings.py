"""From a catalogue and a scan's outcome to findings, and to the document that others read."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from counted_values import Values, outcome
from described_source import described_source
from described_table import described

from dbdyno.analysis.ndv.analyse import analyse, with_what_if
from dbdyno.analysis.ndv.document import to_json
from dbdyno.analysis.ndv.facts import column_facts
from dbdyno.analysis.ndv.findings import NdvFindings

ROWS = 100_000
NUMBERS = np.arange(ROWS)
RANDOM = np.random.default_rng(3)
# 40 % of the rows have a value of their own, the others one of 100: what ANALYZE is worst at.
HOT_AND_UNIQUE = np.where(RANDOM.random(ROWS) < 0.6, NUMBERS % 100, NUMBERS + 1000)
SCAN = {"via": "copy", "where": None, "in_order": True, "groups": [], "not_counted": []}


def found(catalogue: dict[str, Any], scan: dict[str, Any] | None = None, **columns: Values) -> NdvFindings:
    """The findings of exact counts."""
    return analyse(catalogue, SCAN | (scan or {}), outcome(columns, 1000))


def test_a_column_that_is_wrong_and_matters() -> None:
    """Each figure of it: the planner's, the truth's, what ANALYZE would say, the fix."""
    catalogue = described(c={"statistics": {"n_distinct": 100.0}})

    findings = found(catalogue, c=HOT_AND_UNIQUE)
    (column,) = findings.columns

    truth = len(np.unique(HOT_AND_UNIQUE))
    assert (column.ndv.estimate, column.planner, column.planner_source) == (truth, 100.0, "statistics")
    assert column.error_factor == truth / 100
    assert column.verdict == "wrong_and_matters"
    assert column.reasons == [
        f"a join on it, if there is one, finds {ROWS / truth:.1f} rows a value, 1,000 are expected",
        f"a GROUP BY returns {round(truth, -2):,} groups, 100 are expected",
    ]
    assert [one.target for one in column.analyze] == [100, 1000, 10000]
    assert column.growth is not None
    assert (column.growth.form, column.growth.evidence) == ("ratio", "grows")
    ratio = f"{-truth / ROWS:.4g}"
    assert column.fix == (f"ALTER TABLE public.t ALTER COLUMN c SET (n_distinct = {ratio});\nANALYZE public.t (c);")
    assert findings.fix_script == f"-- What mends the planner's figures: public.t\n{column.fix}\n"
    assert findings.undo_script == f"-- What takes that back: public.t\n{column.undo}\n"
    assert column.forecast is not None
    assert column.forecast.now
    assert column.forecast_after_fix is not None
    assert column.forecast_after_fix.rows is None


def test_what_analyze_would_say_is_a_sample_of_it() -> None:
    """All rows of a table of 100,000 are seen at the target 1,000, so it is right there, and that is said."""
    catalogue = described(c={"statistics": {"n_distinct": 100.0}})

    (column,) = found(catalogue, c=HOT_AND_UNIQUE).columns

    truth = len(np.unique(HOT_AND_UNIQUE))
    assert column.sufficient_target == 1000
    assert column.analyze[0].error_factor > 2
    assert column.analyze[1].ndv == truth
    assert (column.alternative or "").startswith("SET STATISTICS 1000 would do as well")


def test_statistics_that_are_only_old() -> None:
    """ANALYZE would be right: nothing is set, and nothing is to be taken back."""
    catalogue = described(c={"statistics": {"n_distinct": 10.0}})

    findings = found(catalogue, c=RANDOM.integers(0, 500, ROWS))

    (column,) = findings.columns
    assert (column.verdict, column.fix, column.undo) == ("wrong_and_matters", "ANALYZE public.t (c);", None)
    assert findings.undo_script is None


def test_an_option_that_became_wrong_is_set_anew() -> None:
    """ANALYZE would only apply it again."""
    catalogue = described(c={"statistics": {"n_distinct": 10.0}, "override": "10"})

    (column,) = found(catalogue, c=RANDOM.integers(0, 500, ROWS)).columns

    assert column.fix == "ALTER TABLE public.t ALTER COLUMN c SET (n_distinct = 500);\nANALYZE public.t (c);"
    assert column.undo == "ALTER TABLE public.t ALTER COLUMN c SET (n_distinct = 10);\nANALYZE public.t (c);"


def test_a_unique_index_needs_no_figure() -> None:
    """The planner does not ask ANALYZE there."""
    catalogue = described(id={"unique": True, "statistics": {"n_distinct": 7.0}})

    (column,) = found(catalogue, id=NUMBERS).columns

    assert (column.planner, column.planner_source, column.verdict, column.fix) == (
        100_000.0,
        "unique index",
        "right",
        None,
    )


def test_only_nulls() -> None:
    """No value, no verdict."""
    (column,) = found(described(c={}), c=np.full(ROWS, -1)).columns

    assert (column.nulls, column.ndv.estimate, column.verdict, column.planner) == (ROWS, 0.0, "not_compared", None)


def test_some_rows_are_not_compared() -> None:
    """The planner's figures are about all of them; likewise a view has none."""
    where = found(described(c={}), {"where": "c > 1"}, c=NUMBERS)
    view = described(c={"statistics": None})
    view["relation"]["kind"] = "view"

    assert [one.verdict for one in (*where.columns, *found(view, c=NUMBERS).columns)] == ["not_compared"] * 2
    assert [warning.code for warning in where.warnings] == ["not_compared"]


def test_without_statistics() -> None:
    """The planner takes 200, and ANALYZE is what is missing."""
    findings = found(described(c={"statistics": None}), c=RANDOM.integers(0, 5000, ROWS))

    (column,) = findings.columns
    assert (column.planner, column.planner_source, column.n_distinct) == (200.0, "default", None)
    assert column.fix == "ANALYZE public.t (c);"
    assert [warning.code for warning in findings.warnings] == ["never_analyzed"]


def test_a_planner_that_believes_in_other_rows() -> None:
    """A ratio goes by these, so that is said."""
    catalogue = described(c={"statistics": {"n_distinct": -1.0}})
    catalogue["relation"]["planner_rows"] = 40_000.0

    findings = found(catalogue, c=NUMBERS)

    assert findings.columns[0].planner == 40_000.0
    assert [warning.code for warning in findings.warnings] == ["rows_differ"]


def test_a_tree_and_its_parts() -> None:
    """The statistics and the option of the whole; and the parts have their own."""
    catalogue = described(c={"override": "5", "override_inherited": "-0.5", "statistics": {"n_distinct": 7.0}})
    catalogue["relation"] |= {"kind": "partitioned", "tree": True, "leaves": 3, "owned": False}
    catalogue["statistics"].append(catalogue["statistics"][0] | {"inherited": True, "n_distinct": 70.0})

    facts = column_facts(catalogue, "c")
    findings = found(catalogue, c=NUMBERS % 5000)

    assert facts.override == "-0.5"
    assert findings.columns[0].planner == 70.0
    assert "SET (n_distinct_inherited = 5000);\nANALYZE ONLY public.t" in (findings.columns[0].fix or "")
    assert [warning.code for warning in findings.warnings] == ["parts_have_their_own", "not_owner"]


def test_what_the_scan_left_out_is_told() -> None:
    """In its own words, with a planner and without."""
    note = "statistics target 10000: what ANALYZE would say is left out"
    said = outcome({"c": NUMBERS}, 1000) | {"notes": [note]}
    sources = (described(c={"statistics": {"n_distinct": -1.0}}), described_source(c={}))

    every = [analyse(source, SCAN, said).warnings for source in sources]

    assert [[(one.code, one.message) for one in warnings] for warnings in every] == [
        [("left_out_by_the_scan", note)]
    ] * 2


def test_the_document_is_the_contract() -> None:
    """The keys of the design, with numbers that JSON can hold."""
    findings = found(
        described(c={"statistics": {"n_distinct": 100.0}}),
        {"not_counted": [{"column": "j", "type": "json", "reason": "no equality"}]},
        c=HOT_AND_UNIQUE,
    )
    findings = with_what_if(findings, {"refused": "locked", "statements": [], "left_out": []})

    document = json.loads(to_json(findings))

    assert document["format"] == 1
    assert (document["table"], document["rows"]) == ("public.t", ROWS)
    assert set(document["columns"][0]) >= {
        *("column", "nulls", "ndv", "exact", "planner", "error_factor", "verdict", "fix")
    }
    assert set(document["columns"][0]["ndv"]) == {"estimate", "low", "high"}
    assert document["not_counted"] == [{"column": "j", "type": "json", "reason": "no equality"}]
    assert document["what_if"]["refused"] == "locked"
