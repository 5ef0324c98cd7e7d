"""What is read of a table before its rows: names, kinds, columns, statistics; held against the planner's answers."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import sql

from dbdyno.analysis.ndv.facts import column_facts, relation_facts
from dbdyno.analysis.ndv.planner import independent_groups, planner_distinct
from dbdyno.errors import DynoError
from dbdyno.ndv.postgres.catalogue import Catalogue, read_catalogue
from dbdyno.ndv.postgres.planner import planner_groups
from dbdyno.ndv.postgres.session import connect
from dbdyno.targets.embedded import EmbeddedServer
from dbdyno.targets.target import Connection

pytestmark = pytest.mark.server

HOSTILE = ['we"ird; $1 %s', "Über größe", "select", " a.b ", "x'y\\z", "new\nline;\n"]

SCHEMA = """
CREATE SCHEMA s;
CREATE TABLE s.plain (id bigserial PRIMARY KEY, few int, half int, gone int, flag boolean, made timestamptz,
                      word varchar(20), twice int, ratio int);
INSERT INTO s.plain (few, half, flag, made, word, twice, ratio)
  SELECT n % 7, CASE WHEN n % 2 = 0 THEN n END, n % 3 = 0, '2026-01-01'::timestamptz + n * interval '1 s',
         (n % 5)::text, n / 2, n % 1000
    FROM generate_series(1, 20000) AS n;
ALTER TABLE s.plain ALTER ratio SET (n_distinct = -0.20), ALTER ratio SET (n_distinct_inherited = 7);
ALTER TABLE s.plain ALTER few SET STATISTICS 17;
CREATE INDEX ON s.plain (few, half);
CREATE UNIQUE INDEX part ON s.plain (twice) WHERE false;
CREATE STATISTICS s."of it" ON few, twice FROM s.plain;
CREATE TABLE s.child (plain bigint REFERENCES s.plain, other int);
CREATE VIEW s.seen AS SELECT few, half FROM s.plain;
CREATE MATERIALIZED VIEW s.kept AS SELECT few, half FROM s.plain;
CREATE TABLE s.parts (k int, v int) PARTITION BY RANGE (k);
CREATE TABLE s.p1 PARTITION OF s.parts FOR VALUES FROM (0) TO (1000);
CREATE TABLE s.p2 PARTITION OF s.parts FOR VALUES FROM (1000) TO (3000) PARTITION BY LIST (v);
CREATE TABLE s.p3 PARTITION OF s.p2 DEFAULT;
INSERT INTO s.parts SELECT n, n % 11 FROM generate_series(0, 2999) AS n;
CREATE TABLE s.mother (a int); CREATE TABLE s.daughter (b int) INHERITS (s.mother);
INSERT INTO s.mother SELECT n FROM generate_series(1, 100) AS n;
INSERT INTO s.daughter SELECT n FROM generate_series(1, 900) AS n;
CREATE TABLE s.never (a int, b boolean); INSERT INTO s.never SELECT n, true FROM generate_series(1, 5000) AS n;
ANALYZE s.plain, s.parts, s.mother, s.daughter, s.kept, s.child;
CREATE DOMAIN s.code AS varchar(5); CREATE DOMAIN s.short_code AS s.code;
CREATE TYPE s."my Enum" AS ENUM ('a', 'b'); CREATE TYPE s.pair AS (a int, b text); CREATE TYPE s.bad AS (p point);
CREATE TABLE s.types (a s.short_code, e s."my Enum", c s.pair, d s.bad, j json, jb jsonb, p point, pp point[], ii int[],
                      r int8range, m int8multirange, t text COLLATE "C", x xid, ts tsvector);
"""


@pytest.fixture(scope="module")
def server(cache: object) -> Iterator[EmbeddedServer]:
    """With a schema of every kind of relation; nothing is analysed behind our back."""
    with EmbeddedServer(settings={"autovacuum": False}) as started:
        started.execute(SCHEMA)
        yield started


@pytest.fixture(scope="module")
def session(server: EmbeddedServer) -> Iterator[Connection]:
    """A session as `dbdyno ndv` has it."""
    with connect(server.endpoint) as connected:
        yield connected


def read(session: Connection, table: str) -> Catalogue:
    """By its name."""
    return read_catalogue(session, "--table", table)


def test_the_session_only_reads(session: Connection) -> None:
    """And keeps the user's own search_path, whatever was read."""
    read(session, "s.plain")

    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        session.execute("CREATE TABLE mine (a int)")
    assert session.execute("SHOW search_path").fetchone() == ('"$user", public',)


def test_a_table_as_it_is(session: Connection) -> None:
    """Its size as the planner sees it, which is right after ANALYZE."""
    relation = read(session, "s.plain").relation

    assert (relation.schema, relation.name, relation.quoted, relation.kind) == ("s", "plain", "s.plain", "table")
    assert (relation.tree, relation.leaves, relation.planner_rows, relation.owned) == (False, 1, 20_000.0, True)
    pages = session.execute("SELECT pg_relation_size('s.plain') / 8192").fetchone()
    assert pages == (relation.pages,)
    assert relation.analyzed_at is not None


@pytest.mark.parametrize(
    ("table", "kind", "leaves", "rows"),
    [
        ("s.seen", "view", 0, 20_000.0),
        ("s.kept", "materialised view", 1, 20_000.0),
        ("s.parts", "partitioned", 2, 3000.0),
        ("s.mother", "table", 2, 1000.0),
    ],
)
def test_kinds_of_relations(session: Connection, table: str, kind: str, leaves: int, rows: float) -> None:
    """A tree is all that is below it."""
    relation = read(session, table).relation

    assert (relation.kind, relation.leaves, relation.planner_rows) == (kind, leaves, rows)
    assert relation.tree == (table in ("s.parts", "s.mother"))


def test_constraints_indexes_and_options(session: Connection) -> None:
    """Each where it belongs; a partial index says nothing of all rows."""
    columns = {column.name: column for column in read(session, "s.plain").columns}

    assert [name for name, column in columns.items() if column.unique] == ["id"]
    assert [name for name, column in columns.items() if column.indexed] == ["id", "few"]
    assert [name for name, column in columns.items() if column.arrival] == ["id"]
    assert [name for name, column in columns.items() if column.referred_to] == ["id"]
    assert (columns["ratio"].override, columns["ratio"].override_inherited) == ("-0.20", "7")
    assert (columns["few"].target, columns["half"].target, columns["few"].override) == (17, None, None)
    assert read(session, "s.child").column("plain").refers_to == "s.plain.id"


def test_types_and_their_equality(session: Connection) -> None:
    """Domains by what they are made of, containers by what they contain."""
    columns = {column.name: column for column in read(session, "s.types").columns}

    assert [name for name, column in columns.items() if not column.hashable] == ["d", "j", "p", "pp", "ts"]
    assert [name for name, column in columns.items() if not column.sortable] == ["d", "j", "p", "pp", "x"]
    assert columns["a"].base_type == ("pg_catalog", "varchar")
    assert (columns["a"].type, columns["e"].base_quoted) == ("s.short_code", 's."my Enum"')
    assert (columns["ii"].element, columns["r"].element) == (("pg_catalog", "int4"), ("pg_catalog", "int8"))
    assert columns["m"].element == ("pg_catalog", "int8")
    assert [columns[name].kind for name in ("a", "e", "c", "r", "m")] == ["b", "e", "c", "r", "m"]


PLANNED = [
    ("s.plain", ["id", "few", "half", "gone", "flag", "made", "word", "twice", "ratio"]),
    ("s.kept", ["few", "half"]),
    ("s.parts", ["k", "v"]),
    ("s.mother", ["a"]),
    ("s.never", ["a", "b"]),
]


@pytest.mark.parametrize(("table", "column"), [(table, column) for table, columns in PLANNED for column in columns])
def test_our_figure_is_the_planner_s(session: Connection, table: str, column: str) -> None:
    """Of each column, the groups that EXPLAIN expects (of a boolean it expects twice as many as it has values)."""
    catalogue = read(session, table)
    document = catalogue.document()
    relation, facts = relation_facts(document), column_facts(document, column)

    figure = planner_distinct(
        facts.statistics.n_distinct if facts.statistics else None,
        relation.planner_rows,
        null_share=facts.statistics.null_share if facts.statistics else 0.0,
        unique=facts.believed_unique,
        boolean=facts.boolean,
    )

    asked = planner_groups(session, catalogue.relation.quoted, [catalogue.column(column).quoted])
    assert figure.distinct == (2.0 if facts.boolean else asked)


def test_groups_are_the_planner_s(session: Connection) -> None:
    """By extended statistics where there are some; else by the product and its limit."""
    catalogue = read(session, "s.plain")
    (extended,) = catalogue.extended

    assert (extended.quoted, set(extended.columns)) == ('s."of it"', {"few", "twice"})
    ((names, distinct),) = extended.distinct
    assert set(names) == {"few", "twice"}
    assert planner_groups(session, "s.plain", ["few", "twice"]) == distinct
    assert planner_groups(session, "s.plain", ["few", "word"]) == independent_groups([7, 5], 20_000) == 35.0
    assert planner_groups(session, "s.plain", ["ratio", "word"]) == independent_groups([4000, 5], 20_000) == 4000.0


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names(server: EmbeddedServer, session: Connection, name: str) -> None:
    """As SQL writes them, and as they are; of schema, table and column."""
    identifier = sql.Identifier(name)
    with server.connect() as owner:
        owner.execute(sql.SQL("CREATE SCHEMA {}").format(identifier))
        owner.execute(sql.SQL("CREATE TABLE {} ({} int)").format(sql.Identifier(name, name), identifier))
        try:
            catalogue = read(session, sql.Identifier(name, name).as_string())
            assert (catalogue.relation.schema, catalogue.relation.name) == (name, name)
            assert [column.name for column in catalogue.columns] == [name]
            assert read(session, name).relation.oid == catalogue.relation.oid
            asked = planner_groups(session, catalogue.relation.quoted, [catalogue.columns[0].quoted])
            assert asked == 200.0
        finally:
            owner.execute(sql.SQL("DROP TABLE {}").format(sql.Identifier(name, name)))
            owner.execute(sql.SQL("DROP SCHEMA {}").format(identifier))


@pytest.mark.parametrize(
    ("table", "code", "message"),
    [
        ("nowhere", "unknown_table", "--table nowhere: no such table in database"),
        ("s.nowhere", "unknown_table", "--table s.nowhere: no such table"),
        ("s.part", "not_a_table", "--table s.part: is an index; name a table"),
        ("s.plain_id_seq", "not_a_table", "is a sequence"),
        ("; DROP TABLE s.plain", "unknown_table", "no such table"),
    ],
)
def test_names_of_nothing(session: Connection, table: str, code: str, message: str) -> None:
    """One line that says what is wrong."""
    with pytest.raises(DynoError) as failure:
        read(session, table)

    assert failure.value.code == code
    assert message in failure.value.message


def test_a_name_in_two_schemas(server: EmbeddedServer, session: Connection) -> None:
    """Both are shown."""
    server.execute("CREATE SCHEMA s1; CREATE SCHEMA s2; CREATE TABLE s1.twins (); CREATE TABLE s2.twins ()")

    with pytest.raises(DynoError, match=r"--table twins: there are s1\.twins, s2\.twins; name one of them"):
        read(session, "twins")


@pytest.fixture(scope="module")
def as_reader(server: EmbeddedServer) -> Iterator[Connection]:
    """A session of a role that owns nothing."""
    server.execute(
        "CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA s TO reader; GRANT SELECT (few, half) ON s.plain TO reader;"
        "GRANT SELECT ON s.kept TO reader; CREATE TABLE s.secret (a int); GRANT SELECT ON s.secret TO reader;"
        "ALTER TABLE s.secret ENABLE ROW LEVEL SECURITY"
    )
    with connect(dataclasses.replace(server.endpoint, user="reader")) as connected:
        yield connected


def test_what_a_role_may_not_read(as_reader: Connection) -> None:
    """Columns by name; a table of which nothing may be read as a whole; and what belongs to somebody else."""
    catalogue = read(as_reader, "s.plain")

    assert [column.name for column in catalogue.columns if column.readable] == ["few", "half"]
    assert {row.column for row in catalogue.statistics} == {"few", "half"}
    assert not catalogue.relation.owned
    with pytest.raises(DynoError) as failure:
        read(as_reader, "s.never")
    assert failure.value.code == "permission_denied"


def test_row_level_security_is_refused(as_reader: Connection, session: Connection) -> None:
    """To whom it hides rows, and to nobody else."""
    with pytest.raises(DynoError, match="row-level security hides rows") as failure:
        read(as_reader, "s.secret")

    assert failure.value.code == "row_security"
    assert read(session, "s.secret").relation.name == "secret"


def test_nothing_in_public_is_called(server: EmbeddedServer, session: Connection) -> None:
    """Functions and operators of the names that we use, put there by somebody, are not ours."""
    server.execute(
        "CREATE FUNCTION public.quote_ident(name) RETURNS text LANGUAGE sql AS $$ SELECT 'pwned' $$;"
        "CREATE FUNCTION public.boom(name, text) RETURNS boolean LANGUAGE sql AS $$ SELECT 1 / 0 = 1 $$;"
        "CREATE OPERATOR public.= (FUNCTION = public.boom, LEFTARG = name, RIGHTARG = text)"
    )
    assert read(session, "s.plain").relation.quoted == "s.plain"


def test_the_document_is_plain(session: Connection) -> None:
    """JSON holds it, so that it can be kept."""
    document: dict[str, Any] = json.loads(json.dumps(read(session, "s.plain").document()))

    assert document["relation"]["quoted"] == "s.plain"
    assert document["columns"][0]["base_type"] == ["pg_catalog", "int8"]
