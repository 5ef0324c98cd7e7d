"""The cost of watching, from trials with and without the sampler, and the null arm beside them. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from dbdyno.analysis.blocks import log_ratios
from dbdyno.analysis.documents import Document
from dbdyno.analysis.estimates import ratio
from dbdyno.analysis.findings import NullArm, SamplingCost
from dbdyno.analysis.null_arm import judge_null_arm
from dbdyno.analysis.readings import whole


@dataclasses.dataclass(frozen=True, slots=True)
class Pair:
    """One block: units per second with the sampler, without, and without once more, and what the sampler used."""

    watched_per_s: float
    unwatched_per_s: float
    unwatched_again_per_s: float
    sampler_cpu_ns: int
    sampler_elapsed_ns: int
    wake_ups: int


@dataclasses.dataclass(frozen=True, slots=True)
class Watched:
    """All blocks, and what they were run with."""

    pairs: Sequence[Pair]
    clients: int
    cpus: int
    route: str


def sampling_cost(watched: Watched) -> SamplingCost:
    """The effect of watching, with the interval of the signed-rank test (docs/how-we-decide.md)."""
    pairs = watched.pairs
    logs = log_ratios([pair.watched_per_s for pair in pairs], [pair.unwatched_per_s for pair in pairs])
    elapsed_ns = sum(pair.sampler_elapsed_ns for pair in pairs)
    sweeps = sum(pair.wake_ups for pair in pairs)
    cpu_ns = sum(pair.sampler_cpu_ns for pair in pairs)
    return SamplingCost(
        clients=watched.clients,
        cpus=watched.cpus,
        pairs=len(pairs),
        throughput=ratio(logs),
        route=watched.route,
        snapshots_per_s=sweeps / elapsed_ns * 1e9,
        host_share=cpu_ns / elapsed_ns / watched.cpus,
        cpu_ns_per_sweep=cpu_ns / max(sweeps, 1),
    )


def null_arm_of(watched: Watched, before: Document | None) -> NullArm:
    """The load without the sampler against itself; `before` counts the null arms of this machine's runs so far."""
    pairs = watched.pairs
    logs = log_ratios([pair.unwatched_again_per_s for pair in pairs], [pair.unwatched_per_s for pair in pairs])
    found = judge_null_arm("unwatched again", "unwatched", "throughput_per_s", logs, whole(len(pairs)), before)
    assert found is not None, "the self-test has at least 6 pairs"
    return found
