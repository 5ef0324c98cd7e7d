"""What is read of files, and the spec of `_core.ndv_scan_files` for all of them or for some."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dbdyno.errors import DynoError
from dbdyno.ndv.described import SourceColumn, described, scanned
from dbdyno.ndv.naming import names_in_list, shown
from dbdyno.ndv.sources import Files
from dbdyno.ndv.table_plan import group_document


@dataclasses.dataclass(frozen=True, slots=True)
class FilesPlan:
    """Files, the columns that are read (None: all), groups of them, `precision` of sketches, and `interop`, those for
    others."""

    files: Files
    columns: Sequence[str] | None
    groups: Sequence[Sequence[str]]
    precision: int
    interop: Sequence[str]

    def spec(self, paths: Sequence[Path]) -> dict[str, Any]:
        """As docs/architecture.md has it, for some of the files."""
        return {
            "files": {
                "paths": [str(path) for path in paths],
                "format": self.files.format,
                "csv": {"delimiter": self.files.delimiter},
            },
            "columns": self.columns,
            "groups": [group_document(group) for group in self.groups],
            "precision": self.precision,
            "seed": 0,
            "interop": list(self.interop),
        }

    def catalogue(self, outcome: Mapping[str, Any]) -> dict[str, Any]:
        """The files as a table, as `analysis.ndv.without_planner` takes it; types are known by then."""
        columns = [SourceColumn(one["name"], shown(one["name"]), one["type"]) for one in outcome["columns"]]
        return described(self.files.name, self.files.shown, "files", columns, files=len(self.files.paths))

    def scan_document(self, outcome: Mapping[str, Any]) -> dict[str, Any]:
        """What was read, with the files in their order."""
        scan = scanned(self.files.format, self.groups, outcome["not_counted"])
        return {**scan, "paths": [str(path) for path in self.files.paths]}


def plan_files(
    files: Files, columns: str | None, groups: Sequence[str], precision: int, interop: Sequence[str] = ()
) -> FilesPlan:
    """Choose what is read; the core knows which columns there are.

    Args:
        columns, groups: names as the user wrote them; a group's columns are read, too.

    Raises:
        DynoError: `bad_names`, `bad_group`.
    """
    grouped = [names_in_list("--group", group) for group in groups]
    for group in grouped:
        if len(set(group)) < 2:
            raise DynoError("bad_group", f"--group {', '.join(group)}: name two columns or more")
    asked = None
    if columns is not None:
        asked = list(dict.fromkeys([*names_in_list("--columns", columns), *(name for one in grouped for name in one)]))
    return FilesPlan(files, asked, grouped, precision, interop)
