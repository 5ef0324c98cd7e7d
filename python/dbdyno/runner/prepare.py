"""Before the first trial: measure what settings depend on, leave out what this target cannot do."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Mapping

import psycopg
from psycopg import sql

from dbdyno.design.arms import Arm, resolve
from dbdyno.design.document import Measured, SettingValue
from dbdyno.design.experiment import Experiment
from dbdyno.errors import DynoError
from dbdyno.probes.flush import measure_flush_times_ns
from dbdyno.targets.target import Target

FLUSHES = 200


@dataclasses.dataclass(frozen=True, slots=True)
class LeftOut:
    """An arm that this target cannot run, and why."""

    arm: str
    reason: str


@dataclasses.dataclass(frozen=True, slots=True)
class Prepared:
    """An arm with every value resolved for this target."""

    arm: Arm
    session: dict[str, str]
    settings: dict[str, str]
    role: dict[str, str]


def measure(target: Target) -> dict[str, int]:
    """What settings may refer to: the flush time of the data directory; empty where it cannot be reached."""
    if target.data_directory is None:
        return {}
    times = measure_flush_times_ns(target.data_directory, FLUSHES)
    return {"flush_time_ns_p50": round(statistics.median(times))}


def prepare_arms(
    experiment: Experiment, target: Target, measured: Mapping[str, int]
) -> tuple[list[Prepared], list[LeftOut]]:
    """The arms that this target can run, in file order, and those it cannot."""
    figures = {"flush_time_us": measured["flush_time_ns_p50"] / 1000} if "flush_time_ns_p50" in measured else {}
    prepared: list[Prepared] = []
    left_out: list[LeftOut] = []
    for arm in experiment.arms:
        reason = _obstacle(arm, target, figures)
        if reason:
            left_out.append(LeftOut(arm.name, reason))
        else:
            prepared.append(
                Prepared(
                    arm,
                    {name: resolve(value, figures) for name, value in arm.session.items()},
                    {name: resolve(value, figures) for name, value in arm.settings.items()},
                    {name: resolve(value, figures) for name, value in arm.role.items()},
                )
            )
    _check_something_left(prepared, left_out)
    return prepared, left_out


def _obstacle(arm: Arm, target: Target, figures: Mapping[str, float]) -> str | None:
    """Why `target` cannot run `arm`, or None."""
    for values in (arm.session, arm.settings, arm.role):
        for name, value in values.items():
            if isinstance(value, Measured) and value.measured not in figures:
                return f"{name} follows {value.measured}, which is measured only on a server that dbdyno started"
    if not target.owned and (arm.settings or arm.role):
        names = ", ".join([*arm.settings, *arm.role])
        return f"needs {names} set on a server that is not ours"
    return _refused_session_setting(arm.session, target)


def _refused_session_setting(session: Mapping[str, SettingValue], target: Target) -> str | None:
    """The first session setting that this user may not change, or whose name the server does not know."""
    with target.connect() as connection:
        for name, value in session.items():
            try:
                with connection.transaction(force_rollback=True):
                    text = "0" if isinstance(value, Measured) else resolve(value, {})
                    connection.execute("SELECT set_config(%s, %s, true)", (name, text))
            except psycopg.errors.InsufficientPrivilege:
                return f"this user may not set {name}"
            except psycopg.Error as error:
                message = (error.diag.message_primary or str(error)).splitlines()[0]
                raise DynoError("setting_refused", f"set.{name} = {value!r}: the server says: {message}") from None
    return None


def _check_something_left(prepared: list[Prepared], left_out: list[LeftOut]) -> None:
    if not left_out:
        return
    names = {each.arm.name for each in prepared}
    if any(each.arm.baseline in names for each in prepared if each.arm.baseline):
        return
    first = left_out[0]
    raise DynoError(
        "nothing_to_compare",
        f"no arm and its baseline can both run on this target: {first.arm} {first.reason}; try the embedded server",
    )


def session_statements(session: Mapping[str, str]) -> list[str]:
    """What every client says after it connected."""
    return [
        sql.SQL("SET {} = {}").format(sql.Identifier(*name.split(".")), sql.Literal(value)).as_string()
        for name, value in session.items()
    ]
