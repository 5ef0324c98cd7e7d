"""One arm: its counted trials become the figures, the profile and the points of the charts."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from statistics import median

from dbdyno.analysis import evidence
from dbdyno.analysis import exposure as exposed
from dbdyno.analysis.answers import answers, cost
from dbdyno.analysis.background import background
from dbdyno.analysis.bands import SLOWEST, Share
from dbdyno.analysis.checks import checks
from dbdyno.analysis.documents import Document
from dbdyno.analysis.estimates import pseudo_median
from dbdyno.analysis.findings import Arm, ArmTrial, Bin, Driver, Estimate, Units
from dbdyno.analysis.histograms import decoded
from dbdyno.analysis.limits import client_bound, late
from dbdyno.analysis.little import discrepancy
from dbdyno.analysis.metrics import clock_figures
from dbdyno.analysis.plans import plans
from dbdyno.analysis.requests import device, page_bytes, reads
from dbdyno.analysis.sampling import sampling, switches, wait_lengths
from dbdyno.analysis.scripts import by_script
from dbdyno.analysis.stacks import measured_ns, recorded, stacks_of
from dbdyno.analysis.steadiness import codes_by_trial, steadiness
from dbdyno.analysis.time_spent import TimeSpent
from dbdyno.analysis.times import times


@dataclasses.dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of every arm: the run that it is of, whose seed is that of its intervals, and the slow units."""

    run: Document
    slow: Share = SLOWEST


# 20 bins a decade: each is 12 % wide, fine enough to see two modes, coarse enough for a thousand units.
BINS_PER_DECADE = 20


def arm_findings(
    arm: Document,
    trials: Sequence[Document],
    orders: Sequence[int],
    baseline_trials: Sequence[Document],
    server: Document,
    asked: Asked,
) -> Arm:
    """The figures of one arm.

    Args:
        arm: the arm's entry in the run document.
        trials: its counted trials, at least one.
        orders: the place of each of them in time over the whole run.
        baseline_trials: those of its baseline, in the same blocks; empty where there is none.
        server: the record of the server that the arm runs on.
        asked: what is the same for all arms.
    """
    outcomes = [trial["outcome"] for trial in trials]
    spent = TimeSpent(trials, asked.run["seed"])
    profile = spent.profile()
    tail, tail_note = spent.tail(asked.slow)
    routes = Counter(outcome["profile"]["route"] for outcome in outcomes)
    clocks = {name: clock_figures([outcome[name] for outcome in outcomes]) for name in _CLOCKS}
    steady = steadiness(arm, trials)
    flagged = codes_by_trial(steady)
    wal_bytes = exposed.wal_bytes_per_unit(trials)
    acknowledged = exposed.acknowledges_before_flush(arm, trials, server["settings"])
    return Arm(
        arm=arm["arm"],
        levels=dict(arm["levels"]),
        baseline=arm["baseline"],
        null=bool(arm.get("null")),
        clients=arm["clients"],
        arrival=dict(arm["arrival"]),
        scripts=list(arm["scripts"]),
        sets=_sets(arm),
        trials=len(trials),
        units=_units(outcomes),
        throughput_per_s=pseudo_median([outcome["throughput_per_s"] for outcome in outcomes]),
        rows_per_s=_times_units(arm["rows_per_unit"], outcomes),
        bytes_per_s=_times_units(arm.get("bytes_per_unit"), outcomes),
        response_time_ns=times(clocks["response_time"]),
        service_time_ns=times(clocks["service_time"]),
        queue_time_ns=times(clocks["queue_time"]),
        profile_ns=profile,
        intervals=spent.intervals(),
        tail=tail,
        tail_note=tail_note,
        by_statement=spent.by_statement(),
        sampling=sampling(outcomes, spent.seen_and_looked()),
        switches=switches(outcomes),
        wait_lengths=wait_lengths(outcomes),
        stacks=stacks_of(recorded(outcomes), measured_ns(profile, outcomes)),
        fixed_units=arm.get("fixed_units"),
        elapsed_ns=_elapsed(arm, outcomes),
        by_script=by_script(outcomes, spent.by_script()),
        counters_per_unit=evidence.counters_per_unit(trials),
        hot_update_share=evidence.hot_update_share(trials),
        outcomes=evidence.outcomes(trials),
        plans=plans(trials),
        reads=reads(trials, page_bytes(server)),
        host_cpu=evidence.host_cpu(trials),
        device=device(trials),
        reset=evidence.reset(trials),
        server_log=evidence.server_log(trials),
        checks=checks(arm, trials, baseline_trials, page_bytes(server), asked.run.get("truth")),
        sql=arm.get("sql"),
        undo=arm.get("undo"),
        profile_total_ns=profile.total,
        profile_route=routes.most_common(1)[0][0],
        profile_note=next((note for outcome in outcomes if (note := outcome["profile"].get("note"))), None),
        driver=_driver(outcomes),
        background=background(outcomes),
        exposure=exposed.exposure(trials, wal_bytes, acknowledged=acknowledged),
        wal_bytes_per_unit=wal_bytes,
        full_page_images_per_unit=exposed.per_commit(trials, "wal_full_page_images"),
        little_discrepancy=discrepancy(trials),
        distribution=_distribution(outcomes),
        by_trial=[
            _arm_trial(arm, trial, order, flagged.get(trial["trial"], ()), mean, p99)
            for trial, order, mean, p99 in zip(
                trials, orders, clocks["response_time"]["mean"], clocks["response_time"]["p99"], strict=True
            )
        ],
        engine=arm.get("engine"),
        answers=answers(asked.run, trials),
        cost=cost(trials),
        steadiness=steady,
    )


_CLOCKS = ("response_time", "service_time", "queue_time")


def _distribution(outcomes: Sequence[Document]) -> list[Bin]:
    return decoded(tuple(outcome["response_time"]["histogram"] for outcome in outcomes)).bins(BINS_PER_DECADE)


def _sets(arm: Document) -> dict[str, str]:
    scopes = {"session": "session", "role": "role", "settings": "server"}
    return {f"{scope} {name}": value for key, scope in scopes.items() for name, value in arm.get(key, {}).items()}


def _units(outcomes: Sequence[Document]) -> Units:
    def total(kind: str) -> int:
        return sum(outcome["units"][kind] for outcome in outcomes)

    return Units(*(total(kind) for kind in ("successful", "skipped", "failed", "retried", "late")))


def _elapsed(arm: Document, outcomes: Sequence[Document]) -> Estimate | None:
    """Of fixed work only: a window's length is the experiment's choice."""
    if arm.get("fixed_units") is None:
        return None
    return pseudo_median([float(outcome["elapsed_ns"]) for outcome in outcomes])


def _times_units(of_each: int | None, outcomes: Sequence[Document]) -> Estimate | None:
    """A rate of what each unit has so many of."""
    return None if of_each is None else pseudo_median([outcome["throughput_per_s"] * of_each for outcome in outcomes])


def _driver(outcomes: Sequence[Document]) -> Driver:
    drivers = [outcome["driver"] for outcome in outcomes]
    units = sum(outcome["units"]["successful"] for outcome in outcomes)
    elapsed_ns = sum(outcome["elapsed_ns"] for outcome in outcomes)
    return Driver(
        cpu_ns_per_unit=sum(driver["cpu_ns"] for driver in drivers) / units,
        cpu_share=sum(driver["cpu_ns"] for driver in drivers) / elapsed_ns,
        lateness_ns_p50=float(median(driver["lateness_ns"]["p50"] for driver in drivers)),
        lateness_ns_p99=float(median(driver["lateness_ns"]["p99"] for driver in drivers)),
        lateness_ns_max=float(max(driver["lateness_ns"]["max"] for driver in drivers)),
        busiest_thread_share=float(median(driver["busiest_thread_share"] for driver in drivers)),
        sampler_cpu_share=_sampler_cpu_share([outcome["profile"] for outcome in outcomes]),
    )


def _sampler_cpu_share(profiles: Sequence[Document]) -> float:
    """Of one CPU, while the sampler ran."""
    elapsed_ns = sum(int(profile["sampler_elapsed_ns"]) for profile in profiles)
    return sum(int(profile["sampler_cpu_ns"]) for profile in profiles) / max(elapsed_ns, 1)


def _arm_trial(
    arm: Document,
    trial: Document,
    order: int,
    flagged: Sequence[str],
    response_time_ns_mean: float,
    response_time_ns_p99: float,
) -> ArmTrial:
    outcome = trial["outcome"]
    driver = outcome["driver"]
    seen = {
        "client_bound": client_bound(driver["busiest_thread_share"]),
        "late": late(driver["lateness_ns"]["p99"], response_time_ns_p99),
        "deviation": bool(trial.get("deviations")),
    }
    return ArmTrial(
        trial=trial["trial"],
        order=order,
        block=trial["block"],
        attempt=trial["attempt"],
        throughput_per_s=outcome["throughput_per_s"],
        elapsed_ns=None if arm.get("fixed_units") is None else float(outcome["elapsed_ns"]),
        response_time_ns_mean=response_time_ns_mean,
        step_ns=outcome["series"]["step_ns"],
        series_units=list(outcome["series"]["units"]),
        warnings=[*(code for code, holds in seen.items() if holds), *flagged],
    )
