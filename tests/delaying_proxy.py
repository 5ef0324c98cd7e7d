"""A distant server, made of a near one: a proxy on the loopback that holds every byte back for a fixed time.

```
client --TCP--> listener --(wait d)--> the server's socket
       <--(wait d)--               <--
```

Reading never waits for writing: what has arrived waits in a queue with the moment at which it is due, so a delay of d
each way adds 2 d to a round trip and takes nothing from the bandwidth. (The kernel's netem does the same, but needs
root and a network namespace.)
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_CHUNK_BYTES = 1 << 20


class DelayingProxy:
    """The listener and its connections, all on one event loop.

    Args:
        server_socket: the path of the server's Unix socket.
        delay_s: how long each byte travels, each way.
    """

    def __init__(self, server_socket: str, delay_s: float) -> None:
        self._server_socket = server_socket
        self._delay_s = delay_s
        self._connections: set[asyncio.Task[None]] = set()
        self._listener: asyncio.Server | None = None
        self.port = 0
        self.requests = 0  # chunks from clients: one a round trip of a client that waits for each answer
        self.held_s = 0.0  # how long all chunks were held, which on a busy machine is longer than they should be

    async def start(self) -> None:
        """Listen on a free port."""
        self._listener = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = int(self._listener.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Drop all connections and the listener."""
        assert self._listener is not None
        self._listener.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        server_reader, server_writer = await asyncio.open_unix_connection(self._server_socket)
        try:
            await asyncio.gather(self._carry(reader, server_writer, 1), self._carry(server_reader, writer, 0))
        except (ConnectionError, asyncio.CancelledError):
            pass  # one side went away, or the test is over
        finally:
            self._connections.discard(task)
            writer.close()
            server_writer.close()

    async def _carry(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, requests: int) -> None:
        """One direction, until its source ends; the end travels as long as the bytes do."""
        queue: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
        delivery = asyncio.create_task(self._deliver(queue, sink))
        try:
            data = b"-"
            while data:
                data = await source.read(_CHUNK_BYTES)
                self.requests += requests if data else 0
                queue.put_nowait((asyncio.get_running_loop().time(), data))
            await delivery
        finally:
            delivery.cancel()

    async def _deliver(self, queue: asyncio.Queue[tuple[float, bytes]], sink: asyncio.StreamWriter) -> None:
        clock = asyncio.get_running_loop().time
        while True:
            arrived, data = await queue.get()
            await asyncio.sleep(arrived + self._delay_s - clock())
            if not data:
                sink.write_eof()
                return
            sink.write(data)
            self.held_s += clock() - arrived
            await sink.drain()


@contextmanager
def delaying_proxy(server_socket: str, delay_s: float) -> Iterator[DelayingProxy]:
    """A proxy in a thread of its own: `server_socket` seems `delay_s` away behind its port of 127.0.0.1."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    proxy = DelayingProxy(server_socket, delay_s)
    try:
        asyncio.run_coroutine_threadsafe(proxy.start(), loop).result()
        yield proxy
        asyncio.run_coroutine_threadsafe(proxy.stop(), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
