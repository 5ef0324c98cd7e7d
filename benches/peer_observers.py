"""Ways to see where the sessions of a server spend their time, each as the share of that time that it gives a part.

    none       nobody looks
    run        dbdyno's sampler inside a trial, as `dbdyno run` has it
    profile    dbdyno from outside, as `dbdyno profile` does it, its control connection included
    activity   pg_stat_activity, polled by one connection as fast as it answers
    sampling   pg_wait_sampling's profile, at the period asked for

Who does not tell a part has no entry for it.
`NO_EVENT` is what has no wait event at all: CPU, run queue and unnamed sleep together, which all of them know.
"""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dbdyno.analysis.server_profile import analyse
from dbdyno.attach.find import FoundServer
from dbdyno.attach.measure import Wish, measure
from dbdyno.attach.session import connect
from dbdyno.targets.embedded import EmbeddedServer

SLEEP, CPU, RUN_QUEUE, LOCK, UNNAMED, IDLE, NO_EVENT = (
    "pg_sleep",
    "CPU",
    "run queue",
    "row lock",
    "asleep, no event",
    "client thinks",
    "no wait event",
)
APPLICATION_NAME = "dbdyno peers"
CLIENTS = 4
BUDGET = 0.01  # `dbdyno run`'s and `dbdyno profile`'s default

Shares = dict[str, float]


@dataclasses.dataclass(frozen=True, slots=True)
class Seen:
    """What an observer says, how often it looked, and its CPU as shares of one CPU, outside the server and inside."""

    shares: Shares
    looks_per_s: float
    observer_cpu: float
    server_cpu: float


class Silent:
    """Takes what `measure` shows meanwhile and shows nothing."""

    def take_step(self, step: Mapping[str, Any]) -> None:
        """Nothing."""

    def take_sessions(self, sessions: object, blocking: object) -> None:
        """Nothing."""

    def tick(self) -> bool:
        """Go on."""
        return True


def process_cpu_ns(pid: int) -> int:
    """What a process has computed so far, by the kernel's clock."""
    return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[0])


def by_run(outcome: Mapping[str, Any]) -> Seen:
    """What the trial itself says; its profile is of units of work, so the idle time is what they leave."""
    profile, units = outcome["profile"], outcome["units"]
    per_unit = outcome["throughput_per_s"] / CLIENTS / (units["successful"] + units["failed"]) / 1e9
    parts = {
        "cpu": profile["cpu_ns"],
        "run_queue": profile["run_queue_ns"],
        "asleep_no_wait_event": profile["asleep_no_wait_event_ns"],
    }
    shares = _our_shares(parts, profile["waits_ns"], per_unit) | {IDLE: 1 - profile["total_ns"] * per_unit}
    elapsed_ns = outcome["elapsed_ns"]
    return Seen(
        shares, profile["snapshots"] / elapsed_ns * 1e9, profile["sampler_cpu_ns"] / profile["sampler_elapsed_ns"], 0.0
    )


def record_profile(server: EmbeddedServer, seconds: float) -> dict[str, Any]:
    """The record of a `dbdyno profile` of so many seconds."""
    session = connect(server.endpoint)
    with contextlib.closing(session), TemporaryDirectory() as directory:
        found = FoundServer("pid", "peers", "peers", server.postmaster_pid, server.endpoint, session)
        wish = Wish(seconds=seconds, budget=BUDGET, route="auto", stacks=False)
        return measure(found, wish, Path(directory) / "snapshots.parquet", Silent())


def by_profile(record: dict[str, Any]) -> Seen:
    """What it concludes; computed when the load is over, as somebody would on another machine."""
    watch = record["watch"]
    (clients,) = (share for share in analyse(record).by_application if share.name == APPLICATION_NAME)
    parts = dataclasses.asdict(clients.profile_ns)
    per_ns = 1 / watch["elapsed_ns"] / CLIENTS
    shares = _our_shares(parts, parts["waits"], per_ns) | {IDLE: 1 - clients.ns.estimate * per_ns}
    return Seen(
        shares,
        looks_per_s=watch["sweeps"] / watch["elapsed_ns"] * 1e9,
        observer_cpu=watch["sampler"]["cpu_ns"] / watch["elapsed_ns"],
        server_cpu=record["sessions"]["cpu_ns_server"] / watch["elapsed_ns"],
    )


def _our_shares(parts: Mapping[str, float], waits: Mapping[str, float], factor: float) -> Shares:
    shares = {
        SLEEP: waits.get("Timeout:PgSleep", 0) * factor,
        CPU: parts["cpu"] * factor,
        RUN_QUEUE: parts["run_queue"] * factor,
        LOCK: sum(ns for event, ns in waits.items() if event.startswith("Lock:")) * factor,
        UNNAMED: parts["asleep_no_wait_event"] * factor,
    }
    return shares | {NO_EVENT: shares[CPU] + shares[RUN_QUEUE] + shares[UNNAMED]}


def by_activity(server: EmbeddedServer, seconds: float) -> Seen:
    """Rows of pg_stat_activity, each with the same weight; active without a wait event counts as CPU, as is usual."""
    rows: Counter[tuple[str | None, ...]] = Counter()
    polls = 0
    with server.connect() as session:
        pid = session.info.backend_pid
        server_cpu_ns, observer_cpu_ns, began = -process_cpu_ns(pid), -time.thread_time_ns(), time.monotonic()
        while time.monotonic() < began + seconds:
            rows.update(
                session.execute(
                    "SELECT state, wait_event_type, wait_event FROM pg_stat_activity WHERE application_name = %s",
                    [APPLICATION_NAME],
                    prepare=True,
                ).fetchall()
            )
            polls += 1
        elapsed_s = time.monotonic() - began
        server_cpu_ns += process_cpu_ns(pid)
        observer_cpu_ns += time.thread_time_ns()
    active = {row[1:]: count / rows.total() for row, count in rows.items() if row[0] == "active"}
    shares = _event_shares((*event, share) for event, share in active.items())
    shares |= {CPU: active.get((None, None), 0.0), NO_EVENT: active.get((None, None), 0.0)}
    shares[IDLE] = sum(count for row, count in rows.items() if row[0] == "idle") / rows.total()
    return Seen(shares, polls / elapsed_s, observer_cpu_ns / elapsed_s / 1e9, server_cpu_ns / elapsed_s / 1e9)


def by_sampling(server: EmbeddedServer, seconds: float) -> Seen:
    """Counts of pg_wait_sampling over the number of its looks, which a process that always waits tells.

    Version 1.1.4 does not count looks that found no wait event: what is left of the looks is those.
    """
    with server.connect() as session:
        clients = "SELECT pid FROM pg_stat_activity WHERE application_name = %s"
        pids = {pid for (pid,) in session.execute(clients, [APPLICATION_NAME])}
        collector = _collector_pid(server)
        session.execute("SELECT pg_wait_sampling_reset_profile()")
        server_cpu_ns, began = -process_cpu_ns(collector), time.monotonic()
        time.sleep(seconds)
        rows = session.execute("SELECT pid, event_type, event, count FROM pg_wait_sampling_profile").fetchall()
        elapsed_s = time.monotonic() - began
        server_cpu_ns += process_cpu_ns(collector)
    looks = max(sum(count for of, _, _, count in rows if of == pid) for pid in {row[0] for row in rows} - pids)
    counts = [(kind, event, count / looks / CLIENTS) for pid, kind, event, count in rows if pid in pids]
    shares = _event_shares(counts)
    shares[IDLE] = sum(share for _, event, share in counts if event == "ClientRead")
    shares[NO_EVENT] = 1 - sum(share for _, _, share in counts)
    return Seen(shares, looks / elapsed_s, 0.0, server_cpu_ns / elapsed_s / 1e9)


def _collector_pid(server: EmbeddedServer) -> int:
    with server.connect() as session:
        row = session.execute(
            "SELECT pid FROM pg_stat_activity WHERE backend_type = 'pg_wait_sampling collector'"
        ).fetchone()
    assert row is not None
    return int(row[0])


def _event_shares(counts: Iterable[tuple[Any, ...]]) -> Shares:
    shares = {SLEEP: 0.0, LOCK: 0.0}
    for kind, event, share in counts:
        if event == "PgSleep":
            shares[SLEEP] += share
        elif kind == "Lock":
            shares[LOCK] += share
    return shares
