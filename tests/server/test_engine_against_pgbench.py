"""The engine asks a server what pgbench asks it: the same statements and values in the same order, the same rows.

First the engine runs a script for a moment; then pgbench, with the same seed, as many transactions as that were units.
The server itself is the witness of both.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pgbench_scripts import DEFINITIONS, MODES, SCRIPTS, accepted_modes
from witness import Heard, Witness

from dbdyno import engine, experiments, workloads
from dbdyno.errors import DynoError
from dbdyno.targets.embedded import EmbeddedServer

pytestmark = [pytest.mark.server, pytest.mark.timed]

USER = "load"
SEED = 20
WINDOW_NS = 20_000_000

# Creates what is there the second time: its first unit is its only one.
RUNS_ONCE = {"sql_atomic_bodies"}


@pytest.fixture(scope="module")
def server(cache: Path) -> Iterator[EmbeddedServer]:
    with EmbeddedServer() as running:
        if not (running.binaries.directory / "pgbench").exists():
            pytest.skip(f"no pgbench beside {running.binaries.postgres}")
        running.execute(f"CREATE ROLE {USER} LOGIN SUPERUSER")
        running.execute(
            "CREATE TABLE computed (position serial, client int, integer int, double double precision, boolean boolean,"
            " hashed bigint, permuted bigint, counted bigint, words text, sum bigint)"
        )
        yield running


@pytest.fixture(scope="module")
def witness(server: EmbeddedServer) -> Witness:
    return Witness(server, USER)


def trial(server: EmbeddedServer, name: str, text: str, mode: str, **changes: Any) -> dict[str, Any]:
    """A short trial of one client, of which every unit is counted."""
    endpoint = server.endpoint
    spec = {
        "target": {"host": endpoint.host, "port": endpoint.port, "user": USER, "dbname": endpoint.dbname},
        "scripts": [{"name": name, "text": text, "weight": 1}],
        "variables": DEFINITIONS,
        "mode": mode,
        "clients": 1,
        "arrival": {"kind": "closed", "think_time_ns": 1_000_000_000 if Path(name).stem in RUNS_ONCE else 1_000_000},
        "seed": SEED,
        "warm_up_ns": 0,
        "window_ns": WINDOW_NS,
        "waits": {"route": "off"},
    }
    return engine.run_trial(spec | changes, None)


def run_pgbench(
    server: EmbeddedServer,
    script: Path,
    mode: str,
    transactions: int,
    *more: str,
    defined: Mapping[str, str] = DEFINITIONS,
) -> subprocess.CompletedProcess[str]:
    endpoint = server.endpoint
    return subprocess.run(
        [
            str(server.binaries.directory / "pgbench"),
            *("--no-vacuum", f"--transactions={transactions}", f"--protocol={mode}", f"--random-seed={SEED}"),
            *(f"--define={name}={value}" for name, value in defined.items()),
            *more,
            *("--host", endpoint.host, "--port", str(endpoint.port), "--username", USER),
            *("--file", str(script), endpoint.dbname),
        ],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def in_schema_of(server: EmbeddedServer, name: str, tables: str) -> None:
    """Let the load find these tables, in a schema of this name that is made at the first call."""
    server.execute(f"ALTER ROLE {USER} SET search_path = '{name}'")
    with server.connect() as session:
        if session.execute("SELECT to_regnamespace(%s)", [f'"{name}"']).fetchone() == (None,):
            scale = DEFINITIONS["scale"]
            session.execute(f'CREATE SCHEMA "{name}"; SET search_path = "{name}"; SET dbdyno.scale = {scale}'.encode())
            session.execute(tables.encode())


def rows_read(heard: Heard) -> int:
    """What SELECTs gave; the rows that others report were changed, not sent."""
    return sum(rows for query, (_, rows) in heard.calls_and_rows.items() if query.upper().startswith("SELECT"))


def with_real_null(parameters: str) -> str:
    """Where a `\\set` gave NULL pgbench sends the text NULL, except in simple mode; the engine NULL in all of them."""
    return parameters.replace("= 'NULL'", "= NULL")


def trial_with_units(
    server: EmbeddedServer, witness: Witness, name: str, text: str, mode: str
) -> tuple[dict[str, Any], Heard]:
    """The outcome of a trial with units, all of them counted, and what the server heard.

    A host that pauses can swallow a window of 20 ms, or let a unit begin outside of it, but not ten times.
    """
    for _ in range(10):
        witness.begin()
        outcome = trial(server, name, text, mode)
        heard = witness.end()
        if outcome["units"]["successful"] == outcome["units_with_warm_up"] > 0:
            return outcome, heard
    pytest.fail(f"no unit in ten windows: {outcome['units']}")


def assert_same(server: EmbeddedServer, witness: Witness, script: Path, text: str, mode: str) -> None:
    """`script` is pgbench's file, `text` what the engine is given."""
    outcome, ours = trial_with_units(server, witness, script.name, text, mode)
    units = outcome["units"]["successful"]

    witness.begin()
    done = run_pgbench(server, script, mode, units)
    assert done.returncode == 0, done.stderr
    theirs = witness.end()

    assert ours.asked == [(sql, with_real_null(parameters)) for sql, parameters in theirs.asked]
    assert ours.calls_and_rows == theirs.calls_and_rows
    assert sum(statement["rows"] for statement in outcome["scripts"][0]["statements"]) == rows_read(theirs)


ACCEPTED = [
    pytest.param(script, mode, id=f"{script.stem}-{mode}") for script in SCRIPTS for mode in accepted_modes(script)
]
REFUSED = [
    pytest.param(script, mode, id=f"{script.stem}-{mode}")
    for script in SCRIPTS
    for mode in MODES
    if mode not in accepted_modes(script)
]


@pytest.mark.parametrize(("script", "mode"), ACCEPTED)
def test_a_script_asks_what_pgbench_asks(server: EmbeddedServer, witness: Witness, script: Path, mode: str) -> None:
    """Statements, values, their order, calls and rows."""
    assert_same(server, witness, script, script.read_bytes().decode(), mode)


@pytest.mark.parametrize(("script", "mode"), REFUSED)
def test_what_pgbench_refuses_is_refused(server: EmbeddedServer, script: Path, mode: str) -> None:
    """With one line that names the script."""
    assert run_pgbench(server, script, mode, 1).returncode == 2
    with pytest.raises(DynoError) as caught:
        trial(server, script.name, script.read_text(), mode)
    assert script.name in caught.value.message
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["tpcb-like", "simple-update", "select-only"])
def test_a_built_in_script_asks_what_pgbench_s_own_asks(
    server: EmbeddedServer, witness: Witness, tmp_path: Path, name: str, mode: str
) -> None:
    """pgbench is given its own text of it."""
    pgbench = workloads.find("pgbench")
    assert pgbench is not None
    in_schema_of(server, "builtin", pgbench.tables_sql + pgbench.constraints_sql)
    shown = subprocess.run(
        [str(server.binaries.directory / "pgbench"), f"--show-script={name}"],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    script = tmp_path / f"{name}.sql"
    script.write_text(shown.stderr.partition("\n")[2])
    assert_same(server, witness, script, engine.builtin_script(name), mode)


# Those with a schema of plain SQL; the generated ones have tests of their own.
SHIPPED = [
    pytest.param(path.parent, script, mode, id=f"{name}-{script.stem}-{mode}")
    for name in experiments.shipped()
    for path in [experiments.find(name)]
    if (path.parent / "schema.sql").exists()
    for script in sorted(path.parent.glob("*.sql"))
    if script.name != "schema.sql"
    for mode in MODES
]


@pytest.mark.parametrize(("experiment", "script", "mode"), SHIPPED)
def test_a_shipped_experiment_asks_what_pgbench_asks(
    server: EmbeddedServer, witness: Witness, experiment: Path, script: Path, mode: str
) -> None:
    """On a schema of its own."""
    in_schema_of(server, experiment.name, (experiment / "schema.sql").read_text())
    assert_same(server, witness, script, script.read_text(), mode)


COMPUTED = r"""
\set integer 7 * -3 % 5 + :client_id
\set double 1.0 / 3
\set boolean not :integer > 0
\set hashed hash(:integer, 5432)
\set permuted permute(:client_id, 1000, 5432)
\set drawn random_gaussian(1, 1000000, 3.5)
SELECT count(*) + :drawn AS counted, 'it is ' || :integer::int AS words FROM generate_series(1, 3) \gset
SELECT n AS last FROM generate_series(1, 9) AS n ORDER BY n \aset from_
SELECT 1 AS from_last WHERE false \aset
\set sum :counted + :from_last
INSERT INTO computed (client, integer, double, boolean, hashed, permuted, counted, words, sum)
  VALUES (:client_id, :integer, :double, :boolean, :hashed, :permuted, :counted, {words}, :sum);
"""


@pytest.mark.parametrize("mode", MODES)
def test_computed_and_captured_values_reach_the_table(server: EmbeddedServer, tmp_path: Path, mode: str) -> None:
    """Three clients, each with the rows that pgbench gives it, as far as both got."""
    # A value that is not a number stands bare for a parameter, but in quotes where the text is put together.
    text = COMPUTED.replace("{words}", "':words'" if mode == "simple" else ":words")
    script = tmp_path / "computed.sql"
    script.write_text(text)
    server.execute(f"ALTER ROLE {USER} RESET search_path")

    trial(server, script.name, text, mode, clients=3, variables={}, window_ns=100_000_000)
    ours = computed_rows(server)
    done = run_pgbench(server, script, mode, 5, "--client=3", defined={})
    assert done.returncode == 0, done.stderr
    theirs = computed_rows(server)

    assert sorted(theirs) == sorted(ours) == [0, 1, 2]
    for client, rows in theirs.items():
        common = min(len(rows), len(ours[client]))
        assert common >= 2
        assert ours[client][:common] == rows[:common]


def computed_rows(server: EmbeddedServer) -> dict[int, list[tuple[Any, ...]]]:
    """By client, in order; the table is made anew for what comes next."""
    with server.connect() as session:
        rows = session.execute(
            "SELECT client, integer, double, boolean, hashed, permuted, counted, words, sum FROM computed"
            " ORDER BY position"
        ).fetchall()
    server.execute("TRUNCATE computed")
    by_client: dict[int, list[tuple[Any, ...]]] = {}
    for client, *values in rows:
        by_client.setdefault(client, []).append(tuple(values))
    return by_client


@pytest.mark.parametrize("mode", MODES)
def test_null_is_null_in_every_mode(server: EmbeddedServer, mode: str) -> None:
    """From a `\\set` and from a column; pgbench does so in simple mode, for a `\\set`."""
    server.execute("CREATE TABLE IF NOT EXISTS nulls (assigned int, captured int); TRUNCATE nulls")
    script = (
        "\\set assigned null\nSELECT NULL AS captured \\gset\nINSERT INTO nulls VALUES (:assigned, :captured);\n"
        "\\if :captured is not null\nSELECT 1 / 0;\n\\endif\n"
    )
    server.execute(f"ALTER ROLE {USER} RESET search_path")

    trial(server, "nulls.sql", script, mode)

    with server.connect() as session:
        assert session.execute("SELECT DISTINCT assigned, captured FROM nulls").fetchall() == [(None, None)]
