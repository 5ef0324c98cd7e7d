"""Which texts a column takes for equal: asked of SQLite itself, by what it answers.

No PRAGMA says a column's collation; but a compound SELECT takes its columns' from its first part ("Datatypes in
SQLite", 7.1), so a text put under a column that gives no row is compared as the column compares.
"""

from __future__ import annotations

import sqlite3

from dbdyno.ndv.naming import quoted

_BY_ANSWERS = {(0, 0): "BINARY", (1, 0): "NOCASE", (0, 1): "RTRIM"}
# LIMIT keeps the parts together: otherwise the comparison could be moved into each.
_ASKED = (
    "SELECT x = 'A', x = 'a ', x = 'b' FROM"
    " (SELECT {column} AS x FROM {table} WHERE 0 UNION ALL SELECT 'a' LIMIT -1 OFFSET 0)"
)


def collation_of(session: sqlite3.Connection, table: str, column: str) -> str | None:
    """BINARY, NOCASE or RTRIM; None where it is one that only the application knows."""
    try:
        found = session.execute(_ASKED.format(column=quoted(column), table=quoted(table))).fetchone()
    except sqlite3.OperationalError:  # no such collation sequence
        return None
    return _BY_ANSWERS.get(found[:2]) if found[2] == 0 else None
