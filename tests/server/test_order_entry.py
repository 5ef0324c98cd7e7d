"""order-entry on a server: what is loaded, what the nine transactions do to it, and whether the invariants see harm."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any

import pytest

from dbdyno import engine, workloads
from dbdyno.runner.schema import build_workload
from dbdyno.targets.embedded import EmbeddedServer
from dbdyno.targets.endpoint import Endpoint
from dbdyno.targets.external import ExternalServer
from dbdyno.targets.target import Target

pytestmark = pytest.mark.server

found = workloads.find("order-entry")
assert found is not None
ORDER_ENTRY = found


@pytest.fixture(scope="module")
def shop(server: EmbeddedServer) -> EmbeddedServer:
    """order-entry at scale 1."""
    build_workload(ORDER_ENTRY, server, scale=1, data_seed=1, say=lambda what: None)
    server.vacuum(())
    return server


def violations(target: Target) -> dict[str, int]:
    """The invariants that do not hold, and how often."""
    with target.connect() as session:
        counts = {name: session.execute(query.encode()).fetchone() for name, query in ORDER_ENTRY.invariants.items()}
    return {name: row[0] for name, row in counts.items() if row != (0,)}


def row(target: Target, query: str) -> tuple[Any, ...]:
    """The one row of a query."""
    with target.connect() as session:
        found = session.execute(query.encode()).fetchone()
    assert found is not None
    return found


def scans(target: Target) -> dict[str, int]:
    """How often each index was looked into."""
    with target.connect() as session:
        return dict(session.execute("SELECT indexrelname, idx_scan FROM pg_stat_user_indexes").fetchall())


def load(target: Target, scripts: list[tuple[str, str, int]], clients: int, window_ms: int) -> dict[str, Any]:
    """One trial of some of the scripts; its backends are gone, and have told what they counted, when it returns."""
    endpoint = target.endpoint
    outcome = engine.run_trial(
        {
            "target": {
                "host": endpoint.host,
                "port": endpoint.port,
                "user": endpoint.user,
                "dbname": endpoint.dbname,
                "application_name": "nine",
            },
            "session_sql": list(target.session_sql),
            "scripts": [{"name": name, "text": text, "weight": weight} for name, text, weight in scripts],
            "variables": {"scale": "1"},
            "mode": "prepared",
            "clients": clients,
            "threads": 1,
            "arrival": {"kind": "closed"},
            "seed": 1,
            "warm_up_ns": 0,
            "window_ns": window_ms * 1_000_000,
            "waits": {"route": "off"},
        },
        None,
    )
    while row(target, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'nine'") != (0,):
        time.sleep(0.01)
    return outcome


def script_named(name: str) -> tuple[str, str, int]:
    """One of the nine."""
    return next(script for script in ORDER_ENTRY.scripts if script[0] == name)


def test_loaded_data_is_consistent_and_as_large_as_it_says(shop: EmbeddedServer) -> None:
    """Keys and foreign keys were accepted, invariants hold, identity columns go on behind the load."""
    assert row(shop, "SELECT count(*), max(order_id) FROM orders") == (14_000, 14_000)
    assert row(shop, "SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND convalidated") == (11,)
    assert row(shop, "SELECT nextval(pg_get_serial_sequence('orders', 'order_id'))") == (14_001,)
    assert violations(shop) == {}


@pytest.mark.parametrize(
    ("invariant", "harm"),
    [
        ("order_totals", "UPDATE orders SET order_total = order_total + 0.01 WHERE order_id = 1"),
        ("order_totals", "UPDATE order_items SET quantity = quantity + 1 WHERE order_id = 1 AND line = 1"),
        ("orders_without_items", "DELETE FROM order_items WHERE order_id = 2"),
        ("items_without_order", "DELETE FROM orders WHERE order_id = 3"),
        ("items_without_product", "DELETE FROM products WHERE product_id = (SELECT min(product_id) FROM order_items)"),
        ("orders_without_customer", "DELETE FROM customers WHERE customer_id = (SELECT min(customer_id) FROM orders)"),
        ("missing_lines", "UPDATE order_items SET line = 9 WHERE order_id = 4 AND line = 1"),
        (
            "strange_addresses",
            "UPDATE orders SET delivery_address_id = delivery_address_id % 100 + 1 WHERE order_id = 5",
        ),
        ("customers_without_address_or_card", "DELETE FROM card_details WHERE customer_id = 6"),
        ("negative_stock", "UPDATE inventories SET quantity_on_hand = -1 WHERE (product_id, warehouse_id) = (7, 1)"),
        ("unbalanced_stock", "UPDATE inventories SET quantity_issued = 1 WHERE (product_id, warehouse_id) = (7, 2)"),
        ("issued_but_not_ordered", "UPDATE orders SET from_stock = true WHERE order_id = 8"),
        ("half_shipped_orders", "UPDATE order_items SET dispatched_on = NULL WHERE order_id = 9 AND line = 1"),
    ],
)
def test_each_invariant_sees_the_harm_that_it_is_for(shop: EmbeddedServer, invariant: str, harm: str) -> None:
    """Done behind the back of the foreign keys, in a transaction that is taken back."""
    with shop.connect() as session, session.transaction(force_rollback=True):
        session.execute("SET LOCAL session_replication_role = replica")
        session.execute(harm.encode())
        (count,) = session.execute(ORDER_ENTRY.invariants[invariant].encode()).fetchone() or (0,)

    assert count > 0


def test_every_invariant_is_put_to_the_test() -> None:
    """None is left out above."""
    (mark,) = (
        mark for mark in test_each_invariant_sees_the_harm_that_it_is_for.pytestmark if mark.name == "parametrize"
    )

    assert {case[0] for case in mark.args[1]} == set(ORDER_ENTRY.invariants)


def index_comments() -> Iterator[tuple[str, set[str]]]:
    """Each index of constraints.sql and the transactions that the comment above it names."""
    names = "|".join(name for name, _, _ in ORDER_ENTRY.scripts)
    for comment, index in re.findall(r"((?:^--.*\n)+)CREATE INDEX (\w+)", ORDER_ENTRY.constraints_sql, re.MULTILINE):
        yield index, set(re.findall(names, comment))


def test_each_index_serves_the_transactions_that_its_comment_names(shop: EmbeddedServer) -> None:
    """By the server's own count of scans, one script at a time.

    A planner that looks up the ends of a column's range counts as well, so other transactions may show up; an index
    that would be kept for no reason at all must have none.
    """
    claimed = dict(index_comments())
    unused: dict[str, set[str]] = {index: set(scripts) for index, scripts in claimed.items()}
    useless = {"products_supplier": 0, "orders_mode": 0}
    for script in ORDER_ENTRY.scripts:
        before = scans(shop)
        load(shop, [script], clients=1, window_ms=150)
        after = scans(shop)
        for index in claimed:
            if after[index] > before[index]:
                unused[index].discard(script[0])
        for index in useless:
            useless[index] += after[index] - before[index]

    assert len(claimed) == 18
    assert unused == {index: set() for index in claimed}
    assert useless == {"products_supplier": 0, "orders_mode": 0}


def test_forty_users_at_once_break_nothing(shop: EmbeddedServer) -> None:
    """No unit fails, no deadlock, every kind is done, and what they left behind is consistent."""
    query = "SELECT sum(deadlocks) FROM pg_stat_database"
    before = row(shop, query)
    outcome = load(shop, list(ORDER_ENTRY.scripts), clients=40, window_ms=2_000)

    assert row(shop, query) == before
    assert outcome["units"]["failed"] == 0
    assert min(script["successful"] for script in outcome["scripts"]) > 0
    assert row(shop, "SELECT count(*) > 0 FROM orders WHERE from_stock") == (True,)
    assert violations(shop) == {}


def test_stock_that_runs_out_is_refused_not_oversold(shop: EmbeddedServer) -> None:
    """With two pieces of everything and nobody who refills it: all is sold once, orders get smaller, none is empty."""
    shop.execute("UPDATE inventories SET quantity_received = quantity_issued + 2, quantity_on_hand = 2")
    outcome = load(shop, [script_named("order-products")], clients=10, window_ms=1_500)

    assert outcome["units"]["failed"] == 0
    assert row(shop, "SELECT count(*) > 100 FROM inventories WHERE quantity_on_hand = 0") == (True,)
    assert violations(shop) == {}


def test_refilling_ends_shortage(shop: EmbeddedServer) -> None:
    """Forty products are short in ten warehouses: each is refilled once, by eight stock-keepers at once."""
    shop.execute(
        "UPDATE inventories SET quantity_received = quantity_issued + stock, quantity_on_hand = stock "
        "FROM (SELECT product_id, CASE WHEN product_id <= 40 THEN 5 ELSE 150 END AS stock FROM products) AS planted "
        "WHERE planted.product_id = inventories.product_id"
    )
    load(shop, [script_named("warehouse-query")], clients=8, window_ms=500)

    assert row(
        shop,
        "SELECT count(*) FILTER (WHERE quantity_on_hand < 100), count(*) FILTER (WHERE quantity_on_hand = 505) "
        "FROM inventories",
    ) == (0, 400)
    assert violations(shop) == {}


def test_on_a_server_that_is_not_ours_it_lives_in_our_schema_only_and_goes(shop: EmbeddedServer) -> None:
    """Loaded beside tables of the same names, foreign keys and identity columns included, used, and dropped whole."""
    endpoint = shop.endpoint
    theirs = Endpoint(endpoint.host, endpoint.port, endpoint.user, endpoint.dbname, sslmode="disable")
    with shop.connect() as session:
        query = b"SELECT count(*), sum(quantity_issued) FROM inventories"
        before = session.execute(query).fetchone()
        with ExternalServer(theirs, allow_write=True) as guest:
            build_workload(ORDER_ENTRY, guest, scale=1, data_seed=1, say=lambda what: None)
            schema = guest.workspace().schema
            outcome = load(guest, list(ORDER_ENTRY.scripts), clients=4, window_ms=300)
            assert session.execute(
                f"SELECT sum(quantity_issued) > 0 FROM {schema}.inventories".encode()
            ).fetchone() == (True,)
            assert violations(guest) == {}

        assert outcome["units"]["failed"] == 0
        assert session.execute(query).fetchone() == before
        assert session.execute("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'dbdyno_%'").fetchone() == (0,)
