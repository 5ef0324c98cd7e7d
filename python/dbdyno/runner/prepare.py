"""Before the first trial: measure what settings depend on, leave out what this target cannot do."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Mapping

import psycopg
from psycopg import sql

from dbdyno.design.arm import Arm, resolve
from dbdyno.design.document import Measured, SettingValue
from dbdyno.design.experiment import Experiment
from dbdyno.errors import DynoError
from dbdyno.probes.flush import measure_flush_times_ns
from dbdyno.runner.offered import value_not_offered
from dbdyno.runner.peer_files import obstacle as peer_obstacle
from dbdyno.runner.servers import Servers
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


@dataclasses.dataclass(frozen=True, slots=True)
class _Obstacle:
    """Why a target cannot run an arm; the code and the advice if that leaves nothing to compare."""

    reason: str
    code: str = "nothing_to_compare"
    advice: str = "try the embedded server"


def measure(servers: Servers) -> dict[str, int]:
    """What settings may refer to: the flush time of the data directory; empty where it cannot be reached.

    Servers of ours in one run share their data directory.
    """
    directory = next((target.data_directory for target in servers.all if target.data_directory is not None), None)
    if directory is None:
        return {}
    times = measure_flush_times_ns(directory, FLUSHES)
    return {"flush_time_ns_p50": round(statistics.median(times))}


def prepare_arms(
    experiment: Experiment, servers: Servers, measured: Mapping[str, int]
) -> tuple[list[Prepared], list[LeftOut]]:
    """The arms that their targets can run, in file order, and those that theirs cannot."""
    prepared: list[Prepared] = []
    obstacles: dict[str, _Obstacle] = {}
    for arm in experiment.arms:
        target = servers.of(arm.server)
        figures = _figures(target, measured)
        obstacle = _obstacle(arm, target, figures)
        if obstacle:
            obstacles[arm.name] = obstacle
        else:
            prepared.append(
                Prepared(
                    arm,
                    {name: resolve(value, figures) for name, value in arm.session.items()},
                    {name: resolve(value, figures) for name, value in arm.settings.items()},
                    {name: resolve(value, figures) for name, value in arm.role.items()},
                )
            )
    _check_something_left(prepared, obstacles)
    return prepared, [LeftOut(arm, obstacle.reason) for arm, obstacle in obstacles.items()]


def _figures(target: Target, measured: Mapping[str, int]) -> dict[str, float]:
    """What was measured of this target's storage; nothing of one that is not ours, beside which one of ours may run."""
    if target.data_directory is None or "flush_time_ns_p50" not in measured:
        return {}
    return {"flush_time_us": measured["flush_time_ns_p50"] / 1000}


def _obstacle(arm: Arm, target: Target, figures: Mapping[str, float]) -> _Obstacle | None:
    """Why `target` cannot run `arm`, or None."""
    if obstacle := _reset_obstacle(arm, target):
        return obstacle
    for values in (arm.session, arm.settings, arm.role):
        for name, value in values.items():
            if isinstance(value, Measured) and value.measured not in figures:
                return _Obstacle(f"{name} follows {value.measured}, which is measured only on a server of dbdyno's own")
    if arm.engine is not None:
        lacking = peer_obstacle(arm.engine, target)
        return _Obstacle(lacking, advice="leave those levels out") if lacking else None
    if arm.extension is not None and not _offers_extension(arm.extension, target):
        return _Obstacle(f"needs the extension {arm.extension}, which this server does not have")
    if arm.file is not None and not target.owned:
        return _Obstacle("works on the server's own files, which only an embedded server's may be")
    if not target.owned and (arm.settings or arm.role):
        names = ", ".join([*arm.settings, *arm.role])
        return _Obstacle(f"needs {names} set on a server that is not ours")
    lacking = value_not_offered(target, _constants(arm))
    if lacking is not None:
        return _Obstacle(lacking, advice="set another value, or name a server whose build has it")
    refused = _refused_session_setting(arm.session, target)
    return _Obstacle(f"this user may not set {refused}") if refused else None


def _constants(arm: Arm) -> dict[str, str]:
    """Its settings of every scope whose values do not depend on what is measured."""
    return {
        name: resolve(value, {})
        for values in (arm.session, arm.settings, arm.role)
        for name, value in values.items()
        if not isinstance(value, Measured)
    }


def _reset_obstacle(arm: Arm, target: Target) -> _Obstacle | None:
    if "cold-cache" in arm.reset and not target.owned:
        return _Obstacle(
            "needs a restart for its reset 'cold-cache', which only an embedded server gets",
            "not_our_server",
            "leave --target out, or take 'cold-cache' out of reset",
        )
    if "warm-cache" in arm.reset and not target.may_prewarm:
        return _Obstacle(
            "needs --allow-write and the extension pg_prewarm in that database for its reset 'warm-cache'",
            "not_our_server",
            "CREATE EXTENSION pg_prewarm there, or take 'warm-cache' out of reset",
        )
    return None


def _offers_extension(name: str, target: Target) -> bool:
    with target.connect() as connection:
        return (
            connection.execute("SELECT 1 FROM pg_available_extensions WHERE name = %s", [name]).fetchone() is not None
        )


def _refused_session_setting(session: Mapping[str, SettingValue], target: Target) -> str | None:
    """The first session setting that this user may not change; a name that the server does not know is an error."""
    with target.connect() as connection:
        for name, value in session.items():
            try:
                with connection.transaction(force_rollback=True):
                    text = "0" if isinstance(value, Measured) else resolve(value, {})
                    connection.execute("SELECT set_config(%s, %s, true)", (name, text))
            except psycopg.errors.InsufficientPrivilege:
                return name
            except psycopg.Error as error:
                message = (error.diag.message_primary or str(error)).splitlines()[0]
                raise DynoError("setting_refused", f"set.{name} = {value!r}: the server says: {message}") from None
    return None


def _check_something_left(prepared: list[Prepared], obstacles: Mapping[str, _Obstacle]) -> None:
    if not obstacles:
        return
    names = {each.arm.name for each in prepared}
    if any(each.arm.baseline in names for each in prepared if each.arm.baseline):
        return
    arm, first = next(iter(obstacles.items()))
    raise DynoError(
        first.code,
        f"no arm and its baseline can both run on this target: {arm} {first.reason}; {first.advice}",
    )


def session_statements(session: Mapping[str, str]) -> list[str]:
    """What every client says after it connected."""
    return [
        sql.SQL("SET {} = {}").format(sql.Identifier(*name.split(".")), sql.Literal(value)).as_string()
        for name, value in session.items()
    ]
