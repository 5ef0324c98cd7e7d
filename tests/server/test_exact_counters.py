"""The mean profile against the server's own exact counters of its reads and of its flushes of WAL.

The two do not count the same thing. The server takes the time before and after the call, and what lies between is in
its counter, whatever the backend does there: with `track_io_timing` a read of 8 kB is the copy out of the page cache,
the driver's work and the line for a CPU as well as sleep. The profile's wait is sleep only; CPU and run queue have
lines of their own, exact by the kernel's clocks, and are not told apart by event there.
So like is compared with like: of all snapshots within units the share that found the event set, asleep or not, times
the units' time, is the time spent within that call. It must be the counter's within 5 %, and the profile's own wait
cannot be more than the counter.

How sure that is: a trial has 5,000 to 12,000 calls of the event, each longer than the time between two snapshots.
Trials were seen to differ by 1.2 % (standard deviation, reads) and 0.2 % (flushes), so the mean of three has a
standard error of 0.7 % at most: 5 % is 7 of them.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from stolen_time import StolenTime

from dbdyno import engine
from dbdyno.targets.embedded import EmbeddedServer
from dbdyno.targets.page_cache import drop_from_page_cache, files_below
from dbdyno.targets.target import Connection, SettingValue

pytestmark = [pytest.mark.server, pytest.mark.nightly]

DEBIAN_15 = Path("/usr/lib/postgresql/15/bin")
LOAD = "load"
TRIALS = 3
TOLERANCE = 0.05
SEEN_LEAST = 10_000  # by all trials: one in a hundred is the standard error of their ratio, a fifth of the tolerance
# Ten times the default's: this is about what the profile means, and a cheaper one is as right but needs longer.
BUDGET = 0.1

ROWS = 200_000
TABLES = f"""
CREATE TABLE cold AS SELECT id, repeat('x', 1900) AS filler FROM generate_series(1, {ROWS}) AS id;
ALTER TABLE cold ADD PRIMARY KEY (id);
CREATE TABLE small AS SELECT id, 0 AS n FROM generate_series(1, 1000) AS id;
ALTER TABLE small ADD PRIMARY KEY (id);
"""
# The table is 25 times the buffers. Nobody but the backends reads or flushes, so that what the server counts for all
# its processes together, as 15 does, is theirs.
SETTINGS: Mapping[str, SettingValue] = {
    "shared_buffers": "16MB",
    "track_io_timing": True,
    "track_wal_io_timing": True,
    "autovacuum": False,
    "wal_writer_delay": "10s",
    "bgwriter_lru_maxpages": 0,
    "checkpoint_timeout": "1h",
    "max_wal_size": "8GB",
}
READ_ONE_ROW = f"\\set id random(1, {ROWS})\nSELECT length(filler) FROM cold WHERE id = :id;\n"
UPDATE_ONE_ROW = "\\set id random(1, 1000)\nUPDATE small SET n = n + 1 WHERE id = :id;\n"


@dataclasses.dataclass(frozen=True)
class Version:
    """A server, and where it counts what: queries of a number of calls and their milliseconds."""

    server_bin: Path | None
    settings: Mapping[str, SettingValue]
    flush_event: str
    reads: str
    flushes: str


VERSIONS = {
    "18": Version(
        None,
        {"io_method": "sync"},
        "IO:WalSync",
        "SELECT sum(reads), sum(read_time) FROM pg_stat_io"
        " WHERE object = 'relation' AND backend_type = 'client backend'",
        "SELECT sum(fsyncs), sum(fsync_time) FROM pg_stat_io WHERE object = 'wal' AND backend_type = 'client backend'",
    ),
    "15": Version(
        DEBIAN_15,
        {},
        "IO:WALSync",
        "SELECT sum(blks_read), sum(blk_read_time) FROM pg_stat_database",
        "SELECT wal_sync, wal_sync_time FROM pg_stat_wal",
    ),
}


@dataclasses.dataclass(frozen=True)
class Measured:
    """One trial: what the server counted meanwhile, and what snapshots and profile say of the same."""

    calls: int
    counted_ns: float
    seen: int
    seen_ns: float
    wait_ns: float


@pytest.fixture(scope="module", params=list(VERSIONS))
def measured_server(request: pytest.FixtureRequest, cache: Path) -> Iterator[tuple[EmbeddedServer, Version]]:
    """A server of each version that is here, with the tables."""
    version = VERSIONS[request.param]
    if version.server_bin is not None and not version.server_bin.is_dir():
        pytest.skip("needs Debian's PostgreSQL 15")
    settings = {**SETTINGS, **version.settings}
    # 18 verifies the checksum of a page within the time that it counts for the read, but outside of the wait event.
    with EmbeddedServer(settings=settings, server_bin=version.server_bin, data_checksums=False) as server:
        server.execute(TABLES)
        server.vacuum(())
        yield server, version


def test_reads_take_the_time_that_the_server_counts(measured_server: tuple[EmbeddedServer, Version]) -> None:
    """Single rows of a table that neither the server nor the system has in memory."""
    server, version = measured_server

    trials = [
        measure(server, READ_ONE_ROW, 12_000, "IO:DataFileRead", version.reads, seed=seed) for seed in range(TRIALS)
    ]

    for trial in trials:
        assert 10_000 <= trial.calls <= 12_500
    assert_agree(trials)


def test_flushes_take_the_time_that_the_server_counts(measured_server: tuple[EmbeddedServer, Version]) -> None:
    """Two sessions commit one row each, again and again; one commit in two at least flushes."""
    server, version = measured_server

    trials = [
        measure(server, UPDATE_ONE_ROW, 6_000, version.flush_event, version.flushes, seed=seed)
        for seed in range(TRIALS)
    ]

    for trial in trials:
        assert 2_900 <= trial.calls <= 6_100
    assert_agree(trials)


def assert_agree(trials: list[Measured]) -> None:
    """All trials together within 5 %, and no wait above what the server counted."""
    ratio = sum(trial.seen_ns for trial in trials) / sum(trial.counted_ns for trial in trials)
    print(f"  all {len(trials)}: snapshots / counter {ratio:.4f}")
    assert sum(trial.seen for trial in trials) >= SEEN_LEAST
    assert ratio == pytest.approx(1, abs=TOLERANCE)
    for trial in trials:
        assert 0 < trial.wait_ns <= trial.counted_ns


def measure(server: EmbeddedServer, script: str, units: int, event: str, counter: str, *, seed: int) -> Measured:
    """A trial of so many units by two clients, all of them counted, from a cold page cache, and the counter over it."""
    server.checkpoint()
    server.execute("SELECT pg_stat_force_next_flush()")
    drop_from_page_cache(files_below([server.data_directory / "cluster" / "base"]))
    # What a new session reads of the catalogs is in no unit: a few units before bring it into the server's buffers.
    engine.run_trial(spec(server, script, 20, seed + TRIALS), None)
    with server.connect() as session:
        before = counted(session, counter)
        with StolenTime() as stolen:
            outcome = engine.run_trial(spec(server, script, units, seed), None)
        after = counted(session, counter)
    assert outcome["units"]["successful"] == units
    profile = outcome["profile"]
    seen = {profile["events"][place]: count for place, count, *_ in outcome["scripts"][0]["snapshots"]}
    found = Measured(
        calls=after[0] - before[0],
        counted_ns=(after[1] - before[1]) * 1e6,
        seen=seen[event],
        seen_ns=profile["total_ns"] * seen[event] / sum(seen.values()),
        wait_ns=profile["waits_ns"][event],
    )
    print(
        f"\n  {server.server_version} {event}: {found.calls} calls, {found.counted_ns / found.calls / 1e3:.0f} us each;"
        f" snapshots / counter {found.seen_ns / found.counted_ns:.4f} ({found.seen} snapshots,"
        f" one in {profile['period_ns'] / 1e3:.0f} us), asleep / counter {found.wait_ns / found.counted_ns:.3f};"
        f" {outcome['elapsed_ns'] / 1e9:.1f} s, stolen ticks {stolen.ticks}",
        end="",
    )
    return found


def counted(session: Connection, counter: str) -> tuple[int, float]:
    """Calls and milliseconds when the load's backends are gone: they hand in their counts before they go."""
    gone = "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = %s"
    deadline = time.monotonic() + 30
    while session.execute(gone, [LOAD]).fetchone() != (True,):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    row = session.execute(counter.encode()).fetchone()
    assert row is not None
    return int(row[0] or 0), float(row[1] or 0)


def spec(server: EmbeddedServer, script: str, units: int, seed: int) -> dict[str, Any]:
    """Fixed work without a warm-up, so that the server counts for the same units as the profile."""
    target = {key: getattr(server.endpoint, key) for key in ("host", "port", "user", "dbname")}
    return {
        "target": target | {"application_name": LOAD},
        "scripts": [{"name": "script", "text": script}],
        "mode": "prepared",
        "clients": 2,
        "arrival": {"kind": "closed"},
        "seed": seed,
        "warm_up_ns": 0,
        "window_ns": 120_000_000_000,
        "fixed_units": units,
        "waits": {"route": "auto", "postmaster_pid": server.postmaster_pid, "budget": BUDGET},
    }
