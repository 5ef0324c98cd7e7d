"""Indexes weighed: synthetic trials with planted costs and benefits, and the exact verdicts on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from dbdyno.analysis.findings import Comparison, Estimate, IndexVerdict
from dbdyno.analysis.holm import minimum_blocks
from dbdyno.analysis.indexes import index_verdicts

Document = dict[str, Any]

# What each block does to everything alike, and what it does to one arm alone.
DRIFT = (1.0, 1.1, 0.9, 1.3, 0.8, 1.0, 1.2, 0.95, 1.05, 1.15, 0.85, 1.25)
JITTER = (1.01, 0.99, 1.02, 0.98, 1.0, 1.015, 0.985, 1.005, 0.995, 1.01, 0.99, 1.0)

TIMES_NS = {"browse.sql": 2_000_000, "order.sql": 5_000_000}
SERVER = {
    "wal_bytes": 400_000, "buffers_written": 100, "rows_inserted": 500, "rows_updated": 400, "rows_deleted": 100,
    "rows_updated_hot": 100, "rows_updated_new_page": 200,
}  # fmt: skip


def weigh(
    without: Mapping[str, Mapping[str, Any]],
    *,
    blocks: int = 10,
    unders: tuple[str, ...] = ("",),
    scans: Mapping[str, int] | None = None,
    users: Mapping[str, str] | None = None,
    comparisons: tuple[Comparison, ...] = (),
) -> dict[str, IndexVerdict]:
    """The verdicts on some indexes.

    Args:
        without: index to what its absence does: `times` (factor by script, or one for each block) and `server` (counter
            to value).
        blocks: complete blocks.
        unders: levels of a second factor; none where it is the empty one.
        scans: scans of each index in a trial with all indexes; 100 where it is not named.
        users: index to the script with a plan that uses it; plans of those that are not named are not known.
        comparisons: those of the run.
    """
    arms = [_arm(under, index) for under in unders for index in (None, *without)]
    seen = {index: (scans or {}).get(index, 100) for index in without}
    counted = {
        block: {arm["arm"]: _trial(block, place, arm, without, seen, users or {}) for place, arm in enumerate(arms)}
        for block in range(blocks)
    }
    run = {"arms": arms, "margin": 0.05, "metric": "throughput_per_s"}
    return {verdict.index: verdict for verdict in index_verdicts(run, counted, comparisons)}


def _arm(under: str, index: str | None) -> Document:
    level = f"without-{index}" if index else "all-indexes"
    levels = {"index": level, **({"clients": under} if under else {})}
    record = {
        "factor": "index", "name": index, "table": "t", "definition": f"CREATE INDEX {index} ON t (x)", "bytes": 8192,
        "sql": f"DROP INDEX {index};", "undo": f"CREATE INDEX {index} ON t (x);",
    }  # fmt: skip
    return {"arm": "/".join(levels.values()), "levels": levels, "index": record if index else None}


def _trial(
    block: int,
    place: int,
    arm: Document,
    without: Mapping[str, Mapping[str, Any]],
    scans: Mapping[str, int],
    users: Mapping[str, str],
) -> Document:
    index = arm["index"]["name"] if arm["index"] else None
    planted = without[index] if index else {}
    slow = DRIFT[block] * JITTER[(block + 5 * place) % len(JITTER)]
    return {
        "server": {**SERVER, **planted.get("server", {})},
        "index_scans": {name: 0 if name == index else count for name, count in scans.items()},
        "plans": [
            {"script": script, "shape": f"Limit > Index Scan using {name} on t"} for name, script in users.items()
        ],
        "outcome": {
            "units": {"successful": 100},
            "units_with_warm_up": 125,
            "throughput_per_s": 1000.0 / slow,
            "scripts": [
                {
                    "name": script,
                    "response_time": {"count": 50, "sum_ns": 50 * ns * slow * _factor(planted, script, block)},
                }
                for script, ns in TIMES_NS.items()
            ],
        },
    }


def _factor(planted: Mapping[str, Any], script: str, block: int) -> float:
    factor = planted.get("times", {}).get(script, 1.0)
    return float(factor[block % len(factor)] if isinstance(factor, tuple) else factor)


def test_a_vital_index_is_kept_and_the_harmed_transaction_named() -> None:
    """Four times slower in one kind: that kind first, with its ratio; the other kind is shown to be no slower."""
    verdict = weigh({"vital": {"times": {"browse.sql": 4.0}}})["vital"]

    assert verdict.verdict == "keep"
    assert [(one.script, one.verdict) for one in verdict.benefits] == [
        ("browse.sql", "slower"),
        ("order.sql", "not slower"),
    ]
    assert verdict.benefits[0].ratio.estimate == pytest.approx(4.0, rel=0.03)
    assert verdict.benefits[0].p_value == 2 / 2**10
    assert verdict.benefits[0].p_value_holm == 2 * 2 / 2**10
    assert verdict.scans_per_unit == 100 / 125
    assert verdict.blocks_needed is None


def test_a_useless_index_that_costs_wal_is_dropped() -> None:
    """Never scanned, and a fifth of the WAL: no question about benefits, one cost shown, and the DDL for it."""
    verdict = weigh({"useless": {"server": {"wal_bytes": 320_000}}}, scans={"useless": 0})["useless"]
    costs = {cost.figure: cost for cost in verdict.costs}

    assert verdict.verdict == "drop"
    assert verdict.benefits == []
    assert verdict.scans_per_unit == 0
    assert [figure for figure, cost in costs.items() if cost.saved] == ["wal_bytes_per_row_written"]
    assert costs["wal_bytes_per_row_written"].with_index == pytest.approx(400)
    assert costs["wal_bytes_per_row_written"].without_index == pytest.approx(320)
    assert costs["wal_bytes_per_row_written"].change.estimate == pytest.approx(0.8)
    assert (verdict.sql, verdict.undo) == ("DROP INDEX useless;", "CREATE INDEX useless ON t (x);")


def test_updates_that_stay_on_their_page_are_a_saving_even_from_none() -> None:
    """Shares are compared by their difference: from no HOT update at all to all of them has no ratio."""
    verdict = weigh({"hot": {"server": {"rows_updated_hot": 400}}}, scans={"hot": 0})["hot"]
    cost = next(cost for cost in verdict.costs if cost.figure == "hot_share")

    assert verdict.verdict == "drop"
    assert cost.saved
    assert not cost.relative
    assert cost.change.estimate == pytest.approx(0.75)


def test_without_cost_and_without_benefit_there_is_no_evidence() -> None:
    """Scanned or not."""
    found = weigh({"quiet": {}, "unread": {}}, scans={"unread": 0})

    assert found["quiet"].verdict == found["unread"].verdict == "no evidence"
    assert found["quiet"].blocks_needed is None
    assert not any(one.slower for one in found["quiet"].benefits)
    assert not any(cost.saved for one in found.values() for cost in one.costs)


def test_a_benefit_outweighs_a_cost() -> None:
    """An index that costs WAL and serves a transaction is kept."""
    found = weigh({"both": {"times": {"order.sql": 1.5}, "server": {"wal_bytes": 300_000}}})["both"]

    assert found.verdict == "keep"
    assert any(cost.saved for cost in found.costs)


def test_less_than_the_margin_is_no_reason_to_keep() -> None:
    """2 % slower at a margin of 5 %, and shown not to be more."""
    found = weigh({"little": {"times": {"order.sql": 1.02, "browse.sql": 1.02}, "server": {"wal_bytes": 300_000}}})

    assert found["little"].verdict == "drop"


def test_less_than_a_percent_saved_is_no_reason_to_drop() -> None:
    """0.5 % of the WAL, exact in every block, hence significant."""
    found = weigh({"little": {"server": {"wal_bytes": 398_000}}}, scans={"little": 0})["little"]

    assert found.verdict == "no evidence"
    assert next(cost for cost in found.costs if cost.figure == "wal_bytes_per_row_written").p_value_holm < 0.05


def test_what_is_not_known_of_a_user_stands_against_dropping() -> None:
    """Its times go up and down from block to block: no slower on average, but who could say; the cost is plain."""
    wild = {"times": {"browse.sql": (0.7, 1.5, 1.2, 0.8)}, "server": {"wal_bytes": 300_000}}
    found = weigh({"wild": wild}, users={"wild": "browse.sql"})["wild"]
    calm = weigh({"wild": wild}, users={"wild": "order.sql"})["wild"]

    assert [(one.script, one.verdict) for one in found.benefits] == [("browse.sql", "open")]
    assert found.verdict == "no evidence"
    assert found.blocks_needed is not None
    assert any(cost.saved for cost in found.costs)
    assert calm.verdict == "drop"


def test_too_many_questions_leave_open_what_more_blocks_settle() -> None:
    """Many questions, few blocks: slower by its own interval, not by Holm's test, so neither keep nor drop."""
    others = {f"quiet{number}": {} for number in range(20)}
    planted = {"times": {"browse.sql": 2.0}, "server": {"wal_bytes": 300_000}}
    found = weigh({"suspect": planted, **others}, blocks=10)["suspect"]

    assert found.benefits[0].ratio.low > 1
    assert found.benefits[0].p_value_holm == pytest.approx(42 * 2 / 2**10)
    assert found.verdict == "no evidence"
    assert found.blocks_needed == minimum_blocks(42) == 11
    assert weigh({"suspect": planted, **others}, blocks=11)["suspect"].verdict == "keep"


def test_only_users_are_asked_by_their_plans() -> None:
    """The same suspect and 20 others, each with one user: 21 questions, which 10 blocks can answer."""
    others = {f"quiet{number}": {} for number in range(20)}
    suspect = {"times": {"browse.sql": 2.0, "order.sql": 1.5}}
    users = {"suspect": "browse.sql", **dict.fromkeys(others, "order.sql")}
    found = weigh({"suspect": suspect, **others}, users=users)["suspect"]

    assert found.verdict == "keep"
    assert [one.script for one in found.benefits] == ["browse.sql"]
    assert found.benefits[0].p_value_holm == pytest.approx(21 * 2 / 2**10)


def test_unscanned_indexes_leave_power_to_the_others() -> None:
    """The same suspect among indexes that nobody scans: two questions, not 42."""
    others = {f"unread{number}": {} for number in range(20)}
    found = weigh({"suspect": {"times": {"browse.sql": 2.0}}, **others}, scans=dict.fromkeys(others, 0))["suspect"]

    assert found.verdict == "keep"
    assert found.benefits[0].p_value_holm == 2 * 2 / 2**10


def test_each_level_of_another_factor_answers_for_itself() -> None:
    """One client and many: benefits and costs of both stand in one verdict, each with its own correction."""
    found = weigh({"vital": {"times": {"browse.sql": 4.0}}}, unders=("one", "many"))["vital"]

    assert {(one.under, one.script) for one in found.benefits if one.slower} == {
        ("one", "browse.sql"),
        ("many", "browse.sql"),
    }
    assert {one.p_value_holm for one in found.benefits if one.slower} == {2 * 2 / 2**10}
    assert {cost.under for cost in found.costs} == {"one", "many"}


def test_fewer_than_six_blocks_decide_nothing() -> None:
    """However great the effect."""
    found = weigh({"vital": {"times": {"browse.sql": 4.0}, "server": {"wal_bytes": 1}}}, blocks=5)["vital"]

    assert found.verdict == "no evidence"
    assert all(one.p_value is None and not one.slower for one in found.benefits)


def test_the_metric_counts_on_either_side() -> None:
    """A better throughput without an index is a saving; a worse one is a reason to keep it."""
    better = weigh({"useless": {}}, scans={"useless": 0}, comparisons=(_comparison("useless", 1.2, "better"),))
    worse = weigh({"used": {"server": {"wal_bytes": 300_000}}}, comparisons=(_comparison("used", 0.8, "worse"),))

    assert better["useless"].verdict == "drop"
    assert better["useless"].costs[0].figure == "throughput_per_s"
    assert better["useless"].costs[0].saved
    assert worse["used"].verdict == "keep"


def test_an_arm_that_did_something_else_is_not_weighed() -> None:
    """No verdict on an index whose arm deviated."""
    deviates = _comparison("useless", 1.2, "undecided", limited_by=["deviation"])

    assert weigh({"useless": {"server": {"wal_bytes": 1}}}, comparisons=(deviates,)) == {}


def test_before_a_block_is_complete_there_is_nothing_to_say() -> None:
    """No verdict at all."""
    assert weigh({"any": {}}, blocks=0) == {}


def _comparison(index: str, ratio: float, verdict: str, limited_by: list[str] | None = None) -> Comparison:
    estimate = Estimate(ratio, ratio * 0.99, ratio * 1.01)
    return Comparison(
        arm=f"without-{index}",
        baseline="all-indexes",
        metric="throughput_per_s",
        ratio=estimate,
        ratio_90=estimate,
        p_value=0.002,
        p_value_holm=0.002,
        verdict=verdict,
        blocks_needed=None,
        block_ratios=[ratio] * 10,
        why=[],
        limited_by=limited_by or [],
    )
