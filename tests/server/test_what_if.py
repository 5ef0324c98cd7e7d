"""Plans with other figures, and nothing left of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest

from dbdyno.analysis.ndv.plan_changes import what_if_findings
from dbdyno.ndv.postgres.catalogue import Catalogue, read_catalogue
from dbdyno.ndv.postgres.scan_source import plan_source
from dbdyno.ndv.postgres.session import connect
from dbdyno.ndv.postgres.sql_scan import count_by_server
from dbdyno.ndv.postgres.statements import top_statements
from dbdyno.ndv.postgres.what_if import Asked, what_if
from dbdyno.targets.embedded import EmbeddedServer
from dbdyno.targets.target import Connection

pytestmark = pytest.mark.server

GROUPED = "SELECT c, count(*) FROM t GROUP BY c"
HOSTILE = "we\"ird; $1 %s 'x'"


@pytest.fixture(scope="module")
def server(cache: object) -> Iterator[EmbeddedServer]:
    """With a table of a column that may seem to have few values or many."""
    settings = {"autovacuum": False, "shared_preload_libraries": "pg_stat_statements", "work_mem": "1MB"}
    with EmbeddedServer(settings=settings) as started:
        started.execute(
            "CREATE TABLE t AS SELECT n % 100 AS c, n AS other FROM generate_series(1, 50000) AS n; ANALYZE t;"
            'CREATE SCHEMA "s s"; CREATE TABLE "s s"."we""ird; $1 %s \'x\'" ("we""ird; $1 %s \'x\'" int);'
            'INSERT INTO "s s"."we""ird; $1 %s \'x\'" SELECT n % 10 FROM generate_series(1, 10000) AS n; ANALYZE;'
            "CREATE ROLE reader LOGIN; GRANT SELECT ON t TO reader; CREATE EXTENSION pg_stat_statements;"
            "GRANT pg_read_all_stats TO reader"
        )
        yield started


@pytest.fixture
def session(server: EmbeddedServer) -> Iterator[Connection]:
    """A session as `dbdyno ndv` has it."""
    with connect(server.endpoint) as connected:
        yield connected


@pytest.fixture
def table(session: Connection) -> Catalogue:
    """The table's catalogue."""
    return read_catalogue(session, "--table", "t")


def figures(server: EmbeddedServer) -> list[tuple[object, ...]]:
    """All of pg_statistic, as text, with where its rows lie."""
    with server.connect() as own:
        return own.execute("SELECT ctid::text, s::text FROM pg_statistic AS s ORDER BY 1, 2").fetchall()


def test_another_plan(server: EmbeddedServer, session: Connection, table: Catalogue) -> None:
    """Fewer groups fit into memory, more do not: rows, costs and nodes change; pg_statistic does not, to its ctids."""
    before = figures(server)

    found = what_if_findings(what_if(session, table, {"c": -0.9}, [Asked(GROUPED), Asked("SELECT * FROM t")]))

    assert found.refused is None
    grouped, read = found.statements
    assert grouped.outcome in ("other_plan", "other_estimates")
    assert (grouped.nodes[0].rows_before, grouped.nodes[-1].after) == (100.0, "Seq Scan on t")
    assert 45_000.0 in {node.rows_after for node in grouped.nodes}
    assert (grouped.cost_before or 0) < (grouped.cost_after or 0)
    assert read.outcome == "unchanged"
    assert figures(server) == before


def test_nothing_is_locked_afterwards(session: Connection, table: Catalogue) -> None:
    """The session is as it was, and so is the table."""
    what_if(session, table, {"c": -0.9}, [Asked(GROUPED)])

    locks = session.execute("SELECT count(*) FROM pg_locks WHERE relation = 't'::regclass").fetchone()
    assert locks == (0,)
    assert session.info.transaction_status.name == "IDLE"
    assert session.execute("SHOW transaction_read_only").fetchone() == ("on",)


def test_parameters_are_planned_for_any_value(session: Connection, table: Catalogue) -> None:
    """As pg_stat_statements has them: 500 rows of a value where there are 100, 5 where there are 10,000."""
    document = what_if(session, table, {"c": 10_000.0}, [Asked("SELECT * FROM t WHERE c = $1", 7, 1.5)])

    (change,) = what_if_findings(document).statements

    assert (change.nodes[0].rows_before, change.nodes[0].rows_after) == (500.0, 5.0)
    assert (change.calls, change.total_ms) == (7, 1.5)


@pytest.mark.parametrize(
    ("statement", "note"),
    [
        ("SELECT nothing FROM t", 'column "nothing" does not exist'),
        ("SELECT 1; DROP TABLE t", "cannot insert multiple commands into a prepared statement"),
        ("SELECT $1::int; DROP TABLE t", "cannot insert multiple commands into a prepared statement"),
        ("ANALYZE t", "no statement that has a plan; name a SELECT"),
        ("(ANALYZE) SELECT 1", "no statement that has a plan; name a SELECT"),
        ("", "no statement that has a plan; name a SELECT"),
    ],
)
def test_what_has_no_plan_says_why(session: Connection, table: Catalogue, statement: str, note: str) -> None:
    """And does not keep the next one from being planned."""
    bad, good = what_if(session, table, {"c": -0.9}, [Asked(statement), Asked(GROUPED)])["statements"]

    assert bad["note"] == note
    assert good["note"] is None
    assert session.execute("SELECT to_regclass('t') IS NOT NULL").fetchone() == (True,)


def test_nothing_that_a_statement_names_can_write(
    server: EmbeddedServer, session: Connection, table: Catalogue
) -> None:
    """A function that says it is immutable is called while planning; it may not write there."""
    server.execute(
        "CREATE TABLE traces (n int);"
        "CREATE FUNCTION writes() RETURNS void LANGUAGE plpgsql AS $$ BEGIN INSERT INTO traces VALUES (1); END $$;"
        "CREATE FUNCTION sly() RETURNS int LANGUAGE plpgsql IMMUTABLE AS"
        " $$ BEGIN PERFORM writes(); RETURN 1; END $$"
    )

    (planned,) = what_if(session, table, {"c": -0.9}, [Asked("SELECT * FROM t WHERE c = sly()")])["statements"]

    assert planned["note"] == "cannot execute INSERT in a read-only transaction"
    assert session.execute("SELECT count(*) FROM traces").fetchone() == (0,)


def test_hostile_names(server: EmbeddedServer, session: Connection) -> None:
    """As values they need no quotes."""
    catalogue = read_catalogue(session, "--table", HOSTILE)
    statement = f"SELECT {catalogue.columns[0].quoted} FROM {catalogue.relation.quoted} GROUP BY 1"
    before = figures(server)

    found = what_if(session, catalogue, {HOSTILE: -0.5}, [Asked(statement)])

    assert found["refused"] is None
    assert found["statements"][0]["before"]["nodes"][0]["rows"] == 10.0
    assert 5000.0 in {node["rows"] for node in found["statements"][0]["after"]["nodes"]}
    assert figures(server) == before


def test_who_may_not(server: EmbeddedServer) -> None:
    """It takes the right to ANALYZE; without it nothing is planned, and the reason is given."""
    with connect(dataclasses.replace(server.endpoint, user="reader")) as reader:
        found = what_if(reader, read_catalogue(reader, "--table", "t"), {"c": -0.9}, [Asked(GROUPED)])

    assert found["statements"] == []
    assert found["refused"] == (
        "this user may not change figures of public.t even for a moment: that takes its owner, or MAINTAIN on it "
        "(permission denied for table t)"
    )


def test_a_table_that_is_locked(server: EmbeddedServer, session: Connection, table: Catalogue) -> None:
    """Not waited for: an autovacuum would be cancelled by waiting."""
    with server.connect() as other, other.transaction():
        other.execute("LOCK TABLE t IN SHARE UPDATE EXCLUSIVE MODE")

        found = what_if(session, table, {"c": -0.9}, [Asked(GROUPED)])

    assert found["refused"] == (
        "public.t is locked by a VACUUM, an ANALYZE or a change of its definition; try again later"
    )


def test_the_statements_that_took_longest(server: EmbeddedServer, session: Connection, table: Catalogue) -> None:
    """Those that read the table and are this role's own, with their parameters; others are counted."""
    with server.connect() as own, connect(dataclasses.replace(server.endpoint, user="reader")) as reader:
        own.execute("SELECT pg_stat_statements_reset()")
        for _ in range(3):
            own.execute("SELECT count(*) FROM t WHERE c = 5")
        own.execute("SELECT other FROM t LIMIT 1")
        own.execute("CREATE TABLE tt AS SELECT 1 AS t")
        own.execute("SELECT 1 AS tables")
        reader.execute("SELECT max(c) FROM t")
        count_by_server(server.endpoint, plan_source(table), 14)
        asked, left_out = top_statements(session, table, 5)
        as_reader, _ = top_statements(reader, table, 5)

    assert [(one.text, one.calls) for one in asked][-1] == ("SELECT other FROM t LIMIT $1", 1)
    assert asked[0].calls == 3
    assert asked[0].text.startswith("SELECT count(*) FROM t WHERE c = $1")
    assert len(asked) == 2
    assert len(left_out) == 1
    assert left_out[0].startswith("1 statements of other roles")
    assert "SELECT max(c) FROM t" in {one.text for one in as_reader}
    assert all(one["note"] is None for one in what_if(session, table, {"c": -0.9}, asked)["statements"])


def test_without_pg_stat_statements(server: EmbeddedServer, session: Connection, table: Catalogue) -> None:
    """It says what to do."""
    server.execute("DROP EXTENSION pg_stat_statements")
    try:
        assert top_statements(session, table, 5) == (
            [],
            ["the extension pg_stat_statements is not in this database; give statements with --what-if"],
        )
    finally:
        server.execute("CREATE EXTENSION pg_stat_statements")
