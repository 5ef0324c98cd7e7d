"""One profile of a running server, from the first counter to the record.

```
counters | ------------------- watch (a thread, GIL released) ------------------- | counters | record
         | poll: sessions, queries, blockers (a thread, one read-only connection) |
         | stacks, if asked for (a thread)                                        |
         | main thread: the foreground (progress or the live view), Ctrl-C        |
```

A Ctrl-C ends the watch with its next step, and what was seen is kept; a second one gives up at once.
"""

from __future__ import annotations

import dataclasses
import queue
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Generic, Protocol, TypeVar

import psycopg

from dbdyno import engine
from dbdyno.attach import counters
from dbdyno.attach.find import FoundServer
from dbdyno.attach.server_facts import server_facts
from dbdyno.attach.session import APPLICATION_NAME, connect
from dbdyno.attach.session_poll import SessionPoll
from dbdyno.attach.sessions_sql import Session
from dbdyno.errors import EXIT_INPUT_WRONG, DynoError
from dbdyno.targets.statements import first_line

STEP_NS = 1_000_000_000
STACK_FREQUENCY_HZ = 99
_CONNECT_TIMEOUT_NS = 10_000_000_000
_FOREGROUND_PERIOD_S = 0.05
# The stacks are recorded for as long as the watch; this long past its end they may still be put together.
_STACKS_LIMIT_S = 30.0

T = TypeVar("T")
Step = Mapping[str, Any]
Blocking = Mapping[int, tuple[list[int], str | None]]


@dataclasses.dataclass(frozen=True, slots=True)
class Wish:
    """How to profile: for how long, at which cost at most, how to look, and whether with stacks."""

    seconds: float
    budget: float
    route: str
    stacks: bool


class Foreground(Protocol):
    """What the user sees meanwhile; all calls come from the main thread."""

    def take_step(self, step: Step) -> None:
        """A step of the watch has ended."""

    def take_sessions(self, sessions: Sequence[Session], blocking: Blocking) -> None:
        """The sessions were looked at."""

    def tick(self) -> bool:
        """A moment has passed; returns whether to go on."""


def measure(server: FoundServer, wish: Wish, snapshots: Path, foreground: Foreground) -> dict[str, Any]:
    """Profile `server`; returns the record without `format` (docs/profile-directory.md).

    Raises:
        DynoError: nothing could be measured.
    """
    facts = server_facts(server.session, same_host=server.postmaster_pid is not None)
    before = counters.read_all(server.session)
    events: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
    stop, over = threading.Event(), threading.Event()
    poll = _start_poll(server, lambda *seen: events.put(lambda: foreground.take_sessions(*seen)))

    def live(step: Step) -> bool:
        events.put(lambda: foreground.take_step(step))
        return not stop.is_set()

    spec, password = _spec(server, wish, snapshots)
    try:
        with _stopping_on_interrupt(stop) as interrupted:
            stacks = _start_stacks(server, wish, over)
            watching = _Task(lambda: engine.watch_server(spec, password, live))
            _attend(watching, events, foreground, stop)
            outcome = _outcome(watching, server)
            over.set()
            found_stacks = _finish_stacks(stacks)
    finally:
        over.set()
        session = poll.finish() if poll is not None else None
    after = counters.read_all(session)
    record = {
        "dbdyno": {"version": engine.VERSION, "build_profile": engine.BUILD_PROFILE},
        "asked": {"seconds": wish.seconds, "budget": wish.budget, "route": wish.route, "stacks": wish.stacks},
        "interrupted": interrupted.is_set(),
        "target": server.document(),
        "server": facts,
        "watch": outcome,
        "sessions": poll.document(outcome["started_at_ns"]) if poll is not None else _no_sessions(server),
        "counters": counters.changes(before, after, session),
        "stacks": found_stacks,
    }
    if session is not None and session is not server.session:
        session.close()  # one that was made anew; the first is its maker's to close
    return record


def _outcome(watching: _Task[dict[str, Any]], server: FoundServer) -> dict[str, Any]:
    """What was seen. Where neither memory nor SQL is open to us, both ways in are told."""
    try:
        return watching.result()
    except DynoError as error:
        if server.session is not None or error.exit_code != EXIT_INPUT_WRONG:
            raise
        raise DynoError(
            "no_rights",
            f"{server.shown}: {error.message}; run as the server's account or as root, or give --as-url",
        ) from None


def _spec(server: FoundServer, wish: Wish, snapshots: Path) -> tuple[dict[str, Any], str | None]:
    """What the engine is asked for, without the password, and the password."""
    endpoint = server.endpoint
    spec = {
        "target": endpoint.engine_target(APPLICATION_NAME, _CONNECT_TIMEOUT_NS) if endpoint is not None else None,
        "postmaster_pid": server.postmaster_pid,
        "route": wish.route,
        "period_ns": None,
        "budget": wish.budget,
        "seconds_ns": round(wish.seconds * 1e9),
        "step_ns": STEP_NS,
        "ignore_pids": [server.session.info.backend_pid] if server.session is not None else [],
        "snapshots_path": str(snapshots),
    }
    password = endpoint.password.reveal() if endpoint is not None and endpoint.password is not None else None
    return spec, password


def _start_poll(server: FoundServer, look: Callable[[Sequence[Session], Blocking], None]) -> SessionPoll | None:
    if server.session is None or server.endpoint is None:
        return None
    endpoint = server.endpoint
    try:
        poll = SessionPoll(server.session, lambda: connect(endpoint), look)
    except psycopg.Error as error:
        raise DynoError("connection_lost", f"{server.shown}: {first_line(error)}; see that the server runs") from None
    poll.start()
    return poll


def _no_sessions(server: FoundServer) -> dict[str, Any]:
    """`sessions` where there was no connection to ask over."""
    nothing: dict[str, Any] = {"processes": [], "queries": [], "seen": [], "blocking": []}
    return {"polls": 0, "cpu_ns_server": None, **nothing, "note": server.note}


def _start_stacks(server: FoundServer, wish: Wish, over: threading.Event) -> _Task[dict[str, Any]] | None:
    if not wish.stacks:
        return None
    spec = {
        "pids": None,
        "postmaster_pid": server.postmaster_pid,
        "seconds_ns": round(wish.seconds * 1e9),
        "frequency_hz": STACK_FREQUENCY_HZ,
        "route": "auto",
    }
    return _Task(lambda: engine.record_stacks(spec, lambda: not over.is_set()))


def _finish_stacks(stacks: _Task[dict[str, Any]] | None) -> dict[str, Any] | None:
    """The stacks of the time that was watched, or why there are none."""
    if stacks is None:
        return None
    stacks.join(_STACKS_LIMIT_S)
    if stacks.is_alive():
        return _without_stacks(f"the stacks were not put together {_STACKS_LIMIT_S:g} s after the watch")
    try:
        return stacks.result()
    except DynoError as error:
        return _without_stacks(error.message)


def _without_stacks(note: str) -> dict[str, Any]:
    return {
        **{"format": 1, "route": None, "note": note, "frequency_hz": STACK_FREQUENCY_HZ, "pause_ns": None},
        **{"frames": [], "stacks": [], "lost": 0},
    }


def _attend(
    watching: _Task[Any],
    events: queue.SimpleQueue[Callable[[], None]],
    foreground: Foreground,
    stop: threading.Event,
) -> None:
    """Serve the foreground until the watch has ended; one that fails ends the watch first."""
    try:
        while watching.is_alive():
            watching.join(_FOREGROUND_PERIOD_S)
            while not events.empty():
                events.get()()
            if not foreground.tick():
                stop.set()
    except BaseException:
        stop.set()
        watching.join()
        raise


class _Task(threading.Thread, Generic[T]):
    """A call in a thread of its own, and what came of it."""

    def __init__(self, call: Callable[[], T]) -> None:
        super().__init__(daemon=True)
        self._call = call
        self._returned: list[T] = []
        self._error: BaseException | None = None
        self.start()

    def run(self) -> None:
        """The call; what it raises is kept for `result`."""
        try:
            self._returned.append(self._call())
        except BaseException as error:
            self._error = error

    def result(self) -> T:
        """What the call returned or raised, once it has ended."""
        self.join()
        if self._error is not None:
            raise self._error
        return self._returned[0]


@contextmanager
def _stopping_on_interrupt(stop: threading.Event) -> Iterator[threading.Event]:
    """Within, a Ctrl-C asks the watch to end; a second one is a KeyboardInterrupt. Yields whether there was one."""
    interrupted = threading.Event()

    def ask(number: int, frame: FrameType | None) -> None:
        if interrupted.is_set():
            raise KeyboardInterrupt
        interrupted.set()
        stop.set()

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)
