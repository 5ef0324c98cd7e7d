"""I/O from the server's counters: differences, sizes of requests only where requests were counted, shares."""

from __future__ import annotations

from typing import Any

from dbdyno.analysis.server_profile.requests import io_lines

STAT_IO = {"backend_type": "client backend", "object": "relation", "context": "normal"}
TABLE = {"relid": 1, "schemaname": "public", "relname": "orders"}


def view(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> dict[str, Any]:
    """Rows of a view, before and after."""
    return {"rows_before": before, "rows_after": after, "note": None}


def test_since_18_requests_have_a_size() -> None:
    """Reads and their bytes are counted apart: 300 requests of 128 KiB."""
    before = [{**STAT_IO, "reads": 100, "read_bytes": 819_200, "read_time": 5.0, "hits": 7}]
    after = [{**STAT_IO, "reads": 400, "read_bytes": 819_200 + 300 * 131_072, "read_time": 65.0, "hits": 7}]
    (line,) = io_lines({"pg_stat_io": view(before, after)})

    assert (line.by, line.name, line.operation) == ("backend type", "client backend", "read")
    assert (line.requests, line.bytes, line.request_bytes_mean) == (300, 300 * 131_072, 131_072)
    assert (line.share, line.ns) == (1.0, 60e6)


def test_before_18_pages_are_counted_and_the_size_of_a_request_is_not_known() -> None:
    """op_bytes is the page size, not what a request moved."""
    (line,) = io_lines({"pg_stat_io": view([], [{**STAT_IO, "writes": 10, "op_bytes": 8192}])})

    assert (line.requests, line.bytes, line.request_bytes_mean) == (10, 81_920, None)


def test_relations_stand_with_their_share_of_reads_and_of_size() -> None:
    """A small table that is read most; its tablespace and file have lines of their own."""
    place = {"tablespace": "pg_default", "file": "base/5/1", "bytes": 1000}
    orders = {**TABLE, **place, "heap_blks_read": 90, "heap_blks_hit": 5, "toast_blks_read": None}
    items = {**TABLE, **place, "relid": 2, "relname": "items", "file": "base/5/2", "bytes": 9000, "heap_blks_read": 10}
    lines = io_lines({"pg_statio_user_tables": view([], [orders, items])})
    reads = {line.name: line for line in lines if line.by == "relation" and line.operation == "read"}

    assert [(name, line.share, line.size_share) for name, line in reads.items()] == [
        ("public.orders", 0.9, 0.1),
        ("public.items", 0.1, 0.9),
    ]
    spaces = [line for line in lines if line.by == "tablespace" and line.operation == "read"]
    assert [(line.name, line.requests, line.size_bytes) for line in spaces] == [("pg_default", 100, 10_000)]
    assert {line.name for line in lines if line.by == "file"} == {"base/5/1", "base/5/2"}


def test_counters_that_were_reset_count_nothing_and_missing_views_are_no_lines() -> None:
    """After a reset the difference is negative; a view that could not be read is null."""
    reset = view([{**STAT_IO, "reads": 100}], [{**STAT_IO, "reads": 10, "op_bytes": 8192}])

    assert io_lines({"pg_stat_io": reset}) == []
    assert io_lines({"pg_stat_io": {"rows_before": None, "rows_after": None, "note": "came with 16"}}) == []
    assert io_lines(None) == []
