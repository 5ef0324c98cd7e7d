"""Runs dbdyno where the kernel lets nobody have an io_uring: a seccomp filter that says EPERM, as containers' do.

python without_io_uring.py calibrate ...
"""

from __future__ import annotations

import ctypes
import runpy
import struct
import sys

_SET_SECCOMP, _FILTER, _NO_NEW_PRIVILEGES = 22, 2, 38
_IO_URING_SETUP = 425  # on every architecture (asm-generic/unistd.h)
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _EPERM = 0x7FFF0000, 0x00050000 | 1


class _Program(ctypes.Structure):
    _fields_ = (("count", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def forbid() -> None:
    """For this process and all it starts (seccomp(2))."""
    instructions = [(_LOAD, 0, 0, 0), (_JUMP_IF_EQUAL, 0, 1, _IO_URING_SETUP), (_RETURN, 0, 0, _EPERM)]
    instructions.append((_RETURN, 0, 0, _ALLOW))
    packed = b"".join(struct.pack("=HBBI", *one) for one in instructions)
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    if prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) or prctl(
        _SET_SECCOMP, _FILTER, ctypes.byref(_Program(len(instructions), packed)), 0, 0
    ):
        raise OSError(ctypes.get_errno(), "no seccomp filter")


if __name__ == "__main__":
    forbid()
    sys.argv[0] = "dbdyno"
    runpy.run_module("dbdyno", run_name="__main__")
