"""Reads of each size, in order and at random, and all that the device gives for some time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dbdyno.analysis.calibration.block_bootstrap import BlockBootstrap, lag_one
from dbdyno.analysis.calibration.entries import Blocks, grouped
from dbdyno.analysis.calibration.findings import Burst, Size
from dbdyno.analysis.calibration.steady import steady_state
from dbdyno.analysis.calibration.token_bucket import token_bucket
from dbdyno.analysis.documents import Document

NS_PER_S = 1e9
# Of the burst's second half: five rounds of it decide whether it is steady.
ROUNDS_IN_HALF = 5


def sizes(entries: Sequence[Document], seed: int) -> tuple[Size, ...]:
    """The throughput of each size and depth."""
    found = grouped(entries, "sizes", lambda level: (level["io_bytes"], level["depth"], level["sequential"]))
    correlation = lag_one([np.log(np.maximum(blocks.bytes_, 1) / blocks.window_ns) for blocks in found.values()])
    return tuple(_size(level, blocks, correlation, seed) for level, blocks in found.items() if blocks.ios.sum())


def _size(level: tuple[int, int, bool], blocks: Blocks, correlation: float, seed: int) -> Size:
    io_bytes, depth, sequential = level
    bootstrap = BlockBootstrap.of(len(blocks.entries), correlation, seed)
    per_s = bootstrap.totals(blocks.bytes_) / bootstrap.totals(blocks.window_ns) * NS_PER_S
    mean_ns = bootstrap.totals(blocks.response_time_sum_ns) / np.maximum(bootstrap.totals(blocks.ios), 1)
    return Size(io_bytes, depth, sequential, bootstrap.estimate(per_s), bootstrap.estimate(mean_ns))


def burst(entries: Sequence[Document], seed: int) -> Burst | None:
    """The longest cell's course, and the throttle in it."""
    found = next((entry for entry in entries if entry["phase"] == "burst"), None)
    if found is None:
        return None
    series, io_bytes = found["outcome"]["series"], found["work"]["io_bytes"]
    moved = [ios * io_bytes for ios in series["ios"]]
    whole = moved[: found["outcome"]["window_ns"] // series["step_ns"]]
    state = steady_state(whole, len(whole) // (2 * ROUNDS_IN_HALF))
    return Burst(
        step_ns=series["step_ns"],
        bytes_per_step=tuple(whole),
        bucket=token_bucket(whole, series["step_ns"], seed),
        steady=None if state is None else state.verdict,
    )
