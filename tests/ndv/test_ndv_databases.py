"""`dbdyno ndv` of databases in files: counts as the engine says, its keys, and what is wrong with a wish, in a line."""

from __future__ import annotations

import itertools
import json
import re
import sqlite3
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
from called import Told, called

from dbdyno.errors import DynoError
from dbdyno.ndv import duckdb_session

ENGINES = ("duckdb", "sqlite")
# The same in both, for SQLite takes any type's name; but for series of numbers.
SERIES = {
    "duckdb": "range(1, {0} + 1) AS numbers (n)",
    "sqlite": "(WITH RECURSIVE s (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM s WHERE n < {0}) SELECT n FROM s) AS f",
}
TABLES = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, email VARCHAR UNIQUE, country VARCHAR COLLATE NOCASE);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers (id), other_id INTEGER,
                     amount DECIMAL(10, 2), paid DOUBLE, note VARCHAR);
INSERT INTO customers SELECT n, 'c' || n || '@example.org', CASE n % 4 WHEN 0 THEN 'fr' WHEN 1 THEN 'FR' ELSE 'de' END
  FROM FIRST_12000;
INSERT INTO orders SELECT n, 1 + n % 9000, 15000 + n % 9000, n % 150 / 2.0, n % 3 * 0.5,
    CASE WHEN n % 10 < 3 THEN NULL ELSE 'note ' || (n % 11) END
  FROM FIRST_20000;
CREATE VIEW countries AS SELECT country, count(*) AS many FROM customers GROUP BY country;
"""


@pytest.fixture(scope="module", params=ENGINES)
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables in a file of one engine."""
    path = tmp_path_factory.mktemp("databases") / f"shop.{request.param}"
    tables = re.sub(r"FIRST_(\d+)", lambda number: SERIES[request.param].format(number[1]), TABLES)
    if request.param == "duckdb":
        with duckdb.connect(str(path)) as session:
            session.execute(tables)
    else:
        session = sqlite3.connect(path)
        session.executescript(tables)
        session.close()
    return path


def ndv(*arguments: str | Path) -> Told:
    """The command on these arguments."""
    return called("ndv", *arguments)


def told_by(database: Path, statement: str) -> Any:
    """What the engine says itself."""
    if database.suffix == ".duckdb":
        with duckdb.connect(str(database), read_only=True) as session:
            return session.execute(statement).fetchall()
    reading = sqlite3.connect(database)
    try:
        return reading.execute(statement).fetchall()
    finally:
        reading.close()


def test_counts_as_the_engine_counts(database: Path, tmp_path: Path) -> None:
    """Exact ones to the last, the others within their intervals; nothing of a planner, and nothing written."""
    before = [(path.name, path.read_bytes()) for path in sorted(database.parent.iterdir())]

    told = ndv(database, "--table", "ORDERS", "--group", "amount,note", "--json", "--out", tmp_path / "out")

    assert told.stderr == ""
    found = json.loads(told.stdout)
    names = ("id", "customer_id", "other_id", "amount", "paid", "note")
    counts = ", ".join(f"count(DISTINCT {name}), count(*) - count({name})" for name in names)
    ((rows, *wanted),) = told_by(database, f"SELECT count(*), {counts} FROM orders")
    ((together,),) = told_by(database, "SELECT count(*) FROM (SELECT DISTINCT amount, note FROM orders) AS d")
    assert (found["table"], found["rows"], found["kind"], found["via"]) == (
        "orders", rows, "table", database.suffix[1:],
    )  # fmt: skip
    assert [one["nulls"] for one in found["columns"]] == wanted[1::2]
    for one, true in zip(found["columns"], wanted[::2], strict=True):
        if one["exact"]:
            assert one["ndv"]["estimate"] == true
        else:
            assert one["ndv"]["low"] <= true <= one["ndv"]["high"]
        assert (one["planner"], one["verdict"]) == (None, "not_compared")
    assert [one["exact"] for one in found["columns"]] == [False, False, False, True, True, True]
    assert (found["groups"][0]["ndv"]["estimate"], found["server_version"]) == (together, None)
    assert [one["growth"]["evidence"] for one in found["columns"]][::3] == ["unique", "saturates"]
    assert [(path.name, path.read_bytes()) for path in sorted(database.parent.iterdir())] == before


def test_columns_that_refer_to_another_table(database: Path, tmp_path: Path) -> None:
    """By a constraint; without one a part of the values only, so by nothing."""
    told = ndv(database, "--table", "orders", "--table", "customers", "--json", "--out", tmp_path / "out")

    orders, customers = json.loads(told.stdout)["tables"]
    assert [(one["column"], one["refers_to"], one["standing"]) for one in orders["foreign_keys"]] == [
        ("orders.customer_id", "customers.id", "declared")
    ]
    assert orders["foreign_keys"][0]["orphans"]["estimate"] == 0.0
    assert customers["columns"][2]["ndv"]["estimate"] == 2  # fr is FR, as the column's collation says


def test_some_rows_some_columns_and_views(database: Path, tmp_path: Path) -> None:
    """A condition is the engine's own; a view has values, and no order of rows."""
    some = ndv(database, "--table", "orders", "--where", "id <= 100 -- the first", "--columns", "NOTE,Amount", "--json",
               "--out", tmp_path / "some")  # fmt: skip
    view = ndv(database, "--table", "countries", "--json", "--out", tmp_path / "view")

    assert [(one["column"], one["ndv"]["estimate"]) for one in json.loads(some.stdout)["columns"]] == [
        ("amount", 100), ("note", 11),
    ]  # fmt: skip
    found = json.loads(view.stdout)
    assert (found["kind"], [one["ndv"]["estimate"] for one in found["columns"]]) == ("view", [2, 1])


def test_the_report_is_the_same_again_from_the_directory(database: Path, tmp_path: Path) -> None:
    """Byte for byte; no column of a planner, no fix."""
    text = ndv(database, "--table", "customers", "--out", tmp_path / "out").stdout
    again = called("report", tmp_path / "out").stdout

    assert again == text
    assert "A value of their own in each row: id, email." in text
    assert "planner" not in text
    assert max(map(len, text.splitlines())) <= 80 or str(tmp_path) in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "--table: name one; there are "),
        (["--table", "nope"], "--table nope: no such table; there are "),
        (["--table", "orders", "--table", "Orders"], "--table Orders: is named twice; name it once"),
        (["--table", "orders", "--columns", "x"], "--columns x: no such column; there are id, customer_id"),
        (["--table", "orders", "--group", "id"], "--group id: name two columns or more"),
        (["--table", "orders", "--where", "id <"], "--where id <: "),
        (["--table", "orders", "--where", "1=1) OR (1=1"], "; write what could stand behind WHERE"),
        (["--table", "orders", "--where", "1=1; SELECT 1"], "; write what could stand behind WHERE"),
        (["--table", "orders", "--what-if", "SELECT 1"], "--what-if: is for a PostgreSQL server, and this is a "),
        (["--table", "orders", "--via", "sql"], "--via: is for a PostgreSQL server, and this is a "),
        (["--table", "orders", "--workers", "2"], "--workers: is for files that are one table, and this is a "),
        (["--table", "orders", "--table", "customers", "--where", "1=1"], "--where: is about one table, and several"),
    ],
)
def test_what_cannot_be_counted_is_one_line(database: Path, tmp_path: Path, arguments: list[str], words: str) -> None:
    """Exit code 2, and no directory is left."""
    told = ndv(database, *arguments, "--out", tmp_path / "out")

    assert (told.returncode, told.stdout, told.stderr.count("\n")) == (2, "", 1)
    assert words in told.stderr
    assert not (tmp_path / "out").exists()


# Values that are near each other, of each type that DuckDB has; the count is DuckDB's own.
ADVERSARIAL = {
    "BOOLEAN": "true, false, NULL",
    "TINYINT": "1, -1, 127",
    "HUGEINT": "1, -1, 170141183460469231731687303715884105727, -170141183460469231731687303715884105728",
    "UHUGEINT": "1, 340282366920938463463374607431768211455, 170141183460469231731687303715884105728",
    "DECIMAL(10, 3)": "1.5, 1.50, 1.501, 0, -0.0",
    "DOUBLE": "0.0, -0.0, 'nan', '-nan', 'inf', '-inf', 0.1, 0.30000000000000004, 0.3",
    "FLOAT": "0.0, -0.0, 'nan', 0.1, 16777216, 16777217",
    "VARCHAR": "'a', 'A', 'a ', '', 'ä', 'a' || chr(776)",
    "VARCHAR COLLATE NOCASE": "'a', 'A', 'ä', 'Ä', 'b'",
    "BLOB": r"'a', '\x00', '', '\x00\x00'",
    "BIT": "'1', '01', '001', '00000001'",
    "DATE": "'1970-01-01', '2000-01-01', '0001-01-01', 'infinity', '-infinity'",
    "TIME": "'00:00:00', '24:00:00', '12:00:00.000001'",
    "TIME WITH TIME ZONE": "'12:00:00+00', '13:00:00+01', '12:00:00+01'",
    "TIMESTAMP": "'1970-01-01', '1970-01-01 00:00:00.000001', 'infinity', '-infinity'",
    "TIMESTAMP_S": "'1970-01-01 00:00:00', '1970-01-01 00:00:01'",
    "TIMESTAMP_MS": "'1970-01-01 00:00:00', '1970-01-01 00:00:00.001'",
    "TIMESTAMP_NS": "'1970-01-01 00:00:00', '1970-01-01 00:00:00.000000001'",
    "TIMESTAMP WITH TIME ZONE": "'1970-01-01 00:00:00+00', '1970-01-01 01:00:00+01', '1970-01-01 01:00:00+00'",
    "INTERVAL": "'1 month', '30 days', '720 hours', '31 days', '-1 day'",
    "UUID": "'00000000-0000-0000-0000-000000000000', '80000000-0000-0000-0000-000000000000'",
    "ENUM ('a', 'b', 'c')": "'a', 'c', 'a'",
    "JSON": """'{"a": 1}', '{"a":1}', '1', '1.0'""",
    "INTEGER[]": "[1, 2], [1], [], [NULL], [1, NULL], NULL",
    "VARCHAR[][]": "[['a', 'b']], [['a'], ['b']], [['ab']], [[], ['a', 'b']]",
    "INTEGER[2]": "[1, 2], [2, 1], [1, NULL]",
    "STRUCT(a INTEGER, b VARCHAR)": "{'a': 1, 'b': 'x'}, {'a': 1, 'b': NULL}, {'a': NULL, 'b': NULL}, NULL",
    "MAP(VARCHAR, INTEGER)": "MAP {'a': 1, 'b': 2}, MAP {'a': 1}, MAP {}",
}
UNCOUNTED = {
    "VARCHAR COLLATE NOACCENT": "'a'",
    "UNION(a INTEGER, b VARCHAR)": "1",
}


def test_each_type_of_duckdb(tmp_path: Path) -> None:
    """As many different values as COUNT(DISTINCT) says; what cannot be compared is not counted, and said."""
    path = tmp_path / "types.db"
    every = ADVERSARIAL | UNCOUNTED
    names = [f"c{number}" for number in range(len(every))]
    with duckdb.connect(str(path)) as session:
        session.execute(f"CREATE TABLE t ({', '.join(map(' '.join, zip(names, every, strict=True)))})")
        for row in itertools.zip_longest(*map(_parts, every.values()), fillvalue="NULL"):
            session.execute(f"INSERT INTO t VALUES ({', '.join(row)}), ({', '.join(row)})")
        wanted = [f"count(DISTINCT {name})" for name in names[: len(ADVERSARIAL)]]
        counts = session.execute(f"SELECT {', '.join(wanted)} FROM t").fetchall()[0]

    found = json.loads(ndv(path, "--table", "t", "--json", "--out", tmp_path / "out").stdout)

    types = dict(zip(names, every, strict=True))
    assert {types[one["column"]]: one["ndv"]["estimate"] for one in found["columns"]} == dict(
        zip(ADVERSARIAL, counts, strict=True)
    )
    assert sorted(types[one["column"]] for one in found["not_counted"]) == sorted(UNCOUNTED)


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """How to install it, or a newer one, in a line."""
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "duckdb", None)
        with pytest.raises(DynoError, match=r"which is not here; pip install 'dbdyno\[duckdb\]'") as told:
            duckdb_session.opened(tmp_path).__enter__()
    assert told.value.code == "no_duckdb"
    monkeypatch.setattr(duckdb, "__version__", "1.4.4")
    with pytest.raises(DynoError, match=r"duckdb 1\.4\.4 would keep whole tables in memory; pip install"):
        duckdb_session.opened(tmp_path).__enter__()


def test_a_damaged_or_locked_database_of_duckdb(tmp_path: Path) -> None:
    """DuckDB's own first line, with the file's name; exit code 2."""
    locked, damaged = tmp_path / "locked.db", tmp_path / "damaged.db"
    damaged.write_bytes(bytes(8) + b"DUCK" + bytes(100))
    with duckdb.connect(str(locked)) as session:
        session.execute("CREATE TABLE t (a INTEGER)")
        session.execute("CHECKPOINT")
        told = [ndv(path, "--table", "t", "--out", tmp_path / "out") for path in (locked, damaged)]

    for path, one in zip((locked, damaged), told, strict=True):
        assert (one.returncode, one.stdout, one.stderr.count("\n")) == (2, "", 1)
        assert one.stderr.startswith(f"dbdyno: {path}: DuckDB cannot read it: ")


def _parts(values: str) -> list[str]:
    """At the commas that are in no brackets and no quotes."""
    parts, depth, quoted = [""], 0, False
    for letter in values:
        quoted ^= letter == "'"
        if not quoted:
            depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0 and not quoted:
            parts.append("")
        else:
            parts[-1] += letter
    return parts
