"""Two loads whose time is known, for `waits_vs_peers.py`: what its 4 sessions do, and how long it truly takes.

    parts      an UPDATE of one row that all of them queue for, whose commit sleeps in commit_delay without a wait event
               while it keeps the row; a pg_sleep; a spin; a client that thinks
    overload   spins only, more of them than there are CPUs

pg_sleep, commit_delay and thinking last as long as their timers; the row lock as long as the UPDATE by the server's
clock (pg_stat_statements, which ends before the commit); the spin tells itself: it reads the clock in a loop, and a
jump is time without a CPU. What the statements compute beside it is measured by the kernel's clock in the same load
with spins of no length.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any

from peer_observers import (
    APPLICATION_NAME,
    BUDGET,
    CLIENTS,
    CPU,
    IDLE,
    LOCK,
    NO_EVENT,
    RUN_QUEUE,
    SLEEP,
    UNNAMED,
    Shares,
    process_cpu_ns,
)

from dbdyno import engine
from dbdyno.targets.embedded import EmbeddedServer

# The row is kept so long that it cannot serve 4 clients without a queue.
SLEEP_MS, THINK_MS, COMMIT_MS, SPIN_MS = 30, 30, 40, 20
LONG_SPIN_MS = 200  # so that the way from one spin to the next is little beside it
JUMP_US = 50  # between two readings of the clock: a loop takes about 1 us, an interrupt some, a time slice 1000s
WARM_UP_NS = 500_000_000  # all clients begin in line for the row, which takes some cycles to even out
LATE = "line after pg_sleep"

SCHEMA = f"""
CREATE EXTENSION pg_stat_statements;
CREATE TABLE planted (id int PRIMARY KEY, n int NOT NULL);
INSERT INTO planted VALUES (1, 0);
CREATE UNLOGGED TABLE spins (ended timestamptz, on_cpu interval, off_cpu interval, rounds int);
CREATE FUNCTION spin(milliseconds int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  began timestamptz := clock_timestamp();
  until timestamptz := began + milliseconds * interval '1 ms';
  before timestamptz := began;
  this timestamptz := began;
  off_cpu interval := '0';
  rounds int := 0;
BEGIN
  WHILE this < until LOOP
    this := clock_timestamp();
    IF this - before > interval '{JUMP_US} us' THEN off_cpu := off_cpu + (this - before); END IF;
    before := this;
    rounds := rounds + 1;
  END LOOP;
  INSERT INTO spins VALUES (this, this - began - off_cpu, off_cpu, rounds);
END $$;
"""
LOADS = {
    "parts": f"""
UPDATE planted SET n = n + 1 WHERE id = 1;
SELECT pg_sleep({SLEEP_MS / 1000});
SELECT spin({SPIN_MS});
""",
    "overload": f"SELECT spin({LONG_SPIN_MS});\n",
}
# Only to see what all but the spins computes.
SPINLESS = {
    "parts": LOADS["parts"].replace(f"spin({SPIN_MS})", "spin(0)"),
    "overload": f"SELECT spin(0);\nSELECT pg_sleep({LONG_SPIN_MS / 1000});\n",
}
PLANTED = {"parts": (SLEEP, LOCK, IDLE, NO_EVENT, CPU, UNNAMED), "overload": (NO_EVENT, CPU, RUN_QUEUE)}


def spec(
    server: EmbeddedServer, load: str, seed: int, window_s: float, route: str, scripts: Mapping[str, str] = LOADS
) -> dict[str, Any]:
    """A closed loop of 4 clients."""
    endpoint = server.endpoint
    where = {"host": endpoint.host, "port": endpoint.port, "user": endpoint.user, "dbname": endpoint.dbname}
    think_time_ns = THINK_MS * 1_000_000 if load == "parts" else 0
    return {
        "target": where | {"application_name": APPLICATION_NAME},
        "session_sql": [f"SET commit_delay = {COMMIT_MS * 1000}", "SET commit_siblings = 0"],
        "scripts": [{"name": load, "text": scripts[load]}],
        "mode": "prepared",
        "clients": CLIENTS,
        "arrival": {"kind": "closed", "think_time_ns": think_time_ns},
        "seed": seed,
        "warm_up_ns": WARM_UP_NS,
        "window_ns": round(window_s * 1e9),
        "waits": {"postmaster_pid": server.postmaster_pid, "route": route, "budget": BUDGET},
    }


def statements_cpu_s(server: EmbeddedServer, load: str) -> float:
    """What one unit computes beside its spin, from 3 s of the load without spins."""
    asked = spec(server, load, 0, 4.0, "off", SPINLESS)
    driver = threading.Thread(target=engine.run_trial, args=(asked, None))
    driver.start()
    time.sleep(1)
    with server.connect() as session:
        rows = session.execute("SELECT pid FROM pg_stat_activity WHERE application_name = %s", [APPLICATION_NAME])
        pids = [pid for (pid,) in rows]
        before = session.execute("SELECT count(*) FROM spins").fetchone()
        cpu_ns = -sum(map(process_cpu_ns, pids))
        time.sleep(3)
        cpu_ns += sum(map(process_cpu_ns, pids))
        after = session.execute("SELECT count(*) FROM spins").fetchone()
    driver.join()
    assert before is not None
    assert after is not None
    return cpu_ns / 1e9 / int(after[0] - before[0])


def read_lengths(server: EmbeddedServer, load: str, began: object, own_cpu_s: float) -> tuple[Shares, float]:
    """Seconds of each part in one unit of work, and rounds of its spin, as they were since `began`.

    `own_cpu_s` is what the statements compute beside the spin; `LATE` is how long a session that was woken from its
    pg_sleep stood in line before it ran.
    """
    with server.connect() as session:
        row = session.execute(
            "SELECT extract(epoch FROM avg(on_cpu))::float, extract(epoch FROM avg(off_cpu))::float,"
            " avg(rounds)::float FROM spins WHERE ended > %s",
            [began],
        ).fetchone()
        means_s: dict[str, float] = dict(
            session.execute("SELECT left(query, 10), total_exec_time / calls / 1000 FROM pg_stat_statements").fetchall()
        )
    assert row is not None
    spin_s, off_cpu_s, rounds = row
    on_cpu_s = spin_s + own_cpu_s
    lengths_s = {CPU: on_cpu_s, RUN_QUEUE: off_cpu_s}
    if load == "parts":
        lengths_s |= {LOCK: means_s["UPDATE pla"]}
        lengths_s |= {LATE: means_s["SELECT pg_"] - SLEEP_MS / 1000}
        lengths_s |= {SLEEP: SLEEP_MS / 1000, UNNAMED: COMMIT_MS / 1000, IDLE: THINK_MS / 1000}
    return lengths_s | {NO_EVENT: on_cpu_s + off_cpu_s + lengths_s.get(UNNAMED, 0.0)}, rounds
