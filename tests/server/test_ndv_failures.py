"""Scans that do not come to their end: a clear word, and nothing of ours left on the server."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from cutting_proxy import cutting_proxy
from table_scan import APPLICATION_NAME, column, part, rows, scan, sessions, spec_of

from dbdyno import engine
from dbdyno.errors import EXIT_RUN_FAILED, DynoError
from dbdyno.targets.embedded import EmbeddedServer

pytestmark = pytest.mark.server

NUMBERS = [column("i", "bigint", "integer")]
# Row by row: in FROM the server would first write all of them to a temporary file, and send nothing.
ENDLESS = "SELECT generate_series(1, 1000000000000)"
SLOW = "SELECT i FROM generate_series(1, 2) i, pg_sleep(3600 * i)"


def until(condition: Callable[[], Any]) -> None:
    """Waits for it, 10 s at most."""
    limit = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.01)


def at_work(server: EmbeddedServer, count: int) -> bool:
    """Whether so many of our sessions run a COPY."""
    active = f"""SELECT count(*) FROM pg_stat_activity
                 WHERE application_name = '{APPLICATION_NAME}' AND state = 'active' AND query LIKE 'COPY%'"""
    return rows(server, active) == [(count,)]


def failure(spec: dict[str, Any]) -> DynoError:
    """Of a scan that must fail as a run does."""
    with pytest.raises(DynoError) as caught:
        scan(spec)
    assert caught.value.exit_code == EXIT_RUN_FAILED
    assert "\n" not in caught.value.message
    return caught.value


@contextlib.contextmanager
def meanwhile(work: Callable[[], None]) -> Iterator[None]:
    """Something that a thread of its own does while the block runs."""
    thread = threading.Thread(target=work)
    thread.start()
    yield
    thread.join()


@pytest.mark.parametrize("statement", [ENDLESS, SLOW], ids=["sending", "silent"])
@pytest.mark.parametrize("count", [1, 2])
def test_ctrl_c_cancels_on_the_server(server: EmbeddedServer, statement: str, count: int) -> None:
    """A KeyboardInterrupt, soon, whether rows are coming or not; when it is raised every session is gone."""

    def interrupt() -> None:
        until(lambda: at_work(server, count))
        os.kill(os.getpid(), signal.SIGINT)

    parts = [part(statement, number) for number in range(count)]
    started = time.monotonic()
    with meanwhile(interrupt), pytest.raises(KeyboardInterrupt):
        engine.scan_postgres(spec_of(server, NUMBERS, parts), None)

    assert sessions(server) == 0
    assert time.monotonic() - started < 8


def test_a_watcher_may_end_it_by_an_exception(server: EmbeddedServer) -> None:
    """What the watcher raises comes out, and the session is gone."""

    def look(step: object) -> None:
        raise LookupError(str(step))

    with pytest.raises(LookupError, match="rows_expected"):
        engine.scan_postgres(spec_of(server, NUMBERS, [part(ENDLESS)]), None, look)

    assert sessions(server) == 0


def test_a_table_that_is_gone(server: EmbeddedServer) -> None:
    """The server's own words, with its SQLSTATE."""
    error = failure(spec_of(server, NUMBERS, [part("SELECT i FROM dropped_meanwhile")]))

    assert error.code == "scan_failed"
    assert 'COPY: SQLSTATE 42P01: relation "dropped_meanwhile" does not exist' in error.message
    assert sessions(server) == 0


def test_an_error_in_mid_stream_of_one_of_two_connections(server: EmbeddedServer) -> None:
    """The other one is cancelled, and the first error is that of the scan."""
    fails = part("SELECT 1 / (100000 - i) FROM generate_series(1::bigint, 1000000) i", 1)
    error = failure(spec_of(server, NUMBERS, [part(ENDLESS), fails]))

    assert error.code == "scan_failed"
    assert error.message.endswith("COPY: SQLSTATE 22012: division by zero")
    assert sessions(server) == 0


def test_a_session_that_is_ended_by_the_server(server: EmbeddedServer) -> None:
    """pg_terminate_backend in mid-stream: the connection is lost, in the server's words if it has any.

    A backend that is waiting for room in the socket says nothing: what it says could lie inside of a row.
    """

    def terminate() -> None:
        until(lambda: at_work(server, 1))
        server.execute(
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{APPLICATION_NAME}'"
        )

    with meanwhile(terminate):
        error = failure(spec_of(server, NUMBERS, [part(ENDLESS)]))

    assert error.code == "connection_lost"
    in_words = "SQLSTATE 57P01: terminating connection due to administrator command" in error.message
    assert in_words or "was lost (unexpected end of file)" in error.message
    assert sessions(server) == 0


def test_a_server_that_cannot_be_reached(server: EmbeddedServer) -> None:
    """As every other connection says it."""
    spec = spec_of(server, NUMBERS, [part(ENDLESS)])
    spec["target"] |= {"dbname": "nobody_made_this"}
    with pytest.raises(DynoError) as caught:
        scan(spec)

    assert caught.value.code == "unreachable"
    assert "SQLSTATE 3D000" in caught.value.message


@pytest.mark.parametrize("answer_bytes", [100, 1000, 1001, 1_000_003])
def test_a_connection_that_is_cut(server: EmbeddedServer, answer_bytes: int) -> None:
    """By something on its way: while logging in, in the header, in mid-stream. The server's end finds out by itself."""
    spec = spec_of(server, NUMBERS, [part(ENDLESS)])
    path = f"{server.endpoint.host}/.s.PGSQL.{server.endpoint.port}"
    with cutting_proxy(path, answer_bytes) as proxy:
        spec["target"] |= {"host": "127.0.0.1", "port": proxy.port, "sslmode": "disable"}
        with pytest.raises(DynoError) as caught:
            scan(spec)

    assert caught.value.code == ("unreachable" if answer_bytes == 100 else "connection_lost")
    assert "\n" not in caught.value.message
    until(lambda: sessions(server) == 0)
