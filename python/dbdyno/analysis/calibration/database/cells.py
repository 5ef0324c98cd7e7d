"""Blocks of a server's cells as arrays, a row for each block, and the comparison of two arms of the same blocks."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from dbdyno.analysis.calibration.block_bootstrap import BlockBootstrap, interval_of, lag_one
from dbdyno.analysis.calibration.entries import DECADES, Blocks
from dbdyno.analysis.calibration.log_bins import BINS_PER_DECADE, Floats, Integers
from dbdyno.analysis.columns import Integers as Columns
from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.histograms import decoded

NS_PER_S = 1e9
PAGE_BYTES = 8192
DEVICE = "device"


@dataclasses.dataclass(frozen=True, slots=True)
class ServerBlocks:
    """The cells of one level of the server, in the order of time: as `Blocks` of the device."""

    entries: tuple[Document, ...]

    @property
    def ios(self) -> Columns:
        """Units of work that succeeded: those that response times are of."""
        return self._column(lambda cell: cell["outcome"]["units"]["successful"])

    @property
    def window_ns(self) -> Columns:
        """The time in which a block's units fit at its throughput."""
        return self._column(lambda cell: round(_units(cell) / cell["outcome"]["throughput_per_s"] * NS_PER_S))

    @property
    def response_time_sum_ns(self) -> Columns:
        """Sums of response times."""
        return self._column(lambda cell: cell["outcome"]["response_time"]["sum_ns"])

    @property
    def counts(self) -> Integers:
        """[block, bin] of response times."""
        found = decoded(tuple(cell["outcome"]["response_time"]["histogram"] for cell in self.entries))
        counts = np.zeros((len(self.entries), DECADES * BINS_PER_DECADE), dtype=np.int64)
        for block, place, count in found.places(BINS_PER_DECADE):
            counts[block, place] += count
        return counts

    @property
    def units_in_all(self) -> Columns:
        """With warm-up: what the server's counters cover."""
        return self._column(lambda cell: cell["outcome"]["units_with_warm_up"])

    @property
    def page_reads(self) -> Columns:
        """Pages of the table and its index that the server asked the kernel for."""
        return self._column(lambda cell: cell["pages"]["table_reads"] + cell["pages"]["index_reads"])

    def counted(self, counted_by: str | None) -> ServerBlocks:
        """The cells of which it is known what came from the storage."""
        if counted_by is None:
            return ServerBlocks(())
        return ServerBlocks(tuple(cell for cell in self.entries if _storage_bytes(cell, counted_by) is not None))

    def storage_bytes(self, counted_by: str) -> Columns:
        """What came from the storage meanwhile, of cells of which it is known."""
        return self._column(lambda cell: _storage_bytes(cell, counted_by) or 0)

    def _column(self, figure: Callable[[Document], int]) -> Columns:
        return np.array([figure(cell) for cell in self.entries], dtype=np.int64)


def _units(cell: Document) -> int:
    return int(cell["outcome"]["units"]["successful"])


def _storage_bytes(cell: Document, counted_by: str) -> int | None:
    if counted_by == "processes":
        return None if cell["storage_read_bytes"] is None else int(cell["storage_read_bytes"])
    return None if cell["kernel"] is None else int(cell["kernel"]["read_bytes"])


def levels(cells: Iterable[Document], kind: str, arm: str) -> dict[int, tuple[Document, ...]]:
    """The cells of one kind and arm by their sessions; a cell in which nothing was done has no figures."""
    found: dict[int, list[Document]] = {}
    for cell in cells:
        if cell["kind"] == kind and cell["arm"] == arm and (arm == DEVICE or _units(cell)):
            found.setdefault(cell["sessions"], []).append(cell)
    return {sessions: tuple(found[sessions]) for sessions in sorted(found)}


def counted_by(cells: Sequence[Document]) -> str | None:
    """Who counted what came from the storage: the kernel by process, or else by device, where others' reads are in."""
    of_server = [cell for cell in cells if cell["arm"] != DEVICE]
    ways = ("processes", "device")
    return next((way for way in ways if any(_storage_bytes(cell, way) is not None for cell in of_server)), None)


def correlation_of(every: Iterable[ServerBlocks | Blocks]) -> float:
    """Of the throughput of neighbouring blocks, over several levels."""
    return lag_one([np.log(np.maximum(each.ios, 1) / each.window_ns) for each in every])


def same_blocks(
    server: Sequence[Document], device: Sequence[Document]
) -> tuple[tuple[Document, ...], tuple[Document, ...]]:
    """The cells of blocks in which both stand: an interrupted calibration ends in the middle of one."""
    both = {cell["block"] for cell in server} & {cell["block"] for cell in device}
    one, other = (tuple(cell for cell in cells if cell["block"] in both) for cells in (server, device))
    return one, other


def share_from_cache(blocks: ServerBlocks, by: str | None, correlation: float, seed: int) -> Estimate | None:
    """Of the server's reads; what the storage gave beyond them (read ahead, or to others) is below 0."""
    known = blocks.counted(by)
    if by is None or not known.entries or not known.page_reads.sum():
        return None
    bootstrap = BlockBootstrap.of(len(known.entries), correlation, seed)
    with np.errstate(invalid="ignore", divide="ignore"):
        from_storage = bootstrap.totals(known.storage_bytes(by)) / (bootstrap.totals(known.page_reads) * PAGE_BYTES)
    share = bootstrap.estimate(from_storage)
    low, high = (None if end is None else 1 - end for end in (share.high, share.low))
    return Estimate(1 - share.estimate, low, high)


def signed(figures: Floats, bootstrap: BlockBootstrap) -> Estimate:
    """A figure that may be negative, by replicate, with its interval."""
    return interval_of(figures[:1] + bootstrap.stretch * (figures - figures[:1]))


Levels = Mapping[int, tuple[Document, ...]]
