"""The statements of a fix and of its undo, letter by letter; on a server: tests/server/test_ndv_fixes.py."""

from __future__ import annotations

from typing import Any

import pytest
from described_table import described

from dbdyno.analysis.ndv.facts import ColumnFacts, RelationFacts, column_facts, relation_facts
from dbdyno.analysis.ndv.findings import CONSTANT, RATIO, UNIQUE, Growth
from dbdyno.analysis.ndv.fixes import analyze_again, fixing, set_n_distinct, shown_value, stored_value, undoing
from dbdyno.analysis.ndv.naming import in_comment, literal, quoted, statistics_name


def facts(relation: dict[str, Any] | None = None, **column: Any) -> tuple[RelationFacts, ColumnFacts]:
    """A relation and its only column."""
    catalogue = described(c=column)
    catalogue["relation"] |= relation or {}
    return relation_facts(catalogue), column_facts(catalogue, "c")


def test_a_column_without_an_option() -> None:
    """Undone by a reset."""
    relation, column = facts()

    fix = set_n_distinct(relation, column, -0.0498)

    assert fixing(relation, [fix]) == (
        "ALTER TABLE public.t ALTER COLUMN c SET (n_distinct = -0.0498);\nANALYZE public.t (c);"
    )
    assert undoing(relation, [fix]) == (
        "ALTER TABLE public.t ALTER COLUMN c RESET (n_distinct);\nANALYZE public.t (c);"
    )


@pytest.mark.parametrize(("before", "shown"), [("-0.20", "-0.20"), ("500", "500"), ("1e5", "'1e5'")])
def test_an_option_that_was_there_comes_back_as_it_was(before: str, shown: str) -> None:
    """With its zeros; what is no plain number goes in as a text."""
    relation, column = facts(override=before)

    fix = set_n_distinct(relation, column, 7.0)

    assert fix.do == ["ALTER TABLE public.t ALTER COLUMN c SET (n_distinct = 7);"]
    assert fix.undo == [f"ALTER TABLE public.t ALTER COLUMN c SET (n_distinct = {shown});"]


@pytest.mark.parametrize(
    ("relation", "begin", "analyze"),
    [
        ({"kind": "materialised view"}, "ALTER MATERIALIZED VIEW", "ANALYZE"),
        ({"kind": "foreign table"}, "ALTER FOREIGN TABLE", "ANALYZE"),
        ({"kind": "partitioned", "tree": True}, "ALTER TABLE", "ANALYZE ONLY"),
        ({"kind": "table", "tree": True}, "ALTER TABLE", "ANALYZE"),
    ],
)
def test_each_kind_of_relation(relation: dict[str, Any], begin: str, analyze: str) -> None:
    """With the option of the tree where there is one, and no ANALYZE of every partition."""
    found, column = facts(relation)
    option = "n_distinct_inherited" if found.inherited else "n_distinct"

    fix = set_n_distinct(found, column, 7.0)

    assert fixing(found, [fix]) == (f"{begin} public.t ALTER COLUMN c SET ({option} = 7);\n{analyze} public.t (c);")


def test_a_column_that_analyze_passes_over() -> None:
    """With the target 0 no option would be applied."""
    relation, column = facts(target=0)

    fix = set_n_distinct(relation, column, 7.0)

    assert fix.do == [
        "ALTER TABLE public.t ALTER COLUMN c SET STATISTICS -1;",
        "ALTER TABLE public.t ALTER COLUMN c SET (n_distinct = 7);",
    ]
    assert fix.undo == [
        "ALTER TABLE public.t ALTER COLUMN c RESET (n_distinct);",
        "ALTER TABLE public.t ALTER COLUMN c SET STATISTICS 0;",
    ]


def test_analyze_alone_takes_nothing_back() -> None:
    """There is nothing that was set."""
    relation, column = facts()

    fix = analyze_again(column, 12.0)

    assert fixing(relation, [fix]) == "ANALYZE public.t (c);"
    assert undoing(relation, [fix]) is None


def test_several_fixes_share_one_analyze() -> None:
    """And are undone the last first."""
    catalogue = described(a={}, b={})
    relation = relation_facts(catalogue)
    fixes = [set_n_distinct(relation, column_facts(catalogue, name), 7.0) for name in "ab"]

    assert fixing(relation, fixes).splitlines()[-1] == "ANALYZE public.t (a, b);"
    assert [line.split()[5] for line in (undoing(relation, fixes) or "").splitlines()[:2]] == ["b", "a"]


@pytest.mark.parametrize(
    ("form", "ndv", "rows", "exact", "stored", "shown"),
    [
        (RATIO, 49_812.4, 1_000_000, False, -0.04981, "-0.04981"),
        (RATIO, 1_004_000.0, 1_000_000, False, -1.0, "-1"),
        (RATIO, 3.0, 900_000_000, True, -3.333e-09, "-0.000000003333"),
        (CONSTANT, 1_234_567.8, 20_000_000, False, 1_235_000.0, "1235000"),
        (CONSTANT, 8191.0, 20_000_000, True, 8191.0, "8191"),
    ],
)
def test_the_value_that_is_stored(form: str, ndv: float, rows: int, *, exact: bool, stored: float, shown: str) -> None:
    """Four digits of what was estimated, all of what is exact; no exponent."""
    grown = Growth([], None, form, "grows", "")

    assert stored_value(grown, ndv, rows, 0, exact=exact) == stored
    assert shown_value(stored) == shown


def test_a_key_is_known_better_than_its_sketch() -> None:
    """A quarter of the rows is null, each other one has a value of its own."""
    grown = Growth([], None, RATIO, UNIQUE, "")

    assert stored_value(grown, 745_000.0, 1_000_000, 250_000, exact=False) == -0.75


def test_names_of_ours() -> None:
    """Quoted where they need it, short enough, and not there yet."""
    assert quoted("a_1") == "a_1"
    assert quoted('Sa"y') == '"Sa""y"'
    assert statistics_name("t", ["a", "b"], set()) == "t_a_b_ndistinct"
    assert statistics_name("t", ["a", "b"], {"t_a_b_ndistinct"}) == "t_a_b_ndistinct_2"
    assert statistics_name("t", ["ü" * 40], set()) == "t_" + "ü" * 25 + "_ndistinct"
    assert len(statistics_name("t" * 80, ["a"], {"t" * 53 + "_ndistinct"}).encode()) == 63


def test_texts_end_neither_literals_nor_comments() -> None:
    """Quotes, backslashes and line ends."""
    assert literal("a'b") == "'a''b'"
    assert literal("a\\'b") == "E'a\\\\''b'"
    assert in_comment('"a\n; DROP TABLE b"') == '"a ; DROP TABLE b"'
