"""The main figures of a calibration that was kept, from its findings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dbdyno.analysis.calibrations_compared.findings import Earlier


def kept(directory: str, document: Mapping[str, Any]) -> Earlier:
    """Of the findings that lie in a directory; a figure that was not measured then is None."""
    idle, knees, flushes = document.get("idle"), document.get("knee"), document.get("flush")
    return Earlier(
        directory=directory,
        idle_p50_ns=idle["p50_ns"]["estimate"] if idle else None,
        knee_per_s=knees[0]["iops"]["estimate"] if knees else None,
        flush_p50_ns=flushes[0]["p50_ns"]["estimate"] if flushes else None,
    )
