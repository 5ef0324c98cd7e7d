"""Columns of bytes, made in Python, as a stream that the core reads: Arrow's C stream interface.

    stream = BinaryStream(["id", "name"], "sqlite", batches)      # batches: an iterable of lists of BinaryColumn
    engine.scan_arrow(spec, stream, live)

Layouts and who releases what: "The Arrow C data interface" and "The Arrow C stream interface" of the Arrow
specification. A column is a struct of one binary field, whose name is that of the encoding: bytes of different
encodings have different types then, and their sketches are never merged.

```
stream --get_next--> struct (the batch) -- children: struct (a column) -- children: large binary
                                                     validity                       offsets, data
```
"""

from __future__ import annotations

import ctypes
import dataclasses
import errno
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

_NULLABLE = 2
_LARGE_BINARY, _STRUCT = b"Z", b"+s"
_STREAM_NAME = b"arrow_array_stream"


@dataclasses.dataclass(frozen=True, slots=True)
class BinaryColumn:
    """Values of a batch, one behind the other: `offsets` has one entry more than there are values.

    `valid`: whether each is a value; None where all are. Of those that are none the offsets say nothing.
    """

    offsets: npt.NDArray[np.int64]
    data: bytes
    valid: npt.NDArray[np.bool_] | None


class _Schema(ctypes.Structure):
    """struct ArrowSchema."""


class _Array(ctypes.Structure):
    """struct ArrowArray."""


class _Stream(ctypes.Structure):
    """struct ArrowArrayStream."""


_ReleaseSchema = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))
_ReleaseArray = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))
_ReleaseStream = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Stream))
_GetSchema = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Schema))
_GetNext = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array))
_GetError = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_Stream))

_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.c_void_p),
    ("release", _ReleaseSchema),
    ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.c_void_p),
    ("release", _ReleaseArray),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", _GetSchema),
    ("get_next", _GetNext),
    ("get_last_error", _GetError),
    ("release", _ReleaseStream),
    ("private_data", ctypes.c_void_p),
]

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

# What a consumer holds, by the address of its structure: alive until that is released.
_held: dict[int, object] = {}


class BinaryStream:
    """Batches of columns, taken one by one as the consumer asks for them, from whatever thread it asks.

    What the iterable raises ends the stream for the consumer, and is kept as `error`.
    """

    def __init__(self, names: Sequence[str], encoding: str, batches: Iterable[Sequence[BinaryColumn]]) -> None:
        self._names = names
        self._encoding = encoding
        self._batches: Iterator[Sequence[BinaryColumn]] = iter(batches)
        self.error: BaseException | None = None
        self._message = ctypes.create_string_buffer(b"the rows could not be read")
        # The consumer moves the content out; this one stays, for its callbacks.
        self._stream = _Stream(
            _GetSchema(self._get_schema),
            _GetNext(self._get_next),
            _GetError(lambda _: ctypes.addressof(self._message)),
            _released_stream,
        )

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """The stream as a capsule; it may be taken once, and this object is to outlive it."""
        return _new_capsule(ctypes.addressof(self._stream), _STREAM_NAME, None)

    def _get_schema(self, _: Any, out: Any) -> int:
        columns = [_schema(name, _STRUCT, [_schema(self._encoding, _LARGE_BINARY)]) for name in self._names]
        _move(_schema("", _STRUCT, columns), out)
        return 0

    def _get_next(self, _: Any, out: Any) -> int:
        try:
            batch = next(self._batches, None)
            if batch is None:
                ctypes.memset(out, 0, ctypes.sizeof(_Array))
            else:
                columns = [_column(column) for column in batch]
                _move(_array(len(batch[0].offsets) - 1, [None], columns), out)
        except BaseException as error:  # it may not leave through the consumer
            self.error = error
            return errno.EIO
        return 0


def _schema(name: str, format_: bytes, children: Sequence[_Schema] = ()) -> _Schema:
    pointers = (ctypes.POINTER(_Schema) * len(children))(*(ctypes.pointer(child) for child in children))
    made = _Schema(format_, name.encode(), None, _NULLABLE, len(children), pointers, None, _released_schema)
    made.kept = (pointers, children)
    return made


def _column(column: BinaryColumn) -> _Array:
    length = len(column.offsets) - 1
    offsets = np.ascontiguousarray(column.offsets)
    data = np.frombuffer(column.data or b"\0", dtype=np.uint8)
    valid = None if column.valid is None else np.packbits(column.valid, bitorder="little")
    values = _array(length, [None, offsets, data])
    return _array(length, [valid], [values], nulls=0 if column.valid is None else int((~column.valid).sum()))


def _array(
    length: int, buffers: Sequence[npt.NDArray[Any] | None], children: Sequence[_Array] = (), nulls: int = 0
) -> _Array:
    places = (ctypes.c_void_p * len(buffers))(*(None if one is None else one.ctypes.data for one in buffers))
    pointers = (ctypes.POINTER(_Array) * len(children))(*(ctypes.pointer(child) for child in children))
    made = _Array(length, nulls, 0, len(buffers), len(children), places, pointers, None, _released_array)
    made.kept = (places, buffers, pointers, children)
    return made


def _move(made: ctypes.Structure, out: Any) -> None:
    """Hand a structure over: what it points to lives until the consumer releases it, by the key in `private_data`."""
    made.private_data = id(made)
    _held[id(made)] = made
    ctypes.memmove(out, ctypes.byref(made), ctypes.sizeof(made))


def _release(pointer: Any) -> None:
    """What the structure pointed to may go; the specification asks to say so by a null in `release`.

    Children go with the structure that they are part of: the core does not part them.
    """
    structure = pointer.contents
    _held.pop(structure.private_data, None)
    place = ctypes.byref(structure, type(structure).release.offset)
    ctypes.memset(place, 0, ctypes.sizeof(ctypes.c_void_p))


_released_schema = _ReleaseSchema(_release)
_released_array = _ReleaseArray(_release)
_released_stream = _ReleaseStream(_release)
