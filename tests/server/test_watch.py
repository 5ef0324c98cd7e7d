"""All backends of a server watched from outside: sessions that do a known thing are seen as what they are."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from dbdyno import _core
from dbdyno.targets.embedded import EmbeddedServer

pytestmark = [pytest.mark.server, pytest.mark.timed]

# A busy machine takes its time to get statements under way.
SETTLE_S = 0.3
SPIN = """DO $$ DECLARE until timestamptz := clock_timestamp() + '1 hour';
BEGIN WHILE clock_timestamp() < until LOOP END LOOP; END $$"""
Outcome = dict[str, Any]


def spec_of(server: EmbeddedServer, *, seconds: float, **changes: object) -> dict[str, object]:
    """A watch over the server's memory."""
    return {
        "target": {key: getattr(server.endpoint, key) for key in ("host", "port", "user", "dbname")},
        "postmaster_pid": server.postmaster_pid,
        "seconds_ns": round(seconds * 1e9),
        "step_ns": 500_000_000,
    } | changes


def watch(spec: dict[str, object], live: Callable[[str], bool] | None = None) -> Outcome:
    """The outcome."""
    return dict(json.loads(_core.watch_server(json.dumps(spec), None, live)))


@contextlib.contextmanager
def watching(spec: dict[str, object]) -> Iterator[list[Outcome]]:
    """A watch meanwhile, under way when the block begins; its outcome is in the list when the block is over."""
    outcomes: list[Outcome] = []
    under_way = threading.Event()

    def show(_step: str) -> bool:
        under_way.set()
        return True

    thread = threading.Thread(target=lambda: outcomes.append(watch(spec | {"step_ns": 100_000_000}, show)))
    thread.start()
    assert under_way.wait(timeout=20)
    yield outcomes
    thread.join()


@contextlib.contextmanager
def busy(session: psycopg.Connection[Any], sql: str) -> Iterator[int]:
    """A session that executes a statement meanwhile; its pid."""

    def execute() -> None:
        with contextlib.suppress(psycopg.Error):
            session.execute(sql)

    thread = threading.Thread(target=execute)
    thread.start()
    try:
        yield session.info.backend_pid
    finally:
        with contextlib.suppress(psycopg.Error):
            session.cancel_safe()
        thread.join()


def counts_of(outcome: Outcome, pid: int) -> dict[tuple[str | None, str], tuple[int, int, int]]:
    """(seen, looked, asleep) of a process by (state, event)."""
    found: dict[tuple[str | None, str], tuple[int, int, int]] = {}
    for step in outcome["steps"]:
        for process, _, state, event, *counts in step["cells"]:
            if outcome["processes"][process]["pid"] == pid:
                key = (state, outcome["events"][event])
                before = found.get(key, (0, 0, 0))
                found[key] = (before[0] + counts[0], before[1] + counts[1], before[2] + counts[2])
    return found


def process_of(outcome: Outcome, pid: int) -> dict[str, Any]:
    """The entry of a process."""
    (found,) = [process for process in outcome["processes"] if process["pid"] == pid]
    return dict(found)


@pytest.fixture(scope="module")
def planted(server: EmbeddedServer) -> Iterator[dict[str, int]]:
    """The pids of four sessions: one sleeps, one waits for the row that one holds, one spins."""
    with contextlib.ExitStack() as stack:
        sleeper, spinner, holder, waiter = (stack.enter_context(server.connect()) for _ in range(4))
        holder.execute("CREATE TABLE planted AS SELECT 1 AS n")
        holder.execute("BEGIN")
        holder.execute("UPDATE planted SET n = 2")
        pids = {"holder": holder.info.backend_pid}
        pids["sleeper"] = stack.enter_context(busy(sleeper, "SELECT pg_sleep(1000)"))
        pids["spinner"] = stack.enter_context(busy(spinner, SPIN))
        pids["waiter"] = stack.enter_context(busy(waiter, "UPDATE planted SET n = 3"))
        time.sleep(SETTLE_S)
        yield pids
        holder.execute("ROLLBACK")
        holder.execute("DROP TABLE IF EXISTS planted")


def share_of(outcome: Outcome, pid: int, event: str, state: str | None) -> tuple[float, float]:
    """Of a process's snapshots: the share in this event, and of those the share asleep. Other states are none."""
    counts = counts_of(outcome, pid)
    assert {seen for seen, _ in counts} <= {state, None}, counts
    seen, looked, asleep = (sum(c[i] for (_, name), c in counts.items() if name == event) for i in range(3))
    return seen / sum(c[0] for c in counts.values()), asleep / looked


@pytest.mark.parametrize("route", ["auto", "contiguous", "sql"])
def test_planted_truths(server: EmbeddedServer, planted: dict[str, int], route: str, tmp_path: Path) -> None:
    """A sleep, a row lock and an idle transaction are asleep in their events, a spin is CPU, all within 5 %."""
    path = tmp_path / "snapshots.parquet"
    outcome = watch(spec_of(server, seconds=1.2, route=route, snapshots_path=str(path)))

    assert outcome["ended"] == "time"
    assert outcome["route"] == route or route == "auto"
    asleep_in = {"sleeper": "Timeout:PgSleep", "waiter": "Lock:transactionid", "holder": "Client:ClientRead"}
    for name, event in asleep_in.items():
        state = "idle in transaction" if name == "holder" else "active"
        seen, asleep = share_of(outcome, planted[name], event, state)
        assert seen >= 0.95, (name, outcome["steps"])
        assert asleep >= 0.95, (name, outcome["steps"])
    seen, asleep = share_of(outcome, planted["spinner"], "", "active")
    assert seen >= 0.95
    assert asleep <= 0.05
    spinner = process_of(outcome, planted["spinner"])
    assert spinner["backend_type"] == "client backend"
    assert spinner["cpu_ns"] + spinner["run_queue_ns"] == pytest.approx(outcome["elapsed_ns"], rel=0.05)
    assert process_of(outcome, planted["sleeper"])["cpu_ns"] < 0.05 * outcome["elapsed_ns"]
    assert outcome["snapshots_path"] == str(path)
    content = path.read_bytes()
    assert (content[:4], content[-4:]) == (b"PAR1", b"PAR1")
    assert list(tmp_path.iterdir()) == [path]


def test_every_process_is_in_every_sweep_of_its_life(server: EmbeddedServer, planted: dict[str, int]) -> None:
    """Steps leave no gap, and whoever was there all the time was seen as often as was swept."""
    outcome = watch(spec_of(server, seconds=0.5, step_ns=200_000_000))

    steps = outcome["steps"]
    assert len(steps) == 3
    assert [step["to_ns"] for step in steps[:-1]] == [step["from_ns"] for step in steps[1:]]
    assert sum(step["sweeps"] for step in steps) == outcome["sweeps"]
    for pid in planted.values():
        assert sum(seen for seen, _, _ in counts_of(outcome, pid).values()) == outcome["sweeps"]
    types = {process["backend_type"] for process in outcome["processes"]}
    assert {"client backend", "walwriter", "checkpointer", "io worker", "autovacuum launcher"} <= types


def test_a_backend_comes_and_goes(server: EmbeddedServer) -> None:
    """A session that lives for a part of the watch has its times, its wait and its clocks."""
    with watching(spec_of(server, seconds=1.5)) as outcomes, server.connect() as session:
        pid = session.info.backend_pid
        session.execute("SELECT pg_sleep(0.5)")
    (outcome,) = outcomes

    visitor = process_of(outcome, pid)
    assert visitor["backend_type"] == "client backend"
    assert 0 < visitor["first_ns"] < visitor["last_ns"] < outcome["elapsed_ns"]
    assert visitor["cpu_ns"] is not None
    asleep_ns = sum(
        counts[0] / step["sweeps"] * (step["to_ns"] - step["from_ns"])
        for step in outcome["steps"]
        for process, _, _, event, *counts in step["cells"]
        if outcome["processes"][process]["pid"] == pid and outcome["events"][event] == "Timeout:PgSleep"
    )
    assert asleep_ns == pytest.approx(0.5e9, rel=0.1)


def test_parallel_workers_belong_to_their_leader(server: EmbeddedServer) -> None:
    """Each names the session that it works for."""
    with server.connect() as session:
        session.execute("CREATE TABLE wide AS SELECT repeat('x', 900) AS filler FROM generate_series(1, 400)")
        session.execute(
            "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0"
        )
        session.execute("ALTER TABLE wide SET (parallel_workers = 2)")
        with watching(spec_of(server, seconds=1)) as outcomes:
            session.execute("SELECT count(*) FROM wide WHERE pg_sleep(0.003) IS NOT NULL")
        session.execute("DROP TABLE wide")
        leader = session.info.backend_pid
    (outcome,) = outcomes

    workers = [process for process in outcome["processes"] if process["backend_type"] == "parallel worker"]
    assert [worker["leader_pid"] for worker in workers] == [leader, leader]


def test_a_watcher_may_have_seen_enough(server: EmbeddedServer) -> None:
    """`live` is shown each step with what is new in the tables, and ends the watch by False."""
    shown: list[dict[str, Any]] = []

    def live(step: str) -> bool:
        shown.append(json.loads(step))
        return len(shown) < 2

    outcome = watch(spec_of(server, seconds=60, step_ns=200_000_000), live)

    assert outcome["ended"] == "stopped"
    assert [step["step"] for step in shown] == [0, 1]
    assert shown[0]["cells"] == outcome["steps"][0]["cells"]
    known = [process for step in shown for process in step["processes"]]
    assert [process["pid"] for process in known] == [process["pid"] for process in outcome["processes"][: len(known)]]
    events = ["", *(event for step in shown for event in step["events"])]
    assert events == outcome["events"][: len(events)]


def test_ctrl_c_ends_a_watch_with_what_was_seen(server: EmbeddedServer) -> None:
    """And is used up by that."""
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    outcome = watch(spec_of(server, seconds=60))

    assert outcome["ended"] == "stopped"
    assert 0.3e9 < outcome["elapsed_ns"] < 10e9
    assert outcome["sweeps"] > 0


@pytest.mark.parametrize("route", ["auto", "sql"])
def test_a_killed_server_is_said_to_be_gone(cache: Path, route: str) -> None:
    """kill -9 of the postmaster ends the watch at once; what was seen is kept."""
    with EmbeddedServer() as server:
        started = time.monotonic()
        with watching(spec_of(server, seconds=60, route=route)) as outcomes:
            os.kill(server.postmaster_pid, signal.SIGKILL)
        assert time.monotonic() - started < 20
    (outcome,) = outcomes

    assert outcome["ended"] == "server_gone"
    assert outcome["note"]
    assert outcome["steps"][0]["cells"]


def test_a_server_that_starts_its_processes_anew_is_said_to_be_gone(cache: Path) -> None:
    """kill -9 of a backend makes the server throw its shared memory away; it comes back, and we are not in its way."""
    with EmbeddedServer(settings={"shared_memory_type": "sysv"}) as server:
        with server.connect() as session, watching(spec_of(server, seconds=60)) as outcomes:
            os.kill(session.info.backend_pid, signal.SIGKILL)
        (outcome,) = outcomes
        assert outcome["ended"] == "server_gone"
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            with contextlib.suppress(Exception), server.connect() as again:
                assert again.execute("SELECT 1").fetchone() == (1,)
                return
            time.sleep(0.1)
        pytest.fail("the server does not come back")


def test_nothing_stays_attached(cache: Path) -> None:
    """The server's System V segment is attached by as many processes after a watch as before."""

    def attached(postmaster_pid: int) -> int:
        """Of the segment that this process created."""
        segments = [line.split() for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]]
        return sum(int(columns[6]) for columns in segments if int(columns[4]) == postmaster_pid)

    with EmbeddedServer(settings={"shared_memory_type": "sysv", "autovacuum": "off"}) as server:
        before = attached(server.postmaster_pid)
        with watching(spec_of(server, seconds=0.5, route="sysv")) as outcomes:
            assert attached(server.postmaster_pid) > before
        assert outcomes[0]["route"] == "sysv"
        deadline = time.monotonic() + 10  # the session of the self-test may still be ending
        while attached(server.postmaster_pid) != before and time.monotonic() < deadline:
            time.sleep(0.05)
        assert attached(server.postmaster_pid) == before


def test_what_cannot_be_watched_is_one_line(server: EmbeddedServer) -> None:
    """Each names the key and what was seen."""

    def refusal(**changes: object) -> tuple[str, str]:
        with pytest.raises(_core.CoreError) as caught:
            watch(spec_of(server, seconds=1, **changes))
        code, message = caught.value.args
        assert "\n" not in message
        return code, message

    assert refusal(seconds_ns=0) == ("spec_invalid", "seconds_ns: 0; must be at least 1")
    code, message = refusal(route="iovec")
    assert (code, message.split(";")[0].rpartition(" ")[2]) == ("spec_invalid", '"iovec"')
    code, message = refusal(route="mapped", postmaster_pid=os.getpid())
    assert code == "unsupported_server"
    assert message.startswith("route: mapped: ")
    code, message = refusal(route="sql", target=None)
    assert code == "unsupported_server"
    assert message == "route: no route is left; sql: no target to ask"
    assert refusal(snapshots_path="/nowhere/at/all.parquet")[0] == "io"


def test_the_sql_route_leaves_its_session_alone(server: EmbeddedServer) -> None:
    """It is read-only, named, and no process of the outcome; what a question costs is measured and said."""
    with watching(spec_of(server, seconds=1, route="sql")) as outcomes, server.connect() as onlooker:
        rows = onlooker.execute("SELECT pid, application_name FROM pg_stat_activity WHERE query LIKE 'EXECUTE dbdyno%'")
        sessions = rows.fetchall()
    (outcome,) = outcomes

    ((pid, name),) = sessions
    assert name == "dbdyno"
    assert pid not in {process["pid"] for process in outcome["processes"]}
    assert "a question costs the server" in outcome["note"]
    assert outcome["period_ns"] >= 15_000_000
