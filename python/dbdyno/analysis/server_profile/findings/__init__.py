"""What a profile of a whole server concludes: plain frozen dataclasses, the only thing its reports may look at.

Times are nanoseconds of *database time*: one second of one session that was active is one second of it, so that
dividing by the seconds watched gives average active sessions.
Every estimate has a 95 % interval, which says what another stretch of the same length under the same load would show;
low and high are None where the profile was too short for one.
`rank_group`: 1 is the greatest; two with the same number were not told apart (the interval of their difference, not
their two intervals, decides: docs/reading-a-profile.md).
"""

from __future__ import annotations

import dataclasses
from typing import Any

from dbdyno.analysis.findings import Estimate, Stacks, Warning

FORMAT = 1


@dataclasses.dataclass(frozen=True, slots=True)
class TimeParts:
    """Some database time, part by part; the parts sum to it exactly.

    `cpu` and `run_queue` are None where no clock of the server's processes could be read.
    `no_clock`: active without a wait event, of processes without a clock: CPU, run queue or unnamed sleep.
    `unaccounted` is the signed remainder: the time seen active minus the parts.
    """

    cpu: float | None
    run_queue: float | None
    waits: dict[str, float]
    asleep_no_wait_event: float
    client_and_network: float
    no_clock: float
    unaccounted: float

    @property
    def total(self) -> float:
        """The database time: the sum of the parts."""
        return sum(self.parts().values())

    def parts(self) -> dict[str, float]:
        """Every part by name, wait events by their own; CPU and run queue only where they are known."""
        named = {
            "cpu": self.cpu,
            "run_queue": self.run_queue,
            **self.waits,
            "asleep_no_wait_event": self.asleep_no_wait_event,
            "client_and_network": self.client_and_network,
            "no_clock": self.no_clock,
            "unaccounted": self.unaccounted,
        }
        return {part: ns for part, ns in named.items() if ns is not None}


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """One part of some database time. `part` is a wait event verbatim or a field of `TimeParts`.

    `share` is of the database time that it is a part of, `active_sessions` the average number of sessions in it.
    """

    part: str
    ns: Estimate
    share: Estimate
    active_sessions: Estimate
    rank_group: int


@dataclasses.dataclass(frozen=True, slots=True)
class Wait:
    """One wait event over all sessions, the greatest first, and what it means; None where we have no words for it."""

    event: str
    ns: Estimate
    share: Estimate
    rank_group: int
    meaning: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class Share:
    """The database time of one user, application, database, backend type or session, and its parts.

    `name` is None for what the server did not tell. `parts` holds the greatest with their intervals, `profile_ns` all.
    """

    name: str | None
    ns: Estimate
    share: Estimate
    rank_group: int
    profile_ns: TimeParts
    parts: list[Part]


@dataclasses.dataclass(frozen=True, slots=True)
class QueryTime:
    """The database time of one query; `query_id` as PostgreSQL prints it, None for what has none.

    `calls` and `ns_per_call` are from pg_stat_statements, None without it.
    """

    query_id: str | None
    text: str | None
    ns: Estimate
    share: Estimate
    rank_group: int
    profile_ns: TimeParts
    parts: list[Part]
    calls: int | None
    ns_per_call: float | None


@dataclasses.dataclass(frozen=True, slots=True)
class SessionTime:
    """The database time of one session, that of its parallel workers included."""

    pid: int
    backend_type: str
    user: str | None
    database: str | None
    application: str | None
    ns: Estimate
    share: Estimate
    idle_in_transaction_ns: float
    parallel_workers: int
    profile_ns: TimeParts


@dataclasses.dataclass(frozen=True, slots=True)
class ActiveSessions:
    """Average active sessions over time, by class: `series[class][step]`.

    Classes are `CPU`, `run queue`, the wait classes (`IO`, `LWLock`, ...), `no event`, `no clock`; the greatest first.
    `from_ns[step]` is since the profile began. `unaccounted` is left out: a class may not be negative.
    `idle_in_transaction[step]` are sessions beside them, not among them. `cpus` is the height of the CPU line.
    """

    step_ns: int
    from_ns: list[int]
    classes: list[str]
    series: list[list[float]]
    idle_in_transaction: list[float]
    cpus: int | None


@dataclasses.dataclass(frozen=True, slots=True)
class HeatMap:
    """How long the waits for one event were, over time: lengths between the transitions that snapshots saw.

    A cell is `[step, bin, count]`; bin b holds lengths from 10^(b / bins_per_decade) ns on.
    Waits shorter than `shortest_ns`, the period of the snapshots, are mostly missed.
    """

    event: str
    step_ns: int
    steps: int
    bins_per_decade: int
    shortest_ns: float
    count: int
    median_ns: float
    longest_ns: float
    cells: list[list[int]]


@dataclasses.dataclass(frozen=True, slots=True)
class Blocker:
    """A session that others wait for, and those that wait for it directly.

    `doing` maps what it was doing while others waited (`idle in transaction`, `active: IO:WalSync`, `active: CPU`, ...,
    `blocked`) to its share of that time. `blocked_ns` is the time of its direct waiters, `blocked_ns_all` that of
    everybody below it in the tree, each once; both are 0 for a leaf, whose own wait is `waited_ns`.
    `longest_ns`: for how long it held up somebody in look after look.
    """

    pid: int
    backend_type: str | None
    user: str | None
    database: str | None
    application: str | None
    query: str | None
    doing: dict[str, float]
    waited_ns: float
    blocked_ns: float
    blocked_ns_all: float
    sessions_blocked: int
    locks: list[str]
    blocked: list[Blocker]
    longest_ns: float = 0.0


@dataclasses.dataclass(frozen=True, slots=True)
class IoLine:
    """Requests of one kind for one thing, from the server's own counters.

    `by`: `relation`, `tablespace`, `file` or `backend type`; `operation`: `read`, `write`, `extend`, `flush`, `hit`.
    `bytes` and `request_bytes_mean` are None where the server does not say them; `share` is of the bytes (else of the
    requests) of this operation; `size_share` that of the size, None where it was not asked. `ns` needs track_io_timing.
    """

    by: str
    name: str
    operation: str
    requests: int
    bytes: int | None
    request_bytes_mean: float | None
    share: float
    size_bytes: int | None
    size_share: float | None
    ns: float | None


@dataclasses.dataclass(frozen=True, slots=True)
class BackgroundProcess:
    """Server processes of one kind that serve no client; shares are of one process's time, averaged over them.

    `busy`: on a CPU, in line for one, or asleep in the midst of work; the rest is waiting for work.
    `busiest`: the highest busy share of one process in one step.
    """

    backend_type: str
    processes: int
    busy: Estimate
    cpu: Estimate | None
    run_queue: Estimate | None
    waits: dict[str, float]
    busiest: float


@dataclasses.dataclass(frozen=True, slots=True)
class Evidence:
    """One figure behind a finding; `unit`: `s`, `sessions`, `share`, `ns`, `bytes` or `count`."""

    what: str
    figure: Estimate
    unit: str


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """Something worth a DBA's two minutes: what it is, how we know, and what to try next."""

    code: str
    seconds_at_stake: float
    sentence: str
    evidence: list[Evidence]
    next: str


@dataclasses.dataclass(frozen=True, slots=True)
class Sampler:
    """What the instrument cost: its own CPU, as a share of all the host's CPUs, against its budget.

    `control_cpu_ns` is the server's CPU for the control connection; None where it is not known.
    """

    cpu_ns: float
    cpu_ns_per_sweep: float | None
    host_share: float | None
    budget: float | None
    control_cpu_ns: float | None


@dataclasses.dataclass(frozen=True, slots=True)
class Bootstrap:
    """How the intervals were made: what was resampled, in blocks of how many, and how often.

    `unit`: `steps`, or `processes in steps` in a profile too short for the first, or `none`.
    """

    unit: str
    units: int
    block: int
    resamples: int


@dataclasses.dataclass(frozen=True, slots=True)
class Commits:
    """Transactions by the rate that pg_stat_database had around the profile, and the database time of one."""

    count: int
    per_s: float
    ns_per_commit: Estimate


@dataclasses.dataclass(frozen=True, slots=True)
class ServerProfile:
    """The whole answer of one profile.

    `profile_ns` sums to `database_time_ns`; `idle_in_transaction_ns` stands beside it and is not in it.
    `idle_cpu_ns` is the CPU that sessions used while they were not active, `idle_run_queue_ns` their time in line for
    one (the client's command has come and is not begun: users wait, PostgreSQL says idle); None without clocks.
    """

    format: int
    target: str
    server_version: str
    cpus: int | None
    started_at: str | None
    route: str
    note: str | None
    ended: str
    seconds: float
    period_ns: float | None
    sweeps: int
    sessions: int
    sampler: Sampler
    bootstrap: Bootstrap
    database_time_ns: Estimate
    active_sessions_mean: Estimate
    idle_in_transaction_ns: Estimate
    idle_cpu_ns: Estimate | None
    profile_ns: TimeParts
    parts: list[Part]
    waits: list[Wait]
    active_sessions: ActiveSessions
    by_query: list[QueryTime]
    by_user: list[Share]
    by_application: list[Share]
    by_database: list[Share]
    by_backend_type: list[Share]
    by_session: list[SessionTime]
    commits: Commits | None
    heat_maps: list[HeatMap]
    blockers: list[Blocker]
    io: list[IoLine]
    background: list[BackgroundProcess]
    findings: list[Finding]
    warnings: list[Warning]
    idle_run_queue_ns: Estimate | None = None
    stacks: Stacks | None = None
    system_calls: dict[str, Any] | None = None
