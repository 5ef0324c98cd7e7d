"""A source whose planner is not asked, as `analysis.ndv.without_planner` takes it: a plain document."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any


@dataclasses.dataclass(frozen=True, slots=True)
class SourceColumn:
    """One column; `refers_to` is the label (`table.column`, quoted as here) of what a constraint says."""

    name: str
    quoted: str
    type: str
    unique: bool = False
    refers_to: str | None = None


def described(
    name: str, quoted: str, kind: str, columns: Sequence[SourceColumn], *, files: int | None = None
) -> dict[str, Any]:
    """The document; `kind` is `files`, `table` or `view`."""
    return {
        "server_version": None,
        "relation": {"name": name, "quoted": quoted, "kind": kind, "files": files},
        "columns": [dataclasses.asdict(column) for column in columns],
    }


def scanned(
    via: str,
    groups: Sequence[Sequence[str]],
    not_counted: Sequence[Mapping[str, Any]],
    where: str | None = None,
    *,
    in_order: bool = True,
) -> dict[str, Any]:
    """What was read; `in_order` whether rows came as they lie, or as files were named."""
    return {
        "via": via,
        "where": where,
        "in_order": in_order,
        "groups": [list(group) for group in groups],
        "not_counted": list(not_counted),
    }
