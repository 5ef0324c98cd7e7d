"""A path to a server that breaks: a proxy on the loopback that drops a connection after so many bytes of answers.

```
client --TCP--> listener ----> the server's socket
       <-- N bytes, then the end of both --
```
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_CHUNK_BYTES = 1 << 16


class CuttingProxy:
    """A listener, and threads for each connection.

    Args:
        server_socket: the path of the server's Unix socket.
        answer_bytes: how much of a server's answers passes on each connection.
    """

    def __init__(self, server_socket: str, answer_bytes: int) -> None:
        self._server_socket = server_socket
        self._answer_bytes = answer_bytes
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()
        self.port = int(self._listener.getsockname()[1])

    def close(self) -> None:
        """No new connections; those there are end with their clients."""
        # Closing alone would not wake the thread that waits on it.
        self._listener.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self._threads.append(threading.Thread(target=self._serve, args=(client,)))
            self._threads[-1].start()

    def _serve(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server:
            server.connect(self._server_socket)
            questions = threading.Thread(target=_carry, args=(client, server, None))
            questions.start()
            _carry(server, client, self._answer_bytes)
            questions.join()


def _carry(source: socket.socket, sink: socket.socket, limit: int | None) -> None:
    """One direction, until its source ends or the limit is reached; then neither direction goes on."""
    left = limit
    # Either side may have been cut by the other direction.
    with contextlib.suppress(OSError):
        while left is None or left > 0:
            data = source.recv(_CHUNK_BYTES if left is None else min(left, _CHUNK_BYTES))
            if not data:
                break
            sink.sendall(data)
            left = None if left is None else left - len(data)
    for end in (source, sink):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


@contextmanager
def cutting_proxy(server_socket: str, answer_bytes: int) -> Iterator[CuttingProxy]:
    """A proxy whose connections break after so many bytes of answers."""
    proxy = CuttingProxy(server_socket, answer_bytes)
    try:
        yield proxy
    finally:
        proxy.close()
