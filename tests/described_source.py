"""A source without a planner, as files and tables of DuckDB and SQLite are described: one that exists nowhere."""

from __future__ import annotations

from typing import Any


def described_source(**columns: dict[str, Any]) -> dict[str, Any]:
    """`t-*.parquet`, three files; each column is a bigint but for what is given."""
    return {
        "server_version": None,
        "relation": {"name": "t", "quoted": "t-*.parquet", "kind": "files", "files": 3},
        "columns": [
            {"name": name, "quoted": name, "type": "bigint", "unique": False, "refers_to": None} | given
            for name, given in columns.items()
        ],
    }
