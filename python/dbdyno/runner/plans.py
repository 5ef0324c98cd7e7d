"""The plan of each statement of an arm's scripts, asked for after the work.

Before the work it could not be asked: in a trial with a cache state, planning and executing a statement would fill what
was just emptied. Afterwards the caches no longer matter, and the planner sees what it saw at the end of the work: the
same settings, statistics and sizes. A plan that changed on the way shows as one that differs between trials.

The values of a statement are those of a client's first unit, the same in every trial. A client in mode `prepared` may
go over to a generic plan after its fifth execution; what is shown is the plan for these values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import psycopg
from psycopg.pq import ExecStatus

from dbdyno import engine
from dbdyno.design.arm import Arm
from dbdyno.targets.plan_shape import plan_nodes, plan_shape
from dbdyno.targets.target import Connection

# For how long a statement may be executed once more to be explained.
ANALYZE_LIMIT_MS = 60_000

_FIRST_WORD = re.compile(r"(?:\s|\(|--[^\n]*(?:\n|$)|/\*.*?\*/)*([A-Za-z]+)", re.DOTALL)
_PLANNABLE = ("SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH", "VALUES", "TABLE")
_PLAIN = "EXPLAIN (FORMAT JSON) "
_GENERIC = "EXPLAIN (GENERIC_PLAN, FORMAT JSON) "
_ANALYZED = "EXPLAIN (ANALYZE, BUFFERS, WAL, SETTINGS, FORMAT JSON) "
_GENERIC_PLAN_SINCE = 160000


def plans_of(
    connection: Connection, arm: Arm, session_sql: Sequence[str], seed: int, *, analyze: bool
) -> list[dict[str, Any]]:
    """One entry a statement that can be planned; all that they do is rolled back.

    Args:
        connection: like a client's, in autocommit; its session settings become those of the arm.
        arm: whose scripts.
        session_sql: what its clients say first.
        seed: of the run.
        analyze: whether to execute each statement once more, for EXPLAIN (ANALYZE).
    """
    if arm.engine is not None:
        return []  # its statement is none of the server's
    for statement in session_sql:
        connection.execute(statement.encode())
    found = []
    for script in arm.scripts:
        statements = engine.sample_statements(script.name, script.text, arm.variables, seed, arm.mode)
        with connection.transaction(force_rollback=True):
            connection.execute(f"SET LOCAL statement_timeout = {ANALYZE_LIMIT_MS}".encode())
            found += list(_plans_of_script(connection, script.name, statements, analyze=analyze))
    return found


def _plans_of_script(
    connection: Connection, script: str, statements: Sequence[dict[str, Any]], *, analyze: bool
) -> Iterator[dict[str, Any]]:
    """In one transaction, so that what the script sets by itself holds for what follows."""
    for statement in statements:
        word = _first_word(statement["text"])
        if word == "SET" and statement["sql"] is not None:
            with suppress(psycopg.Error), connection.transaction():
                connection.execute(statement["sql"].encode(), prepare=True)
        if word not in _PLANNABLE:
            continue
        plan = _plan(connection, statement)
        if plan is not None:
            explained = _explained(connection, statement["sql"]) if analyze and statement["sql"] is not None else None
            nodes = plan_nodes(plan["Plan"])
            shape = plan_shape(plan["Plan"])
            yield {"script": script, "line": statement["line"], "shape": shape, "nodes": nodes, "explain": explained}


def _first_word(text: str) -> str:
    found = _FIRST_WORD.match(text)
    return found[1].upper() if found else ""


def _plan(connection: Connection, statement: dict[str, Any]) -> dict[str, Any] | None:
    """For its values; where one is unknown, for any (since 16); None where neither can be had."""
    if statement["sql"] is not None:
        return _answer(connection, _PLAIN + statement["sql"])
    if not statement["parameters"]:
        return _answer(connection, _PLAIN + statement["parameterised"])
    if connection.info.server_version < _GENERIC_PLAN_SINCE:
        return None
    # Prepared, it would ask for values, and use them.
    if not _is_one_statement(connection, statement["parameterised"]):
        return None
    return _answer(connection, _GENERIC + statement["parameterised"], prepare=False)


def _explained(connection: Connection, statement: str) -> dict[str, Any] | None:
    """Executed and rolled back; None where it fails or takes longer than the limit."""
    return _answer(connection, _ANALYZED + statement)


def _answer(connection: Connection, explain: str, *, prepare: bool = True) -> dict[str, Any] | None:
    """Prepared, because the server then takes one statement only: `EXPLAIN a; b` would execute b."""
    try:
        with connection.transaction(force_rollback=True):
            row = connection.execute(explain.encode(), prepare=prepare).fetchone()
    except psycopg.Error:
        return None
    return None if row is None else dict(row[0][0])


def _is_one_statement(connection: Connection, statement: str) -> bool:
    """Parsed and no more: the extended protocol refuses two."""
    with connection.transaction(force_rollback=True):
        return connection.pgconn.prepare(b"", statement.encode()).status == ExecStatus.COMMAND_OK
    return False
