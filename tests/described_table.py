"""A catalogue as `ndv.postgres` reads it, of a table that exists nowhere."""

from __future__ import annotations

from typing import Any

MB = 1 << 20


def described(**columns: dict[str, Any]) -> dict[str, Any]:
    """public.t of 100,000 rows in 1,000 pages on PostgreSQL 18; each column is a bigint but for what is given.

    The keys of a column are those of the catalogue's; `statistics` those of pg_stats, None for none.
    """
    names = list(columns)
    return {
        "server_version": 180000,
        "relation": {
            "oid": 1,
            "schema": "public",
            "name": "t",
            "quoted": "public.t",
            "schema_quoted": "public",
            "kind": "table",
            "tree": False,
            "leaves": 1,
            "pages": 1000,
            "planner_rows": 100_000.0,
            "reltuples": 100_000.0,
            "relpages": 1000,
            "analyzed_at": "2026-11-01T00:00:00+00:00",
            "changed_rows": 0,
            "inserted_rows": 0,
            "deleted_rows": 0,
            "counted_days": None,
            "owned": True,
        },
        "columns": [_column(number, name, columns[name]) for number, name in enumerate(names, 1)],
        "statistics": [
            _statistics(name, given) for name in names if (given := columns[name].get("statistics", {})) is not None
        ],
        "extended": [],
        "settings": {
            "default_statistics_target": 100,
            "work_mem_bytes": 4 * MB,
            "hash_mem_multiplier": 2.0,
            "random_page_cost": 4.0,
            "seq_page_cost": 1.0,
            "cpu_tuple_cost": 0.01,
            "cpu_index_tuple_cost": 0.005,
            "cpu_operator_cost": 0.0025,
        },
    }


def _column(number: int, name: str, given: dict[str, Any]) -> dict[str, Any]:
    usual = {
        "number": number,
        "name": name,
        "quoted": name,
        "type": "bigint",
        "base_type": ("pg_catalog", "int8"),
        "unique": False,
        "indexed": False,
        "clustered": False,
        "virtual": False,
        "arrival": False,
        "not_null": False,
        "refers_to": None,
        "referred_to": False,
        "override": None,
        "override_inherited": None,
        "target": None,
    }
    return usual | {key: value for key, value in given.items() if key != "statistics"}


def _statistics(name: str, given: dict[str, Any]) -> dict[str, Any]:
    usual = {
        "column": name,
        "inherited": False,
        "n_distinct": -1.0,
        "null_share": 0.0,
        "width_bytes": 8,
        "common_values": 0,
        "common_share": 0.0,
        "least_common_share": None,
        "correlation": 0.0,
    }
    return usual | given
