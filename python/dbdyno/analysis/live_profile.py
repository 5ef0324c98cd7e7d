"""A watched server as it is now: steps, looks at the sessions and keys go in, a view comes out. No clock, no terminal.

    state = LiveState(cpus=8)
    state.take_step(step)                 each second: docs/architecture.md, "Watching a server"
    state.take_sessions(sessions, who_blocks)
    state.press("s")
    state.view()

A cell of a step says how often a process was seen in an event, of how many of these its scheduling state was looked
at, and in how many it was asleep. So its time is split: asleep in the event, or runnable; what is runnable is CPU and
run queue in the proportion of the process's exact clocks.
This is the quick form of `analysis.server_profile`, for a picture that changes each second: without intervals.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from dbdyno.analysis.live_view import SORTS, BlockedLine, Line, LiveView, Table
from dbdyno.analysis.server_profile.processes import SESSION_TYPES
from dbdyno.analysis.server_profile.snapshots import ACTIVE, BACKGROUND, IDLE, IDLE_IN_TRANSACTION, STATES

CPU = "CPU"
RUN_QUEUE = "run queue"
NO_EVENT = "no event"
NO_CLOCK = "no clock"  # active without an event, where nobody looks whether it sleeps

COURSE_STEPS = 60
WINDOW_STEPS = 5
LINES_MAX = 50

Blocking = Mapping[int, tuple[list[int], str | None]]


class SessionLike(Protocol):
    """What is asked of a row of pg_stat_activity."""

    @property
    def pid(self) -> int:
        """Process id."""

    @property
    def user(self) -> str | None:
        """Its role."""

    @property
    def application(self) -> str | None:
        """What it calls itself."""

    @property
    def query_id(self) -> str | None:
        """As PostgreSQL prints it."""

    @property
    def query(self) -> str | None:
        """Its text."""

    @property
    def state(self) -> str | None:
        """`active`, `idle` ..."""

    @property
    def wait(self) -> str | None:
        """`Class:Name`."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Piece:
    """Some time of one process in one query in one part: an event, CPU, ...; `snapshots` may be a fraction."""

    pid: int
    query_id: str | None
    part: str
    sessions: float
    snapshots: float


@dataclasses.dataclass(frozen=True, slots=True)
class _Process:
    """A process of the server; a parallel worker stands for the session that it works for."""

    session_pid: int
    is_session: bool


@dataclasses.dataclass(frozen=True, slots=True)
class _Step:
    pieces: tuple[_Piece, ...]
    idle_in_transaction: float

    @property
    def active(self) -> float:
        return sum(piece.sessions for piece in self.pieces)


def class_of(part: str) -> str:
    """The wait class of an event; CPU and its like are classes of their own."""
    return part.partition(":")[0]


class LiveState:
    """What was seen lately, and what the user chose to look at."""

    def __init__(self, *, cpus: int | None) -> None:
        self._cpus = cpus
        self._processes: list[_Process] = []
        self._events = [""]  # a step brings the names that are new in it; no event is known from the start
        self._looks: dict[int, tuple[int, int]] = {}  # event -> looked, asleep, of all steps
        self._steps: deque[_Step] = deque(maxlen=COURSE_STEPS)
        self._count = 0
        self._sessions: dict[int, SessionLike] = {}
        self._texts: dict[str, str] = {}
        self._blocking: Blocking = {}
        self._frozen: tuple[list[_Step], int, dict[int, SessionLike], Blocking] | None = None
        self._sort = SORTS[0]
        self._selected: tuple[str, str] | None = None
        self._into: tuple[str, str] | None = None
        self.ended = False

    def take_step(self, step: Mapping[str, Any]) -> None:
        """One more step of the watch, with the processes and event names that are new in it."""
        self._processes += [
            _Process(new["leader_pid"] or new["pid"], new["backend_type"] in SESSION_TYPES)
            for new in step.get("processes", ())
        ]
        self._events += step.get("events", ())
        self._count += 1
        if step["sweeps"]:
            self._steps.append(self._divided(step))

    def take_sessions(self, sessions: Iterable[SessionLike], blocking: Blocking) -> None:
        """A look at the sessions, and who of them waits for whom."""
        self._sessions = {session.pid: session for session in sessions}
        self._blocking = blocking
        for session in self._sessions.values():
            if session.query_id is not None and session.query:
                self._texts.setdefault(session.query_id, " ".join(session.query.split()))

    def press(self, key: str) -> None:
        """A key: `space`, `s`, `up`, `down`, `enter`, `escape`, `left`, `q`; others do nothing."""
        match key:
            case "q":
                self.ended = True
            case "space" if self._frozen is None:
                self._frozen = (list(self._steps), self._count, self._sessions, self._blocking)
            case "space":
                self._frozen = None
            case "s":
                self._sort = SORTS[(SORTS.index(self._sort) + 1) % len(SORTS)]
            case "up" | "down":
                self._move(-1 if key == "up" else 1)
            case "enter" if self._into is None and self._selected is not None:
                self._into, self._selected = self._selected, None
            case "escape" | "left" if self._into is not None:
                self._into, self._selected = None, self._into

    def view(self) -> LiveView:
        """The picture as it is now, or as it was when it was stopped."""
        steps, count, _, _ = self._shown()
        last = steps[-1] if steps else _Step((), 0.0)
        return LiveView(
            steps=count,
            active_sessions=last.active,
            idle_in_transaction=last.idle_in_transaction,
            cpus=self._cpus,
            classes=tuple(_by_class(last.pieces)),
            course=tuple(step.active for step in steps),
            window_steps=min(WINDOW_STEPS, len(steps)),
            tables=self._tables(),
            blocked=tuple(self._blocked()),
            into=None if self._into is None else self._name(*self._into),
            sort=self._sort,
            paused=self._frozen is not None,
        )

    def _shown(self) -> tuple[list[_Step], int, dict[int, SessionLike], Blocking]:
        return self._frozen or (list(self._steps), self._count, self._sessions, self._blocking)

    def _divided(self, step: Mapping[str, Any]) -> _Step:
        """The step's cells as time: each split into asleep, CPU and run queue."""
        sweeps = step["sweeps"]
        states = [self._state(*cell[:4]) for cell in step["cells"]]
        active = [cell for cell, state in zip(step["cells"], states, strict=True) if state == ACTIVE]
        for _, _, _, event, _, looked, asleep in active:
            before = self._looks.get(event, (0, 0))
            self._looks[event] = (before[0] + looked, before[1] + asleep)
        asleep_share = self._asleep_shares(active)
        cpu_share = _cpu_shares(step["clocks"])
        pieces: list[_Piece] = []
        for process, query_id, _, event, seen, _, _ in active:
            share = asleep_share[event]
            name = self._events[event] or (NO_CLOCK if share is None else NO_EVENT)
            on_cpu = cpu_share.get(process, cpu_share.get(None, 1.0))
            asleep = 1.0 if share is None else share
            parts = {name: asleep, CPU: (1.0 - asleep) * on_cpu, RUN_QUEUE: (1.0 - asleep) * (1.0 - on_cpu)}
            pid = self._processes[process].session_pid
            pieces += [
                _Piece(pid, query_id, part, seen * portion / sweeps, seen * portion)
                for part, portion in parts.items()
                if portion > 0.0
            ]
        cells = zip(step["cells"], states, strict=True)
        waiting = sum(cell[4] for cell, state in cells if state == IDLE_IN_TRANSACTION)
        return _Step(tuple(pieces), waiting / sweeps)

    def _state(self, process: int, query_id: str | None, state: str | None, event: int) -> int:
        """As `analysis.server_profile.snapshots` has it: a session whose state is not known waits, or is active."""
        if not self._processes[process].is_session:
            return BACKGROUND
        if state is None:
            return IDLE if self._events[event] == "Client:ClientRead" else ACTIVE
        return STATES.get(state, ACTIVE)

    def _asleep_shares(self, active: Sequence[Sequence[Any]]) -> dict[int, float | None]:
        """By event: of the looks in this step those that found sleep; where there was none, of all looks so far."""
        looks: dict[int, tuple[int, int]] = defaultdict(lambda: (0, 0))
        for _, _, _, event, _, looked, asleep in active:
            looks[event] = (looks[event][0] + looked, looks[event][1] + asleep)
        shares: dict[int, float | None] = {}
        for event, found in looks.items():
            looked, asleep = found if found[0] else self._looks[event]
            shares[event] = asleep / looked if looked else None
        return shares

    def _window(self) -> tuple[list[_Piece], int]:
        steps = self._shown()[0][-WINDOW_STEPS:]
        return [piece for step in steps for piece in step.pieces], max(1, len(steps))

    def _tables(self) -> tuple[Table, ...]:
        pieces, steps = self._window()
        if self._into is None:
            return (
                self._table("events", "mostly in query", pieces, steps, "event", "query"),
                self._table("queries", "mostly in", pieces, steps, "query", "event"),
            )
        kind, key = self._into
        chosen = [piece for piece in pieces if _key(piece, kind) == key]
        other = "query" if kind == "event" else "event"
        title = "queries in it" if kind == "event" else "where it is"
        return (
            self._table("who is in it", "mostly in", chosen, steps, "session", other),
            self._table(title, "", chosen, steps, other, None),
        )

    def _table(
        self, title: str, beside: str, pieces: Sequence[_Piece], steps: int, kind: str, other: str | None
    ) -> Table:
        groups: dict[str, list[_Piece]] = defaultdict(list)
        for piece in pieces:
            groups[_key(piece, kind)].append(piece)
        total = sum(piece.sessions for piece in pieces)
        lines = [
            Line(
                key,
                self._name(kind, key),
                sessions=sum(piece.sessions for piece in group) / steps,
                share=sum(piece.sessions for piece in group) / total if total else 0.0,
                snapshots=round(sum(piece.snapshots for piece in group)),
                beside=self._name(other, _greatest(group, other)) if other else "",
                selected=self._selected == (kind, key),
            )
            for key, group in groups.items()
        ]
        return Table(title, beside, tuple(sorted(lines, key=_ORDERS[self._sort])[:LINES_MAX]))

    def _name(self, kind: str, key: str) -> str:
        if kind == "query":
            return self._texts.get(key) or (f"query {key}" if key else "(no query id)")
        if kind == "session":
            session = self._shown()[2].get(int(key))
            return f"{key} {_who(session)}".rstrip()
        return key

    def _move(self, by: int) -> None:
        """The selection, up or down through the tables; nothing is chosen where a table cannot be looked into."""
        if self._into is not None:
            return
        kinds = ("event", "query")
        places = [(kind, line.key) for kind, table in zip(kinds, self._tables(), strict=True) for line in table.lines]
        if not places:
            return
        if self._selected not in places:
            self._selected = places[0 if by > 0 else -1]
            return
        place = places.index(self._selected) + by
        self._selected = places[min(max(place, 0), len(places) - 1)]

    def _blocked(self) -> list[BlockedLine]:
        """The tree of who waits for whom, those first who hold up most; each session once."""
        _, _, sessions, blocking = self._shown()
        waiters: dict[int, list[int]] = defaultdict(list)
        for pid, (blockers, _) in sorted(blocking.items()):
            for blocker in blockers:
                waiters[blocker].append(pid)
        below = {pid: _below(pid, waiters) for pid in waiters}
        roots = sorted((pid for pid in waiters if pid not in blocking), key=lambda pid: (-len(below[pid]), pid))
        lines: list[BlockedLine] = []
        told: set[int] = set()

        def tell(pid: int, depth: int) -> None:
            if pid in told:
                return
            told.add(pid)
            session = sessions.get(pid)
            lock = blocking[pid][1] if pid in blocking else None
            lines.append(BlockedLine(depth, pid, _who(session), _doing(pid, session), lock, len(below.get(pid, ()))))
            for waiter in sorted(waiters[pid], key=lambda waiter: (-len(below.get(waiter, ())), waiter)):
                tell(waiter, depth + 1)

        for root in roots:
            tell(root, 0)
        return lines


_ORDERS = {
    "time": lambda line: (-line.sessions, line.name),
    "snapshots": lambda line: (-line.snapshots, line.name),
    "name": lambda line: line.name,
}


def _cpu_shares(clocks: Iterable[Sequence[Any]]) -> dict[int | None, float]:
    """By process, what part of its runnable time it was on a CPU; under None that of all processes together."""
    known = [(process, cpu, waiting) for process, cpu, waiting in clocks if cpu is not None and waiting is not None]
    shares: dict[int | None, float] = {
        process: cpu / (cpu + waiting) for process, cpu, waiting in known if cpu + waiting > 0
    }
    cpu_all, waiting_all = sum(cpu for _, cpu, _ in known), sum(waiting for _, _, waiting in known)
    if cpu_all + waiting_all > 0:
        shares[None] = cpu_all / (cpu_all + waiting_all)
    return shares


def _by_class(pieces: Iterable[_Piece]) -> list[tuple[str, float]]:
    sums: dict[str, float] = defaultdict(float)
    for piece in pieces:
        sums[class_of(piece.part)] += piece.sessions
    return sorted(sums.items(), key=lambda found: (-found[1], found[0]))


def _key(piece: _Piece, kind: str) -> str:
    if kind == "event":
        return piece.part
    return str(piece.pid) if kind == "session" else piece.query_id or ""


def _greatest(pieces: Iterable[_Piece], kind: str) -> str:
    sums: dict[str, float] = defaultdict(float)
    for piece in pieces:
        sums[_key(piece, kind)] += piece.sessions
    return min(sums, key=lambda key: (-sums[key], key))


def _who(session: SessionLike | None) -> str:
    if session is None:
        return ""
    return " ".join(part for part in (session.user, session.application) if part)


def _doing(pid: int, session: SessionLike | None) -> str:
    if pid == 0:
        return "a prepared transaction"
    if session is None or session.state is None:
        return ""
    return f"{session.state}, {session.wait}" if session.state == "active" and session.wait else session.state


def _below(pid: int, waiters: Mapping[int, Sequence[int]]) -> set[int]:
    """All who wait for `pid`, and for those who do; a deadlock is a ring, so nobody is visited twice."""
    found: set[int] = set()
    ahead = list(waiters.get(pid, ()))
    while ahead:
        waiter = ahead.pop()
        if waiter not in found and waiter != pid:
            found.add(waiter)
            ahead += waiters.get(waiter, ())
    return found
