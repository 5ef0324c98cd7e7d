"""A validated experiment: every arm with what it runs and what it sets, nothing left to look up.

`load_experiment` is the only way to make one: it reads the file, multiplies the factors out, reads and parses every
script and refuses what cannot work before anything is started.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dbdyno.design.document import Document, Level, Load, Measured, Open, SettingValue
from dbdyno.design.read import read_document
from dbdyno.design.scripts import Script, read_script, read_sql
from dbdyno.errors import DynoError


@dataclasses.dataclass(frozen=True, slots=True)
class Arrival:
    """How units of work come: a closed loop, or an open loop by a process of its own."""

    kind: str
    think_time_ns: int = 0
    process: str = ""
    start_per_s: float = 0.0
    end_per_s: float = 0.0

    def document(self) -> dict[str, Any]:
        """As the trial spec writes it."""
        if self.kind == "closed":
            return {"kind": "closed", "think_time_ns": self.think_time_ns}
        return {
            "kind": "open",
            "process": self.process,
            "start_per_s": self.start_per_s,
            "end_per_s": self.end_per_s,
        }


@dataclasses.dataclass(frozen=True, slots=True)
class Arm:
    """One combination of levels. `settings` are the server's, `session` each connection's, `role` the user's."""

    name: str
    levels: dict[str, str]
    baseline: str | None
    scripts: tuple[Script, ...]
    clients: int
    threads: int
    mode: str
    arrival: Arrival
    latency_limit_ns: int | None
    rows_per_unit: int | None
    max_tries: int
    variables: dict[str, str]
    session: dict[str, SettingValue]
    settings: dict[str, SettingValue]
    role: dict[str, SettingValue]
    sql: str
    undo: str


@dataclasses.dataclass(frozen=True, slots=True)
class Experiment:
    """Everything that a run needs to know; `directory` holds the experiment file and what it refers to."""

    name: str
    path: Path
    question: str
    metric: str
    margin: float
    schema: str
    schema_sql: str
    scale: int
    target_settings: dict[str, bool | int | float | str]
    blocks: int
    reset: tuple[str, ...]
    warm_up_ns: int
    window_ns: int
    quick: bool
    arms: tuple[Arm, ...]
    files: tuple[Path, ...]

    def arm(self, name: str) -> Arm:
        """The arm called `name`."""
        return next(arm for arm in self.arms if arm.name == name)


def load_experiment(path: Path, *, quick: bool = False, blocks: int | None = None) -> Experiment:
    """Read and check the experiment at `path`; `quick` and `blocks` are the flags of the same names.

    Raises:
        DynoError: with the file, the key, the value seen and the fix.
    """
    document = read_document(path)
    name = path.parent.name if path.stem == "experiment" else path.stem
    scale = (document.quick.scale if quick else None) or document.workload.scale
    arms = tuple(_arms(document, path, scale))
    _check_distinct(arms, path)
    schema_sql, schema_files = read_sql(path, "workload.schema", document.workload.schema_)
    return Experiment(
        name=name,
        path=path,
        question=document.question,
        metric=document.metric,
        margin=document.margin,
        schema=document.workload.schema_,
        schema_sql=schema_sql,
        scale=scale,
        target_settings=dict(document.target.settings),
        blocks=blocks or (document.quick.blocks if quick else None) or document.design.blocks,
        reset=tuple(document.design.reset),
        warm_up_ns=_quick_or(document, quick, "warm_up"),
        window_ns=_quick_or(document, quick, "window"),
        quick=quick,
        arms=arms,
        files=tuple(_files(path, arms, schema_files)),
    )


def _quick_or(document: Document, quick: bool, key: str) -> int:
    value = getattr(document.quick, key) if quick else None
    return int(getattr(document.design, key) if value is None else value)


def _files(path: Path, arms: tuple[Arm, ...], schema_files: tuple[Path, ...]) -> Iterator[Path]:
    """The experiment file and all that it refers to, each once, for the copy in the run directory."""
    seen: set[Path] = set()
    scripts = [script.path for arm in arms for script in arm.scripts if script.path is not None]
    for file in (path, *schema_files, *scripts):
        if file not in seen:
            seen.add(file)
            yield file


def _arms(document: Document, path: Path, scale: int) -> Iterator[Arm]:
    _check_factors(document, path)
    factors = document.factors
    baseline_levels = document.baseline
    for combination in itertools.product(*(levels.items() for levels in factors.values())):
        levels = dict(zip(factors, (name for name, _ in combination), strict=True))
        name = "/".join(levels.values())
        baseline = "/".join({**levels, **baseline_levels}.values())
        yield _arm(document, path, name, levels, [level for _, level in combination], baseline, scale)


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


def _check_factors(document: Document, path: Path) -> None:
    if not document.factors:
        raise DynoError("no_factor", f"{path.name}: factors: is empty; an experiment varies at least one factor")
    for factor, levels in document.factors.items():
        if not levels:
            raise DynoError("empty_factor", f"{path.name}: factors.{factor}: has no level; write at least two")
        for level in levels:
            if not level or "/" in level:
                raise DynoError(
                    "bad_name", f"{path.name}: factors.{factor}: level {level!r} is empty or has a '/'; rename it"
                )
    for factor, level in document.baseline.items():
        if factor not in document.factors:
            known = ", ".join(document.factors)
            raise DynoError("unknown_factor", f"{path.name}: baseline.{factor}: no such factor; factors are {known}")
        if level not in document.factors[factor]:
            known = ", ".join(document.factors[factor])
            raise DynoError("unknown_level", f"{path.name}: baseline.{factor}: no level {level!r}; levels are {known}")
    if not document.baseline:
        raise DynoError("no_baseline", f"{path.name}: baseline: is empty; name the level to compare with")


def _arm(
    document: Document, path: Path, name: str, levels: dict[str, str], parts: list[Level], baseline: str, scale: int
) -> Arm:
    load = _merged_load(document.workload, parts, levels, path)
    session = _merged("set", [part.set for part in parts], levels, path)
    settings = _merged("settings", [part.settings for part in parts], levels, path)
    role = _merged("role", [part.role for part in parts], levels, path)
    variables = {"scale": scale, **document.workload.variables}
    variables |= _merged("variables", [part.variables for part in parts], levels, path)
    for key in settings:
        if key in document.target.settings:
            raise DynoError(
                "two_values", f"{path.name}: settings.{key}: is set by target.settings and by a level; keep one"
            )
    _check_undo(document, parts, levels, path)
    return Arm(
        name=name,
        levels=levels,
        baseline=None if baseline == name else baseline,
        scripts=_scripts(path, load["script"]),
        clients=load["clients"] or 1,
        threads=min(load["threads"] or 1, load["clients"] or 1),
        mode=load["mode"] or "prepared",
        arrival=_arrival(load["arrival"], load["think_time"]),
        latency_limit_ns=load["latency_limit"],
        rows_per_unit=load["rows_per_unit"],
        max_tries=load["max_tries"] or 1,
        variables={key: str(value) for key, value in variables.items()},
        session=session,
        settings=settings,
        role=role,
        sql="\n".join(_sql(path, levels, part, "sql") for part in parts if part.sql),
        undo="\n".join(_sql(path, levels, part, "undo") for part in reversed(parts) if part.undo),
    )


def _check_undo(document: Document, parts: list[Level], levels: dict[str, str], path: Path) -> None:
    """What a level does to the schema must not be there in the next trial of another arm."""
    for (factor, level), part in zip(levels.items(), parts, strict=True):
        if part.sql and not part.undo and "restore" not in document.design.reset:
            raise DynoError(
                "no_undo",
                f'{path.name}: factors.{factor}.{level}.sql: changes the schema; add an undo, or "restore" to reset',
            )


def _sql(path: Path, levels: dict[str, str], part: Level, key: str) -> str:
    return read_sql(path, f"factors ({'/'.join(levels.values())}).{key}", getattr(part, key))[0]


def _merged_load(workload: Load, parts: list[Level], levels: dict[str, str], path: Path) -> dict[str, Any]:
    """The workload's keys, each replaced by the one level that sets it."""
    merged: dict[str, Any] = {}
    for key in ("script", "clients", "threads", "mode", "latency_limit", "rows_per_unit", "max_tries"):
        chosen = _only_one(key, [getattr(part, key) for part in parts], levels, path)
        merged[key] = getattr(workload, key) if chosen is None else chosen
    arrival = _only_one("arrival", [part.arrival for part in parts], levels, path)
    think_time = _only_one("think_time", [part.think_time for part in parts], levels, path)
    if arrival is not None and think_time is not None:
        raise DynoError("two_values", f"{path.name}: factors: one level sets arrival, another think_time; keep one")
    own = arrival is None and think_time is None
    merged["arrival"] = workload.arrival if own else arrival
    merged["think_time"] = workload.think_time if own else think_time
    return merged


def _only_one(key: str, values: list[Any], levels: dict[str, str], path: Path) -> Any:
    given = [(factor, value) for factor, value in zip(levels, values, strict=True) if value is not None]
    if len(given) > 1:
        raise DynoError(
            "two_values", f"{path.name}: factors {given[0][0]} and {given[1][0]} both set {key}; let one of them set it"
        )
    return given[0][1] if given else None


def _merged(key: str, tables: list[Mapping[str, Any]], levels: dict[str, str], path: Path) -> dict[str, Any]:
    """The union of the levels' tables; a name in two of them is an error."""
    merged: dict[str, Any] = {}
    origin: dict[str, str] = {}
    for factor, table in zip(levels, tables, strict=True):
        for name, value in table.items():
            if name in merged:
                raise DynoError(
                    "two_values",
                    f"{path.name}: factors {origin[name]} and {factor} both have {key}.{name}; let one of them set it",
                )
            merged[name], origin[name] = value, factor
    return merged


def _scripts(path: Path, script: str | list[str] | None) -> tuple[Script, ...]:
    if script is None:
        raise DynoError(
            "missing_script", f"{path.name}: workload.script: is missing; name a file, or builtin:select-only"
        )
    return tuple(read_script(path, use) for use in ([script] if isinstance(script, str) else script))


def _arrival(arrival: Open | None, think_time_ns: int | None) -> Arrival:
    if arrival is None:
        return Arrival(kind="closed", think_time_ns=think_time_ns or 0)
    process, start = (
        ("poisson", arrival.poisson_per_s) if arrival.poisson_per_s else ("constant", arrival.constant_per_s)
    )
    assert start is not None
    return Arrival(kind="open", process=process, start_per_s=start, end_per_s=arrival.to_per_s or start)


def resolve(value: SettingValue, measured: Mapping[str, float]) -> str:
    """A setting's value as text, with what was measured put in."""
    if isinstance(value, Measured):
        return str(max(0, round(measured[value.measured] * value.times)))
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)
