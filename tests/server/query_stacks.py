"""A backend that reads, joins and sorts, over and over, and the stacks of one."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import psycopg

from dbdyno.targets.embedded import EmbeddedServer

TABLES = """
CREATE TABLE IF NOT EXISTS stacks_a AS
    SELECT i, (i::bigint * 7919) % 40009 AS k, repeat('x', 20) AS t FROM generate_series(1, 40000) i;
ANALYZE stacks_a;
SET max_parallel_workers_per_gather = 0;
SET enable_mergejoin = off;
SET enable_nestloop = off;
"""
QUERY = """
SELECT a.k, b.t FROM stacks_a a JOIN stacks_a b ON a.i = b.k WHERE b.i % 2 = 0 ORDER BY a.k DESC, b.t OFFSET 1000000
"""


def session(server: EmbeddedServer) -> psycopg.Connection[Any]:
    """A session of the server's own superuser."""
    endpoint = server.endpoint
    return psycopg.connect(
        host=endpoint.host, port=endpoint.port, user=endpoint.user, dbname=endpoint.dbname, autocommit=True
    )


@contextmanager
def busy(server: EmbeddedServer, query: str = QUERY) -> Iterator[int]:
    """The process id of a backend that runs a query again and again."""
    with session(server) as connection:
        connection.execute(TABLES)
        ended = threading.Event()

        def work() -> None:
            while not ended.is_set():
                connection.execute(query).fetchall()  # type: ignore[arg-type]

        thread = threading.Thread(target=work)
        thread.start()
        try:
            yield connection.info.backend_pid
        finally:
            ended.set()
            thread.join()


def share_with(record: Mapping[str, Any], kind: str, *functions: str) -> float:
    """The share of the stacks of a kind that any of these functions is in."""
    counts = [
        (count, {record["frames"][at] for at in frames})
        for _, of_kind, _, frames, count in record["stacks"]
        if of_kind == kind
    ]
    total = sum(count for count, _ in counts)
    assert total > 0, record
    return sum(count for count, names in counts if names & set(functions)) / total
