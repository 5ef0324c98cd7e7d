"""The entries of a calibration's record as arrays: a row for each block of one level of one phase."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from dbdyno.analysis.calibration.block_bootstrap import BlockBootstrap, lag_one
from dbdyno.analysis.calibration.findings import Latency
from dbdyno.analysis.calibration.log_bins import BINS_PER_DECADE, Floats, Integers, edge_ns, quantile_ns
from dbdyno.analysis.columns import Integers as Columns
from dbdyno.analysis.documents import Document

DECADES = 13
# Beyond a percentile must lie so many I/Os, or it is the time of a few.
LEAST_BEYOND = 20


class Timed(Protocol):
    """Blocks whose I/Os were timed."""

    @property
    def ios(self) -> Columns:
        """How many, by block."""

    @property
    def response_time_sum_ns(self) -> Columns:
        """Sums of their response times."""

    @property
    def counts(self) -> Integers:
        """[block, bin] of them."""


@dataclasses.dataclass(frozen=True, slots=True)
class Blocks:
    """The cells of one level, in the order of time."""

    entries: tuple[Document, ...]

    @property
    def outcomes(self) -> list[Document]:
        """What the engine said of each."""
        return [entry["outcome"] for entry in self.entries]

    @property
    def ios(self) -> Columns:
        """I/Os that ended within the window."""
        return self._column(lambda outcome: outcome["reads"] + outcome["writes"])

    @property
    def reads(self) -> Columns:
        """Of those."""
        return self._column(lambda outcome: outcome["reads"])

    @property
    def window_ns(self) -> Columns:
        """Lengths of the windows."""
        return self._column(lambda outcome: outcome["window_ns"])

    @property
    def bytes_(self) -> Columns:
        """Moved within the windows."""
        return self._column(lambda outcome: outcome["bytes"])

    @property
    def response_time_sum_ns(self) -> Columns:
        """Sums of response times."""
        return self._column(lambda outcome: outcome["response_time"]["sum_ns"])

    @property
    def counts(self) -> Integers:
        """[block, bin] of response times; of reads alone where there are writes."""
        counts = np.zeros((len(self.entries), DECADES * BINS_PER_DECADE), dtype=np.int64)
        for block, outcome in enumerate(self.outcomes):
            rows = np.asarray(outcome["heat"], dtype=np.int64).reshape(-1, 3)
            np.add.at(counts[block], rows[:, 1], rows[:, 2])
        return counts

    def _column(self, figure: Callable[[Document], int]) -> Columns:
        return np.array([figure(outcome) for outcome in self.outcomes], dtype=np.int64)


def by_level(entries: Sequence[Document], phase: str, key: str) -> dict[Any, Blocks]:
    """The blocks of each level of a phase, smallest level first."""
    return grouped(entries, phase, lambda level: level[key])


def grouped(entries: Sequence[Document], phase: str, key: Callable[[Mapping[str, Any]], Hashable]) -> dict[Any, Blocks]:
    """The blocks of a phase by what `key` makes of their level."""
    found: dict[Any, list[Document]] = {}
    for entry in entries:
        if entry["phase"] == phase and entry["outcome"] is not None:
            found.setdefault(key(entry["level"]), []).append(entry)
    return {level: Blocks(tuple(found[level])) for level in sorted(found, key=lambda level: (str(type(level)), level))}


def correlation_of(blocks: Iterable[Blocks]) -> float:
    """Of the throughput of neighbouring blocks, over several levels."""
    return lag_one([np.log(np.maximum(each.ios, 1) / each.window_ns) for each in blocks])


def latency(blocks: Timed, bootstrap: BlockBootstrap) -> Latency | None:
    """Response times with blocks as units; None where there was no I/O."""
    ios = int(blocks.ios.sum())
    if not ios:
        return None
    counts = bootstrap.totals(blocks.counts)
    mean_ns = bootstrap.totals(blocks.response_time_sum_ns) / bootstrap.totals(blocks.ios)
    p50, p90, p99, p999 = (bootstrap.estimate(quantiles(counts, share)) for share in (0.5, 0.9, 0.99, 0.999))
    enough = ios * 0.001 >= LEAST_BEYOND
    return Latency(ios, bootstrap.estimate(mean_ns), p50, p90, p99, p999 if enough else None)


def quantiles(counts: Floats, share: float) -> Floats:
    """Of each row of counts by bin."""
    filled = np.flatnonzero(counts.any(axis=0))
    found: Floats = edge_ns(filled[0]) * quantile_ns(counts[:, filled[0] : filled[-1] + 1], share)
    return found
