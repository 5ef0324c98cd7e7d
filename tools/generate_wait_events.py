"""Write the table of one major version's wait-event names, as the server's own program gives them.

```
bin/postgres --copied, less one flag--> loaded into this process --> pgstat_get_wait_event(id), asked for every id
```

The function that pg_stat_activity calls is exported (PostgreSQL 14 to 18) and, for the ids asked for here, only looks
a name up: it needs no running server.
The C library refuses to load a position-independent program as a library if its flags say that it is a program
(DF_1_PIE, glibc 2.30); hence the copy without that flag.
A program at a fixed address cannot be loaded at all: take another build of the version.

A minor release may append events to a class, and never moves one.
Those that came after the program at hand are given by name, with the class, in their order.

Run: python tools/generate_wait_events.py BIN/postgres ORIGIN [CLASS:NAME ...] > .../probe/wait_events_MAJOR.rs
with ORIGIN for the table's header: which program that is, and where the names given by hand come from.
"""

from __future__ import annotations

import ctypes
import struct
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

_CLASSES: Mapping[int, str] = {
    0x01: "LWLock",
    0x03: "Lock",
    0x04: "BufferPin",
    0x05: "Activity",
    0x06: "Client",
    0x07: "Extension",
    0x08: "IPC",
    0x09: "Timeout",
    0x0A: "IO",
}
# Not asked further: what lies behind are names made at run time, in the shared memory of a server that runs.
_ONE_EVENT_ONLY = ("BufferPin", "Extension")
_IDS_ASKED = 200
# Of lock types 17 of 32 bits are counted through an array without bounds check before 16; none has so many.
_LOCK_TYPES_ASKED = 16
_NO_NAME = ("unknown wait event", "extension", "???")

_SEGMENT_DYNAMIC = 2  # PT_DYNAMIC
_TAG_FLAGS_1 = 0x6FFFFFFB  # DT_FLAGS_1
_FLAG_PROGRAM = 0x08000000  # DF_1_PIE


class WaitNames:
    """The names that a server's program gives."""

    def __init__(self, program: Path) -> None:
        with tempfile.TemporaryDirectory() as directory:
            library = ctypes.CDLL(str(_loadable_copy(program, Path(directory))))
        self._name = library.pgstat_get_wait_event
        self._name.argtypes = [ctypes.c_uint32]
        self._name.restype = ctypes.c_char_p

    def of_class(self, byte: int) -> list[str]:
        """Names in the order of their ids, empty for ids not in use."""
        if _CLASSES[byte] in _ONE_EVENT_ONLY:
            return [_CLASSES[byte]]
        asked = _LOCK_TYPES_ASKED if _CLASSES[byte] == "Lock" else _IDS_ASKED
        names = [self._of_event(byte << 24 | number) for number in range(asked)]
        while names and not names[-1]:
            names.pop()
        return names

    def _of_event(self, event: int) -> str:
        name = (self._name(event) or b"").decode()
        return "" if name in _NO_NAME or name.startswith("<unassigned:") else name


def _loadable_copy(program: Path, directory: Path) -> Path:
    """A copy in bin/, beside a lib/ that is the server's: its libraries are found relative to it."""
    (directory / "bin").mkdir()
    (directory / "lib").symlink_to(program.resolve().parent.parent / "lib")
    copy = directory / "bin" / program.name
    image = bytearray(program.read_bytes())
    (headers,) = struct.unpack_from("<Q", image, 32)
    size, count = struct.unpack_from("<HH", image, 54)
    for header in range(headers, headers + size * count, size):
        kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", image, header)
        if kind == _SEGMENT_DYNAMIC:
            for entry in range(offset, offset + length, 16):
                tag, flags = struct.unpack_from("<QQ", image, entry)
                if tag == _TAG_FLAGS_1:
                    struct.pack_into("<QQ", image, entry, tag, flags & ~_FLAG_PROGRAM)
    copy.write_bytes(image)
    return copy


def _table(names: WaitNames, version: str, origin: str, appended: Sequence[str]) -> str:
    major = version.partition(".")[0]
    lines = [
        f"//! Wait events of PostgreSQL {major} by id. Made by tools/generate_wait_events.py, not by hand.",
        "//!",
        f"//! Source: PostgreSQL {version}, {origin}.",
        "",
        "/// Class byte, then names in the order of their ids; an empty name is an id that is not in use.",
        "#[rustfmt::skip]",
        "pub(super) const TABLE: &[(u8, &[&str])] = &[",
    ]
    for byte, class_name in _CLASSES.items():
        later = [name.partition(":")[2] for name in appended if name.startswith(f"{class_name}:")]
        rows = [f'        "{name}",' for name in names.of_class(byte) + later]
        lines += [f"    (0x{byte:02X}, &[", *rows, "    ]),"]
    return "\n".join([*lines, "];"]) + "\n"


def main() -> None:
    """See the module's description."""
    program, origin, *appended = sys.argv[1:]
    shown = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    sys.stdout.write(_table(WaitNames(Path(program)), shown.split()[2], origin, appended))


if __name__ == "__main__":
    main()
