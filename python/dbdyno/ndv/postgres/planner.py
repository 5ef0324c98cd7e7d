"""What the planner itself says when asked: EXPLAIN plans, and runs nothing."""

from __future__ import annotations

from collections.abc import Sequence

import psycopg

from dbdyno.errors import DynoError
from dbdyno.targets.target import Connection


def planner_rows(session: Connection, relation: str) -> float:
    """The rows that it believes a relation (as SQL writes it) has, for which it looks at the pages as they are now.

    Raises:
        DynoError: `permission_denied`.
    """
    return _rows(session, f"SELECT FROM {relation}", relation)


def planner_groups(session: Connection, relation: str, columns: Sequence[str]) -> float:
    """How many groups it expects of these columns (as SQL writes them): its distinct count of all of them together.

    Raises:
        DynoError: `permission_denied`.
    """
    keys = ", ".join(f"r.{column}" for column in columns)
    return _rows(session, f"SELECT FROM {relation} AS r GROUP BY {keys}", relation)


def _rows(session: Connection, statement: str, relation: str) -> float:
    try:
        row = session.execute(f"EXPLAIN (FORMAT JSON) {statement}".encode(), prepare=False).fetchone()
    except psycopg.errors.InsufficientPrivilege:
        raise DynoError(
            "permission_denied", f"--table {relation}: this user may not read it; GRANT SELECT, or connect as another"
        ) from None
    return 0.0 if row is None else float(row[0][0]["Plan"]["Plan Rows"])
