"""The arms of an experiment: the factors multiplied out.

`make_arms` refuses what contradicts itself: two factors that set one key, an arm that does what another does, a
schema change that nothing takes back.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dbdyno.design.arm import Arm, Server
from dbdyno.design.arrival import make_arrival
from dbdyno.design.combinations import Levels, check_company, check_names, combinations
from dbdyno.design.document import Candidates, Document, Level
from dbdyno.design.engine_work import check_engine, named_by_levels
from dbdyno.design.file_work import file_work
from dbdyno.design.merging import merged, merged_expect, merged_load, only_one
from dbdyno.design.scripts import Script, read_sql, read_statement, read_uses
from dbdyno.errors import DynoError


def make_arms(document: Document, path: Path, *, quick: bool, scale: int, found: Levels) -> tuple[Arm, ...]:
    """All arms, in file order.

    Args:
        document: the experiment file.
        path: where it is.
        quick: whether its quick form is asked for.
        scale: the size of the data.
        found: the levels of factors that are found in the built schema.
    """
    every = factors = {
        name: found.get(name, _UNKNOWN_YET) if isinstance(levels, Candidates) else levels
        for name, levels in document.factors.items()
    }
    if quick:
        factors = {name: _quick_levels(document, name, levels, found, path) for name, levels in every.items()}
    _check_factors(document, factors, path)
    if not any(levels is _UNKNOWN_YET for levels in factors.values()):
        check_names(every, path)
        check_company(factors, document.baseline, path)
    arms = tuple(_arms(_Maker(document, path, quick, scale), factors))
    _check_distinct(arms, path)
    _check_same_kind(arms, path)
    return arms


NULL_ARM = "null-arm"


def null_arm(arms: tuple[Arm, ...], path: Path) -> Arm:
    """A second copy of the first baseline."""
    if NULL_ARM in (arm.name for arm in arms):
        raise DynoError("bad_name", f"{path.name}: factors: level {NULL_ARM!r} is the name of the null arm; rename it")
    baseline = next(arm for arm in arms if arm.baseline is None)
    return dataclasses.replace(baseline, name=NULL_ARM, baseline=baseline.name, null=True)


# What stands for a factor whose levels are found later: its baseline, which changes nothing.
ALL_INDEXES = "all-indexes"
_UNKNOWN_YET: Mapping[str, Level] = {ALL_INDEXES: Level()}


def _quick_levels(
    document: Document, factor: str, levels: Mapping[str, Level], found: Levels, path: Path
) -> Mapping[str, Level]:
    """Those levels of a factor that the quick form keeps, in file order; levels still to be found are kept for now."""
    kept = document.quick.levels.get(factor)
    if kept is None or (isinstance(document.factors[factor], Candidates) and factor not in found):
        return levels
    for level in kept:
        if level not in levels:
            raise DynoError(
                "unknown_level",
                f"{path.name}: quick.levels.{factor}: no level {level!r}; levels are {', '.join(levels)}",
            )
    return {name: level for name, level in levels.items() if name in kept}


@dataclasses.dataclass(frozen=True, slots=True)
class _Maker:
    """What all arms of a file share."""

    document: Document
    path: Path
    quick: bool
    scale: int


def _arms(maker: _Maker, factors: Levels) -> Iterator[Arm]:
    baseline_levels = maker.document.baseline
    for levels in combinations(factors):
        name = "/".join(levels.values())
        baseline = "/".join({**levels, **baseline_levels}.values())
        yield _arm(maker, name, levels, [factors[factor][level] for factor, level in levels.items()], baseline)


def _check_distinct(arms: tuple[Arm, ...], path: Path) -> None:
    """Two arms that do the same under two names would be compared with each other for nothing."""
    seen: list[Arm] = []
    for arm in arms:
        nameless = dataclasses.replace(arm, name="", levels={}, baseline=None)
        if nameless in seen:
            twin = arms[seen.index(nameless)].name
            raise DynoError(
                "duplicate_arm", f"{path.name}: factors: arms {twin!r} and {arm.name!r} do the same; change or drop one"
            )
        seen.append(nameless)


def _check_same_kind(arms: tuple[Arm, ...], path: Path) -> None:
    """Elapsed time and throughput do not compare."""
    kinds = {arm.fixed_units is None: arm.name for arm in arms}
    if len(kinds) > 1:
        raise DynoError(
            "mixed_work",
            f"{path.name}: factors: arm {kinds[False]!r} has fixed work, {kinds[True]!r} a timed window; "
            "give all of them units or executions, or none",
        )


def _check_factors(document: Document, factors: Levels, path: Path) -> None:
    if not factors:
        raise DynoError("no_factor", f"{path.name}: factors: is empty; an experiment varies at least one factor")
    for factor, levels in factors.items():
        if not levels:
            raise DynoError("empty_factor", f"{path.name}: factors.{factor}: has no level; write at least two")
        for level in levels:
            if not level or "/" in level:
                raise DynoError(
                    "bad_name", f"{path.name}: factors.{factor}: level {level!r} is empty or has a '/'; rename it"
                )
    for factor in document.quick.levels:
        if factor not in factors:
            known = ", ".join(factors)
            raise DynoError(
                "unknown_factor", f"{path.name}: quick.levels.{factor}: no such factor; factors are {known}"
            )
    for factor, level in document.baseline.items():
        if factor not in factors:
            known = ", ".join(factors)
            raise DynoError("unknown_factor", f"{path.name}: baseline.{factor}: no such factor; factors are {known}")
        if level not in factors[factor]:
            known = ", ".join(factors[factor])
            raise DynoError("unknown_level", f"{path.name}: baseline.{factor}: no level {level!r}; levels are {known}")
    if not document.baseline:
        raise DynoError("no_baseline", f"{path.name}: baseline: is empty; name the level to compare with")


def _arm(maker: _Maker, name: str, levels: dict[str, str], parts: list[Level], baseline: str) -> Arm:
    document, path = maker.document, maker.path
    load = named_by_levels(merged_load(document.workload, parts, levels, path), levels)
    session = merged("set", [part.set for part in parts], levels, path)
    settings = merged("settings", [part.settings for part in parts], levels, path)
    role = merged("role", [part.role for part in parts], levels, path)
    variables = {"scale": maker.scale, **document.workload.variables}
    variables |= merged("variables", [part.variables for part in parts], levels, path)
    for key in settings:
        if key in document.target.settings:
            raise DynoError(
                "two_values", f"{path.name}: settings.{key}: is set by target.settings and by a level; keep one"
            )
    reset = only_one("reset", [part.reset for part in parts], levels, path)
    reset = tuple(document.design.reset if reset is None else reset)
    _check_undo(reset, parts, levels, path)
    clients = load["clients"] or 1
    file = file_work(parts, levels, path)
    plain_io = file is not None and file.open is not None
    arm = Arm(
        name=name,
        levels=levels,
        baseline=None if baseline == name else baseline,
        server=_server(parts, levels, path),
        engine=only_one("engine", [part.engine for part in parts], levels, path),
        extension=only_one("extension", [part.extension for part in parts], levels, path),
        scripts=() if plain_io else _scripts(path, load),
        file=file,
        fixed_units=_fixed_units(maker, load, plain_io=plain_io),
        fetch_rows=load["fetch_rows"],
        clients=clients,
        threads=min(load["threads"] or 1, clients),
        mode=load["mode"] or "prepared",
        arrival=make_arrival(load["arrival"], load["think_time"]),
        connect_ramp_ns=load["connect_ramp"] or 0,
        latency_limit_ns=load["latency_limit"],
        rows_per_unit=load["rows_per_unit"],
        max_tries=load["max_tries"] or 1,
        variables={key: str(value) for key, value in variables.items()},
        session=session,
        settings=settings,
        role=role,
        sql=_one_after_another(_sql(path, levels, part, "sql") for part in parts if part.sql),
        undo=_one_after_another(_sql(path, levels, part, "undo") for part in reversed(parts) if part.undo),
        reset=reset,
        expect=merged_expect(document.expect, [part.expect for part in parts], levels, path),
    )
    check_engine(arm, document, path)
    return arm


def _check_undo(reset: tuple[str, ...], parts: list[Level], levels: dict[str, str], path: Path) -> None:
    """What a level does to the schema must not be there in the next trial of another arm."""
    for (factor, level), part in zip(levels.items(), parts, strict=True):
        if part.sql and not part.undo and "restore" not in reset:
            raise DynoError(
                "no_undo",
                f'{path.name}: factors.{factor}.{level}.sql: changes the schema; add an undo, or "restore" to reset',
            )


def _sql(path: Path, levels: dict[str, str], part: Level, key: str) -> str:
    return read_sql(path, f"factors ({'/'.join(levels.values())}).{key}", getattr(part, key))[0]


def _one_after_another(texts: Iterable[str]) -> str:
    """Each may end without a semicolon, or in a comment."""
    return "\n;\n".join(texts)


def _scripts(path: Path, load: Mapping[str, Any]) -> tuple[Script, ...]:
    script, statement = load["script"], load["statement"]
    if script is not None and statement is not None:
        raise DynoError("two_values", f"{path.name}: one arm has both a script and a statement; keep one")
    if statement is not None:
        return (read_statement(path, statement),)
    if script is None:
        raise DynoError(
            "missing_script", f"{path.name}: workload.script: is missing; name a file, or builtin:select-only"
        )
    return read_uses(path, [script] if isinstance(script, str) else script)


def _fixed_units(maker: _Maker, load: Mapping[str, Any], *, plain_io: bool) -> int | None:
    """How many units an arm does, where it has fixed work; `executions` are those of one statement."""
    units, executions, name = load["units"], load["executions"], maker.path.name
    if units is None and executions is None:
        if plain_io:
            raise DynoError("no_fixed_work", f"{name}: file.open: plain I/O has no window; give units or executions")
        return None
    if executions is not None and load["statement"] is None and not plain_io:
        raise DynoError("no_statement", f"{name}: executions = {executions}: is for a statement; write units instead")
    if units is not None and load["script"] is None and not plain_io:
        raise DynoError("no_script", f"{name}: units = {units}: is for a script; write executions instead")
    if load["arrival"] is not None:
        raise DynoError("open_fixed_work", f"{name}: arrival: an open loop has no fixed work; leave one of the two out")
    own = maker.document.workload
    quick = maker.document.quick.units or maker.document.quick.executions
    of_workload = (own.units, own.executions) == (units, executions)
    return quick if maker.quick and quick and of_workload else int(units or executions)


def _server(parts: list[Level], levels: dict[str, str], path: Path) -> Server:
    url = only_one("target", [part.target for part in parts], levels, path)
    server_bin = only_one("server_bin", [part.server_bin for part in parts], levels, path)
    if url is not None and server_bin is not None:
        raise DynoError("two_values", f"{path.name}: factors: one level sets target, another server_bin; keep one")
    if server_bin is not None and not Path(server_bin).expanduser().is_absolute():
        raise DynoError(
            "relative_path", f"{path.name}: server_bin = {server_bin!r}: write an absolute path: a run keeps it"
        )
    if url is not None:
        _refuse_password(url, path)
    return Server(url, None if server_bin is None else Path(server_bin).expanduser())


# A colon between the scheme and an @, however badly the rest is written, or the key itself.
_PASSWORD = re.compile(r"://[^@]*:[^@]*@|[?&]password=", re.IGNORECASE)


def _refuse_password(url: str, path: Path) -> None:
    """A run keeps a copy of its experiment file, which anybody may be given."""
    if _PASSWORD.search(url):
        raise DynoError(
            "password_in_file", f"{path.name}: target: holds a password; put it into ~/.pgpass or a service file"
        )
