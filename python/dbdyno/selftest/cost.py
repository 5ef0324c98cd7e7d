"""What watching costs: one load with the sampler and without it, in pairs whose order is drawn."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Mapping
from typing import Any

from dbdyno import engine
from dbdyno.analysis.findings import SamplingCost
from dbdyno.analysis.self_test.cost import Pair, sampling_cost
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

# The host is saturated: each CPU has several backends that always have something to do.
CLIENTS_PER_CPU = 8

Step = Callable[[str], None]


def prepare(server: EmbeddedServer) -> None:
    """The table that is read."""
    for statement in SCHEMA.strip().split("\n"):
        server.execute(statement)


def measure_cost(
    server: EmbeddedServer, *, pairs: int, waits: Mapping[str, Any], begin: Step, clients: int | None = None
) -> SamplingCost:
    """So many pairs; `clients` defaults to several for each CPU."""
    cpus = len(os.sched_getaffinity(0))
    clients = clients or CLIENTS_PER_CPU * cpus
    order = random.Random(1)
    measured = []
    route = ""
    for number in range(pairs):
        begin(f"cost of watching, {number + 1} of {pairs}")
        outcomes = {}
        for watched in order.sample([True, False], 2):
            how = waits if watched else {"route": "off"}
            spec = trial_spec(server, SCRIPT, clients=clients, window_ns=WINDOW_NS, seed=number, waits=how)
            outcomes[watched] = engine.run_trial(spec, None)
        route = outcomes[True]["profile"]["route"]
        measured.append(_pair(outcomes[True], outcomes[False]))
    return sampling_cost(measured, clients=clients, cpus=cpus, route=route)


def _pair(watched: Mapping[str, Any], unwatched: Mapping[str, Any]) -> Pair:
    profile = watched["profile"]
    return Pair(
        watched_per_s=watched["throughput_per_s"],
        unwatched_per_s=unwatched["throughput_per_s"],
        sampler_cpu_ns=profile["sampler_cpu_ns"],
        sampler_elapsed_ns=profile["sampler_elapsed_ns"],
        wake_ups=profile["sampler_wake_ups"],
    )
