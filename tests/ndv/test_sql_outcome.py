"""What the server counted, handed on."""

from __future__ import annotations

import numpy as np

from dbdyno.ndv.postgres.sql_outcome import outcome_of, sketch_arguments
from dbdyno.ndv.postgres.sql_scan import ServerColumn, ServerCounts

REGISTERS = np.zeros(1 << 10, dtype=np.uint8)
REGISTERS[[3, 700]] = (5, 1)
MANY = ServerColumn("a", "bigint", 100, 7, REGISTERS, hashes=None)
FEW = ServerColumn("b", "text", 100, 0, REGISTERS, hashes=np.array([1, 2, 3], dtype=np.uint64))
GROUP = ServerColumn("a, b", "(bigint, text)", 100, 0, REGISTERS, hashes=None)
COUNTS = ServerCounts(rows=100, elapsed_ns=5, scans=2, columns=[MANY, FEW], groups=[GROUP])


def test_what_a_file_of_sketches_is_made_of() -> None:
    """Each column with its buckets that are not empty, in plain numbers."""
    columns, buckets = sketch_arguments(COUNTS)

    assert columns[0] == {
        "name": "a",
        "type": "bigint",
        "precision": 10,
        "rows": 100,
        "nulls": 7,
        "values": "registers",
    }
    assert [column["name"] for column in columns] == ["a", "b", "a, b"]
    assert buckets == [[(3, 5), (700, 1)]] * 3


def test_the_outcome_of_a_scan() -> None:
    """Estimates are the file's, but where all hashes are known their number is."""
    estimate = {"estimate": 2.5, "low": 2.0, "high": 3.0}

    found = outcome_of(COUNTS, {"columns": [{"ndv": estimate}] * 3})

    assert (found["rows"], found["elapsed_ns"]) == (100, 5)
    assert [(one["name"], one["nulls"], one["ndv"], one["exact"]) for one in found["columns"]] == [
        ("a", 7, estimate, False),
        ("b", 0, {"estimate": 3, "low": 3, "high": 3}, True),
    ]
    assert [(one["name"], one["ndv"], "samples" in one) for one in found["groups"]] == [("a, b", estimate, False)]
