"""Plans of scripts on a server: what is explained, what is left out, and that nothing of it stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from small_experiment import write_experiment

from dbdyno.design.experiment import load_experiment
from dbdyno.runner.plans import plans_of
from dbdyno.targets.embedded import EmbeddedServer

pytestmark = pytest.mark.server

EXPERIMENT = """
question = "?"
baseline = { clients = "one" }
[workload]
schema = "none"
script = "work.sql"
[factors.clients]
one = { clients = 1 }
two = { clients = 2 }
"""


def plans(server: EmbeddedServer, directory: Path, script: str, *session_sql: str) -> dict[int, dict[str, Any]]:
    """By line, executed."""
    experiment = load_experiment(write_experiment(directory, EXPERIMENT, {"work.sql": script}))
    with server.connect() as connection:
        found = plans_of(connection, experiment.arms[0], session_sql, 1, analyze=True)
    return {plan["line"]: plan for plan in found}


@pytest.fixture
def orders(server: EmbeddedServer) -> Any:
    """A table that is the same afterwards."""
    server.execute(
        "CREATE TABLE orders (n int PRIMARY KEY, v int); INSERT INTO orders SELECT n, n FROM generate_series(1, 500) n"
    )
    server.vacuum(["orders"])
    yield
    with server.connect() as session:
        assert session.execute("SELECT count(*), sum(v) FROM orders").fetchone() == (500, 125250)
    server.execute("DROP TABLE orders")


@pytest.mark.usefixtures("orders")
def test_every_kind_of_statement_that_has_a_plan(server: EmbeddedServer, tmp_path: Path) -> None:
    """Comments and brackets before its first word do not hide it; others are left out."""
    script = """\\set n 7
BEGIN;
/* one */ -- two
UPDATE orders SET v = v + 1 WHERE n = :n;
(SELECT v FROM orders WHERE n = :n);
WITH gone AS (DELETE FROM orders RETURNING n) SELECT count(*) FROM gone;
CREATE TABLE never (n int);
INSERT INTO never VALUES (1);
COMMIT;
"""
    found = plans(server, tmp_path, script)

    assert {line: plan["shape"] for line, plan in found.items()} == {
        3: "Update on orders > Index Scan using orders_pkey on orders",
        5: "Index Scan using orders_pkey on orders",
        6: "Aggregate (Delete on orders > Seq Scan on orders) > CTE Scan",
    }
    assert found[3]["explain"]["Plan"]["WAL Records"] > 0
    assert found[6]["explain"]["Plan"]["Actual Rows"] == 1


@pytest.mark.usefixtures("orders")
def test_settings_of_the_session_and_of_the_script_are_in_force(server: EmbeddedServer, tmp_path: Path) -> None:
    """A script's own SET holds from its place on, and for this script only."""
    one = "SELECT v FROM orders WHERE n = 7;\n"
    found = plans(server, tmp_path, f"{one}SET LOCAL enable_bitmapscan = off;\n{one}", "SET enable_indexscan = off")

    assert found[1]["shape"] == "Bitmap Heap Scan on orders > Bitmap Index Scan on orders_pkey"
    assert found[3]["shape"] == "Seq Scan on orders"


@pytest.mark.usefixtures("orders")
def test_two_statements_in_one_are_left_out(server: EmbeddedServer, tmp_path: Path) -> None:
    """The second one would be executed; the fixture sees that it was not."""
    script = "SELECT 1 \\; DELETE FROM orders;\nSELECT :unknown \\; DELETE FROM orders;\nSELECT 3;\n"

    assert list(plans(server, tmp_path, script)) == [3]


@pytest.mark.usefixtures("orders")
def test_an_unknown_value_has_a_generic_plan(server: EmbeddedServer, tmp_path: Path) -> None:
    """Since 16; without the execution."""
    if server.server_version_number < 160000:
        pytest.skip("GENERIC_PLAN came with 16")
    (plan,) = plans(server, tmp_path, "SELECT v FROM orders WHERE n = :unknown;\n").values()

    assert plan["shape"] == "Index Scan using orders_pkey on orders"
    assert plan["explain"] is None
