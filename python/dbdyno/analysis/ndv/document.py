"""Findings of distinct counts as one JSON document (docs/ndv.md)."""

from __future__ import annotations

import dataclasses
import json

from dbdyno.analysis.ndv.findings import NdvFindings


def to_json(found: NdvFindings) -> str:
    """The document, newline included. Raises ValueError on NaN or infinity: neither may reach a reader."""
    return json.dumps(dataclasses.asdict(found), indent=1, allow_nan=False, ensure_ascii=False) + "\n"
