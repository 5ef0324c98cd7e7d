"""Recorded histograms, those of many trials at once: their quantiles, and their bars.

A histogram is a base64 text of HdrHistogram's V2 compressed encoding, as a trial's outcome holds it:

    compressed   cookie 0x1c849314 | length | zlib( encoded )
    encoded      header, 40 bytes: cookie 0x1c849313, ..., 3 digits, lowest value 1, ...  | counts
    counts       one number a bucket, zigzag LEB128; a negative number -n stands for n empty buckets

A long run has tens of thousands of them, so the numbers of all are decoded together and kept as columns. One by one
in the core each took 50 to 80 us, most of it to clear the 30,000 buckets that a histogram may have.
"""

from __future__ import annotations

import binascii
import dataclasses
import functools
import math
import struct
import zlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dbdyno.analysis.columns import Integers
from dbdyno.analysis.findings import Bin
from dbdyno.errors import DynoError

HEADER = struct.Struct(">iiiiqqd")
# Cookie and length of the compressed text stand before the compressed bytes.
COMPRESSED_HEADER_BYTES = 8
ENCODED, NO_OFFSET, DIGITS, LOWEST_NS = 0x1C849313, 0, 3, 1
# 3 digits take 2048 buckets of 1 ns each; from there on every doubling has 1024 of the double width.
DOUBLING = 1024


@dataclasses.dataclass(frozen=True, slots=True)
class Histograms:
    """The filled buckets of some histograms, those of one behind those of another.

    `units` has how many values each histogram holds; a bucket has its number and its count.
    """

    units: Integers
    bucket: Integers
    count: Integers

    def quantiles_ns(self, quantiles: Sequence[float]) -> Integers:
        """The value at each quantile (above 0, to 1), a row a histogram; zeros where nothing was recorded."""
        # All counts in one line: a rank within a histogram is moved behind the counts of those before it.
        before = np.cumsum(self.units) - self.units
        ranks = np.maximum(np.ceil(self.units[:, None] * np.asarray(quantiles)), 1).astype(np.int64)
        places = np.searchsorted(np.cumsum(self.count), before[:, None] + ranks)
        values = _highest_ns(np.append(self.bucket, 0)[np.minimum(places, len(self.bucket))])
        return np.where(self.units[:, None] > 0, values, 0)

    def places(self, bins_per_decade: int) -> list[tuple[int, int, int]]:
        """(histogram, bin, count), empty bins left out: bin b holds 10^(b/n) <= ns < 10^((b+1)/n)."""
        owner = np.searchsorted(np.cumsum(self.units), np.cumsum(self.count) - self.count, side="right")
        logs = np.log10(np.maximum(_highest_ns(self.bucket), 1))
        places = np.floor(logs * bins_per_decade).astype(np.int64)
        return list(zip(owner.tolist(), places.tolist(), self.count.tolist(), strict=True))

    def bins(self, bins_per_decade: int) -> list[Bin]:
        """All of them merged, as logarithmic bins, empty ones left out."""
        counts = np.bincount(self.bucket, self.count).astype(np.int64)
        filled = np.flatnonzero(counts)
        merged: dict[int, int] = {}
        for value, count in zip(_highest_ns(filled).tolist(), counts[filled].tolist(), strict=True):
            number = math.floor(math.log10(max(value, 1)) * bins_per_decade)
            merged[number] = merged.get(number, 0) + count
        return [
            Bin(_edge_ns(number, bins_per_decade), _edge_ns(number + 1, bins_per_decade), count)
            for number, count in merged.items()
        ]


def quantiles_ns(histogram: str, quantiles: Sequence[float]) -> list[int]:
    """The value at each quantile (above 0, to 1) of one histogram."""
    return [int(value) for value in decoded((histogram,)).quantiles_ns(quantiles)[0]]


@functools.lru_cache(maxsize=2)  # those of an arm's response times are asked for their percentiles and for their bins
def decoded(texts: tuple[str, ...]) -> Histograms:
    """The histograms of these texts."""
    payload = {text: _payload(text) for text in dict.fromkeys(texts)}
    payloads = [payload[text] for text in texts]
    numbers, last_bytes = _numbers(np.frombuffer(b"".join(payloads), dtype=np.uint8))
    ends = np.searchsorted(last_bytes, np.cumsum([len(payload) for payload in payloads]))
    lengths = np.diff(ends, prepend=0)
    # A count is of one bucket, a negative number is a run of empty ones; buckets are numbered within a histogram.
    passed = np.concatenate([[0], np.cumsum(np.where(numbers < 0, -numbers, 1))])
    bucket = passed[:-1] - np.repeat(passed[ends - lengths], lengths)
    filled = numbers > 0
    counted = np.concatenate([[0], np.cumsum(np.where(filled, numbers, 0))])
    return Histograms(counted[ends] - counted[ends - lengths], bucket[filled], numbers[filled])


def _payload(text: str) -> bytes:
    """The encoded numbers of a histogram."""
    try:
        body = zlib.decompress(binascii.a2b_base64(text)[COMPRESSED_HEADER_BYTES:])
        cookie, length, offset, digits, lowest_ns, *_ = HEADER.unpack_from(body)
    except (ValueError, zlib.error, struct.error) as error:
        raise DynoError("histogram", f"a stored histogram cannot be read: {error}") from None
    if (cookie, offset, digits, lowest_ns) != (ENCODED, NO_OFFSET, DIGITS, LOWEST_NS):
        raise DynoError("histogram", f"a stored histogram cannot be read: {cookie:#x} is not an encoding of dbdyno's")
    return body[HEADER.size : HEADER.size + length]


def _numbers(encoded: npt.NDArray[np.uint8]) -> tuple[Integers, Integers]:
    """The numbers, and the place of each one's last byte.

    LEB128: seven bits a byte, the lowest first; the last byte of a number has its highest bit clear.
    Zigzag: 0, 1, 2, 3, ... stand for 0, -1, 1, -2, ...
    """
    last = np.flatnonzero(encoded < 0x80)
    first = np.concatenate([[0], last + 1])[: len(last)]
    raw = (encoded[first] & 0x7F).astype(np.int64)
    bits = 7
    longer = np.flatnonzero(last > first)
    while len(longer):
        place = first[longer] + bits // 7
        raw[longer] |= (encoded[place] & 0x7F).astype(np.int64) << bits
        longer = longer[place < last[longer]]
        bits += 7
    return (raw >> 1) ^ -(raw & 1), last


def _highest_ns(buckets: Integers) -> Integers:
    """The greatest value that a bucket holds."""
    doublings = np.maximum(buckets // DOUBLING - 1, 0)
    highest: Integers = ((buckets - doublings * DOUBLING + 1) << doublings) - 1
    return highest


def _edge_ns(number: int, bins_per_decade: int) -> int:
    return math.floor(math.pow(10.0, number / bins_per_decade) + 0.5)
