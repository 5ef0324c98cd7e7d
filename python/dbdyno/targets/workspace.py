"""The one schema on another's server that we may write to, because we made it and can prove it.

```
dbdyno_1a2b3c4d
  dbdyno_mark      one row: uuid, tool_version, created_at
  dbdyno_objects   what we made in the schema: (classid, objid), as in pg_depend
  ...              the objects themselves
```

Before anything is dropped the mark is read over the same connection, and everything in the schema must be known.
Nothing is dropped with CASCADE, and all is dropped in one transaction: a failure leaves everything as it was.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import sql

from dbdyno.errors import EXIT_RUN_FAILED, DynoError
from dbdyno.targets.statements import copy_rows, failing_as_run_failure, first_line
from dbdyno.targets.target import Connection

_MARK = "dbdyno_mark"
_OBJECTS = "dbdyno_objects"

_LOCK_CLASS = 0x64796E6F  # "dyno"

# Everything in a schema depends on it in pg_depend, but for what belongs to something else that is in it: indexes,
# row types, partitions, members of extensions. (A partitioned table depends on itself: on the columns of its key.)
_CONTENTS = """
    SELECT d.classid, d.objid, i.type, i.identity
    FROM pg_depend d, pg_identify_object(d.classid, d.objid, d.objsubid) i
    WHERE d.refclassid = 'pg_namespace'::regclass AND d.refobjid = %s::regnamespace AND d.deptype = 'n'
      AND NOT EXISTS (SELECT FROM pg_depend e
                      WHERE e.classid = d.classid AND e.objid = d.objid AND e.deptype IN ('e', 'a', 'i')
                        AND e.refobjid <> e.objid)
    ORDER BY i.type, i.identity"""


class Workspace:
    """A schema that we created and marked, on one connection."""

    def __init__(self, connection: Connection, identity: uuid.UUID) -> None:
        self._connection = connection
        self._identity = identity
        self.schema = f"dbdyno_{identity.hex[:8]}"

    @classmethod
    def create(cls, connection: Connection, tool_version: str) -> Workspace:
        """Create and mark a schema under a fresh name; it is an error if that name exists."""
        workspace = cls(connection, uuid.uuid4())
        with failing_as_run_failure(f"CREATE SCHEMA {workspace.schema}"), connection.transaction():
            connection.execute(workspace._sql("CREATE SCHEMA {schema}"))
            connection.execute(
                workspace._sql("CREATE TABLE {mark} (id uuid, tool_version text, created_at timestamptz DEFAULT now())")
            )
            connection.execute(workspace._sql("CREATE TABLE {objects} (classid oid, objid oid)"))
            connection.execute(
                workspace._sql("INSERT INTO {mark} VALUES (%s, %s)"), [workspace._identity, tool_version]
            )
            connection.execute("SELECT pg_advisory_lock(%s, %s)", workspace._lock_key)
        return workspace

    @property
    def _lock_key(self) -> tuple[int, int]:
        """The advisory lock that the session of a living owner holds: our class, and the schema's name."""
        return (_LOCK_CLASS, int.from_bytes(self._identity.bytes[:4], signed=True))

    def verify(self) -> None:
        """Raise unless the schema carries our mark, read over this connection."""
        try:
            marks = self._connection.execute(self._sql("SELECT id FROM {mark}")).fetchall()
        except psycopg.Error as error:
            raise self._not_ours(first_line(error)) from error
        if marks != [(self._identity,)]:
            raise self._not_ours("its mark is another")

    def execute(self, statements: str) -> None:
        """Run `statements` with nothing but the schema in the search path, and note what they made in it."""
        self.verify()
        self._connection.execute(self._sql("SET search_path = {schema}"))
        before = {entry[:2] for entry in self._contents()}
        with failing_as_run_failure(statements):
            try:
                with self._connection.transaction():
                    self._connection.execute(statements.encode())
                    self._note_all_but(before)
            except psycopg.errors.ActiveSqlTransaction:  # VACUUM and its like: they make nothing, or an index
                self._connection.execute(statements.encode())
                self._note_all_but(before)

    def _note_all_but(self, before: set[tuple[Any, ...]]) -> None:
        """Note what is new; in one transaction with its making, or a kill between the two would leave it for ever."""
        made = [entry[:2] for entry in self._contents() if entry[:2] not in before]
        with self._connection.cursor() as cursor:
            cursor.executemany(self._sql("INSERT INTO {objects} VALUES (%s, %s)"), made)

    def copy(self, table: str, columns: Sequence[str], chunks: Iterable[bytes]) -> None:
        """COPY rows into a table of the schema, and of no other."""
        self.verify()
        copy_rows(self._connection, f"{self.schema}.{table}", columns, chunks)

    def clear(self) -> None:
        """Drop what we made and keep the schema: all of it, or nothing with the reason why not."""
        ours, _ = self._checked_contents()
        with self._dropping():
            self._drop_all(ours)
            self._connection.execute(self._sql("DELETE FROM {objects}"))

    def drop(self) -> None:
        """Drop what we made and then the schema: all of it, or nothing with the reason why not."""
        ours, bookkeeping = self._checked_contents()
        with self._dropping():
            self._drop_all([*ours, *bookkeeping])
            self._connection.execute(self._sql("DROP SCHEMA {schema} RESTRICT"))

    def relation_bytes(self) -> int:
        """What the tables in the schema take, with their indexes and TOAST."""
        row = self._connection.execute(
            "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::int8 FROM pg_class"
            " WHERE relnamespace = %s::regnamespace AND relkind IN ('r', 'm')",
            [self.schema],
        ).fetchone()
        assert row is not None
        return int(row[0])

    def _checked_contents(self) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
        """What we made, and the mark and the list of it; an error when there is anything else."""
        self.verify()
        known = set(self._connection.execute(self._sql("SELECT classid, objid FROM {objects}")).fetchall())
        own_names = {f"{self.schema}.{_MARK}", f"{self.schema}.{_OBJECTS}"}
        contents = self._contents()
        bookkeeping = [entry for entry in contents if entry[3] in own_names]
        ours = [entry for entry in contents if entry[:2] in known and entry not in bookkeeping]
        foreign = [entry[3] for entry in contents if entry not in ours and entry not in bookkeeping]
        if foreign:
            raise self._not_dropped(f"it holds what dbdyno did not make: {', '.join(foreign[:5])}")
        return ours, bookkeeping

    @contextmanager
    def _dropping(self) -> Iterator[None]:
        try:
            with self._connection.transaction():
                yield
        except psycopg.Error as error:
            raise self._not_dropped(first_line(error)) from error

    def drop_if_abandoned(self) -> None:
        """Drop the schema unless its owner's session lives; leave it when it cannot be dropped whole."""
        if self._connection.execute("SELECT pg_try_advisory_lock(%s, %s)", self._lock_key).fetchone() == (False,):
            return
        try:
            self.drop()
        except DynoError:
            return
        finally:
            self._connection.execute("SELECT pg_advisory_unlock(%s, %s)", self._lock_key)

    def _drop_all(self, contents: list[tuple[Any, ...]]) -> None:
        remaining = [(kind, identity) for _, _, kind, identity in contents]
        while remaining:
            dropped = self._drop_some(remaining)
            remaining = [entry for entry in remaining if entry not in dropped]

    def _drop_some(self, remaining: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """Drop the first batch that nothing depends on any more; when there is none, that is the error."""
        failure: psycopg.Error | None = None
        for batch in _batches(remaining):
            identities = ", ".join(identity for _, identity in batch)
            try:
                with self._connection.transaction():
                    self._connection.execute(f"DROP {batch[0][0].upper()} IF EXISTS {identities} RESTRICT".encode())
            except psycopg.errors.DependentObjectsStillExist as error:
                failure = error
            else:
                return batch
        assert failure is not None
        raise failure

    def _contents(self) -> list[tuple[Any, ...]]:
        return self._connection.execute(_CONTENTS, [self.schema]).fetchall()

    def _sql(self, template: str) -> sql.Composed:
        return sql.SQL(template).format(
            schema=sql.Identifier(self.schema),
            mark=sql.Identifier(self.schema, _MARK),
            objects=sql.Identifier(self.schema, _OBJECTS),
        )

    def _not_ours(self, reason: str) -> DynoError:
        return DynoError(
            "not_our_schema",
            f"schema {self.schema}: not marked as ours ({reason}); nothing was changed, look at it by hand",
            exit_code=EXIT_RUN_FAILED,
        )

    def _not_dropped(self, reason: str) -> DynoError:
        return DynoError(
            "schema_not_dropped",
            f"schema {self.schema}: {reason}; nothing was dropped, look at it by hand",
            exit_code=EXIT_RUN_FAILED,
        )


def _batches(remaining: list[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    """All objects of a kind together, as tables that refer to one another must go; then each object alone."""
    for kind in dict.fromkeys(kind for kind, _ in remaining):
        yield [entry for entry in remaining if entry[0] == kind]
    for entry in remaining:
        yield [entry]


def remove_abandoned(connection: Connection) -> None:
    """Drop the workspaces of runs that were killed: marked, ours to drop, and locked by no living session.

    One that cannot be dropped whole is left as it is.
    """
    rows = connection.execute(
        "SELECT nspname FROM pg_namespace WHERE nspname ~ '^dbdyno_[0-9a-f]{8}$' AND nspowner = current_user::regrole"
    ).fetchall()
    for (schema,) in rows:
        try:
            marks = connection.execute(sql.SQL("SELECT id FROM {}").format(sql.Identifier(schema, _MARK))).fetchall()
        except psycopg.Error:
            continue
        for (identity,) in marks:
            workspace = Workspace(connection, identity)
            if workspace.schema == schema:
                workspace.drop_if_abandoned()
