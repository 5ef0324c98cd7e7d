"""One arm: its figures, its profile, and the points of its charts."""

from __future__ import annotations

import dataclasses
from typing import Any

from dbdyno.analysis.findings.answers import Answer, Cost
from dbdyno.analysis.findings.disturbances import Steadiness
from dbdyno.analysis.findings.estimates import Estimate, Times
from dbdyno.analysis.findings.evidence import (
    Background,
    Check,
    Device,
    Exposure,
    HostCpu,
    Outcome,
    Plan,
    Reads,
    ResetStep,
)
from dbdyno.analysis.findings.profile import Part, TimeProfile
from dbdyno.analysis.findings.sampling import Sampling, Switches, WaitLengths
from dbdyno.analysis.findings.stacks import Stacks
from dbdyno.analysis.findings.tail import Intervals, StatementTimes, Tail

# With 20 units the p95 is the greatest but one; with fewer it is the greatest by another name.
LEAST_UNITS_OF_A_PERCENTILE = 20


@dataclasses.dataclass(frozen=True, slots=True)
class Units:
    """All units = successful + skipped + failed; retried and late are counted within them."""

    successful: int
    skipped: int
    failed: int
    retried: int
    late: int


@dataclasses.dataclass(frozen=True, slots=True)
class Driver:
    """What the instrument itself cost and how punctual it was; shares are of the time of one CPU."""

    cpu_ns_per_unit: float
    cpu_share: float
    lateness_ns_p50: float
    lateness_ns_p99: float
    lateness_ns_max: float
    busiest_thread_share: float
    sampler_cpu_share: float


@dataclasses.dataclass(frozen=True, slots=True)
class Bin:
    """One bar of a distribution of response times."""

    low_ns: int
    high_ns: int
    count: int


@dataclasses.dataclass(frozen=True, slots=True)
class ArmTrial:
    """One trial as the charts show it; `order` is its place in time over the whole run.

    `elapsed_ns` is of fixed work, None with a timed window.
    """

    trial: int
    order: int
    block: int
    attempt: int
    throughput_per_s: float
    elapsed_ns: float | None
    response_time_ns_mean: float
    step_ns: int
    series_units: list[int]
    warnings: list[str]


@dataclasses.dataclass(frozen=True, slots=True)
class ScriptTimes:
    """One kind of transaction of an arm's mix; `parts` of its mean response time, empty with too few snapshots."""

    script: str
    successful: int
    failed: int
    throughput_per_s: Estimate
    response_time_ns: Times
    parts: list[Part]


@dataclasses.dataclass(frozen=True, slots=True)
class Arm:
    """One arm over all its counted trials.

    `profile_ns` is the mean over all counted units that ended and sums to `profile_total_ns`, their mean response
    time; `response_time_ns.mean` is that of successful units, estimated over trials, hence differs where trials do.
    `intervals` are the error bars of its parts, None where neither trials nor chunks are enough; `tail` is why the
    slowest units are slow, and where it is None `tail_note` says why.
    `wal_bytes_per_unit` is of the windows; `full_page_images_per_unit` is per commit, warm-up and log-in included.
    `counters_per_unit` are the server's own counters over whole trials, divided by all their units; of `server_log`
    each distinct warning stands once.
    `hot_update_share`: of the rows updated, those whose new version stayed on its page and needed no index entry.
    `sql` and `undo` are the arm's change of the schema and what takes it back.
    `null`: a second copy of its baseline.
    `arrival` is how units come, as the run record has it.
    `engine` is who did the work where that was no session of the server; `answers` and `cost` are those of experiments
    that know the truth.
    `sets` holds what the arm changes: `session NAME`, `role NAME` or `server NAME` to the value.
    """

    arm: str
    levels: dict[str, str]
    baseline: str | None
    null: bool
    clients: int
    arrival: dict[str, Any]
    scripts: list[str]
    sets: dict[str, str]
    trials: int
    units: Units
    throughput_per_s: Estimate
    rows_per_s: Estimate | None
    bytes_per_s: Estimate | None
    response_time_ns: Times
    service_time_ns: Times
    queue_time_ns: Times
    profile_ns: TimeProfile
    intervals: Intervals | None
    tail: Tail | None
    tail_note: str | None
    by_statement: list[StatementTimes]
    sampling: Sampling
    switches: Switches
    wait_lengths: WaitLengths | None
    stacks: Stacks | None
    driver: Driver
    background: list[Background]
    exposure: Exposure | None
    fixed_units: int | None
    elapsed_ns: Estimate | None
    by_script: list[ScriptTimes]
    counters_per_unit: dict[str, float]
    hot_update_share: float | None
    outcomes: list[Outcome]
    plans: list[Plan]
    reads: Reads | None
    host_cpu: HostCpu | None
    device: Device | None
    reset: list[ResetStep]
    server_log: list[str]
    checks: list[Check]
    sql: str | None
    undo: str | None
    profile_total_ns: float
    profile_route: str
    profile_note: str | None
    wal_bytes_per_unit: float | None
    full_page_images_per_unit: float | None
    little_discrepancy: float
    distribution: list[Bin]
    by_trial: list[ArmTrial]
    engine: str | None = None
    answers: list[Answer] = dataclasses.field(default_factory=list)
    cost: Cost | None = None
    steadiness: Steadiness | None = None

    @property
    def has_percentiles(self) -> bool:
        """Whether a trial has so many units that a percentile of theirs says more than their maximum."""
        return self.fixed_units is None or self.fixed_units >= LEAST_UNITS_OF_A_PERCENTILE

    @property
    def failed_checks(self) -> list[Check]:
        """What the arm did not show."""
        return [check for check in self.checks if not check.holds]
