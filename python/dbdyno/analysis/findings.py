"""What an analysis concludes: plain frozen dataclasses, the only thing a report may look at.

`to_json` gives the document of `dbdyno run --json`; its keys are a contract (docs/findings.md).
Durations are nanoseconds; a profile is the mean per successful unit of work.
"""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

FORMAT = 1

# An arm or a baseline that did not do what its name says is a comparison of something else: no verdict.
WITHHOLDING = frozenset({"check", "deviation"})
# With 20 units the p95 is the greatest but one; with fewer it is the greatest by another name.
LEAST_UNITS_OF_A_PERCENTILE = 20


@dataclasses.dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its 95 % interval; low and high are None with fewer than 6 blocks."""

    estimate: float
    low: float | None
    high: float | None


@dataclasses.dataclass(frozen=True, slots=True)
class Times:
    """One of the clocks: mean and percentiles over units, estimated over trials."""

    mean: Estimate
    p50: Estimate
    p95: Estimate
    p99: Estimate


@dataclasses.dataclass(frozen=True, slots=True)
class Units:
    """All units = successful + skipped + failed; retried and late are counted within them."""

    successful: int
    skipped: int
    failed: int
    retried: int
    late: int


@dataclasses.dataclass(frozen=True, slots=True)
class TimeProfile:
    """The mean response time of a unit, part by part; the parts sum to it exactly."""

    queue: float
    cpu: float | None
    run_queue: float | None
    waits: dict[str, float]
    asleep_no_wait_event: float
    client_and_network: float
    unaccounted: float

    @property
    def total(self) -> float:
        """The mean response time: the sum of the parts."""
        return sum(self.parts().values())

    def parts(self) -> dict[str, float]:
        """Every part by name, wait events by their own; CPU and run queue only where they are known."""
        named = {
            "queue": self.queue,
            "cpu": self.cpu,
            "run_queue": self.run_queue,
            **self.waits,
            "asleep_no_wait_event": self.asleep_no_wait_event,
            "client_and_network": self.client_and_network,
            "unaccounted": self.unaccounted,
        }
        return {part: ns for part, ns in named.items() if ns is not None}


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
class Spread:
    """Mean, 95th percentile and maximum of what was sampled."""

    mean: float
    p95: float
    max: float


@dataclasses.dataclass(frozen=True, slots=True)
class Exposure:
    """What a crash would have lost: WAL inserted but not flushed, sampled during the windows.

    `commits` is None where the server does not count its WAL.
    `acknowledged`: synchronous_commit is off, so that acknowledged commits are among what is exposed;
    where commits wait for the flush it is work in flight, not a risk.
    """

    samples: int
    acknowledged: bool
    bytes: Spread
    commits: Spread | None
    age_ns: Spread


@dataclasses.dataclass(frozen=True, slots=True)
class Background:
    """Server processes of one kind that serve no client.

    CPU and run queue of all of them, as shares of one CPU's time; waits as shares of a process's own time.
    """

    backend_type: str
    cpu_share: float
    run_queue_share: float
    wait_shares: dict[str, float]


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
    """One kind of transaction of an arm's mix."""

    script: str
    successful: int
    failed: int
    throughput_per_s: Estimate
    response_time_ns: Times


@dataclasses.dataclass(frozen=True, slots=True)
class Outcome:
    """A figure of the database before and after the work of a trial, and the difference, over trials."""

    name: str
    before: Estimate
    after: Estimate
    difference: Estimate


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """How the server executes one statement; `shape` is its nodes from the top, as most trials had it.

    `other_shapes` are those of the other trials, the most frequent first; `explain` is the server's own document
    (EXPLAIN ANALYZE, BUFFERS, WAL), taken once, after the work.
    """

    script: str
    line: int
    shape: str
    nodes: list[str]
    other_shapes: list[str]
    explain: dict[str, Any] | None


@dataclasses.dataclass(frozen=True, slots=True)
class HostCpu:
    """What the host's CPUs did over an arm's trials, as shares of all their time."""

    user: float
    system: float
    io_wait: float
    steal: float


@dataclasses.dataclass(frozen=True, slots=True)
class Requests:
    """Requests of one kind: how many a unit of work, and their mean size; None where there were none."""

    per_unit: float
    bytes_mean: float | None


@dataclasses.dataclass(frozen=True, slots=True)
class Device:
    """The requests that reached the data directory's device, from the kernel; those of others are among them.

    Flushes are None where the kernel does not count them.
    """

    name: str
    reads: Requests
    writes: Requests
    flushes_per_unit: float | None


@dataclasses.dataclass(frozen=True, slots=True)
class Reads:
    """How an arm's pages were read.

    `physical_share`: of all pages looked at, those that came from the device; where the device's counters are not
    known, those that the server read, from wherever (`device_known` is False).
    """

    server: Requests
    physical_share: float
    device_known: bool


@dataclasses.dataclass(frozen=True, slots=True)
class ResetStep:
    """One step before each trial: how long it took (median) and what it reached (of the last trial)."""

    step: str
    ns: float
    reached: dict[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Check:
    """One thing that an arm must show if it did what its name says; `seen` is what a failed trial showed instead."""

    check: str
    expected: str
    seen: str
    trials: int
    failed_trials: int

    @property
    def holds(self) -> bool:
        """Whether every trial showed it."""
        return self.failed_trials == 0


@dataclasses.dataclass(frozen=True, slots=True)
class Arm:
    """One arm over all its counted trials.

    `profile_ns` is the mean over all counted units that ended and sums to `profile_total_ns`, their mean response
    time; `response_time_ns.mean` is that of successful units, estimated over trials, hence differs where trials do.
    `wal_bytes_per_unit` is of the windows; `full_page_images_per_unit` is per commit, warm-up and log-in included.
    `counters_per_unit` are the server's own counters over whole trials, divided by all their units; of `server_log`
    each distinct warning stands once.
    `hot_update_share`: of the rows updated, those whose new version stayed on its page and needed no index entry.
    `sql` and `undo` are the arm's change of the schema and what takes it back.
    `arrival` is how units come, as the run record has it.
    `sets` holds what the arm changes: `session NAME`, `role NAME` or `server NAME` to the value.
    """

    arm: str
    levels: dict[str, str]
    baseline: str | None
    clients: int
    arrival: dict[str, Any]
    scripts: list[str]
    sets: dict[str, str]
    trials: int
    units: Units
    throughput_per_s: Estimate
    rows_per_s: Estimate | None
    response_time_ns: Times
    service_time_ns: Times
    queue_time_ns: Times
    profile_ns: TimeProfile
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

    @property
    def has_percentiles(self) -> bool:
        """Whether a trial has so many units that a percentile of theirs says more than their maximum."""
        return self.fixed_units is None or self.fixed_units >= LEAST_UNITS_OF_A_PERCENTILE

    @property
    def failed_checks(self) -> list[Check]:
        """What the arm did not show."""
        return [check for check in self.checks if not check.holds]


@dataclasses.dataclass(frozen=True, slots=True)
class Reason:
    """One part of a profile and how much it changed per unit of work, arm minus baseline.

    Per row instead, where the metric is `rows_per_s`.
    `baseline_share` is the part's share of the baseline's response time.
    """

    part: str
    baseline_ns: float
    arm_ns: float
    difference_ns: float
    baseline_share: float


@dataclasses.dataclass(frozen=True, slots=True)
class Comparison:
    """An arm against its baseline: the ratio arm / baseline of one metric.

    `ratio_90` is the same ratio with its 90 % interval, which decides "same".
    `limited_by` holds the codes of those warnings that a reader of the verdict must see beside it.
    """

    arm: str
    baseline: str
    metric: str
    ratio: Estimate
    ratio_90: Estimate
    p_value: float | None
    p_value_holm: float | None
    verdict: str
    blocks_needed: int | None
    block_ratios: list[float]
    why: list[Reason]
    limited_by: list[str]

    @property
    def withheld(self) -> bool:
        """Whether there is no verdict, however much was measured: an arm did not do what its name says."""
        return not WITHHOLDING.isdisjoint(self.limited_by)


@dataclasses.dataclass(frozen=True, slots=True)
class IndexBenefit:
    """What an index gives one kind of transaction: the ratio of its mean response time without it to that with it.

    `under` are the levels of the other factors; None where there are none.
    `verdict`: `slower` (significant after Holm's correction, and at least the margin), `not slower` (the 90 % interval
    ends below the margin) or `open`.
    """

    under: str | None
    script: str
    ratio: Estimate
    p_value: float | None
    p_value_holm: float | None
    verdict: str

    @property
    def slower(self) -> bool:
        """Whether this kind of transaction needs the index."""
        return self.verdict == "slower"


@dataclasses.dataclass(frozen=True, slots=True)
class IndexCost:
    """What an index costs: one figure with and without it.

    `change` is the ratio without / with where `relative`, else the difference of two shares, without - with.
    `saved`: without the index it is better, significantly after Holm's correction and beyond the threshold.
    """

    under: str | None
    figure: str
    with_index: float
    without_index: float
    relative: bool
    change: Estimate
    p_value_holm: float | None
    saved: bool


@dataclasses.dataclass(frozen=True, slots=True)
class IndexVerdict:
    """One index weighed: `keep`, `drop` or `no evidence`.

    `benefits` has the kinds of transactions that use it, the most harmed first; none for one that no trial scanned.
    `scans_per_unit` is of the trials with it; None where the server was not asked.
    `sql` drops it, `undo` brings it back.
    """

    index: str
    table: str
    definition: str
    bytes: int
    verdict: str
    scans_per_unit: float | None
    benefits: list[IndexBenefit]
    costs: list[IndexCost]
    blocks_needed: int | None
    sql: str
    undo: str


@dataclasses.dataclass(frozen=True, slots=True)
class Warning:
    """Something that limits what may be concluded; the message ends with what to do."""

    code: str
    message: str
    arm: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Scheduled:
    """One place of the schedule and what became of it: `ok`, `failed`, `repeated` or `not_run`.

    `repeated`: the first attempt of its block does not count, a later one does.
    """

    trial: int
    block: int
    position: int
    arm: str
    status: str


@dataclasses.dataclass(frozen=True, slots=True)
class Findings:
    """The whole answer of one run; `window_ns` is 0 where all arms do fixed work."""

    format: int
    experiment: str
    question: str
    run_id: str
    seed: int
    blocks: int
    blocks_complete: int
    window_ns: int
    metric: str
    higher_is_better: bool
    margin: float
    started_at: str
    arms: list[Arm]
    comparisons: list[Comparison]
    indexes: list[IndexVerdict]
    warnings: list[Warning]
    schedule: list[Scheduled]
    machine: dict[str, Any]
    versions: dict[str, str]


def to_json(findings: Findings) -> str:
    """The findings document. Raises ValueError on NaN or infinity: neither may reach a reader."""
    return json.dumps(dataclasses.asdict(findings), indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def finite(value: float) -> float:
    """`value`, asserted to be a number that JSON can hold."""
    if not math.isfinite(value):
        raise ValueError(f"not a finite figure: {value}")
    return value
