"""Type truth: whatever PostgreSQL takes for one value is one value here, for every type that it can tell apart."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from table_scan import Outcome, rows

from dbdyno import engine
from dbdyno.ndv.decoders import BUILT_IN, decoding_of
from dbdyno.ndv.postgres.catalogue import read_catalogue
from dbdyno.ndv.postgres.copy_plan import CopyOptions, plan_copy
from dbdyno.ndv.postgres.scan_source import plan_source
from dbdyno.ndv.postgres.session import connect
from dbdyno.targets.embedded import EmbeddedServer

pytestmark = pytest.mark.server

ICU_SERVER_BIN = Path(os.environ.get("DBDYNO_TEST_TLS_SERVER_BIN", "/usr/lib/postgresql/15/bin"))

TYPES = """
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE price AS (amount numeric, currency text);
CREATE TYPE float_span AS RANGE (subtype = float8);
CREATE DOMAIN two_digits AS numeric(10, 2);
"""

# SQL type -> values, each more than once, and equal ones that look different. NULLs come by themselves: the lists are
# of different lengths.
VALUES: dict[str, list[str]] = {
    "bool": ["true", "false", "'yes'", "'f'"],
    '"char"': ["'a'", "'b'", "'a'", "''", "'\\377'", "'\\000'"],
    "int2": ["0", "-1", "32767", "-32768", "0", "255"],
    "int4": ["0", "-1", "2147483647", "-2147483648", "0", "65535"],
    "int8": ["0", "-1", "9223372036854775807", "'-9223372036854775808'", "0", "4294967295"],
    "money": ["1", "'1.00'", "'-92233720368547758.08'", "0", "'1.01'"],
    "date": ["'2000-01-01'", "'infinity'", "'-infinity'", "'4713-01-01 BC'", "'January 1, 2000'", "'2000-01-02'"],
    "time": ["'00:00'", "'24:00'", "'00:00:00.000000'", "'23:59:59.999999'", "'23:59:60'"],
    "timestamp": ["'2000-01-01'", "'2000-01-01 00:00:00.000000'", "'infinity'", "'-infinity'", "'1999-12-31 24:00'"],
    "timestamptz": ["'2000-01-01 12:00+00'", "'2000-01-01 14:00+02'", "'2000-01-01 12:00+01'", "'infinity'"],
    "timetz": ["'12:00+00'", "'14:00+02'", "'12:00+01'", "'12:00:00+00:00'", "'12:00+00'", "'00:00+00'", "'24:00+00'"],
    "oid": ["0", "4294967295", "'-1'", "2147483648", "1"],
    "xid": ["'0'", "'4294967295'", "'1'", "'1'"],
    "cid": ["'0'", "'4294967295'", "'1'", "'1'"],
    "xid8": ["'0'", "'18446744073709551615'", "'1'", "'1'", "'4294967296'"],
    "pg_lsn": ["'0/0'", "'FFFFFFFF/FFFFFFFF'", "'0/1'", "'00/01'", "'1/0'"],
    "regclass": ["'pg_class'", "'pg_catalog.pg_class'", "'1259'", "'pg_type'"],
    "regcollation": ["'\"C\"'", "'pg_catalog.\"C\"'", "'\"POSIX\"'"],
    "regconfig": ["'english'", "'pg_catalog.english'", "'simple'"],
    "regdictionary": ["'simple'", "'pg_catalog.simple'", "'english_stem'"],
    "regnamespace": ["'pg_catalog'", "'pg_catalog'", "'public'"],
    "regoper": ["'||/'", "'pg_catalog.||/'", "'^@'"],
    "regoperator": ["'+(int4,int4)'", "'pg_catalog.+(integer,integer)'", "'+(int8,int8)'"],
    "regproc": ["'now'", "'pg_catalog.now'", "'version'"],
    "regprocedure": ["'now()'", "'pg_catalog.now()'", "'version()'"],
    "regrole": ["'pg_monitor'", "'pg_monitor'", "'pg_read_all_data'"],
    "regtype": ["'int4'", "'integer'", "'int8'"],
    "float4": ["0", "'-0'", "'NaN'", "'-NaN'", "'Infinity'", "'-Infinity'", "0.1", "'1e-45'", "'1.0000000000001'", "1"],
    "float8": [
        "0",
        "'-0'",
        "'NaN'",
        "'-NaN'",
        "'Infinity'",
        "'-Infinity'",
        "0.1",
        "'5e-324'",
        "'1.0000000000001'",
        "1",
    ],
    "numeric": [
        *("1", "1.0", "1.00", "0", "0.000", "'-0'", "-1.50", "-1.5", "10000", "'1e4'", "10000.0", "0.0001", "0.00010"),
        *("'NaN'", "'NaN'", "'Infinity'", "'-Infinity'", "'inf'", "'1e130'", "'1e-130'", "1234.5678", "12345678.0"),
        *("100000000", "'1e8'", "1.00000000000000000000000000000000000000001", "repeat('9', 5000)::numeric"),
    ],
    "two_digits": ["1", "1.00", "1.004", "1.01"],
    "interval": [
        *("'1 day'", "'24 hours'", "'1 month'", "'30 days'", "'720 hours'", "'1 year'", "'12 months'", "'360 days'"),
        *("'365 days'", "'0'", "'1 month -30 days'", "'-1 day'", "'-24:00'", "'1 microsecond'", "'178000000 years'"),
        *("'-178000000 years'", "'1 mon -29 days'"),
    ],
    "text": ["''", "' '", "'a'", "'a '", "'A'", "'é'", "U&'e\\0301'", "repeat('x', 5000)", "repeat('x', 5000)"],
    "varchar(20)": ["''", "' '", "'a'", "'a '", "'a'", "'A'"],
    "char(6)": ["''", "' '", "'a'", "'a '", "'a     '", "' a'", "'A'", "E'a\\t'"],
    "bpchar": ["''", "'  '", "'a'", "'a  '", "' a'"],
    "name": ["''", "'a'", "'a '", "'a'", "repeat('n', 63)"],
    "bytea": ["''", "'\\x00'", "'\\x0000'", "'\\x20'", "'\\x00'", "'\\xff'", "decode(repeat('ab', 3000), 'hex')"],
    "uuid": [
        "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'",
        "'{A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11}'",
        "'00000000-0000-0000-0000-000000000000'",
    ],
    "inet": ["'10.0.0.1'", "'10.0.0.1/32'", "'10.0.0.1/24'", "'::1'", "'::ffff:10.0.0.1'", "'0:0::1/128'"],
    "cidr": ["'10.0.0.0/8'", "'10'", "'10.0.0.0/24'", "'::/0'", "'0.0.0.0/0'"],
    "macaddr": ["'08:00:2b:01:02:03'", "'08002b-010203'", "'0800.2b01.0204'"],
    "macaddr8": ["'08:00:2b:01:02:03:04:05'", "'08002b0102030405'", "'08:00:2b:01:02:03'", "'08:00:2b:ff:fe:01:02:03'"],
    "bit(3)": ["'101'", "'000'", "5::bit(3)", "'100'"],
    "varbit": ["''", "'0'", "'00'", "'1'", "'1'", "'10000000'", "'100000000'"],
    "tid": ["'(0,1)'", "'(0,1)'", "'(1,0)'", "'(4294967295,65535)'"],
    "tsvector": ["'a b'", "'b a'", "'a:1 b'", "''", "'a a b'"],
    "tsquery": ["'a & b'", "'a&b'", "'b & a'", "'a | b'"],
    "mood": ["'sad'", "'happy'", "'ok'", "'sad'"],
    "jsonb": [
        *("'1'", "'1.0'", "'1.00'", "'\"1\"'", "'null'", "'{}'", "'[]'", '\'{"a": 1, "b": 2}\'', "'[1]'", "'[1.0]'"),
        *('\'{"b":2.0,"a":1}\'', "'{\"a\": 1}'", "'[[]]'", "'true'", "'\"\"'", '\'{"a": 1, "a": 2}\'', "'{\"a\": 2}'"),
    ],
    "aclitem": ["'pg_monitor=r/pg_monitor'", "'pg_monitor=r/pg_monitor'", "'pg_monitor=w/pg_monitor'"],
    "oidvector": ["''", "'1 2'", "'1  2'", "'2 1'", "'4294967295'"],
    "int2vector": ["''", "'1 2'", "'1  2'", "'2 1'"],
    "int4[]": ["'{}'", "'{}'", "'{1,2}'", "'{2,1}'", "'{1,NULL}'", "'{NULL}'", "'{{1,2}}'", "'[0:1]={1,2}'"],
    "numeric[]": ["'{1.0}'", "'{1.00}'", "'{1}'", "'{1,1}'", "'{NaN}'", "'{}'", "array_remove('{1,NULL}', NULL)"],
    "float8[]": ["'{0}'", "'{-0}'", "'{NaN}'", "'{-NaN}'"],
    "text[]": ["'{}'", "'{\"\"}'", "'{NULL}'", "'{\"NULL\"}'", "'{a}'", "array_remove('{a,NULL}', NULL)"],
    "price": [
        "(1.0, 'EUR')::price",
        "(1.00, 'EUR')::price",
        "(1, NULL)::price",
        "(NULL, NULL)::price",
        "(1, '')::price",
    ],
    "int4range": ["'[1,2]'", "'[1,3)'", "'(0,2]'", "'empty'", "'(1,1)'", "'(,)'", "'[1,)'"],
    "numrange": ["'[1.0,2]'", "'[1,2.00]'", "'[1,2)'", "'empty'"],
    "float_span": ["'[0,1]'", "'[-0,1]'", "'empty'"],
    "nummultirange": ["'{}'", "'{[1,2]}'", "'{[1.0,1.5],[1.2,2.0]}'", "'{[1,2),[3,4)}'", "'{empty}'"],
}

# Types that COUNT(DISTINCT) refuses: they have neither hash nor order.
WITHOUT_EQUALITY = {
    *("json", "xml", "jsonpath", "point", "line", "lseg", "box", "path", "polygon", "circle", "refcursor"),
    *("pg_snapshot", "txid_snapshot", "gtsvector"),
}
HASHED_BY_THE_SERVER = {"int2vector", "oidvector"}
# What only the server itself keeps: its catalogs' own.
OF_THE_CATALOGS = {
    *("pg_node_tree", "pg_ndistinct", "pg_dependencies", "pg_mcv_list"),
    *("pg_brin_bloom_summary", "pg_brin_minmax_multi_summary"),
}


@dataclasses.dataclass(frozen=True)
class Truth:
    """What the server says, and what we do, by type."""

    server: dict[str, tuple[int, int]]
    ours: dict[str, Outcome]
    again: dict[str, Outcome]


def scanned(server: EmbeddedServer, table: str, seed: int = 0) -> list[Outcome]:
    """Of each column what `dbdyno ndv` finds."""
    return engine.scan_postgres(planned(server, table, seed), None)[0]["columns"]


def planned(server: EmbeddedServer, table: str, seed: int = 0) -> Outcome:
    """The spec of a scan of all columns."""
    with connect(server.endpoint) as session:
        source = plan_source(read_catalogue(session, "--table", table))
    assert not source.left_out
    return plan_copy(source, server.endpoint, CopyOptions(seed=seed))


def fill(server: EmbeddedServer, table: str, values: dict[str, list[str]]) -> None:
    """A column for each type; the longest list makes the rows, twice, and one row is all NULL."""
    longest = max(len(literals) for literals in values.values())
    server.execute(f"CREATE TABLE {table} ({', '.join(f'c{at} {type_}' for at, type_ in enumerate(values))})")
    cells = [[f"({item})::{type_}" for item in literals] for type_, literals in values.items()]
    for row in range(longest + 1):
        items = ", ".join(literals[row] if row < len(literals) else "NULL" for literals in cells)
        server.execute(f"INSERT INTO {table} SELECT {items} FROM generate_series(1, 2)")


def counted(server: EmbeddedServer, table: str, count: int) -> list[tuple[int, int]]:
    """Of each column COUNT(DISTINCT), and its nulls. The aggregate itself refuses types that have no order."""
    items = (
        f"(SELECT count(*) FROM (SELECT DISTINCT c{at} FROM {table} WHERE c{at}::text IS NOT NULL) AS d),"
        f" (SELECT count(*) FROM {table} WHERE c{at}::text IS NULL)"
        for at in range(count)
    )
    (row,) = rows(server, f"SELECT {', '.join(items)}")
    return list(zip(row[::2], row[1::2], strict=True))


@pytest.fixture(scope="module")
def truth(server: EmbeddedServer) -> Truth:
    """All types in one table, read once, and once more with another seed."""
    server.execute(TYPES)
    fill(server, "truth", VALUES)
    ours, again = (dict(zip(VALUES, scanned(server, "truth", seed), strict=True)) for seed in (0, 2**63 + 1))
    return Truth(dict(zip(VALUES, counted(server, "truth", len(VALUES)), strict=True)), ours, again)


@pytest.mark.parametrize("type_", VALUES)
def test_one_value_to_the_server_is_one_value_here(truth: Truth, type_: str) -> None:
    """NDV and nulls are those of COUNT(DISTINCT), exactly, whatever the seed."""
    for seen in (truth.ours[type_], truth.again[type_]):
        assert (seen["ndv"]["estimate"], seen["nulls"]) == truth.server[type_]
        assert seen["exact"]


def test_every_built_in_type_is_known_or_known_to_have_no_equality(server: EmbeddedServer) -> None:
    """Each base type of pg_catalog has a decoder, or is hashed by the server, or COUNT(DISTINCT) refuses it, too."""
    names = rows(
        server,
        """SELECT typname FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace AND typtype = 'b'
           AND typelem = 0 OR typname IN ('int2vector', 'oidvector', 'name', 'point', 'box', 'lseg', 'line')""",
    )
    found = {name for (name,) in names}
    assert found - OF_THE_CATALOGS - WITHOUT_EQUALITY - HASHED_BY_THE_SERVER == set(BUILT_IN)
    for name in WITHOUT_EQUALITY & found:
        assert decoding_of(name, "b") is None
        with pytest.raises(psycopg.errors.UndefinedFunction), server.connect() as session:
            session.execute(f"SELECT count(DISTINCT NULL::{name})".encode())


def test_every_type_of_the_table_has_its_values_here() -> None:
    """No decoder is believed without a proof."""
    spelled = {'"char"': "char", "varchar(20)": "varchar", "bit(3)": "bit"}
    proved = {spelled.get(type_, type_) for type_ in VALUES}
    assert (set(BUILT_IN) | HASHED_BY_THE_SERVER) - proved == set()


def test_random_values_of_types_with_many_forms(server: EmbeddedServer) -> None:
    """20,000 random numerics, intervals, floats, blank-padded texts, JSON numbers and arrays, few of them different."""
    server.execute(
        """
        SELECT setseed(0.4);
        CREATE TABLE many_forms AS
        SELECT round((random() * 60 - 30)::numeric, (random())::int) * power(10::numeric, (random() * 6 - 3)::int)
                   AS c0,
               make_interval(months => (random() * 2)::int, days => 30 * (random() * 4 - 2)::int,
                             hours => 12 * (random() * 6 - 3)::int) AS c1,
               (random() * 10 - 5)::int::float8 * 0.1 AS c2,
               (repeat('x', (random() * 3)::int) || repeat(' ', (random() * 3)::int))::char(8) AS c3,
               jsonb_build_object('a', round((random() * 9)::numeric, (random() * 3)::int), 'b.0', '1.0') AS c4,
               ARRAY[round((random() * 3)::numeric, (random() * 2)::int), NULL] AS c5,
               (random() * 10 - 5)::int::float4 * '-0'::float4 AS c6
          FROM generate_series(1, 20000)
        """
    )
    found = scanned(server, "many_forms")
    assert [(each["ndv"]["estimate"], each["nulls"]) for each in found] == counted(server, "many_forms", 7)


@pytest.fixture(scope="module")
def icu_server(cache: Path) -> Iterator[EmbeddedServer]:
    """A server with ICU, which the wheel's has not."""
    if not (ICU_SERVER_BIN / "postgres").exists():
        pytest.skip(f"no server with ICU in {ICU_SERVER_BIN} (apt-get install postgresql-15)")
    with EmbeddedServer(server_bin=ICU_SERVER_BIN) as started:
        yield started


def test_collations_that_are_not_deterministic(icu_server: EmbeddedServer) -> None:
    """Texts that differ in case only are one value where the collation says so, also in an array and a record."""
    icu_server.execute("CREATE COLLATION either (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
    values = {
        "text COLLATE either": ["'a'", "'A'", "'é'", "U&'e\\0301'", "'b'"],
        "varchar(9) COLLATE either": ["'a'", "'A'", "'b'", "'a '"],
        "char(5) COLLATE either": ["'a'", "'A '", "'a  '", "'b'"],
        "text[] COLLATE either": ["'{a}'", "'{A}'", "'{b}'"],
    }
    fill(icu_server, "either_case", values)
    assert {each["decoder"] for each in planned(icu_server, "either_case")["columns"]} == {"hashed"}
    found = scanned(icu_server, "either_case")
    assert [(each["ndv"]["estimate"], each["nulls"]) for each in found] == counted(icu_server, "either_case", 4)
