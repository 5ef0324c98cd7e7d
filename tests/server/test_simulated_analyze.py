"""ANALYZE, simulated from the counts of a sample, against the real one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from column_shapes import SHAPES, create_table
from counted_values import sample

from dbdyno.analysis.ndv.analyze_estimator import SampleCounts, analyze_n_distinct
from dbdyno.targets.embedded import EmbeddedServer
from dbdyno.targets.target import Connection

pytestmark = pytest.mark.server

ROWS = 60_000
TARGET = 20


@pytest.fixture(scope="module")
def session(cache: object) -> Iterator[Connection]:
    """A server with small tables, which ANALYZE reads as a whole, and one that it takes a sample of."""
    with EmbeddedServer(settings={"autovacuum": False}) as server, server.connect() as connected:
        connected.execute(create_table("shapes", ROWS).encode())
        connected.execute(create_table("small", 20_000).encode())
        connected.execute(
            "CREATE TABLE odd AS SELECT CASE WHEN n % 3 = 0 THEN n / 6 END AS halves, NULL::int AS none,"
            " n % 2 = 0 AS flag,"
            " CASE WHEN n % 2 = 0 THEN repeat(md5(n::text), 40) END AS wide,"
            " CASE WHEN n % 2 = 0 THEN repeat(md5(n::text), 40) ELSE (n % 10)::text END AS partly_wide,"
            " CASE WHEN n < 7 THEN n ELSE 3 END AS once, n / 2 AS pairs FROM generate_series(1, 6000) AS n"
        )
        connected.execute("ANALYZE small, odd")
        connected.execute(f"SET default_statistics_target = {TARGET}".encode())
        yield connected


def said(session: Connection, table: str, column: str) -> float:
    """`n_distinct` of pg_stats."""
    row = session.execute(
        "SELECT n_distinct::float8 FROM pg_stats WHERE tablename = %s AND attname = %s", [table, column]
    ).fetchone()
    assert row is not None
    return float(row[0])


def whole(session: Connection, table: str, column: str) -> SampleCounts:
    """All rows, as the sample that ANALYZE draws of a small table."""
    wide = f"octet_length({column}::text) > 1024"
    row = session.execute(
        f"WITH v AS (SELECT {column} AS v, count(*) AS c FROM {table} WHERE NOT coalesce({wide}, false) GROUP BY 1)"
        f" SELECT (SELECT count(*) FROM {table}), (SELECT count(*) FROM {table} WHERE {column} IS NULL),"
        "  count(v), count(v) FILTER (WHERE c = 1),"
        f"  (SELECT count(*) FROM {table} WHERE {wide}) FROM v".encode()
    ).fetchone()
    assert row is not None
    return SampleCounts(*row)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_small_table_is_the_same_to_the_last_digit(session: Connection, shape: str) -> None:
    """All 20,000 rows are in the sample, so there is no chance in it."""
    assert analyze_n_distinct(whole(session, "small", shape), 20_000) == said(session, "small", shape)


@pytest.mark.parametrize("column", ["halves", "none", "flag", "wide", "partly_wide", "once", "pairs"])
def test_odd_columns_are_the_same_to_the_last_digit(session: Connection, column: str) -> None:
    """Nulls, only nulls, values that are too wide, values that came once."""
    assert analyze_n_distinct(whole(session, "odd", column), 6000) == said(session, "odd", column)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_sample_is_the_same_but_for_chance(session: Connection, shape: str) -> None:
    """6,000 of 60,000 rows, drawn by us 20 times and by ANALYZE 5 times: its mean lies among ours.

    The tolerance is four standard errors of the difference of both means, by our own draws' spread.
    """
    values = np.array(
        [-1 if value is None else value for (value,) in session.execute(f"SELECT {shape} FROM shapes".encode())],
        dtype=np.int64,
    )
    pages = session.execute("SELECT pg_relation_size('shapes') / 8192").fetchone()
    assert pages is not None
    ours = [
        abs(analyze_n_distinct(SampleCounts.of(sample(values, int(pages[0]), TARGET, seed)), ROWS))
        for seed in range(20)
    ]
    theirs = []
    for _ in range(5):
        session.execute(f"ANALYZE shapes ({shape})".encode())
        theirs.append(abs(said(session, "shapes", shape)))

    tolerance = 4 * float(np.std(ours, ddof=1)) * (1 / 20 + 1 / 5) ** 0.5
    assert np.mean(theirs) == pytest.approx(np.mean(ours), abs=tolerance + 1e-6 * np.mean(ours))
