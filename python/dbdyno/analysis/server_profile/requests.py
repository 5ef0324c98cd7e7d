"""I/O by backend type, relation, file and tablespace, from the server's own counters before and after.

A *request* is one call to the operating system. PostgreSQL counts requests and bytes apart since 18 only; before, and
for relations in every version, it counts pages, of which one request may have moved several: then the mean size of a
request is not known, and None.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dbdyno.analysis.documents import Document
from dbdyno.analysis.server_profile.findings import IoLine

MOST_LINES = 25
PAGE_BYTES = 8192
OPERATIONS = {
    "read": ("reads", "read_bytes", "read_time"),
    "write": ("writes", "write_bytes", "write_time"),
    "extend": ("extends", "extend_bytes", "extend_time"),
    "flush": ("fsyncs", None, "fsync_time"),
    "hit": ("hits", None, None),
}


@dataclasses.dataclass(frozen=True, slots=True)
class _Count:
    """One line under way."""

    by: str
    name: str
    operation: str
    requests: float
    bytes: float | None
    counts_requests: bool
    size_bytes: int | None = None
    ns: float | None = None


def io_lines(counters: Document | None, page_bytes: int = PAGE_BYTES) -> list[IoLine]:
    """All lines: by what they are grouped, then the greatest first."""
    if counters is None:
        return []
    by_type = list(_by_backend_type(differences(counters, "pg_stat_io", ("backend_type", "object", "context"))))
    relations = list(_by_relation(counters, page_bytes))
    places = [*_placed(relations, counters, "file"), *_placed(relations, counters, "tablespace")]
    return [*_shared(_added(by_type)), *_shared(_added(relations)), *_shared(_added(places))]


def differences(counters: Document, view: str, key: Sequence[str]) -> list[dict[str, Any]]:
    """The rows of a view, numbers as after - before; text and places as after. A counter that fell was reset: 0."""
    found = counters.get(view) or {}
    if found.get("rows_before") is None or found.get("rows_after") is None:
        return []
    before = {tuple(row.get(column) for column in key): row for row in found["rows_before"]}
    return [
        _difference(row, before.get(tuple(row.get(column) for column in key), {}), key) for row in found["rows_after"]
    ]


def _difference(after: Mapping[str, Any], before: Mapping[str, Any], key: Sequence[str]) -> dict[str, Any]:
    """A size (`bytes`), as the page size (`op_bytes`), is no counter."""
    kept = {*key, "bytes", "op_bytes"}
    return {
        column: max(value - (before.get(column) or 0), 0)
        if isinstance(value, int | float) and not isinstance(value, bool) and column not in kept
        else value
        for column, value in after.items()
    }


def _by_backend_type(rows: Sequence[Mapping[str, Any]]) -> Iterator[_Count]:
    for row in rows:
        name = row["backend_type"] if row["object"] == "relation" else f"{row['backend_type']} ({row['object']})"
        for operation, (count, size, time) in OPERATIONS.items():
            if row.get(count):
                exact = size is not None and row.get(size) is not None
                yield _Count(
                    by="backend type",
                    name=name,
                    operation=operation,
                    requests=row[count],
                    bytes=_bytes(row, count, size),
                    counts_requests=exact,
                    ns=row[time] * 1e6 if time is not None and row.get(time) else None,
                )


def _bytes(row: Mapping[str, Any], count: str, size: str | None) -> int | None:
    """As counted, else pages times their size; None for what moves no bytes."""
    if size is None:
        return None
    if row.get(size) is not None:
        return int(row[size])
    return int(row[count] * row["op_bytes"]) if row.get("op_bytes") else None


def _by_relation(counters: Document, page_bytes: int) -> Iterator[_Count]:
    for view, key, columns in (
        ("pg_statio_user_tables", "relid", ("heap", "toast", "tidx")),
        ("pg_statio_user_indexes", "indexrelid", ("idx",)),
    ):
        for row in differences(counters, view, (key,)):
            for operation in ("read", "hit"):
                pages = sum(row.get(f"{column}_blks_{operation}") or 0 for column in columns)
                if pages:
                    yield _Count(
                        by="relation",
                        name=f"{row['schemaname']}.{row['relname' if key == 'relid' else 'indexrelname']}",
                        operation=operation,
                        requests=pages,
                        bytes=pages * page_bytes,
                        counts_requests=False,
                        size_bytes=row.get("bytes"),
                    )


def _placed(relations: Sequence[_Count], counters: Document, by: str) -> Iterator[_Count]:
    """The lines of relations, by where the relations lie; only for those whose place was asked."""
    places = {
        f"{row['schemaname']}.{row['relname' if view.endswith('tables') else 'indexrelname']}": row.get(by)
        for view in ("pg_statio_user_tables", "pg_statio_user_indexes")
        for row in (counters.get(view) or {}).get("rows_after") or []
    }
    for count in relations:
        place = places.get(count.name)
        if place is not None:
            yield dataclasses.replace(count, by=by, name=str(place))


def _added(counts: Sequence[_Count]) -> list[_Count]:
    """Lines of one name and operation in one."""
    together: dict[tuple[str, str, str], list[_Count]] = {}
    for count in counts:
        together.setdefault((count.by, count.name, count.operation), []).append(count)
    return [
        dataclasses.replace(
            same[0],
            requests=sum(count.requests for count in same),
            bytes=_sum([count.bytes for count in same]),
            counts_requests=all(count.counts_requests for count in same),
            size_bytes=_sum([count.size_bytes for count in same]),
            ns=_sum([count.ns for count in same if count.ns is not None] or [None]),
        )
        for same in together.values()
    ]


def _sum(values: Sequence[Any]) -> Any:
    """None where any is."""
    return None if any(value is None for value in values) else sum(values)


def _shared(counts: Sequence[_Count]) -> list[IoLine]:
    """With shares of all of the same grouping and operation."""
    lines = []
    for count in counts:
        alike = [other for other in counts if (other.by, other.operation) == (count.by, count.operation)]
        sized = all(other.bytes is not None for other in alike)
        total = sum(other.bytes or 0 for other in alike) if sized else sum(other.requests for other in alike)
        sizes = sum(other.size_bytes or 0 for other in alike)
        own = (count.bytes or 0) if sized else count.requests
        mean = count.bytes / count.requests if count.counts_requests and count.bytes and count.requests else None
        lines.append(
            IoLine(
                by=count.by,
                name=count.name,
                operation=count.operation,
                requests=int(count.requests),
                bytes=None if count.bytes is None else int(count.bytes),
                request_bytes_mean=mean,
                share=own / total if total else 0.0,
                size_bytes=count.size_bytes,
                size_share=None if count.size_bytes is None or not sizes else count.size_bytes / sizes,
                ns=count.ns,
            )
        )
    order = {by: place for place, by in enumerate(dict.fromkeys(line.by for line in lines))}
    lines.sort(key=lambda line: (order[line.by], list(OPERATIONS).index(line.operation), -line.share, line.name))
    kept: dict[tuple[str, str], int] = {}
    shown = []
    for line in lines:
        kept[line.by, line.operation] = kept.get((line.by, line.operation), 0) + 1
        if kept[line.by, line.operation] <= MOST_LINES:
            shown.append(line)
    return shown
