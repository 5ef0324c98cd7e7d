"""A user's `--where`, tried before it becomes part of statements of ours."""

from __future__ import annotations

import psycopg

from dbdyno.errors import DynoError
from dbdyno.ndv.postgres.scan_source import ALIAS
from dbdyno.targets.statements import first_line
from dbdyno.targets.target import Connection


def check_condition(session: Connection, relation: str, where: str) -> None:
    """Refuse what is no condition on the relation (as SQL writes it): a condition alone fits into both of these.

    `x) OR (y` fits into the first only, and would mean something else beside a condition of ours; what would end one
    statement and begin another fits into neither, for a prepared statement is one.

    Raises:
        DynoError: `bad_where`.
    """
    for form in (f"(\n{where}\n)", f"CASE WHEN\n{where}\nTHEN true END"):
        statement = f"EXPLAIN SELECT FROM {relation} AS {ALIAS} WHERE {form}"
        try:
            session.execute(statement.encode(), prepare=True)
        except psycopg.Error as error:
            raise DynoError(
                "bad_where", f"--where {where}: {first_line(error)}; write what could stand behind WHERE"
            ) from None
