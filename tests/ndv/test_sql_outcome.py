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
    """Each column with its registers, or with its hashes where they are known; groups behind the columns."""
    columns, contents = sketch_arguments(COUNTS)

    described = {"type": "bigint", "seed": 1, "precision": 10, "rows": 100, "nulls": 7}
    assert columns[0] == {"name": "a", "kept": "registers", **described}
    assert [(column["name"], column["kept"]) for column in columns[1:]] == [("b", "hashes"), ("a, b", "registers")]
    assert contents == [bytes(REGISTERS), b"".join(n.to_bytes(8, "little") for n in (1, 2, 3)), bytes(REGISTERS)]


def test_the_outcome_of_a_scan() -> None:
    """What the file says of columns and groups, and what the server was asked for."""
    ndv = {"estimate": 2.5, "low": 2.0, "high": 3.0}
    said = {"columns": [{"name": name, "nulls": 7, "ndv": ndv, "exact": False} for name in ("a", "b", "a, b")]}

    found = outcome_of(COUNTS, said)

    assert (found["rows"], found["elapsed_ns"], found["bytes"]) == (100, 5, None)
    counted = {"nulls": 7, "ndv": ndv, "exact": False, "value_bytes": None, "growth": []}
    assert found["columns"] == [{"name": name, "samples": [], **counted} for name in ("a", "b")]
    assert found["groups"] == [{"name": "a, b", **counted}]
