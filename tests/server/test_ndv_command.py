"""`dbdyno ndv` against a real server: the planner's error is told, the fix mends it, the undo takes it back."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dbdyno.targets.embedded import EmbeddedServer

pytestmark = pytest.mark.server

ROWS = 1_000_000
# Two columns that ANALYZE gets right, and one whose equal values are either very many or single: it gets that wrong.
TABLE = f"""
CREATE TABLE shapes AS
  SELECT i::bigint AS id, (i * 7919::bigint) % 1000 AS uniform,
         CASE WHEN i % 5 < 3 THEN (i * 31::bigint) % 50 ELSE 1000000 + i END AS "Hot Key"
    FROM generate_series(1, {ROWS}) i;
ANALYZE shapes;
"""
HOT = 50 + ROWS * 2 // 5


@pytest.fixture(scope="module")
def server(cache: object) -> Iterator[EmbeddedServer]:
    """One with the table."""
    with EmbeddedServer() as started:
        started.execute(TABLE)
        yield started


def ndv(server: EmbeddedServer, *arguments: str | Path, table: str = "shapes") -> subprocess.CompletedProcess[str]:
    """The command, as a user runs it."""
    return subprocess.run(
        [sys.executable, "-m", "dbdyno", "ndv", url_of(server), "--table", table, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def url_of(server: EmbeddedServer) -> str:
    """Of a user without a password."""
    endpoint = server.endpoint
    return f"postgres://{endpoint.user}@/{endpoint.dbname}?host={endpoint.host}&port={endpoint.port}"


def columns_of(told: subprocess.CompletedProcess[str]) -> dict[str, dict[str, Any]]:
    """The findings by column."""
    assert told.returncode == 0, told.stderr
    return {column["column"]: column for column in json.loads(told.stdout)["columns"]}


def planner_says(server: EmbeddedServer, column: str) -> float:
    """`n_distinct` of pg_stats."""
    with server.connect() as session:
        row = session.execute(
            "SELECT n_distinct FROM pg_stats WHERE tablename = 'shapes' AND attname = %s", [column]
        ).fetchone()
    assert row is not None
    return float(row[0])


def test_the_error_is_told_and_the_fix_mends_it_and_the_undo_takes_it_back(
    server: EmbeddedServer, tmp_path: Path
) -> None:
    """The two scripts are run as they were written."""
    before = columns_of(ndv(server, "--json", "--out", tmp_path / "before"))
    wrong = before["Hot Key"]
    true_factor = HOT / wrong["planner"]

    assert {name: column["verdict"] for name, column in before.items()} == {
        "id": "right", "uniform": "right", "Hot Key": "wrong_and_matters",
    }  # fmt: skip
    assert (before["uniform"]["ndv"]["estimate"], before["uniform"]["exact"]) == (1000, True)
    assert wrong["ndv"]["low"] <= HOT <= wrong["ndv"]["high"]
    assert wrong["error_factor"] == pytest.approx(true_factor, rel=0.03)
    was = planner_says(server, "Hot Key")
    assert json.loads((tmp_path / "before" / "ndv.json").read_text())["target"] == server.endpoint.display()
    server.execute((tmp_path / "before" / "fix.sql").read_text())
    after = columns_of(ndv(server, "--json", "--out", tmp_path / "after"))
    assert planner_says(server, "Hot Key") == pytest.approx(-HOT / ROWS, rel=0.03)
    assert after["Hot Key"]["verdict"] == "right"
    assert not (tmp_path / "after" / "fix.sql").exists()
    server.execute((tmp_path / "before" / "undo.sql").read_text())
    assert planner_says(server, "Hot Key") == pytest.approx(was, rel=0.5)  # ANALYZE drew another sample


def test_the_server_counts_by_itself(server: EmbeddedServer, tmp_path: Path) -> None:
    """The same verdicts; what is few is exact, and of the rest the intervals meet."""
    copied = columns_of(ndv(server, "--json", "--out", tmp_path / "copied"))
    found = columns_of(ndv(server, "--via", "sql", "--json", "--out", tmp_path / "counted"))

    assert {name: (column["exact"], column["verdict"]) for name, column in found.items()} == {
        name: (column["exact"], column["verdict"]) for name, column in copied.items()
    }
    assert found["uniform"]["ndv"]["estimate"] == 1000
    assert found["Hot Key"]["ndv"]["low"] <= HOT * 1.01
    assert found["Hot Key"]["ndv"]["high"] >= HOT * 0.99
    assert found["Hot Key"]["analyze"] == []


def test_parts_merge_into_the_whole(server: EmbeddedServer, tmp_path: Path) -> None:
    """Two halves of the rows give the file of all rows, byte for byte; what is damaged is told by its name."""
    for name, where in (("low", f"id <= {ROWS // 2}"), ("high", f"id > {ROWS // 2}"), ("all", "true")):
        columns_of(ndv(server, "--where", where, "--json", "--out", tmp_path / name))
    merge = [sys.executable, "-m", "dbdyno", "ndv", "merge", tmp_path / "low", tmp_path / "high"]

    shown = subprocess.run([*merge, "--out", tmp_path / "both"], capture_output=True, text=True, check=True).stdout
    document = json.loads(subprocess.run([*merge, "--json"], capture_output=True, text=True, check=True).stdout)

    assert (tmp_path / "both").read_bytes() == (tmp_path / "all" / "sketches.ndv").read_bytes()
    assert [column["rows"] for column in document["columns"]] == [ROWS] * 3
    assert (document["columns"][1]["ndv"]["estimate"], document["columns"][1]["exact"]) == (1000, True)
    assert "uniform" in shown
    assert "1,000  exact" in shown
    (tmp_path / "both").write_bytes((tmp_path / "both").read_bytes()[:-1])
    told = subprocess.run([*merge, tmp_path / "both"], capture_output=True, text=True, check=False)
    assert (told.returncode, told.stdout, told.stderr.count("\n")) == (2, "", 1)
    assert told.stderr.startswith(f"dbdyno: merge: {tmp_path / 'both'}: ")


def test_a_plan_that_would_change_is_shown_and_nothing_is_kept(server: EmbeddedServer, tmp_path: Path) -> None:
    """The statistics are those of before, to the digit."""
    before = planner_says(server, "Hot Key")
    statement = 'SELECT "Hot Key", count(*) FROM shapes GROUP BY 1'

    found = json.loads(ndv(server, "--json", "--out", tmp_path / "out", "--what-if", statement).stdout)["what_if"]

    assert found["refused"] is None
    [change] = found["statements"]
    assert change["outcome"] in ("other_plan", "other_estimates")
    [top, *_] = change["nodes"]
    assert top["rows_after"] is None or top["rows_after"] == pytest.approx(HOT, rel=0.05)
    assert planner_says(server, "Hot Key") == before


def test_the_report_is_the_same_again_from_the_directory(server: EmbeddedServer, tmp_path: Path) -> None:
    """Byte for byte, as text, as a document and as a page, and never wider than a page but for what is to be copied."""
    text = ndv(server, "--out", tmp_path / "out", "--group", 'uniform,"Hot Key"').stdout
    report = [sys.executable, "-m", "dbdyno", "report", tmp_path / "out"]
    again = [
        subprocess.run(command, capture_output=True, text=True, check=True).stdout
        for command in (report, [*report, "--json"])
    ]

    assert again[0] == text
    assert again[1] == (tmp_path / "out" / "ndv.json").read_text()
    made = (tmp_path / "out" / "ndv.html").read_bytes()
    (tmp_path / "out" / "ndv.html").unlink()
    assert subprocess.run([*report, "--html"], capture_output=True, text=True, check=True).stdout == (
        f"{tmp_path / 'out' / 'ndv.html'}\n"
    )
    assert (tmp_path / "out" / "ndv.html").read_bytes() == made
    assert "(uniform, Hot Key)" in text
    assert max(len(line) for line in text.splitlines() if not line.startswith(("ALTER", "CREATE", "  "))) <= 80


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--table", "nope"], "--table nope: no such table in database"),
        (["--columns", "x"], "--columns x: no such column; there are id, uniform, Hot Key"),
        (["--group", "id"], "--group id: name two columns or more"),
        (["--where", "id <"], "--where id <: "),
        (["--where", "true) OR (true"], "--where true) OR (true: "),
        (["--via", "mail"], "--via mail: not one; use one of copy, sql"),
        (["--via", "sql", "--connections", "2"], "--connections 2: is for --via copy; leave it out"),
        (["--where", "true", "--what-if", "SELECT 1"], "leave --where out"),
    ],
)
def test_what_cannot_be_counted_is_one_line(
    server: EmbeddedServer, tmp_path: Path, arguments: list[str], words: str
) -> None:
    """Exit code 2, and no directory is left."""
    told = ndv(server, *arguments, "--out", tmp_path / "out")

    assert (told.returncode, told.stdout, told.stderr.count("\n")) == (2, "", 1)
    assert words in told.stderr
    assert not (tmp_path / "out").exists()


def test_without_a_table_the_largest_are_named(server: EmbeddedServer) -> None:
    """One line, exit code 2."""
    told = subprocess.run(
        [sys.executable, "-m", "dbdyno", "ndv", url_of(server)], capture_output=True, text=True, check=False
    )

    assert told.returncode == 2
    assert told.stderr == "dbdyno: --table: name one; the largest here are public.shapes\n"


def test_an_interrupted_scan_leaves_nothing(server: EmbeddedServer, tmp_path: Path) -> None:
    """Ctrl-C in its middle: exit code 130, no session, no directory."""
    slow = "(SELECT i FROM generate_series(1, 20) i, LATERAL pg_sleep(0.5 + i * 0)) "
    server.execute(f"CREATE VIEW slow AS SELECT i FROM {slow} AS s")
    process = subprocess.Popen(
        [sys.executable, "-m", "dbdyno", "ndv", url_of(server), "--table", "slow", "--out", str(tmp_path / "out")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    ours = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'dbdyno ndv' AND query LIKE 'COPY%'"
    with server.connect() as session:
        _wait(session, ours, 1)
        os.kill(process.pid, signal.SIGINT)
        _, stderr = process.communicate(timeout=30)
        _wait(session, ours, 0)

    assert (process.returncode, stderr) == (130, "dbdyno: interrupted\n")
    assert not (tmp_path / "out").exists()


def _wait(session: Any, statement: str, wanted: int) -> None:
    ends = time.monotonic() + 20
    while session.execute(statement).fetchone() != (wanted,):
        assert time.monotonic() < ends
        time.sleep(0.05)
