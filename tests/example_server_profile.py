"""Profiles of a server built by hand for the page: a busy one, one of an idle server, and one with hostile names.

The page never checks whether an interval follows from the snapshots, so figures only have to look like a profile's;
parts sum to the database time all the same, because the page promises that they do.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from dbdyno.analysis.findings import Estimate, Warning
from dbdyno.analysis.server_profile.findings import (
    FORMAT,
    ActiveSessions,
    BackgroundProcess,
    Blocker,
    Bootstrap,
    Commits,
    Evidence,
    Finding,
    HeatMap,
    IoLine,
    Part,
    QueryTime,
    Sampler,
    ServerProfile,
    SessionTime,
    Share,
    TimeParts,
    Wait,
)

STEPS, STEP_NS, S = 30, 1_000_000_000, 1e9
CLASSES = {"LWLock": 1.9, "IO": 1.6, "CPU": 1.1, "run queue": 0.6, "Lock": 0.5, "no event": 0.1, "IPC": 0.05}
PARTS = {
    "LWLock:WALWrite": 1.7, "IO:WalSync": 1.35, "cpu": 1.1, "run_queue": 0.6, "Lock:transactionid": 0.45,
    "IO:DataFileRead": 0.25, "LWLock:WALInsert": 0.2, "asleep_no_wait_event": 0.1, "Lock:tuple": 0.05,
    "IPC:ProcArrayGroupUpdate": 0.05, "unaccounted": -0.04, "client_and_network": 0.0,
}  # fmt: skip
GROUPS = [1, 2, 3, 4, 4, 6, 6, 8, 9, 9, 11, 12]
UPDATE = "UPDATE pgbench_accounts SET abalance = abalance + $1 WHERE aid = $2"
SELECT = (
    "SELECT c.name, sum(o.amount) AS total FROM customers AS c JOIN orders AS o ON o.customer = c.id "
    "WHERE o.placed BETWEEN $1 AND $2 AND c.region IN ($3, $4, $5) GROUP BY c.name ORDER BY total DESC LIMIT $6"
)


def busy(seed: int = 1) -> ServerProfile:
    """Ten sessions commit as fast as they can for half a minute, one holds a row lock while its client thinks."""
    random = np.random.default_rng(seed)
    sessions = _active_sessions(random)
    scale = sum(map(sum, sessions.series)) * STEP_NS / (sum(PARTS.values()) - PARTS["unaccounted"])
    whole = {part: mean * scale for part, mean in PARTS.items()}
    parts = _time_parts(whole)
    total = parts.total
    ranked = [
        Part(part, _around(ns, 0.06), _around(ns / total, 0.06), _around(ns / STEPS / S, 0.06), group)
        for (part, ns), group in zip(whole.items(), GROUPS, strict=True)
    ]
    return ServerProfile(
        format=FORMAT,
        target="shop on localhost:5432",
        server_version="18.6",
        cpus=2,
        started_at="2026-11-21T23:00:00.000Z",
        route="mapped",
        note=None,
        ended="time",
        seconds=float(STEPS),
        period_ns=104_000.0,
        sweeps=288_000,
        sessions=11,
        sampler=Sampler(0.31e9, 1_080.0, 0.0052, 0.01, 0.04e9),
        bootstrap=Bootstrap("steps", STEPS, 3, 2_000),
        database_time_ns=_around(total, 0.03),
        active_sessions_mean=_around(total / STEPS / S, 0.03),
        idle_in_transaction_ns=_around(sum(sessions.idle_in_transaction) * S, 0.1),
        idle_cpu_ns=_around(0.2e9, 0.1),
        profile_ns=parts,
        parts=ranked,
        waits=[
            Wait(one.part, one.ns, one.share, one.rank_group, MEANINGS.get(one.part))
            for one in ranked
            if ":" in one.part
        ],
        active_sessions=sessions,
        by_query=[
            _query("-4501193412001245517", UPDATE, 0.62, 1, parts, 41_900),
            _query("7012245598301199", SELECT, 0.30, 2, parts, 62),
            _query(None, None, 0.08, 3, parts, None),
        ],
        by_user=[_share("shop", 0.9, 1, parts), _share("report", 0.1, 2, parts)],
        by_application=[_share("pgbench", 0.9, 1, parts), _share(None, 0.1, 2, parts)],
        by_database=[_share("shop", 1.0, 1, parts)],
        by_backend_type=[_share("client backend", 0.97, 1, parts), _share("parallel worker", 0.03, 2, parts)],
        by_session=[
            SessionTime(
                4700 + place, "client backend", "shop", "shop", "pgbench", _around(total / 10, 0.1), _around(0.1, 0.1),
                0.0, 0, _time_parts({part: ns / 10 for part, ns in whole.items()}),
            )
            for place in range(10)
        ],
        commits=Commits(41_900, 1_396.7, _around(total / 41_900, 0.04)),
        heat_maps=[
            _heat_map("LWLock:WALWrite", 6.2, 0.35, 9_000, random),
            _heat_map("IO:WalSync", 5.9, 0.15, 14_000, random),
            _heat_map("Lock:transactionid", 7.8, 0.5, 300, random),
        ],
        blockers=[_blocker()],
        io=_io(),
        background=_background(),
        findings=_findings(total),
        warnings=[Warning("short_profile", "The profile is 30 s long: what happens once a minute may be missing.")],
    )  # fmt: skip


def idle() -> ServerProfile:
    """A server on which nobody did anything, seen over SQL for two seconds: most of the page is sentences."""
    nothing = Estimate(0.0, None, None)
    return dataclasses.replace(
        busy(),
        cpus=None,
        route="sql",
        note="no permission to read the server's memory",
        seconds=2.0,
        period_ns=None,
        sampler=Sampler(1e6, None, None, None, None),
        bootstrap=Bootstrap("none", 0, 0, 0),
        started_at=None,
        database_time_ns=nothing,
        active_sessions_mean=nothing,
        idle_in_transaction_ns=nothing,
        idle_cpu_ns=None,
        profile_ns=TimeParts(None, None, {}, 0.0, 0.0, 0.0, 0.0),
        parts=[],
        waits=[],
        active_sessions=ActiveSessions(STEP_NS, [0, STEP_NS], [], [], [0.0, 0.0], None),
        by_query=[],
        by_user=[],
        by_application=[],
        by_database=[],
        by_backend_type=[],
        by_session=[],
        commits=None,
        heat_maps=[],
        blockers=[],
        io=[],
        background=[],
        findings=[],
        warnings=[],
    )


def hostile(name: str) -> ServerProfile:
    """Every name that comes from outside is `name`."""
    whole = busy()
    return dataclasses.replace(
        whole,
        target=name,
        note=name,
        by_query=[dataclasses.replace(query, text=f"{name} {SELECT}") for query in whole.by_query],
        by_user=[dataclasses.replace(share, name=name) for share in whole.by_user],
        by_application=[dataclasses.replace(share, name=name) for share in whole.by_application],
        by_session=[dataclasses.replace(one, user=name, application=name) for one in whole.by_session],
        blockers=[dataclasses.replace(one, user=name, query=name, locks=[name]) for one in whole.blockers],
        io=[dataclasses.replace(line, name=f"{name}{place}") for place, line in enumerate(whole.io)],
        background=[dataclasses.replace(one, backend_type=name) for one in whole.background[:1]],
        findings=[dataclasses.replace(one, sentence=name, next=name) for one in whole.findings],
        warnings=[Warning("code", name)],
    )


MEANINGS = {
    "LWLock:WALWrite": "waiting for the process that flushes the WAL",
    "IO:WalSync": "waiting for the device to make the WAL durable",
}


def _around(value: float, width: float) -> Estimate:
    return Estimate(value, min(value * (1 - width), value * (1 + width)), max(value * (1 - width), value * (1 + width)))


def _time_parts(parts: dict[str, float]) -> TimeParts:
    waits = {part: ns for part, ns in parts.items() if ":" in part}
    return TimeParts(
        parts["cpu"], parts["run_queue"], waits, parts["asleep_no_wait_event"], parts["client_and_network"], 0.0,
        parts["unaccounted"],
    )  # fmt: skip


def _scaled(parts: TimeParts, share: float) -> TimeParts:
    return _time_parts({part: ns * share for part, ns in parts.parts().items() if part != "no_clock"})


def _share(name: str | None, share: float, group: int, parts: TimeParts) -> Share:
    return Share(name, _around(parts.total * share, 0.08), _around(share, 0.05), group, _scaled(parts, share), [])


def _query(
    query_id: str | None, text: str | None, share: float, group: int, parts: TimeParts, calls: int | None
) -> QueryTime:
    ns = parts.total * share
    return QueryTime(
        query_id, text, _around(ns, 0.08), _around(share, 0.05), group, _scaled(parts, share), [], calls,
        None if calls is None else ns / calls,
    )  # fmt: skip


def _active_sessions(random: np.random.Generator) -> ActiveSessions:
    wave = 1 + 0.35 * np.sin(np.arange(STEPS) / 4)
    series = [[round(float(v), 3) for v in mean * wave * random.uniform(0.7, 1.3, STEPS)] for mean in CLASSES.values()]
    idle_in_transaction = [1.0 if 12 <= step < 20 else 0.0 for step in range(STEPS)]
    return ActiveSessions(
        STEP_NS, [step * STEP_NS for step in range(STEPS)], list(CLASSES), series, idle_in_transaction, 2
    )


def _heat_map(event: str, decade: float, spread: float, count: int, random: np.random.Generator) -> HeatMap:
    lengths = 10 ** random.normal(decade, spread, count)
    steps = random.integers(0, STEPS, count)
    cells: dict[tuple[int, int], int] = {}
    for step, ns in zip(steps, lengths, strict=True):
        key = (int(step), int(np.floor(np.log10(ns) * 10)))
        cells[key] = cells.get(key, 0) + 1
    return HeatMap(
        event, STEP_NS, STEPS, 10, 104_000.0, count, float(np.median(lengths)), float(lengths.max()),
        [[step, place, many] for (step, place), many in sorted(cells.items())],
    )  # fmt: skip


def _blocker() -> Blocker:
    def waiter(pid: int, seconds: float, blocked: list[Blocker]) -> Blocker:
        return Blocker(
            pid, "client backend", "shop", "shop", "pgbench", UPDATE, {"blocked": 1.0}, seconds * S,
            sum(one.waited_ns for one in blocked), sum(one.waited_ns for one in blocked), len(blocked),
            ["transactionid"], blocked,
        )  # fmt: skip

    return Blocker(
        4812, "client backend", "shop", "shop", "psql", "UPDATE stock SET amount = 0",
        {"idle in transaction": 0.97, "active: CPU": 0.03},
        0.0, 9.1 * S, 13.4 * S, 3, [], [waiter(4701, 5.0, [waiter(4705, 4.3, [])]), waiter(4702, 4.1, [])],
    )  # fmt: skip


def _io() -> list[IoLine]:
    page = 8192
    return [
        IoLine("relation", "public.orders", "read", 52_000, 52_000 * page, page, 0.81, 90 * 2**20, 0.06, None),
        IoLine("relation", "public.history", "read", 9_000, 9_000 * page, page, 0.14, 1_300 * 2**20, 0.88, None),
        IoLine("relation", "public.customers", "read", 3_000, 3_000 * page, page, 0.05, 80 * 2**20, 0.06, None),
        IoLine("backend type", "client backend", "read", 12_000, 64_000 * page, 5.33 * page, 0.98, None, None, 2.1e9),
        IoLine("backend type", "walwriter", "write", 900, 45 * 2**20, 51.2 * 2**10, 0.31, None, None, 0.2e9),
        IoLine("backend type", "client backend", "write", 41_900, 100 * 2**20, 2.44 * 2**10, 0.69, None, None, 1.1e9),
        IoLine("backend type", "client backend", "flush", 39_000, None, None, 1.0, None, None, 22e9),
    ]


def _background() -> list[BackgroundProcess]:
    return [
        BackgroundProcess(
            "walwriter", 1, _around(0.12, 0.2), _around(0.01, 0.2), _around(0.004, 0.2),
            {"Activity:WalWriterMain": 0.88, "IO:WalSync": 0.11}, 0.3,
        ),
        BackgroundProcess(
            "io worker", 3, _around(0.41, 0.1), _around(0.07, 0.1), _around(0.02, 0.1),
            {"Activity:IoWorkerMain": 0.59, "IO:DataFileRead": 0.32}, 0.83,
        ),
        BackgroundProcess(
            "checkpointer", 1, _around(0.0004, 0.5), None, None, {"Activity:CheckpointerMain": 0.9996}, 0.002
        ),
    ]  # fmt: skip


def _findings(total: float) -> list[Finding]:
    return [
        Finding(
            "commit_wait",
            0.6 * total / S,
            "60 % of the database time was waiting for the WAL to be flushed: `IO:WalSync` and, in line behind it, "
            "`LWLock:WALWrite`.",
            [
                Evidence("waiting for a flush", _around(0.6 * total, 0.05), "ns"),
                Evidence("of the database time", _around(0.6, 0.05), "share"),
                Evidence("commits", Estimate(41_900.0, None, None), "count"),
            ],
            "Batch commits, or measure what `synchronous_commit = off` would risk: `dbdyno run commit-write`.",
        ),
        Finding(
            "idle_blocker",
            0.09 * total / S,
            "Session 4812 held a lock while it was idle in transaction, and 3 sessions waited for it for 13.4 s.",
            [Evidence("sessions blocked at most", Estimate(3.0, None, None), "sessions")],
            "Find out what its client does between its statements; `idle_in_transaction_session_timeout` bounds it.",
        ),
    ]
