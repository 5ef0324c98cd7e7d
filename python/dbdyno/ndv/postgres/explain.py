"""A statement's plan, for its text alone: it is planned and never executed."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import Any

import psycopg
from psycopg.pq import ExecStatus

from dbdyno.targets.plan_shape import Node, node_label, plan_shape
from dbdyno.targets.statements import first_line
from dbdyno.targets.target import Connection

GENERIC_SINCE = 160000

_FIRST_WORD = re.compile(r"(?:\s|\(|--[^\n]*(?:\n|$)|/\*.*?\*/)*([A-Za-z]+)", re.DOTALL)
_PLANNABLE = ("SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH", "VALUES", "TABLE")
_PARAMETER = re.compile(r"\$[0-9]")


@dataclasses.dataclass(frozen=True, slots=True)
class Explained:
    """`plan`: `shape` in one line, and `nodes` from the top, each `label`, `depth`, `rows`, `cost`; or why not."""

    plan: dict[str, Any] | None
    note: str | None


def explained(session: Connection, statement: str) -> Explained:
    """The plan, within the transaction under way, which outlives a failure.

    Where the text has parameters ($1), the plan is the one for any values; that takes PostgreSQL 16.
    """
    if not is_plannable(statement):
        return Explained(None, "no statement that has a plan; name a SELECT")
    generic = _PARAMETER.search(statement) is not None
    if generic and session.info.server_version < GENERIC_SINCE:
        return Explained(None, "it has parameters, and plans for any values need PostgreSQL 16")
    try:
        with session.transaction(force_rollback=True):
            plan = _generic(session, statement) if generic else _plain(session, statement)
    except psycopg.Error as error:
        return Explained(None, first_line(error))
    nodes = [
        {"label": node_label(node), "depth": depth, "rows": float(node["Plan Rows"]), "cost": float(node["Total Cost"])}
        for depth, node in _nodes(plan, 0)
    ]
    return Explained({"shape": plan_shape(plan), "nodes": nodes}, None)


def is_plannable(statement: str) -> bool:
    """By its first word."""
    found = _FIRST_WORD.match(statement)
    return found is not None and found[1].upper() in _PLANNABLE


def _plain(session: Connection, statement: str) -> Node:
    """Prepared, because the server then takes one statement only: of `EXPLAIN a; b` it would execute b."""
    return _plan(session.execute(f"EXPLAIN (FORMAT JSON) {statement}".encode(), prepare=True).fetchone())


def _generic(session: Connection, statement: str) -> Node:
    """Prepared it would ask for values, so that it is one statement is found out first, by parsing it and no more."""
    result = session.pgconn.prepare(b"", statement.encode())
    if result.status != ExecStatus.COMMAND_OK:
        raise psycopg.ProgrammingError(result.error_message.decode(errors="replace").removeprefix("ERROR:  "))
    return _plan(session.execute(f"EXPLAIN (GENERIC_PLAN, FORMAT JSON) {statement}".encode(), prepare=False).fetchone())


def _plan(row: tuple[Any, ...] | None) -> Node:
    if row is None:
        raise psycopg.ProgrammingError("the server explained nothing")
    plan: Node = row[0][0]["Plan"]
    return plan


def _nodes(node: Node, depth: int) -> Iterator[tuple[int, Node]]:
    yield depth, node
    for child in node.get("Plans", ()):
        yield from _nodes(child, depth + 1)
