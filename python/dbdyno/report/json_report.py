"""The findings as one JSON document, for machines. Its keys: docs/findings.md."""

from __future__ import annotations

from dbdyno.analysis.findings import Findings, to_json


def render(findings: Findings) -> str:
    """The document of `dbdyno run --json` and `dbdyno report --json`, newline included."""
    return to_json(findings)
