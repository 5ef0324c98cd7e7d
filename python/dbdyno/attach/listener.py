"""Whose Unix socket it is, before a word is said over it: the kernel tells who listens (SO_PEERCRED, unix(7))."""

from __future__ import annotations

import re
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

# Where PostgreSQL's own build, Debian's and Red Hat's packages put the socket.
_DIRECTORIES = (Path("/var/run/postgresql"), Path("/run/postgresql"), Path("/tmp"))
_CONNECT_LIMIT_S = 2.0


def listener_of(path: Path) -> int | None:
    """The pid of the process that listens at a socket; None where nobody does or we may not ask."""
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(_CONNECT_LIMIT_S)
        try:
            probe.connect(str(path))
            credentials = probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        except OSError:  # a path that is too long for a socket address among them
            return None
    pid, _, _ = struct.unpack("3i", credentials)
    return int(pid)


def socket_path(directory: Path, port: int) -> Path:
    """The socket of a server with that port."""
    return directory / f".s.PGSQL.{port}"


def usual_sockets() -> Iterator[tuple[Path, int]]:
    """Directory and port of every server socket in the usual places."""
    seen = set()
    for directory in _DIRECTORIES:
        for path in sorted(directory.glob(".s.PGSQL.*")):
            if (match := re.fullmatch(r"\.s\.PGSQL\.([0-9]+)", path.name)) and path.resolve() not in seen:
                seen.add(path.resolve())
                yield directory, int(match[1])
