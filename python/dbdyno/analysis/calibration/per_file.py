"""Files that were there, side by side: each as a whole, and its thirds against one another.

A third is compared with the other two within its block, so that what the device did meanwhile is in both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from dbdyno.analysis.calibration.block_bootstrap import BlockBootstrap
from dbdyno.analysis.calibration.entries import Blocks, correlation_of, grouped, latency
from dbdyno.analysis.calibration.findings import FileFigures, Third
from dbdyno.analysis.documents import Document
from dbdyno.analysis.estimates import ratio
from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.holm import SIGNIFICANCE, of_all
from dbdyno.analysis.signed_rank import p_value

NS_PER_S = 1e9
THIRDS = 3
# Less has harmless reasons: the rim of a disk and its middle, the state of its flash.
LEAST_RATIO = 1.2
# With more, a third is slower because others need no device for their zeros, which is told by itself.
MOST_ZEROS = 0.01
# By file and third: the log of its mean response time over those of the other thirds, by block.
Logs = dict[tuple[int, int], list[float]]


def per_file(entries: Sequence[Document], named: Sequence[Mapping[str, Any]], seed: int) -> tuple[FileFigures, ...]:
    """The figures of each file, in the order in which they were named."""
    logs = _logs(entries)
    p_values = dict(zip(logs, of_all([p_value(each) for each in logs.values()]), strict=True))
    return tuple(_file(entries, number, file, logs, p_values, seed) for number, file in enumerate(named))


def _file(
    entries: Sequence[Document],
    number: int,
    named: Mapping[str, Any],
    logs: Logs,
    p_values: Mapping[tuple[int, int], float | None],
    seed: int,
) -> FileFigures:
    mine = [entry for entry in entries if entry["phase"] == "files" and entry["level"]["file"] == number]
    whole = grouped([entry for entry in mine if entry["level"]["part"] is None], "files", lambda level: level["depth"])
    thirds = grouped(
        [entry for entry in mine if entry["level"]["part"] is not None], "files", lambda level: level["part"]
    )
    several = max(whole, default=1)
    at_once = [entry for entry in entries if entry["phase"] == "together" and entry["level"]["file"] == number]
    zeros = zero_share(mine)
    return FileFigures(
        path=named["path"],
        bytes_=named["bytes"],
        device=named["device"],
        file_system=named["file_system"],
        idle=latency(whole[1], _bootstrap(whole[1], seed)) if 1 in whole else None,
        depth=several,
        iops=_iops(whole[several], seed) if several > 1 else None,
        zero_share=zeros,
        thirds=tuple(
            _third(blocks, logs[number, part], p_values[number, part], full=zeros <= MOST_ZEROS)
            for part, blocks in thirds.items()
            if (number, part) in logs
        ),
        together=_together(Blocks(tuple(at_once)), whole[several], seed) if several > 1 and at_once else None,
    )


def zero_share(entries: Sequence[Document]) -> float:
    """Of the reads, how many brought nothing but zeros."""
    looked = [entry["outcome"] for entry in entries if entry["outcome"].get("zero_response_time")]
    reads = sum(outcome["reads"] for outcome in looked)
    return sum(outcome["zero_response_time"]["count"] for outcome in looked) / reads if reads else 0.0


def _bootstrap(blocks: Blocks, seed: int) -> BlockBootstrap:
    return BlockBootstrap.of(len(blocks.entries), correlation_of([blocks]), seed)


def _iops(blocks: Blocks, seed: int) -> Estimate:
    bootstrap = _bootstrap(blocks, seed)
    return bootstrap.estimate(bootstrap.totals(blocks.ios) / bootstrap.totals(blocks.window_ns) * NS_PER_S)


def _together(at_once: Blocks, alone: Blocks, seed: int) -> Estimate | None:
    """The throughput beside the others over that alone, drawn by the same blocks; None where some are missing."""
    if len(at_once.entries) != len(alone.entries):
        return None
    bootstrap = _bootstrap(alone, seed)
    rates = [bootstrap.totals(blocks.ios) / bootstrap.totals(blocks.window_ns) for blocks in (at_once, alone)]
    return bootstrap.estimate(rates[0] / rates[1])


def _third(blocks: Blocks, logs: Sequence[float], p: float | None, *, full: bool) -> Third:
    slower = ratio(logs)
    work = blocks.entries[0]["work"]
    return Third(
        first_byte=work["first_byte"],
        span_bytes=work["span_bytes"],
        mean_ns=float(blocks.response_time_sum_ns.sum() / max(1, blocks.ios.sum())),
        ratio=slower,
        p_value_holm=p,
        slow=full and p is not None and p < SIGNIFICANCE and slower.estimate > LEAST_RATIO,
    )


def _logs(entries: Sequence[Document]) -> Logs:
    """Blocks in which all thirds of a file were read."""
    means: dict[tuple[int, int], dict[int, float]] = {}
    for entry in entries:
        if entry["phase"] == "files" and entry["level"]["part"] is not None:
            times = entry["outcome"]["response_time"]
            if times["count"]:
                of_block = means.setdefault((entry["level"]["file"], entry["block"]), {})
                of_block[entry["level"]["part"]] = math.log(times["sum_ns"] / times["count"])
    found: Logs = {}
    for (file, _), of_block in means.items():
        if len(of_block) == THIRDS:
            for part, log in sorted(of_block.items()):
                others = fmean(each for other, each in of_block.items() if other != part)
                found.setdefault((file, part), []).append(log - others)
    return found
