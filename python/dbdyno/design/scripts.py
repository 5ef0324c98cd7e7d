"""The files an experiment refers to: pgbench scripts and SQL, found beside the experiment file and parsed at once."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path

from dbdyno import engine, workloads
from dbdyno.errors import DynoError
from dbdyno.workloads import Workload

_BUILTIN = "builtin:"
_SET = re.compile(
    r"^\s*SET\s+(?:LOCAL\s+|SESSION\s+)?(?P<name>[a-z_.]+)\s*(?:=|\bTO\b)\s*(?P<value>'[^']*'|\"[^\"]*\"|[^;\s]+)",
    re.IGNORECASE | re.MULTILINE,
)


@dataclasses.dataclass(frozen=True, slots=True)
class Script:
    """One script of a workload and how often it is chosen; `path` is None for a built-in one."""

    name: str
    text: str
    weight: int
    path: Path | None


def read_script(experiment: Path, use: str) -> Script:
    """`"file.sql"`, `"file.sql@3"` or `"builtin:tpcb-like"`, read and checked."""
    name, weight = _split_weight(experiment, use)
    if name.startswith(_BUILTIN):
        return Script(name, engine.builtin_script(name.removeprefix(_BUILTIN)), weight, None)
    path = experiment.parent / name
    text = _read(path, f"{experiment.name}: script {name!r}", "script_unreadable")
    engine.check_script(name, text)
    return Script(name, text, weight, path)


def _split_weight(experiment: Path, use: str) -> tuple[str, int]:
    name, at, weight = use.rpartition("@")
    if not at:
        return use, 1
    if not weight.isdigit():
        raise DynoError("bad_weight", f"{experiment.name}: script {use!r}: {weight!r} is no weight; write file.sql@3")
    return name, int(weight)


def settings_in_script(text: str) -> list[tuple[str, str]]:
    """What a script sets by itself with SET or SET LOCAL: it wins over session, role and server."""
    return [(match["name"].lower(), match["value"].strip("'\"").lower()) for match in _SET.finditer(text)]


def read_statement(experiment: Path, value: str) -> Script:
    """One statement to execute as a whole: a `.sql` file beside the experiment, or the SQL itself."""
    script = read_script(experiment, value) if value.endswith(".sql") else Script("statement", value, 1, None)
    found = engine.check_script(script.name, script.text)["statements"]
    if found != 1:
        raise DynoError(
            "not_one_statement",
            f"{experiment.name}: statement {value!r}: holds {found} statements; write one, or use script",
        )
    return script


def read_uses(experiment: Path, uses: Sequence[str]) -> tuple[Script, ...]:
    """All scripts that a workload names; `"builtin:order-entry"` stands for each of its scripts."""
    found: list[Script] = []
    for use in uses:
        found += _shipped_scripts(experiment, use) or [read_script(experiment, use)]
    return tuple(found)


def _shipped_scripts(experiment: Path, use: str) -> list[Script]:
    """The scripts of `"builtin:WORKLOAD"` with their weights times that of the use, or `"builtin:WORKLOAD/SCRIPT"`."""
    name, weight = _split_weight(experiment, use)
    workload_name, slash, script_name = name.removeprefix(_BUILTIN).partition("/")
    workload = workloads.find(workload_name) if name.startswith(_BUILTIN) else None
    if workload is None or not workload.scripts:
        return []
    if not slash:
        return [Script(each, text, own_weight * weight, None) for each, text, own_weight in workload.scripts]
    for each, text, _ in workload.scripts:
        if each == script_name:
            return [Script(each, text, weight, None)]
    known = ", ".join(each for each, _, _ in workload.scripts)
    raise DynoError(
        "unknown_builtin", f"{experiment.name}: script {use!r}: {workload_name} has no such script; it has {known}"
    )


def read_sql(experiment: Path, key: str, value: str) -> tuple[str, tuple[Path, ...]]:
    """SQL of a level: a `.sql` file beside the experiment, or the SQL itself."""
    if value.endswith(".sql"):
        path = experiment.parent / value
        return _read(path, f"{experiment.name}: {key} {value!r}", "sql_unreadable"), (path,)
    return value, ()


def read_schemas(experiment: Path, schema: str | Sequence[str]) -> tuple[tuple[Workload, ...], tuple[Path, ...]]:
    """The workloads that `workload.schema` names, in order, and the files among them."""
    found: list[Workload] = []
    files: list[Path] = []
    for name in [schema] if isinstance(schema, str) else schema:
        shipped = workloads.find(name)
        if shipped is not None:
            found.append(shipped)
        elif name.endswith(".sql"):
            text, paths = read_sql(experiment, "workload.schema", name)
            found.append(Workload(name, text))
            files += paths
        else:
            known = ", ".join(workloads.SHIPPED)
            raise DynoError(
                "unknown_schema",
                f"{experiment.name}: workload.schema: no schema {name!r}; use {known} or a .sql file",
            )
    return tuple(found), tuple(files)


def _read(path: Path, what: str, code: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise DynoError(code, f"{what}: cannot be read: {error.strerror}; paths are relative to the file") from None
    except UnicodeDecodeError:
        raise DynoError(code, f"{what}: is not UTF-8 text; save the file as UTF-8") from None
