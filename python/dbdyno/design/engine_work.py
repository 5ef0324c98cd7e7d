"""Arms whose statement another engine executes, in a process of its own beside the server: what they may ask for.

The statement is the one of the arm, so that a factor of engines lets all of them do the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dbdyno.design.arm import Arm
from dbdyno.design.document import Document
from dbdyno.errors import DynoError

# What `ndv-copy` is asked: which columns of which table it counts.
_ROWS = re.compile(r"\s*SELECT\s+(?P<columns>\w+(?:\s*,\s*\w+)*)\s+FROM\s+(?P<table>\w+)\s*;?\s*", re.IGNORECASE)


def named_by_levels(load: Mapping[str, Any], levels: Mapping[str, str]) -> dict[str, Any]:
    """The load with `{FACTOR}` in its script or statement replaced by the arm's level of that factor."""

    def named(text: str) -> str:
        for factor, level in levels.items():
            text = text.replace(f"{{{factor}}}", level)
        return text

    script, statement = load["script"], load["statement"]
    return {
        **load,
        "script": [named(use) for use in script] if isinstance(script, list) else script and named(script),
        "statement": statement and named(statement),
    }


def columns_and_table(statement: str) -> tuple[list[str], str] | None:
    """What `SELECT a, b FROM t` names; None for any other statement."""
    found = _ROWS.fullmatch(statement)
    return None if found is None else ([name.strip() for name in found["columns"].split(",")], found["table"])


def check_engine(arm: Arm, document: Document, path: Path) -> None:
    """Refuses what another engine cannot do, and answers that nothing is compared with."""
    if arm.expect.error is not None and not document.truth:
        raise DynoError("no_truth", f"{path.name}: expect.error: is the distance from a [truth]; add that table")
    if arm.engine is None:
        return
    for reason in _reasons_against(arm):
        raise DynoError("engine_work", f"{path.name}: factors ({arm.name}): engine = {arm.engine!r}: {reason}")


def _reasons_against(arm: Arm) -> list[str]:
    refused = {
        "settings": arm.settings,
        "role": arm.role,
        "extension": arm.extension,
        "target": arm.server.url,
        "server_bin": arm.server.server_bin,
        "file": arm.file,
        "fetch_rows": arm.fetch_rows,
    }
    reasons = [f"{key} is of a server; leave it out" for key, value in refused.items() if value]
    if arm.fixed_units != 1:
        reasons.append("does a statement once; write executions = 1")
    if arm.clients != 1:
        reasons.append(f"is one process, not {arm.clients} clients; leave clients out")
    if arm.engine == "ndv-copy" and not any(columns_and_table(script.text) for script in arm.scripts):
        reasons.append("copies columns; write the statement SELECT a, b FROM table")
    return reasons
