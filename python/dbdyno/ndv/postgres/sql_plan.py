"""Source (b), the statements: HyperLogLog in plain SQL, so that registers leave the server instead of rows.

```
hash of the value   [ upper 32 bits | lower 32 bits ]     as the server's function gives it
its halves changed  [ upper p bits: the bucket | the other 64 - p bits: the rest ]
a bucket's register = leading zeros of the smallest rest in it, plus one
```

The halves change places because the server's hash mixes its upper one less (lookup3's `final` is made for its last
word): of 20,000 numbers in a row the estimate by the upper bits was 0.93 % too low in the mean of 300 seeds, by the
lower ones 0.02 %, with a standard error of 0.04 %.

Each bucket's smallest rest is a `min` in a GROUP BY, and grouping sets do several columns in one scan. Every grouping
set advances every column's `min`, so a value takes the longer the more columns there are: 350 ns for one, 390 for 4,
480 for 6, 530 for 8, 630 for 12 (one core; two million rows of seven types). To put all values of a row below each
other (unnest) takes 440 at 12, but 530 at 4. So a scan has as many columns as pay for reading the table once more.

Two things keep the planner from sorting the whole table for it. `OFFSET 0` is a fence: the planner knows nothing of
the values beyond it, expects 200 groups and hashes, where it would otherwise expect as many groups as values. And sorts
are off for the transaction.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence

from dbdyno.ndv.postgres.columns import Column
from dbdyno.ndv.postgres.scan_source import ALIAS, Source
from dbdyno.ndv.postgres.server_hash import group_expression, hash_expression

HASH_BYTES = 64 << 20
SETTINGS = ("SET LOCAL enable_sort = off", f"SET LOCAL work_mem = '{HASH_BYTES >> 20}MB'")

# GROUPING takes no more.
_COLUMNS_MAX = 31
# k columns at once: each costs about 32 ns a row more for every further one beside it, and C columns read each row
# C / k times, at 5 ns a byte where storage gives 200 MB/s. The sum is least where k^2 = 5 / 32 x the bytes of a row.
_COLUMNS_SQUARED_PER_ROW_BYTE = 5 / 32
_COLUMNS_USUAL = 4
# Of a bucket in the server's hash table: its key and headers, and a state of each aggregate, of which there is one for
# each column of the scan, of that bucket's column or not (nodeAgg.c: AggStatePerGroupData).
_BUCKET_BYTES = 112
_STATE_BYTES = 16
# Of nearly every server; here a rough figure is good enough.
_PAGE_BYTES = 8192


@dataclasses.dataclass(frozen=True, slots=True)
class Hashed:
    """A column, or a group of columns, with the expression that hashes it."""

    name: str
    type: str
    expression: str


@dataclasses.dataclass(frozen=True, slots=True)
class ServerScan:
    """One statement; its rows are (place in `hashed`, bucket or null, smallest rest, rows of the table)."""

    hashed: Sequence[Hashed]
    sql: str


def hashed_columns(source: Source) -> tuple[list[Hashed], list[Hashed]]:
    """The columns, and the groups."""
    version = source.catalogue.server_version
    columns = [Hashed(one.name, one.type, hash_expression(one, ALIAS, version)) for one in source.columns]
    groups = [
        Hashed(", ".join(one.name for one in group), _record_type(group), group_expression(group, ALIAS))
        for group in source.groups
    ]
    return columns, groups


def register_scans(source: Source, hashed: Sequence[Hashed], precision: int) -> Iterator[ServerScan]:
    """As many scans as that takes, each of `columns_at_once`."""
    relation = source.catalogue.relation
    at_once = columns_at_once(precision, relation.pages * _PAGE_BYTES / max(relation.planner_rows, 1))
    for first in range(0, len(hashed), at_once):
        some = hashed[first : first + at_once]
        yield ServerScan(some, _registers(source, some, precision))


def distinct_scan(source: Source, hashed: Sequence[Hashed]) -> ServerScan:
    """All hashes themselves, of columns that have few; its rows are (place in `hashed`, hash or null)."""
    keys = ", ".join(f"h{place}" for place in range(len(hashed)))
    return ServerScan(
        hashed,
        f"SELECT {_which(len(hashed), 'h')}, COALESCE({keys}, NULL)\n"
        f"FROM {_hashes(source, hashed)}\nGROUP BY {_sets(len(hashed), 'h')}",
    )


def columns_at_once(precision: int, row_bytes: float) -> int:
    """How many columns one scan should have: no more than fit into the server's memory for hashing, at least one."""
    fitting = [
        columns
        for columns in range(1, _COLUMNS_MAX + 1)
        if columns * (_BUCKET_BYTES + _STATE_BYTES * columns) << precision <= HASH_BYTES
    ]
    wanted = max(_COLUMNS_USUAL, round(math.sqrt(row_bytes * _COLUMNS_SQUARED_PER_ROW_BYTE)))
    return min(wanted, max(fitting, default=1))


def _registers(source: Source, hashed: Sequence[Hashed], precision: int) -> str:
    lower_bits = 32 - precision
    places = range(len(hashed))
    halves = ", ".join(
        f"((h{place} >> {lower_bits}) & {(1 << precision) - 1})::pg_catalog.int4 AS b{place}, "
        f"((h{place} & {(1 << lower_bits) - 1}) << 32) | ((h{place} >> 32) & {(1 << 32) - 1}) AS r{place}"
        for place in places
    )
    minimum = " ".join(f"WHEN {place} THEN m{place}" for place in places)
    buckets = ", ".join(f"b{place}" for place in places)
    minima = ", ".join(f"pg_catalog.min(r{place}) AS m{place}" for place in places)
    return (
        f"SELECT k, b, CASE k {minimum} END, n FROM (\n"
        f"SELECT {_which(len(hashed), 'b')} AS k, COALESCE({buckets}, NULL) AS b, {minima}, pg_catalog.count(*) AS n\n"
        f"FROM (SELECT {halves} FROM {_hashes(source, hashed)} OFFSET 0) AS v\n"
        f"GROUP BY {_sets(len(hashed), 'b')}) AS g"
    )


def _hashes(source: Source, hashed: Sequence[Hashed]) -> str:
    values = ", ".join(f"{one.expression} AS h{place}" for place, one in enumerate(hashed))
    return f"(SELECT {values} {source.from_where()} OFFSET 0) AS h"


def _sets(columns: int, letter: str) -> str:
    """One column needs no grouping sets."""
    if columns == 1:
        return f"{letter}0"
    return f"GROUPING SETS ({', '.join(f'({letter}{place})' for place in range(columns))})"


def _which(columns: int, letter: str) -> str:
    """The place of the column that a group is of: the one bit of GROUPING that is not set."""
    if columns == 1:
        return "0"
    keys = ", ".join(f"{letter}{place}" for place in range(columns))
    every = (1 << columns) - 1
    cases = " ".join(f"WHEN {every ^ (1 << (columns - 1 - place))} THEN {place}" for place in range(columns))
    return f"CASE GROUPING({keys}) {cases} END"


def _record_type(group: Sequence[Column]) -> str:
    return f"({', '.join(column.type for column in group)})"
