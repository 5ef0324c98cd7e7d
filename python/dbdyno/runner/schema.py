"""Builds what the arms work on: the tables of each schema, their rows, and what comes behind the load.

The data depends on `data_seed`, not on the run's seed: runs of different seeds work on the same rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from dbdyno import engine
from dbdyno.design.arm import Arm
from dbdyno.design.experiment import Experiment
from dbdyno.errors import DynoError
from dbdyno.targets.target import Target
from dbdyno.workloads import Workload

# Loading is worth a word when it takes longer than this, and another each time.
PROGRESS_PERIOD_S = 2.0

Say = Callable[[str], None]


def _to_nobody(_: str) -> None:
    """Restoring is a step of a trial, which has a line of its own."""


def build_schema(experiment: Experiment, target: Target, say: Say = _to_nobody) -> None:
    """Create the experiment's tables, in order, and load them; `say` hears how far it is."""
    if not any(schema.tables_sql.strip() for schema in experiment.schemas):
        return
    for schema in experiment.schemas:
        build_workload(schema, target, experiment.scale, experiment.data_seed, say)
    target.vacuum(())


def build_workload(schema: Workload, target: Target, scale: int, data_seed: int, say: Say) -> None:
    """Create, load and constrain the tables of one schema; `dbdyno.scale` tells the SQL how large."""
    _execute(target, schema, f"SET dbdyno.scale = {scale}")
    _execute(target, schema, schema.tables_sql)
    if schema.generator is not None:
        _load(schema.generator, target, scale, data_seed, say)
        if schema.constraints_sql:
            say(f"indexing {schema.name}")
    _execute(target, schema, schema.constraints_sql)


def schema_bytes(target: Target) -> int:
    """What the tables and indexes of our schema take."""
    with target.connect() as connection:
        row = connection.execute(
            "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class"
            " WHERE relnamespace = to_regnamespace(current_schema()) AND relkind IN ('r', 'm')"
        ).fetchone()
    return int(row[0]) if row else 0


def bytes_per_unit(target: Target, arm: Arm) -> int | None:
    """What a unit of an arm's work moves: one request, or all of its relation; None where it does not say."""
    if arm.file is None:
        return None
    if arm.file.order == "random":
        return arm.file.request_bytes
    with target.connect() as connection:
        row = connection.execute("SELECT pg_relation_size(to_regclass(%s))", [arm.file.relation]).fetchone()
    if row is None or not row[0]:
        raise DynoError("no_relation", f"file.relation = {arm.file.relation!r}: there is no such table, or it is empty")
    return int(row[0])


def _load(generator: str, target: Target, scale: int, data_seed: int, say: Say) -> None:
    """COPY each table's rows as they are made: never more than a chunk of them is in memory."""
    tables = engine.generated_tables(generator, scale, data_seed)
    progress = _Progress(sum(table.rows for table in tables), say)
    for table in tables:
        rows = engine.generated_rows(generator, table, scale, data_seed)
        target.copy(table.name, table.columns, progress.counted(table, rows))


class _Progress:
    """Says now and then how many of all rows are loaded."""

    def __init__(self, rows: int, say: Say) -> None:
        self._rows = rows
        self._say = say
        self._loaded = 0
        self._said_at_s = time.monotonic()

    def counted(self, table: engine.GeneratedTable, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """The chunks of one table, counted as they go by."""
        for number, chunk in enumerate(chunks, 1):
            yield chunk
            loaded = self._loaded + table.rows * number // table.chunks
            if time.monotonic() - self._said_at_s > PROGRESS_PERIOD_S:
                self._say(f"loading {table.name}: {loaded:,} of {self._rows:,} rows")
                self._said_at_s = time.monotonic()
        self._loaded += table.rows


def _execute(target: Target, schema: Workload, sql: str) -> None:
    if not sql.strip():
        return
    try:
        target.execute(sql)
    except DynoError as error:
        if error.code != "sql_failed":
            raise
        raise DynoError("schema_failed", f"schema {schema.name!r}: the server says: {error.message}") from None
