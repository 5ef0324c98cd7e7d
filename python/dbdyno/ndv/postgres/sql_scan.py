"""Source (b), `--via sql`: the server computes the registers, and the hashes themselves where there are few.

Two passes: registers of all columns; then, of columns that seem to have few values, the hashes, so that the count of
those is exact as it is where the rows come to us.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

from dbdyno.ndv.postgres.scan_source import Source
from dbdyno.ndv.postgres.session import MARK, connect
from dbdyno.ndv.postgres.sql_plan import SETTINGS, Hashed, ServerScan, distinct_scan, hashed_columns, register_scans
from dbdyno.targets.endpoint import Endpoint
from dbdyno.targets.statements import failing_as_run_failure
from dbdyno.targets.target import Connection

# So many hashes does a sketch keep as they are (`EXACT_LIMIT` of the core).
EXACT_LIMIT = 8192


@dataclasses.dataclass(frozen=True, slots=True)
class ServerColumn:
    """What the server found of a column, or of a group of columns.

    Attributes:
        registers: 2^p; 0 where no value fell into the bucket.
        hashes: all different ones, ascending; None where there are too many to ask for.
    """

    name: str
    type: str
    rows: int
    nulls: int
    registers: npt.NDArray[np.uint8]
    hashes: npt.NDArray[np.uint64] | None


@dataclasses.dataclass(frozen=True, slots=True)
class ServerCounts:
    """One relation, counted by the server."""

    rows: int
    elapsed_ns: int
    scans: int
    columns: list[ServerColumn]
    groups: list[ServerColumn]


def count_by_server(
    endpoint: Endpoint, source: Source, precision: int, step: Callable[[int, int], None] | None = None
) -> ServerCounts:
    """Count all columns and groups under one snapshot, and leave nothing behind.

    Args:
        endpoint: where.
        source: what.
        precision: p, 10 to 18.
        step: called after each scan with how many are done, and of how many.

    Raises:
        DynoError: no connection (exit code 2); a scan failed, or its table is gone (exit code 1).
    """
    began_ns = time.monotonic_ns()
    columns, groups = hashed_columns(source)
    hashed = [*columns, *groups]
    scans = list(register_scans(source, hashed, precision))
    with connect(endpoint) as session, _snapshot(session, source):
        found = []
        for done, scan in enumerate(scans, 1):
            found += _registers(session, scan, precision)
            if step is not None:
                step(done, len(scans) + 1)
        few = [place for place, column in enumerate(found) if seem_few(column.registers)]
        for place, hashes in zip(few, _hashes(session, source, [hashed[place] for place in few]), strict=True):
            found[place] = dataclasses.replace(found[place], hashes=hashes)
        if step is not None:
            step(len(scans) + 1, len(scans) + 1)
    elapsed_ns = time.monotonic_ns() - began_ns
    return ServerCounts(found[0].rows, elapsed_ns, len(scans) + bool(few), found[: len(columns)], found[len(columns) :])


def register_of(minima: npt.NDArray[np.int64], precision: int) -> npt.NDArray[np.uint8]:
    """Leading zeros of the smallest rests, plus one; of a rest that is 0, all its bits are zeros."""
    upper, lower = minima >> 32, minima & 0xFFFFFFFF
    # frexp's exponent is the bit length; of halves, for a double holds no more than 53 bits.
    bits = np.where(upper > 0, 32 + np.frexp(upper.astype(float))[1], np.frexp(lower.astype(float))[1])
    registers: npt.NDArray[np.uint8] = (64 - precision - bits + 1).astype(np.uint8)
    return registers


def seem_few(registers: npt.NDArray[np.uint8]) -> bool:
    """Whether there are at most about `EXACT_LIMIT` values: by the buckets that are empty, linear counting.

    Whang, Vander-Zanden and Taylor (1990). Of 2^10 buckets none is empty from about 8,000 values on.
    """
    empty = int((registers == 0).sum())
    return empty > 0 and len(registers) * math.log(len(registers) / empty) <= EXACT_LIMIT


@contextmanager
def _snapshot(session: Connection, source: Source) -> Iterator[None]:
    with failing_as_run_failure(f"scan of {source.catalogue.relation.quoted}"):
        for statement in (*source.begin(in_order=False), *SETTINGS):
            session.execute(statement.encode())
        yield
        session.execute("ROLLBACK")


def _registers(session: Connection, scan: ServerScan, precision: int) -> list[ServerColumn]:
    rows = np.array(
        [
            (place, -1 if bucket is None else bucket, 0 if minimum is None else minimum, count)
            for place, bucket, minimum, count in _rows(session, scan.sql)
        ],
        dtype=np.int64,
    ).reshape(-1, 4)
    return [_column(one, rows[rows[:, 0] == place], precision) for place, one in enumerate(scan.hashed)]


def _column(hashed: Hashed, rows: npt.NDArray[np.int64], precision: int) -> ServerColumn:
    is_null = rows[:, 1] < 0
    registers = np.zeros(1 << precision, dtype=np.uint8)
    registers[rows[~is_null, 1]] = register_of(rows[~is_null, 2], precision)
    return ServerColumn(
        hashed.name, hashed.type, int(rows[:, 3].sum()), int(rows[is_null, 3].sum()), registers, hashes=None
    )


def _hashes(session: Connection, source: Source, hashed: Sequence[Hashed]) -> list[npt.NDArray[np.uint64]]:
    found: list[list[int]] = [[] for _ in hashed]
    if hashed:
        for place, value in _rows(session, distinct_scan(source, hashed).sql):
            if value is not None:
                found[place].append(value)
    return [np.sort(halves_changed(np.array(values, dtype=np.int64).view(np.uint64))) for values in found]


def halves_changed(hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The server's hashes as a file of sketches has them."""
    return hashes << np.uint64(32) | hashes >> np.uint64(32)


def _rows(session: Connection, statement: str) -> Iterator[tuple[int, ...]]:
    with session.cursor(binary=True) as cursor:
        yield from cursor.execute(statement.replace("SELECT", f"SELECT {MARK}", 1).encode())
