"""The cells of a trial as the text that a record has, and back: a second implementation, beside the core's.

A cell is [chunk, bin, units, response_ns, queue_ns, cpu_step_ns, run_queue_step_ns, snapshots], the last one rows of
[event, seen, looked, asleep].
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from typing import Any

Cell = list[Any]


def pack(cells: Sequence[Cell]) -> str:
    """The text of these cells."""
    if not cells:
        return ""
    rows = [row for cell in cells for row in cell[7]]
    n, m = len(cells), len(rows)
    body = struct.pack("<II", n, m)
    body += struct.pack(f"<{3 * n}H", *(cell[at] for at in (0, 1) for cell in cells), *(len(cell[7]) for cell in cells))
    body += struct.pack(f"<{m}H", *(row[0] for row in rows))
    body += struct.pack(f"<{5 * n}Q", *(cell[at] for at in range(2, 7) for cell in cells))
    body += struct.pack(f"<{3 * m}Q", *(row[at] for at in range(1, 4) for row in rows))
    return base64.b64encode(zlib.compress(body)).decode("ascii")


def unpack(text: str) -> list[Cell]:
    """The cells of this text."""
    if not text:
        return []
    body = zlib.decompress(base64.b64decode(text))
    n, m = struct.unpack_from("<II", body)
    small = struct.unpack_from(f"<{3 * n + m}H", body, 8)
    large = struct.unpack_from(f"<{5 * n + 3 * m}Q", body, 8 + 2 * len(small))
    events, sums, counts = small[3 * n :], large[: 5 * n], large[5 * n :]
    rows = [[events[at], *counts[at::m]] for at in range(m)]
    cells, taken = [], 0
    for at in range(n):
        of_cell = small[2 * n + at]
        cells.append([small[at], small[n + at], *sums[at::n], rows[taken : taken + of_cell]])
        taken += of_cell
    return cells
