"""`dbdyno calibrate --guard`, with a real server that the test stalls."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dbdyno.targets.embedded import EmbeddedServer

pytestmark = pytest.mark.server

PASSWORD = "canary-hunter2x"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """An empty directory to measure."""
    directory = tmp_path / "place"
    directory.mkdir()
    return directory


def url_of(server: EmbeddedServer) -> str:
    """With a password, which this server does not ask for."""
    endpoint = server.endpoint
    return f"postgres://{endpoint.user}:{PASSWORD}@/{endpoint.dbname}?host={endpoint.host}&port={endpoint.port}"


def command(place: Path, *arguments: str | Path) -> list[str]:
    """A calibration of a small file."""
    return [sys.executable, "-m", "dbdyno", "calibrate", str(place), "--file-size", "0.0625", *map(str, arguments)]


def started(place: Path, *arguments: str | Path) -> subprocess.Popen[str]:
    """It runs, and measures already."""
    process = subprocess.Popen(command(place, *arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    line = ""
    for line in process.stderr:
        if line.startswith("one read at a time") or "which is memory" in line:
            break
    if "which is memory" in line:
        process.communicate()
        pytest.skip("the tests' directory is in memory")
    return process


def test_a_stalled_server_stops_the_calibration(server: EmbeddedServer, place: Path, tmp_path: Path) -> None:
    """Within seconds, with exit code 1, one line, no file left, and what was measured kept and marked."""
    process = started(place, "--guard", url_of(server), "--out", tmp_path / "out")
    postmaster = server.postmaster_pid
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    pids = [postmaster, *map(int, children)]
    time.sleep(1.0)
    begun = time.monotonic()
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        stdout, stderr = process.communicate(timeout=60)
        took_s = time.monotonic() - begun
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)

    assert process.returncode == 1
    assert took_s < 20  # what is seen after 1.6 s, then the analysis of what was measured, on a busy machine
    last = stderr.splitlines()[-1]
    assert last.startswith("dbdyno: stopped for postgres://")
    assert " in the phase " in last
    assert "took more than" in last
    assert list(place.iterdir()) == []
    assert PASSWORD not in stdout + stderr
    found = json.loads((tmp_path / "out" / "calibration.json").read_text())
    assert found["quality"] != "sound"
    assert "guarded_service_suffers" in [warning["code"] for warning in found["warnings"]]
    assert found["guard"]["seen"] is not None
    assert all(PASSWORD not in path.read_text() for path in (tmp_path / "out").glob("*.*"))


def test_a_server_that_goes_away_stops_it_too(cache: Path, place: Path, tmp_path: Path) -> None:
    """It failed: exit code 1."""
    with EmbeddedServer() as server:
        process = started(place, "--guard", url_of(server), "--out", tmp_path / "out")
        time.sleep(1.0)
    _, stderr = process.communicate(timeout=60)

    assert process.returncode == 1
    assert ": it failed: " in stderr.splitlines()[-1]
    assert list(place.iterdir()) == []


def test_a_well_server_is_guarded_to_the_end(server: EmbeddedServer, place: Path, tmp_path: Path) -> None:
    """Of a calibration of files, too; the report says how it fared."""
    data = place / "data"
    data.write_bytes(os.urandom(1 << 20) * 16)
    arguments = ["calibrate", "--read-only", str(data), "--guard", url_of(server), "--guard-factor", "1000"]
    arguments += ["--guard-sql", "SELECT count(*) FROM pg_class", "--byte-budget", "0.0625", "--json"]
    ended = subprocess.run(
        [sys.executable, "-m", "dbdyno", *arguments, "--out", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if "which is memory" in ended.stderr:
        pytest.skip("the tests' directory is in memory")

    assert ended.returncode == 0, ended.stderr
    guard = json.loads(ended.stdout)["guard"]
    assert (guard["statement"], guard["factor"], guard["seen"]) == ("SELECT count(*) FROM pg_class", 1000.0, None)
    assert guard["probes"] > 0
    assert PASSWORD not in ended.stdout + ended.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--guard", f"postgres://u:{PASSWORD}@127.0.0.1:1/db"], "--guard postgres://u@127.0.0.1:1/db: "),
        (["--guard", PASSWORD], "--guard: not a URL"),
        (["--guard-factor", "5"], "--guard-factor, --guard-sql: say how to guard; give --guard URL as well"),
    ],
)
def test_a_guard_that_cannot_be_asked_is_told_before_anything_is_written(
    place: Path, tmp_path: Path, arguments: list[str], words: str
) -> None:
    """Exit code 2, one line, no password."""
    ended = subprocess.run(
        command(place, *arguments, "--out", tmp_path / "out"), capture_output=True, text=True, timeout=60, check=False
    )

    assert ended.returncode == 2
    assert words in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert PASSWORD not in ended.stderr
    assert list(place.iterdir()) == []
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("SELECT nothing", 'column "nothing" does not exist'),
        ("CREATE TABLE t (a int)", "cannot execute CREATE TABLE in a read-only transaction"),
        ("SELECT 1; SELECT 2", "cannot insert multiple commands into a prepared statement"),
    ],
)
def test_a_statement_that_does_not_only_read_is_refused(
    server: EmbeddedServer, place: Path, tmp_path: Path, statement: str, words: str
) -> None:
    """Exit code 2, in the server's words."""
    arguments = ["--guard", url_of(server), "--guard-sql", statement, "--out", tmp_path / "out"]
    ended = subprocess.run(command(place, *arguments), capture_output=True, text=True, timeout=60, check=False)

    assert ended.returncode == 2
    assert words in ended.stderr.splitlines()[-1]
    assert PASSWORD not in ended.stderr
    assert list(place.iterdir()) == []


def test_a_kill_while_guarding_leaves_no_file_and_no_session(
    server: EmbeddedServer, place: Path, tmp_path: Path
) -> None:
    """kill -9: the server sees that its client is gone."""
    process = started(place, "--guard", url_of(server), "--out", tmp_path / "out")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'dbdyno guard'"
    ends = time.monotonic() + 10
    with server.connect() as connection:
        while connection.execute(sessions).fetchone() != (0,):
            assert time.monotonic() < ends
            time.sleep(0.1)

    assert list(place.iterdir()) == []
