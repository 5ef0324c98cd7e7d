"""The cells of trials as columns: read from the text in which each trial has its own.

    base64( zlib( n u32 | m u32
      chunk u16 x n | bin u16 x n | rows u16 x n | event u16 x m
      units, response_ns, queue_ns, cpu_step_ns, run_queue_step_ns: u64 x n each
      seen, looked, asleep: u64 x m each ) )

n cells; m rows of snapshots, those of the first cell first: a cell has `rows` of them. Little-endian.
Until 2026-11-22 a trial had them as lists of [chunk, bin, units, ..., [[event, seen, looked, asleep], ...]]; such
trials are read, too.
"""

from __future__ import annotations

import binascii
import dataclasses
import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dbdyno.analysis.columns import Integers, flattened, integers, owners
from dbdyno.errors import DynoError

HEADER = struct.Struct("<II")
# Of the columns: whether they have a number for each cell or for each row of snapshots, and its type.
_OF_CELLS, _OF_ROWS = 0, 1
_SMALL, _LARGE = np.dtype("<u2"), np.dtype("<u8")
_COLUMNS: tuple[tuple[int, np.dtype[Any]], ...] = (
    *[(_OF_CELLS, _SMALL)] * 3,
    (_OF_ROWS, _SMALL),
    *[(_OF_CELLS, _LARGE)] * 5,
    *[(_OF_ROWS, _LARGE)] * 3,
)
_WIDTH = 8  # of a cell in the form of lists


@dataclasses.dataclass(frozen=True, slots=True)
class CellColumns:
    """All cells of some trials, and all rows of their snapshots, one after another.

    `trial` is the place of each cell's trial, `rows` how many rows of snapshots it has; `sums` has the columns units,
    response_ns, queue_ns, cpu_step_ns and run_queue_step_ns, `snapshots` seen, looked and asleep.
    """

    trial: Integers
    chunk: Integers
    bin: Integers
    rows: Integers
    sums: Integers
    event: Integers
    snapshots: Integers


def cell_columns(cells: Sequence[Any]) -> CellColumns:
    """The cells of these trials, each a text or, of older records, a list; none of them is empty."""
    if all(isinstance(one, str) for one in cells):
        return _of_texts(cells)
    return _of_lists(cells)


def _of_texts(texts: Sequence[str]) -> CellColumns:
    trials = [_unpacked(text) for text in texts]
    counts = np.array([counts for counts, _ in trials], dtype=np.int64)
    columns = [
        np.frombuffer(b"".join(column), dtype=kind).astype(np.int64)
        for column, (_, kind) in zip(zip(*(columns for _, columns in trials), strict=True), _COLUMNS, strict=True)
    ]
    chunk, bin_, rows, event, *large = columns
    trial = np.repeat(np.arange(len(trials)), counts[:, _OF_CELLS])
    return CellColumns(trial, chunk, bin_, rows, np.column_stack(large[:5]), event, np.column_stack(large[5:]))


def _unpacked(text: str) -> tuple[tuple[int, int], list[bytes]]:
    """(cells, rows) of one trial, and its columns as they stand there."""
    try:
        body = zlib.decompress(binascii.a2b_base64(text))
        counts = HEADER.unpack_from(body)
        columns = list(_slices(body, counts))
    except (ValueError, zlib.error, struct.error) as error:
        raise DynoError("cells", f"a trial's cells cannot be read: {error}") from None
    return counts, columns


def _slices(body: bytes, counts: Sequence[int]) -> Iterator[bytes]:
    begin = HEADER.size
    for of, kind in _COLUMNS:
        end = begin + counts[of] * kind.itemsize
        yield body[begin:end]
        begin = end
    if begin != len(body):
        raise ValueError(f"{len(body)} bytes, {begin} expected")


def _of_lists(lists: Sequence[Sequence[Sequence[Any]]]) -> CellColumns:
    flat = flattened(flattened(lists))
    snapshots = flat[_WIDTH - 1 :: _WIDTH]
    del flat[_WIDTH - 1 :: _WIDTH]
    exact = integers(flat).reshape(-1, _WIDTH - 1)
    rows = integers(flattened(flattened(snapshots))).reshape(-1, 4)
    return CellColumns(
        trial=owners(lists),
        chunk=exact[:, 0],
        bin=exact[:, 1],
        rows=integers(list(map(len, snapshots))),
        sums=exact[:, 2:],
        event=rows[:, 0],
        snapshots=rows[:, 1:],
    )
