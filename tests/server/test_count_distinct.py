"""The shipped experiment count-distinct in small, on a real server, with every engine: exact arms are exact, estimates
err as their sketch says, nothing is left of the copies."""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from small_experiment import arm_of, command, run_experiment, trials_of, write_experiment

from dbdyno import experiments
from dbdyno.design.experiment import load_experiment
from dbdyno.ndv.postgres.catalogue import read_catalogue
from dbdyno.ndv.postgres.scan_source import plan_source
from dbdyno.ndv.postgres.session import connect
from dbdyno.ndv.postgres.sql_plan import SETTINGS, hashed_columns, register_scans
from dbdyno.targets.embedded import EmbeddedServer

pytestmark = pytest.mark.server

SHIPPED = experiments.find("count-distinct")
SQL = SHIPPED.parent / "sql"
ROWS = 10_000

Run = tuple[dict[str, Any], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Run:
    """Its quick form, but of 10,000 rows and one block: the findings and the trials."""
    directory = tmp_path_factory.mktemp("count-distinct")
    findings = run_experiment(SHIPPED, directory / "run", "--quick", "--scale", 1, "--blocks", 1)
    return findings, trials_of(directory / "run")


def test_every_arm_did_what_its_name_says(run: Run) -> None:
    """Exact arms said the truth, workers were launched, rows agree; what the server lacks is left out and said."""
    findings, trials = run
    arms = {arm["arm"]: arm for arm in findings["arms"]}
    left_out = [one["arm"] for one in findings["warnings"] if one["code"] == "left_out"]

    assert [check for arm in arms.values() for check in arm["checks"] if check["failed_trials"]] == []
    assert [trial["reason"] for trial in trials if trial["status"] != "ok"] == []
    assert left_out == ["ten/hll-extension", "wide/hll-extension"]
    assert len(arms) == 32
    assert {arm["engine"] for arm in arms.values()} == {None, "duckdb", "sqlite", "ndv-copy"}
    for name, arm in arms.items():
        if "exact" in name or "rewrite" in name:
            assert {(one["question"], *set(one["answers"])) for one in arm["answers"]} <= {
                ("id", ROWS),
                ("ten", 10),
                ("wide", ROWS),
            }


def test_estimates_are_near_the_truth_and_hang_on_the_seed(run: Run) -> None:
    """Within what each arm allows itself; the core is exact where there are few values, and not by chance."""
    findings, _ = run
    wide, few = (arm_of(findings, f"{column}/ndv-copy")["answers"][0]["answers"] for column in ("wide", "ten"))
    answers = {one["question"]: one["answers"][0] for one in arm_of(findings, "all/hll-sql")["answers"]}

    assert few == [10]
    assert wide != [ROWS]
    assert wide[0] == pytest.approx(ROWS, rel=0.05)
    assert answers["ten"] == 10
    assert answers["id"] == pytest.approx(ROWS, rel=0.05)
    assert arm_of(findings, "all/count-rows")["answers"] == []


def test_the_time_of_every_arm_is_accounted_for(run: Run) -> None:
    """Whoever does the work; memory, CPU and temporary bytes stand beside it."""
    findings, trials = run
    for arm in findings["arms"]:
        parts = arm["profile_ns"]
        whole = sum(parts["waits"].values()) + sum(value for value in parts.values() if isinstance(value, float))
        assert whole == pytest.approx(arm["profile_total_ns"], rel=1e-9)
        assert arm["cost"]["memory_bytes"]["estimate"] > 0
        assert arm["cost"]["cpu_ns"]["estimate"] > 0
        # Who may not look into the server's memory where it lies reads a copy of it.
        of_session = "mapped" if os.getuid() == 0 else "contiguous"
        assert arm["profile_route"] == ("own clocks" if arm["engine"] else of_session)
    copied = next(trial for trial in trials if trial["arm"] == "all/ndv-copy")

    assert "Server:Rows" in copied["outcome"]["profile"]["waits_ns"]
    assert copied["server"]["temp_bytes"] == 0
    # The reader's and the backend's, of which the profile has the first.
    assert copied["work"]["cpu_ns"] > copied["outcome"]["profile"]["cpu_ns"]
    assert arm_of(findings, "wide/duckdb-exact")["reads"]["physical_share"] == 0.0


def test_what_an_engine_sets_is_read_back(run: Run) -> None:
    """By DuckDB itself."""
    settings = {trial["arm"]: trial["settings"] for trial in run[1]}

    assert settings["ten/duckdb-exact"] == {"threads": "1"}
    assert settings["ten/sqlite-exact"] == {}
    assert "threads" not in settings["ten/exact"]


def test_nothing_is_left_of_the_copies(run: Run, cache: Path) -> None:
    """They lay in the instance's directory, which went with the server."""
    assert [path.name for path in cache.rglob("peer.*")] == []


@pytest.mark.parametrize("columns", ["id", "ten", "wide", "all"])
def test_the_shipped_statement_is_what_ndv_has_the_server_do(server: EmbeddedServer, columns: str) -> None:
    """But for the seed, which the experiment varies, and the schema, which another server may call otherwise."""
    filled(server)
    with connect(server.endpoint) as session:
        named = None if columns == "all" else [columns]
        source = plan_source(read_catalogue(session, "--table", "public.distinct_values"), named)
        (scan,) = register_scans(source, hashed_columns(source)[0], 14)
    shipped = (SQL / f"hll-{columns}.sql").read_text()

    assert scan.sql.replace("public.distinct_values", "distinct_values").replace(", 1)", ", :random_seed)") in shipped
    if columns != "all":
        assert (
            shipped.replace(" OFFSET 0", "").splitlines()[1:]
            == ((SQL / f"hll-parallel-{columns}.sql").read_text().splitlines()[1:])
        )


# Of 10,000 values in 16,384 registers, where empty ones are counted: sqrt(m (e^t - t - 1)) / n with t = n / m.
STANDARD_ERROR = math.sqrt(16384 * (math.exp(ROWS / 16384) - ROWS / 16384 - 1)) / ROWS


# By the upper bits of the server's hash, ids in a row would be 0.75 % too few.
@pytest.mark.parametrize("column", ["wide", "id"])
def test_errors_over_seeds_are_those_of_16384_registers(server: EmbeddedServer, column: str) -> None:
    """40 seeds: 0.61 %, and a mean within what chance leaves of them."""
    filled(server)
    text = (SQL / f"hll-{column}.sql").read_text().partition("\\gset")[0]
    errors = []
    with server.connect() as session:
        for statement in SETTINGS:
            session.execute(statement.replace("LOCAL ", "").encode())
        for seed in range(40):
            row = session.execute(text.replace(":random_seed", str(seed * 7919 + 1)).encode()).fetchone()
            assert row is not None
            errors.append(row[0] / ROWS - 1)

    assert len(set(errors)) > 30
    assert 0.6 * STANDARD_ERROR < statistics.stdev(errors) < 1.5 * STANDARD_ERROR
    assert statistics.fmean(errors) == pytest.approx(0, abs=4 * STANDARD_ERROR / math.sqrt(len(errors)))


@pytest.mark.nightly
def test_the_whole_experiment_with_20_seeds(tmp_path: Path, cache: Path) -> None:
    """Every arm of the full form, in 20,000 rows; each estimate with a seed is another one in each block."""
    findings = run_experiment(SHIPPED, tmp_path / "run", "--scale", 2, timeout_s=1800)
    arms = {arm["arm"]: arm for arm in findings["arms"]}

    assert [check for arm in arms.values() for check in arm["checks"] if check["failed_trials"]] == []
    assert len(arms) == len(load_experiment(SHIPPED).arms) - 3
    for name in ("wide/hll-sql", "id/ndv-copy", "wide/duckdb-salted", "all/ndv-copy"):
        (answer, *_) = arms[name]["answers"]
        assert len(answer["answers"]) == 20
        assert len(set(answer["answers"])) > 10
    assert len(set(arms["wide/duckdb-approximate"]["answers"][0]["answers"])) == 1


def filled(server: EmbeddedServer) -> None:
    """The experiment's table with 10,000 rows, made once."""
    with server.connect() as session:
        if session.execute("SELECT to_regclass('distinct_values')").fetchone() == (None,):
            server.execute("SET dbdyno.scale = 1")
            server.execute((SHIPPED.parent / "schema.sql").read_text())
            server.vacuum(())


SMALL = r"""
question = "?"
baseline = { how = "plain" }
[workload]
schema = "none"
executions = 1
[truth]
one = "SELECT 1"
[design]
blocks = 1
reset = []
[factors.how.plain]
statement = 'SELECT 1 AS one \gset'
expect = { error = "0 %" }
"""
EXTENSIONS = r"""
[factors.how.there]
statement = "SELECT show_trgm('a')"
extension = "pg_trgm"
sql = "CREATE EXTENSION pg_trgm"
undo = "DROP EXTENSION pg_trgm"
[factors.how.absent]
statement = "SELECT 1"
extension = "nobody_has_it"
sql = "CREATE EXTENSION nobody_has_it"
undo = "SELECT 1"
"""
WRONG = r"""
[factors.how.off]
statement = 'SELECT 2 AS one \gset'
expect = { error = "0 %" }
"""


def test_an_arm_needs_the_extension_that_it_names(tmp_path: Path, cache: Path) -> None:
    """One that the server has on offer is made for its trials; without the other one its arm is left out, and said."""
    findings = run_experiment(write_experiment(tmp_path, SMALL + EXTENSIONS), tmp_path / "run")

    assert [arm["arm"] for arm in findings["arms"]] == ["plain", "there"]
    assert [one["message"] for one in findings["warnings"] if one["code"] == "left_out"] == [
        "not measured: needs the extension nobody_has_it, which this server does not have"
    ]


def test_a_wrong_answer_is_a_failed_check(tmp_path: Path, cache: Path) -> None:
    """Of an arm that claims to be exact; what it said instead is named."""
    findings = run_experiment(write_experiment(tmp_path, SMALL + WRONG), tmp_path / "run")

    failed = {arm["arm"]: [one["seen"] for one in arm["checks"] if one["failed_trials"]] for arm in findings["arms"]}
    assert failed == {"plain": [], "off": ["2 instead of 1 (one)"]}


BOTH = r"""
question = "?"
baseline = { how = "server" }
[workload]
schema = "t.sql"
executions = 1
statement = "SELECT count(DISTINCT a) AS a, count(*) AS rows FROM t"
[truth]
a = "SELECT 3"
rows = "SELECT 6"
[expect]
error = "0 %"
[design]
blocks = 6
reset = []
[factors.how]
server = { statement = 'SELECT count(DISTINCT a) AS a, count(*) AS rows FROM t \gset' }
duckdb = { engine = "duckdb" }
sqlite = { engine = "sqlite" }
"""
# What a file between the servers may lose: a null, an empty text, quotes, commas, the ends of lines.
TABLE = r"""
CREATE TABLE t (a text, n bigint, x double precision);
INSERT INTO t VALUES ('', 1, 0.1), (NULL, NULL, NULL), ('a "b", c', -9223372036854775808, 1e300), (E'\n\\N', 2, -0.5),
                     ('', 3, 2), (NULL, 4, 3);
"""


def test_a_killed_run_goes_on_with_its_engines(tmp_path: Path, cache: Path) -> None:
    """The rows are copied again, as they were; what the killed run had left is gone."""
    path = write_experiment(tmp_path, BOTH, {"t.sql": TABLE})
    out = tmp_path / "run"
    killed = subprocess.Popen(
        command("run", path, "--out", out, "--seed", 1), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    ends = time.monotonic() + 60
    while time.monotonic() < ends and not ((out / "journal.jsonl").exists() and len(trials_of(out)) >= 3):
        time.sleep(0.05)
    killed.kill()
    killed.wait()
    before = len(trials_of(out))
    resumed = subprocess.run(
        command("run", "--resume", out, "--json"), capture_output=True, text=True, timeout=240, check=False
    )

    assert resumed.returncode == 0, resumed.stderr
    assert 3 <= before < 18
    findings = json.loads(resumed.stdout)
    assert findings["blocks_complete"] == 6
    assert {tuple(set(one["answers"])) for arm in findings["arms"] for one in arm["answers"]} == {(3.0,), (6.0,)}
    assert [path.name for path in cache.rglob("peer.*")] == []


CACHES = r"""
question = "?"
baseline = { cache = "warm" }
[workload]
schema = "t.sql"
executions = 1
statement = "SELECT count(DISTINCT a) AS a FROM t"
[truth]
a = "SELECT count(DISTINCT a) FROM t"
[design]
blocks = 1
reset = []
[factors.by]
duckdb = { engine = "duckdb" }
sqlite = { engine = "sqlite" }
[factors.cache]
warm = { expect = { physical_reads = "0 %" } }
cold = { reset = ["cold-cache"] }
"""


@pytest.mark.nightly
def test_the_file_of_an_engine_is_in_the_page_cache_or_it_is_not(tmp_path: Path, cache: Path) -> None:
    """By what its process had the storage read."""
    # So many that opening the file does not read it all ahead, and such as cannot be compressed.
    table = "CREATE TABLE t AS SELECT hashint8extended(i, 1) AS a FROM generate_series(1, 400000) AS i"
    run_experiment(write_experiment(tmp_path, CACHES, {"t.sql": table}), tmp_path / "run")
    works = {trial["arm"]: trial["work"] for trial in trials_of(tmp_path / "run")}

    for engine in ("duckdb", "sqlite"):
        assert works[f"{engine}/warm"]["read_bytes"] < 0.05 * works[f"{engine}/warm"]["file_bytes"]
        assert works[f"{engine}/cold"]["read_bytes"] > 0.3 * works[f"{engine}/cold"]["file_bytes"]
