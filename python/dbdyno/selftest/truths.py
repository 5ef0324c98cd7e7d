"""Loads whose time profile is known before it is measured.

Each has one part whose true length somebody else tells: a timer of the kernel (sleep, think time, lock_timeout,
commit_delay), or the server's own clock around the statement (pg_stat_statements) where the length depends on what else
the machine does.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

Outcome = Mapping[str, Any]

# A timer ends late by the time that it takes to wake up: 0.06 ms here, up to 0.4 ms on a virtual machine. The true
# length is known no better than that, which must be little beside the tolerance of 3 %.
PLANTED_MS = 40
PLANTED_NS = PLANTED_MS * 1_000_000
WINDOW_NS = 1_000_000_000

SCHEMA = """
CREATE TABLE planted (id int PRIMARY KEY, n int NOT NULL);
INSERT INTO planted VALUES (1, 0), (2, 0);
CREATE FUNCTION spin(milliseconds int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  rounds int := 0;
  until timestamptz := clock_timestamp() + milliseconds * interval '1 ms';
BEGIN
  WHILE clock_timestamp() < until LOOP rounds := rounds + 1; END LOOP;
  RETURN rounds;
END $$;
CREATE FUNCTION wait_for_row(milliseconds int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('lock_timeout', milliseconds::text, true);
  PERFORM n FROM planted WHERE id = 1 FOR UPDATE;
  RAISE 'the row was free';
EXCEPTION WHEN lock_not_available THEN
END $$;
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Truth:
    """One load.

    Attributes:
        name: short.
        says: what the profile must show.
        script: what the one client runs.
        window_ns: how long it runs.
        think_time_ns: between the client's units.
        session_sql: said first by the client.
        held_sql: said by another session, whose transaction stays open meanwhile.
        witness: the beginning of the statement whose mean execution time, by the server's clock, is the truth.
        true_ns: the truth where it is a timer's.
        found_ns: what the outcome of a trial says, per unit of work.
    """

    name: str
    says: str
    script: str
    found_ns: Callable[[Outcome], float]
    window_ns: int = WINDOW_NS
    think_time_ns: int = 0
    session_sql: tuple[str, ...] = ()
    held_sql: str | None = None
    witness: str | None = None
    true_ns: int | None = None


def _per_unit(outcome: Outcome, total_ns: float) -> float:
    units = outcome["units"]
    return float(total_ns / (units["successful"] + units["failed"]))


def _waits(outcome: Outcome, prefix: str) -> float:
    waits = outcome["profile"]["waits_ns"]
    return _per_unit(outcome, sum(ns for event, ns in waits.items() if event.startswith(prefix)))


def _asleep_no_wait_event(outcome: Outcome) -> float:
    return _per_unit(outcome, outcome["profile"]["asleep_no_wait_event_ns"])


def _cpu_and_run_queue(outcome: Outcome) -> float:
    profile = outcome["profile"]
    return _per_unit(outcome, profile["cpu_ns"] + profile["run_queue_ns"])


def _outside_the_profile(outcome: Outcome) -> float:
    """The time of a client's cycle that is in no unit of work: one client, so its cycle is 1 / throughput."""
    return float(1e9 / outcome["throughput_per_s"] - _per_unit(outcome, outcome["profile"]["total_ns"]))


TRUTHS = (
    Truth(
        name="sleep",
        says=f"pg_sleep is Timeout:PgSleep, {PLANTED_MS} ms",
        script=f"SELECT pg_sleep({PLANTED_MS / 1000});\n",
        found_ns=lambda outcome: _waits(outcome, "Timeout:PgSleep"),
        true_ns=PLANTED_NS,
    ),
    Truth(
        name="spin",
        says="a loop that never sleeps is CPU and run queue",
        script=f"SELECT spin({PLANTED_MS});\n",
        found_ns=_cpu_and_run_queue,
        witness="SELECT spin",
    ),
    Truth(
        # Another session keeps the row, and the server's timer for lock_timeout ends the wait.
        name="row lock",
        says=f"a row held by another session is Lock:*, {PLANTED_MS} ms",
        script=f"SELECT wait_for_row({PLANTED_MS});\n",
        held_sql="SELECT n FROM planted WHERE id = 1 FOR UPDATE",
        found_ns=lambda outcome: _waits(outcome, "Lock:"),
        true_ns=PLANTED_NS,
    ),
    Truth(
        # commit_delay sleeps before the flush and sets no wait event. The flush itself is sleep, too, and only
        # snapshots tell the two apart: 250 looks a second leave an error of 1.4 %, which a longer window makes less.
        name="slow flush",
        says=f"commit_delay is asleep without a wait event, {PLANTED_MS} ms",
        script="UPDATE planted SET n = n + 1 WHERE id = 2;\n",
        window_ns=3 * WINDOW_NS,
        session_sql=(f"SET commit_delay = {PLANTED_NS // 1000}", "SET commit_siblings = 0"),
        found_ns=_asleep_no_wait_event,
        true_ns=PLANTED_NS,
    ),
    Truth(
        name="think time",
        says=f"the client's pause between units is in no part, {PLANTED_MS} ms",
        script=f"SELECT spin({PLANTED_MS});\n",
        think_time_ns=PLANTED_NS,
        found_ns=_outside_the_profile,
        true_ns=PLANTED_NS,
    ),
)
