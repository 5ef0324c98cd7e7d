"""Specs of scans, and their outcomes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from dbdyno import engine
from dbdyno.ndv.postgres.server_hash import SEED
from dbdyno.targets.embedded import EmbeddedServer

APPLICATION_NAME = "dbdyno ndv test"
BEGIN = ["BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "SET LOCAL synchronize_seqscans = off"]
Outcome = dict[str, Any]


def copy_sql(select: str) -> str:
    """The statement of a part."""
    return f"COPY ({select}) TO STDOUT (FORMAT binary)"


def part(select: str, first_page: int = 0, pages: int = 0) -> dict[str, Any]:
    """One connection's."""
    return {"begin_sql": BEGIN, "copy_sql": copy_sql(select), "first_page": first_page, "pages": pages}


def column(name: str, type_: str, decoder: str) -> dict[str, str]:
    """One of the SELECT list."""
    return {"name": name, "type": type_, "decoder": decoder}


def spec_of(
    server: EmbeddedServer, columns: Sequence[Mapping[str, str]], parts: Sequence[Mapping[str, Any]], **changes: Any
) -> dict[str, Any]:
    """With the usual rest."""
    return {
        "target": server.endpoint.engine_target(APPLICATION_NAME, 10_000_000_000),
        "parts": list(parts),
        "columns": list(columns),
        "groups": [],
        "precision": 14,
        "seed": 0,
        "server_seed": SEED,
        "rows_expected": 0,
        "sample_targets": [],
        "memory_limit_bytes": 1 << 30,
    } | changes


def scan(spec: Mapping[str, Any]) -> Outcome:
    """The outcome."""
    return engine.scan_postgres(spec, None)[0]


def rows(server: EmbeddedServer, query: str) -> list[tuple[Any, ...]]:
    """What a session of its own is told."""
    with server.connect() as session:
        return session.execute(query.encode()).fetchall()


def page_ranges(server: EmbeddedServer, table: str, count: int) -> list[tuple[str, int, int]]:
    """A table's pages in so many ranges: the condition, the first page, the number of pages. The last has no end."""
    ((pages,),) = rows(server, f"SELECT pg_relation_size('{table}') / 8192")
    bounds = [pages * number // count for number in range(count + 1)]
    ranges = []
    for number, (first, end) in enumerate(itertools.pairwise(bounds)):
        until = f" AND ctid < '({end},0)'" if number < count - 1 else ""
        ranges.append((f"ctid >= '({first},0)'{until}", first, end - first))
    return ranges


def sessions(server: EmbeddedServer) -> int:
    """Ours that are still there."""
    ((count,),) = rows(server, f"SELECT count(*) FROM pg_stat_activity WHERE application_name = '{APPLICATION_NAME}'")
    return int(count)
