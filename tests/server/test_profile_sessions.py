"""The session poll and the counters against a real server: who blocks whom, what stays hidden, what it costs."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from dbdyno.attach import counters
from dbdyno.attach.session import APPLICATION_NAME, connect
from dbdyno.attach.session_poll import SessionPoll
from dbdyno.targets.embedded import EmbeddedServer
from dbdyno.targets.endpoint import Endpoint

pytestmark = pytest.mark.server


@contextmanager
def polled(endpoint: Endpoint) -> Iterator[tuple[SessionPoll, dict[str, Any]]]:
    """The sessions' document, filled in when the block has ended."""
    began = time.time_ns()
    found: dict[str, Any] = {}
    session = connect(endpoint)
    poll = SessionPoll(session, lambda: connect(endpoint))
    poll.start()
    try:
        yield poll, found
    finally:
        left = poll.finish()
        found |= poll.document(began)
        if left is not None:
            left.close()


@pytest.fixture(scope="module")
def table(server: EmbeddedServer) -> Iterator[None]:
    """Rows to fight for, and a user without rights."""
    server.execute("CREATE TABLE accounts (id int PRIMARY KEY, v int)")
    server.execute("INSERT INTO accounts SELECT g, 0 FROM generate_series(1, 1000) AS g")
    server.execute("CREATE ROLE little LOGIN")
    yield
    server.execute("DROP TABLE accounts; DROP ROLE little")


def test_who_blocks_whom_and_on_what(server: EmbeddedServer, table: None) -> None:
    """Two sessions wait for a row that a third has changed: the first for its transaction, the second for the row."""
    with server.connect() as holder, server.connect() as first, server.connect() as second:
        holder.execute("BEGIN")
        holder.execute("UPDATE accounts SET v = 1 WHERE id = 7")
        number = holder.execute("SELECT pg_current_xact_id()::xid::text").fetchone()
        assert number is not None
        waiters = [threading.Thread(target=update, args=(each,)) for each in (first, second)]
        with polled(server.endpoint) as (_, found):
            for waiter in waiters:
                waiter.start()
                time.sleep(0.2)
            time.sleep(1.2)
        holder.execute("ROLLBACK")
        for waiter in waiters:
            waiter.join()
        pids = [each.info.backend_pid for each in (holder, first, second)]

    blocking = {(pid, tuple(blockers), lock) for _, pid, blockers, lock in found["blocking"]}
    assert (pids[1], (pids[0],), f"row (0,7) of public.accounts, until transaction {number[0]} ends") in blocking
    assert (pids[2], (pids[1],), "row (0,7) of public.accounts") in blocking
    texts = {query["text"] for query in found["queries"]}
    assert "UPDATE accounts SET v = 2 WHERE id = 7" in texts
    states = {(pid, state, wait) for _, pid, state, wait, _ in found["seen"]}
    assert (pids[0], "idle in transaction", "Client:ClientRead") in states
    assert (pids[1], "active", "Lock:transactionid") in states
    who = {each["pid"]: each for each in found["processes"]}[pids[1]]
    assert (who["user"], who["database"], who["client"], who["backend_type"]) == (
        "dbdyno",
        "dbdyno",
        "local",
        "client backend",
    )
    assert found["note"] is None


def update(session: psycopg.Connection[Any]) -> None:
    session.execute("UPDATE accounts SET v = 2 WHERE id = 7")


def test_our_own_sessions_are_in_no_figure_and_their_cost_is(server: EmbeddedServer) -> None:
    """Two polls a second; what they cost the server is known where its process is here."""
    with polled(server.endpoint) as (_, found):
        time.sleep(1.6)

    assert 2 <= found["polls"] <= 4
    assert APPLICATION_NAME not in {each["application"] for each in found["processes"]}
    assert 0 < found["cpu_ns_server"] < 200_000_000
    assert {"walwriter", "checkpointer"} <= {each["backend_type"] for each in found["processes"]}


def test_what_a_user_without_rights_is_not_shown(server: EmbeddedServer, table: None) -> None:
    """Others' sessions are there, without what they run; the note says how many and what would show them."""
    little = dataclasses.replace(server.endpoint, user="little")
    with server.connect() as busy:
        busy.execute("SELECT 'their secret'")
        with polled(little) as (_, found):
            time.sleep(0.7)
        pid = busy.info.backend_pid

    assert pid in {each["pid"] for each in found["processes"]}
    assert "their secret" not in str(found)
    assert "little may not see what" in found["note"]
    assert found["note"].endswith("GRANT pg_read_all_stats TO little shows them")


def test_a_lost_connection_is_made_anew(server: EmbeddedServer) -> None:
    """An administrator ends all sessions: the poll goes on and says so."""
    with polled(server.endpoint) as (_, found):
        time.sleep(0.3)
        server.execute(
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{APPLICATION_NAME}'"
        )
        time.sleep(1.2)

    assert found["polls"] >= 2
    assert "the connection was lost: terminating connection" in found["note"]
    assert found["note"].endswith("it was made anew")
    assert found["cpu_ns_server"] is None


def test_a_server_that_was_started_again_is_another_one(cache: Path) -> None:
    """Its sessions are not mixed with those of before, and there is no connection to read the counters over."""
    with EmbeddedServer() as restarted:
        with polled(restarted.endpoint) as (poll, found):
            time.sleep(0.3)
            restarted.restart()
            time.sleep(1.3)
        assert poll.finish() is None

    assert "the server was started again: its new sessions are in no figure" in found["note"]


def test_counters_have_what_happened_between_two_readings(server: EmbeddedServer, table: None) -> None:
    """Reads of the table by relation with its file; a view that this version lacks, or the extension, says why."""
    session = connect(server.endpoint)
    before = counters.read_all(session)
    with server.connect() as worker:
        worker.execute("SELECT sum(v) FROM accounts")
        worker.execute("SELECT pg_stat_force_next_flush()")
    deadline = time.monotonic() + 3.0
    found: dict[str, Any] = {}
    while not (found and found["pg_statio_user_tables"]["rows_after"]) and time.monotonic() < deadline:
        found = counters.changes(before, counters.read_all(session), session)
    session.close()

    rows = found["pg_statio_user_tables"]
    (then,), (now,) = rows["rows_before"], rows["rows_after"]
    assert now["relname"] == "accounts"
    assert now["heap_blks_hit"] > then["heap_blks_hit"]
    assert (now["tablespace"], now["file"].split("/")[0], now["bytes"] % 8192) == ("pg_default", "base", 0)
    assert found["pg_stat_io"]["note"] is None
    assert found["pg_stat_statements"] == {
        "rows_before": None,
        "rows_after": None,
        "note": "the extension is not in this database",
        "elapsed_ns": None,
    }


DEBIAN_15 = Path("/usr/lib/postgresql/15/bin")


@pytest.mark.skipif(not DEBIAN_15.is_dir(), reason="needs Debian's PostgreSQL 15")
def test_an_older_server_is_asked_what_it_has(cache: Path) -> None:
    """15 has no pg_stat_io and no pg_stat_checkpointer; everything else is there."""
    with EmbeddedServer(server_bin=DEBIAN_15) as old, old.connect() as worker:
        session = connect(old.endpoint)
        before = counters.read_all(session)
        with polled(old.endpoint) as (_, found):
            worker.execute("SELECT pg_sleep(0.7)")
        changed = counters.changes(before, counters.read_all(session), session)
        session.close()

    assert "SELECT pg_sleep(0.7)" in {query["text"] for query in found["queries"]}
    assert ("active", "Timeout:PgSleep") in {(state, wait) for _, _, state, wait, _ in found["seen"]}
    notes = {name: view["note"] for name, view in changed.items() if view["note"]}
    assert notes == {
        "pg_stat_io": "came with PostgreSQL 16",
        "pg_stat_checkpointer": "came with PostgreSQL 17",
        "pg_stat_statements": "the extension is not in this database",
    }
