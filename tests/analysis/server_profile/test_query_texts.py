"""What a query is called, with an identifier and without one."""

from __future__ import annotations

from dbdyno.analysis.server_profile.query_texts import NO_ID, NOT_ANALYSED, query_texts

ACTIVE, OPEN = "active", "idle in transaction"


def record(seen: list[list[object]], queries: list[dict[str, str | None]]) -> dict[str, object]:
    return {"sessions": {"queries": queries, "seen": seen}}


def poll(state: str, query: int | None, times: int = 1) -> list[list[object]]:
    return [[at, 100, state, None, query] for at in range(times)]


def test_a_text_of_pg_stat_statements_stands_before_one_that_was_sent() -> None:
    found = record([], [{"query_id": "7", "text": "SELECT 1"}, {"query_id": "8", "text": "SELECT 2"}])
    found["counters"] = {"pg_stat_statements": {"rows_after": [{"queryid": 7, "query": "SELECT $1"}]}}

    assert query_texts(found) == {"7": "SELECT $1", "8": "SELECT 2", NO_ID: NOT_ANALYSED}


def test_what_has_no_id_is_told_by_what_was_seen_most_often() -> None:
    """Idle sessions and those with an id say nothing of it."""
    queries = [
        {"query_id": None, "text": "END"},
        {"query_id": "8", "text": "SELECT 2"},
        {"query_id": None, "text": "BEGIN"},
        {"query_id": None, "text": "VACUUM a"},
        {"query_id": None, "text": "VACUUM\n  " + "b" * 80},
    ]
    seen = poll(ACTIVE, 0, 60) + poll(ACTIVE, 2, 25) + poll(ACTIVE, 3, 5) + poll(ACTIVE, 4, 10)
    seen += poll(ACTIVE, 1, 50) + poll(OPEN, 0, 50) + poll(ACTIVE, None, 50)

    expected = f"END 60 %, BEGIN 25 %, VACUUM {'b' * 52}… 10 % and 1 more (of 100 polls that met one)"
    assert query_texts(record(seen, queries))[NO_ID] == expected


def test_where_all_have_an_id_those_without_are_on_their_way_to_one() -> None:
    """Where ids are off and nothing was met there is nothing to say."""
    texts = query_texts(record(poll(ACTIVE, 0), [{"query_id": "8", "text": "SELECT 2"}]))

    assert texts == {"8": "SELECT 2", NO_ID: NOT_ANALYSED}
    assert query_texts(record([], [{"query_id": None, "text": "SELECT 2"}])) == {}
    assert query_texts({}) == {}
