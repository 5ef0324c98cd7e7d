"""Steadiness within trials, noise from outside, and what an arm leaves behind for the next one."""

from __future__ import annotations

import itertools
import math
import statistics
from typing import Any

import numpy as np
import statsmodels.api as sm
from arm_numbers import figure
from journal_reader import Blocks, Document
from pair_numbers import HIGHER_IS_BETTER, adjusted
from rank_statistics import p_value
from scipy import stats

WARM_UP_LEVEL, WARM_UP_SIZE, STEP_SIZE, STEP_ERRORS = 0.01, 0.05, 0.20, 5.0
LEVEL = 0.01


def steadiness(arm: Document, trials: list[Document]) -> Document:
    """Whether the first fifth of windows runs as the last half does, and which trials have a step."""
    timed = arm.get("fixed_units") is None
    starts = [start for trial in trials if timed and (start := _start(arm, trial))]
    logs = [log for log, _ in starts]
    p = p_value(logs)
    ratio = over = None
    if p is not None:
        typical, edges = statistics.median(logs), statistics.median(edge for _, edge in starts)
        ratio = math.exp(typical)
        over = not (p < WARM_UP_LEVEL and abs(typical) > math.log1p(WARM_UP_SIZE) + edges)
    flagged: dict[str, list[int]] = {}
    codes = [(trial["trial"], code) for trial in trials for code in _codes(arm, trial, timed)]
    for kind in ("step", "warm_up", "checkpoint", "autovacuum"):
        if found := [number for number, code in codes if code == kind]:
            flagged[kind] = found
    return {
        "trials": len(trials),
        "start_ratio": ratio,
        "p_value": p,
        "warm_up_over": over is not False,
        "flagged": flagged,
    }


def _full(trial: Document) -> list[int]:
    series = trial["outcome"]["series"]
    return series["units"][: trial["outcome"]["window_ns"] // series["step_ns"]]


def _edge_units(arm: Document, trial: Document) -> float:
    return arm["clients"] if arm["arrival"]["kind"] == "closed" else trial["outcome"]["mean_in_flight"]


def _start(arm: Document, trial: Document) -> tuple[float, float] | None:
    units = _full(trial)
    if len(units) < 5:
        return None
    fifth, half = len(units) // 5, len(units) // 2
    first, last = sum(units[:fifth]) + 0.5, sum(units[len(units) - half :]) + 0.5
    return math.log(first / fifth) - math.log(last / half), _edge_units(arm, trial) * (1 / first + 1 / last)


def _codes(arm: Document, trial: Document, timed: bool) -> list[str]:
    found = [_step(arm, trial)] if timed else []
    waits = [
        (process["backend_type"], event)
        for process in trial["outcome"]["background"]
        for event, ns in (process["waits_ns"] or {"": 1}).items()
        if ns > 0
    ]
    writing = any(
        kind == "checkpointer" and (event.startswith("IO:") or event == "Timeout:CheckpointWriteDelay")
        for kind, event in waits
    )
    worker = any(process["backend_type"] == "autovacuum worker" for process in trial["outcome"]["background"])
    found += ["checkpoint"] if writing or trial["server"].get("checkpoints", 0) > 0 else []
    found += ["autovacuum"] if worker or trial["server"].get("autovacuums", 0) > 0 else []
    return [code for code in found if code]


def _step(arm: Document, trial: Document) -> str | None:
    """The split at which the rates of both sides differ by most standard errors, where they differ enough."""
    units = _full(trial)
    if len(units) < 8:
        return None
    edges = [int(edge) for edge in np.linspace(0, len(units), min(20, len(units)) + 1)]
    widths = [b - a for a, b in itertools.pairwise(edges)]
    rates = [sum(units[a:b]) / (b - a) for a, b in itertools.pairwise(edges)]
    steps = len(rates)
    at_random = statistics.fmean(rates) / statistics.fmean(widths)
    best: tuple[float, int, float, float] = (-1.0, 0, 0.0, 0.0)
    for split in range(2, steps - 1):
        left, right = statistics.fmean(rates[:split]), statistics.fmean(rates[split:])
        within = sum((r - left) ** 2 for r in rates[:split]) + sum((r - right) ** 2 for r in rates[split:])
        variance = max(within / (steps - 2), at_random, 1e-300)
        errors = abs(right - left) / math.sqrt(variance * (1 / split + 1 / (steps - split)))
        best = max(best, (errors, -split, left, right))
    errors, split, left, right = best[0], -best[1], best[2], best[3]
    place = edges[split]
    sides = [max(left * place, 0.5), max(right * (len(units) - place), 0.5)]
    allowed = _edge_units(arm, trial) * sum(1 / side for side in sides) + math.log1p(STEP_SIZE)
    low, high = sorted((left, right))
    if errors <= STEP_ERRORS or high <= low * math.exp(min(allowed, 700)):
        return None
    return "warm_up" if place / len(units) <= 0.2 else "step"


# Trials in a grid, a row a block and a column an arm: what is left of each without its arm and its block.


def _left(grid: np.ndarray) -> np.ndarray:
    left = grid - np.median(grid, axis=0)
    if grid.shape[1] == 1:
        return left
    others = [np.median([row[:at] + row[at + 1 :] for row in left.tolist()], axis=1) for at in range(grid.shape[1])]
    return left - np.array(others).T


def _centred(grid: np.ndarray) -> np.ndarray:
    return grid - grid.mean(axis=1)[:, None] - grid.mean(axis=0)[None] + grid.mean()


def _ranks(grid: np.ndarray) -> np.ndarray:
    return _centred(stats.rankdata(grid).reshape(grid.shape))


def _metric_grid(run: Document, blocks: Blocks) -> np.ndarray:
    metric = run["metric"]
    return np.log([[figure(metric, arm, block[arm["arm"]]) for arm in run["arms"]] for block in blocks.values()])


SOURCES: dict[str, tuple[float, bool]] = {
    "steal": (0.02, False), "other_cpu": (0.05, False), "other_disk": (0.25, True), "cpu_pressure": (0.10, True),
    "io_pressure": (0.10, True), "memory_pressure": (0.01, True), "cpu_clock": (0.10, False),
}  # fmt: skip


def _read(source: str, trial: Document) -> float | None:
    if source == "steal":
        return (trial.get("host") or {}).get("cpu_steal_share")
    noise: dict[str, Any] = trial.get("noise") or {}
    if source == "other_disk":
        quiet = noise.get("other_disk_bytes_per_s", 0.0) < 1e6 and "other_disk_share" in noise
        return 0.0 if quiet else noise.get("other_disk_share")
    suffix = "_hz" if source == "cpu_clock" else "_some_share" if source.endswith("pressure") else "_share"
    return noise.get(source + suffix)


def noise(run: Document, blocks: Blocks) -> list[Document]:
    """Each source that some trial knows."""
    if not blocks:
        return []
    names = [arm["arm"] for arm in run["arms"]]
    better = 1 if HIGHER_IS_BETTER[run["metric"]] else -1
    left = _left(_metric_grid(run, blocks))
    found, tested = [], []
    for source, (limit, above_median) in SOURCES.items():
        grid = np.array([[_read(source, block[arm]) for arm in names] for block in blocks.values()], dtype=float)
        known = ~np.isnan(grid)
        if not known.any():
            continue
        if source == "cpu_clock":
            grid = 1 - grid / np.nanmax(grid)
        usual = [np.median(column[~np.isnan(column)]) if (~np.isnan(column)).any() else 0.0 for column in grid.T]
        hit = known & (np.nan_to_num(grid) > (np.array(usual) if above_median else 0.0) + limit)
        rest = known & ~hit
        numbers = np.array([[block[arm]["trial"] for arm in names] for block in blocks.values()])
        correlation, p = (None, None) if not known.all() or len(names) < 2 else _correlation(left * better, _left(grid))
        found.append(
            {
                "trials": int(known.sum()),
                "trials_hit": sorted(int(number) for number in numbers[hit]),
                "share_median": float(np.median(grid[known])),
                "share_max": float(grid[known].max()),
                "limit": limit,
                "hit_ratio": math.exp(np.median(left[hit]) - np.median(left[rest]))
                if hit.any() and rest.any()
                else None,
                "correlation": correlation,
                "p_value": p,
            }
        )
        tested += [] if p is None else [p]
    corrected = iter(adjusted(tested, "holm"))
    for one in found:
        one["p_value"] = None if one["p_value"] is None else next(corrected)
        one["told"] = one["p_value"] is not None and one["correlation"] < 0 and one["p_value"] < LEVEL
    return found


def _correlation(x: np.ndarray, y: np.ndarray) -> tuple[float | None, float | None]:
    """Of ranks; what each block adds to it is one figure for Student's t."""
    a, b = _ranks(x), _ranks(y)
    spread = math.sqrt((a**2).sum() * (b**2).sum())
    of_blocks = (a * b).sum(axis=1)
    if spread == 0 or len(of_blocks) < 2 or of_blocks.std() == 0:
        return None, None
    return float((a * b).sum() / spread), float(stats.ttest_1samp(of_blocks, 0.0).pvalue)


def carry_over(run: Document, blocks: Blocks, trials: list[Document]) -> Document | None:
    """Trials by the arm that ran before them."""
    names = [arm["arm"] for arm in run["arms"]]
    if len(names) < 2 or not blocks:
        return None
    in_time = sorted(trials, key=lambda trial: (trial["attempt"], trial["trial"]))
    before = {id(now): then["arm"] for then, now in itertools.pairwise(in_time)}
    previous = [[before.get(id(block[arm])) for arm in names] for block in blocks.values()]
    marks = {arm: np.array([[one == arm for one in row] for row in previous], dtype=float) for arm in names}
    marks = {arm: mark for arm, mark in marks.items() if mark.sum() >= 5}
    if len(marks) < 2:
        return None
    left = _left(_metric_grid(run, blocks))
    columns = np.stack([_centred(mark).ravel() for mark in marks.values()], axis=1)
    p = _f_test(_ranks(left).ravel(), columns, (len(blocks) - 1) * (len(names) - 1))
    deviation = float(np.median(np.abs(left))) * 1.4826
    drawn_in = _centred(np.clip(left, -3 * deviation, 3 * deviation)).ravel()
    effects = sm.OLS(drawn_in, columns).fit(method="pinv").params
    ratios = {}
    for at, arm in enumerate(marks):
        others = np.delete(effects, at).mean()
        ratios[arm] = math.exp((effects[at] - others) * (len(names) - 1) / len(names))
    # Two arms have one effect with two signs: then in their order.
    ordered = sorted(marks, key=lambda arm: round(abs(math.log(ratios[arm])), 12), reverse=True)
    return {
        "p_value": p,
        "told": p < LEVEL,
        "after": [{"arm": arm, "trials": int(marks[arm].sum()), "ratio": ratios[arm]} for arm in ordered],
    }


def _f_test(ranks: np.ndarray, columns: np.ndarray, freedom: int) -> float:
    fitted = sm.OLS(ranks, columns).fit(method="pinv")
    rank = int(np.linalg.matrix_rank(columns, tol=1e-9 * np.linalg.norm(columns, 2)))
    rest = freedom - rank
    if rank == 0 or rest < 1 or fitted.ssr <= 0:
        return 1.0
    return float(stats.f.sf((float(ranks @ ranks) - fitted.ssr) / rank / (fitted.ssr / rest), rank, rest))
