"""What a session of an arm really sees of the settings that the experiment is about, and where that is not the plan."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import psycopg
from psycopg import sql

from dbdyno.design.arm import resolve
from dbdyno.design.experiment import Experiment
from dbdyno.runner.prepare import Prepared
from dbdyno.runner.setting_value import same_value
from dbdyno.targets.target import Connection, Target


@dataclasses.dataclass(frozen=True, slots=True)
class Seen:
    """One setting in one session; `kind` and `unit` as in pg_settings."""

    value: str
    source: str | None
    pending_restart: bool
    kind: str
    unit: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class ReadBack:
    """All settings of the experiment in a session of one arm, and a line for each that the arm says otherwise."""

    seen: Mapping[str, Seen]
    deviations: Sequence[str]

    def record(self) -> dict[str, Any]:
        """As the trial's record has it; a setting of an extension that is not loaded has no origin."""
        return {
            "settings": {name: seen.value for name, seen in self.seen.items()},
            "setting_origins": {
                name: {"source": seen.source, "pending_restart": seen.pending_restart}
                for name, seen in self.seen.items()
                if seen.source is not None
            },
            "deviations": list(self.deviations),
        }


def read_back(target: Target, experiment: Experiment, prepared: Prepared, statements: Sequence[str]) -> ReadBack:
    """Ask on a connection of its own that said what the arm's clients say.

    The names are those of all arms, so that two arms can be told apart. Values are compared by the server, which
    knows that 1ms is 1. Server settings were read back once more when they were applied.
    """
    names = setting_names(experiment)
    if not names:
        return ReadBack({}, ())
    with target.connect() as connection:
        for statement in statements:
            connection.execute(statement.encode())
        seen = _seen(connection, names)
        return ReadBack(seen, tuple(_deviations(connection, prepared, seen)))


def setting_names(experiment: Experiment) -> list[str]:
    """Everything that any arm sets or expects, once, in file order."""
    of_server = (arm for arm in experiment.arms if arm.engine is None)
    tables = ((arm.settings, arm.role, arm.session, arm.expect.settings) for arm in of_server)
    return list(dict.fromkeys(name for group in tables for table in group for name in table))


def _seen(connection: Connection, names: Sequence[str]) -> dict[str, Seen]:
    """By name; one that this server does not know, or does not show to this user, is absent."""
    value = "current_setting(n, true)"
    try:
        rows = _asked(connection, value, names)
    except psycopg.errors.InsufficientPrivilege:  # pg_settings leaves out what this user may not see
        rows = _asked(connection, f"CASE WHEN name IS NOT NULL THEN {value} END", names)
    return {name: Seen(value, *rest) for name, value, *rest in rows if value is not None}


def _asked(connection: Connection, value: str, names: Sequence[str]) -> list[tuple[Any, ...]]:
    query = (
        f"SELECT n, {value}, source, coalesce(pending_restart, false), coalesce(vartype, 'string'), unit"
        " FROM unnest(%s::text[]) WITH ORDINALITY AS asked (n, place)"
        " LEFT JOIN pg_settings ON lower(name) = lower(n) ORDER BY place"
    )
    return connection.execute(query.encode(), [list(names)]).fetchall()


def _deviations(connection: Connection, prepared: Prepared, seen: Mapping[str, Seen]) -> Iterator[str]:
    """The narrower scope wins, so of role and session that is the one whose value must be seen."""
    expected = {name: resolve(value, {}) for name, value in prepared.arm.expect.settings.items()}
    wanted = [("set to", {**prepared.role, **prepared.session}), ("expected", expected)]
    differing = set()
    for what, values in wanted:
        for name, value in values.items():
            if not _same(connection, name, value, seen.get(name)):
                differing.add(name)
                yield f"{name}: {what} {value}, {_said(connection, name, value, seen.get(name))}"
    for name in dict.fromkeys([*prepared.settings, *prepared.role, *prepared.session, *expected]):
        if name not in differing and name in seen and seen[name].pending_restart:
            yield f"{name}: the session says {seen[name].value}; another value waits for a restart"


def _same(connection: Connection, name: str, wanted: str, seen: Seen | None) -> bool:
    if seen is None or wanted == seen.value:
        return seen is not None
    try:
        with connection.transaction(force_rollback=True):
            row = connection.execute("SELECT set_config(%s, %s, true)", (name, wanted)).fetchone()
    except (psycopg.errors.CantChangeRuntimeParam, psycopg.errors.InsufficientPrivilege):
        return same_value(wanted, seen.value, seen.kind, seen.unit)
    except psycopg.errors.InvalidParameterValue:
        return False
    return row is not None and row[0] == seen.value


def _said(connection: Connection, name: str, wanted: str, seen: Seen | None) -> str:
    if seen is None:
        return "a session sees no such setting"
    waits = "a restart" if seen.pending_restart else _what_a_file_waits_for(connection, name, wanted, seen)
    return f"the session says {seen.value}" + (f"; it waits for {waits}" if waits else "")


def _what_a_file_waits_for(connection: Connection, name: str, wanted: str, seen: Seen) -> str | None:
    """Whether the value stands in a configuration file, from where the server has not taken it (superusers see it)."""
    query = sql.SQL("SELECT setting, error FROM pg_file_settings WHERE lower(name) = lower({}) ORDER BY seqno DESC")
    try:
        with connection.transaction():
            row = connection.execute(query.format(sql.Literal(name))).fetchone()
    except psycopg.errors.InsufficientPrivilege:
        return None
    if row is None or not same_value(wanted, row[0] or "", seen.kind, seen.unit):
        return None
    return "a reload" if row[1] is None else "a restart"
