"""Questions of the experiment file that have one number for an answer: outcomes and invariants."""

from __future__ import annotations

import decimal
import math
from collections.abc import Mapping
from typing import Any

import psycopg

from dbdyno.errors import EXIT_RUN_FAILED, DynoError
from dbdyno.targets.statements import first_line
from dbdyno.targets.target import Connection

BAD_QUESTION = "bad_question"


def ask_numbers(connection: Connection, table: str, questions: Mapping[str, str]) -> dict[str, int | float]:
    """Each question's answer, asked as a client would but in a transaction that may only read.

    Args:
        connection: like a client's, in autocommit; of no further use after an error.
        table: of the experiment file, for messages.
        questions: SQL by name.

    Raises:
        DynoError: `bad_question` if what comes back is not one row with one number.
    """
    connection.read_only = True
    answers = {name: _ask(connection, f"{table}.{name}", question) for name, question in questions.items()}
    connection.read_only = None
    return answers


def _ask(connection: Connection, key: str, question: str) -> int | float:
    try:
        with connection.transaction():
            cursor = connection.execute(question.encode())
            rows = cursor.fetchmany(2) if cursor.description else []
            more = bool(cursor.nextset())
    except psycopg.OperationalError as error:  # the server went away, or a limit of ours was met
        raise DynoError("sql_failed", f"{key}: {first_line(error)}", exit_code=EXIT_RUN_FAILED) from error
    except psycopg.Error as error:
        raise _bad(key, f"the server says: {first_line(error)}") from error
    if more:
        raise _bad(key, "came back with more than one result")
    if len(rows) != 1 or len(rows[0]) != 1:
        raise _bad(key, f"came back with {_shape(rows)}")
    return _number(key, rows[0][0])


def _shape(rows: list[tuple[Any, ...]]) -> str:
    if not rows:
        return "no row"
    return "more than one row" if len(rows) > 1 else f"one row of {len(rows[0])} columns"


def _number(key: str, value: object) -> int | float:
    if isinstance(value, decimal.Decimal):
        value = float(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise _bad(key, f"came back with {'NULL' if value is None else repr(value)}")


def _bad(key: str, what: str) -> DynoError:
    return DynoError(BAD_QUESTION, f"{key}: {what}; write SQL that gives one row with one number")
