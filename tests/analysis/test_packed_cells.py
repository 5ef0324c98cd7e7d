"""Cells in the text of a record, read as columns."""

from __future__ import annotations

import base64
import zlib

import cell_text
import numpy as np
import pytest

from dbdyno.analysis.packed_cells import cell_columns
from dbdyno.errors import DynoError

FIRST = [
    [0, 301, 12, 13_000_000, 7, 90_000, 4_000, [[0, 3, 1, 0], [2, 9, 1, 1]]],
    [1, 299, 1, 2**62, 0, 0, 0, []],
]
SECOND = [[9, 649, 5, 6, 7, 8, 9, [[1, 2**40, 3, 2]]]]


def test_trials_follow_one_another() -> None:
    """Each cell with its trial, each row of snapshots in its place, and no number rounded."""
    found = cell_columns([cell_text.pack(FIRST), cell_text.pack(SECOND)])

    assert found.trial.tolist() == [0, 0, 1]
    assert found.chunk.tolist() == [0, 1, 9]
    assert found.bin.tolist() == [301, 299, 649]
    assert found.rows.tolist() == [2, 0, 1]
    assert found.sums.tolist() == [cell[2:7] for cell in FIRST + SECOND]
    assert found.event.tolist() == [0, 2, 1]
    assert found.snapshots.tolist() == [[3, 1, 0], [9, 1, 1], [2**40, 3, 2]]


def test_records_with_lists_say_the_same() -> None:
    """Runs that were recorded before cells were packed."""
    new, old = cell_columns([cell_text.pack(FIRST), cell_text.pack(SECOND)]), cell_columns([FIRST, SECOND])

    for name in ("trial", "chunk", "bin", "rows", "sums", "event", "snapshots"):
        assert np.array_equal(getattr(new, name), getattr(old, name)), name


def test_what_was_packed_is_unpacked() -> None:
    """The tests' own reading and writing."""
    assert cell_text.unpack(cell_text.pack(FIRST)) == FIRST
    assert (cell_text.pack([]), cell_text.unpack("")) == ("", [])


@pytest.mark.parametrize(
    "text",
    [
        "no base64",
        base64.b64encode(b"no zlib").decode(),
        base64.b64encode(zlib.compress(b"short")).decode(),
        base64.b64encode(zlib.compress(b"\1\0\0\0\0\0\0\0too few")).decode(),
    ],
)
def test_damage_is_told(text: str) -> None:
    """One line, no traceback."""
    with pytest.raises(DynoError, match=r"^a trial's cells cannot be read: ") as caught:
        cell_columns([text])

    assert caught.value.code == "cells"
