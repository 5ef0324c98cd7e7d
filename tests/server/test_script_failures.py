"""Scripts that go wrong while they run: where pgbench aborts its client, the trial ends with one line that says where.

Whether a branch of an `\\if` opens a pipeline, or a query gives one row, is not to be seen in the script's text.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from pgbench_scripts import MODES

from dbdyno import engine
from dbdyno.errors import DynoError
from dbdyno.targets.embedded import EmbeddedServer

pytestmark = pytest.mark.server

# Name, script, where it goes wrong and why; the lines of the scripts are joined by `/`.
FAILURES = [
    ("division", r"\set zero 0/\set x 1 % :zero", "2: division by zero"),
    ("overflow", r"SELECT 1;/\set x 9223372036854775807 + :client_id + 1", "2: bigint add out of range"),
    ("empty range", r"\set x random(2, 1)/SELECT 1;", "1: empty range given to random"),
    ("wrong type", r"\set x 1 + true/SELECT 1;", "1: cannot coerce boolean to int"),
    ("undefined in an expression", r"SELECT 1;/\set x :nothing + 1", '2: undefined variable "nothing"'),
    ("undefined in a condition", r"\if :nothing/SELECT 1;/\endif", '1: undefined variable "nothing"'),
    ("undefined in a sleep", r"SELECT 1;/\sleep :nothing ms", '2: undefined variable "nothing"'),
    ("if of a word", r"SELECT 'abc' AS a \gset/\if :a/SELECT 1;/\endif", '2: malformed variable "a" value: "abc"'),
    ("elif of a word", r"SELECT 'abc' AS a \gset/\if false/\elif :a/\endif", '3: malformed variable "a" value: "abc"'),
    ("sleep of a word", r"SELECT 'x' AS a \gset/\sleep :a ms", '2: invalid sleep time "x" for variable "a"'),
    (
        "captured number too large",
        r"SELECT '99999999999999999999' AS a \gset/\set b :a + 1",
        '2: value "99999999999999999999" is out of range for type bigint, in variable "a"',
    ),
    (
        "gset of no row",
        r"SELECT 1;/SELECT 1 AS a WHERE false \gset",
        r"2: \gset takes exactly one row, the query gave 0",
    ),
    (
        "gset of two rows",
        r"SELECT n FROM generate_series(1, 2) AS n \gset",
        r"1: \gset takes exactly one row, the query gave 2",
    ),
    (
        "gset of no query",
        r"SET work_mem = '1MB' \gset/SELECT 1;",
        r"1: \gset takes exactly one row, the query gave 0",
    ),
    ("cast", "SELECT 1;/SELECT 'abc'::int;", '2: SQLSTATE 22P02: invalid input syntax for type integer: "abc"'),
    ("division in SQL", "BEGIN;/SELECT 1 % 0;/END;", "2: SQLSTATE 22012: division by zero"),
    ("no such table", "SELECT 1 FROM nowhere;", '1: SQLSTATE 42P01: relation "nowhere" does not exist'),
    ("copy", "COPY pg_class TO STDOUT;", "1: COPY between server and client is not supported in a script"),
    (
        "transaction left open",
        "BEGIN;/SELECT 1;",
        "2: the script ends in a transaction that it began; end it with COMMIT",
    ),
]

_MAYBE = r"\set deep {deep}/\if :deep/\startpipeline/\endif/SELECT 1;/"
PIPELINE_FAILURES = [
    (
        "opened twice",
        _MAYBE.format(deep="true") + r"\startpipeline/SELECT 2;/\endpipeline",
        r"6: \startpipeline inside a pipeline: \endpipeline must come first",
    ),
    (
        "sync outside",
        _MAYBE.format(deep="false") + r"\syncpipeline/SELECT 2;/\endpipeline",
        r"6: \syncpipeline outside a pipeline: \startpipeline must come first",
    ),
    (
        "end outside",
        _MAYBE.format(deep="false") + r"\endpipeline",
        r"6: \endpipeline outside a pipeline: \startpipeline must come first",
    ),
    ("left open", _MAYBE.format(deep="true") + "SELECT 2;", r"3: \startpipeline without matching \endpipeline"),
    (
        "gset inside",
        _MAYBE.format(deep="true") + r"SELECT 1 AS a \gset/\if :deep/\endpipeline/\endif",
        r"6: \gset is not allowed in a pipeline: its result comes only with \endpipeline",
    ),
    (
        "error inside",
        r"\startpipeline/SELECT 1;/SELECT 1 % 0;/SELECT 2;/\endpipeline",
        "3: SQLSTATE 22012: division by zero",
    ),
    (
        "transaction left open",
        r"\startpipeline/BEGIN;/SELECT 1;/\endpipeline",
        "3: the script ends in a transaction that it began; end it with COMMIT",
    ),
]

CASES = [
    *((script, message, mode, f"{name}-{mode}") for name, script, message in FAILURES for mode in MODES),
    *(
        (script, message, mode, f"pipeline-{name}-{mode}")
        for name, script, message in PIPELINE_FAILURES
        for mode in MODES[1:]
    ),
]


@pytest.fixture(scope="module")
def server(cache: Path) -> Iterator[EmbeddedServer]:
    with EmbeddedServer() as running:
        if not (running.binaries.directory / "pgbench").exists():
            pytest.skip(f"no pgbench beside {running.binaries.postgres}")
        yield running


@pytest.mark.parametrize(("script", "message", "mode"), [pytest.param(*case[:3], id=case[3]) for case in CASES])
def test_where_pgbench_aborts_the_trial_ends(
    server: EmbeddedServer, tmp_path: Path, script: str, message: str, mode: str
) -> None:
    """One line with file, line and cause, exit code 2; no session of ours is left."""
    file = tmp_path / "wrong.sql"
    file.write_text(script.replace("/", "\n") + "\n")
    endpoint = server.endpoint
    theirs = subprocess.run(
        [
            str(server.binaries.directory / "pgbench"),
            *("--no-vacuum", "--transactions=2", f"--protocol={mode}", "--file", str(file)),
            *("--host", endpoint.host, "--port", str(endpoint.port), "--username", endpoint.user, endpoint.dbname),
        ],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert theirs.returncode == 2

    spec = {
        "target": {
            "host": endpoint.host,
            "port": endpoint.port,
            "user": endpoint.user,
            "dbname": endpoint.dbname,
            "application_name": "trial",
        },
        "scripts": [{"name": file.name, "text": file.read_text(), "weight": 1}],
        "mode": mode,
        "clients": 2,
        "arrival": {"kind": "closed"},
        "seed": 1,
        "warm_up_ns": 0,
        "window_ns": 1_000_000_000,
        "waits": {"route": "off"},
    }
    with pytest.raises(DynoError) as caught:
        engine.run_trial(spec, None)

    assert caught.value.message == f"wrong.sql:{message}"
    assert caught.value.exit_code == 2
    with server.connect() as session:
        left = session.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'trial'").fetchone()
        assert left == (0,)
