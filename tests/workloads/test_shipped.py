"""Shipped workloads as they are described: their files, scripts and weights, and what an experiment may ask for."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from dbdyno import engine, workloads
from dbdyno.design.experiment import load_experiment
from dbdyno.design.scripts import read_uses
from dbdyno.errors import DynoError

EXPERIMENT = Path("some.toml")

WEIGHTS = {
    "browse-products": 35,
    "order-products": 20,
    "browse-orders": 12,
    "process-orders": 8,
    "register-customer": 5,
    "update-customer-details": 5,
    "sales-rep-query": 5,
    "warehouse-query": 5,
    "warehouse-orders-query": 5,
}


@pytest.mark.parametrize("name", workloads.SHIPPED)
def test_every_shipped_workload_is_found_and_its_scripts_parse(name: str) -> None:
    """All of it but `none` makes tables."""
    found = workloads.find(name)

    assert found is not None
    assert bool(found.tables_sql) == (name != "none")
    for script, text, weight in found.scripts:
        assert engine.check_script(script, text)["statements"] > 0
        assert weight > 0


def test_no_other_workload_is_found() -> None:
    """A name is not a path."""
    assert workloads.find("tpc-h") is None
    assert workloads.find("../experiments") is None


def test_order_entry_stands_for_its_nine_scripts() -> None:
    """With their weights, in a hundred; a weight of the use multiplies them."""
    uses = read_uses(EXPERIMENT, ["builtin:order-entry"])
    twice = read_uses(EXPERIMENT, ["builtin:order-entry@2"])

    assert {script.name: script.weight for script in uses} == WEIGHTS
    assert sum(WEIGHTS.values()) == 100
    assert {script.name: script.weight for script in twice} == {name: 2 * weight for name, weight in WEIGHTS.items()}
    assert all(script.path is None for script in uses)


def test_one_of_the_nine_can_be_asked_for() -> None:
    """Alone it has the weight that the use gives it."""
    (script,) = read_uses(EXPERIMENT, ["builtin:order-entry/order-products@3"])

    assert (script.name, script.weight) == ("order-products", 3)
    assert "FOR NO KEY UPDATE" in script.text


def test_a_script_that_is_not_there_is_named() -> None:
    """With those that are."""
    with pytest.raises(DynoError) as caught:
        read_uses(EXPERIMENT, ["builtin:order-entry/buy"])

    assert caught.value.code == "unknown_builtin"
    assert "'builtin:order-entry/buy': order-entry has no such script; it has browse-products, " in caught.value.message


def test_generated_rows_come_in_chunks_that_are_the_table() -> None:
    """The seam gives what the core makes: its hash is that of the Rust test."""
    tables = {table.name: table for table in engine.generated_tables("order-entry", 1, seed=1)}
    items = b"".join(engine.generated_rows("order-entry", tables["order_items"], 1, seed=1))

    assert list(tables) == [
        "customers",
        "addresses",
        "card_details",
        "warehouses",
        "products",
        "product_descriptions",
        "inventories",
        "orders",
        "order_items",
        "logon",
    ]
    assert (tables["order_items"].rows, tables["order_items"].chunks) == (43_000, 5)
    assert items.count(b"\n") == 43_000
    assert hashlib.sha256(items).hexdigest()[:16] == "f56cf15d009adf21"


def test_a_mistake_in_what_to_generate_is_an_error_of_the_core() -> None:
    """One line, and a code."""
    with pytest.raises(DynoError, match="there are order-entry and web-returns") as caught:
        engine.generated_tables("tpc-h", 1, seed=1)

    assert caught.value.code == "unknown_generator"


@pytest.mark.parametrize(("line", "seed"), [("", 1), ("data_seed = 5", 5)])
def test_the_seed_of_the_data_is_the_file_s_own(tmp_path: Path, line: str, seed: int) -> None:
    """1 unless the file says otherwise; the shipped invariants come with the schema."""
    path = tmp_path / "some.toml"
    path.write_text(f"""
question = "?"
baseline = {{ users = "one" }}
[workload]
schema = ["web-returns", "order-entry"]
script = "builtin:order-entry"
{line}
[factors.users]
one = {{ clients = 1 }}
two = {{ clients = 2 }}
""")

    experiment = load_experiment(path)

    assert experiment.data_seed == seed
    assert [schema.name for schema in experiment.schemas] == ["web-returns", "order-entry"]
    assert len(experiment.invariants) == 12
    assert [len(arm.scripts) for arm in experiment.arms] == [9, 9]
