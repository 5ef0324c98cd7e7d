"""The shared memory of a server that was killed before it could remove it.

A server that ends in any order removes its own. After SIGKILL of the postmaster these stay:

```
postmaster.pid, line 7: key, id -> System V segment    int32 magic | int32 pid | size_t | size_t | uint32 control | ...
/dev/shm/PostgreSQL.CONTROL                            uint32 magic | uint32 items | uint32 | - | item 0 | item 1 ...
  item (40 bytes)                                      uint32 handle | uint32 references | 32 bytes
/dev/shm/PostgreSQL.HANDLE                             one for each item
```

The server itself finds them this way when it starts again on the same data (dsm_cleanup_using_control_segment); ours
never does. The layouts are those of PGShmemHeader and dsm_control_header in PostgreSQL 14 to 18, on 64-bit Linux.
"""

from __future__ import annotations

import ctypes
import struct
import time
from pathlib import Path

_SEGMENT_MAGIC = 679834894
_CONTROL_MAGIC = 0x9A503D32
_CONTROL_HEADER = struct.Struct("=III4x")
_ITEM = struct.Struct("=II32x")
_SEGMENT_HEADER = struct.Struct("=iiQQI")
_IPC_RMID = 0
_SHM_RDONLY = 0o10000
# Children of a killed postmaster end when they next look whether it lives: at once, unless they are busy.
_CHILDREN_END_LIMIT_S = 5.0
_POSIX_MEMORY = Path("/dev/shm")

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.shmat.restype = ctypes.c_void_p
_LIBC.shmat.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
_LIBC.shmdt.argtypes = (ctypes.c_void_p,)


def remove_shared_memory(cluster: Path) -> None:
    """Remove what `postmaster.pid` in `cluster` leads to, if nobody is attached to it any more."""
    try:
        key_and_id = (cluster / "postmaster.pid").read_text().splitlines()[6].split()
    except (OSError, IndexError):
        return
    if len(key_and_id) != 2 or not _becomes_free(key_and_id):
        return
    segment = int(key_and_id[1])
    control = _control_handle(segment)
    _LIBC.shmctl(segment, _IPC_RMID, None)
    if control:
        _remove_posix_segments(_POSIX_MEMORY / f"PostgreSQL.{control}")


def _becomes_free(key_and_id: list[str]) -> bool:
    """Whether this segment is there and no process is attached to it, at the latest when all have had time to end."""
    limit = time.monotonic() + _CHILDREN_END_LIMIT_S
    while attached := _processes_attached(key_and_id):
        if time.monotonic() > limit:
            return False
        time.sleep(0.01)
    return attached == 0


def _processes_attached(key_and_id: list[str]) -> int | None:
    """As the kernel lists it; None for no such segment (ids are used again, so the key must fit as well)."""
    for row in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]:
        fields = row.split()
        if fields[:2] == key_and_id:
            return int(fields[6])
    return None


def _control_handle(segment: int) -> int | None:
    address = _LIBC.shmat(segment, None, _SHM_RDONLY)
    if address is None or address == ctypes.c_void_p(-1).value:
        return None
    try:
        header = ctypes.string_at(address, _SEGMENT_HEADER.size)
    finally:
        _LIBC.shmdt(address)
    magic, _, _, _, control = _SEGMENT_HEADER.unpack(header)
    return int(control) if magic == _SEGMENT_MAGIC else None


def _remove_posix_segments(control: Path) -> None:
    try:
        contents = control.read_bytes()
    except OSError:
        return
    if len(contents) < _CONTROL_HEADER.size:
        return
    magic, items, _ = _CONTROL_HEADER.unpack_from(contents)
    if magic != _CONTROL_MAGIC:
        return
    items_end = min(_CONTROL_HEADER.size + items * _ITEM.size, len(contents))
    for offset in range(_CONTROL_HEADER.size, items_end - _ITEM.size + 1, _ITEM.size):
        handle, references = _ITEM.unpack_from(contents, offset)
        if references:
            (_POSIX_MEMORY / f"PostgreSQL.{handle}").unlink(missing_ok=True)
    control.unlink()
