"""HdrHistogram's V2 compressed encoding in Python: writes the histograms of synthetic trials, reads any.

An independent second implementation, so that tests can check the core's reading.
Fixed here: lowest value 1, 3 significant digits, hence 2048 sub-buckets.

    compressed   cookie 0x1c849314 | length | zlib( encoded )
    encoded      cookie 0x1c849313 | length of counts | offset 0 | digits 3 | lowest | highest | ratio 1.0 | counts
    counts       zigzag LEB128, at most 9 bytes each; a negative number -n stands for n empty buckets
"""

from __future__ import annotations

import base64
import functools
import itertools
import math
import struct
import zlib
from collections.abc import Iterator, Sequence

import numpy as np

COOKIE_COMPRESSED = 0x1C849314
COOKIE_ENCODED = 0x1C849313
HEADER = struct.Struct(">iiiiqqd")
SUB_BUCKET_BITS = 11
HALF = 1 << (SUB_BUCKET_BITS - 1)
HIGHEST_NS = 3_600_000_000_000


def encode(values_ns: Sequence[int] | np.ndarray) -> str:
    """The base64 text of the histogram of `values_ns`."""
    values = np.asarray(values_ns, dtype=np.int64)
    counts = np.bincount(_indexes(values)) if values.size else np.zeros(0, dtype=np.int64)
    payload = b"".join(map(_zigzag_leb128, _run_lengths(counts)))
    body = HEADER.pack(COOKIE_ENCODED, len(payload), 0, 3, 1, HIGHEST_NS, 1.0) + payload
    packed = zlib.compress(body)
    return base64.b64encode(struct.pack(">ii", COOKIE_COMPRESSED, len(packed)) + packed).decode("ascii")


def decode(text: str) -> list[tuple[int, int, int]]:
    """The filled buckets: (lowest value, highest value, count), in order."""
    raw = base64.b64decode(text)
    cookie, length = struct.unpack_from(">ii", raw)
    assert (cookie, length) == (COOKIE_COMPRESSED, len(raw) - 8)
    body = zlib.decompress(raw[8:])
    cookie, length, _, digits, lowest, _, _ = HEADER.unpack_from(body)
    assert (cookie, length, digits, lowest) == (COOKIE_ENCODED, len(body) - HEADER.size, 3, 1)
    return list(_buckets(body[HEADER.size :]))


def histogram_quantiles(histograms: list[str], quantiles: list[float]) -> list[int]:
    """The highest value of the bucket at each quantile of the merged histograms."""
    merged = _merge(histograms)
    total = sum(count for _, _, count in merged)
    cumulated = list(itertools.accumulate(count for _, _, count in merged))
    return [_at_rank(merged, cumulated, max(1, math.ceil(quantile * total))) for quantile in quantiles]


def histogram_bins(histograms: list[str], bins_per_decade: int) -> list[tuple[int, int, int]]:
    """(lowest, lowest of the next, count): equal steps of the logarithm, by the highest value of each bucket."""
    counts: dict[int, int] = {}
    for _, highest, count in _merge(histograms):
        number = math.floor(math.log10(max(highest, 1)) * bins_per_decade)
        counts[number] = counts.get(number, 0) + count
    edges = {number: round(10 ** (number / bins_per_decade)) for at in counts for number in (at, at + 1)}
    return [(edges[number], edges[number + 1], counts[number]) for number in sorted(counts)]


def _indexes(values: np.ndarray) -> np.ndarray:
    # Bucket 0 holds 0..2047 one by one; each further bucket doubles the step and has 1024 sub-buckets.
    _, bits = np.frexp(values.astype(np.float64))
    bucket = np.maximum(bits.astype(np.int64) - SUB_BUCKET_BITS, 0)
    return (bucket + 1) * HALF + (values >> bucket) - HALF


def _run_lengths(counts: np.ndarray) -> Iterator[int]:
    """The last count is never zero."""
    filled = np.flatnonzero(counts)
    empty_before = np.diff(filled, prepend=-1) - 1
    for empty, count in zip(empty_before.tolist(), counts[filled].tolist(), strict=True):
        if empty:
            yield -empty
        yield count


@functools.cache
def _zigzag_leb128(number: int) -> bytes:
    rest = ((number << 1) ^ (number >> 63)) & 0xFFFFFFFFFFFFFFFF
    out = bytearray()
    while rest >= 0x80 and len(out) < 8:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out)


def _buckets(payload: bytes) -> Iterator[tuple[int, int, int]]:
    index = 0
    for number in _numbers(payload):
        if number < 0:
            index += -number
            continue
        bucket = max(index // HALF - 1, 0)
        low = (index - bucket * HALF) << bucket
        yield low, low + (1 << bucket) - 1, number
        index += 1


def _numbers(payload: bytes) -> Iterator[int]:
    place = 0
    while place < len(payload):
        rest = shift = 0
        while True:
            byte = payload[place]
            place += 1
            if shift == 56:  # the ninth byte carries eight bits
                rest |= byte << shift
                break
            rest |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        yield (rest >> 1) ^ -(rest & 1)


def _merge(histograms: list[str]) -> list[tuple[int, int, int]]:
    counts: dict[tuple[int, int], int] = {}
    for text in histograms:
        for low, high, count in decode(text):
            counts[low, high] = counts.get((low, high), 0) + count
    return [(low, high, counts[low, high]) for low, high in sorted(counts)]


def _at_rank(merged: list[tuple[int, int, int]], cumulated: list[int], rank: int) -> int:
    for (_, high, _), so_far in zip(merged, cumulated, strict=True):
        if so_far >= rank:
            return high
    return 0
