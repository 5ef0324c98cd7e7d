"""Values of SQLite as bytes that are equal where SQLite says that the values are.

A value has a type of its own, whatever its column says ("Datatypes in SQLite"). A number is equal to a number, whether
it is an integer or not, by exact value; texts are equal as the column's collation says; a blob is equal to a blob.

```
i  8 bytes, the least first      an integer, and a real number that is one: 1 and 1.0, 0 and -0.0
r  8 bytes of the double         any other real number (NaN is stored as NULL)
t  UTF-8                         a text: as it is (BINARY), with A to Z small (NOCASE), without trailing blanks (RTRIM)
b  the bytes                     a blob
```
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
import numpy.typing as npt

from dbdyno.ndv.binary_stream import BinaryColumn

# Texts come as bytearray, undecoded, and so differ from blobs, which come as bytes.
TEXT_FACTORY = bytearray
Value = int | float | bytearray | bytes | None
Fold = Callable[[bytearray], bytes]
Valid = npt.NDArray[np.bool_]

_INTEGERS = 2.0**63
_INTEGER, _REAL = struct.Struct("<cq"), struct.Struct("<cd")
_NUMBER_BYTES = _INTEGER.size
_PACKED_NUMBER = np.dtype([("kind", "S1"), ("bits", "<i8")])


def nocase(text: bytearray) -> bytes:
    """NOCASE compares up to a NUL, and then the lengths (`nocaseCollatingFunc` and `sqlite3StrNICmp`)."""
    before, nul, rest = text.partition(b"\0")
    return bytes(before.lower() + nul) + (str(len(rest)).encode() if nul else b"")


def rtrim(text: bytearray) -> bytes:
    """RTRIM leaves blanks out at the end, and no other white space."""
    return bytes(text.rstrip(b" "))


FOLDS: dict[str, Fold] = {"BINARY": bytes, "NOCASE": nocase, "RTRIM": rtrim}


def canonical_column(values: Sequence[Value], collation: str) -> BinaryColumn:
    """Of a batch of one column's values, one at least; columns of one type, as most are, take about 0.1 us a value."""
    types = set(map(type, values)) - {type(None)}
    valid = None
    if None in values:
        valid = np.fromiter((value is not None for value in values), dtype=np.bool_, count=len(values))
    if types <= {int}:
        return _integers(values, valid)
    if types <= {float}:
        return _reals(values, valid)
    fold = FOLDS[collation]
    if types == {bytearray}:
        texts = [b"" if value is None else b"t" + fold(value) for value in cast("Sequence[bytearray | None]", values)]
        return _column(texts, valid)
    return _column([b"" if value is None else _canonical(value, fold) for value in values], valid)


def _integers(values: Sequence[Value], valid: Valid | None) -> BinaryColumn:
    """A NULL takes the bytes of a zero that nobody looks at."""
    packed = np.empty(len(values), dtype=_PACKED_NUMBER)
    packed["kind"] = b"i"
    packed["bits"] = values if valid is None else [value or 0 for value in values]
    return _numbers(packed, valid)


def _reals(values: Sequence[Value], valid: Valid | None) -> BinaryColumn:
    """As `_canonical` has them."""
    found = np.array(values if valid is None else [value or 0.0 for value in values], dtype=np.float64)
    whole = (found == np.floor(found)) & (found >= -_INTEGERS) & (found < _INTEGERS)
    packed = np.empty(len(values), dtype=_PACKED_NUMBER)
    packed["kind"] = np.where(whole, b"i", b"r")
    packed["bits"] = np.where(whole, np.where(whole, found, 0.0).astype(np.int64), found.view(np.int64))
    return _numbers(packed, valid)


def _numbers(packed: np.ndarray, valid: Valid | None) -> BinaryColumn:
    return BinaryColumn(np.arange(len(packed) + 1, dtype=np.int64) * _NUMBER_BYTES, packed.tobytes(), valid)


def _column(encoded: Sequence[bytes], valid: Valid | None) -> BinaryColumn:
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded)), out=offsets[1:])
    return BinaryColumn(offsets, b"".join(encoded), valid)


def _canonical(value: Value, fold: Fold) -> bytes:
    match value:
        case bytearray():
            return b"t" + fold(value)
        case bytes():
            return b"b" + value
        case float():
            if value.is_integer() and -_INTEGERS <= value < _INTEGERS:
                return _INTEGER.pack(b"i", int(value))
            return _REAL.pack(b"r", value)
        case int():
            return _INTEGER.pack(b"i", value)
        case _:
            raise AssertionError(f"a value of {type(value)}")
