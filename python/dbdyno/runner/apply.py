"""Makes the server what an arm says, and takes back what must not last.

Order before each trial: restore (`runner.reset`), server settings (reload or restart as each needs), role settings,
schema change; then the other reset steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from psycopg import sql

from dbdyno.runner.prepare import Prepared
from dbdyno.targets.target import Target


@contextmanager
def applied(target: Target, prepared: Prepared, *, undo: bool) -> Iterator[None]:
    """The arm is in force inside; a role setting is undone behind it, a schema change where `undo` says so."""
    target.apply_settings(prepared.settings)
    for name, value in prepared.role.items():
        target.execute(_role_setting(name, value))
    try:
        if prepared.arm.sql:
            target.execute(prepared.arm.sql)
        yield
    finally:
        if undo and prepared.arm.undo:
            target.execute(prepared.arm.undo)
        for name in prepared.role:
            target.execute(_role_setting(name, None))


def _role_setting(name: str, value: str | None) -> str:
    identifier = sql.Identifier(*name.split("."))
    if value is None:
        return sql.SQL("ALTER ROLE CURRENT_USER RESET {}").format(identifier).as_string()
    return sql.SQL("ALTER ROLE CURRENT_USER SET {} = {}").format(identifier, sql.Literal(value)).as_string()
