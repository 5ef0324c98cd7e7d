"""Times as the core records them: base64 of HdrHistogram's V2 compressed encoding (`analysis.histograms` reads it)."""

from __future__ import annotations

import base64
import itertools
import struct
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

_COMPRESSED, _ENCODED = 0x1C849314, 0x1C849313
_DIGITS, _LOWEST_NS, _HIGHEST_NS = 3, 1, 3_600_000_000_000
# 3 digits take 2048 buckets of 1 ns each; from there on every doubling has 1024 of the double width.
_SINGLE_BITS, _DOUBLING = 11, 1024


def distribution(times_ns: Sequence[int]) -> dict[str, Any]:
    """Count, sum and histogram, as an outcome has each of its clocks."""
    return {"count": len(times_ns), "sum_ns": sum(times_ns), "histogram": histogram(times_ns)}


def histogram(times_ns: Sequence[int]) -> str:
    """The base64 text of the histogram of these times."""
    counts = b"".join(_zigzag_leb128(number) for number in _run_lengths(Counter(map(_bucket, times_ns))))
    body = struct.pack(">iiiiqqd", _ENCODED, len(counts), 0, _DIGITS, _LOWEST_NS, _HIGHEST_NS, 1.0) + counts
    packed = zlib.compress(body)
    return base64.b64encode(struct.pack(">ii", _COMPRESSED, len(packed)) + packed).decode("ascii")


def _bucket(time_ns: int) -> int:
    doubling = max(0, time_ns.bit_length() - _SINGLE_BITS)
    return doubling * _DOUBLING + (time_ns >> doubling)


def _run_lengths(counts: Counter[int]) -> Iterator[int]:
    """Each filled bucket's count in order, with -n for n empty ones before it."""
    filled = sorted(counts)
    for before, bucket in itertools.pairwise([-1, *filled]):
        if bucket > before + 1:
            yield before + 1 - bucket
        yield counts[bucket]


def _zigzag_leb128(number: int) -> bytes:
    rest = (number << 1) ^ (number >> 63)
    encoded = bytearray()
    while rest >= 0x80:
        encoded.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([*encoded, rest])
