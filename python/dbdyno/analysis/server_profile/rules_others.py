"""Findings on what holds sessions up from outside: blockers, open transactions, background processes, requests."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.server_profile import words
from dbdyno.analysis.server_profile.findings import BackgroundProcess, Blocker, Evidence, Finding, IoLine, ServerProfile
from dbdyno.analysis.server_profile.words import SECOND_NS

# Of the database time: what a blocker must have cost to be worth a sentence, and what reads must for their size to be.
BLOCKED_SHARE = 0.02
READ_SHARE = 0.05
MOST_BLOCKERS = 3
# A session that sits in an open transaction on average, and not just between two statements of busy ones.
OPEN_SESSIONS = 1.0
OPEN_SHARE = 0.25
SATURATED = 0.8
# Two pages: what a request of a plan that reads single pages looks like.
SMALL_REQUEST_BYTES = 16 * 1024
FEWEST_REQUESTS = 1000
THROTTLED = 0.5
# A blocker that is there look after look for so long is no ordinary short transaction.
STAYING_NS = 1.5e9
RELATION = re.compile(r" of ([^ ,]+)")

# Which waits of sessions hang on a kind of background process, and what relieves it.
RELIEF = {
    "io worker": (
        ("IO:AioIoCompletion",),
        "raise io_workers (ALTER SYSTEM SET io_workers = 8; SELECT pg_reload_conf()), or try io_method = io_uring",
    ),
    "walwriter": (
        ("IO:WalSync", "IO:WALSync", "LWLock:WALWrite"),
        "put pg_wal on a device with a faster flush; raise wal_writer_flush_after",
    ),
    "checkpointer": (
        ("IO:DataFileSync", "IPC:CheckpointDone", "LWLock:CheckpointerComm", "Timeout:RegisterSyncRequest"),
        "raise max_wal_size and checkpoint_timeout, so that checkpoints write less often",
    ),
    "background writer": (("IO:DataFileWrite",), "raise shared_buffers; bgwriter_delay = '50ms'"),
    "walsender": (("IPC:SyncRep",), "see whether network or standby is slow: SELECT * FROM pg_stat_replication"),
    "startup": (("IPC:RecoveryConflictSnapshot",), "replay is one process: recovery_prefetch = on, faster cores"),
    "archiver": ((), "make archive_command faster, or archive in batches: archive_library"),
}


def blockers(profile: ServerProfile) -> Iterator[Finding]:
    """Sessions that hold up others: what they do meanwhile decides what to try.

    One that stays is the trouble itself. Where many take turns, none of them is: it is what they all change.
    """
    staying = [root for root in profile.blockers if root.longest_ns >= STAYING_NS]
    turns = [root for root in profile.blockers if root.longest_ns < STAYING_NS]
    least_ns = BLOCKED_SHARE * profile.database_time_ns.estimate
    for root in staying[:MOST_BLOCKERS]:
        if root.blocked_ns_all >= least_ns:
            open_share = sum(share for doing, share in root.doing.items() if doing.startswith("idle in transaction"))
            yield _blocker(root, idle=open_share >= 0.5)
    if turns and sum(root.blocked_ns_all for root in turns) >= least_ns:
        yield _taking_turns(turns)


def _taking_turns(turns: list[Blocker]) -> Finding:
    total = sum(root.blocked_ns_all for root in turns)
    where = Counter(found[1] for root in turns for lock in root.locks if (found := RELATION.search(lock)))
    mostly = "".join(f", mostly on {name}" for name, _ in where.most_common(1))
    what = f"{len(turns)} sessions in turn" if len(turns) > 1 else "One session for short times"
    return Finding(
        code="lock_contention",
        seconds_at_stake=total / SECOND_NS,
        sentence=f"{what} held up others for about {words.seconds(total)} in all{mostly}: none stays long, "
        "they change the same rows.",
        evidence=[Evidence("time of the sessions held up", Estimate(total, None, None), "ns")],
        next="change the row that all want at the end of the transaction, right before COMMIT; or spread it over rows",
    )


def _blocker(root: Blocker, *, idle: bool) -> Finding:
    who = "A prepared transaction" if root.pid == 0 else f"Session {root.pid}{_of(root)}"
    on = f" on {root.locks[0]}" if root.locks else ""
    held = f"{root.sessions_blocked} session{'s' if root.sessions_blocked != 1 else ''}"
    doing = max(root.doing, key=root.doing.__getitem__)
    did = "was idle in transaction" if idle else f"was {doing.replace('active: ', 'active, in ')}"
    if root.pid == 0:
        hint = "SELECT gid, prepared FROM pg_prepared_xacts, then COMMIT PREPARED or ROLLBACK PREPARED"
    elif idle:
        hint = (
            f"SELECT pg_terminate_backend({root.pid}) ends it now; "
            "ALTER SYSTEM SET idle_in_transaction_session_timeout = '30s' from now on"
        )
    else:
        hint = f"SELECT pg_cancel_backend({root.pid}) ends its query; commit sooner after the change that locks"
    return Finding(
        code="blocker_idle_in_transaction" if idle else "blocker",
        seconds_at_stake=root.blocked_ns_all / SECOND_NS,
        sentence=f"{who} held up {held} for {words.seconds(root.blocked_ns_all)} in all{on}, while it {did}.",
        evidence=[
            Evidence("time of the sessions held up", Estimate(root.blocked_ns_all, None, None), "ns"),
            *(Evidence(f"of it: {did}", Estimate(part, None, None), "share") for did, part in root.doing.items()),
        ],
        next=hint,
    )


def _of(root: Blocker) -> str:
    named = [name for name in (root.user, root.application) if name]
    return f" ({', '.join(named)})" if named else ""


def idle_in_transaction(profile: ServerProfile) -> Iterator[Finding]:
    """Sessions with an open transaction that do nothing; nobody may be waiting for them yet."""
    mean = profile.idle_in_transaction_ns.estimate / SECOND_NS / profile.seconds
    if mean < OPEN_SESSIONS or mean < OPEN_SHARE * profile.active_sessions_mean.estimate:
        return
    figure = _over(profile.idle_in_transaction_ns, profile.seconds * SECOND_NS)
    yield Finding(
        code="idle_in_transaction",
        seconds_at_stake=0.0,
        sentence=f"On average {words.sessions(figure)} sessions were idle in transaction{_most_open(profile)}: "
        "they keep locks and old row versions, and do nothing.",
        evidence=[Evidence("sessions idle in transaction", figure, "sessions")],
        next="ALTER SYSTEM SET idle_in_transaction_session_timeout = '30s'; "
        "in the application, begin later and commit sooner",
    )


def _most_open(profile: ServerProfile) -> str:
    """The application that more than half of them are of, if there is one."""
    opened: Counter[str] = Counter()
    for session in profile.by_session:
        opened[session.application or ""] += round(session.idle_in_transaction_ns)
    name, ns = max(opened.items(), key=lambda item: item[1], default=("", 0))
    return f", most of them of {name}" if name and ns > opened.total() / 2 else ""


def saturated(profile: ServerProfile) -> Iterator[Finding]:
    """Background processes that are busy nearly all the time, so that whoever needs them stands in line."""
    for process in profile.background:
        low = process.busy.estimate if process.busy.low is None else process.busy.low
        if process.backend_type not in RELIEF or low < SATURATED:
            continue
        hanging, hint = RELIEF[process.backend_type]
        stake = sum(wait.ns.estimate for wait in profile.waits if wait.event in hanging)
        yield Finding(
            code="background_saturated",
            seconds_at_stake=stake / SECOND_NS,
            sentence=f"{_named(process)} busy {words.share(process.busy)} of the time"
            + (f", mostly in {_mostly(process)}" if _mostly(process) else "")
            + (f"; sessions spent {words.seconds(stake)} waiting for what it does." if stake else "."),
            evidence=[Evidence(f"busy share of {process.backend_type}", process.busy, "share")],
            next=hint,
        )


def _named(process: BackgroundProcess) -> str:
    if process.processes == 1:
        return f"The {process.backend_type} was"
    return f"The {process.processes} {process.backend_type} processes were"


def _mostly(process: BackgroundProcess) -> str | None:
    """The greatest part of its time that is not idleness."""
    known = {"CPU": process.cpu.estimate if process.cpu else 0.0}
    known |= {event: share for event, share in process.waits.items() if not event.startswith(("Activity:", "Timeout:"))}
    name = max(known, key=known.__getitem__)
    return name if known[name] > 0 else None


def small_requests(profile: ServerProfile) -> Iterator[Finding]:
    """Reads of a page or two at a time where sessions wait for reads."""
    reads = [line for line in profile.io if line.by == "backend type" and line.operation == "read"]
    line = max(reads, key=lambda read: read.requests, default=None)
    waiting = [wait for wait in profile.waits if wait.event in ("IO:DataFileRead", "IO:AioIoCompletion")]
    stake = sum(wait.ns.estimate for wait in waiting)
    if line is None or not _is_small(line) or stake < READ_SHARE * profile.database_time_ns.estimate:
        return
    assert line.request_bytes_mean is not None
    yield Finding(
        code="small_requests",
        seconds_at_stake=stake / SECOND_NS,
        sentence=f"Reads are small: {words.number(line.requests)} requests of {line.name} with "
        f"{words.size(line.request_bytes_mean)} each on average; sessions waited {words.seconds(stake)} for reads.",
        evidence=[
            Evidence("mean size of a read request", Estimate(line.request_bytes_mean, None, None), "bytes"),
            Evidence("read requests", Estimate(line.requests, None, None), "count"),
        ],
        next="single pages come from index scans: EXPLAIN (ANALYZE, BUFFERS) of the reader; for bitmap and sequential "
        "scans raise io_combine_limit and effective_io_concurrency",
    )


def _is_small(line: IoLine) -> bool:
    small = line.request_bytes_mean is not None and line.request_bytes_mean <= SMALL_REQUEST_BYTES
    return small and line.requests >= FEWEST_REQUESTS


def throttled_vacuum(profile: ServerProfile) -> Iterator[Finding]:
    """Vacuum that pauses more than it works."""
    for process in profile.background:
        pause = process.waits.get("Timeout:VacuumDelay", 0.0)
        if process.backend_type == "autovacuum worker" and pause >= THROTTLED:
            yield Finding(
                code="vacuum_throttled",
                seconds_at_stake=0.0,
                sentence=f"Autovacuum paused {words.percent(pause)} of its time on purpose (Timeout:VacuumDelay).",
                evidence=[Evidence("share of its time in Timeout:VacuumDelay", Estimate(pause, None, None), "share")],
                next="where tables bloat: ALTER SYSTEM SET autovacuum_vacuum_cost_limit = 2000",
            )


def _over(figure: Estimate, by: float) -> Estimate:
    return Estimate(
        figure.estimate / by,
        None if figure.low is None else figure.low / by,
        None if figure.high is None else figure.high / by,
    )
