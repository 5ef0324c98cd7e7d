"""A server of long ago, as far as a client can tell before it asks for anything that matters."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

_SSL_REQUEST = 80877103


class OldServer(threading.Thread):
    """Lets everybody in over the loopback, names its version, and answers every query with nothing."""

    def __init__(self, version: str) -> None:
        super().__init__(daemon=True)
        self._version = version
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.join()

    def run(self) -> None:
        """One connection after the other, until the listener is shut down."""
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection, connection.makefile("rb") as incoming:
                self._serve(connection, incoming.read)

    def _serve(self, connection: socket.socket, read: Callable[[int], bytes]) -> None:
        while struct.unpack("!ii", head := read(8))[1] == _SSL_REQUEST:
            connection.sendall(b"N")
        read(struct.unpack("!ii", head)[0] - 8)
        version = b"server_version\0" + self._version.encode() + b"\0"
        ready = _message(b"Z", b"I")
        connection.sendall(_message(b"R", bytes(4)) + _message(b"S", version) + _message(b"K", bytes(8)) + ready)
        while kind := read(1):
            read(struct.unpack("!i", read(4))[0] - 4)
            done = _message(b"C", b"SELECT 0\0") + ready
            if kind == b"Q":
                connection.sendall(done)
            elif kind == b"S":  # behind Parse, Bind, Describe and Execute
                connection.sendall(_message(b"1") + _message(b"2") + _message(b"n") + done)


def _message(kind: bytes, body: bytes = b"") -> bytes:
    return kind + struct.pack("!i", len(body) + 4) + body
