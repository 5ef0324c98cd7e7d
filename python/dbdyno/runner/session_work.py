"""What the clients of an arm do: the load engine's trial, and, where answers are compared, what it held and used."""

from __future__ import annotations

from typing import Any

from dbdyno import engine
from dbdyno.design.experiment import Experiment
from dbdyno.errors import DynoError
from dbdyno.probes.work_watch import SessionProcesses, WorkWatch
from dbdyno.runner.prepare import Prepared, session_statements
from dbdyno.runner.spec import trial_spec
from dbdyno.targets.target import Target

Document = dict[str, Any]


class SessionWork:
    """One trial of `prepared` with the seed of its block."""

    def __init__(
        self, experiment: Experiment, target: Target, prepared: Prepared, seed: int, live: engine.Watcher | None
    ) -> None:
        self._target = target
        self._is_watched = bool(experiment.truth)
        self._live = live
        self._record: Document = {}
        self._spec = trial_spec(
            experiment,
            prepared.arm,
            endpoint=target.endpoint,
            session_sql=[*target.session_sql, *session_statements(prepared.session)],
            postmaster_pid=target.postmaster_pid,
            seed=seed,
        )

    def run(self) -> Document:
        """Does the work; raises `DynoError` where no unit of it succeeded."""
        pid = self._target.postmaster_pid
        if not self._is_watched or pid is None:
            return self._load()
        processes = SessionProcesses(pid)
        with WorkWatch(processes) as watch:
            outcome = self._load()
        own_ns = outcome["profile"]["cpu_ns"]
        workers_ns = sum(watch.cpu_ns.get(worker, 0) for worker in processes.workers())
        self._record = {
            "memory_bytes": watch.memory_bytes,
            "cpu_ns": None if own_ns is None else own_ns + workers_ns,
        }
        return outcome

    def record(self) -> Document:
        """What the trial's record has beside it: memory of the session and its workers, and the CPU of them all."""
        return {"work": self._record} if self._record else {}

    def _load(self) -> Document:
        password = self._target.endpoint.password
        outcome = engine.run_trial(self._spec, password.reveal() if password else None, self._live)
        _check_units(outcome)
        return outcome


def _check_units(outcome: Document) -> None:
    """A trial without a unit of work has no figures, so its block could not be compared: it is repeated instead."""
    units = outcome["units"]
    if units["successful"] == 0:
        failed = f", {units['failed']:,} failed" if units["failed"] else ""
        raise DynoError("no_unit", f"no unit of work succeeded within the window{failed}; use a longer window")
