"""`--via sql`: what the server counts, against COUNT(DISTINCT) and against registers made here of the same hashes."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest

from dbdyno import engine
from dbdyno.errors import DynoError
from dbdyno.ndv.postgres.catalogue import read_catalogue
from dbdyno.ndv.postgres.scan_source import Source, plan_source
from dbdyno.ndv.postgres.server_hash import SEED
from dbdyno.ndv.postgres.session import connect
from dbdyno.ndv.postgres.sql_outcome import sketch_arguments
from dbdyno.ndv.postgres.sql_scan import ServerColumn, ServerCounts, count_by_server
from dbdyno.targets.embedded import EmbeddedServer
from dbdyno.targets.target import Connection

pytestmark = pytest.mark.server

# Type, and values of which some are equal though they are written, or stored, differently.
ADVERSARIAL = {
    "numeric": ["1", "1.0", "1.00", "-1", "-1.0", "0", "-0.0", "NaN", "Infinity", "-Infinity", "1e3", "1000"],
    "numeric(10,3)": ["1", "1.0", "1.0001"],
    "double precision": ["0", "-0", "NaN", "-NaN", "1e300", "Infinity"],
    "real": ["0", "-0", "NaN", "1.1"],
    "interval": ["1 day", "24 hours", "86400 s", "1 month", "30 days", "-1 day", "1 day -24 hours", "0"],
    "char(5)": ["a", "a ", "a    ", "b", ""],
    "varchar(5)": ["a", "a ", "b", ""],
    "text": ["", " ", "é", "e\u0301", "a", "A"],
    "bytea": ["", "\\x00", "\\x0000"],
    "jsonb": [
        "1",
        "1.0",
        "-1",
        "[-1]",
        "true",
        "false",
        "null",
        '{"a":1,"b":2}',
        '{"b":2.0,"a":1}',
        "[]",
        "{}",
        '"1"',
        "[1.0]",
        "[1]",
    ],
    "int[]": ["{}", "{1}", "{1,NULL}", "[2:2]={1}", "{{1,2}}", "{1,2}"],
    "bigint[]": ["{}", "{1}", "{4294967297}", "{8589934594}", "{1,NULL}"],
    "numeric[]": ["{1}", "{1.0}", "{-1}", "{}", "{{1,-1}}", "{1,-1}", "{-1,1}"],
    "jsonb[]": ['{"[1]"}', '{"[1.0]"}', '{"[-1]"}'],
    "boolean": ["t", "f", "yes"],
    "smallint": ["1", "-1", "32767"],
    "integer": ["1", "-1", "-2147483648"],
    "bigint": ["1", "-1", "4294967291", "-5", "4294967297", "9223372036854775807", "-9223372036854775808"],
    "oid": ["1", "4294967295"],
    "date": ["2026-01-01", "infinity", "-infinity", "0001-01-01 BC"],
    "timestamp": ["2026-01-01", "2026-01-01 00:00:00.000001", "infinity"],
    "timestamptz": ["2026-01-01 00:00+00", "2026-01-01 01:00+01", "infinity"],
    "time": ["00:00", "24:00", "12:00"],
    "timetz": ["12:00+00", "13:00+01", "12:00+00"],
    "money": ["1", "1.00", "2"],
    "uuid": ["00000000-0000-0000-0000-000000000000", "00000000000000000000000000000000"],
    "inet": ["10.0.0.1", "10.0.0.1/32", "10.0.0.1/8", "::1"],
    "cidr": ["10.0.0.0/8", "10/8", "::/0"],
    "macaddr": ["08:00:2b:01:02:03", "08-00-2b-01-02-03"],
    "bit(3)": ["101", "100"],
    "bit varying": ["101", "1010", ""],
    "tsvector": ["a b", "b a", "a:1 b:2"],
    "xid": ["1", "2"],
    "xid8": ["1", "4294967297", "8589934594"],
    "pg_lsn": ["0/1", "1/0", "0/0"],
    "tid": ["(0,1)", "(1,0)"],
    "name": ["a", "b"],
    '"char"': ["a", "b", ""],
    "int8range": ["[1,3)", "[1,2]", "empty", "(0,2]", "(,)"],
    "numrange": ["[1,2)", "[1.0,2.00)", "[1,2]", "[-1,2)", "[-2,-1)"],
    "nummultirange": ["{[1,2)}", "{[-1,2)}", "{[1.0,2.0)}"],
    "tstzrange": ["[2026-01-01 00:00+00,]", "[2026-01-01 01:00+01,)", "empty"],
    "int4multirange": ["{[1,3)}", "{[1,2],[2,2]}", "{}"],
    "int8multirange": ["{[1,3)}", "{[1,2],[2,2]}", "{}"],
    "h.mood": ["sad", "glad"],
    "h.moods": ["sad", "glad", "sad"],
    "h.pair": ["(1,a)", "(1,)", "(,)"],
    "h.mood[]": ["{sad}", "{sad,glad}"],
    "h.pair[]": ['{"(1,a)"}', "{}"],
}


@pytest.fixture(scope="module")
def server(cache: object) -> Iterator[EmbeddedServer]:
    """With a table of 40,000 rows, and one of each type of `ADVERSARIAL`."""
    with EmbeddedServer(settings={"autovacuum": False}) as started:
        started.execute(
            "CREATE SCHEMA h; CREATE TYPE h.mood AS ENUM ('sad', 'glad'); CREATE DOMAIN h.moods AS h.mood;"
            "CREATE TYPE h.pair AS (a int, b text);"
            "CREATE TABLE h.t AS SELECT n AS key, n::bigint AS wide, n % 7 AS few, (n % 20000)::text AS word,"
            " CASE WHEN n % 4 = 0 THEN n % 1000 END AS part, n % 11 AS other FROM generate_series(1, 40000) AS n"
        )
        for place, (type_, values) in enumerate(ADVERSARIAL.items()):
            with started.connect() as session:
                session.execute(f"CREATE TABLE h.t{place} (v {type_})".encode())
                for value in [*values, *values, None]:
                    session.execute(f"INSERT INTO h.t{place} VALUES (%s::{type_})".encode(), [value])
        yield started


@pytest.fixture(scope="module")
def session(server: EmbeddedServer) -> Iterator[Connection]:
    """A session as `dbdyno ndv` has it."""
    with connect(server.endpoint) as connected:
        yield connected


def source(session: Connection, table: str, *groups: list[str], where: str | None = None) -> Source:
    """All columns of a table."""
    return plan_source(read_catalogue(session, "--table", table), None, groups, where)


def counted(server: EmbeddedServer, session: Connection, table: str, precision: int = 14) -> ServerCounts:
    """All columns of a table."""
    return count_by_server(server.endpoint, source(session, table), precision)


@pytest.mark.parametrize(("place", "type_"), list(enumerate(ADVERSARIAL)), ids=list(ADVERSARIAL))
def test_equal_values_are_one_value(server: EmbeddedServer, session: Connection, place: int, type_: str) -> None:
    """As COUNT(DISTINCT) sees it, or for a type that it cannot sort, DISTINCT; and nulls are counted by themselves."""
    (column,) = counted(server, session, f"h.t{place}").columns

    distinct = session.execute(
        f"SELECT count(*) FROM (SELECT DISTINCT v FROM h.t{place} WHERE num_nulls(v) = 0) d".encode()
    )
    assert column.hashes is not None
    assert (len(column.hashes),) == distinct.fetchone()
    assert (column.rows, column.nulls) == (2 * len(ADVERSARIAL[type_]) + 1, 1)


def exchanged(value: int) -> int:
    """A hash with its halves exchanged."""
    return (value % (1 << 32)) << 32 | (value >> 32) % (1 << 32)


def registers_of(hashes: list[int], precision: int) -> np.ndarray:
    """One at a time, as the definition says."""
    registers = np.zeros(1 << precision, dtype=np.uint8)
    for value in hashes:
        word = exchanged(value)
        rest = word & ((1 << (64 - precision)) - 1)
        bucket = word >> (64 - precision)
        registers[bucket] = max(registers[bucket], 64 - precision - rest.bit_length() + 1)
    return registers


@pytest.mark.parametrize("precision", [10, 14])
def test_registers_are_those_of_the_hashes(server: EmbeddedServer, session: Connection, precision: int) -> None:
    """Of a key with 40,000 values, register by register; and few values come as their hashes, too."""
    found = {column.name: column for column in counted(server, session, "h.t", precision).columns}

    for name, function in (("key", "hashint4extended"), ("few", "hashint4extended"), ("word", "hashtextextended")):
        rows = session.execute(f"SELECT DISTINCT {function}({name}, {SEED}) FROM h.t".encode()).fetchall()
        hashes = [value for (value,) in rows]
        assert np.array_equal(found[name].registers, registers_of(hashes, precision))
        if name == "few":
            assert found[name].hashes is not None
            assert found[name].hashes.tolist() == sorted(map(exchanged, hashes))
    assert found["key"].hashes is None


def test_numbers_in_a_row_are_counted_without_bias(server: EmbeddedServer, session: Connection) -> None:
    """16 times 20,000 of them: the mean error is within 2.8 standard errors of none.

    By the upper bits of the server's hash it would be -0.93 %: lookup3 mixes them less.
    """
    columns = ", ".join(f"n + {1_000_000 * place}::bigint AS c{place}" for place in range(16))
    server.execute(f"CREATE TABLE h.in_a_row AS SELECT {columns} FROM generate_series(1, 20000) AS n")

    file = engine.sketch_from_server(*sketch_arguments(counted(server, session, "h.in_a_row")))

    errors = [column["ndv"]["estimate"] / 20_000 - 1 for column in engine.sketch_estimates(file)["columns"]]
    assert abs(np.mean(errors)) <= 2.8 * 0.0063 / 4


def test_equal_numbers_agree_whatever_their_width(server: EmbeddedServer, session: Connection) -> None:
    """An integer that refers to a bigint has its hashes."""
    found = {column.name: column for column in counted(server, session, "h.t").columns}

    assert np.array_equal(found["key"].registers, found["wide"].registers)


def test_rows_and_nulls(server: EmbeddedServer, session: Connection) -> None:
    """Of each column, from the one scan."""
    found = {column.name: column for column in counted(server, session, "h.t").columns}

    assert {name: column.nulls for name, column in found.items() if column.nulls} == {"part": 30_000}
    assert {column.rows for column in found.values()} == {40_000}


def linear_count(column: ServerColumn) -> float:
    """Good to a few per cent where buckets are empty."""
    size = len(column.registers)
    return size * math.log(size / int((column.registers == 0).sum()))


def test_groups(server: EmbeddedServer, session: Connection) -> None:
    """7 x 11 combinations; and null is a value in a group."""
    asked = source(session, "h.t", ["few", "other"], ["part", "few"])

    both, with_null = count_by_server(server.endpoint, asked, 14).groups

    assert (both.name, both.type, both.nulls) == ("few, other", "(integer, integer)", 0)
    assert both.hashes is not None
    assert len(both.hashes) == 77
    assert with_null.hashes is not None
    expected = session.execute("SELECT count(*) FROM (SELECT DISTINCT part, few FROM h.t) d").fetchone()
    assert (len(with_null.hashes),) == expected


@pytest.mark.parametrize("type_", ["numeric", "jsonb", "int[]", "bigint[]", "bigint", "interval", "text"])
def test_groups_of_values_of_which_the_servers_hash_leaves_something_out(
    server: EmbeddedServer, session: Connection, type_: str
) -> None:
    """Each with one of two others: as many as SELECT DISTINCT finds."""
    table = f"h.g{list(ADVERSARIAL).index(type_)}"
    server.execute(f"CREATE TABLE {table} AS SELECT v, g FROM {table.replace('.g', '.t')}, generate_series(1, 2) AS g")

    (found,) = count_by_server(server.endpoint, source(session, table, ["v", "g"]), 14).groups

    expected = session.execute(f"SELECT count(*) FROM (SELECT DISTINCT v, g FROM {table}) d".encode()).fetchone()
    assert found.hashes is not None
    assert (len(found.hashes),) == expected


def test_numbers_that_the_server_would_fold(server: EmbeddedServer, session: Connection) -> None:
    """Tenants in the upper half, their rows in the lower one: the server's own function leaves 512 of 60,000."""
    server.execute(
        "CREATE TABLE h.tenants AS SELECT id, ARRAY[id] AS ids, id >> 32 AS tenant, int8range(id, NULL) AS span"
        " FROM generate_series(1, 120) AS t, generate_series(0, 499) AS r, LATERAL (SELECT t::bigint << 32 | r) i (id)"
    )
    folded = session.execute("SELECT count(DISTINCT pg_catalog.hashint8extended(id, 1)) FROM h.tenants").fetchone()
    asked = source(session, "h.tenants", ["id", "tenant"])

    found = count_by_server(server.endpoint, asked, 18)

    assert folded == (512,)
    for column in (found.columns[0], found.columns[1], found.columns[3], found.groups[0]):
        assert linear_count(column) == pytest.approx(60_000, rel=0.01), column.name


def test_flags_in_json(server: EmbeddedServer, session: Connection) -> None:
    """With the seed 0 all objects would fall into one register; here 64 of them fall into as many but for one pair,
    which is what chance does to one table in eight."""
    server.execute(
        "CREATE TABLE h.flags AS SELECT jsonb_build_object('a', n & 1 = 1, 'b', n & 2 = 2, 'c', n & 4 = 4,"
        " 'd', n & 8 = 8, 'e', n & 16 = 16, 'f', n & 32 = 32) AS flags FROM generate_series(0, 63) AS n"
    )
    unmixed = session.execute("SELECT count(DISTINCT jsonb_hash_extended(flags, 0) >> 50) FROM h.flags").fetchone()

    (column,) = counted(server, session, "h.flags").columns

    assert unmixed == (1,)
    assert column.hashes is not None
    assert len(column.hashes) == 64
    assert int((column.registers > 0).sum()) == 63


def test_the_server_neither_sorts_nor_writes(server: EmbeddedServer, session: Connection) -> None:
    """No temporary byte, though work_mem is small and every value is another one."""
    server.execute(
        "CREATE TABLE h.many AS SELECT n AS a, -n AS b, n::text AS c, md5(n::text) AS d, n * 3 AS e"
        " FROM generate_series(1, 60000) AS n; ANALYZE h.many; ALTER DATABASE dbdyno SET work_mem = '64kB'"
    )

    def temporary_bytes() -> int:
        with server.connect() as own:
            own.execute("SELECT pg_stat_force_next_flush()")
            row = own.execute("SELECT temp_bytes FROM pg_stat_database WHERE datname = 'dbdyno'").fetchone()
            return 0 if row is None else int(row[0])

    before = temporary_bytes()
    found = counted(server, session, "h.many")

    assert temporary_bytes() == before
    assert found.scans == 2
    assert [linear_count(column) for column in found.columns] == pytest.approx([60_000] * 5, rel=0.06)


def test_only_some_rows(server: EmbeddedServer, session: Connection) -> None:
    """The condition is the user's, and may name the table as we do."""
    asked = source(session, "h.t", where="r.key <= 10 -- ten of them")

    found = count_by_server(server.endpoint, asked, 14)

    assert (found.rows, {column.rows for column in found.columns}) == (10, {10})


def test_no_rows(server: EmbeddedServer, session: Connection) -> None:
    """Nothing is nothing, and no division by it."""
    found = count_by_server(server.endpoint, source(session, "h.t", where="false"), 14)

    assert (found.rows, [len(column.hashes if column.hashes is not None else [0]) for column in found.columns]) == (
        0,
        [0] * 6,
    )


def test_a_table_that_is_gone(server: EmbeddedServer, session: Connection) -> None:
    """A clear word, and exit code 1."""
    server.execute("CREATE TABLE h.brief AS SELECT 1 AS a")
    asked = source(session, "h.brief")
    server.execute("DROP TABLE h.brief")

    with pytest.raises(DynoError, match=r"scan of h\.brief: .*does not exist") as failure:
        count_by_server(server.endpoint, asked, 14)

    assert failure.value.exit_code == 1
