"""What watching costs: one load with the sampler and without it, in blocks whose order is drawn.

Each block has the load without the sampler twice: the second is the null arm, on which any difference is a false alarm.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Mapping
from typing import Any

from dbdyno import engine
from dbdyno.analysis.self_test.cost import Pair, Watched
from dbdyno.selftest.load import trial_spec
from dbdyno.targets.embedded import EmbeddedServer

# Point reads from memory: the shortest units there are, on which watching weighs most.
SCRIPT = "\\set id random(1, 100000)\nSELECT n FROM read WHERE id = :id;\n"
SCHEMA = """
CREATE TABLE read AS SELECT id, id % 100 AS n FROM generate_series(1, 100000) AS id;
ALTER TABLE read ADD PRIMARY KEY (id);
VACUUM ANALYZE read;
"""
WINDOW_NS = 500_000_000

UNWATCHED: Mapping[str, Any] = {"route": "off"}

# The host is saturated: each CPU has several backends that always have something to do.
CLIENTS_PER_CPU = 8

Step = Callable[[str], None]


def prepare(server: EmbeddedServer) -> None:
    """The table that is read."""
    for statement in SCHEMA.strip().split("\n"):
        server.execute(statement)


def measure_cost(
    server: EmbeddedServer, *, pairs: int, waits: Mapping[str, Any], begin: Step, clients: int | None = None
) -> Watched:
    """So many blocks; `clients` defaults to several for each CPU."""
    cpus = len(os.sched_getaffinity(0))
    clients = clients or CLIENTS_PER_CPU * cpus
    order = random.Random(1)
    how = {"watched": waits, "unwatched": UNWATCHED, "unwatched again": UNWATCHED}
    measured = []
    route = ""
    for number in range(pairs):
        begin(f"cost of watching, {number + 1} of {pairs}")
        outcomes = {}
        for arm in order.sample(list(how), len(how)):
            spec = trial_spec(server, SCRIPT, clients=clients, window_ns=WINDOW_NS, seed=number, waits=how[arm])
            outcomes[arm] = engine.run_trial(spec, None)
        route = outcomes["watched"]["profile"]["route"]
        measured.append(_pair(outcomes))
    return Watched(measured, clients, cpus, route)


def _pair(outcomes: Mapping[str, Mapping[str, Any]]) -> Pair:
    profile = outcomes["watched"]["profile"]
    return Pair(
        watched_per_s=outcomes["watched"]["throughput_per_s"],
        unwatched_per_s=outcomes["unwatched"]["throughput_per_s"],
        unwatched_again_per_s=outcomes["unwatched again"]["throughput_per_s"],
        sampler_cpu_ns=profile["sampler_cpu_ns"],
        sampler_elapsed_ns=profile["sampler_elapsed_ns"],
        wake_ups=profile["sampler_wake_ups"],
    )
