"""A server that is not ours stays as it was, whenever a run that writes there is killed.

The run restores, drops and rebuilds indexes and warms the cache, as a superuser who could do any harm.
"""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_experiment import command, trials_of, write_experiment

from dbdyno.targets.embedded import EmbeddedServer
from dbdyno.targets.target import Connection

pytestmark = pytest.mark.server

EXPERIMENT = """
question = "Which index is needed?"
baseline = { indexes = "all" }
[workload]
schema = "make.sql"
script = "touch.sql"
clients = 2
[design]
blocks = 2
reset = ["restore", "vacuum", "analyze", "checkpoint", "warm-cache"]
warm_up = "10 ms"
window = "100 ms"
[factors.indexes]
all = {}
without-v = { sql = "DROP INDEX t_v", undo = "CREATE INDEX t_v ON t (v)" }
without-w = { sql = "DROP INDEX t_w", reset = ["vacuum", "warm-cache"], undo = "CREATE INDEX t_w ON t (w)" }
"""
FILES = {
    "make.sql": """
        CREATE TABLE t (id serial PRIMARY KEY, v int, w text CHECK (w <> ''));
        INSERT INTO t (v, w) SELECT n, repeat(md5(n::text), 10) FROM generate_series(1, 5000) AS n;
        CREATE INDEX t_v ON t (v); CREATE INDEX t_w ON t (w);
        CREATE FUNCTION twice(n int) RETURNS int LANGUAGE sql RETURN 2 * n;
        CREATE VIEW small AS SELECT * FROM t WHERE v < twice(5);
    """,
    "touch.sql": "\\set id random(1, 5000)\nUPDATE t SET v = v + 1 WHERE id = :id;\n",
}

# Everything that a run could change, row by row. What belongs to a workspace of ours, `ours` says; TOAST tables and
# their indexes lie in a schema of the system's.
ROWS = """
WITH spaces AS (SELECT oid FROM pg_namespace WHERE nspname ~ '^dbdyno_[0-9a-f]{8}$' AND {ours}),
    named AS (SELECT oid, reltoastrelid FROM pg_class WHERE relnamespace IN (SELECT oid FROM spaces)),
    heaps AS (SELECT oid FROM named UNION SELECT reltoastrelid FROM named),
    relations AS (SELECT oid FROM heaps UNION SELECT indexrelid FROM pg_index JOIN heaps ON indrelid = heaps.oid)
SELECT 'class', c::text FROM pg_class c WHERE oid NOT IN (SELECT oid FROM relations)
UNION ALL SELECT 'index', i::text FROM pg_index i WHERE indexrelid NOT IN (SELECT oid FROM relations)
UNION ALL SELECT 'attribute', a::text FROM pg_attribute a WHERE attrelid NOT IN (SELECT oid FROM relations)
UNION ALL SELECT 'constraint', k::text FROM pg_constraint k WHERE connamespace NOT IN (SELECT oid FROM spaces)
UNION ALL SELECT 'function', p::text FROM pg_proc p WHERE pronamespace NOT IN (SELECT oid FROM spaces)
UNION ALL SELECT 'schema', n::text FROM pg_namespace n WHERE oid NOT IN (SELECT oid FROM spaces)
UNION ALL SELECT 'setting', (name, setting, source, sourcefile, sourceline, pending_restart)::text FROM pg_settings
UNION ALL SELECT 'file setting', f::text FROM pg_file_settings f
UNION ALL SELECT 'role setting', r::text FROM pg_db_role_setting r
UNION ALL SELECT 'role', r::text FROM pg_roles r
UNION ALL SELECT 'extension', e::text FROM pg_extension e
UNION ALL SELECT 'database', (oid, datname, datdba, datconnlimit, datacl)::text FROM pg_database
UNION ALL SELECT 'their row', u::text FROM theirs.accounts u
ORDER BY 1, 2
"""


@pytest.fixture
def server(cache: Path) -> Iterator[EmbeddedServer]:
    """Somebody's server, with their schema, settings and rows; it changes nothing by itself."""
    with EmbeddedServer(settings={"autovacuum": False, "fsync": False}) as started:
        started.execute("SET application_name = 'somebody'")
        started.execute(
            "CREATE SCHEMA theirs;"
            "CREATE TABLE theirs.accounts (id int PRIMARY KEY, balance numeric CHECK (balance >= 0), note text);"
            "INSERT INTO theirs.accounts SELECT n, n, md5(n::text) FROM generate_series(1, 2000) AS n;"
            "CREATE INDEX ON theirs.accounts (balance);"
            "CREATE TABLE public.t AS SELECT 1 AS v;"
            "CREATE SCHEMA dbdyno_deadbeef; CREATE TABLE dbdyno_deadbeef.t (n int);"
            "CREATE FUNCTION theirs.f() RETURNS int LANGUAGE sql RETURN 1;"
            "CREATE ROLE theirs SUPERUSER; CREATE EXTENSION pg_prewarm;"
            "ALTER ROLE dbdyno SET work_mem = '5MB'"
        )
        started.execute("ALTER SYSTEM SET commit_siblings = 6")
        started.execute("ALTER DATABASE dbdyno SET random_page_cost = 1.5")
        yield started


@pytest.fixture
def onlooker(server: EmbeddedServer) -> Iterator[Connection]:
    with server.connect() as session:
        session.execute("SET application_name = 'somebody'")
        yield session


def state(onlooker: Connection, *, but_for_ours: bool) -> list[tuple[str, str]]:
    """All rows; with `but_for_ours` those of marked workspaces left aside. Theirs only looks like one."""
    ours = "nspname <> 'dbdyno_deadbeef'" if but_for_ours else "false"
    return onlooker.execute(ROWS.replace("{ours}", ours).encode()).fetchall()  # type: ignore[return-value]


def await_end_of_sessions(onlooker: Connection) -> None:
    """The backends of a killed client end when they next look at their connections."""
    limit = time.monotonic() + 10
    while time.monotonic() < limit:
        if onlooker.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'dbdyno%'"
        ).fetchone() == (0,):
            return
        time.sleep(0.02)
    pytest.fail("sessions of a killed run live on")


@pytest.mark.nightly
def test_killed_at_20_points(tmp_path: Path, server: EmbeddedServer, onlooker: Connection) -> None:
    """The proof."""
    kill_and_compare(tmp_path, server, onlooker, kills=20)


def test_killed_at_three_points(tmp_path: Path, server: EmbeddedServer, onlooker: Connection) -> None:
    """The short form of the proof."""
    kill_and_compare(tmp_path, server, onlooker, kills=3)


def kill_and_compare(directory: Path, server: EmbeddedServer, onlooker: Connection, *, kills: int) -> None:
    """Kills spread evenly over the life of the workspace, before and after which a run only reads."""
    experiment = write_experiment(directory / "experiment", EXPERIMENT, FILES)

    def run(name: str) -> subprocess.Popen[str]:
        target = ("--target", server.endpoint.display(), "--allow-write", "--allow-checkpoint")
        return subprocess.Popen(
            command("run", experiment, "--out", directory / name, "--seed", 1, *target),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run_to_its_end(name: str) -> float:
        process = run(name)
        begun = await_workspace(onlooker, process, beside=workspaces(onlooker))
        while workspaces(onlooker) and process.poll() is None:
            time.sleep(0.01)
        ended = time.monotonic()
        _, messages = process.communicate(timeout=120)
        assert process.returncode == 0, messages
        assert [trial["status"] for trial in trials_of(directory / name)] == ["ok"] * 6
        assert state(onlooker, but_for_ours=False) == before
        return ended - begun

    before = state(onlooker, but_for_ours=False)
    assert len(before) > 5000
    life_s = run_to_its_end("first")
    met = 0
    for kill in range(kills):
        process = run(f"killed-{kill}")
        begun = await_workspace(onlooker, process, beside=workspaces(onlooker))
        time.sleep(max(0, begun + life_s * (kill + 0.5) / kills - time.monotonic()))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        await_end_of_sessions(onlooker)
        left = workspaces(onlooker)
        assert len(left) <= 1, "what the run before left should have gone when this one began"
        met += len(left)
        assert state(onlooker, but_for_ours=True) == before

    assert met > kills // 2, "most kills came too late to prove anything"
    run_to_its_end("last")


def workspaces(onlooker: Connection) -> set[str]:
    """Our schemas; one of theirs only looks like it."""
    rows = onlooker.execute(
        "SELECT nspname FROM pg_namespace WHERE nspname ~ '^dbdyno_[0-9a-f]{8}$' AND nspname <> 'dbdyno_deadbeef'"
    )
    return {name for (name,) in rows}


def await_workspace(onlooker: Connection, process: subprocess.Popen[str], *, beside: set[str]) -> float:
    """The moment when a run's workspace is there."""
    while not workspaces(onlooker) - beside:
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)
    return time.monotonic()
