"""Reads an experiment file and puts every mistake in it into one line: file, key, value, fix."""

from __future__ import annotations

import difflib
import tomllib
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from dbdyno.design.document import Document
from dbdyno.errors import DynoError


def read_document(path: Path) -> Document:
    """The experiment file at `path`; raises `DynoError` with the first mistake in it."""
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DynoError("experiment_unreadable", f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise DynoError("experiment_unreadable", f"{path}: is not UTF-8 text; save the file as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise DynoError("experiment_syntax", f"{path.name}: is not valid TOML: {error}") from None
    try:
        return Document.model_validate(raw)
    except ValidationError as error:
        raise DynoError("experiment_invalid", f"{path.name}: {_first_mistake(error, raw)}") from None


def _first_mistake(error: ValidationError, raw: dict[str, Any]) -> str:
    """One line about the first mistake; of those that a union of types reports for one key, the most exact."""
    mistakes = error.errors(include_url=False)
    first = _key(mistakes[0])
    text = _describe(
        max((each for each in mistakes if _key(each).startswith(first)), key=lambda each: len(each["loc"])), raw
    )
    others = len({_key(mistake) for mistake in mistakes}) - 1
    return text + (f" (and {others} more)" if others > 0 else "")


def _key(mistake: ErrorDetails) -> str:
    """The dotted key as it stands in the file, without the names of union members that pydantic adds."""
    members = {"bool", "int", "float", "str", "Measured", "list[str]", "function-before"}
    parts = [str(part) for part in mistake["loc"]]
    return ".".join(part for part in parts if part not in members and not part.startswith(("function-", "<")))


def _describe(mistake: ErrorDetails, raw: dict[str, Any]) -> str:
    key, value = _key(mistake), mistake["input"]
    match mistake["type"]:
        case "extra_forbidden":
            return f"{key}: unknown key{_did_you_mean(key, raw)}"
        case "missing":
            return f"{key}: is missing; every experiment needs it"
        case "value_error":
            return f"{key}: {_shown(value)} {mistake['ctx']['error']!s}"
        case "literal_error":
            return f"{key}: {_shown(value)} is not known here; use one of {mistake['ctx']['expected']}"
        case _:
            return f"{key}: {_shown(value)}: {mistake['msg'][0].lower()}{mistake['msg'][1:]}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _did_you_mean(key: str, raw: dict[str, Any]) -> str:
    """Offers the nearest key that the same table knows."""
    *parents, wrong = key.split(".")
    near = difflib.get_close_matches(wrong, _known_keys(parents), n=1, cutoff=0.5)
    if near:
        return f"; did you mean {'.'.join([*parents, near[0]])}?"
    return f"; known here are {', '.join(sorted(_known_keys(parents)))}"


def _known_keys(parents: list[str]) -> list[str]:
    from dbdyno.design import document as d

    tables: dict[str, type[BaseModel]] = {
        "": Document,
        "target": d.Target,
        "workload": d.Workload,
        "design": d.Design,
        "quick": d.Quick,
        "factors": d.Level,
    }
    inner: dict[str, type[BaseModel]] = {
        "arrival": d.Open,
        "think_time": d.ThinkTime,
        "expect": d.Expect,
        "relation_bytes": d.Bounds,
        "file": d.FileWork,
    }
    table = tables.get(parents[0] if parents else "", d.Level)
    for parent in parents:
        table = inner.get(parent, table)
    return [field.alias or name for name, field in table.model_fields.items()]
