"""What is known of some of the files: counted by the core, united with what is known of others.

These functions run on workers, which may be other machines: what goes in and comes out is plain and small.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dbdyno import engine
from dbdyno.errors import DynoError


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """Some files.

    Attributes:
        first: the first of them, by which messages name it.
        columns: name and type of each column and then of each group, of which there are `groups`.
        not_counted: of the outcome.
        rows, read_bytes, cpu_ns: of all of them.
        sketches: the file of sketches, which has the nulls, too.
    """

    first: str
    columns: Sequence[tuple[str, str]]
    groups: int
    not_counted: Sequence[Mapping[str, str]]
    rows: int
    read_bytes: int
    cpu_ns: int
    sketches: bytes


def count_part(spec: Mapping[str, Any], version: str, go_on: Callable[[], bool]) -> Part:
    """Count the files of a spec.

    Args:
        version: of dbdyno where the parts are united: another one might hash in another way.
        go_on: asked about once a second; says False where nobody waits for the part any more.

    Raises:
        DynoError: `other_version`, and what `engine.scan_files` raises.
        InterruptedError: it was not to go on.
    """
    if version != engine.VERSION:
        raise DynoError("other_version", f"--scheduler: a worker has dbdyno {engine.VERSION}, this is {version}")

    def look(_: Mapping[str, Any]) -> None:
        if not go_on():
            raise InterruptedError

    outcome, sketches = engine.scan_files(spec, look)
    return Part(
        first=str(spec["files"]["paths"][0]),
        columns=[(one["name"], one["type"]) for one in (*outcome["columns"], *outcome["groups"])],
        groups=len(outcome["groups"]),
        not_counted=outcome["not_counted"],
        rows=outcome["rows"],
        read_bytes=outcome["bytes"],
        cpu_ns=outcome["client_cpu_ns"],
        sketches=sketches,
    )


def unite(parts: Sequence[Part]) -> Part:
    """The part of all their files. Raises `DynoError("columns_differ")` where they are not one table."""
    first = parts[0]
    for part in parts[1:]:
        if difference := _difference(first, part):
            raise DynoError("columns_differ", difference)
    return dataclasses.replace(
        first,
        rows=sum(part.rows for part in parts),
        read_bytes=sum(part.read_bytes for part in parts),
        cpu_ns=sum(part.cpu_ns for part in parts),
        sketches=engine.sketch_merge([part.sketches for part in parts]),
    )


def _difference(first: Part, other: Part) -> str | None:
    """What makes them two tables, in words."""
    known, found = dict(first.columns), dict(other.columns)
    for name in known:
        if name not in found:
            return f"{other.first}: has no column {name}, which {first.first} has; count it by itself"
        if known[name] != found[name]:
            return f"{other.first}: column {name} is {found[name]}, and {known[name]} in {first.first}"
    for name in found:
        if name not in known:
            return f"{other.first}: has a column {name}, which {first.first} has not; count it by itself"
    if list(first.columns) != list(other.columns):
        return f"{other.first}: its columns are in another order than those of {first.first}; name them with --columns"
    return None
