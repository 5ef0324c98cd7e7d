"""What the server counted, as the core takes it for a file of sketches, and as the analysis takes a scan's outcome.

```
counts = count_by_server(...)
file = engine.sketch_from_server(*sketch_arguments(counts))
outcome = outcome_of(counts, engine.sketch_estimates(file))
```
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dbdyno.ndv.postgres.server_hash import SEED
from dbdyno.ndv.postgres.sql_scan import ServerCounts

FORMAT = 1


def sketch_arguments(counts: ServerCounts) -> tuple[list[dict[str, Any]], list[bytes]]:
    """Columns and, of each, all its hashes where they are known, else its registers; groups behind the columns."""
    every = [*counts.columns, *counts.groups]
    columns = [
        {
            "name": column.name,
            "type": column.type,
            "seed": SEED,
            "precision": len(column.registers).bit_length() - 1,
            "rows": column.rows,
            "nulls": column.nulls,
            "kept": "registers" if column.hashes is None else "hashes",
        }
        for column in every
    ]
    contents = [
        column.registers.tobytes() if column.hashes is None else column.hashes.astype("<u8").tobytes()
        for column in every
    ]
    return columns, contents


def outcome_of(counts: ServerCounts, estimates: Mapping[str, Any]) -> dict[str, Any]:
    """The outcome in the form of the core's scan: without growth and samples, for which rows would have to come to us.

    Args:
        counts: what the server found.
        estimates: what the file says of the same columns.
    """
    split = len(counts.columns)
    said = estimates["columns"]
    return {
        "format": FORMAT,
        "rows": counts.rows,
        "bytes": None,
        "elapsed_ns": counts.elapsed_ns,
        "client_cpu_ns": None,
        "columns": [{**_entry(column), "samples": []} for column in said[:split]],
        "groups": [_entry(group) for group in said[split:]],
    }


def _entry(said: Mapping[str, Any]) -> dict[str, Any]:
    return {**{key: said[key] for key in ("name", "nulls", "ndv", "exact")}, "value_bytes": None, "growth": []}
