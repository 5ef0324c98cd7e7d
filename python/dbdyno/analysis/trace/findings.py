"""What was found in trace files: the contract between the analysis and every report."""

from __future__ import annotations

import dataclasses

from dbdyno.analysis.findings import Warning

FORMAT = 1

# What a line of a profile is: time on a CPU, a wait by its class, or what nobody accounts for.
CPU, UNACCOUNTED = "cpu", "unaccounted"
THINK_TIME, NETWORK, IDLE, WORK = "think_time", "network", "idle", "work"


@dataclasses.dataclass(frozen=True, slots=True)
class ProfileLine:
    """One line; all lines of a profile add up to what it is of.

    `share` is None where the whole is 0; the figures of single calls are those of waits, None of other lines.
    """

    name: str
    of: str
    ns: int
    share: float | None
    count: int | None = None
    mean_ns: float | None = None
    max_ns: int | None = None
    first_line: int | None = None
    slowest_line: int | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Calls:
    """All calls of a kind; `own` is without the recursive calls within them."""

    kind: str
    count: int
    cpu_ns: int
    elapsed_ns: int
    own_cpu_ns: int
    own_elapsed_ns: int
    physical_reads: int
    consistent_reads: int
    current_reads: int
    misses: int
    rows: int
    first_line: int
    slowest_ns: int
    slowest_line: int


@dataclasses.dataclass(frozen=True, slots=True)
class RowSource:
    """A line of a plan with what the server counted for it, its children included; None where the trace lacks it."""

    id: int
    parent: int
    operation: str
    rows: int
    consistent_reads: int | None
    physical_reads: int | None
    physical_writes: int | None
    starts: int | None
    time_ns: int | None


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """A plan, seen so often; figures are those of all times together."""

    plan_hash: int
    count: int
    line: int
    row_sources: list[RowSource]


@dataclasses.dataclass(frozen=True, slots=True)
class Slowest:
    """The slowest execution: its line, and the binds that it had."""

    elapsed_ns: int
    rows: int
    line: int
    binds: str
    binds_line: int


@dataclasses.dataclass(frozen=True, slots=True)
class StatementFindings:
    """One statement, or literal variants of one.

    `response_ns` is its part of the duration: its calls without the recursive ones, and its waits between them. `kind`:
    `statement`, `variants`, `not_in_trace` (of a cursor whose text lies before the trace), `no_cursor`, `others`.
    """

    statement: int
    kind: str
    sql_id: str | None
    sql_id_is_computed: bool
    hash_value: int | None
    text: str
    text_bytes: int
    user: int
    line: int
    depth: int | None
    response_ns: int
    share: float | None
    executions: int
    rows: int
    profile: list[ProfileLine]
    calls: list[Calls]
    plans: list[Plan]
    slowest: Slowest | None


@dataclasses.dataclass(frozen=True, slots=True)
class Edge:
    """`called` ran within calls of `caller`; None: nobody called it. Elapsed time with all that ran within."""

    caller: int | None
    called: int
    count: int
    cpu_ns: int
    elapsed_ns: int
    line: int


@dataclasses.dataclass(frozen=True, slots=True)
class Target:
    """What an event waited for: `by` is `file`, `object`, `request_blocks` (of each read) or `first_parameter`."""

    event: str
    by: str
    value: int | None
    count: int
    blocks: int
    sum_ns: int
    max_ns: int
    first_line: int
    slowest_line: int


@dataclasses.dataclass(frozen=True, slots=True)
class Transactions:
    """Ends of transactions; `read_only` are among the commits."""

    commits: int
    rollbacks: int
    read_only: int
    first_line: int
    last_line: int


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """A sentence with the time at stake and the line that shows it."""

    code: str
    at_stake_ns: int
    share: float
    words: str
    line: int


@dataclasses.dataclass(frozen=True, slots=True)
class Scope:
    """A whole file, or a session in it, by its SID and serial number or its process.

    `profile_ns` and `profile` say the same, and add up to `duration_ns`.
    """

    scope: str
    file: str
    session: str | None
    process: int | None
    duration_ns: int
    begin_line: int
    end_line: int
    profile_ns: dict[str, object]
    wait_counts: dict[str, int]
    profile: list[ProfileLine]
    unaccounted_within_calls_ns: int
    unaccounted_between_calls_ns: int
    unaccounted_words: str
    findings: list[Finding]
    statements: list[StatementFindings]
    call_tree: list[Edge]
    targets: list[Target]
    transactions: Transactions


@dataclasses.dataclass(frozen=True, slots=True)
class UnknownLines:
    """Lines that are no records, by their shape, in which digits are one 9."""

    count: int
    shapes: list[dict[str, object]]


@dataclasses.dataclass(frozen=True, slots=True)
class TraceFile:
    """What was read. `broken` says why it ended before its end."""

    file: str
    version: str | None
    bytes: int
    text_bytes: int
    compression: str
    lines: int
    time_unit: str
    records: dict[str, int]
    unknown_lines: UnknownLines
    broken: str | None
    warnings: list[Warning]


@dataclasses.dataclass(frozen=True, slots=True)
class TraceFindings:
    """Files in the order they were named, and the scopes of all of them."""

    format: int
    files: list[TraceFile]
    scopes: list[Scope]
