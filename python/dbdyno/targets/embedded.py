"""A PostgreSQL server of our own: made in a moment from a cached cluster, gone without a trace.

It listens on a Unix socket in a directory of mode 0700 and nowhere else.
It is a direct child (see `process`): a kill -9 of this process ends it, and the next start removes its directory.

```python
with EmbeddedServer(settings={"shared_buffers": "256MB"}) as server:
    with server.connect() as connection: ...
```
"""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import psycopg

from dbdyno.errors import EXIT_RUN_FAILED, DynoError
from dbdyno.targets import readings
from dbdyno.targets.account import server_account
from dbdyno.targets.binaries import Binaries, find_binaries, reachable_binaries
from dbdyno.targets.cache import exclusive
from dbdyno.targets.counters import read_counters
from dbdyno.targets.endpoint import Endpoint
from dbdyno.targets.leftovers import remove_leftovers
from dbdyno.targets.page_cache import Dropped, drop_from_page_cache, files_below
from dbdyno.targets.paths import Instance, cache_directory, data_parent, make_instance
from dbdyno.targets.prewarm import read_catalogs, warm_cache
from dbdyno.targets.process import start_server, stop_server
from dbdyno.targets.settings import OwnSettings, checked_settings
from dbdyno.targets.shared_memory import remove_shared_memory
from dbdyno.targets.statements import copy_rows, failing_as_run_failure, vacuum_statement
from dbdyno.targets.target import Applied, Connection, SettingValue
from dbdyno.targets.template import DATABASE, SETTINGS_FILE, SUPERUSER, copy_template, template_cluster

READY_LIMIT_S = 30.0
TEMPLATE_DATABASE = "dbdyno_template"

# Where relations lie in PGDATA; WAL and transaction status are no table's data.
_RELATION_DIRECTORIES = ("base", "global", "pg_tblspc")

# sun_path holds 107 bytes and a zero (unix(7)).
_SOCKET_DIRECTORY_BYTES_MAX = 107 - len("/.s.PGSQL.65535")


class EmbeddedServer:
    """One server of our own; a `Target`. Make, enter, leave and restart it on the main thread.

    Args:
        settings: server settings it always has, beneath those of `apply_settings`.
        server_bin: a directory with `postgres` and `initdb`; the wheel's or the system's when None.
        data_dir: the directory under test, in which the data lies; the cache directory when None.
        data_checksums: whether pages carry checksums, PostgreSQL 18's default.
        port: part of the socket's name only, unless a test makes the server listen on TCP.
        environment: where DBDYNO_CACHE_DIR and its like are looked up; `os.environ` when None.
    """

    owned = True
    may_checkpoint = True
    may_prewarm = True
    schema: str | None = "public"
    session_sql: Sequence[str] = ()
    warnings: Sequence[Mapping[str, str]] = ()

    def __init__(
        self,
        *,
        settings: Mapping[str, SettingValue] | None = None,
        server_bin: Path | None = None,
        data_dir: Path | None = None,
        data_checksums: bool = True,
        port: int = 5432,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._base_settings = checked_settings(settings or {})
        self._account = server_account()
        self._cache = cache_directory(os.environ if environment is None else environment, self._account)
        self._parent = data_parent(data_dir, self._cache, self._account)
        self._binaries = reachable_binaries(find_binaries(server_bin), self._cache, self._account)
        self._data_checksums = data_checksums
        self._port = port
        self._own_settings = OwnSettings(self.connect, self.restart, self._start_without_applied)
        self._instance: Instance | None = None
        self._endpoint: Endpoint | None = None
        self._socket_descriptor: int | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._control: Connection | None = None

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Remove what killed runs left, copy the template, start, and wait until the server answers."""
        template = template_cluster(self._binaries, self._cache, self._account, data_checksums=self._data_checksums)
        with exclusive(self._parent):
            remove_leftovers(self._parent)
            instance = self._instance = make_instance(self._parent, self._account)
        copy_template(template, instance.cluster, self._account)
        self._write_settings(instance)
        self._endpoint = Endpoint(self._client_host(instance), self._port, SUPERUSER, DATABASE, sslmode="disable")
        self._start_process()

    def stop(self) -> None:
        """End the server at once and remove its directory. Does nothing when there is none."""
        self._stop_process(keep_data=False)
        if self._socket_descriptor is not None:
            os.close(self._socket_descriptor)
            self._socket_descriptor = None
        if self._instance is not None:
            # What cannot be removed now is nobody's once the lock is released, and goes at the next start.
            shutil.rmtree(self._instance.directory, ignore_errors=True)
            self._instance.release()
            self._instance = None

    def restart(self) -> None:
        """Stop in order and start again, on the same data. Every session is lost, ours is made anew."""
        self._stop_process(keep_data=True)
        self._start_process()

    @property
    def binaries(self) -> Binaries:
        """What runs."""
        return self._binaries

    @property
    def endpoint(self) -> Endpoint:
        """Where clients connect: the same over restarts."""
        if self._endpoint is None:
            raise AssertionError("the server has not been started")
        return self._endpoint

    @property
    def data_directory(self) -> Path:
        """The directory in which PGDATA lies: ours, and on the storage under test."""
        return self._started_instance().directory

    @property
    def log(self) -> Path:
        """The server's log."""
        return self._started_instance().log

    @property
    def server_version(self) -> str:
        """As the server names it, e.g. `18.6`."""
        return self._binaries.version

    @property
    def server_version_number(self) -> int:
        """As the server counts it, e.g. 180006."""
        return self._binaries.version_number

    @property
    def postmaster_pid(self) -> int:
        """The pid of the parent of all backends; another one after a restart."""
        if self._process is None:
            raise AssertionError("the server has not been started")
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the server process runs."""
        return self._process is not None and self._process.poll() is None

    def apply_settings(self, settings: Mapping[str, SettingValue]) -> Applied:
        """Make exactly these server settings effective, beside those of the constructor, and read them back."""
        return self._own_settings.apply(settings)

    def read_settings(self, names: Sequence[str]) -> dict[str, str]:
        """Settings as a new session sees them."""
        with self.connect() as session:
            return readings.read_settings(session, names)

    def non_default_settings(self) -> dict[str, str]:
        """All settings that differ from the built-in default."""
        return readings.non_default_settings(self._session())

    def checkpoint(self) -> None:
        """CHECKPOINT."""
        self.execute("CHECKPOINT")

    def vacuum(self, tables: Sequence[str]) -> None:
        """VACUUM (ANALYZE) these tables, or the whole database."""
        session = self._session()
        with failing_as_run_failure("VACUUM"):
            session.execute(vacuum_statement(tables))

    def analyze(self) -> None:
        """ANALYZE the whole database."""
        self.execute("ANALYZE")

    def cold_cache(self) -> Dropped:
        """Stop (which takes a checkpoint), drop all relation files from the page cache, start with empty buffers.

        The system's catalogs are read again: what is to be cold is what is measured, not the planning of it.
        """
        self._create_prewarm()
        cluster = self._started_instance().cluster
        self._stop_process(keep_data=True)
        try:
            dropped = drop_from_page_cache(files_below(cluster / name for name in _RELATION_DIRECTORIES))
        finally:
            self._start_process()
        read_catalogs(self._session())
        return dropped

    def warm_cache(self) -> dict[str, int]:
        """Read all tables and indexes into shared buffers."""
        self._create_prewarm()
        return warm_cache(self._session(), schema=None)

    def _create_prewarm(self) -> None:
        self.execute("CREATE EXTENSION IF NOT EXISTS pg_prewarm")

    def execute(self, sql: str) -> None:
        """Run one or more statements on the control connection."""
        session = self._session()
        with failing_as_run_failure(sql):
            session.execute(sql.encode())

    def copy(self, table: str, columns: Sequence[str], chunks: Iterable[bytes]) -> None:
        """COPY rows in text format into a table."""
        copy_rows(self._session(), table, columns, chunks)

    def keep_template(self, *, needed: bool) -> None:
        """Keep a copy of the database as it is now, in place of an earlier one."""
        if needed:
            self._replace_database(TEMPLATE_DATABASE, DATABASE)

    def restore(self, build: Callable[[], None]) -> int:
        """Make the database anew from the kept copy; every session in it is ended. Nothing is built."""
        return self._replace_database(DATABASE, TEMPLATE_DATABASE)

    def counters(self) -> dict[str, int]:
        """The counters since the cluster was made."""
        return read_counters(self._session())

    def connect(self) -> Connection:
        """A new superuser session in autocommit."""
        return self._connected(self.endpoint)

    def _connected(self, endpoint: Endpoint) -> Connection:
        try:
            return psycopg.connect(**endpoint.connect_arguments(), autocommit=True, connect_timeout=10)
        except psycopg.OperationalError as error:
            raise DynoError(
                "server_gone", f"the embedded server does not answer: {self._last_words()}", exit_code=EXIT_RUN_FAILED
            ) from error

    def _replace_database(self, name: str, source: str) -> int:
        """Copy files rather than log every page (the default since 15): a trial must not begin in that much WAL.

        Nor are they cloned (file_copy_method, since 18): where the file system shares blocks, the trial would pay for
        the first write to each; where it does not, it is no faster (500 MB on ext4: 1.4 s, and 1.1 s by copying).
        """
        self._close_control()
        strategy = " STRATEGY FILE_COPY" if self.server_version_number >= 150000 else ""
        elsewhere = dataclasses.replace(self.endpoint, dbname="postgres")
        with failing_as_run_failure(f"CREATE DATABASE {name}"), self._connected(elsewhere) as session:
            session.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())
            session.execute(f"CREATE DATABASE {name} TEMPLATE {source}{strategy}".encode())
            row = session.execute("SELECT pg_database_size(%s)", [name]).fetchone()
        assert row is not None
        return int(row[0])

    def _session(self) -> Connection:
        if self._control is None or self._control.closed:
            self._control = self.connect()
        return self._control

    def _started_instance(self) -> Instance:
        if self._instance is None:
            raise AssertionError("the server has not been started")
        return self._instance

    def _client_host(self, instance: Instance) -> str:
        """The socket's directory; by way of a descriptor of ours where its path is too long for a socket address.

        A directory with a short name in /tmp would do as well, but a kill -9 would leave it there.
        """
        if len(os.fsencode(instance.socket)) <= _SOCKET_DIRECTORY_BYTES_MAX:
            return str(instance.socket)
        self._socket_descriptor = os.open(instance.socket, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        return f"/proc/{os.getpid()}/fd/{self._socket_descriptor}"

    def _write_settings(self, instance: Instance) -> None:
        lines = [
            "listen_addresses = ''",
            "unix_socket_directories = '../socket'",  # from PGDATA, the server's working directory: never too long
            f"port = {self._port}",
            *(f"{name} = '{_quoted(value)}'" for name, value in self._base_settings.items()),
        ]
        path = instance.cluster / SETTINGS_FILE
        path.write_text("".join(f"{line}\n" for line in lines))
        self._account.own(path)

    def _start_process(self) -> None:
        instance = self._started_instance()
        log_begins = instance.log.stat().st_size if instance.log.exists() else 0
        command = [str(self._binaries.postgres), "-D", str(instance.cluster)]
        self._process = start_server(command, instance.log, self._account)
        limit = time.monotonic() + READY_LIMIT_S
        while not self._answers():
            if self._process.poll() is not None:
                raise self._start_failure(log_begins)
            if time.monotonic() > limit:
                self._stop_process(keep_data=False)
                raise DynoError(
                    "server_start_failed",
                    f"the embedded server does not answer after {READY_LIMIT_S:g} s: {self._last_words()}",
                    exit_code=EXIT_RUN_FAILED,
                )
            time.sleep(0.005)

    def _answers(self) -> bool:
        try:
            self._control = psycopg.connect(**self.endpoint.connect_arguments(), autocommit=True, connect_timeout=5)
        except psycopg.OperationalError:
            return False
        return True

    def _close_control(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None

    def _stop_process(self, *, keep_data: bool) -> None:
        self._close_control()
        if self._process is not None:
            cleaned_up = stop_server(self._process, keep_data=keep_data)
            self._process = None
            if not cleaned_up:
                remove_shared_memory(self._started_instance().cluster)

    def _start_without_applied(self) -> None:
        (self._started_instance().cluster / "postgresql.auto.conf").write_text("")
        self._start_process()

    def _start_failure(self, log_begins: int) -> DynoError:
        lines = self.log.read_bytes()[log_begins:].decode(errors="replace").splitlines()
        fatal = next((line for line in lines if " FATAL: " in line or " PANIC: " in line), lines[-1] if lines else "")
        if SETTINGS_FILE in fatal:  # "... contains errors": the first line says which
            return DynoError("bad_setting", f"target.settings: {_message(lines[0]).partition(' in file ')[0]}")
        cause = _message(fatal) or "it says nothing"
        return DynoError("server_start_failed", f"the embedded server ends: {cause}", exit_code=EXIT_RUN_FAILED)

    def _last_words(self) -> str:
        if self._instance is None or not self._instance.log.exists():
            return "it has no log"
        lines = self._instance.log.read_text(errors="replace").splitlines()
        return _message(lines[-1]) if lines else "its log is empty"


def _quoted(value: str) -> str:
    return value.replace("\\", "\\\\").replace("'", "''")


def _message(log_line: str) -> str:
    """A line of the server's log without its time, pid and severity."""
    for severity in ("FATAL", "PANIC", "ERROR", "LOG"):
        _, found, message = log_line.partition(f" {severity}:  ")
        if found:
            return message
    return log_line
