"""A comparison of runs as one JSON document (docs/findings.md)."""

from __future__ import annotations

import dataclasses
import json

from dbdyno.analysis.runs_compared.findings import RunsComparison, RunsHistory


def to_json(found: RunsComparison | RunsHistory) -> str:
    """The document, newline included. Raises ValueError on NaN or infinity: neither may reach a reader."""
    kind = "runs" if isinstance(found, RunsComparison) else "history"
    document = {"kind": kind, **dataclasses.asdict(found)}
    return json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
