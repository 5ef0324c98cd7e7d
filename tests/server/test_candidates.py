"""Which indexes of a built schema are candidates, and that dropping one can be taken back word for word."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from small_experiment import write_experiment

from dbdyno.design.experiment import Experiment, load_experiment
from dbdyno.errors import DynoError
from dbdyno.runner.candidates import find_candidates, index_record, with_candidates
from dbdyno.runner.schema import build_schema
from dbdyno.targets.embedded import EmbeddedServer
from dbdyno.targets.external import ExternalServer

pytestmark = pytest.mark.server

SCHEMA = """
CREATE TABLE customers (id int PRIMARY KEY, email text UNIQUE, name text, city text);
CREATE TABLE orders (
    id int PRIMARY KEY, customer int REFERENCES customers, region int, shop int, status text, during int4range,
    FOREIGN KEY (region) REFERENCES customers (id), UNIQUE (shop, region),
    EXCLUDE USING gist (during WITH &&)
);
CREATE INDEX customers_city_ix ON customers (city);
CREATE INDEX customers_lower_name_ix ON customers (lower(name));
CREATE INDEX orders_customer_fk_ix ON orders (customer, status);
CREATE INDEX orders_status_customer_ix ON orders (status, customer);
CREATE INDEX orders_open_ix ON orders (shop) WHERE status = 'open';
CREATE INDEX "orders Status" ON orders USING hash (status);
CREATE TABLE parts (id int, day int) PARTITION BY RANGE (day);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (10);
CREATE INDEX parts_id_ix ON parts (id);
CREATE SCHEMA IF NOT EXISTS elsewhere;
CREATE TABLE elsewhere.t (a int);
CREATE INDEX elsewhere_ix ON elsewhere.t (a);
"""

EXPERIMENT = """
question = "Which index is worth its cost?"
baseline = {{ index = "all-indexes" }}
[workload]
schema = "schema.sql"
script = "builtin:select-only"
[factors.index]
candidates = "secondary-indexes"
{keys}
"""

SECONDARY = ["customers_city_ix", "orders Status", "orders_open_ix", "orders_status_customer_ix", "parts_id_ix"]


def load(directory: Path, keys: str = "", schema: str = SCHEMA) -> Experiment:
    """The experiment, before its schema is built."""
    return load_experiment(write_experiment(directory, EXPERIMENT.format(keys=keys), {"schema.sql": schema}))


@pytest.fixture(scope="module")
def server(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    """A server with the schema in it."""
    with EmbeddedServer() as running:
        build_schema(load(tmp_path_factory.mktemp("built")), running)
        yield running


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("", SECONDARY),
        ('include = ["expression"]', [*SECONDARY, "customers_lower_name_ix"]),
        ('include = ["foreign-key"]', [*SECONDARY, "orders_customer_fk_ix"]),
        ('tables = ["customers"]', ["customers_city_ix"]),
    ],
)
def test_only_secondary_indexes_are_candidates(
    server: EmbeddedServer, tmp_path: Path, keys: str, expected: list[str]
) -> None:
    """Never primary, unique, exclusion or another schema's; expressions and foreign keys' when asked for."""
    found = find_candidates(load(tmp_path, keys), server)

    assert {index.name for index in found["index"]} == set(expected)


def test_the_arms_are_all_indexes_none_and_without_each(server: EmbeddedServer, tmp_path: Path) -> None:
    """In this order; with one index alone, without it is without any."""
    experiment = load(tmp_path, 'tables = ["orders"]')
    found = find_candidates(experiment, server)
    arms = [arm.name for arm in with_candidates(experiment, found).arms]
    alone = load(tmp_path / "alone", 'tables = ["customers"]')

    assert [arm.name for arm in experiment.arms] == ["all-indexes"]
    assert arms == [
        *("all-indexes", "no-secondary-index"),
        *("without-orders Status", "without-orders_open_ix", "without-orders_status_customer_ix"),
    ]
    assert [arm.name for arm in with_candidates(alone, find_candidates(alone, server)).arms] == [
        *("all-indexes", "without-customers_city_ix")
    ]


def test_undo_brings_every_index_back_as_it_was(server: EmbeddedServer, tmp_path: Path) -> None:
    """By the server's own definition; the record says which arm is without which."""
    experiment = load(tmp_path, 'include = ["expression", "foreign-key"]')
    found = find_candidates(experiment, server)
    complete = with_candidates(experiment, found)
    before = _definitions(server)

    for arm in complete.arms:
        record = index_record(arm, found)
        assert record is None or type(record["bytes"]) is int, "what a run record can hold"
        if arm.sql:
            server.execute(arm.sql)
            gone = before.keys() - _definitions(server).keys()
            assert len(gone) == (len(found["index"]) if arm.name == "no-secondary-index" else 1), arm.name
            assert record is None or gone == {record["name"]}
            server.execute(arm.undo)
        assert _definitions(server) == before, arm.name


def _definitions(server: EmbeddedServer) -> dict[str, str]:
    with server.connect() as connection:
        return dict(connection.execute("SELECT indexname, indexdef FROM pg_indexes WHERE tablename !~ '^parts_'"))


@pytest.mark.parametrize(
    ("keys", "schema", "code", "named"),
    [
        ('tables = ["order"]', SCHEMA, "unknown_table", "'order'"),
        ('tables = ["elsewhere"]', SCHEMA, "unknown_table", "factors.index.tables"),
        ('tables = ["parts_1"]', SCHEMA, "no_candidate", "factors.index.candidates"),
    ],
)
def test_what_cannot_be_found_is_said(
    server: EmbeddedServer, tmp_path: Path, keys: str, schema: str, code: str, named: str
) -> None:
    """Key, value, fix."""
    with pytest.raises(DynoError) as raised:
        find_candidates(load(tmp_path, keys, schema), server)

    assert raised.value.code == code
    assert named in raised.value.message


def test_on_anothers_server_only_our_own_schema_is_searched(server: EmbeddedServer, tmp_path: Path) -> None:
    """The user's tables in public have indexes enough: without a workspace nothing is found, with one only its own."""
    experiment = load(tmp_path, schema="CREATE TABLE ours (a int); CREATE INDEX ours_a_ix ON ours (a);")
    with ExternalServer(server.endpoint, allow_write=True) as external:
        with pytest.raises(DynoError) as raised:
            find_candidates(experiment, external)
        build_schema(experiment, external)
        (index,) = find_candidates(experiment, external)["index"]

    assert raised.value.code == "no_candidate"
    assert (index.name, index.definition) == ("ours_a_ix", "CREATE INDEX ours_a_ix ON ours USING btree (a)")
