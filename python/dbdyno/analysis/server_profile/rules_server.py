"""Findings on the server around the sessions: background processes that are saturated or paused, small requests."""

from __future__ import annotations

from collections.abc import Iterator

from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.server_profile import words
from dbdyno.analysis.server_profile.findings import BackgroundProcess, Evidence, Finding, IoLine, ServerProfile
from dbdyno.analysis.server_profile.words import SECOND_NS

SATURATED = 0.8
THROTTLED = 0.5
# Of the database time: what reads must take for their size to matter.
READ_SHARE = 0.05
# Two pages: what a request of a plan that reads single pages looks like.
SMALL_REQUEST_BYTES = 16 * 1024
FEWEST_REQUESTS = 1000

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
