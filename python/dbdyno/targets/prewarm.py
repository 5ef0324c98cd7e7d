"""Every page of the tables under test in shared buffers, and the proof of it.

pg_prewarm reads all of a relation's blocks into shared buffers.
A sequential scan of a table larger than a quarter of them does not: it goes through a ring of 256 kB
(src/backend/storage/buffer/README).
The free space map and the visibility map count, too: an index-only scan reads one, an insert the other.

Proof: the statement that warms is explained with BUFFERS and repeated until it has read nothing more. Each time raises
the usage count of what is there, so buffers that others used often before do not push it out for ever.
"""

from __future__ import annotations

from psycopg import sql

from dbdyno.errors import DynoError
from dbdyno.targets.statements import failing_as_run_failure
from dbdyno.targets.target import Connection

# A buffer's usage count is at most 5 (BM_MAX_USAGE_COUNT): after so many rounds it is as high as anybody's.
_ROUNDS = 5

# Tables and materialized views of the schema, or of every schema that is not the system's, their TOAST tables, and the
# indexes of all these; each existing fork of each. Other sessions' temporary tables cannot be read.
_FORKS = """
    tables AS (
        SELECT c.oid, c.reltoastrelid
        FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind IN ('r', 'm') AND c.relpersistence <> 't'
          AND CASE WHEN {schema}::text IS NULL
              THEN n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
              ELSE n.nspname = {schema} END),
    heaps AS (SELECT oid FROM tables UNION SELECT reltoastrelid FROM tables WHERE reltoastrelid <> 0),
    relations AS (
        SELECT oid FROM heaps
        UNION SELECT i.indexrelid FROM pg_catalog.pg_index i JOIN heaps h ON i.indrelid = h.oid),
    forks AS MATERIALIZED (
        SELECT oid::regclass AS relation, fork, pg_catalog.pg_relation_size(oid::regclass, fork) AS bytes
        FROM relations, unnest(ARRAY['main', 'fsm', 'vm']) AS fork)"""

_EXTENSION_SCHEMA = (
    "SELECT n.nspname FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace"
    " WHERE e.extname = 'pg_prewarm'"
)


def prewarm_schema(session: Connection) -> str | None:
    """The schema in which pg_prewarm is installed; None where it is not."""
    row = session.execute(_EXTENSION_SCHEMA).fetchone()
    return None if row is None else str(row[0])


def warm_cache(session: Connection, schema: str | None) -> dict[str, int]:
    """Read the relations of `schema`, or of all schemas that are not the system's, into shared buffers.

    Returns:
        `prewarmed_bytes`, `shared_buffers_bytes`, and `missing_bytes`: what the last of the rounds still had to read.

    Raises:
        DynoError: `cache_too_small` when they do not fit.
    """
    wanted, available = _sizes(session, schema)
    if wanted > available:
        raise DynoError(
            "cache_too_small",
            f"reset: 'warm-cache': tables and indexes take {_megabytes(wanted)}, shared_buffers is "
            f"{_megabytes(available)}; raise shared_buffers in target.settings, or lower the scale",
        )
    missing = 0
    for _ in range(_ROUNDS):
        missing = _read_all(session, schema)
        if not missing:
            break
    return {"prewarmed_bytes": wanted, "shared_buffers_bytes": available, "missing_bytes": missing}


def read_catalogs(session: Connection) -> None:
    """Read the system's tables and indexes into shared buffers, and no other.

    Otherwise whoever plans first after a restart reads about 50 of their pages, one at a time, within the work that
    is measured: half as many requests as a scan of 120 MB needs in all.
    """
    function = sql.Identifier(prewarm_schema(session) or "public", "pg_prewarm")
    catalogs = "SELECT count({}(oid)) FROM pg_catalog.pg_class WHERE oid < 16384 AND relkind IN ('r', 'i', 't')"
    with failing_as_run_failure("pg_prewarm"):
        session.execute(sql.SQL(catalogs).format(function))


def _sizes(session: Connection, schema: str | None) -> tuple[int, int]:
    sizes = "SELECT coalesce(sum(bytes), 0)::int8, pg_size_bytes(current_setting('shared_buffers')) FROM forks"
    row = session.execute(_with_forks(sql.SQL(sizes), schema)).fetchone()
    assert row is not None
    return int(row[0]), int(row[1])


def _read_all(session: Connection, schema: str | None) -> int:
    """One round over all forks; the bytes that were not in shared buffers before."""
    function = sql.Identifier(prewarm_schema(session) or "public", "pg_prewarm")
    warm = sql.SQL("SELECT sum({}(relation, 'buffer', fork)) FROM forks WHERE bytes > 0").format(function)
    explain = sql.SQL("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ") + _with_forks(warm, schema)
    with failing_as_run_failure("pg_prewarm"):
        row = session.execute(explain).fetchone()
        block = session.execute("SELECT current_setting('block_size')::int8").fetchone()
    assert row is not None
    assert block is not None
    return int(row[0][0]["Plan"]["Shared Read Blocks"]) * int(block[0])


def _with_forks(query: sql.Composable, schema: str | None) -> sql.Composed:
    return sql.SQL("WITH") + sql.SQL(_FORKS).format(schema=sql.Literal(schema)) + sql.SQL(" ") + query


def _megabytes(size: int) -> str:
    return f"{-(-size // 2**20)} MB"
