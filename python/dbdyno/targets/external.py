"""A server that somebody else started: we read, and write only where we may.

Every session of ours has `default_transaction_read_only = on`, until `allow_write` has let us create a `Workspace`: a
schema that carries our mark. From then on sessions may write, and an unqualified name means that schema only.
Server settings are never changed; statistics are never reset; CHECKPOINT needs a flag of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import TracebackType
from typing import Self

import psycopg

from dbdyno.errors import DynoError
from dbdyno.targets import readings
from dbdyno.targets.binaries import OLDEST_MAJOR
from dbdyno.targets.connecting import CONNECT_LIMIT_S, connection_failure
from dbdyno.targets.counters import read_counters
from dbdyno.targets.endpoint import Endpoint
from dbdyno.targets.page_cache import Dropped
from dbdyno.targets.prewarm import prewarm_schema, warm_cache
from dbdyno.targets.same_host import find_postmaster
from dbdyno.targets.statements import analyze_statement, failing_as_run_failure, vacuum_statement
from dbdyno.targets.target import Applied, Connection, SettingValue
from dbdyno.targets.workspace import Workspace, remove_abandoned

# Limits of control sessions: a laboratory must not hold up the server that it looks at. Loading a schema takes longer
# than looking.
_READING_LIMITS = {
    "statement_timeout": "30s",
    "lock_timeout": "2s",
    "idle_in_transaction_session_timeout": "30s",
    "default_transaction_read_only": "on",
}
_WRITING_LIMITS = {
    "statement_timeout": "30min",
    "lock_timeout": "10s",
    "idle_in_transaction_session_timeout": "60s",
    "default_transaction_read_only": "off",
}


class ExternalServer:
    """A server by its endpoint; a `Target`.

    Args:
        endpoint: where it is and who we are.
        allow_write: `--allow-write`: permit a workspace.
        allow_checkpoint: permit CHECKPOINT, which every user of the server feels.
        warnings: what was asked and cannot be done on such a server.
    """

    owned = False
    data_directory: Path | None = None
    log: Path | None = None

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        allow_write: bool = False,
        allow_checkpoint: bool = False,
        warnings: Sequence[Mapping[str, str]] = (),
    ) -> None:
        self._endpoint = endpoint
        self._allow_write = allow_write
        self.may_checkpoint = allow_checkpoint
        self.warnings = warnings
        self._control: Connection | None = None
        self._workspace: Workspace | None = None
        self._postmaster_pid: int | None = None
        self._version = ""
        self._version_number = 0

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.drop_workspace()
        except DynoError:
            if error is None:  # what failed first is what the user must see
                raise
        finally:
            self.stop()

    def start(self) -> None:
        """Connect, and refuse a server that cannot be measured as asked."""
        try:
            session = self._session()
            self._check_server(session)
            self._postmaster_pid = find_postmaster(session)
        except BaseException:
            self.stop()
            raise

    def _check_server(self, session: Connection) -> None:
        self._version = session.info.parameter_status("server_version") or ""
        self._version_number = session.info.server_version
        shown = self._endpoint.display()
        if self._version_number < OLDEST_MAJOR * 10000:
            raise DynoError(
                "unsupported_version",
                f"target {shown}: PostgreSQL {self._version}; {OLDEST_MAJOR} is the oldest that is supported",
            )
        if self._allow_write and session.execute("SELECT pg_is_in_recovery()").fetchone() == (True,):
            raise DynoError(
                "standby", f"--allow-write: target {shown} is a standby, which takes no writes; name its primary"
            )

    def stop(self) -> None:
        """Close our connection. A workspace stays until `drop_workspace`."""
        if self._control is not None:
            self._control.close()
            self._control = None

    @property
    def endpoint(self) -> Endpoint:
        """Where clients connect."""
        return self._endpoint

    @property
    def server_version(self) -> str:
        """As the server names it."""
        return self._version.split()[0] if self._version else ""

    @property
    def server_version_number(self) -> int:
        """As the server counts it."""
        return self._version_number

    @property
    def postmaster_pid(self) -> int | None:
        """The parent of all backends in our /proc; None for a server elsewhere."""
        return self._postmaster_pid

    def workspace(self) -> Workspace:
        """The schema that we may write to, created at the first call."""
        if not self._allow_write:
            raise DynoError(
                "write_not_allowed",
                f"target {self._endpoint.display()}: this needs a schema of its own there; give --allow-write",
            )
        if self._workspace is None:
            session = self._session()
            _limit(session, _WRITING_LIMITS)
            remove_abandoned(session)
            self._workspace = Workspace.create(session, _tool_version())
        return self._workspace

    def drop_workspace(self) -> None:
        """Drop the workspace, if there is one; see `Workspace.drop`."""
        if self._workspace is not None:
            self._workspace.drop()
            self._workspace = None

    def apply_settings(self, settings: Mapping[str, SettingValue]) -> Applied:
        """Nothing for no settings; anything else is refused: the server is not ours."""
        if settings:
            name = next(iter(settings))
            raise DynoError(
                "not_our_server",
                f"settings.{name}: server settings are changed on an embedded server only; "
                "leave --target out, or use a session setting (set)",
            )
        return Applied((), (), {})

    def read_settings(self, names: Sequence[str]) -> dict[str, str]:
        """Settings as a new session of a client sees them, without the limits of our own sessions."""
        with self._connected() as session:
            return readings.read_settings(session, names)

    def non_default_settings(self) -> dict[str, str]:
        """All settings that differ from the built-in default and that we may see."""
        with self._connected() as session:
            return readings.non_default_settings(session)

    def checkpoint(self) -> None:
        """CHECKPOINT, if it was allowed."""
        if not self.may_checkpoint:
            raise DynoError(
                "checkpoint_not_allowed",
                f"reset: CHECKPOINT on {self._endpoint.display()}, which dbdyno did not start, "
                "needs --allow-checkpoint; or take it out of design.reset",
            )
        with failing_as_run_failure("CHECKPOINT"):
            self._session().execute("CHECKPOINT")

    def vacuum(self, tables: Sequence[str]) -> None:
        """VACUUM (ANALYZE) tables of our workspace, by their unqualified names; all of them when none is named."""
        if self._workspace is None:
            return
        schema = self._workspace.schema
        session = self._session()
        names = list(tables) or self._own_tables(session, schema)
        if names:
            with failing_as_run_failure("VACUUM"):
                session.execute(vacuum_statement([f"{schema}.{name}" for name in names]))

    def analyze(self) -> None:
        """ANALYZE the tables of our workspace."""
        if self._workspace is None:
            return
        session = self._session()
        names = self._own_tables(session, self._workspace.schema)
        if names:
            with failing_as_run_failure("ANALYZE"):
                session.execute(analyze_statement([f"{self._workspace.schema}.{name}" for name in names]))

    @property
    def may_prewarm(self) -> bool:
        """Whether there are tables of ours, and pg_prewarm: an extension is the whole database's, we create none."""
        return self._allow_write and prewarm_schema(self._session()) is not None

    def cold_cache(self) -> Dropped:
        """Never called: `prepare_arms` leaves out an arm that needs it."""
        raise AssertionError("cold-cache on a server that is not ours")

    def warm_cache(self) -> dict[str, int]:
        """Read the workspace's tables and indexes into shared buffers, others' pages out of them."""
        return warm_cache(self._session(), self.workspace().schema)

    def execute(self, sql: str) -> None:
        """Run statements in the workspace."""
        self.workspace().execute(sql)

    def copy(self, table: str, columns: Sequence[str], chunks: Iterable[bytes]) -> None:
        """COPY rows in text format into a table of the workspace, by its unqualified name."""
        self.workspace().copy(table, columns, chunks)

    def keep_template(self, *, needed: bool) -> None:
        """No copy: `restore` builds again what is ours. Refused without a workspace to build it in."""
        if needed:
            self.workspace()

    def restore(self, build: Callable[[], None]) -> int:
        """Drop everything in the workspace and build it again."""
        workspace = self.workspace()
        workspace.clear()
        build()
        return workspace.relation_bytes()

    def counters(self) -> dict[str, int]:
        """The counters, with others' work in them."""
        return read_counters(self._session())

    @property
    def schema(self) -> str | None:
        """The workspace's; None where there is none, whatever the server holds beside it."""
        return None if self._workspace is None else self._workspace.schema

    @property
    def session_sql(self) -> Sequence[str]:
        """Read-only, or writing with nothing but our own schema in reach of an unqualified name."""
        if self._workspace is None:
            return ("SET default_transaction_read_only = on",)
        return (f"SET search_path = {self._workspace.schema}",)

    def connect(self) -> Connection:
        """A new session in autocommit with our limits; read-only until there is a workspace."""
        session = self._connected()
        try:
            _limit(session, _READING_LIMITS if self._workspace is None else _WRITING_LIMITS)
            for statement in self.session_sql:
                session.execute(statement.encode())
        except BaseException:
            session.close()
            raise
        return session

    def _session(self) -> Connection:
        if self._control is None or self._control.closed:
            self._control = self.connect()
        return self._control

    def _connected(self) -> Connection:
        arguments = self._endpoint.connect_arguments()
        try:
            return psycopg.connect(**arguments, autocommit=True, connect_timeout=CONNECT_LIMIT_S)
        except psycopg.OperationalError as error:
            raise connection_failure(self._endpoint, error) from None  # its frames hold the arguments

    @staticmethod
    def _own_tables(session: Connection, schema: str) -> list[str]:
        rows = session.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s ORDER BY 1", [schema])
        return [name for (name,) in rows]


def _limit(session: Connection, limits: Mapping[str, str]) -> None:
    for name, value in limits.items():
        session.execute("SELECT set_config(%s, %s, false)", [name, value])


def _tool_version() -> str:
    try:
        return version("dbdyno")
    except PackageNotFoundError:
        return "not installed"
