"""Processes of other engines: what they answer, what they say of a mistake, and that none is left."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dbdyno.errors import DynoError
from dbdyno.runner.peer_process import ask, started

COUNT = "SELECT count(DISTINCT a) AS a, count(*) AS rows FROM t"


def sqlite_file(directory: Path) -> Path:
    """Three different values in five rows."""
    path = directory / "peer.sqlite"
    with sqlite3.connect(path) as file:
        file.execute("CREATE TABLE t (a INTEGER)")
        file.executemany("INSERT INTO t VALUES (?)", [(1,), (1,), (2,), (3,), (3,)])
    file.close()
    return path


def duckdb_file(directory: Path) -> Path:
    """The same."""
    path = directory / "peer.duckdb"
    with duckdb.connect(str(path)) as file:
        file.execute("CREATE TABLE t AS SELECT unnest([1, 1, 2, 3, 3]) AS a")
    return path


FILES = {"sqlite": sqlite_file, "duckdb": duckdb_file}
SETTINGS = {"sqlite": {"cache_size": "-1000"}, "duckdb": {"threads": "1"}}


def asked(engine: str, path: Path, statement: str = COUNT, **changes: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Ready, and done."""
    spec = {"engine": engine, "path": str(path), "statement": statement, "settings": SETTINGS[engine], **changes}
    with started() as process:
        return ask(engine, process, json.dumps(spec)), ask(engine, process, "go")


@pytest.mark.parametrize("engine", FILES)
def test_an_engine_answers_and_is_timed_by_its_own_clocks(tmp_path: Path, engine: str) -> None:
    """Settings are as the engine shows them; CPU and run queue are within the elapsed time, or a moment beside it."""
    ready, done = asked(engine, FILES[engine](tmp_path))

    assert ready["settings"] == SETTINGS[engine]
    assert done["row"] == {"a": 3, "rows": 5}
    assert 0 < done["cpu_ns"] <= done["elapsed_ns"] + 1_000_000
    assert done["run_queue_ns"] >= 0


@pytest.mark.parametrize("engine", FILES)
@pytest.mark.parametrize(
    ("statement", "said"),
    [("SELECT nonsense(a) FROM t", "nonsense"), ("DELETE FROM t", "read"), ("SELECT a FROM elsewhere", "elsewhere")],
)
def test_a_mistake_is_one_line_with_the_engine(tmp_path: Path, engine: str, statement: str, said: str) -> None:
    """What the engine says; nothing can be written."""
    with pytest.raises(DynoError) as caught:
        asked(engine, FILES[engine](tmp_path), statement)

    assert caught.value.message.startswith(f"engine {engine}: ")
    assert said in caught.value.message
    assert "\n" not in caught.value.message
    assert caught.value.exit_code == 1


def test_a_setting_that_there_is_not_is_said(tmp_path: Path) -> None:
    """Before anything is measured."""
    with pytest.raises(DynoError, match=r"engine duckdb: .*thraeds"):
        asked("duckdb", duckdb_file(tmp_path), settings={"thraeds": "1"})


def test_a_process_that_ends_by_itself_is_a_failed_trial(tmp_path: Path) -> None:
    """Killed for want of memory, say."""
    with started() as process:
        process.kill()
        process.wait()
        with pytest.raises(DynoError, match="engine sqlite: its process has ended"):
            ask("sqlite", process, "{}")


def test_no_process_outlives_us(tmp_path: Path) -> None:
    """Ours is killed with -9 while the engine works."""
    slow = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r"
    spec = {"engine": "sqlite", "path": str(sqlite_file(tmp_path)), "statement": slow, "settings": {}}
    program = f"""
import json
from dbdyno.runner.peer_process import ask, started
with started() as process:
    ask("sqlite", process, {json.dumps(json.dumps(spec))})
    print(process.pid, flush=True)
    ask("sqlite", process, "go")
"""
    ours = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert ours.stdout is not None
    pid = int(ours.stdout.readline())
    os.kill(ours.pid, signal.SIGKILL)
    ours.communicate()
    ends = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists() and _lives(pid) and time.monotonic() < ends:
        time.sleep(0.01)

    assert not _lives(pid)


def _lives(pid: int) -> bool:
    """A zombie that nobody collects lives no more."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
