"""The cost of watching, from pairs of trials with and without the sampler. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from dbdyno.analysis.blocks import log_ratios
from dbdyno.analysis.estimates import ratio
from dbdyno.analysis.findings import SamplingCost


@dataclasses.dataclass(frozen=True, slots=True)
class Pair:
    """One comparison: units per second with the sampler and without, and what the sampler used."""

    watched_per_s: float
    unwatched_per_s: float
    sampler_cpu_ns: int
    sampler_elapsed_ns: int
    wake_ups: int


def sampling_cost(pairs: Sequence[Pair], *, clients: int, cpus: int, route: str) -> SamplingCost:
    """The effect of watching, with the interval of the signed-rank test (docs/how-we-decide.md)."""
    logs = log_ratios([pair.watched_per_s for pair in pairs], [pair.unwatched_per_s for pair in pairs])
    elapsed_ns = sum(pair.sampler_elapsed_ns for pair in pairs)
    sweeps = sum(pair.wake_ups for pair in pairs)
    cpu_ns = sum(pair.sampler_cpu_ns for pair in pairs)
    return SamplingCost(
        clients=clients,
        cpus=cpus,
        pairs=len(pairs),
        throughput=ratio(logs),
        route=route,
        snapshots_per_s=sweeps / elapsed_ns * 1e9,
        host_share=cpu_ns / elapsed_ns / cpus,
        cpu_ns_per_sweep=cpu_ns / max(sweeps, 1),
    )
