"""The guarded service before and while the storage was measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dbdyno.analysis.calibration.findings import Guarded


def guarded(record: Mapping[str, Any] | None) -> Guarded | None:
    """From the record's `guard`; None where nobody was guarded."""
    if record is None:
        return None
    before, during = record["baseline_ns"], record["response_times_ns"]
    return Guarded(
        service=record["service"],
        statement=record["statement"],
        factor=record["factor"],
        limits_ns=tuple(record["limits_ns"]),
        before_p50_ns=float(np.quantile(before, 0.5)),
        before_p90_ns=float(np.quantile(before, 0.9)),
        probes=len(during),
        p50_ns=float(np.quantile(during, 0.5)) if during else None,
        p90_ns=float(np.quantile(during, 0.9)) if during else None,
        max_ns=float(max(during)) if during else None,
        seen=record["seen"],
    )
