"""Who is there and what they run: pg_stat_activity, asked about twice a second in a thread of its own.

The wait events of pg_stat_activity are kept beside those of the memory route, as an independent look.
A look costs the server CPU time, which is measured where its process is on this host; a slow server is asked less.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psycopg

from dbdyno.attach.session import APPLICATION_NAME
from dbdyno.attach.sessions_sql import (
    Session,
    lock_text,
    read_blocking,
    read_locks,
    read_rights,
    read_sessions,
    read_start_time,
)
from dbdyno.errors import DynoError
from dbdyno.targets.same_host import find_backend
from dbdyno.targets.statements import first_line
from dbdyno.targets.target import Connection

PERIOD_S = 0.5
# A look that takes long is followed by a pause 19 times as long: we keep one backend busy for 5 % of the time at most.
_PAUSE_PER_LOOK = 19.0
# pg_blocking_pids holds all lock partitions for a moment for each session asked about.
_WAITERS_MAX = 64
_RECONNECT_PERIOD_S = 1.0

Clock = Callable[[], int]


@dataclasses.dataclass(slots=True)
class _Seen:
    """What was seen of one process."""

    session: Session
    first_ns: int
    last_ns: int


class SessionRecord:
    """What the polls saw, in the form of the record; times are those of `time.time_ns` until `document`."""

    def __init__(self) -> None:
        self._processes: dict[tuple[int, str | None], _Seen] = {}
        self._queries: dict[str, int] = {}
        self._query_rows: list[dict[str, str | None]] = []
        self._seen: list[tuple[int, int, str | None, str | None, int | None]] = []
        self._blocking: list[tuple[int, int, list[int], str | None]] = []
        self._hidden: set[int] = set()
        self.polls = 0

    def take(self, at_ns: int, sessions: Sequence[Session], blocking: dict[int, tuple[list[int], str | None]]) -> None:
        """One poll: all sessions, and for those that wait for a lock who holds it and what it is."""
        self.polls += 1
        blockers = {blocker for found, _ in blocking.values() for blocker in found}
        for session in sessions:
            self._take_process(at_ns, session)
            if session.is_hidden:
                self._hidden.add(session.pid)
            elif session.state not in (None, "idle") or session.pid in blockers:
                self._seen.append((at_ns, session.pid, session.state, session.wait, self._query(session)))
        self._blocking += [(at_ns, pid, blockers, lock) for pid, (blockers, lock) in sorted(blocking.items())]

    @property
    def hidden(self) -> int:
        """Of how many sessions we were not shown what they do."""
        return len(self._hidden)

    def document(self, started_at_ns: int) -> dict[str, Any]:
        """`processes`, `queries`, `seen` and `blocking` of the record, times from the start of the watch.

        What was seen while the watch got ready was seen at its start.
        """

        def since(at_ns: int) -> int:
            return max(0, at_ns - started_at_ns)

        return {
            "processes": [
                {
                    "pid": seen.session.pid,
                    "first_ns": since(seen.first_ns),
                    "last_ns": since(seen.last_ns),
                    "backend_type": seen.session.backend_type,
                    "user": seen.session.user,
                    "database": seen.session.database,
                    "application": seen.session.application,
                    "client": seen.session.client,
                    "leader_pid": seen.session.leader_pid,
                }
                for seen in self._processes.values()
            ],
            "queries": list(self._query_rows),
            "seen": [[since(at_ns), *rest] for at_ns, *rest in self._seen],
            "blocking": [[since(at_ns), *rest] for at_ns, *rest in self._blocking],
        }

    def _take_process(self, at_ns: int, session: Session) -> None:
        """The latest row stands for a process: its application's name and its leader may change."""
        known = self._processes.get((session.pid, session.began))
        if known is None:
            self._processes[(session.pid, session.began)] = _Seen(session, at_ns, at_ns)
        else:
            known.last_ns = at_ns
            if session.state != "idle":
                known.session = session

    def _query(self, session: Session) -> int | None:
        """The place of its text among the queries; one id has one text, that of its first look."""
        if session.state == "idle" or not session.query:
            return None
        key = session.query_id or session.query
        place = self._queries.setdefault(key, len(self._query_rows))
        if place == len(self._query_rows):
            self._query_rows.append({"query_id": session.query_id, "text": session.query})
        return place


class SessionPoll(threading.Thread):
    """Polls until `finish`.

    Args:
        session: the control connection; not used elsewhere meanwhile.
        reconnect: makes another one where the first is lost; raises `DynoError`.
        look: called with the sessions and the blockers of each poll, in this thread.
        clock: nanoseconds since the epoch.
    """

    def __init__(
        self,
        session: Connection,
        reconnect: Callable[[], Connection],
        look: Callable[[Sequence[Session], dict[int, tuple[list[int], str | None]]], None] | None = None,
        clock: Clock = time.time_ns,
    ) -> None:
        super().__init__(name="session poll", daemon=True)
        self._session = session
        self._reconnect = reconnect
        self._look = look
        self._clock = clock
        self._record = SessionRecord()
        self._finished = threading.Event()
        self._notes: list[str] = []
        self._server_began = read_start_time(session)
        self._own_backend = find_backend(session)
        self._cpu_ns_before = _cpu_ns(self._own_backend)
        self._cpu_ns_after: int | None = None

    def run(self) -> None:
        """One poll after the other; a lost connection is made anew, a refused question is told once."""
        pause_s = 0.0
        while not self._finished.wait(pause_s):
            started = time.monotonic()
            try:
                self._poll()
            except psycopg.OperationalError as error:
                pause_s = self._lost(error)
                continue
            except psycopg.Error as error:
                self._note(f"a look at the sessions failed: {first_line(error)}")
            pause_s = max(PERIOD_S, _PAUSE_PER_LOOK * (time.monotonic() - started))

    def finish(self) -> Connection | None:
        """End the polling; the connection as it is now, or None where it was lost."""
        self._finished.set()
        self.join()
        self._cpu_ns_after = _cpu_ns(self._own_backend)
        return None if self._session.closed else self._session

    def document(self, started_at_ns: int) -> dict[str, Any]:
        """`sessions` of the record. Call after `finish`."""
        notes = [*self._notes, *self._rights()]
        before, after = self._cpu_ns_before, self._cpu_ns_after
        return {
            "polls": self._record.polls,
            "cpu_ns_server": None if before is None or after is None else after - before,
            **self._record.document(started_at_ns),
            "note": "; ".join(notes) or None,
        }

    def _poll(self) -> None:
        sessions = read_sessions(self._session, APPLICATION_NAME)
        at_ns = self._clock()
        blocking = self._blocking(sessions)
        self._record.take(at_ns, sessions, blocking)
        if self._look is not None:
            self._look(sessions, blocking)

    def _blocking(self, sessions: Sequence[Session]) -> dict[int, tuple[list[int], str | None]]:
        """For the sessions that have waited longest for a lock: who holds them up, and what they wait for."""
        waiting = [session for session in sessions if (session.wait or "").startswith("Lock:")]
        if len(waiting) > _WAITERS_MAX:
            self._note(f"more than {_WAITERS_MAX} sessions waited for locks: only the longest waits were asked about")
            waiting = sorted(waiting, key=lambda session: -(session.in_state_s or 0.0))[:_WAITERS_MAX]
        if not waiting:
            return {}
        pids = [session.pid for session in waiting]
        blockers = read_blocking(self._session, pids)
        locks = read_locks(self._session, list(blockers))
        return {pid: (found, lock_text([lock for lock in locks if lock.pid == pid])) for pid, found in blockers.items()}

    def _lost(self, error: psycopg.Error) -> float:
        """The connection broke, or a question took too long; the pause until the next try."""
        if not self._session.closed:
            self._note(f"a look at the sessions failed: {first_line(error)}")
            return PERIOD_S
        self._note(f"the connection was lost: {first_line(error)}")
        try:
            session = self._reconnect()
            same_server = read_start_time(session) == self._server_began
        except (DynoError, psycopg.Error):
            return _RECONNECT_PERIOD_S
        if not same_server:
            session.close()
            self._note("the server was started again: its new sessions are in no figure")
            return _RECONNECT_PERIOD_S
        self._session = session
        self._note("it was made anew")
        self._own_backend = None  # the lost one's CPU time went with it
        return 0.0

    def _rights(self) -> list[str]:
        if self._session.closed or not self._record.hidden:
            return []
        try:
            user, sees_all = read_rights(self._session)
        except psycopg.Error:
            return []
        if sees_all:
            return []
        return [
            f"{user} may not see what {self._record.hidden} sessions of other users do: "
            f"their queries, states and clients stay hidden; GRANT pg_read_all_stats TO {user} shows them"
        ]

    def _note(self, text: str) -> None:
        if text not in self._notes:
            self._notes.append(text)


def _cpu_ns(pid: int | None) -> int | None:
    """CPU time of a process of this host: exact, because our backend sleeps whenever we look."""
    if pid is None:
        return None
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return None
