"""The numbers of one arm that need no resampling, from the records of its trials, as docs/findings.md has them."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import answer_numbers as answers
import cell_text
import evidence_numbers as evidence
import hdr
from journal_reader import Document
from rank_statistics import pseudo_median

BARS_PER_DECADE = 20
PERCENTILES = {"p50": 0.50, "p95": 0.95, "p99": 0.99}
NAMED_PARTS = ("queue", "cpu", "run_queue", "asleep_no_wait_event", "client_and_network", "unaccounted")


def arm_numbers(
    arm: Document, counted: list[tuple[int, Document]], page_bytes: int, truth: dict[str, float]
) -> Document:
    """As the findings have them; what stands in the record is copied."""
    trials = [trial for _, trial in counted]
    outcomes = [trial["outcome"] for trial in trials]
    profile = profile_sums(trials)
    units = ended(outcomes)
    in_all = evidence.units_in_all(outcomes)
    return {
        "clients": arm["clients"],
        "arrival": arm["arrival"],
        "trials": len(trials),
        "units": {
            kind: sum(outcome["units"][kind] for outcome in outcomes)
            for kind in ("successful", "skipped", "failed", "retried", "late")
        },
        "throughput_per_s": pseudo_median([outcome["throughput_per_s"] for outcome in outcomes]),
        "rows_per_s": _times_units(arm["rows_per_unit"], outcomes),
        "bytes_per_s": _times_units(arm.get("bytes_per_unit"), outcomes),
        **{
            f"{clock}_ns": times([outcome[clock] for outcome in outcomes])
            for clock in ("response_time", "service_time", "queue_time")
        },
        "profile_ns": _profile(profile, units),
        "profile_total_ns": float(sum(outcome["profile"]["total_ns"] for outcome in outcomes) / units),
        "fixed_units": arm.get("fixed_units"),
        "elapsed_ns": pseudo_median([outcome["elapsed_ns"] for outcome in outcomes]) if _fixed(arm) else None,
        "by_script": _by_script(outcomes),
        "by_statement": _by_statement(outcomes),
        "sampling": _sampling(outcomes),
        "switches": _switches(outcomes, units),
        "wait_lengths": _wait_lengths(outcomes),
        "driver": evidence.driver(outcomes),
        "background": evidence.background(outcomes),
        "exposure": evidence.exposure(trials),
        "wal_bytes_per_unit": evidence.wal_bytes_per_unit(trials),
        "full_page_images_per_unit": evidence.images_per_commit(trials),
        "counters_per_unit": evidence.counters(trials, in_all),
        "hot_update_share": evidence.share(trials, "rows_updated_hot", "rows_updated"),
        "outcomes": evidence.outcomes(trials),
        "reads": evidence.reads(trials, page_bytes, in_all),
        "device": evidence.device(trials, in_all),
        "host_cpu": evidence.host_cpu(trials),
        "reset": evidence.reset(trials),
        "little_discrepancy": statistics.fmean(map(_little, outcomes)),
        "distribution": _distribution([outcome["response_time"]["histogram"] for outcome in outcomes]),
        "by_trial": [_trial(arm, place, trial) for place, trial in counted],
        "answers": answers.answers(truth, trials),
        "cost": answers.cost(trials, in_all),
    }


def _fixed(arm: Document) -> bool:
    return arm.get("fixed_units") is not None


def ended(outcomes: list[Document]) -> int:
    """All counted units that ended: what a profile is over."""
    return sum(outcome["units"]["successful"] + outcome["units"]["failed"] for outcome in outcomes)


def figure(metric: str, arm: Document, trial: Document) -> float:
    """What is compared: one figure of one trial."""
    outcome = trial["outcome"]
    plain: dict[str, Callable[[], float]] = {
        "throughput_per_s": lambda: outcome["throughput_per_s"],
        "rows_per_s": lambda: outcome["throughput_per_s"] * arm["rows_per_unit"],
        "bytes_per_s": lambda: outcome["throughput_per_s"] * arm["bytes_per_unit"],
        "elapsed_ns": lambda: outcome["elapsed_ns"],
    }
    if metric in plain:
        return float(plain[metric]())
    return clock_figures(outcome["response_time"])[metric.removeprefix("response_time_ns_")]


def clock_figures(clock: Document) -> dict[str, float]:
    """Mean and percentiles of one clock of one trial."""
    found = hdr.histogram_quantiles([clock["histogram"]], list(PERCENTILES.values()))
    return {"mean": clock["sum_ns"] / clock["count"], **dict(zip(PERCENTILES, map(float, found), strict=True))}


def times(clocks: list[Document]) -> Document:
    """Each kind over the trials."""
    figures = [clock_figures(clock) for clock in clocks]
    return {kind: pseudo_median([one[kind] for one in figures]) for kind in ("mean", *PERCENTILES)}


def _times_units(of_each: int | None, outcomes: list[Document]) -> Document | None:
    return None if of_each is None else pseudo_median([outcome["throughput_per_s"] * of_each for outcome in outcomes])


def profile_sums(trials: list[Document]) -> list[dict[str, int]]:
    """The parts of each trial, in whole ns; where one trial lacks the server's clocks, no trial has them."""
    profiles = [trial["outcome"]["profile"] for trial in trials]
    parts = [
        {**{part: profile[f"{part}_ns"] or 0 for part in NAMED_PARTS}, **profile["waits_ns"]} for profile in profiles
    ]
    assert [sum(one.values()) for one in parts] == [profile["total_ns"] for profile in profiles]
    if any(profile["cpu_ns"] is None for profile in profiles):
        for one in parts:
            one["unaccounted"] += one.pop("cpu") + one.pop("run_queue")
    return parts


def _profile(parts: list[dict[str, int]], units: int) -> Document:
    sums: Counter[str] = Counter()
    for one in parts:
        sums.update(one)
    means = {part: float(Fraction(ns, units)) for part, ns in sums.items()}
    waits = {part: ns for part, ns in means.items() if part not in NAMED_PARTS}
    return {**{part: means.get(part) for part in NAMED_PARTS}, "waits": waits}


def _scripts(outcome: Document, name: str) -> Document:
    return next((one for one in outcome["scripts"] if one["name"] == name), {"successful": 0, "failed": 0})


def _by_script(outcomes: list[Document]) -> list[Document]:
    found = []
    for name in dict.fromkeys(script["name"] for outcome in outcomes for script in outcome["scripts"]):
        of = [_scripts(outcome, name) for outcome in outcomes]
        if not any(script["successful"] for script in of):
            continue
        rates = [
            outcome["throughput_per_s"] * script["successful"] / outcome["units"]["successful"]
            for outcome, script in zip(outcomes, of, strict=True)
        ]
        found.append(
            {
                "successful": sum(script["successful"] for script in of),
                "failed": sum(script["failed"] for script in of),
                "throughput_per_s": pseudo_median(rates),
                "response_time_ns": times([script["response_time"] for script in of if script["successful"]]),
            }
        )
    return found


def statements(outcome: Document) -> dict[tuple[str, int, str], Document]:
    """Those of a trial, by script, line and text."""
    return {
        (script["name"], statement["line"], statement["text"]): statement
        for script in outcome["scripts"]
        for statement in script["statements"]
    }


def executed(outcomes: list[Document]) -> dict[tuple[str, int, str], list[Document | None]]:
    """Each statement that was executed, with what each trial has of it."""
    of_trials = [statements(outcome) for outcome in outcomes]
    every = dict.fromkeys(which for of_trial in of_trials for which in of_trial)
    found = {which: [of_trial.get(which) for of_trial in of_trials] for which in every}
    return {which: of for which, of in found.items() if sum(one["service_time"]["count"] for one in of if one)}


def _by_statement(outcomes: list[Document]) -> list[Document]:
    if not all(outcome["profile"].get("cells") for outcome in outcomes):
        return []
    units = sum(outcome["units"]["successful"] for outcome in outcomes)
    found = []
    for (_, line, _), of in executed(outcomes).items():
        count = sum(one["service_time"]["count"] for one in of if one)
        ns = sum(one["service_time"]["sum_ns"] for one in of if one)
        found.append(
            {
                "line": line,
                "executions_per_unit": count / units,
                "service_time_ns_mean": ns / count,
                "ns_per_unit": ns / units,
                "snapshots": sum(row[1] for one in of if one for row in one.get("snapshots") or []),
            }
        )
    return found


def _sampling(outcomes: list[Document]) -> Document:
    profiles = [outcome["profile"] for outcome in outcomes]
    periods = [profile["period_ns"] for profile in profiles if profile.get("period_ns")]
    period = statistics.fmean(periods) if periods else None
    if not all(profile.get("cells") for profile in profiles):
        return {"period_ns": period, "snapshots": sum(profile["snapshots"] for profile in profiles), "looked": None}
    rows = [row for profile in profiles for cell in cell_text.unpack(profile["cells"]) for row in cell[7]]
    return {"period_ns": period, "snapshots": sum(row[1] for row in rows), "looked": sum(row[2] for row in rows)}


def _switches(outcomes: list[Document], units: int) -> Document:
    keys = {
        "voluntary_per_unit": "voluntary_switches", "involuntary_per_unit": "involuntary_switches",
        "block_io_delay_ns_per_unit": "block_io_delay_ns", "stolen_cpu_ns_per_unit": "stolen_ns",
    }  # fmt: skip
    counts = {key: [outcome["profile"].get(name) for outcome in outcomes] for key, name in keys.items()}
    return {key: None if None in found else sum(found) / units for key, found in counts.items()}


def _wait_lengths(outcomes: list[Document]) -> Document | None:
    recorded = [outcome["profile"] for outcome in outcomes if outcome["profile"].get("episodes")]
    if not recorded:
        return None
    counts: dict[str, Counter[tuple[int, int]]] = {}
    for profile in recorded:
        for step, event, bin_, count in profile["episodes"]["cells"]:
            counts.setdefault(profile["events"][event], Counter())[step, bin_] += count
    first = recorded[0]["episodes"]
    events = [{"cells": [[*at, counts[event][at]] for at in sorted(counts[event])]} for event in sorted(counts)]
    return {**{key: first[key] for key in ("step_ns", "bins_per_decade", "shortest_ns")}, "events": events}


def _little(outcome: Document) -> float:
    expected = (
        outcome["throughput_per_s"] * outcome["response_time"]["sum_ns"] / outcome["response_time"]["count"] / 1e9
    )
    in_flight = outcome["mean_in_flight"]
    return abs(in_flight - expected) / in_flight if in_flight > 0 else 1.0


def _distribution(histograms: list[str]) -> list[Document]:
    bars: Counter[int] = Counter()
    for text in histograms:
        for _, highest, count in hdr.decode(text):
            if count:
                bars[math.floor(math.log10(max(highest, 1)) * BARS_PER_DECADE)] += count
    return [{"low_ns": _edge(bar), "high_ns": _edge(bar + 1), "count": bars[bar]} for bar in sorted(bars)]


def _edge(bar: int) -> int:
    return math.floor(10 ** (bar / BARS_PER_DECADE) + 0.5)


def _trial(arm: Document, place: int, trial: Document) -> Document:
    outcome = trial["outcome"]
    clock = outcome["response_time"]
    return {
        **{key: trial[key] for key in ("trial", "block", "attempt")},
        "order": place,
        "throughput_per_s": outcome["throughput_per_s"],
        "elapsed_ns": outcome["elapsed_ns"] if _fixed(arm) else None,
        "response_time_ns_mean": clock["sum_ns"] / clock["count"],
        "step_ns": outcome["series"]["step_ns"],
        "series_units": outcome["series"]["units"],
    }
