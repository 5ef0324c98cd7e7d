"""Whether an open file takes I/O past the page cache.

An open with O_DIRECT proves little: ext4 that journals data takes the flag and then goes through the page cache.
From Linux 6.1 on the kernel says itself what alignment direct I/O needs, and zero where there is none
(STATX_DIOALIGN, statx(2)).
"""

from __future__ import annotations

import ctypes
import os
import struct

_AT_EMPTY_PATH = 0x1000
_STATX_DIOALIGN = 0x2000
_STATX_BYTES = 256
# struct statx: stx_mask, and stx_dio_mem_align with stx_dio_offset_align behind it.
_MASK_AT, _ALIGNMENTS_AT = 0, 152


def takes_direct(descriptor: int) -> bool:
    """Of a regular file."""
    try:
        os.close(os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY | os.O_DIRECT | os.O_CLOEXEC))
    except OSError:
        return False
    return _alignment(descriptor) != 0


def _alignment(descriptor: int) -> int | None:
    """Of offsets, in bytes; None where the kernel or the C library does not say."""
    statx = getattr(ctypes.CDLL(None, use_errno=True), "statx", None)
    found = ctypes.create_string_buffer(_STATX_BYTES)
    if statx is None or statx(descriptor, b"", _AT_EMPTY_PATH, _STATX_DIOALIGN, found) != 0:
        return None
    (mask,) = struct.unpack_from("=I", found, _MASK_AT)
    _, of_offsets = struct.unpack_from("=II", found, _ALIGNMENTS_AT)
    return int(of_offsets) if mask & _STATX_DIOALIGN else None
