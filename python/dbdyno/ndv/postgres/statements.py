"""The statements that took most time and read a relation, by pg_stat_statements; our own counts are none.

A statement of another role is left out, unless that role is a superuser or this session is that role, too: to plan a
text may evaluate functions that it names, and another role's functions are not called with this user's rights.
"""

from __future__ import annotations

import re

import psycopg
from psycopg import sql

from dbdyno.ndv.postgres.catalogue import Catalogue
from dbdyno.ndv.postgres.explain import is_plannable
from dbdyno.ndv.postgres.session import MARK
from dbdyno.ndv.postgres.what_if import Asked
from dbdyno.targets.statements import first_line
from dbdyno.targets.target import Connection

# Statements looked through for those that read the relation.
_LOOKED_AT = 2000

_EXTENSION = (
    "SELECT n.nspname FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace"
    " WHERE e.extname = 'pg_stat_statements'"
)
_TOP = """
SELECT s.query, pg_catalog.sum(s.calls)::int8, pg_catalog.sum(s.total_exec_time)::float8,
       pg_catalog.bool_and(u.rolsuper OR u.rolname IN (SELECT current_user UNION SELECT session_user))
  FROM {view} s JOIN pg_catalog.pg_roles u ON u.oid = s.userid
  JOIN pg_catalog.pg_database d ON d.oid = s.dbid AND d.datname = pg_catalog.current_database()
 WHERE s.query IS NOT NULL
 GROUP BY s.query ORDER BY 3 DESC LIMIT {limit}"""


def top_statements(session: Connection, catalogue: Catalogue, count: int) -> tuple[list[Asked], list[str]]:
    """At most `count` statements that name the relation, the longest first; and what was left out, in words."""
    row = session.execute(_EXTENSION).fetchone()
    if row is None:
        return [], ["the extension pg_stat_statements is not in this database; give statements with --what-if"]
    query = sql.SQL(_TOP).format(view=sql.Identifier(row[0], "pg_stat_statements"), limit=sql.Literal(_LOOKED_AT))
    try:
        with session.transaction():
            rows = session.execute(query).fetchall()
    except psycopg.Error as error:
        return [], [f"pg_stat_statements: {first_line(error)}"]
    named = re.compile(
        rf'(?<![\w$])"?{re.escape(catalogue.relation.name.replace(chr(34), chr(34) * 2))}"?(?![\w$])', re.I
    )
    theirs = [row for row in rows if MARK not in row[0]]
    about = [row for row in theirs if named.search(row[0]) and is_plannable(row[0])]
    ours = [Asked(text, calls, total_ms) for text, calls, total_ms, own in about if own]
    others = len(about) - len(ours)
    left_out = []
    if others:
        left_out.append(
            f"{others} statements of other roles: to plan a text may call its functions with this user's rights; "
            "connect as the role that runs them"
        )
    return ours[:count], left_out
