"""The statements of a scan by COPY: they read what they should, in the order in which it lies, each row once."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from dbdyno.errors import DynoError
from dbdyno.ndv.postgres.catalogue import read_catalogue
from dbdyno.ndv.postgres.condition import check_condition
from dbdyno.ndv.postgres.copy_plan import CopyOptions, plan_copy
from dbdyno.ndv.postgres.scan_source import plan_source
from dbdyno.ndv.postgres.session import connect
from dbdyno.targets.embedded import EmbeddedServer
from dbdyno.targets.target import Connection

pytestmark = pytest.mark.server

ROWS = 100_000


@pytest.fixture(scope="module")
def server(cache: object) -> Iterator[EmbeddedServer]:
    """With a table of 4,000 pages, most of them filler."""
    with EmbeddedServer(settings={"autovacuum": False}) as started:
        started.execute(
            "CREATE SCHEMA c; CREATE TABLE c.t (n int, word text, doc jsonb, place point, filler text);"
            "ALTER TABLE c.t ALTER filler SET STORAGE EXTERNAL;"
            "INSERT INTO c.t SELECT n, n::text, '1'::jsonb, NULL, repeat('x', 240)"
            f" FROM generate_series(1, {ROWS}) AS n;"
            "CREATE INDEX ON c.t (n); CREATE VIEW c.v AS SELECT n FROM c.t"
        )
        started.vacuum(["c.t"])
        yield started


@pytest.fixture(scope="module")
def session(server: EmbeddedServer) -> Iterator[Connection]:
    """A session as `dbdyno ndv` has it."""
    with connect(server.endpoint) as connected:
        yield connected


def planned(server: EmbeddedServer, session: Connection, table: str = "c.t", **keys: Any) -> dict[str, Any]:
    """The spec; `columns`, `groups` and `where` choose what is read, the others how."""
    chosen = {key: keys.pop(key) for key in ("columns", "groups", "where") if key in keys}
    source = plan_source(read_catalogue(session, "--table", table), **chosen)
    return plan_copy(source, server.endpoint, CopyOptions(**keys))


def numbers(server: EmbeddedServer, spec: dict[str, Any]) -> list[list[int]]:
    """The first column of each part's rows, an int, in their order; as the core runs the statements."""
    found = []
    for part in spec["parts"]:
        with server.connect() as own:
            for statement in part["begin_sql"]:
                own.execute(statement.encode())
            with own.cursor() as cursor, cursor.copy(part["copy_sql"].encode()) as copy:
                data = b"".join(bytes(chunk) for chunk in copy)
            found.append(_first_column(data))
    return found


def _first_column(data: bytes) -> list[int]:
    place, values = 19, []
    while (fields := struct.unpack_from("!h", data, place)[0]) >= 0:
        place += 2
        for field in range(fields):
            (length,) = struct.unpack_from("!i", data, place)
            if field == 0:
                values.append(struct.unpack_from("!i", data, place + 4)[0])
            place += 4 + max(length, 0)
    return values


def test_the_spec_of_a_table(server: EmbeddedServer, session: Connection) -> None:
    """Columns with their decoders, what has no equality left out, the figures that the core needs."""
    spec = planned(server, session, groups=[["word", "n"]])

    assert [(column["name"], column["decoder"]) for column in spec["columns"]][:2] == [
        ("n", "integer"),
        ("word", "bytes"),
    ]
    assert [column["name"] for column in spec["columns"]] == ["n", "word", "doc", "filler"]
    assert spec["groups"] == [{"name": "word, n", "columns": [1, 0]}]
    assert (spec["rows_expected"], spec["precision"], spec["seed"]) == (ROWS, 14, 0)
    assert spec["sample_targets"] == [100, 1000, 10000]
    assert spec["parts"][0]["pages"] == read_catalogue(session, "--table", "c.t").relation.pages
    assert "password" not in spec["target"]


def test_rows_come_as_they_lie(server: EmbeddedServer, session: Connection) -> None:
    """Of one column that an index holds, too, and though others scan the table at the same time."""
    (found,) = numbers(server, planned(server, session, columns=["n"]))

    assert found == list(range(1, ROWS + 1))


@pytest.mark.parametrize("connections", [2, 3])
def test_several_connections_have_each_row_once(server: EmbeddedServer, session: Connection, connections: int) -> None:
    """Each its own pages, which follow each other."""
    spec = planned(server, session, columns=["n"], connections=connections)

    found = numbers(server, spec)

    assert len(found) == connections
    assert [number for part in found for number in part] == list(range(1, ROWS + 1))
    firsts = [part["first_page"] for part in spec["parts"]]
    assert firsts == [sum(part["pages"] for part in spec["parts"][:place]) for place in range(connections)]


def test_no_more_connections_than_pays(server: EmbeddedServer, session: Connection) -> None:
    """1,024 pages each; and a view has one."""
    pages = read_catalogue(session, "--table", "c.t").relation.pages

    assert len(planned(server, session, connections=64)["parts"]) == pages // 1024
    assert len(planned(server, session, table="c.v", connections=4)["parts"]) == 1


def test_several_connections_share_a_snapshot(server: EmbeddedServer, session: Connection) -> None:
    """What begins a part leaves room for SET TRANSACTION SNAPSHOT."""
    spec = planned(server, session, connections=2)
    with server.connect() as first, server.connect() as second:
        for statement in spec["parts"][0]["begin_sql"]:
            first.execute(statement.encode())
        (snapshot,) = first.execute("SELECT pg_export_snapshot()").fetchone() or ("",)
        for statement in spec["parts"][1]["begin_sql"]:
            second.execute(statement.encode())
        second.execute(f"SET TRANSACTION SNAPSHOT '{snapshot}'".encode())
        assert second.execute("SELECT count(*) FROM c.t").fetchone() == (ROWS,)


def test_a_condition_stays_one(server: EmbeddedServer, session: Connection) -> None:
    """Beside ours, with whatever OR and comment it has; no sample is drawn then."""
    spec = planned(server, session, columns=["n"], where="n < 10 OR n > 99995 -- few", connections=2)

    assert sorted(number for part in numbers(server, spec) for number in part) == [
        *range(1, 10),
        *range(99_996, 100_001),
    ]
    assert spec["sample_targets"] == []


@pytest.mark.parametrize(
    "where",
    ["n <", "n = 1) OR (n = 2", "true THEN true ELSE n = 1 END OR CASE WHEN n = 2", "n = 1; SELECT 1", "", "/* n = 1"],
)
def test_what_is_no_condition(session: Connection, where: str) -> None:
    """Refused before it is part of a statement of ours."""
    with pytest.raises(DynoError, match="--where") as failure:
        check_condition(session, "c.t", where)

    assert (failure.value.code, failure.value.exit_code) == ("bad_where", 2)


@pytest.mark.parametrize(
    "where", ["n = 1", "n = 1 OR n = 2 -- or", "r.word LIKE '%5' AND NOT (n > 1)", "exists (select 1)"]
)
def test_what_is_a_condition(session: Connection, where: str) -> None:
    """Whatever could stand behind WHERE."""
    check_condition(session, "c.t", where)


@pytest.mark.parametrize(
    ("keys", "code"),
    [
        ({"columns": ["nothing"]}, "unknown_column"),
        ({"columns": ["place"]}, "no_equality"),
        ({"groups": [["n", "place"]]}, "no_equality"),
        ({"groups": [["n"]]}, "bad_group"),
        ({"groups": [["n", "N"]]}, "bad_group"),
    ],
)
def test_what_cannot_be_counted(server: EmbeddedServer, session: Connection, keys: dict[str, Any], code: str) -> None:
    """What was asked for by name is not silently left out."""
    with pytest.raises(DynoError) as failure:
        planned(server, session, **keys)

    assert failure.value.code == code


def test_a_scan_cannot_write(server: EmbeddedServer, session: Connection) -> None:
    """Whatever a view or a condition calls."""
    (part,) = planned(server, session)["parts"]
    with server.connect() as own:
        for statement in part["begin_sql"]:
            own.execute(statement.encode())
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            own.execute("CREATE TABLE c.more (a int)")


def test_rows_that_a_policy_would_hide_are_an_error(server: EmbeddedServer, session: Connection) -> None:
    """Should a policy come between the catalogue and the scan."""
    server.execute(
        "CREATE TABLE c.late (a int); CREATE ROLE late_reader LOGIN; GRANT USAGE ON SCHEMA c TO late_reader;"
        "GRANT SELECT ON c.late TO late_reader"
    )
    (part,) = planned(server, session, table="c.late")["parts"]
    server.execute("ALTER TABLE c.late ENABLE ROW LEVEL SECURITY")

    with connect(dataclasses.replace(server.endpoint, user="late_reader")) as own:
        for statement in part["begin_sql"]:
            own.execute(statement.encode())
        with pytest.raises(psycopg.errors.InsufficientPrivilege), own.cursor() as cursor:
            cursor.execute("SELECT * FROM c.late")
