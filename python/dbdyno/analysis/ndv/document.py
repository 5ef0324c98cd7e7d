"""Findings of distinct counts as one JSON document (docs/ndv.md)."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence

from dbdyno.analysis.ndv.findings import FORMAT, NdvFindings


def to_json(found: NdvFindings) -> str:
    """The document, newline included. Raises ValueError on NaN or infinity: neither may reach a reader."""
    return _text(dataclasses.asdict(found))


def to_json_of_several(tables: Sequence[NdvFindings]) -> str:
    """One document of several tables, counted together."""
    return _text({"format": FORMAT, "tables": [dataclasses.asdict(found) for found in tables]})


def _text(document: object) -> str:
    return json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
