"""Findings of traces as one JSON document (docs/trace.md)."""

from __future__ import annotations

import dataclasses
import json

from dbdyno.analysis.trace.findings import TraceFindings


def to_json(found: TraceFindings) -> str:
    """The document, newline included. Raises ValueError on NaN or infinity: neither may reach a reader."""
    return json.dumps(dataclasses.asdict(found), indent=1, allow_nan=False, ensure_ascii=False) + "\n"
