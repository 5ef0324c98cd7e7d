"""What the server counted, as the core takes it for a file of sketches, and as the analysis takes a scan's outcome.

```
counts = count_by_server(...)
file = engine.sketch_from_registers(*sketch_arguments(counts))
outcome = outcome_of(counts, engine.sketch_estimates(file))
```
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dbdyno.ndv.postgres.sql_scan import ServerColumn, ServerCounts

FORMAT = 1


def sketch_arguments(counts: ServerCounts) -> tuple[list[dict[str, Any]], list[list[tuple[int, int]]]]:
    """Columns and, of each, the buckets that are not empty with their registers; groups behind the columns."""
    every = [*counts.columns, *counts.groups]
    columns = [
        {
            "name": column.name,
            "type": column.type,
            "precision": len(column.registers).bit_length() - 1,
            "rows": column.rows,
            "nulls": column.nulls,
            "values": "registers",
        }
        for column in every
    ]
    filled = [np.flatnonzero(column.registers) for column in every]
    buckets = [
        list(zip(places.tolist(), column.registers[places].tolist(), strict=True))
        for column, places in zip(every, filled, strict=True)
    ]
    return columns, buckets


def outcome_of(counts: ServerCounts, estimates: Mapping[str, Any]) -> dict[str, Any]:
    """The outcome in the form of the core's scan: without growth and samples, for which rows would have to come to us.

    Args:
        counts: what the server found.
        estimates: what the file says of the same columns; a column whose values are few is known exactly without it.
    """
    estimated = [column["ndv"] for column in estimates["columns"]]
    split = len(counts.columns)
    return {
        "format": FORMAT,
        "rows": counts.rows,
        "bytes": None,
        "elapsed_ns": counts.elapsed_ns,
        "client_cpu_ns": None,
        "columns": [{**one, "samples": []} for one in _entries(counts.columns, estimated[:split])],
        "groups": _entries(counts.groups, estimated[split:]),
    }


def _entries(columns: Sequence[ServerColumn], estimated: Sequence[Mapping[str, float]]) -> list[dict[str, Any]]:
    return [
        {
            "name": column.name,
            "nulls": column.nulls,
            "value_bytes": None,
            "ndv": dict(ndv)
            if column.hashes is None
            else dict.fromkeys(("estimate", "low", "high"), len(column.hashes)),
            "exact": column.hashes is not None,
            "growth": [],
        }
        for column, ndv in zip(columns, estimated, strict=True)
    ]
