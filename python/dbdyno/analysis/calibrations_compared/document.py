"""A comparison of calibrations as one JSON document (docs/findings.md)."""

from __future__ import annotations

import dataclasses
import json

from dbdyno.analysis.calibrations_compared.findings import CalibrationsComparison


def to_json(found: CalibrationsComparison) -> str:
    """The document, newline included. Raises ValueError on NaN or infinity: neither may reach a reader."""
    document = {"kind": "calibrations", **dataclasses.asdict(found)}
    return json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
