"""Findings built by hand for the HTML report: the experiment `commit-write`, and its awkward relatives.

The report never checks whether an interval follows from the trials, so the figures only have to look like a run's.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import synthetic

from dbdyno.analysis.findings import (
    FORMAT,
    Arm,
    ArmTrial,
    Background,
    Band,
    Bin,
    Check,
    Comparison,
    Device,
    Driver,
    Estimate,
    Exposure,
    ExtraPart,
    Findings,
    HostCpu,
    Intervals,
    Outcome,
    Part,
    Plan,
    Reads,
    Reason,
    Requests,
    ResetStep,
    Sampling,
    Scheduled,
    ScriptTimes,
    Spread,
    Stopping,
    Switches,
    Tail,
    TimeProfile,
    Times,
    Units,
    Warning,
)
from dbdyno.analysis.instrument import instrument_findings
from dbdyno.analysis.tail_words import sentence

STEP_NS = 100_000_000
BINS_PER_DECADE = 20
CLIENTS = 5


def commit_write(blocks: int = 12, seed: int = 1) -> Findings:
    """Eight arms, as the shipped experiment has them."""
    random = np.random.default_rng(seed)
    names = list(synthetic.SHAPES)
    order = [random.permutation(len(names)) for _ in range(blocks)]
    drift = np.cumsum(random.normal(0, 0.012, blocks))
    speeds = {
        name: CLIENTS * 1e9 / synthetic.SHAPES[name].response_ns * np.exp(drift + random.normal(0, 0.02, blocks))
        for name in names
    }
    arms = [_arm(name, speeds[name], place, order, random) for place, name in enumerate(names)]
    return Findings(
        format=FORMAT,
        experiment="commit-write",
        question="What does relaxing commit durability buy, and what does it risk?",
        run_id=f"commit-write-20261120T060000Z-{seed}",
        seed=seed,
        blocks=blocks,
        blocks_complete=blocks,
        metric="throughput_per_s",
        higher_is_better=True,
        margin=0.03,
        window_ns=1_000_000_000,
        started_at="2026-11-20T06:00:00.000Z",
        arms=arms,
        comparisons=[_comparison(arm, {one.arm: one for one in arms}, speeds) for arm in arms if arm.baseline],
        interactions=[],
        exploratory=[],
        null_arm=None,
        stopping=Stopping(until_decided=False, looks=[blocks], looked_at=[blocks], decided_early=False),
        indexes=[],
        warnings=[
            Warning(
                "fast_flush", "A flush took 41 µs: the device may not make writes durable; check it with calibrate."
            ),
            Warning("client_bound", "The driver used 96 % of a CPU: give it more threads.", "io-bound/nowait-batch"),
        ],
        schedule=[
            Scheduled(block * len(names) + position, block, position, names[place], "ok")
            for block in range(blocks)
            for position, place in enumerate(order[block])
        ],
        instrument=instrument_findings(synthetic.machine()),
        machine=synthetic.machine(),
        versions={"dbdyno": "0.1.0", "build_profile": "release", "server": "18.6"},
    )


def smallest() -> Findings:
    """One block, two arms, one factor: no interval, no clocks of the server, no exposure, nothing in the background."""
    whole = commit_write(blocks=1)
    arms = [_bare(arm) for arm in whole.arms[:2]]
    names = {arm.arm for arm in arms}
    undecided = [
        dataclasses.replace(
            one,
            arm=arms[1].arm,
            baseline=arms[0].arm,
            ratio=Estimate(one.ratio.estimate, None, None),
            ratio_90=Estimate(one.ratio.estimate, None, None),
            p_value=None,
            p_value_holm=None,
            verdict="undecided",
            blocks_needed=None,
        )
        for one in whole.comparisons[:1]
    ]
    schedule = [
        dataclasses.replace(cell, position=position, arm=cell.arm.partition("/")[2])
        for position, cell in enumerate(cell for cell in whole.schedule if cell.arm.partition("/")[2] in names)
    ][:2]
    return dataclasses.replace(
        whole, arms=arms, comparisons=undecided, schedule=schedule, warnings=[], machine={}, instrument=None
    )


def renamed(findings: Findings, names: dict[str, str]) -> Findings:
    """The same findings with levels renamed, as a user's file may name them."""

    def new(arm: str) -> str:
        return "/".join(names.get(level, level) for level in arm.split("/"))

    arms = [
        dataclasses.replace(
            arm,
            arm=new(arm.arm),
            baseline=arm.baseline and new(arm.baseline),
            levels={factor: names.get(level, level) for factor, level in arm.levels.items()},
        )
        for arm in findings.arms
    ]
    comparisons = [
        dataclasses.replace(one, arm=new(one.arm), baseline=new(one.baseline)) for one in findings.comparisons
    ]
    schedule = [dataclasses.replace(cell, arm=new(cell.arm)) for cell in findings.schedule]
    return dataclasses.replace(findings, arms=arms, comparisons=comparisons, schedule=schedule)


def _bare(arm: Arm) -> Arm:
    durability = arm.levels["durability"]
    bare = Estimate(arm.throughput_per_s.estimate, None, None)
    mean = Estimate(arm.response_time_ns.mean.estimate, None, None)
    times = Times(mean, mean, mean, mean)
    profile = dataclasses.replace(arm.profile_ns, cpu=None, run_queue=None, unaccounted=-150_000.0)
    total = profile.total
    return dataclasses.replace(
        arm,
        arm=durability,
        levels={"durability": durability},
        baseline=arm.baseline and arm.baseline.partition("/")[2],
        throughput_per_s=bare,
        response_time_ns=times,
        profile_ns=profile,
        profile_total_ns=total,
        profile_route="sql",
        profile_note=None,
        intervals=None,
        tail=None,
        tail_note="this run recorded no snapshots by response time",
        background=[],
        exposure=None,
        wal_bytes_per_unit=None,
        full_page_images_per_unit=None,
    )


def _arm(name: str, speeds: np.ndarray, place: int, order: list[np.ndarray], random: np.random.Generator) -> Arm:
    shape = synthetic.SHAPES[name]
    load, _, durability = name.partition("/")
    mean = CLIENTS * 1e9 / float(speeds.mean())
    stretch = mean / shape.response_ns
    share = 4.2e-6 * float(speeds.mean())
    profile = TimeProfile(
        queue=0.0,
        cpu=shape.cpu * stretch,
        run_queue=shape.run_queue * stretch,
        waits={event: ns * stretch for event, ns in shape.waits.items()},
        asleep_no_wait_event=shape.asleep_no_wait_event * stretch,
        client_and_network=shape.client_and_network * stretch,
        unaccounted=shape.unaccounted * stretch,
    )
    return Arm(
        arm=name,
        levels={"load": load, "durability": durability},
        baseline=None if durability == "wait-immediate" else f"{load}/wait-immediate",
        null=False,
        clients=CLIENTS,
        arrival={"kind": "closed", "think_time_ns": 0},
        scripts=["single-row.sql"],
        sets={"session synchronous_commit": "on"},
        trials=len(speeds),
        units=Units(int(speeds.sum()), 0, 0, 0, 0),
        throughput_per_s=_around(float(speeds.mean())),
        rows_per_s=None,
        bytes_per_s=None,
        response_time_ns=_times(mean, shape.spread),
        service_time_ns=_times(mean, shape.spread),
        queue_time_ns=Times(*[Estimate(0.0, 0.0, 0.0)] * 4),
        profile_ns=profile,
        intervals=Intervals("trials", len(speeds), _parts(profile.parts())),
        tail=_tail(profile),
        tail_note=None,
        by_statement=[],
        sampling=Sampling(None, 9_000, None),
        switches=Switches(None, None, None, None, None),
        wait_lengths=None,
        stacks=None,
        driver=Driver(4_200.0, share, 2_000.0, 9_000.0, 41_000.0, share, 0.006),
        background=[
            Background("walwriter", 0.009, 0.004, {"Activity:WalWriterMain": 0.88, "IO:WalSync": 0.107}),
            Background("checkpointer", 0.0004, 0.0, {"Activity:CheckpointerMain": 0.9996}),
        ],
        exposure=_exposure(durability, float(speeds.mean())),
        fixed_units=None,
        elapsed_ns=None,
        by_script=[],
        counters_per_unit={},
        hot_update_share=None,
        outcomes=[],
        plans=[],
        reads=None,
        host_cpu=None,
        device=None,
        reset=[],
        server_log=[],
        checks=[],
        sql=None,
        undo=None,
        profile_total_ns=mean,
        profile_route="mapped",
        profile_note=None,
        wal_bytes_per_unit=290.0,
        full_page_images_per_unit=0.004,
        little_discrepancy=0.002,
        distribution=_distribution(random.lognormal(np.log(mean) - shape.spread**2 / 2, shape.spread, 20_000)),
        by_trial=[
            _trial(block, len(order[0]) * block + int(np.argwhere(order[block] == place)[0, 0]), float(speed), random)
            for block, speed in enumerate(speeds)
        ],
    )


def _around(value: float, half_width: float = 0.015) -> Estimate:
    return Estimate(value, value * (1 - half_width), value * (1 + half_width))


def _times(mean: float, spread: float) -> Times:
    median = mean * float(np.exp(-(spread**2) / 2))
    return Times(
        _around(mean),
        _around(median),
        _around(median * float(np.exp(1.645 * spread))),
        _around(median * float(np.exp(2.326 * spread))),
    )


def _exposure(durability: str, throughput: float) -> Exposure:
    gap_ns = {"nowait-immediate": 2.5e6, "nowait-batch": 2.1e8}.get(durability, 8e5)
    mean = gap_ns / 1e9 * throughput / 2
    commits = Spread(mean, mean * 1.9, mean * 2.3)
    wal, age = Spread(mean * 290, mean * 551, mean * 667), Spread(gap_ns / 2, gap_ns * 0.95, gap_ns)
    return Exposure(1_200, durability.startswith("nowait"), wal, commits, age)


def _distribution(times_ns: np.ndarray) -> list[Bin]:
    low, high = np.floor(np.log10(times_ns.min())), np.ceil(np.log10(times_ns.max()))
    edges = np.logspace(low, high, int((high - low) * BINS_PER_DECADE) + 1)
    counts, _ = np.histogram(times_ns, edges)
    return [Bin(round(edges[at]), round(edges[at + 1]), int(count)) for at, count in enumerate(counts) if count]


def _trial(block: int, order: int, throughput: float, random: np.random.Generator) -> ArmTrial:
    units = random.poisson(throughput / 10, 10).tolist()
    return ArmTrial(order, order, block, 0, throughput, None, CLIENTS * 1e9 / throughput, STEP_NS, units, [])


def _comparison(arm: Arm, arms: dict[str, Arm], speeds: dict[str, np.ndarray]) -> Comparison:
    assert arm.baseline is not None
    logs = np.log(speeds[arm.arm] / speeds[arm.baseline])
    middle, half_width = float(logs.mean()), float(2.2 * logs.std() / np.sqrt(len(logs))) + 1e-4
    effect = Estimate(*(float(np.exp(value)) for value in (middle, middle - half_width, middle + half_width)))
    verdict = _verdict(middle, half_width)
    return Comparison(
        arm=arm.arm,
        baseline=arm.baseline,
        metric="throughput_per_s",
        ratio=effect,
        ratio_90=effect,
        p_value=0.000488,
        p_value_holm=0.00293,
        verdict=verdict,
        blocks_needed=22 if verdict == "undecided" else None,
        block_ratios=np.exp(logs).tolist(),
        why=_why(arm, arms[arm.baseline]),
        limited_by=["client_bound"] if arm.arm == "io-bound/nowait-batch" else [],
    )


def _why(arm: Arm, baseline: Arm) -> list[Reason]:
    parts, baseline_parts = arm.profile_ns.parts(), baseline.profile_ns.parts()
    reasons = []
    for part in {**baseline_parts, **parts}:
        before, after = baseline_parts.get(part, 0.0), parts.get(part, 0.0)
        difference = _around(after - before, 0.04)
        reasons.append(
            Reason(part, before, after, after - before, difference, 0.0005, True, before / baseline.profile_total_ns)
        )
    return sorted(reasons, key=lambda reason: -abs(reason.difference_ns))


def _parts(times: dict[str, float]) -> list[Part]:
    whole = sum(times.values())
    order = sorted(times, key=lambda part: -times[part])
    return [
        Part(part, _around(times[part]), _around(times[part] / whole), group, None)
        for group, part in enumerate(order, start=1)
        if times[part]
    ]


def _tail(profile: TimeProfile) -> Tail:
    """Median units are a little faster than the mean; the slow ones wait six times as long for the greatest wait."""
    times = {part: ns * 0.9 for part, ns in profile.parts().items() if part != "unaccounted"}
    longest = max(times, key=lambda part: times[part])
    slow = {part: ns * (6.0 if part == longest else 1.3) for part, ns in times.items()}
    extra = {part: slow[part] - times[part] for part in times if times[part]}
    extra_ns = sum(extra.values())
    order = sorted(extra, key=lambda part: -extra[part])
    found = Tail(
        answer="told",
        sentence="",
        slow=_band(0.99, 1.0, 0.0094, 2.6 * sum(times.values()), None, slow),
        median=_band(0.4, 0.6, 0.21, 0.9 * sum(times.values()), 1.1 * sum(times.values()), times),
        extra_ns=_around(extra_ns),
        extra=[
            ExtraPart(part, _around(extra[part]), _around(extra[part] / extra_ns), 0.0005, True, group, None)
            for group, part in enumerate(order, start=1)
        ],
        resampled="trials",
        clusters=12,
    )
    return dataclasses.replace(found, sentence=sentence(found))


def _band(low: float, high: float, share: float, low_ns: float, high_ns: float | None, times: dict[str, float]) -> Band:
    response_ns = sum(times.values())
    return Band(low, high, share, low_ns, high_ns, 226, 2_223, response_ns, _parts(times), "band", "both")


def _verdict(middle: float, half_width: float) -> str:
    margin = float(np.log(1.03))
    if abs(middle) > half_width:
        return "small" if abs(middle) < margin else "better" if middle > 0 else "worse"
    return "same" if abs(middle) + half_width < margin else "undecided"


EXPLAIN: dict[str, Any] = {
    "Plan": {
        "Node Type": "Aggregate", "Actual Rows": 1, "Plan Rows": 1, "Actual Loops": 1, "Actual Total Time": 1843.2,
        "Shared Hit Blocks": 128, "Shared Read Blocks": 103_872,
        "Plans": [
            {
                "Node Type": "Seq Scan", "Relation Name": "web_returns", "Actual Rows": 239_900.67,
                "Plan Rows": 300_000, "Actual Loops": 3, "Actual Total Time": 1701.4, "Filter": "(wr_return_amt > 10)",
                "Shared Hit Blocks": 128, "Shared Read Blocks": 103_872,
            }
        ],
    },
    "Execution Time": 1850.1,
}  # fmt: skip
KINDS = ("register-customer.sql", "browse-products.sql", "order-products.sql", "warehouse-query.sql")


def order_entry(blocks: int = 12) -> Findings:
    """A mix of four kinds with and without two indexes: checks, counters, plans, sizes and DDL."""
    whole = commit_write(blocks)
    arms = [_with_evidence(arm, place) for place, arm in enumerate(whole.arms)]
    comparisons = [
        dataclasses.replace(one, verdict="undecided", limited_by=["check"]) if place == 2 else one
        for place, one in enumerate(whole.comparisons)
    ]
    return dataclasses.replace(whole, experiment="drop-indexes", arms=arms, comparisons=comparisons)


def fixed_work(blocks: int = 12) -> Findings:
    """One scan a trial: elapsed time, no percentiles."""
    whole = commit_write(blocks)
    arms = [
        dataclasses.replace(
            arm,
            fixed_units=1,
            elapsed_ns=_around(arm.profile_total_ns * 1e3),
            distribution=[],
            by_trial=[
                dataclasses.replace(trial, elapsed_ns=CLIENTS * 1e12 / trial.throughput_per_s, series_units=[1])
                for trial in arm.by_trial
            ],
        )
        for arm in whole.arms
    ]
    comparisons = [dataclasses.replace(one, metric="elapsed_ns") for one in whole.comparisons]
    return dataclasses.replace(
        whole, arms=arms, comparisons=comparisons, metric="elapsed_ns", higher_is_better=False, window_ns=0
    )


def _with_evidence(arm: Arm, place: int) -> Arm:
    fails = arm.arm == "io-bound/nowait-batch"
    seq_scan = place % 4 == 2
    plan = Plan(
        "browse-products.sql", 4,
        "Aggregate > Seq Scan on web_returns" if seq_scan else "Limit > Index Scan on products",
        ["Aggregate", "Seq Scan"] if seq_scan else ["Limit", "Index Scan"],
        ["Limit > Bitmap Heap Scan on products"] if place == 1 else [],
        EXPLAIN if seq_scan else {"Plan": {"Node Type": "Limit", "Plans": [{"Node Type": "Index Scan"}]}},
    )  # fmt: skip
    return dataclasses.replace(
        arm,
        scripts=list(KINDS),
        by_script=[
            ScriptTimes(
                kind,
                4_000 // (1 + at),
                at,
                _around(100.0),
                _times(2e6 * (1 + at) ** 2 * (1 + place / 9), 0.5),
                [],
            )
            for at, kind in enumerate(KINDS)
        ],
        counters_per_unit={
            "buffer_hits": 61.5, "buffer_reads": 4.2 + place, "wal_bytes": 1_830.0, "temp_bytes": 0.0,
            "rows_updated": 2.0,
        },
        hot_update_share=0.25 + place / 20,
        outcomes=[
            Outcome("index bytes", _around(4e7), _around(4.4e7 + place * 1e6), _around(4e6 + place * 1e6)),
            Outcome("dead tuples", Estimate(0.0, 0.0, 0.0), _around(12_000.0), _around(12_000.0)),
        ],
        plans=[plan],
        reads=Reads(Requests(4.2, 16_384.0), 0.06, place < 4),
        host_cpu=HostCpu(0.62, 0.2, 0.07, 0.004),
        device=Device("vda", Requests(3.1, 20_480.0), Requests(2.0, 9_011.0), 1.0),
        reset=[
            ResetStep("restore", 1.9e9, {"bytes": 512_000_000}),
            ResetStep("warm-cache", 4e8, {"prewarmed_bytes": 1e8}),
        ],
        server_log=["WARNING: worker took too long to start; canceled"] if place == 1 else [],
        checks=[
            Check("plan", "a plan with Index Scan", "Seq Scan on products" if fails else "", 12, 12 if fails else 0),
            Check("invariant stock is never negative", "no violation of stock is never negative", "", 12, 0),
        ],
        sql="DROP INDEX orders_by_date;" if place % 4 else None,
        undo="CREATE INDEX orders_by_date\n  ON orders (placed_at);" if place % 4 else None,
    )  # fmt: skip
