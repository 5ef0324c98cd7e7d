"""A table of which each row fills a page, so that a lookup reads one page that no other row shares.

Rows hold random bytes, uncompressed, because storage may be faster at what it can compress. The table is not logged and
its rows are frozen as they are loaded (COPY ... FREEZE): each page is written once, and reading never makes it dirty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from dbdyno.calibration.budget import PAGE_BYTES
from dbdyno.targets.statements import failing_as_run_failure
from dbdyno.targets.target import Target

TABLE, COMMITS = "pages", "commits"
# A page holds one tuple of at most 8,160 bytes; headers and the two numbers take 36 of them.
FILLER_BYTES = 8_000
ROWS_AT_ONCE = 256

_TABLES = f"""
CREATE UNLOGGED TABLE {TABLE} (id int NOT NULL, n int NOT NULL, filler bytea NOT NULL);
ALTER TABLE {TABLE} ALTER COLUMN filler SET STORAGE PLAIN;
CREATE TABLE {COMMITS} (n int NOT NULL)
"""
_SIGNATURE, _NO_FLAGS, _END = b"PGCOPY\n\xff\r\n\0", bytes(8), b"\xff\xff"
# COPY's binary format: the number of fields, then each with its length before it, in network order.
_ROW = np.dtype(
    [
        *(("fields", ">i2"), ("id_bytes", ">i4"), ("id", ">i4"), ("n_bytes", ">i4"), ("n", ">i4")),
        *(("filler_bytes", ">i4"), ("filler", f"V{FILLER_BYTES}")),
    ]
)


def build(target: Target, table_bytes: int, seed: int, say: Callable[[int], bool]) -> None:
    """Make and fill the tables; `say` hears how many bytes are loaded and returns whether to go on."""
    target.execute(_TABLES)
    with target.connect() as session, failing_as_run_failure(f"COPY {TABLE}"), session.transaction():
        session.execute(f"TRUNCATE {TABLE}".encode())  # in this transaction, or its rows could not be frozen
        with session.cursor() as cursor, cursor.copy(f"COPY {TABLE} FROM STDIN (FORMAT binary, FREEZE)".encode()) as to:
            for chunk in rows(table_bytes // PAGE_BYTES, seed, say):
                to.write(chunk)
    if say(table_bytes):
        target.execute(f"ALTER TABLE {TABLE} ADD PRIMARY KEY (id)")
        target.vacuum([TABLE])
    if target.may_checkpoint:
        target.checkpoint()


def rows(count: int, seed: int, say: Callable[[int], bool]) -> Iterator[bytes]:
    """The rows 1 to `count` as COPY reads them in binary; fewer when `say` returns False."""
    random = np.random.default_rng(seed)
    yield _SIGNATURE + _NO_FLAGS
    for first in range(1, count + 1, ROWS_AT_ONCE):
        if not say(first * PAGE_BYTES):
            break
        part = np.zeros(min(ROWS_AT_ONCE, count + 1 - first), dtype=_ROW)
        part["fields"], part["id_bytes"], part["n_bytes"], part["filler_bytes"] = 3, 4, 4, FILLER_BYTES
        part["id"] = part["n"] = np.arange(first, first + len(part))
        part["filler"] = np.frombuffer(random.bytes(FILLER_BYTES * len(part)), dtype=f"V{FILLER_BYTES}")
        yield part.tobytes()
    yield _END
