"""Plans before and after a fix, without the fix: in one transaction that is read only and rolled back.

PostgreSQL 18 can put a figure into pg_statistic by itself (`pg_restore_attribute_stats`), which is as transactional as
any row: EXPLAIN within the transaction goes by it, and after the ROLLBACK nothing of it is left but dead rows in a
catalogue, for autovacuum. Earlier versions take a figure from ANALYZE only.

The function locks the table as VACUUM does (SHARE UPDATE EXCLUSIVE), for as long as the statements take to be planned.
Whoever waits for that lock longer than deadlock_timeout has an autovacuum of the table cancelled, so it is not waited
for that long.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg

from dbdyno.ndv.postgres.catalogue import Catalogue
from dbdyno.ndv.postgres.explain import explained
from dbdyno.targets.statements import first_line
from dbdyno.targets.target import Connection

SINCE = 180000
LOCK_WAIT_MS = 200
# Planning a statement takes milliseconds; one with very many joins, seconds.
_STATEMENT_MS = 10_000

_RESTORE = (
    "SELECT pg_catalog.pg_restore_attribute_stats('schemaname', %s::text, 'relname', %s::text, 'attname', %s::text,"
    " 'inherited', %s::boolean, 'n_distinct', %s::real)"
)
_WAIT_MS = "SELECT LEAST(%s, setting::integer / 2) FROM pg_catalog.pg_settings WHERE name = 'deadlock_timeout'"


@dataclasses.dataclass(frozen=True, slots=True)
class Asked:
    """A statement to be planned, and how often it ran for how long, where pg_stat_statements says so."""

    text: str
    calls: int | None = None
    total_ms: float | None = None


def what_if(
    session: Connection,
    catalogue: Catalogue,
    n_distinct: Mapping[str, float],
    statements: Sequence[Asked],
    left_out: Sequence[str] = (),
) -> dict[str, Any]:
    """The plans of `statements` as they are, and as they would be with these figures.

    Args:
        session: of `session.connect`, in autocommit, with the user's search_path.
        catalogue: of the relation.
        n_distinct: by column; as pg_stats would show it.
        statements: what to plan; each is planned alone, and one that cannot be says why.
        left_out: what was not asked, in words; handed on.

    Returns:
        `refused` (why nothing was tried, else None), `statements` (each with its plan `before` and `after`, see
        `explain`), `left_out`.
    """
    refused = _refused(session, catalogue, n_distinct)
    planned: list[dict[str, Any]] = []
    if refused is None:
        try:
            with _rolled_back(session):
                before = [explained(session, one.text) for one in statements]
                for column, figure in n_distinct.items():
                    _restore(session, catalogue, column, figure)
                after = [explained(session, one.text) for one in statements]
        except psycopg.Error as error:
            refused = _refusal(catalogue, error)
        else:
            planned = [
                {
                    "statement": one.text,
                    "calls": one.calls,
                    "total_ms": one.total_ms,
                    "before": was.plan,
                    "after": would_be.plan,
                    "note": was.note or would_be.note,
                }
                for one, was, would_be in zip(statements, before, after, strict=True)
            ]
    return {"refused": refused, "statements": planned, "left_out": list(left_out)}


def _refused(session: Connection, catalogue: Catalogue, n_distinct: Mapping[str, float]) -> str | None:
    version = session.info.server_version
    if version < SINCE:
        return f"plans with other figures need PostgreSQL 18; this is {version // 10000}"
    if not n_distinct:
        return "there is no figure to be changed"
    if session.execute("SELECT pg_catalog.pg_is_in_recovery()").fetchone() == (True,):
        return "the server is a standby, whose figures cannot be changed even for a moment; ask its primary"
    if catalogue.relation.kind == "view":
        return "a view has no figures of its own"
    return None


@contextmanager
def _rolled_back(session: Connection) -> Iterator[None]:
    """Read only, which the function that restores a figure does not mind, and whatever a statement might call does."""
    row = session.execute(_WAIT_MS.encode(), [LOCK_WAIT_MS]).fetchone()
    wait_ms = LOCK_WAIT_MS if row is None else max(int(row[0]), 1)
    with session.transaction(force_rollback=True):
        session.execute("SET TRANSACTION READ ONLY")
        session.execute(f"SET LOCAL lock_timeout = {wait_ms}".encode())
        session.execute(f"SET LOCAL statement_timeout = {_STATEMENT_MS}".encode())
        yield


def _restore(session: Connection, catalogue: Catalogue, column: str, figure: float) -> None:
    relation = catalogue.relation
    session.execute(_RESTORE.encode(), [relation.schema, relation.name, column, relation.tree, figure])


def _refusal(catalogue: Catalogue, error: psycopg.Error) -> str:
    quoted = catalogue.relation.quoted
    match error:
        case psycopg.errors.InsufficientPrivilege():
            return (
                f"this user may not change figures of {quoted} even for a moment: that takes its owner, or MAINTAIN "
                f"on it ({first_line(error)})"
            )
        case psycopg.errors.LockNotAvailable():
            return f"{quoted} is locked by a VACUUM, an ANALYZE or a change of its definition; try again later"
        case _:
            return first_line(error)
