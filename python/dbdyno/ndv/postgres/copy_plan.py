"""Source (a): the spec of `_core.ndv_scan_postgres`, by which the rows are copied to us and hashed here.

```
one connection    COPY (SELECT r.id, r.name FROM public.orders AS r) TO STDOUT (FORMAT binary)
several           ... WHERE r.ctid >= '(0,0)' AND r.ctid < '(5000,0)', each its own pages, under one snapshot
```
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any

from dbdyno.ndv.decoders import EXPORTED, decoding_of
from dbdyno.ndv.postgres.columns import Column
from dbdyno.ndv.postgres.scan_source import ALIAS, Source
from dbdyno.ndv.postgres.server_hash import SEED, hash_expression
from dbdyno.ndv.postgres.session import APPLICATION_NAME
from dbdyno.targets.endpoint import Endpoint

SAMPLE_TARGETS = (100, 1000, 10000)
CONNECT_LIMIT_NS = 10_000_000_000

# Below, a further connection takes longer to make than its pages to read: 8 MB in pages of 8 kB.
PAGES_A_CONNECTION_MIN = 1024


@dataclasses.dataclass(frozen=True, slots=True)
class CopyOptions:
    """How to scan, as `docs/commands/ndv.md` has it."""

    connections: int = 1
    precision: int = 14
    seed: int = 0
    interop: Sequence[str] = ()
    memory_limit_bytes: int = 1 << 30


def read_as(column: Column, server_version: int) -> tuple[str, str]:
    """The core's decoder, and what stands in the SELECT list: the value, or the server's hash of it."""
    schema, name = column.base_type
    decoding = decoding_of(name, column.kind, is_built_in=schema == "pg_catalog", is_deterministic=column.deterministic)
    if decoding is None:
        return "hashed", hash_expression(column, ALIAS, server_version)
    return decoding.decoder, decoding.select_item(f"{ALIAS}.{column.quoted}")


def is_exported(column: Column) -> bool:
    """Whether other programs agree on the bytes of its values, and on which of them are equal."""
    schema, name = column.base_type
    return schema == "pg_catalog" and name in EXPORTED and column.deterministic


def plan_copy(source: Source, endpoint: Endpoint, options: CopyOptions) -> dict[str, Any]:
    """The spec, without the password.

    Args:
        source: what to read.
        endpoint: where.
        options: how.
    """
    positions = _positions(source)
    shown = [column for column in source.catalogue.columns if column.number in positions]
    read = [read_as(column, source.catalogue.server_version) for column in shown]
    return {
        "target": endpoint.engine_target(APPLICATION_NAME, CONNECT_LIMIT_NS),
        "parts": _parts(source, [item for _, item in read], options.connections),
        "columns": [
            {
                "name": column.name,
                "type": column.type,
                "decoder": decoder,
                "interop": list(options.interop) if is_exported(column) else [],
            }
            for column, (decoder, _) in zip(shown, read, strict=True)
        ],
        "groups": [
            {"name": group_name(group), "columns": [positions[column.number] for column in group]}
            for group in source.groups
        ],
        "precision": options.precision,
        "seed": options.seed,
        "server_seed": SEED,
        "rows_expected": round(source.catalogue.relation.planner_rows),
        "sample_targets": list(SAMPLE_TARGETS) if source.whole and source.in_order else [],
        "memory_limit_bytes": options.memory_limit_bytes,
    }


def group_name(group: Sequence[Column]) -> str:
    """What a group of columns is called: their names, by commas."""
    return ", ".join(column.name for column in group)


def _positions(source: Source) -> dict[int, int]:
    """The place of each column that is read, by its number; a group's columns are read, too."""
    numbers = {column.number for column in source.columns} | {
        column.number for group in source.groups for column in group
    }
    return {number: place for place, number in enumerate(sorted(numbers))}


def _parts(source: Source, items: Sequence[str], connections: int) -> list[dict[str, Any]]:
    begin, values = source.begin(in_order=True), ", ".join(items)
    return [
        {
            "begin_sql": begin,
            "copy_sql": f"COPY (SELECT {values} {source.from_where(condition)}) TO STDOUT (FORMAT binary)",
            "first_page": first,
            "pages": pages,
        }
        for first, pages, condition in _ranges(source, connections)
    ]


def _ranges(source: Source, connections: int) -> list[tuple[int, int, str | None]]:
    """First page, pages and condition of each part. The last has no end: there may be more pages by then."""
    relation = source.catalogue.relation
    pages = relation.pages
    splits = relation.kind in ("table", "materialised view") and not relation.tree
    parts = max(1, min(connections, pages // PAGES_A_CONNECTION_MIN)) if splits else 1
    if parts == 1:
        return [(0, pages, None)]
    bounds = [pages * part // parts for part in range(parts + 1)]
    return [
        (first, end - first, " AND ".join(_from_page(first) + ([] if end == pages else _to_page(end))))
        for first, end in itertools.pairwise(bounds)
    ]


def _from_page(page: int) -> list[str]:
    return [f"{ALIAS}.ctid >= '({page},0)'::pg_catalog.tid"]


def _to_page(page: int) -> list[str]:
    return [f"{ALIAS}.ctid < '({page},0)'::pg_catalog.tid"]
