"""The printed fix on a server: right afterwards, and as it was before when it is undone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from column_shapes import RIGHT, SHAPES, create_table
from psycopg import sql

from dbdyno import engine
from dbdyno.analysis.ndv.analyse import analyse
from dbdyno.analysis.ndv.findings import NdvFindings
from dbdyno.ndv.postgres.catalogue import read_catalogue
from dbdyno.ndv.postgres.copy_plan import CopyOptions, plan_copy
from dbdyno.ndv.postgres.planner import planner_groups
from dbdyno.ndv.postgres.scan_source import plan_source
from dbdyno.ndv.postgres.session import connect
from dbdyno.targets.embedded import EmbeddedServer
from dbdyno.targets.target import Connection

pytestmark = pytest.mark.server

HOSTILE = "we\"ird; $1 %s -- 'x'\\\nÜ"


@pytest.fixture(scope="module")
def server(cache: object) -> Iterator[EmbeddedServer]:
    """Samples have 3,000 rows, so that small tables are enough; nothing is analysed behind our back."""
    with EmbeddedServer(settings={"autovacuum": False, "default_statistics_target": 10}) as started:
        yield started


@pytest.fixture(scope="module")
def session(server: EmbeddedServer) -> Iterator[Connection]:
    """A session as `dbdyno ndv` has it."""
    with connect(server.endpoint) as connected:
        yield connected


def counted(server: EmbeddedServer, session: Connection, table: str, *groups: list[str]) -> NdvFindings:
    """All columns of a table, as `dbdyno ndv` goes about it."""
    catalogue = read_catalogue(session, "--table", table)
    source = plan_source(catalogue, None, groups)
    planned = [
        planner_groups(session, catalogue.relation.quoted, [column.quoted for column in group])
        for group in source.groups
    ]
    found, _ = engine.scan_postgres(plan_copy(source, server.endpoint, CopyOptions()), None)
    return analyse(catalogue.document(), source.document("copy"), found, planned)


def run(owner: Connection, script: str | None) -> None:
    """As psql would: all of it."""
    assert script is not None
    owner.execute(script.encode())


def options(owner: Connection, table: str) -> Sequence[object]:
    """What is set on its columns."""
    return owner.execute(
        "SELECT attname, attoptions FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0", [table]
    ).fetchall()


def test_every_shape_is_right_after_the_fix(server: EmbeddedServer, session: Connection) -> None:
    """And none is accused that ANALYZE gets right; the undo leaves nothing set, and ANALYZE as wrong as it was."""
    with server.connect() as owner:
        owner.execute(create_table("shapes", 40_000).encode())
        owner.execute("ANALYZE shapes")
        before = counted(server, session, "shapes")

        run(owner, before.fix_script)
        after = counted(server, session, "shapes")
        set_by_fix = options(owner, "shapes")
        run(owner, before.undo_script)
        undone = counted(server, session, "shapes")
        left = options(owner, "shapes")

    verdicts = {column.column: column.verdict for column in before.columns}
    assert {verdicts[shape] for shape in RIGHT} == {"right"}
    assert {shape for shape, verdict in verdicts.items() if verdict != "right"} >= {"log_uniform", "hot_and_unique"}
    assert {column.verdict for column in after.columns} == {"right"}
    for column in after.columns:
        if verdicts[column.column] != "right":
            assert column.error_factor == pytest.approx(1.0, abs=0.001)
    assert [entry for entry in set_by_fix if entry[1] is not None]
    assert not [entry for entry in left if entry[1] is not None]
    for was, now in zip(before.columns, undone.columns, strict=True):
        assert now.verdict == was.verdict
        assert now.error_factor == pytest.approx(was.error_factor, rel=0.15)


def test_options_come_back_letter_by_letter(server: EmbeddedServer, session: Connection) -> None:
    """Those of the column and those of the tree, beside others that nobody touches."""
    with server.connect() as owner:
        owner.execute("CREATE TABLE kept AS SELECT n % 500 AS a, n AS b FROM generate_series(1, 20000) AS n")
        owner.execute("ALTER TABLE kept ALTER a SET (n_distinct = 5, n_distinct_inherited = -0.50)")
        owner.execute("ALTER TABLE kept ALTER b SET (n_distinct = -0.010)")
        owner.execute("ANALYZE kept")
        before = options(owner, "kept")
        findings = counted(server, session, "kept")

        run(owner, findings.fix_script)
        fixed = options(owner, "kept")
        run(owner, findings.undo_script)

        assert fixed == [("a", ["n_distinct_inherited=-0.50", "n_distinct=500"]), ("b", ["n_distinct=-1"])]
        assert sorted(options(owner, "kept")[0][1]) == sorted(before[0][1])
        assert options(owner, "kept")[1] == before[1] == ("b", ["n_distinct=-0.010"])


def test_a_partitioned_table(server: EmbeddedServer, session: Connection) -> None:
    """The option of the whole, which the planner goes by when it groups the whole."""
    with server.connect() as owner:
        owner.execute("CREATE TABLE parts (k bigint, v bigint) PARTITION BY RANGE (k)")
        for part in range(3):
            owner.execute(f"CREATE TABLE p{part} PARTITION OF parts FOR VALUES FROM ({part}) TO ({part + 1})".encode())
        owner.execute(
            "INSERT INTO parts SELECT n % 3, CASE WHEN n % 5 < 3 THEN n % 20 ELSE n END"
            " FROM generate_series(1, 30000) AS n"
        )
        owner.execute("ANALYZE parts")
        owner.execute("ALTER TABLE parts ALTER v SET (n_distinct_inherited = 100)")
        owner.execute("ANALYZE parts")
        findings = counted(server, session, "parts")
        of_parts = owner.execute("SELECT n_distinct FROM pg_stats WHERE tablename = 'p0' AND attname = 'v'").fetchone()

        run(owner, findings.fix_script)
        after = counted(server, session, "parts")

        column = after.columns[1]
        assert "n_distinct_inherited" in (findings.columns[1].fix or "")
        assert planner_groups(session, "public.parts", ["v"]) == column.planner
        assert column.verdict == "right"
        assert (
            of_parts
            == owner.execute("SELECT n_distinct FROM pg_stats WHERE tablename = 'p0' AND attname = 'v'").fetchone()
        )


def test_a_group_and_its_statistics(server: EmbeddedServer, session: Connection) -> None:
    """Right once they are there, and gone with the undo."""
    with server.connect() as owner:
        owner.execute("CREATE TABLE pairs AS SELECT n % 300 AS a, n % 300 / 3 AS b FROM generate_series(1, 20000) AS n")
        owner.execute("ANALYZE pairs")
        findings = counted(server, session, "pairs", ["a", "b"])

        run(owner, findings.fix_script)
        after = counted(server, session, "pairs", ["a", "b"])
        run(owner, findings.undo_script)
        undone = counted(server, session, "pairs", ["a", "b"])

        assert (findings.groups[0].planner, findings.groups[0].verdict) == (2000.0, "wrong")
        assert (after.groups[0].planner, after.groups[0].planner_source) == (300.0, "extended statistics")
        assert (after.groups[0].verdict, after.fix_script) == ("right", None)
        assert undone.groups[0].planner == 2000.0
        assert owner.execute("SELECT count(*) FROM pg_statistic_ext").fetchone() == (0,)


def test_hostile_names(server: EmbeddedServer, session: Connection) -> None:
    """In schema, table, columns and what is made for their group; nothing but that is run."""
    names = {
        "s": sql.Identifier(HOSTILE),
        "t": sql.Identifier(HOSTILE, HOSTILE),
        "other": sql.Identifier(HOSTILE + "2"),
    }
    with server.connect() as owner:
        owner.execute(sql.SQL("CREATE SCHEMA {s}").format(**names))
        owner.execute(
            sql.SQL(
                "CREATE TABLE {t} AS SELECT n % 5000 AS {s}, n % 5000 / 10 AS {other}"
                " FROM generate_series(1, 20000) AS n"
            ).format(**names)
        )
        owner.execute(sql.SQL("ALTER TABLE {t} ALTER {s} SET (n_distinct = 7)").format(**names))
        owner.execute(sql.SQL("ALTER TABLE {t} ALTER {other} SET (n_distinct = 7)").format(**names))
        owner.execute(sql.SQL("ANALYZE {t}").format(**names))
        findings = counted(server, session, names["t"].as_string(), [HOSTILE, HOSTILE + "2"])

        run(owner, findings.fix_script)
        after = counted(server, session, names["t"].as_string(), [HOSTILE, HOSTILE + "2"])
        run(owner, findings.undo_script)

        assert [column.verdict for column in findings.columns] == ["wrong_and_matters"] * 2
        assert [column.planner for column in after.columns] == [5000.0, 500.0]
        assert [entry[1] for entry in options(owner, names["t"].as_string())] == [["n_distinct=7"]] * 2


@pytest.mark.nightly
@pytest.mark.parametrize("rows", [1_000_000, 5_000_000])
def test_shapes_of_large_tables(server: EmbeddedServer, session: Connection, rows: int) -> None:
    """The five shapes that ANALYZE gets wrong are found and mended, the three others let alone."""
    with server.connect() as owner:
        owner.execute(f"DROP TABLE IF EXISTS large; {create_table('large', rows)}; ANALYZE large".encode())
        before = {column.column: column for column in counted(server, session, "large").columns}
        findings = counted(server, session, "large")
        run(owner, findings.fix_script)
        after = counted(server, session, "large")

    assert {shape: before[shape].verdict for shape in RIGHT} == dict.fromkeys(RIGHT, "right")
    for shape in SHAPES:
        truth, said = before[shape].ndv.estimate, before[shape].planner
        assert said is not None
        assert before[shape].error_factor == max(truth / said, said / truth)
    assert {column.verdict for column in after.columns} == {"right"}
