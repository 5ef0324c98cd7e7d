"""When a wrong distinct count matters: what the planner would do with it."""

from __future__ import annotations

from typing import Any

import pytest
from described_table import described

from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.ndv.facts import column_facts, relation_facts, settings
from dbdyno.analysis.ndv.findings import NOT_COMPARED, RIGHT, WRONG, WRONG_AND_MATTERS, Use
from dbdyno.analysis.ndv.uses import index_rows_max, uses
from dbdyno.analysis.ndv.verdict import verdict

ROWS = 1_000_000


def found(planner: float, truth: float, rows: int = ROWS, pages: int = 10_000, **column: Any) -> dict[str, Use]:
    """The uses of a column, by name, in a table without nulls."""
    catalogue = described(c=column)
    catalogue["relation"] |= {"planner_rows": float(rows), "pages": pages}
    relation = relation_facts(catalogue)
    return {
        use.use: use
        for use in uses(relation, column_facts(catalogue, "c"), settings(catalogue), planner, truth, rows, nulls=0)
    }


def test_a_group_by_that_spills() -> None:
    """88 bytes a group: 10,000 groups are 0.8 MiB, 1,000,000 are 84 MiB, and 8 MiB are allowed."""
    use = found(planner=10_000, truth=1_000_000)["grouping"]

    assert use.matters
    assert use.words == (
        "a hash of the groups needs 84 MiB, more than the 8.0 MiB it may have, and spills; 0.8 MiB are expected"
    )


def test_a_sort_that_is_not_needed() -> None:
    """The other way round."""
    use = found(planner=1_000_000, truth=10_000)["grouping"]

    assert use.matters
    assert use.words == "the groups need 0.8 MiB and fit into the 8.0 MiB that a hash may have; 84 MiB are expected"


def test_groups_that_fit_either_way() -> None:
    """Five times too few of them: wrong, and nothing is done differently."""
    assert not found(planner=100, truth=500)["grouping"].matters


def test_an_index_that_is_not_used() -> None:
    """10 different values would be read by a scan of the table; 10,000 have 100 rows each, and an index finds them."""
    use = found(planner=10, truth=10_000, indexed=True)["equality"]

    assert (use.planner, use.truth, use.matters) == (100_000.0, 100.0, True)
    assert use.words == "a value has 100 rows, 100,000 are expected: the whole table is read where an index would do"


def test_an_index_that_is_used_too_often() -> None:
    """The other way round; and without an index there is no choice."""
    assert found(planner=10_000, truth=10, indexed=True)["equality"].matters
    assert "equality" not in found(planner=10_000, truth=10)


def test_where_an_index_costs_as_much_as_the_table() -> None:
    """22,500 for the table, 4.0175 for each row anywhere; 100 rows a page in order cost 0.0275 each."""
    catalogue = described(c={})
    catalogue["relation"] |= {"planner_rows": 1_000_000.0, "pages": 10_000}
    relation, costs = relation_facts(catalogue), settings(catalogue)

    assert index_rows_max(relation, costs, 0.0) == pytest.approx(22_500 / 4.0175)
    assert index_rows_max(relation, costs, 1.0) == pytest.approx(22_500 / 0.0275)


def test_common_values_have_figures_of_their_own() -> None:
    """90 % of the rows have one of 90 common values: what others have is a tenth of the rows among the rest."""
    statistics = {"common_values": 90, "common_share": 0.9, "least_common_share": 0.01}

    use = found(planner=100, truth=1090, indexed=True, statistics=statistics)["equality"]

    assert (use.planner, use.truth) == (10_000.0, 100.0)


def test_a_rare_value_has_no_more_rows_than_a_common_one() -> None:
    """The planner's own limit: what is not among the common values is not more frequent than the least of them."""
    statistics = {"common_values": 100, "common_share": 0.1, "least_common_share": 0.001}

    use = found(planner=200, truth=50_100, indexed=True, statistics=statistics)["equality"]

    assert (use.planner, use.truth) == (1000.0, 18.0)


def test_a_join_is_wrong_by_ten() -> None:
    """Join methods change within an order of magnitude, but not in a table that is small anyway."""
    assert found(planner=10_000, truth=100_000)["join"].matters
    assert not found(planner=20_000, truth=100_000)["join"].matters
    assert not found(planner=100, truth=5_000, rows=9_999)["join"].matters


@pytest.mark.parametrize(
    ("factor", "matters", "expected"),
    [
        (Estimate(1.9, 1.8, 2.1), True, RIGHT),
        (Estimate(2.1, 1.9, 2.2), True, RIGHT),
        (Estimate(2.1, 2.0, 2.2), False, WRONG),
        (Estimate(2.1, 2.0, 2.2), True, WRONG_AND_MATTERS),
        (None, True, NOT_COMPARED),
    ],
)
def test_verdicts(factor: Estimate | None, *, matters: bool, expected: str) -> None:
    """Wrong with all of the interval; and what matters gives the reason."""
    use = Use("join", 1.0, 2.0, matters=matters, words="why")

    judged, reasons = verdict(factor, [use])

    assert judged == expected
    assert reasons == ([] if expected in (RIGHT, NOT_COMPARED) else ["why"])
