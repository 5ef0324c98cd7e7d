"""The questions of the session poll, and their answers as rows of plain values. PostgreSQL 14 and later.

What a user without `pg_read_all_stats` is not shown of other users' sessions comes back as null, and the text as
HIDDEN.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from dbdyno.attach.session import MARK
from dbdyno.targets.target import Connection

HIDDEN = "<insufficient privilege>"
QUERY_CHARACTERS_MAX = 4096

_SESSIONS = f"""
SELECT {MARK} pid, backend_type, usename, datname, application_name,
       CASE WHEN client_port = -1 THEN 'local' ELSE host(client_addr) END AS client,
       leader_pid, query_id::text, left(query, {QUERY_CHARACTERS_MAX}), state,
       wait_event_type || ':' || wait_event, extract(epoch FROM backend_start)::text,
       extract(epoch FROM clock_timestamp() - state_change)::float8
  FROM pg_stat_activity
 WHERE pid <> pg_backend_pid() AND application_name IS DISTINCT FROM %s
"""

_BLOCKING = f"SELECT {MARK} pid, pg_blocking_pids(pid) FROM unnest(%s::int[]) AS waiting(pid)"

# Relations of other databases have no name here. A waiter for a row holds the row's own lock, granted, and waits for
# the transaction that changed it: hence the granted locks on tuples.
_LOCKS = f"""
SELECT {MARK} locks.pid, locks.locktype, locks.granted, locks.page, locks.tuple,
       locks.transactionid::text, locks.virtualxid,
       coalesce(relation.oid::regclass::text, 'relation ' || locks.relation) AS relation, database.datname,
       locks.mode, locks.classid::bigint, locks.objid::bigint
  FROM pg_locks AS locks
  LEFT JOIN pg_database AS database ON database.oid = locks.database
  LEFT JOIN pg_class AS relation
         ON relation.oid = locks.relation AND (locks.database = 0 OR database.datname = current_database())
 WHERE locks.pid = ANY(%s) AND (NOT locks.granted OR locks.locktype = 'tuple')
"""

_STARTED = f"SELECT {MARK} pg_postmaster_start_time()"

_RIGHTS = f"SELECT {MARK} current_user::text, pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')"


@dataclasses.dataclass(frozen=True, slots=True)
class Session:
    """One row of pg_stat_activity; `began` tells two processes with one pid apart."""

    pid: int
    backend_type: str | None
    user: str | None
    database: str | None
    application: str | None
    client: str | None
    leader_pid: int | None
    query_id: str | None
    query: str | None
    state: str | None
    wait: str | None
    began: str | None
    in_state_s: float | None

    @property
    def is_hidden(self) -> bool:
        """Whether its text, state and wait are not for us."""
        return self.query == HIDDEN


@dataclasses.dataclass(frozen=True, slots=True)
class Lock:
    """One row of pg_locks: a lock waited for, or a row's own lock that is held."""

    pid: int
    kind: str
    granted: bool
    page: int | None
    tuple: int | None
    transaction: str | None
    virtual_transaction: str | None
    relation: str | None
    database: str | None
    mode: str
    class_id: int | None
    object_id: int | None


def read_sessions(connection: Connection, own_name: str) -> list[Session]:
    """All sessions but those that carry our own name."""
    return [Session(*row) for row in connection.execute(_SESSIONS.encode(), [own_name]).fetchall()]


def read_blocking(connection: Connection, waiting: Sequence[int]) -> dict[int, list[int]]:
    """Who holds up whom; pid 0 is a prepared transaction. For a moment it holds up all who take a lock."""
    rows = connection.execute(_BLOCKING.encode(), [list(waiting)]).fetchall()
    return {pid: sorted(set(blocking)) for pid, blocking in rows if blocking}


def read_locks(connection: Connection, waiting: Sequence[int]) -> list[Lock]:
    """The locks that these sessions wait for, and the rows' locks that they hold."""
    return [Lock(*row) for row in connection.execute(_LOCKS.encode(), [list(waiting)]).fetchall()]


def read_start_time(connection: Connection) -> str:
    """When the server was started: another time means another server's life."""
    row = connection.execute(_STARTED.encode()).fetchone()
    assert row is not None
    return str(row[0])


def read_rights(connection: Connection) -> tuple[str, bool]:
    """Who we are, and whether we may see everything of everybody's sessions."""
    row = connection.execute(_RIGHTS.encode()).fetchone()
    assert row is not None
    return row[0], row[1]


def lock_text(locks: Sequence[Lock]) -> str | None:
    """What one session waits for, in words: `row (0,12) of public.accounts, until transaction 741 ends`."""
    wanted = next((lock for lock in locks if not lock.granted), None)
    if wanted is None:
        return None
    held = next((lock for lock in locks if lock.granted), None)
    match wanted.kind:
        case "transactionid" if held is not None:
            return f"{_row(held)}, until transaction {wanted.transaction} ends"
        case "transactionid":
            return f"transaction {wanted.transaction}"
        case "virtualxid":
            return f"virtual transaction {wanted.virtual_transaction}"
        case "tuple":
            return _row(wanted)
        case "relation":
            return f"{_relation(wanted)}, {wanted.mode}"
        case "page" | "extend":
            return f"{wanted.kind} lock of {_relation(wanted)}"
        case "advisory":
            return f"advisory lock {wanted.class_id}, {wanted.object_id}"
        case "object":
            return f"object {wanted.object_id} of class {wanted.class_id}"
        case kind:
            return f"{kind} lock"


def _row(lock: Lock) -> str:
    return f"row ({lock.page},{lock.tuple}) of {_relation(lock)}"


def _relation(lock: Lock) -> str:
    elsewhere = f" in {lock.database}" if lock.relation and lock.relation.startswith("relation ") else ""
    return f"{lock.relation}{elsewhere}"
