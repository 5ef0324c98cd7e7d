"""Why the slowest are slow, on a real server: a lock that one unit in a hundred meets."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from dbdyno import engine
from dbdyno.analysis.findings import Band, Tail
from dbdyno.analysis.time_spent import TimeSpent
from dbdyno.targets.embedded import EmbeddedServer

pytestmark = [pytest.mark.server, pytest.mark.timed]

# So long that a busy machine's run queue, a few ms at times, is a small part of what the unlucky wait.
HELD_S = 0.05
TRIALS = 6
ATTEMPTS = 3
BUSY_SHARE = 0.02
LOCK = "Lock:advisory"
# A unit sleeps a millisecond, so that CPUs are idle; the unlucky one waits first until the other session lets go.
SCRIPT = r"""
\set chance random(1, 100)
\if :chance = 1
SELECT pg_advisory_xact_lock_shared(7);
\endif
SELECT pg_sleep(0.001);
"""


@contextmanager
def lock_held_by_another(server: EmbeddedServer) -> Iterator[None]:
    """A session that takes the lock again and again and keeps it for 50 ms each time."""
    done = threading.Event()

    def hold() -> None:
        with server.connect() as other:
            while not done.is_set():
                with other.transaction():
                    other.execute("SELECT pg_advisory_xact_lock(7), pg_sleep(%s)", [HELD_S])

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        yield
    finally:
        done.set()
        holder.join()


def trial(server: EmbeddedServer, seed: int) -> dict[str, Any]:
    """Some 1,500 units of four clients."""
    spec = {
        "target": {"host": server.endpoint.host, "port": server.endpoint.port, "user": "dbdyno", "dbname": "dbdyno"},
        "scripts": [{"name": "sometimes.sql", "text": SCRIPT, "weight": 1}],
        "clients": 4,
        "arrival": {"kind": "closed", "think_time_ns": 0},
        "seed": seed,
        "warm_up_ns": 50_000_000,
        "window_ns": 600_000_000,
        "waits": {"route": "auto", "postmaster_pid": server.postmaster_pid, "period_ns": None},
    }
    return {"outcome": engine.run_trial(spec, None)}


@pytest.fixture(scope="module")
def trials(server: EmbeddedServer) -> list[dict[str, Any]]:
    """Six of them beside the session that holds the lock.

    Where others keep the machine so busy that slow units stood in line for a CPU as well, once more.
    """
    with lock_held_by_another(server):
        for _ in range(ATTEMPTS):
            found = [trial(server, seed) for seed in range(TRIALS)]
            if not disturbed(TimeSpent(found, seed=1)):
                break
        return found


@pytest.fixture(scope="module")
def spent(trials: list[dict[str, Any]]) -> TimeSpent:
    """Where their time went."""
    return TimeSpent(trials, seed=1)


def disturbed(spent: TimeSpent) -> bool:
    """Whether the slow units spent more than a fiftieth of their time in line for a CPU."""
    tail, _ = spent.tail()
    return tail is not None and time_of(tail.slow, "run_queue") > BUSY_SHARE * tail.slow.response_time_ns


@pytest.fixture(scope="module")
def tail(spent: TimeSpent) -> Tail:
    """The slowest 1 %, which there must be."""
    found, note = spent.tail()
    assert found is not None, note
    return found


def time_of(band: Band, part: str) -> float:
    """The time of one part, 0 where the band has not got it."""
    return next((one.ns.estimate for one in band.parts if one.part == part), 0.0)


def test_the_tail_is_the_lock(tail: Tail) -> None:
    """At least 90 % of the extra time, told from chance, and the first thing that the sentence names."""
    first = tail.extra[0]

    assert (tail.answer, first.part, first.told) == ("told", LOCK, True)
    assert first.share.estimate >= 0.90
    assert f"of it is {LOCK} (" in tail.sentence


def test_the_median_unit_has_not_met_it(tail: Tail) -> None:
    """Less than 1 % of the units from 40 to 60 %: a unit may meet the lock in the moment in which it is let go."""
    assert tail.median.parts
    assert time_of(tail.median, LOCK) < 0.01 * tail.median.response_time_ns


def test_the_parts_of_each_band_sum_to_its_response_time(tail: Tail) -> None:
    """None is negative."""
    for band in (tail.slow, tail.median):
        times = [one.ns.estimate for one in band.parts]
        assert sum(times) == pytest.approx(band.response_time_ns, rel=1e-9)
        assert min(times) >= 0


def test_the_wait_belongs_to_the_statement_that_takes_the_lock(trials: list[dict[str, Any]], spent: TimeSpent) -> None:
    """The other statement, executed a hundred times as often, has none of it."""
    units = sum(trial["outcome"]["units"]["successful"] for trial in trials)
    four_deviations = 4 * (0.01 / units) ** 0.5
    by_line = {statement.line: statement for statement in spent.by_statement()}
    locking, reading = by_line[4], by_line[6]

    assert reading.executions_per_unit == 1
    assert locking.executions_per_unit == pytest.approx(0.01, abs=four_deviations)
    assert locking.parts[0].part == LOCK
    assert locking.parts[0].share.estimate >= 0.90
    assert LOCK not in {part.part for part in reading.parts}
