"""The work of an arm that another engine does: one process a trial, watched from here (`dbdyno.peers`).

The time profile is that of the thread that asks the engine, by its own clocks: CPU, run queue, and the rest asleep.
Of `ndv-copy` it is that of the core's thread, which reads the rows and ends with them, seen from here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dbdyno import engine
from dbdyno.design.arm import Arm
from dbdyno.design.engine_work import columns_and_table
from dbdyno.probes.process_work import io_counts
from dbdyno.probes.thread_clocks import ThreadClocks, ThreadTimes
from dbdyno.probes.work_watch import PERIOD_S, SessionProcesses, WorkWatch, anonymous_bytes
from dbdyno.runner.histogram import distribution
from dbdyno.runner.own_outcome import course, own_profile
from dbdyno.runner.peer_process import Process, ask, started
from dbdyno.runner.read_back import ReadBack, Seen
from dbdyno.targets.page_cache import drop_from_page_cache
from dbdyno.targets.target import Target

Document = dict[str, Any]
NDV_COPY = "ndv-copy"
# What the reader of a COPY sleeps in: the server makes the rows meanwhile.
SERVER_ROWS = "Server:Rows"


class PeerWork:
    """A process with everything open; `seen` are the arm's settings as the engine shows them."""

    def __init__(self, arm: Arm, target: Target, process: Process, statement: str, file: Path | None) -> None:
        self._arm = arm
        self._target = target
        self._process = process
        self._statement = statement
        self._file = file
        self.seen = ReadBack({}, ())
        self._version = ""
        self._record: Document = {}

    def open(self, spec: Mapping[str, Any]) -> None:
        """Until it is ready."""
        ready = ask(spec["engine"], self._process, json.dumps(spec))
        self.seen = _read_back(spec["settings"], ready["settings"])
        self._version = ready["version"]

    def run(self) -> Document:
        """Does the work; the outcome of the trial, as the engine has it (docs/architecture.md)."""
        pid = self._process.pid
        clocks, held_before, io_before = ThreadClocks(pid), anonymous_bytes(pid) or 0, io_counts(pid)
        sessions = self._sessions()
        with WorkWatch(lambda: [pid, *(sessions() if sessions else ())]) as watch:
            done = ask(str(self._arm.engine), self._process, "go", (PERIOD_S, clocks.look))
        clocks.look()
        own_ns, server_ns = clocks.cpu_ns(), sum(ns for each, ns in watch.cpu_ns.items() if each != pid)
        self._record = {
            "version": self._version,
            "memory_bytes": max(0, watch.memory_bytes - held_before),
            "cpu_ns": None if own_ns is None else own_ns + server_ns,
            **{f"{kind}_bytes": count - io_before[kind] for kind, count in io_counts(pid).items()},
            "file_bytes": None if self._file is None else self._file.stat().st_size,
        }
        elapsed_ns = done["elapsed_ns"]
        return {
            **course([elapsed_ns], done["started_at_ns"], elapsed_ns),
            "scripts": [self._script(elapsed_ns, rows=1 if done["row"] else 0)],
            "captured": done["row"],
            "profile": _profile_of_reader(elapsed_ns, clocks.busiest())
            if self._arm.engine == NDV_COPY
            else own_profile(elapsed_ns, done["cpu_ns"], done["run_queue_ns"]),
        }

    def record(self) -> Document:
        """What the trial's record has of the process: memory beyond what it held before, CPU, bytes moved."""
        return self._record

    def _sessions(self) -> SessionProcesses | None:
        """The server's part of the work, where it has one."""
        pid = self._target.postmaster_pid
        return SessionProcesses(pid) if self._arm.engine == NDV_COPY and pid is not None else None

    def _script(self, elapsed_ns: int, rows: int) -> Document:
        time = distribution([elapsed_ns])
        statement = {"line": 1, "text": self._statement, "rows": rows, "rows_affected": 0, "service_time": time}
        return {
            **{"name": self._arm.scripts[0].name, "successful": 1, "failed": 0, "response_time": time},
            **{"snapshots": [], "statements": [{**statement, "snapshots": []}]},
        }


@contextmanager
def opened(
    arm: Arm, session: Mapping[str, str], target: Target, files: Mapping[str, Path], seed: int
) -> Iterator[PeerWork]:
    """The process of one trial, ready; gone when left, and with us if we are killed.

    Args:
        arm: what is done.
        session: the engine's settings.
        target: the server beside which it is done.
        files: the tables, by engine.
        seed: of the block.
    """
    assert arm.engine is not None
    script = arm.scripts[0]
    statement = engine.sample_statements(script.name, script.text, arm.variables, seed, "simple")[0]["sql"]
    spec: Document = {"engine": arm.engine, "statement": statement, "settings": dict(session)}
    if arm.engine == NDV_COPY:
        spec |= _scan(statement, target, seed)
    else:
        spec["path"] = str(files[arm.engine])
        _set_cache(files[arm.engine], cold="cold-cache" in arm.reset)
    directory = target.data_directory
    # Temporary files lie on the storage under test, as the server's do.
    with started(environment={} if directory is None else {"SQLITE_TMPDIR": str(directory)}) as process:
        work = PeerWork(arm, target, process, statement, files.get(arm.engine))
        work.open(spec)
        yield work


def _set_cache(file: Path, *, cold: bool) -> None:
    """The system's page cache holds nothing of the file, or all of it: what lay idle for a while may have left it."""
    if cold:
        drop_from_page_cache([file], only_these=True)
        return
    with file.open("rb", buffering=0) as whole:
        while whole.read(1 << 20):
            pass


def _profile_of_reader(elapsed_ns: int, reader: ThreadTimes | None) -> Document:
    if reader is None:
        return own_profile(elapsed_ns, 0, None)
    return own_profile(elapsed_ns, reader.cpu_ns, reader.run_queue_ns, SERVER_ROWS)


def _read_back(wanted: Mapping[str, str], shown: Mapping[str, str]) -> ReadBack:
    """A value is written in the experiment file as the engine shows it."""
    seen = {name: Seen(value, None, False, "string", None) for name, value in shown.items()}
    deviations = [
        f"{name}: set to {value}, the engine says {shown.get(name, 'nothing')}"
        for name, value in wanted.items()
        if shown.get(name) != value
    ]
    return ReadBack(seen, deviations)


def _scan(statement: str, target: Target, seed: int) -> Document:
    named = columns_and_table(statement)
    assert named is not None  # or the experiment had been refused
    columns, table = named
    endpoint = target.endpoint
    return {
        "columns": columns,
        "table": f"{target.schema}.{table}" if target.schema else table,
        "endpoint": {
            **{"host": endpoint.host, "port": endpoint.port, "user": endpoint.user, "dbname": endpoint.dbname},
            **{"sslmode": endpoint.sslmode, "sslrootcert": endpoint.sslrootcert},
        },
        "password": endpoint.password.reveal() if endpoint.password else None,
        "seed": seed,
    }
