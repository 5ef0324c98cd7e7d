"""The server's own counters, read on a control connection before and after the work.

What is in them: buffers, rows and read operations of relations that somebody made (an object id from 16384 on), so
that what sessions look up in the catalogs, ours among them, is left out where the server counts by relation.
pg_stat_io counts by kind of process: of 18 and later our own session's part is taken off, in 16 and 17 it is in.
WAL, commits, checkpoints and written buffers are the server's or the database's as a whole.

A view that this version lacks, or that this user may not read, leaves its counters out.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

import psycopg
from psycopg import sql

from dbdyno.targets.target import Connection

# Backends report their statistics at the latest when they end (pgstat_shutdown_hook), before they leave
# pg_stat_activity; a client's disconnect and the end of its backend are some milliseconds apart.
_CLIENTS_END_LIMIT_S = 1.0
# What the clients of a trial call themselves. Not as our other sessions do, of which some stay: they were waited for
# to no end, a second at each reading.
CLIENTS_NAME = "dbdyno client"

# Until 14 a process of its own gathers the statistics and hands out a copy at most 500 ms old
# (PGSTAT_STAT_INTERVAL); 1.5 s is three of these.
_COLLECTOR_LIMIT_S = 1.5

# Transactions of `read_counters` itself that the next reading finds in the commits: this one's reading, and the
# next one's wait for the clients' end.
_OWN_COMMITS = 2

_WAL = "SELECT wal_bytes, wal_records, wal_fpi AS wal_full_page_images FROM pg_stat_wal"

_DATABASE = (
    "SELECT xact_commit AS commits, xact_rollback AS rollbacks, temp_bytes, temp_files, deadlocks"
    " FROM pg_stat_database WHERE datname = current_database()"
)
# Since 18.
_WORKERS = (
    "SELECT parallel_workers_to_launch AS parallel_workers_planned, parallel_workers_launched"
    " FROM pg_stat_database WHERE datname = current_database()"
)

# FirstNormalObjectId of access/transam.h: what initdb makes lies below.
_MADE_BY_USERS = "FROM pg_class WHERE oid >= 16384"

_BUFFERS = (
    "SELECT coalesce(sum(pg_stat_get_blocks_hit(oid)), 0) AS buffer_hits,"
    " coalesce(sum(pg_stat_get_blocks_fetched(oid) - pg_stat_get_blocks_hit(oid)), 0) AS buffer_reads"
    f" {_MADE_BY_USERS} AND relkind IN ('r', 'm', 'i', 't', 'S')"
)

_ROWS = (
    "coalesce(sum(pg_stat_get_tuples_inserted(oid)), 0) AS rows_inserted,"
    " coalesce(sum(pg_stat_get_tuples_updated(oid)), 0) AS rows_updated,"
    " coalesce(sum(pg_stat_get_tuples_hot_updated(oid)), 0) AS rows_updated_hot,"
    " coalesce(sum(pg_stat_get_tuples_deleted(oid)), 0) AS rows_deleted,"
    " coalesce(sum(pg_stat_get_autovacuum_count(oid) + pg_stat_get_autoanalyze_count(oid)), 0) AS autovacuums"
)
_ROWS_NEW_PAGE = ", coalesce(sum(pg_stat_get_tuples_newpage_updated(oid)), 0) AS rows_updated_new_page"

# Sessions and their parallel workers; a read that an I/O worker carries out is charged to the session that asked for
# it (seen with io_method = worker on 18.6), so I/O workers are named for whatever they may ask for themselves.
_READERS = "object = 'relation' AND backend_type IN ('client backend', 'background worker', 'io worker')"

_CHECKPOINTS_BEFORE_17 = (
    "SELECT checkpoints_timed + checkpoints_req AS checkpoints,"
    " buffers_checkpoint + buffers_clean + buffers_backend AS buffers_written FROM pg_stat_bgwriter"
)


def read_counters(connection: Connection) -> dict[str, int]:
    """All counters that this server has, complete for all of our clients that have disconnected."""
    _await_end_of_clients(connection)
    found: dict[str, int] = {}
    with connection.transaction():
        for query in _queries(connection.info.server_version):
            found |= _asked(connection, query)
        found |= _buffers_dirtied(connection)
    return found


def differences(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """What happened between two readings of one connection that did nothing else in between.

    A counter that went back was reset, by a crash or by somebody: it is left out.
    """
    grown = {name: after[name] - before[name] for name in after if name in before}
    if "commits" in grown:
        grown["commits"] -= _OWN_COMMITS
    return {name: difference for name, difference in grown.items() if difference >= 0}


def _queries(version: int) -> Iterator[str]:
    """The SELECTs of this major version, one row each, named by counter."""
    yield _WAL  # 18 moved only the times of writes and syncs away from there
    yield _DATABASE
    yield _BUFFERS
    yield f"SELECT {_ROWS}{_ROWS_NEW_PAGE if version >= 160000 else ''} {_MADE_BY_USERS} AND relkind IN ('r', 'm', 'p')"
    if version >= 180000:
        yield _WORKERS
    if version >= 160000:
        yield _read_operations(version)
    if version < 170000:
        yield _CHECKPOINTS_BEFORE_17
    else:
        # num_timed and num_requested count those that found nothing to do, too; num_done came with 18.
        done = "num_done" if version >= 180000 else "num_timed + num_requested"
        yield f"SELECT {done} AS checkpoints FROM pg_stat_checkpointer"
        yield (
            "SELECT coalesce(sum(writes_of_buffers), 0) AS buffers_written FROM (SELECT"
            f" {'write_bytes' if version >= 180000 else 'writes * op_bytes'}"
            " / current_setting('block_size')::numeric AS writes_of_buffers"
            " FROM pg_stat_io WHERE object = 'relation') AS io"
        )


def _read_operations(version: int) -> str:
    """Until 17 an operation was one page; since then it is one request of up to io_combine_limit."""
    if version < 180000:
        return (
            "SELECT coalesce(sum(reads), 0) AS read_operations, coalesce(sum(reads * op_bytes), 0) AS read_bytes"
            f" FROM pg_stat_io WHERE {_READERS}"
        )
    return (
        "SELECT coalesce(sum(reads), 0) AS read_operations, coalesce(sum(read_bytes), 0) AS read_bytes FROM ("
        f"SELECT reads, read_bytes FROM pg_stat_io WHERE {_READERS} UNION ALL"
        " SELECT -reads, -read_bytes FROM pg_stat_get_backend_io(pg_backend_pid()) WHERE object = 'relation') AS io"
    )


def _buffers_dirtied(connection: Connection) -> dict[str, int]:
    """From the extension that counts them, where it was created in this database and loaded at the server's start."""
    row = connection.execute(
        "SELECT nspname FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace"
        " WHERE extname = 'pg_stat_statements'"
    ).fetchone()
    if row is None:
        return {}
    query = sql.SQL(
        "SELECT coalesce(sum(shared_blks_dirtied), 0) AS buffers_dirtied FROM {}"
        " WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())"
    ).format(sql.Identifier(row[0], "pg_stat_statements"))
    return _asked(connection, query.as_string())


def _asked(connection: Connection, query: str) -> dict[str, int]:
    try:
        with connection.transaction():
            cursor = connection.execute(query.encode())
            row = cursor.fetchone()
    except (psycopg.errors.InsufficientPrivilege, psycopg.errors.ObjectNotInPrerequisiteState):
        return {}
    names = [column.name for column in cursor.description or ()]
    return {name: int(value) for name, value in zip(names, row or (), strict=False) if value is not None}


def _await_end_of_clients(connection: Connection) -> None:
    """In one transaction, so that it counts as one; behind it our own statistics are reported as well."""
    limit = time.monotonic() + _CLIENTS_END_LIMIT_S
    ours = (
        "SELECT count(*) FROM pg_stat_activity"
        f" WHERE application_name = '{CLIENTS_NAME}' AND datname = current_database()"
    )
    with connection.transaction():
        while connection.execute(ours).fetchone() != (0,) and time.monotonic() < limit:
            time.sleep(0.002)
            connection.execute("SELECT pg_stat_clear_snapshot()")
        if connection.info.server_version >= 150000:
            connection.execute("SELECT pg_stat_force_next_flush()")
        else:
            _await_collector(connection)


def _await_collector(connection: Connection) -> None:
    """Until the statistics that are handed out were gathered after this moment, by the server's clock."""
    limit = time.monotonic() + _COLLECTOR_LIMIT_S
    now = connection.execute("SELECT clock_timestamp()").fetchone()
    gathered = "SELECT pg_stat_get_snapshot_timestamp() >= %s"
    while connection.execute(gathered, now).fetchone() != (True,) and time.monotonic() < limit:
        time.sleep(0.02)
        connection.execute("SELECT pg_stat_clear_snapshot()")
