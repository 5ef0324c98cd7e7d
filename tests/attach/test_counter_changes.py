"""Counters before and after: only what changed, and why a view is not there."""

from __future__ import annotations

import datetime
import decimal

import pytest

from dbdyno.attach import counters
from dbdyno.attach.counters import Reading

NAMES = [*(view.name for view in counters.VIEWS), counters.STATEMENTS]


def reading(rows: dict[str, list[dict[str, object]]], *, at_ns: int = 0, **absent: str) -> Reading:
    """All views are there and empty but for these."""
    there = [name for name in NAMES if name not in absent]
    return Reading({name: rows.get(name, []) for name in there}, absent, dict.fromkeys(there, at_ns))


def test_only_rows_that_changed_are_kept() -> None:
    """A row that is new has nothing before; one that is gone says nothing."""
    rows = [{"datid": 1, "n": 5}, {"datid": 2, "n": 5}, {"datid": 3, "n": 1}]
    before = reading({"pg_stat_database": rows}, at_ns=5)
    after = reading({"pg_stat_database": [{"datid": 1, "n": 5}, {"datid": 2, "n": 7}, {"datid": 4, "n": 9}]}, at_ns=12)

    found = counters.changes(before, after, None)

    assert found["pg_stat_database"] == {
        "rows_before": [{"datid": 2, "n": 5}],
        "rows_after": [{"datid": 2, "n": 7}, {"datid": 4, "n": 9}],
        "note": None,
        "elapsed_ns": 7,
    }
    assert found["pg_stat_wal"] == {"rows_before": [], "rows_after": [], "note": None, "elapsed_ns": 7}


def test_a_view_that_was_lost_keeps_what_was_read_before() -> None:
    """The server ended meanwhile."""
    rows = [{"datid": 1, "n": 5}]

    found = counters.changes(
        reading({"pg_stat_database": rows}), reading({}, pg_stat_database="the connection is lost"), None
    )

    lost = {"rows_before": rows, "rows_after": None, "note": "the connection is lost", "elapsed_ns": None}
    assert found["pg_stat_database"] == lost


def test_too_many_rows_are_cut_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """A catalog of very many tables does not make a huge record."""
    monkeypatch.setattr(counters, "ROWS_MAX", 2)
    before = reading({})
    after = reading({"pg_statio_user_tables": [{"relid": number} for number in range(5)]})

    found = counters.changes(before, after, None)["pg_statio_user_tables"]

    assert found == {
        "rows_before": [],
        "rows_after": [{"relid": 0}, {"relid": 1}],
        "note": "5 rows changed; the first 2 are kept",
        "elapsed_ns": 0,
    }


def test_without_a_connection_every_view_says_so() -> None:
    """Null with a reason, never 0."""
    nothing = counters.read_all(None)

    assert {view["note"] for view in counters.changes(nothing, nothing, None).values()} == {"there is no connection"}
    assert {view["rows_after"] for view in counters.changes(nothing, nothing, None).values()} == {None}


def test_values_are_what_json_has() -> None:
    """Whole decimals are whole numbers; moments ISO 8601; lengths of time nanoseconds."""
    moment = datetime.datetime(2026, 11, 21, 6, tzinfo=datetime.UTC)
    row = {"a": decimal.Decimal(12), "b": decimal.Decimal("1.5"), "c": moment, "d": datetime.timedelta(seconds=2)}

    assert counters._plain(row) == {"a": 12, "b": 1.5, "c": "2026-11-21T06:00:00+00:00", "d": 2_000_000_000}
