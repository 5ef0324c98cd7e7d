"""What the instrument is worth on this machine, as its last self-test found before the run."""

from __future__ import annotations

import dataclasses

from dbdyno.analysis.findings.estimates import Estimate


@dataclasses.dataclass(frozen=True, slots=True)
class SamplingCost:
    """The same load with and without the sampler, in pairs of random order.

    Attributes:
        clients: of the load, more than the host has CPUs.
        cpus: of the host.
        pairs: how many.
        throughput: watched over not watched.
        route: how the server's waits were read.
        snapshots_per_s: sweeps over the server, a second.
        host_share: the sampler's CPU time over that of all CPUs.
        cpu_ns_per_sweep: by the sampler thread's own clock, waking up included.
    """

    clients: int
    cpus: int
    pairs: int
    throughput: Estimate
    route: str
    snapshots_per_s: float
    host_share: float
    cpu_ns_per_sweep: float


@dataclasses.dataclass(frozen=True, slots=True)
class Instrument:
    """The self-test that a run's machine record holds.

    Attributes:
        measured_at: when, ISO 8601.
        server_version: of the server that it started.
        verdict: `holds`, `machine too busy` or `fails`.
        tolerance: a planted time found within this share of itself is found.
        planted: how many times were planted, all kinds and repeats together.
        found: how many of them were found.
        cost: what watching cost.
    """

    measured_at: str
    server_version: str
    verdict: str
    tolerance: float
    planted: int
    found: int
    cost: SamplingCost
