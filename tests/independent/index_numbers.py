"""Each index that some arm is without: what it gives, what it costs (docs/findings.md, "An index")."""

from __future__ import annotations

import math
import re
from typing import Any

from arm_numbers import figure
from journal_reader import Document
from pair_numbers import HIGHER_IS_BETTER, WITHHOLDING, Compared, adjusted, blocks_needed
from rank_statistics import estimate, hodges_lehmann, interval, p_value, pseudo_median

# Figure -> what is divided by what, whether more is better, whether it is a share (compared by its difference).
ROWS = ("rows_inserted", "rows_updated", "rows_deleted")
COSTS: dict[str, tuple[str, tuple[str, ...], bool, bool]] = {
    "wal_bytes_per_row_written": ("wal_bytes", ROWS, False, False),
    "buffers_written_per_row_written": ("buffers_written", ROWS, False, False),
    "hot_share": ("rows_updated_hot", ("rows_updated",), True, True),
    "new_page_share": ("rows_updated_new_page", ("rows_updated",), False, True),
}
SAVING = 0.01

Subject = dict[str, Any]  # index, without, whole, under


def index_numbers(compared: Compared, comparisons: list[Document], limited_by: list[list[str]]) -> list[Document]:
    """Each index in file order."""
    of_pair = {
        pair: (one, set(codes)) for pair, one, codes in zip(compared.pairs(), comparisons, limited_by, strict=True)
    }
    subjects = [
        s for s in _subjects(compared) if not of_pair.get((s["without"], s["whole"]), ({}, set()))[1] & WITHHOLDING
    ]
    benefits, costs = [], []
    for subject in subjects:
        if pair := of_pair.get((subject["without"], subject["whole"])):
            costs.append((subject, *_metric_cost(compared, subject, pair[0])))
    for under in dict.fromkeys(subject["under"] for subject in subjects):
        alike = [subject for subject in subjects if subject["under"] == under]
        benefits += _benefits(compared, alike)
        costs += _costs(compared, alike)
    found = []
    for name in dict.fromkeys(subject["index"]["name"] for subject in subjects):
        own = [subject for subject in subjects if subject["index"]["name"] == name]
        gains = [one for one in benefits if one[0] in own]
        prices = [one for one in costs if one[0] in own]
        worse = any(
            of_pair[s["without"], s["whole"]][0]["verdict"] == "worse"
            for s in own
            if (s["without"], s["whole"]) in of_pair
        )
        found.append(_weighed(compared, own, gains, prices, worse))
    return found


def _subjects(compared: Compared) -> list[Subject]:
    by_levels = {tuple(arm["levels"].items()): arm["arm"] for arm in compared.run["arms"]}
    found = []
    for arm in compared.run["arms"]:
        if index := arm.get("index"):
            levels = {**arm["levels"], index["factor"]: "all-indexes"}
            under = "/".join(level for factor, level in arm["levels"].items() if factor != index["factor"])
            if whole := by_levels.get(tuple(levels.items())):
                found.append({"index": index, "without": arm["arm"], "whole": whole, "under": under or None})
    return found


def _weighed(compared: Compared, own: list[Subject], gains: list, prices: list, worse: bool) -> Document:
    words = [gain["verdict"] for _, gain, _ in gains]
    saved = any(cost["saved"] for _, cost, _ in prices)
    verdict = "no evidence"
    if worse or "slower" in words:
        verdict = "keep"
    elif saved and set(words) <= {"not slower"}:
        verdict = "drop"
    needed = None
    if verdict == "no evidence":
        still_open = [blocks for _, gain, blocks in gains if gain["verdict"] == "open"]
        savings = [blocks for _, _, blocks in prices if blocks is not None]
        needed = (None if None in still_open else max(still_open)) if still_open else min(savings, default=None)
    trials = [block[subject["whole"]] for subject in own for block in compared.blocks.values()]
    scans = [trial.get("index_scans", {}).get(own[0]["index"]["name"]) for trial in trials]
    units = sum(t["outcome"].get("units_with_warm_up", t["outcome"]["units"]["successful"]) for t in trials)
    gains = sorted(gains, key=lambda one: (one[1]["verdict"] != "slower", -one[1]["ratio"]["estimate"]))
    return {
        "bytes": own[0]["index"]["bytes"],
        "verdict": verdict,
        "scans_per_unit": None if None in scans else sum(scans) / units,
        "benefits": [gain for _, gain, _ in gains],
        "costs": [cost for _, cost, _ in prices],
        "blocks_needed": needed,
    }


def _ratio(logs: list[float], confidence: float) -> Document:
    return estimate(logs, interval(logs, confidence), logs=True)


def _benefits(compared: Compared, alike: list[Subject]) -> list[tuple[Subject, Document, int | None]]:
    asked = [(subject, logs) for subject in alike for logs in _slowdowns(compared, subject)]
    p_values = [p_value(logs) for _, logs in asked]
    margin = compared.run["margin"]
    found = []
    for (subject, logs), p, p_holm in zip(asked, p_values, adjusted(p_values, "holm"), strict=True):
        ratio, ratio_90 = _ratio(logs, 0.95), _ratio(logs, 0.90)
        verdict = "open"
        if p_holm is not None and p_holm < 0.05 and ratio["estimate"] >= 1 + margin:
            verdict = "slower"
        elif ratio_90["high"] is not None and ratio_90["high"] < 1 + margin:
            verdict = "not slower"
        needed = blocks_needed(len(logs), ratio, ratio_90, margin, len(asked)) if verdict == "open" else None
        found.append((subject, {"ratio": ratio, "p_value": p, "p_value_holm": p_holm, "verdict": verdict}, needed))
    return found


def _slowdowns(compared: Compared, subject: Subject) -> list[list[float]]:
    """Log of the mean response time without / with the index, of each kind that uses it, in the order of names."""
    name = subject["index"]["name"]
    with_it = [block[subject["whole"]] for block in compared.blocks.values()]
    if all(trial.get("index_scans", {}).get(name) == 0 for trial in with_it):
        return []
    used = re.compile(rf"( using | Index Scan on ){re.escape(name)}( on |$|[ )])")
    users = {plan["script"] for trial in with_it for plan in trial.get("plans", ()) if used.search(" " + plan["shape"])}
    logs: dict[str, list[float]] = {}
    for block in compared.blocks.values():
        whole, without = _means(block[subject["whole"]]), _means(block[subject["without"]])
        for script in whole.keys() & without.keys():
            logs.setdefault(script, []).append(math.log(without[script] / whole[script]))
    enough = min(6, len(compared.blocks))
    return [logs[script] for script in sorted(users & logs.keys() or logs) if len(logs[script]) >= enough]


def _means(trial: Document) -> dict[str, float]:
    sums: dict[str, list[int]] = {}
    for script in trial["outcome"]["scripts"]:
        both = sums.setdefault(script["name"], [0, 0])
        both[0] += script["response_time"]["sum_ns"]
        both[1] += script["response_time"]["count"]
    return {name: total / count for name, (total, count) in sums.items() if total and count}


def _metric_cost(compared: Compared, subject: Subject, comparison: Document) -> tuple[Document, int | None]:
    metric = compared.run["metric"]

    def typical(arm: str) -> float | None:
        values = [figure(metric, compared.arms[arm], block[arm]) for block in compared.blocks.values()]
        return pseudo_median(values)["estimate"]

    ratio = comparison["ratio"]["estimate"]
    worth = (ratio if HIGHER_IS_BETTER[metric] else 1 / ratio) >= 1 + SAVING
    cost = {
        "with_index": typical(subject["whole"]),
        "without_index": typical(subject["without"]),
        "change": comparison["ratio"],
        "p_value_holm": comparison["p_value_holm"],
        "saved": comparison["verdict"] in ("better", "small") and worth,
    }
    return cost, comparison["blocks_needed"] if worth else None


def _costs(compared: Compared, alike: list[Subject]) -> list[tuple[Subject, Document, int | None]]:
    asked = []
    for subject in alike:
        for name, (_, _, _, share) in COSTS.items():
            pairs = [
                [_cost(name, block[arm]) for arm in (subject["whole"], subject["without"])]
                for block in compared.blocks.values()
            ]
            if all(None not in pair and (share or min(pair) > 0) for pair in pairs):
                asked.append((subject, name, pairs))
    changes = [[b - a if COSTS[name][3] else math.log(b / a) for a, b in pairs] for _, name, pairs in asked]
    p_all = adjusted([p_value(change) for change in changes], "holm")
    found = []
    for (subject, name, pairs), change, p in zip(asked, changes, p_all, strict=True):
        _, _, more_is_better, share = COSTS[name]
        middle = hodges_lehmann(change) if more_is_better else -hodges_lehmann(change)
        matters = middle >= (SAVING if share else math.log1p(SAVING))
        saved = matters and p is not None and p < 0.05
        needed = None
        if matters and not saved and not share:
            needed = blocks_needed(len(change), _ratio(change, 0.95), _ratio(change, 0.90), SAVING, len(asked))
        cost = {
            "with_index": pseudo_median([a for a, _ in pairs])["estimate"],
            "without_index": pseudo_median([b for _, b in pairs])["estimate"],
            "change": estimate(change, interval(change, 0.95), logs=not share),
            "p_value_holm": p,
            "saved": saved,
        }
        found.append((subject, cost, needed))
    return found


def _cost(name: str, trial: Document) -> float | None:
    part, whole, _, _ = COSTS[name]
    server = trial["server"]
    if not {part, *whole} <= server.keys() or not sum(server[one] for one in whole):
        return None
    return server[part] / sum(server[one] for one in whole)
