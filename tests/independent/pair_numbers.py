"""What is compared: verdicts, reasons, other metrics, two factors, the null arm, and when the run was looked at."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from arm_numbers import figure
from journal_reader import Blocks, Document
from rank_statistics import Reading
from replicates import Replicates, estimate, simultaneous_p_values
from scipy import stats
from statsmodels.stats.multitest import multipletests
from time_numbers import mean_parts

HIGHER_IS_BETTER = {
    "throughput_per_s": True, "rows_per_s": True, "bytes_per_s": True, "elapsed_ns": False,
    "response_time_ns_mean": False, "response_time_ns_p50": False, "response_time_ns_p95": False,
    "response_time_ns_p99": False,
}  # fmt: skip
# A percentile is asked where 10 units lie beyond it.
UNITS_FOR = {"response_time_ns_p50": 20, "response_time_ns_p95": 200, "response_time_ns_p99": 1_000}
WITHHOLDING = {"check", "deviation"}

Pair = tuple[str, str]


class Compared:
    """A run's blocks, and how they may be read."""

    def __init__(self, run: Document, blocks: Blocks) -> None:
        self.run, self.blocks = run, blocks
        self.arms = {arm["arm"]: arm for arm in run["arms"]}
        self.reading = Reading(run, len(blocks))

    def logs(self, pair: Pair, metric: str) -> list[float]:
        """The log ratio of each block."""
        values = [[figure(metric, self.arms[arm], block[arm]) for arm in pair] for block in self.blocks.values()]
        return [math.log(arm / baseline) for arm, baseline in values]

    def pairs(self) -> list[Pair]:
        """Each arm with its baseline, or all with all that share one; null arms with nobody."""
        real = [arm for arm in self.run["arms"] if not arm.get("null")]
        if self.run.get("all_pairs"):
            group = {arm["arm"]: arm["baseline"] or arm["arm"] for arm in real}
            return [(b, a) for a, b in itertools.combinations(group, 2) if group[a] == group[b]]
        return [(arm["arm"], arm["baseline"]) for arm in real if arm["baseline"] in self.arms]


def adjusted(p_values: Sequence[float | None], method: str) -> list[float | None]:
    """By statsmodels; None for all where one is not known."""
    if not p_values or None in p_values:
        return [None] * len(p_values)
    return [float(p) for p in multipletests(p_values, method=method)[1]]


def comparisons(compared: Compared, arm_findings: dict[str, Document], limited_by: list[list[str]]) -> list[Document]:
    """The run's metric.

    Args:
        compared: the blocks.
        arm_findings: the recomputed numbers of each arm.
        limited_by: the codes of warnings that stand beside each verdict, from the findings: words, not numbers.
    """
    run, metric = compared.run, compared.run["metric"]
    pairs = compared.pairs()
    logs = [compared.logs(pair, metric) for pair in pairs]
    p_values = [compared.reading.p_value(each) for each in logs]
    found = []
    for pair, each, p, p_holm, codes in zip(pairs, logs, p_values, adjusted(p_values, "holm"), limited_by, strict=True):
        ratio, ratio_90 = compared.reading.ratio(each, 0.95), compared.reading.ratio(each, 0.90)
        verdict = _verdict(ratio, ratio_90, p_holm, run["margin"], HIGHER_IS_BETTER[metric])
        withheld = bool(WITHHOLDING & set(codes))
        needed = None
        if verdict == "undecided" and not withheld:
            needed = blocks_needed(len(each), ratio, ratio_90, run["margin"], len(pairs))
        found.append(
            {
                "ratio": ratio,
                "ratio_90": ratio_90,
                "p_value": p,
                "p_value_holm": p_holm,
                "verdict": "undecided" if withheld else verdict,
                "blocks_needed": needed,
                "block_ratios": [math.exp(log) for log in each],
                "why": _why(compared, pair, arm_findings),
            }
        )
    return found


def _verdict(ratio: Document, ratio_90: Document, p_holm: float | None, margin: float, higher: bool) -> str:
    if p_holm is None:
        return "undecided"
    if p_holm < 0.05:
        if 1 / (1 + margin) < ratio["estimate"] < 1 + margin:
            return "small"
        return "better" if (ratio["estimate"] > 1) == higher else "worse"
    inside = ratio_90["low"] is not None and 1 / (1 + margin) < ratio_90["low"] and ratio_90["high"] < 1 + margin
    return "same" if inside else "undecided"


def blocks_needed(blocks: int, ratio: Document, ratio_90: Document, margin: float, family: int) -> int | None:
    """n x (half-width / target)^2, for the effect itself or for what is left of the margin, whichever is sooner."""
    fewest = max(blocks + 1, next(n for n in itertools.count(1) if family * 2.0 / 2.0**n < 0.05))
    if ratio["low"] is None or ratio_90["low"] is None:
        return fewest
    effect = abs(math.log(ratio["estimate"]))
    stricter = NormalDist().inv_cdf(1 - 0.05 / family / 2) / NormalDist().inv_cdf(0.975)
    half_95, half_90 = (math.log(one["high"] / one["low"]) / 2 for one in (ratio, ratio_90))
    asked = [(half_95 * stricter, effect), (half_90, math.log1p(margin) - effect)]
    each = [
        math.ceil(blocks * (half / target) ** 2) if target > 0 and half / target <= 1_000 else 1_001
        for half, target in asked
    ]
    needed = max(fewest, min(each))
    return needed if needed <= 1_000 else None


def _why(compared: Compared, pair: Pair, arm_findings: dict[str, Document]) -> list[Document]:
    run = compared.run
    replicates = Replicates(len(compared.blocks), run["seed"])
    sides = []
    for arm in pair:
        rows = compared.arms[arm]["rows_per_unit"] if run["metric"] == "rows_per_s" else 1
        names, table = mean_parts([block[arm] for block in compared.blocks.values()], replicates)
        profile = arm_findings[arm]["profile_ns"]
        whole = {**{name: ns for name, ns in profile.items() if name != "waits" and ns is not None}, **profile["waits"]}
        sides.append(({name: ns / rows for name, ns in whole.items()}, dict(zip(names, table.T / rows, strict=True))))
    (arm_whole, arm_table), (base_whole, base_table) = sides
    names = list(dict.fromkeys([*base_whole, *arm_whole]))
    absent = np.zeros(len(next(iter(arm_table.values()))))
    table = np.stack([arm_table.get(name, absent) - base_table.get(name, absent) for name in names], axis=1)
    stretched, p_values = replicates.stretched(table), simultaneous_p_values(table, replicates.clusters)
    found = [
        {
            "part": name,
            "baseline_ns": base_whole.get(name, 0.0),
            "arm_ns": arm_whole.get(name, 0.0),
            "difference_ns": arm_whole.get(name, 0.0) - base_whole.get(name, 0.0),
            "difference": estimate(stretched[:, at]),
            "p_value": p_values[at],
            "told": p_values[at] is not None and p_values[at] < 0.05,
            "baseline_share": base_whole.get(name, 0.0) / sum(base_whole.values()),
        }
        for at, name in enumerate(names)
    ]
    return sorted(found, key=lambda one: -abs(one["difference_ns"]))


def _fit(compared: Compared, limited_by: list[list[str]]) -> list[Pair]:
    """The pairs that have a verdict."""
    return [p for p, codes in zip(compared.pairs(), limited_by, strict=True) if not WITHHOLDING & set(codes)]


def exploratory(compared: Compared, limited_by: list[list[str]]) -> list[Document]:
    """All other metrics: one family for Benjamini and Hochberg."""
    run, pairs = compared.run, _fit(compared, limited_by)
    if not pairs:
        return []
    counts = {t["outcome"]["response_time"]["count"] for block in compared.blocks.values() for t in block.values()}
    fixed = all(arm.get("fixed_units") is not None for arm in run["arms"])
    has = {
        "throughput_per_s": not fixed, "elapsed_ns": fixed and run["metric"] != "bytes_per_s",
        "bytes_per_s": not fixed and all(a.get("bytes_per_unit") for a in run["arms"]),
        "rows_per_s": all(a["rows_per_unit"] for a in run["arms"]),
        "response_time_ns_mean": run["metric"] != "elapsed_ns" or counts != {1},
    }  # fmt: skip
    metrics = [
        m for m in HIGHER_IS_BETTER if m != run["metric"] and has.get(m, True) and min(counts) >= UNITS_FOR.get(m, 0)
    ]
    return _family(compared, [compared.logs(pair, metric) for metric in metrics for pair in pairs], "fdr_bh")


def interactions(compared: Compared, limited_by: list[list[str]]) -> list[Document]:
    """The effect under one level of a factor over the effect under another: one family for Holm."""
    run = compared.run
    effects = {(arm["arm"], arm["baseline"]) for arm in run["arms"]}
    logs = []
    for one, other in itertools.combinations([pair for pair in _fit(compared, limited_by) if pair in effects], 2):
        own, others = _apart(compared, one), _apart(compared, other)
        between = _apart(compared, (one[0], other[0]))
        if own == others and len(between) == 1 and not between.keys() & own.keys():
            here, there = compared.logs(other, run["metric"]), compared.logs(one, run["metric"])
            logs.append([a - b for a, b in zip(here, there, strict=True)])
    return _family(compared, logs, "holm")


def _apart(compared: Compared, pair: Pair) -> dict[str, tuple[str, str]]:
    """The factors in which two arms differ, with both levels."""
    levels, others = (compared.arms[arm]["levels"] for arm in pair)
    return {factor: (levels[factor], others[factor]) for factor in levels if levels[factor] != others[factor]}


def _family(compared: Compared, logs: list[list[float]], method: str) -> list[Document]:
    p_values = [compared.reading.p_value(each) for each in logs]
    key = "p_value_bh" if method == "fdr_bh" else "p_value_holm"
    return [
        {
            "ratio": compared.reading.ratio(each, 0.95),
            "p_value": p,
            key: p_all,
            "told": p_all is not None and p_all < 0.05,
        }
        for each, p, p_all in zip(logs, p_values, adjusted(p_values, method), strict=True)
    ]


def null_arm(compared: Compared, machine: Document) -> Document | None:
    """The copy of a baseline, and how often this machine's copies were called different."""
    arm = next((arm for arm in compared.run["arms"] if arm.get("null")), None)
    if arm is None:
        return None
    logs = compared.logs((arm["arm"], arm["baseline"]), compared.run["metric"])
    p = compared.reading.p_value(logs)
    if p is None:
        return None
    before = machine.get("null_arms") or {"runs": 0, "different": 0}
    runs = before["runs"] + 1
    chance = stats.binom(runs, 0.05)
    return {
        "ratio": compared.reading.ratio(logs, 0.95),
        "p_value": p,
        "different": p < 0.05,
        "on_this_machine": {
            "runs": runs,
            "different": before["different"] + (p < 0.05),
            "expected_least": next(k for k in range(runs + 1) if chance.cdf(k) > 0.025),
            "expected_most": next(k for k in range(runs, -1, -1) if chance.sf(k - 1) > 0.025),
        },
    }


def stopping(compared: Compared, verdicts: list[str]) -> Document:
    """The looks, and whether the run ended at one of them because all was decided."""
    run, complete = compared.run, len(compared.blocks)
    planned = list(run.get("looks") or [run["blocks"]])
    any_time = bool(run.get("until_decided"))
    at_look = complete < run["blocks"] and (complete >= 6 if any_time else complete in planned)
    return {
        "until_decided": any_time,
        "looks": [] if any_time else planned,
        "looked_at": [look for look in planned if look <= complete],
        "decided_early": at_look and bool(verdicts) and "undecided" not in verdicts,
    }
