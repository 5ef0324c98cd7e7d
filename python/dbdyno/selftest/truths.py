"""Loads whose time profile is known before it is measured.

Each has one part whose true length somebody else tells: a timer of the kernel (sleep, think time, commit_delay), or
the server's own clock around the statement (pg_stat_statements) where the length depends on what else the machine does.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

Outcome = Mapping[str, Any]

SLEEP_NS = 20_000_000
SPIN_MS = 20
THINK_TIME_NS = 20_000_000
FLUSH_DELAY_NS = 10_000_000

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
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Truth:
    """One load.

    Attributes:
        name: short.
        says: what the profile must show.
        script: what each client runs.
        clients: how many.
        think_time_ns: between the units of a client.
        session_sql: said first by each client.
        witness: the beginning of the statement whose mean execution time, by the server's clock, is the truth.
        true_ns: the truth where it is a timer's.
        found_ns: what the outcome of a trial says, per unit of work.
    """

    name: str
    says: str
    script: str
    found_ns: Callable[[Outcome], float]
    clients: int = 1
    think_time_ns: int = 0
    session_sql: tuple[str, ...] = ()
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
        says="pg_sleep is Timeout:PgSleep, 20 ms",
        script="SELECT pg_sleep(0.02);\n",
        found_ns=lambda outcome: _waits(outcome, "Timeout:PgSleep"),
        true_ns=SLEEP_NS,
    ),
    Truth(
        name="spin",
        says="a loop that never sleeps is CPU and run queue",
        script=f"SELECT spin({SPIN_MS});\n",
        found_ns=_cpu_and_run_queue,
        witness="SELECT spin",
    ),
    Truth(
        # Two clients take turns with one row, so one of them always waits for the other.
        name="row lock",
        says="a row held by another session is Lock:*",
        script="BEGIN;\nSELECT n FROM planted WHERE id = 1 FOR UPDATE;\nSELECT pg_sleep(0.02);\nCOMMIT;\n",
        clients=2,
        found_ns=lambda outcome: _waits(outcome, "Lock:"),
        witness="SELECT n FROM planted",
    ),
    Truth(
        # commit_delay sleeps before the flush and sets no wait event.
        name="slow flush",
        says="commit_delay is asleep without a wait event, 10 ms",
        script="UPDATE planted SET n = n + 1 WHERE id = 2;\n",
        session_sql=(f"SET commit_delay = {FLUSH_DELAY_NS // 1000}", "SET commit_siblings = 0"),
        found_ns=_asleep_no_wait_event,
        true_ns=FLUSH_DELAY_NS,
    ),
    Truth(
        name="think time",
        says="the client's pause between units is in no part, 20 ms",
        script=f"SELECT spin({SPIN_MS});\n",
        think_time_ns=THINK_TIME_NS,
        found_ns=_outside_the_profile,
        true_ns=THINK_TIME_NS,
    ),
)
