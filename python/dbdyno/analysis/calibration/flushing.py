"""What a flush takes, by method and by writers.

Methods are compared within blocks, in which all of them stand in random order: on one disk four runs of a tool that
goes through the methods once, minutes apart, named four different winners, and blocks put all methods within 1.3 %.
A block's figure is the median of its commits: a flush has modes, and a mean of few commits is that of its slowest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dbdyno.analysis.calibration.block_bootstrap import BlockBootstrap, lag_one
from dbdyno.analysis.calibration.entries import Blocks, by_level
from dbdyno.analysis.calibration.findings import Flush, GroupCommit
from dbdyno.analysis.documents import Document
from dbdyno.analysis.estimates import exponential
from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.holm import of_all
from dbdyno.analysis.signed_rank import hodges_lehmann, interval, p_value
from dbdyno.analysis.verdict import Effect, verdict

BASELINE = "fdatasync"
# A method that is better by less is not worth a change of a setting.
MARGIN = 0.05
NS_PER_S = 1e9


def flushes(entries: Sequence[Document], seed: int) -> tuple[Flush, ...]:
    """Each method, the baseline first."""
    found = by_level(entries, "flush", "method")
    if BASELINE not in found:
        return ()
    medians = {method: block_medians(blocks) for method, blocks in found.items()}
    correlation = lag_one([np.log(list(by_block.values())) for by_block in medians.values()])
    others = [method for method in found if method != BASELINE]
    logs = {method: _logs(medians[method], medians[BASELINE]) for method in others}
    holm = dict(zip(others, of_all([p_value(logs[method]) for method in others]), strict=True))
    return tuple(
        _flush(method, found[method], list(medians[method].values()), correlation, seed, logs.get(method), holm)
        for method in (BASELINE, *others)
    )


def growing(entries: Sequence[Document], seed: int) -> Flush | None:
    """The baseline's commits in a file that grows, against those that write over what is there."""
    grown, over = by_level(entries, "flush_growing", "method"), by_level(entries, "flush", "method")
    if BASELINE not in grown or BASELINE not in over:
        return None
    medians, logs = block_medians(grown[BASELINE]), _logs(block_medians(grown[BASELINE]), block_medians(over[BASELINE]))
    series = list(medians.values())
    holm = {BASELINE: p_value(logs)}
    return _flush(BASELINE, grown[BASELINE], series, lag_one([np.log(series)]), seed, logs, holm)


def group_commits(entries: Sequence[Document], seed: int) -> tuple[GroupCommit, ...]:
    """So many writers, of which one flushes for all."""
    found = by_level(entries, "group_commit", "writers")
    rates = {writers: block_rates(blocks) for writers, blocks in found.items()}
    correlation = lag_one([np.log(each) for each in rates.values()])
    return tuple(_group(writers, found[writers], each, correlation, seed) for writers, each in rates.items())


def block_medians(blocks: Blocks) -> dict[int, float]:
    """The median commit of each block."""
    return {entry["block"]: float(np.median(entry["outcome"]["times_ns"])) for entry in blocks.entries}


def _logs(mine: dict[int, float], theirs: dict[int, float]) -> list[float]:
    return [math.log(mine[block] / theirs[block]) for block in mine if block in theirs]


def _flush(
    method: str,
    blocks: Blocks,
    medians: list[float],
    correlation: float,
    seed: int,
    logs: list[float] | None,
    holm: dict[str, float | None],
) -> Flush:
    times_ns = np.concatenate([outcome["times_ns"] for outcome in blocks.outcomes])
    bootstrap = BlockBootstrap.of(len(medians), correlation, seed)
    # The median of all commits, with the interval of the blocks' geometric mean around it.
    centre = float(np.median(times_ns))
    spread = np.exp(bootstrap.totals(np.log(medians)) / len(medians))
    p50 = bootstrap.estimate(centre * spread / spread[0])
    p99_ns = float(np.quantile(times_ns, 0.99))
    if logs is None:
        return Flush(method, len(times_ns), p50, p99_ns, None, None, None)
    ratio, word = _compared(logs, holm[method])
    return Flush(method, len(times_ns), p50, p99_ns, ratio, holm[method], word)


def _compared(logs: list[float], p_holm: float | None) -> tuple[Estimate, str]:
    centre = hodges_lehmann(logs)
    of_95, of_90 = (exponential(Estimate(centre, *(interval(logs, level) or (None, None)))) for level in (0.95, 0.90))
    return of_95, verdict(Effect.of(len(logs), of_95, of_90, p_holm, MARGIN), MARGIN, higher_is_better=False)


def block_rates(blocks: Blocks) -> list[float]:
    """Commits a second, block by block."""
    return [len(outcome["times_ns"]) / outcome["elapsed_ns"] * NS_PER_S for outcome in blocks.outcomes]


def _group(writers: int, blocks: Blocks, rates: list[float], correlation: float, seed: int) -> GroupCommit:
    bootstrap = BlockBootstrap.of(len(rates), correlation, seed)
    commits = np.array([len(outcome["times_ns"]) for outcome in blocks.outcomes])
    elapsed_ns = np.array([outcome["elapsed_ns"] for outcome in blocks.outcomes])
    per_s = bootstrap.estimate(bootstrap.totals(commits) / bootstrap.totals(elapsed_ns) * NS_PER_S)
    times_ns = np.concatenate([outcome["times_ns"] for outcome in blocks.outcomes])
    flushed = sum(outcome["flushes"] for outcome in blocks.outcomes)
    return GroupCommit(writers, per_s, float(np.median(times_ns)), int(commits.sum()) / flushed)
