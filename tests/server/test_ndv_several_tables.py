"""`dbdyno ndv` of several tables: each a count of its own, and what their columns say of each other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from called import Told, called

from dbdyno.commands import kept_counts
from dbdyno.targets.embedded import EmbeddedServer

pytestmark = pytest.mark.server

# Orders refer to 20,000 of the customers, without a constraint, 500 of which (2.5 %) are not there any more; lines
# refer to orders with one. An employee's manager is an employee.
TABLES = """
CREATE TABLE customers AS SELECT i AS id, md5(i::text) AS name FROM generate_series(501, 40000) i;
CREATE TABLE orders AS SELECT i AS id, 1 + i % 20000 AS customer_id, i % 7 AS status FROM generate_series(1, 60000) i;
ALTER TABLE orders ADD PRIMARY KEY (id);
CREATE TABLE lines (order_id int REFERENCES orders, quantity int);
INSERT INTO lines SELECT 1 + i % 3000, 1 + i % 90 FROM generate_series(1, 9000) i;
CREATE SCHEMA archive; CREATE TABLE archive.orders AS SELECT * FROM orders WHERE id <= 20;
CREATE TABLE employees AS
  SELECT i AS id, CASE WHEN i > 1 THEN 1 + i / 10 END AS manager FROM generate_series(1, 9000) i;
ANALYZE;
"""


@pytest.fixture(scope="module")
def server(cache: object) -> Iterator[EmbeddedServer]:
    """One with the tables."""
    with EmbeddedServer() as started:
        started.execute(TABLES)
        yield started


def ndv(server: EmbeddedServer, *arguments: str | Path) -> Told:
    """`dbdyno ndv` of this server."""
    endpoint = server.endpoint
    url = f"postgres://{endpoint.user}@/{endpoint.dbname}?host={endpoint.host}&port={endpoint.port}"
    return called("ndv", url, *arguments)


def keys_of(table: dict[str, Any]) -> list[tuple[str, str, str, bool]]:
    """The hints of a table that more than chance speaks for."""
    return [
        (key["column"], key["refers_to"], key["standing"], key["exact"])
        for key in table["foreign_keys"]
        if key["standing"] != "possible"
    ]


def test_columns_that_refer_to_another_table(server: EmbeddedServer, tmp_path: Path) -> None:
    """By a constraint, by name with its orphans, by nothing; shown again from the directory, byte for byte."""
    out = tmp_path / "out"
    told = ndv(server, "--table", "lines", "--table", "orders", "--table", "customers", "--json", "--out", out)
    lines, orders, customers = json.loads(told.stdout)["tables"]

    assert [one["table"] for one in (lines, orders, customers)] == [
        "public.lines", "public.orders", "public.customers",
    ]  # fmt: skip
    assert keys_of(lines) == [("public.lines.order_id", "public.orders.id", "declared", False)]
    assert keys_of(orders) == [("public.orders.customer_id", "public.customers.id", "likely", False)]
    assert keys_of(customers) == []
    orphans = orders["foreign_keys"][0]["orphans"]
    assert orphans["low"] <= 500 / 20000 <= orphans["high"]
    assert lines["foreign_keys"][0]["orphans"]["estimate"] == 0.0
    assert sorted(path.name for path in out.iterdir()) == ["customers", "lines", "orders"]
    assert called("report", out, "--json").stdout == told.stdout
    assert json.loads(called("report", out / "orders", "--json").stdout) == orders
    shown = " ".join(called("report", out).stdout.split())
    assert "public.orders.customer_id -> public.customers.id, likely: the values are contained" in shown


def test_a_column_that_refers_to_its_own_table(server: EmbeddedServer, tmp_path: Path) -> None:
    """One table alone is looked at, too; some of its rows are not, for the others may be what they refer to."""
    all_rows, some = (
        json.loads(ndv(server, "--table", "employees", *where, "--json", "--out", tmp_path / name).stdout)
        for name, where in (("all", []), ("some", ["--where", "id % 2 = 0"]))
    )

    (key,) = all_rows["foreign_keys"]
    assert (key["column"], key["refers_to"]) == ("public.employees.manager", "public.employees.id")
    assert (key["standing"], key["orphans"]["estimate"]) == ("possible", 0.0)
    assert some["foreign_keys"] == []


def test_tables_of_one_name(server: EmbeddedServer, tmp_path: Path) -> None:
    """Each its own directory; a schema's tables all at once."""
    told = ndv(server, "--table", "orders", "--table", "archive.*", "--json", "--out", tmp_path / "out")

    assert [table["rows"] for table in json.loads(told.stdout)["tables"]] == [60000, 20]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["orders", "orders-2"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--table", "orders", "--table", "public.orders"], "--table public.orders: is named twice; name it once"),
        (["--table", "nope.*"], "--table nope.*: no table there in database"),
        (["--table", "public.*", "--what-if", "SELECT 1"], "--what-if: is about one table, and several"),
        (["--table", "orders", "--table", "nope"], "--table nope: no such table in database"),
        (
            ["--table", "orders", "--table", "lines", "--where", "true"],
            "--where: is about one table, and several are named",
        ),
        (["--table", "orders", "--table", "lines", "--columns", "id"], "--columns: is about one table, and several"),
    ],
)
def test_what_cannot_be_counted_is_one_line(
    server: EmbeddedServer, tmp_path: Path, arguments: list[str], words: str
) -> None:
    """Before anything is read, and no directory is left."""
    told = ndv(server, *arguments, "--out", tmp_path / "out")

    assert (told.returncode, told.stdout, told.stderr.count("\n")) == (2, "", 1)
    assert words in told.stderr
    assert not (tmp_path / "out").exists()


def test_a_table_that_fails_leaves_the_counts_before_it(server: EmbeddedServer, tmp_path: Path) -> None:
    """What was measured is kept, and can be shown."""
    server.execute("CREATE VIEW failing AS SELECT 1 / (id - 700) AS x FROM orders")

    told = ndv(server, "--table", "orders", "--table", "failing", "--out", tmp_path / "out")

    assert (told.returncode, told.stdout) == (1, "")
    assert "division by zero" in told.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["orders"]
    assert "public.orders: 60,000 rows" in called("report", tmp_path / "out").stdout


def test_pages_of_many_tables_are_left_until_they_are_asked_for(
    server: EmbeddedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None is written, and the report says how to have one."""
    monkeypatch.setattr(kept_counts, "PAGES_MAX", 1)

    told = ndv(server, "--table", "customers", "--table", "archive.orders", "--out", tmp_path / "out")

    assert told.returncode == 0
    assert not list(tmp_path.glob("out/*/ndv.html"))
    assert f"dbdyno report {tmp_path}/out/customers --html" in told.stdout.replace("\n  ", " ")
    assert called("report", tmp_path / "out" / "customers", "--html").returncode == 0
    assert (tmp_path / "out" / "customers" / "ndv.html").exists()
