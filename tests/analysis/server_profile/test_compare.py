"""Two profiles compared: what moved is found, what did not is not, and nothing is claimed that is not known."""

from __future__ import annotations

import json
from typing import Any

import pytest
import server_record as make
from server_record import MS, SECOND, Life, Stretch

from dbdyno.analysis.server_profile.compare import as_document, compare_records

ACTIVE = "active"


def life(flush_ms: float) -> Life:
    """Commits that wait so long for the flush."""
    return Life(
        [
            Stretch(ACTIVE, "1", "", "cpu", 2 * MS),
            Stretch(ACTIVE, "1", "IO:WalSync", "sleep", flush_ms * MS),
            Stretch("idle", None, "Client:ClientRead", "sleep", 10 * MS),
        ]
    )


def profiled(flush_ms: float, seed: int, *, commits: int | None = None, seconds: int = 20) -> dict[str, Any]:
    """A record of four sessions, with so many commits by the server's count."""
    record, _ = make.simulate([life(flush_ms)] * 4, seconds=seconds, seed=seed)
    if commits is not None:
        row = {"datid": 5, "xact_commit": commits}
        record["counters"] = {"pg_stat_database": {"rows_before": [], "rows_after": [row], "note": None}}
    return record


def test_what_moved_is_found_and_adds_up() -> None:
    """A flush of 8 ms against one of 2 ms: the event moved, the differences of the parts are that of the whole."""
    found = compare_records(profiled(8, 1), profiled(2, 2))
    moved = found.parts[0]

    assert (moved.name, moved.changed) == ("IO:WalSync", True)
    assert moved.difference.estimate == pytest.approx(4 * (2 / 14 - 8 / 20), rel=0.1)
    assert sum(part.difference.estimate for part in found.parts) == pytest.approx(
        found.active_sessions.difference.estimate
    )
    assert found.sentences[0].startswith("Average active sessions fell from 2.0")
    assert "What moved most: IO:WalSync -" in found.sentences[0]


def test_equal_loads_are_not_told_apart() -> None:
    """Two profiles of one load: no part changed, and the sentence says so."""
    found = compare_records(profiled(4, 1), profiled(4, 2))

    assert not found.active_sessions.changed
    assert "these profiles do not tell them apart" in found.sentences[0]


def test_equal_loads_seldom_seem_to_differ() -> None:
    """12 pairs of one load: at most 2 say that it changed, where 1 in 20 is promised."""
    alarms = [compare_records(profiled(4, seed, seconds=12), profiled(4, seed + 100, seconds=12)) for seed in range(12)]

    assert sum(found.active_sessions.changed for found in alarms) <= 2


def test_time_per_commit_tells_more_load_from_slower_commits() -> None:
    """Twice the commits in the same database time: the sessions did not move, the time of a commit halved."""
    found = compare_records(profiled(4, 1, commits=2000), profiled(4, 2, commits=4000))

    assert found.per_commit is not None
    assert found.per_commit.changed
    assert found.per_commit.second.estimate == pytest.approx(found.per_commit.first.estimate / 2, rel=0.1)
    assert not found.active_sessions.changed
    assert compare_records(profiled(4, 1, commits=2000), profiled(4, 2)).per_commit is None


def test_a_difference_is_always_called_confounded() -> None:
    """Two moments are two moments; other routes, servers and clocks are told as well."""
    alike = compare_records(profiled(4, 1), profiled(4, 2))
    record = profiled(4, 3)
    record["watch"]["route"] = "sql"
    record["target"]["name"] = "elsewhere"
    for process in record["watch"]["processes"]:
        process["clock"] = None
    for step in record["watch"]["steps"]:
        step["clocks"] = []
    other = compare_records(profiled(4, 1), record)

    assert [warning.code for warning in alike.warnings] == ["confounded"]
    assert [warning.code for warning in other.warnings] == [
        "confounded",
        "routes_differ",
        "clocks_differ",
        "targets_differ",
    ]


def test_the_document_is_json() -> None:
    """Profiles too short for intervals have null, never NaN; a query in one of the two is 0 in the other."""
    one = make.record(
        [make.step(0, [[0, "1", ACTIVE, 1, 500, 9, 9]], [[0, 0, 0]])], [make.process(7, SECOND)], ["", "Lock:tuple"]
    )
    two = make.record(
        [make.step(0, [[0, "2", ACTIVE, 1, 100, 9, 9]], [[0, 0, 0]])], [make.process(7, SECOND)], ["", "Lock:tuple"]
    )
    document = json.loads(json.dumps(as_document(compare_records(one, two)), allow_nan=False))

    assert document["kind"] == "profiles"
    assert document["active_sessions"]["difference"] == {"estimate": pytest.approx(-0.4), "low": None, "high": None}
    queries = {
        query["name"]: (query["first"]["estimate"], query["second"]["estimate"]) for query in document["by_query"]
    }
    assert queries == {"1": (pytest.approx(0.5), 0), "2": (0, pytest.approx(0.1))}
