"""The calibrations that are kept in the directory where they go unless --out says otherwise: nothing deletes them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from dbdyno.store import calibration_directory

DIRECTORY = Path("dbdyno-calibrations")
# Of the findings; a document without them is of something else.
KEYS = {"measured_at", "budget", "engine", "file_bytes", "inventory"}


def findings() -> list[tuple[Path, dict[str, Any]]]:
    """Each with its findings, the earliest first; what cannot be read is none of them."""
    found = []
    for directory in _calibrations(DIRECTORY):
        try:
            document = json.loads((directory / calibration_directory.FINDINGS).read_bytes())
        except (OSError, ValueError):
            continue
        if isinstance(document, dict) and document.keys() >= KEYS:
            found.append((directory, document))
    return sorted(found, key=lambda one: (one[1]["measured_at"], one[0]))


def beside(named: Iterable[Path]) -> list[Path]:
    """Other finished calibrations of that directory, and of those of its name in which the named ones lie."""
    places = list(named)
    parents = [place.parent for place in places if place.resolve().parent.name == DIRECTORY.name]
    taken = {place.resolve() for place in places}
    every = {each.resolve(): each for parent in (*parents, DIRECTORY) for each in _calibrations(parent)}
    return [each for where, each in sorted(every.items()) if where not in taken]


def _calibrations(parent: Path) -> Iterator[Path]:
    if parent.is_dir():
        yield from (each for each in sorted(parent.iterdir()) if (each / calibration_directory.RECORD).exists())
