"""The server's counters: exact for what clients did, whoever reads them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dbdyno.targets.counters import differences
from dbdyno.targets.embedded import EmbeddedServer

pytestmark = pytest.mark.server

EVERYWHERE = {
    *("wal_bytes", "wal_records", "wal_full_page_images", "commits", "rollbacks", "temp_bytes", "temp_files"),
    *("deadlocks", "buffer_hits", "buffer_reads", "rows_inserted", "rows_updated", "rows_updated_hot"),
    *("rows_deleted", "autovacuums", "checkpoints", "buffers_written"),
}
SINCE_16 = {"rows_updated_new_page", "read_operations", "read_bytes"}
SINCE_18 = {"parallel_workers_planned", "parallel_workers_launched"}
PAGE = 8192
LONGEST_END_S = 30


@pytest.fixture(scope="module")
def server(cache: object) -> Iterator[EmbeddedServer]:
    """With a table of 1000 rows, ten to a page."""
    with EmbeddedServer(settings={"shared_buffers": "16MB", "autovacuum": False}) as started:
        started.execute("CREATE TABLE counted (n int, filler text) WITH (fillfactor = 100)")
        started.execute("INSERT INTO counted SELECT n, repeat('x', 700) FROM generate_series(1, 1000) AS n")
        started.vacuum(["counted"])
        yield started


def grown(server: EmbeddedServer, *statements: str) -> dict[str, int]:
    """What the counters say of a client that came, said `statements` and went."""
    before = server.counters()
    with server.connect() as client:
        backend = Path(f"/proc/{client.info.backend_pid}")
        for statement in statements:
            client.execute(statement.encode())
    deadline = time.monotonic() + LONGEST_END_S
    while backend.exists():  # it hands in its counts before it goes; only clients of trials are waited for
        assert time.monotonic() < deadline
        time.sleep(0.001)
    return differences(before, server.counters())


def test_every_counter_of_this_version_is_there(server: EmbeddedServer) -> None:
    """No more and no fewer; dirtied buffers come from an extension that is not installed."""
    version = server.server_version_number
    expected = EVERYWHERE | (SINCE_16 if version >= 160000 else set()) | (SINCE_18 if version >= 180000 else set())

    assert set(server.counters()) == expected


def test_reading_leaves_no_trace_of_itself(server: EmbeddedServer) -> None:
    """Two readings with nothing between them."""
    server.counters()
    found = grown(server)

    # What logging in costs: one transaction, and the catalogs it looks up.
    assert found["commits"] == 1
    assert {found[name] for name in ("buffer_hits", "buffer_reads", "rollbacks", "rows_inserted", "wal_records")} == {0}


def test_commits_and_rows_are_exact(server: EmbeddedServer) -> None:
    """One log-in and six statements, of which one fails to commit."""
    found = grown(
        server,
        "CREATE TABLE rows_of (n int)",
        "INSERT INTO rows_of SELECT generate_series(1, 30)",
        "UPDATE rows_of SET n = -n WHERE n <= 5",
        "DELETE FROM rows_of WHERE n > 20",
        "BEGIN; INSERT INTO rows_of VALUES (0); ROLLBACK",
    )
    server.execute("DROP TABLE rows_of")

    assert (found["commits"], found["rollbacks"]) == (5, 1)
    assert (found["rows_inserted"], found["rows_updated"], found["rows_deleted"]) == (31, 5, 10)
    assert found["rows_updated_hot"] == 5
    assert found["wal_records"] >= 30


def test_full_pages_send_updates_to_new_pages(server: EmbeddedServer) -> None:
    """Rows that no longer fit where they were are counted as such, and are not HOT."""
    if server.server_version_number < 160000:
        pytest.skip("counted since 16")
    server.execute("CREATE TABLE full_pages AS SELECT n, repeat('x', 700) AS filler FROM generate_series(1, 100) AS n")
    found = grown(server, "UPDATE full_pages SET filler = repeat('y', 700)")
    server.execute("DROP TABLE full_pages")

    assert found["rows_updated"] == 100
    assert found["rows_updated_new_page"] == 100 - found["rows_updated_hot"] > 80


def test_a_cold_scan_reads_every_page_once_and_a_warm_one_none(server: EmbeddedServer) -> None:
    """Physical pages, and since 16 the requests that they came in."""
    with server.connect() as session:
        row = session.execute("SELECT pg_relation_size('counted')").fetchone()
    assert row is not None
    pages = row[0] // PAGE
    server.restart()
    cold = grown(server, "SELECT count(filler) FROM counted")
    warm = grown(server, "SELECT count(filler) FROM counted")

    assert (cold["buffer_reads"], warm["buffer_reads"]) == (pages, 0)
    assert warm["buffer_hits"] == pages
    if server.server_version_number >= 180000:
        # The catalogs of a new session come on top of the table's pages.
        assert 0 <= cold["read_bytes"] - pages * PAGE < 300 * PAGE
        assert 0 < cold["read_operations"] < cold["read_bytes"] / PAGE


def test_what_did_not_fit_into_memory_is_counted(server: EmbeddedServer) -> None:
    """A sort of 700 kB in 64 kB."""
    found = grown(server, "SET work_mem = '64kB'", "SELECT filler, n FROM counted ORDER BY md5(n::text)")

    assert found["temp_files"] >= 1
    assert found["temp_bytes"] > 500_000


def test_a_checkpoint_and_what_it_writes(server: EmbeddedServer) -> None:
    """Ten dirty pages at least; the checkpointer reports shortly after it has told the client that it is done."""
    before = server.counters()
    server.execute("UPDATE counted SET n = n + 1 WHERE n <= 100")
    server.checkpoint()
    limit = time.monotonic() + 10
    found = differences(before, server.counters())
    while found["checkpoints"] == 0 and time.monotonic() < limit:
        time.sleep(0.02)
        found = differences(before, server.counters())

    assert found["checkpoints"] == 1
    assert found["buffers_written"] >= 10


def test_a_counter_that_went_back_is_left_out() -> None:
    """Somebody reset it, or the server crashed."""
    assert differences({"wal_bytes": 10, "commits": 5}, {"wal_bytes": 3, "commits": 9, "new": 1}) == {"commits": 2}


def test_dirtied_buffers_need_an_extension_that_is_loaded(server: EmbeddedServer) -> None:
    """Created but not loaded at the server's start, it answers nothing, and the counter is absent."""
    server.execute("CREATE SCHEMA apart; CREATE EXTENSION pg_stat_statements SCHEMA apart")
    absent = server.counters()
    server.apply_settings({"shared_preload_libraries": "pg_stat_statements"})
    server.checkpoint()
    found = grown(server, "UPDATE counted SET n = n + 1 WHERE n <= 300")
    server.apply_settings({})
    server.execute("DROP EXTENSION pg_stat_statements; DROP SCHEMA apart")

    assert "buffers_dirtied" not in absent
    assert found["buffers_dirtied"] >= 30
