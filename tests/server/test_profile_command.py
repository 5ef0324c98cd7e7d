"""`dbdyno profile` from end to end: saved, shown again, interrupted, its server killed, its password nowhere."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from small_experiment import command
from test_secrets import CANARY, Watcher

from dbdyno.commands import app
from dbdyno.store import profile_directory
from dbdyno.targets.embedded import EmbeddedServer

pytestmark = [pytest.mark.server, pytest.mark.timed]


Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """The command line in this process: the interpreter and its imports take longer than a profile of a second."""

    def call(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        capsys.readouterr()
        code = app.run([str(argument) for argument in arguments])
        return subprocess.CompletedProcess(arguments, code, *capsys.readouterr())

    return call


@pytest.fixture
def busy(server: EmbeddedServer) -> Iterator[None]:
    """A session that works all the time."""
    stop = threading.Event()

    def work() -> None:
        with server.connect() as session:
            while not stop.is_set():
                session.execute("SELECT count(*) FROM generate_series(1, 20000)")

    worker = threading.Thread(target=work)
    worker.start()
    yield
    stop.set()
    worker.join()


def profiled_while(
    server: EmbeddedServer, out: Path, act: Callable[[subprocess.Popen[str]], None]
) -> tuple[int, str, str]:
    """A profile of 30 s in whose second second something happens: exit code, stdout, stderr."""
    process = subprocess.Popen(
        command("profile", server.endpoint.display(), "--out", out),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    first = process.stderr.readline()
    assert first.startswith("profiling postgres://")
    time.sleep(1.5)
    act(process)
    output, errors = process.communicate(timeout=20)
    return process.returncode, output, first + errors


def test_a_profile_is_saved_and_shown_again(server: EmbeddedServer, busy: None, tmp_path: Path, run: Run) -> None:
    """The same findings from the directory, as text and as JSON; a second profile does not go into it."""
    out = tmp_path / "profile"
    done = run("profile", server.endpoint.display(), "--seconds", "2", "--out", out)

    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[0] == f"profiling {server.endpoint.display()} for 2 s"
    assert str(out) in done.stdout.splitlines()[-1]
    assert run("report", out).stdout == done.stdout
    document = json.loads(run("report", out, "--json").stdout)
    assert document == json.loads((out / profile_directory.FINDINGS).read_text())
    assert document["seconds"] == pytest.approx(2.0, abs=0.3)
    record = profile_directory.read_record(out)
    assert record["asked"] == {"seconds": 2.0, "budget": 0.01, "route": "auto", "stacks": False}
    assert record["target"]["postmaster_pid"] == server.postmaster_pid
    assert record["server"]["version"] == server.server_version
    assert record["sessions"]["polls"] >= 2
    assert any("generate_series" in query["text"] for query in record["sessions"]["queries"])
    assert (out / profile_directory.SNAPSHOTS).read_bytes()[:4] == b"PAR1"

    again = run("profile", server.endpoint.display(), "--seconds", "1", "--out", out)
    assert (again.returncode, again.stdout) == (2, "")
    assert f"--out {out}: is not empty; name a new directory" in again.stderr


def test_a_server_that_admits_nobody_is_profiled_by_its_memory(
    server: EmbeddedServer, tmp_path: Path, run: Run
) -> None:
    """Its data directory is named; there is nobody of our name; JSON alone stands on stdout."""
    cluster = server.data_directory / "cluster"
    done = run("profile", cluster, "--seconds", "1", "--out", tmp_path / "p", "--json")

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["format"] == 1
    assert done.stderr.splitlines()[0].startswith(f"{cluster}: no connection: as ")
    record = profile_directory.read_record(tmp_path / "p")
    assert record["sessions"]["note"] == record["target"]["note"]
    assert record["counters"]["pg_stat_wal"]["note"] == "there is no connection"


def test_ctrl_c_keeps_what_was_seen(server: EmbeddedServer, tmp_path: Path, run: Run) -> None:
    """Exit code 130, findings printed, one line that says where the rest is."""
    code, output, errors = profiled_while(server, tmp_path / "p", lambda process: process.send_signal(signal.SIGINT))

    assert code == 130
    assert errors.splitlines()[-1].startswith("dbdyno: interrupted after ")
    assert errors.splitlines()[-1].endswith(f"s of 30 s; what was seen until then is in {tmp_path / 'p'}")
    assert profile_directory.read_record(tmp_path / "p")["interrupted"]
    assert run("report", tmp_path / "p").stdout == output != ""


@pytest.mark.parametrize("end", ["killed", "restarted"])
def test_a_server_that_ends_is_told_in_a_word(end: str, cache: Path, tmp_path: Path, run: Run) -> None:
    """kill -9 of the postmaster, or a restart: exit code 1, and what was seen is kept."""
    with EmbeddedServer() as server:

        def act(process: subprocess.Popen[str]) -> None:
            if end == "killed":
                os.kill(server.postmaster_pid, signal.SIGKILL)
            else:
                server.restart()

        code, output, errors = profiled_while(server, tmp_path / "p", act)
        endpoint = server.endpoint.display()

    assert code == 1, errors
    assert errors.splitlines()[-1].startswith(f"dbdyno: {endpoint}: the server ended after ")
    assert "Traceback" not in errors
    record = profile_directory.read_record(tmp_path / "p")
    assert record["watch"]["ended"] == "server_gone"
    assert record["counters"]["pg_stat_wal"]["rows_before"] is not None
    assert run("report", tmp_path / "p").stdout == output != ""


def test_a_password_in_the_url_appears_nowhere(tmp_path: Path, cache: Path, free_port: int, run: Run) -> None:
    """Not in output, not in the directory, not in any process's arguments or environment; nor does a wrong one."""
    with EmbeddedServer(port=free_port) as server:
        hba = server.data_directory / "cluster" / "pg_hba.conf"
        hba.write_text("local all dbdyno trust\nhost all all 127.0.0.1/32 scram-sha-256\n")
        server.execute(f"CREATE ROLE app LOGIN PASSWORD '{CANARY}'")
        server.execute("ALTER SYSTEM SET listen_addresses = '127.0.0.1'")
        server.restart()
        url = f"postgres://app:{CANARY}@127.0.0.1:{free_port}/dbdyno?sslmode=disable"
        watcher = Watcher()
        watcher.start()
        pid = str(server.postmaster_pid)
        arguments = ("profile", pid, "--as-url", url, "--seconds", "2", "--out", tmp_path / "p")
        with subprocess.Popen(
            command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stderr is not None
            said = process.stderr.readline()
            begun = time.monotonic()
            output, errors = process.communicate(timeout=30)
        watcher.done.set()
        watcher.join()
        wrong = run("profile", url.replace(CANARY, f"x{CANARY}"), "--out", tmp_path / "w")
    assert process.returncode == 0, errors
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "password authentication failed" in wrong.stderr
    assert CANARY not in said + output + errors + wrong.stdout + wrong.stderr
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or CANARY.encode() not in path.read_bytes(), path
    assert profile_directory.read_record(tmp_path / "p")["server"]["user"] == "app"
    # Before its first word the interpreter itself takes a moment to get to our first line.
    assert [where for where, when in watcher.seen.items() if when > begun] == []


def test_the_live_view_takes_keys_and_leaves_the_terminal_as_it_was(
    server: EmbeddedServer, busy: None, tmp_path: Path
) -> None:
    """In a terminal of 80 columns: it draws, looks into the first event, and q ends it with the findings."""
    import termios

    user, program = pty.openpty()
    termios.tcsetwinsize(program, (24, 80))
    before = termios.tcgetattr(program)
    process = subprocess.Popen(
        command("profile", server.endpoint.display(), "--live", "--out", tmp_path / "p"),
        stdin=program,
        stdout=subprocess.PIPE,
        stderr=program,
        env=os.environ | {"TERM": "xterm-256color"},
    )
    drawn = read_until(user, b"  CPU   ", 20.0)  # a line of the table of events
    os.write(user, b"\x1b[B\r")
    drawn += read_until(user, b"left back", 5.0)
    os.write(user, b"q")
    output, _ = process.communicate(timeout=15)
    after = termios.tcgetattr(program)
    os.close(user)
    os.close(program)

    assert process.returncode == 0
    assert b"Traceback" not in drawn
    assert str(tmp_path / "p") in output.decode().splitlines()[-1]
    assert after == before
    assert profile_directory.read_record(tmp_path / "p")["watch"]["ended"] == "stopped"


def read_until(terminal: int, wanted: bytes, limit_s: float) -> bytes:
    """What is drawn until `wanted` is."""
    drawn = b""
    deadline = time.monotonic() + limit_s
    while wanted not in drawn:
        assert time.monotonic() < deadline, drawn[-2000:]
        if select.select([terminal], [], [], 0.1)[0]:
            drawn += os.read(terminal, 65536)
    return drawn
