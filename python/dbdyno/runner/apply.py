"""Makes the server what an arm says, asks it whether it is, and takes back what must not last.

Order before each trial: restore (`runner.reset`), server settings (reload or restart as each needs), role settings,
schema change; then the other reset steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from psycopg import sql

from dbdyno.runner.prepare import Prepared
from dbdyno.targets.target import Target


@contextmanager
def applied(target: Target, prepared: Prepared) -> Iterator[None]:
    """The arm is in force inside; a schema change or role setting is undone behind it."""
    target.apply_settings(prepared.settings)
    for name, value in prepared.role.items():
        target.execute(_role_setting(name, value))
    try:
        if prepared.arm.sql:
            target.execute(prepared.arm.sql)
        yield
    finally:
        if prepared.arm.undo:
            target.execute(prepared.arm.undo)
        for name in prepared.role:
            target.execute(_role_setting(name, None))


def _role_setting(name: str, value: str | None) -> str:
    identifier = sql.Identifier(*name.split("."))
    if value is None:
        return sql.SQL("ALTER ROLE CURRENT_USER RESET {}").format(identifier).as_string()
    return sql.SQL("ALTER ROLE CURRENT_USER SET {} = {}").format(identifier, sql.Literal(value)).as_string()


def read_back(target: Target, prepared: Prepared, statements: Sequence[str]) -> dict[str, str]:
    """What a client of this arm sees, asked on a connection of its own that said what the clients say."""
    names = dict.fromkeys([*prepared.settings, *prepared.role, *prepared.session])
    if not names:
        return {}
    with target.connect() as connection:
        for statement in statements:
            connection.execute(statement.encode())
        row = connection.execute(
            sql.SQL("SELECT {}").format(
                sql.SQL(", ").join(sql.SQL("current_setting({})").format(sql.Literal(name)) for name in names)
            )
        ).fetchone()
    assert row is not None
    return {name: str(value) for name, value in zip(names, row, strict=True)}


def deviations(target: Target, prepared: Prepared, settings: Mapping[str, str]) -> list[str]:
    """A line for each setting of a session or role that is not what the arm asked for.

    The narrower scope wins, so that is the one whose value must be seen. Values are compared by the server, which
    knows that 1ms is 1. Server settings were read back when they were applied.
    """
    wanted = {**prepared.role, **prepared.session}
    return [
        f"{name}: set to {value}, the session says {settings[name]}"
        for name, value in wanted.items()
        if not _same(target, name, value, settings[name])
    ]


def _same(target: Target, name: str, wanted: str, seen: str) -> bool:
    if wanted == seen:
        return True
    with target.connect() as connection, connection.transaction(force_rollback=True):
        row = connection.execute("SELECT set_config(%s, %s, true)", (name, wanted)).fetchone()
    return row is not None and row[0] == seen
