"""A server that is not ours: reached by TCP and password, only read, and written to in a marked schema alone."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from dbdyno import engine
from dbdyno.errors import DynoError
from dbdyno.targets.counters import CLIENTS_NAME
from dbdyno.targets.defaults import resolve
from dbdyno.targets.embedded import EmbeddedServer
from dbdyno.targets.endpoint import Endpoint
from dbdyno.targets.external import ExternalServer
from dbdyno.targets.open import TargetRequest, open_target
from dbdyno.targets.target import Connection
from dbdyno.targets.workspace import Workspace

pytestmark = pytest.mark.server

PASSWORD = "canary-hunter2x"


@pytest.fixture(scope="module")
def port(cache: Path, free_port: int) -> Iterator[int]:
    """The TCP port of a server that asks for a password, with a user `guest` who owns the database `lab`."""
    with EmbeddedServer(port=free_port) as server:
        server.execute("SET password_encryption = 'scram-sha-256'")
        server.execute(f"CREATE ROLE guest LOGIN PASSWORD '{PASSWORD}'")
        server.execute("CREATE DATABASE lab OWNER guest")
        server.execute("ALTER SYSTEM SET listen_addresses = '127.0.0.1'")
        (server.data_directory / "cluster" / "pg_hba.conf").write_text(
            "local all all trust\nhostnossl lab,nowhere guest 127.0.0.1/32 scram-sha-256\n"
        )
        server.restart()
        yield free_port


def endpoint(port: int, password: str = PASSWORD, user: str = "guest", dbname: str = "lab", rest: str = "") -> Endpoint:
    return resolve(f"postgres://{user}:{password}@127.0.0.1:{port}/{dbname}{rest}", {"HOME": "/nonexistent"})


@pytest.fixture
def reader(port: int) -> Iterator[ExternalServer]:
    with ExternalServer(endpoint(port)) as target:
        yield target


@pytest.fixture
def writer(port: int) -> Iterator[ExternalServer]:
    with ExternalServer(endpoint(port), allow_write=True) as target:
        yield target


@pytest.fixture
def onlooker(port: int) -> Iterator[Connection]:
    """Another session of the same user, with no limits."""
    with psycopg.connect(**endpoint(port).connect_arguments(), autocommit=True) as session:
        yield session


def schemas(session: Connection) -> list[str]:
    rows = session.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'dbdyno%' ORDER BY 1")
    return [name for (name,) in rows]


@pytest.mark.parametrize(
    ("change", "code", "named"),
    [
        ({"password": "wrong-hunter2x"}, "wrong_password", 'password authentication failed for user "guest"'),
        ({"dbname": "nowhere"}, "unknown_database", 'database "nowhere" does not exist'),
        ({"user": "nobody_here"}, "not_admitted", "no pg_hba.conf entry"),
        ({"rest": "?sslmode=require"}, "tls_failed", "server does not support SSL"),
    ],
)
def test_refused_connection(port: int, change: dict[str, str], code: str, named: str) -> None:
    """Exit code 2 and one line that names the target, the cause and the fix, and no password."""
    with pytest.raises(DynoError) as caught, ExternalServer(endpoint(port, **change)):
        pass
    error = caught.value
    assert (error.code, error.exit_code) == (code, 2)
    assert named in error.message
    assert f"127.0.0.1:{port}" in error.message
    assert "hunter2x" not in error.message
    assert "\n" not in error.message


@pytest.mark.parametrize(
    ("url", "named"),
    [
        ("postgres://u:hunter2x@127.0.0.1:1/d", "Connection refused"),
        ("postgres://u:hunter2x@no-such-host.invalid/d", "no-such-host.invalid"),
        ("postgres://u:hunter2x@/d?host=/nonexistent", "No such file or directory"),
    ],
)
def test_unreachable(url: str, named: str) -> None:
    """A host that does not answer is exit code 2, in one line."""
    with pytest.raises(DynoError) as caught, ExternalServer(resolve(url, {"HOME": "/nonexistent"})):
        pass
    assert (caught.value.code, caught.value.exit_code) == ("unreachable", 2)
    assert named in caught.value.message
    assert "check host and port" in caught.value.message
    assert "hunter2x" not in caught.value.message
    assert "\n" not in caught.value.message


def test_version_and_processes(reader: ExternalServer) -> None:
    """The server says its version, and its backends are found in our /proc by pid and start time."""
    assert reader.server_version_number // 10000 >= 14
    assert reader.server_version.startswith(str(reader.server_version_number // 10000))
    with reader.connect() as session:
        row = session.execute("SELECT pg_backend_pid()").fetchone()
        assert row is not None
        status = Path(f"/proc/{row[0]}/status").read_text()
    assert f"PPid:\t{reader.postmaster_pid}\n" in status


def test_old_server_is_refused(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A version below the oldest supported one is refused by name."""
    monkeypatch.setattr("dbdyno.targets.external.OLDEST_MAJOR", 99)
    with pytest.raises(DynoError, match=r"PostgreSQL \d+.*; 99 is the oldest that is supported") as caught:
        ExternalServer(endpoint(port)).start()
    assert caught.value.code == "unsupported_version"


def test_reader_cannot_write(reader: ExternalServer, onlooker: Connection) -> None:
    """Every session of a reader refuses writes, and whatever needs a schema asks for the flag."""
    with reader.connect() as session, pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        session.execute("CREATE TABLE public.t (n int)")
    assert reader.session_sql == ("SET default_transaction_read_only = on",)
    for change in (lambda: reader.execute("CREATE TABLE t (n int)"), reader.workspace):
        with pytest.raises(DynoError, match="give --allow-write"):
            change()
    reader.vacuum([])
    assert schemas(onlooker) == []


def test_a_checkpoint_that_the_server_refuses_is_one_line(port: int) -> None:
    """A failure of the run, not a traceback: this user has no right to it, and a full disk fails it likewise."""
    with (
        ExternalServer(endpoint(port), allow_checkpoint=True) as target,
        pytest.raises(DynoError, match="CHECKPOINT: permission denied") as raised,
    ):
        target.checkpoint()

    assert (raised.value.code, raised.value.exit_code) == ("sql_failed", 1)


def test_server_settings_are_refused(reader: ExternalServer) -> None:
    """Nothing is applied to a server that is not ours, and no CHECKPOINT is made without its flag."""
    assert reader.apply_settings({}).values == {}
    with pytest.raises(DynoError, match=r"settings.commit_delay: server settings are changed on an embedded server"):
        reader.apply_settings({"commit_delay": 1})
    assert not reader.may_checkpoint
    with pytest.raises(DynoError, match="needs --allow-checkpoint"):
        reader.checkpoint()
    with pytest.raises(DynoError, match="give --allow-write"):
        reader.keep_template(needed=True)


def test_settings_are_those_of_a_client(reader: ExternalServer) -> None:
    """The limits of our own sessions are not mistaken for the server's settings."""
    names = ["statement_timeout", "default_transaction_read_only", "lock_timeout"]
    assert reader.read_settings(names) == dict(zip(names, ["0", "off", "0"], strict=True))
    assert not set(names) & reader.non_default_settings().keys()


def test_workspace_comes_and_goes(port: int, onlooker: Connection) -> None:
    """What a writer makes lies in one marked schema, whatever its kind, and goes with it."""
    with ExternalServer(endpoint(port), allow_write=True) as writer:
        assert schemas(onlooker) == []
        writer.execute(
            "CREATE TYPE mood AS ENUM ('good');"
            "CREATE TABLE a (id serial PRIMARY KEY, m mood); CREATE TABLE b (a int REFERENCES a, CHECK (a > 0));"
            "ALTER TABLE a ADD b int; CREATE INDEX ON b (a); CREATE VIEW v AS SELECT * FROM a;"
            "CREATE FUNCTION f() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT count(*) FROM a; END;"
            "CREATE TABLE c (n bigint DEFAULT f()); CREATE SEQUENCE s; CREATE TABLE p (n int) PARTITION BY RANGE (n);"
            "CREATE TABLE p1 PARTITION OF p DEFAULT; CREATE MATERIALIZED VIEW mv AS SELECT * FROM v"
        )
        schema = writer.workspace().schema
        assert schemas(onlooker) == [schema]
        assert writer.session_sql == (f"SET search_path = {schema}",)
        writer.vacuum([])
        writer.vacuum(["a", "b"])
        with writer.connect() as session:
            session.execute("INSERT INTO a (m) VALUES ('good')")
            assert onlooker.execute(f"SELECT count(*) FROM {schema}.a").fetchone() == (1,)
    assert schemas(onlooker) == []
    assert onlooker.execute("SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace").fetchone() == (
        0,
    )


def test_unqualified_names_do_not_reach_others(port: int, onlooker: Connection) -> None:
    """A table of somebody else in `public` is not what an unqualified name means."""
    onlooker.execute("CREATE SCHEMA theirs; CREATE TABLE theirs.accounts AS SELECT 1 AS n")
    onlooker.execute("ALTER ROLE guest IN DATABASE lab SET search_path = theirs")
    try:
        with ExternalServer(endpoint(port), allow_write=True) as writer:
            with pytest.raises(DynoError, match='relation "accounts" does not exist'):
                writer.execute("DELETE FROM accounts")
            with writer.connect() as session, pytest.raises(psycopg.errors.UndefinedTable):
                session.execute("DELETE FROM accounts")
        assert onlooker.execute("SELECT n FROM theirs.accounts").fetchall() == [(1,)]
    finally:
        onlooker.execute("ALTER ROLE guest IN DATABASE lab RESET search_path")
        onlooker.execute("DROP TABLE theirs.accounts; DROP SCHEMA theirs")


@pytest.mark.parametrize(
    ("tamper", "code"),
    [
        ("DELETE FROM {schema}.dbdyno_mark", "not_our_schema"),
        ("DROP TABLE {schema}.dbdyno_mark", "not_our_schema"),
        ("UPDATE {schema}.dbdyno_mark SET id = gen_random_uuid()", "not_our_schema"),
        ("INSERT INTO {schema}.dbdyno_mark SELECT * FROM {schema}.dbdyno_mark", "not_our_schema"),
        ("CREATE TABLE {schema}.precious (n int)", "schema_not_dropped"),
        ("CREATE FUNCTION {schema}.f() RETURNS int LANGUAGE sql RETURN 1", "schema_not_dropped"),
        ("CREATE VIEW elsewhere.v AS SELECT * FROM {schema}.ours", "schema_not_dropped"),
    ],
)
def test_nothing_is_dropped_in_doubt(port: int, onlooker: Connection, tamper: str, code: str) -> None:
    """Without our mark, or with something in it or on it that is not ours, the schema stays whole."""
    target = ExternalServer(endpoint(port), allow_write=True)
    target.start()
    try:
        target.execute("CREATE TABLE ours AS SELECT 1 AS n")
        schema = target.workspace().schema
        onlooker.execute("CREATE SCHEMA elsewhere")
        onlooker.execute(tamper.format(schema=schema).encode())
        with pytest.raises(DynoError) as caught:
            target.drop_workspace()
        assert (caught.value.code, caught.value.exit_code) == (code, 1)
        assert f"schema {schema}" in caught.value.message
        assert onlooker.execute(f"SELECT n FROM {schema}.ours").fetchall() == [(1,)]
    finally:
        target.stop()
        onlooker.execute("DROP SCHEMA IF EXISTS elsewhere CASCADE")
        for name in schemas(onlooker):
            onlooker.execute(f"DROP SCHEMA {name} CASCADE")


def test_unmarked_schema_is_not_written_to(onlooker: Connection) -> None:
    """A schema of the right name without our mark is left alone by execute, too."""
    identity = uuid.uuid4()
    workspace = Workspace(onlooker, identity)
    onlooker.execute(f"CREATE SCHEMA {workspace.schema}")
    try:
        with pytest.raises(DynoError, match="not marked as ours"):
            workspace.execute("CREATE TABLE t (n int)")
        assert onlooker.execute("SELECT count(*) FROM pg_tables WHERE tablename = 't'").fetchone() == (0,)
    finally:
        onlooker.execute(f"DROP SCHEMA {workspace.schema}")


def test_abandoned_workspace_goes_with_the_next(port: int, onlooker: Connection) -> None:
    """The schema of a run that was killed is dropped when the next one begins; that of a living run is not."""
    killed, living = (ExternalServer(endpoint(port), allow_write=True) for _ in range(2))
    killed.start()
    killed.execute("CREATE TABLE t (n int)")
    abandoned = killed.workspace().schema
    killed.stop()
    with living:
        kept = living.workspace().schema
        assert schemas(onlooker) == [kept]
        with ExternalServer(endpoint(port), allow_write=True) as third:
            assert sorted([kept, third.workspace().schema]) == schemas(onlooker)
        assert schemas(onlooker) == [kept]
    assert abandoned != kept
    assert schemas(onlooker) == []


def test_what_is_made_is_noted_or_not_made(port: int, onlooker: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill between a statement and the note of what it made must not leave a table that nobody owns up to."""
    killed = ExternalServer(endpoint(port), allow_write=True)
    killed.start()
    schema = killed.workspace().schema
    monkeypatch.setattr(Workspace, "_note_all_but", lambda *_: killed._session().close())
    with contextlib.suppress(psycopg.Error):
        killed.execute("CREATE TABLE unnoted (n int)")
    assert onlooker.execute("SELECT to_regclass(%s)", [f"{schema}.unnoted"]).fetchone() == (None,)

    monkeypatch.undo()
    with ExternalServer(endpoint(port), allow_write=True) as writer:
        assert writer.workspace().schema != schema
        writer.execute("CREATE TABLE t (n int)")
        writer.execute("CREATE INDEX CONCURRENTLY i ON t (n)")  # cannot be in a transaction
        writer.execute("VACUUM t")
    assert schemas(onlooker) == []


def test_failing_run_is_what_the_user_sees(port: int, onlooker: Connection) -> None:
    """An error within is not hidden by a schema that cannot be dropped."""
    schema = ""

    def failing_run() -> None:
        nonlocal schema
        with ExternalServer(endpoint(port), allow_write=True) as writer:
            schema = writer.workspace().schema
            onlooker.execute(f"DROP TABLE {schema}.dbdyno_mark")
            raise ValueError("the real one")

    with pytest.raises(ValueError, match="the real one"):
        failing_run()
    onlooker.execute(f"DROP SCHEMA {schema} CASCADE")


def test_counters_of_the_load(writer: ExternalServer) -> None:
    """Commits and WAL of a client that has gone are in the next reading."""
    writer.execute("CREATE TABLE counted (n int)")
    before = writer.counters()
    with writer.connect() as client:
        client.execute("SELECT set_config('application_name', %s, false)", [CLIENTS_NAME])  # those are waited for
        for number in range(50):
            client.execute("INSERT INTO counted VALUES (%s)", [number])
    after = writer.counters()
    assert 50 <= after["commits"] - before["commits"] <= 80
    assert after["wal_bytes"] > before["wal_bytes"]


def test_open_target(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A URL opens an external target, with a warning for settings that are not applied; the request hides the URL."""
    monkeypatch.setenv("HOME", "/nonexistent")
    request = TargetRequest(url=f"postgres://guest:{PASSWORD}@127.0.0.1:{port}/lab")
    assert PASSWORD not in repr(request)
    with open_target(request, {"shared_buffers": "1GB"}) as target:
        assert not target.owned
        assert [warning["code"] for warning in target.warnings] == ["target_settings_not_applied"]
        assert "shared_buffers" in target.warnings[0]["message"]
    conflict = TargetRequest(url=request.url, data_dir=Path("/tmp"))
    with pytest.raises(DynoError, match="--data-dir /tmp: is for the embedded server"), open_target(conflict, {}):
        pass


def test_standby_takes_no_writes(cache: Path) -> None:
    """A standby is measured by reading, and refused with --allow-write."""
    with EmbeddedServer() as server:
        server.execute("ALTER SYSTEM SET primary_conninfo = 'host=/nonexistent password=canary-hunter2x'")
        signal = server.data_directory / "cluster" / "standby.signal"
        signal.touch()
        if os.geteuid() == 0:
            os.chown(signal, 65534, 65534)
        server.restart()
        with ExternalServer(server.endpoint) as reader:
            assert reader.server_version == server.server_version
            assert "hunter2x" not in repr(reader.non_default_settings())
            assert reader.non_default_settings()["primary_conninfo"] == "(not recorded)"
        with pytest.raises(DynoError, match="is a standby, which takes no writes; name its primary") as caught:
            ExternalServer(server.endpoint, allow_write=True).start()
        assert caught.value.code == "standby"


def test_a_server_without_tls(port: int) -> None:
    """The load's own connections: prefer is content without, require is not."""

    def load(sslmode: str) -> dict[str, Any]:
        target = {"host": "127.0.0.1", "port": port, "user": "guest", "dbname": "lab", "sslmode": sslmode}
        spec = {
            "target": target,
            "scripts": [{"name": "one.sql", "text": "SELECT 1;", "weight": 1}],
            "clients": 1,
            "arrival": {"kind": "closed"},
            "seed": 1,
            "warm_up_ns": 0,
            "window_ns": 200_000_000,  # long enough for a unit on a busy machine
            "waits": {"route": "off"},
        }
        return engine.run_trial(spec, PASSWORD)

    assert load("prefer")["units"]["successful"] > 0
    with pytest.raises(DynoError, match="TLS failed: the server does not offer it; check sslmode") as caught:
        load("require")
    assert caught.value.exit_code == 2
