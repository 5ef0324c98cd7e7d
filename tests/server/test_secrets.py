"""A password in the URL appears nowhere."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from pathlib import Path

import psycopg
import pytest
from small_experiment import command, write_experiment

from dbdyno.targets.embedded import EmbeddedServer

pytestmark = pytest.mark.server

CANARY = "c4n4ry-p4ssw0rd"
PORT = 54329


class Watcher(threading.Thread):
    """Looks at the arguments and the environment of every process but this one, over and over."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.seen: dict[str, float] = {}
        self.done = threading.Event()

    def run(self) -> None:
        while not self.done.is_set():
            for entry in Path("/proc").iterdir():
                if entry.name.isdigit() and int(entry.name) != os.getpid():
                    for name in ("cmdline", "environ"):
                        try:
                            data = (entry / name).read_bytes()
                        except OSError:
                            continue
                        if CANARY.encode() in data:
                            self.seen[f"{entry.name}/{name}"] = time.monotonic()
            time.sleep(0.02)


def test_a_password_in_the_url_appears_nowhere(tmp_path: Path) -> None:
    """Not in output, run directory, report, nor, once it has started, in any process's arguments or environment."""
    with EmbeddedServer(settings={"password_encryption": "scram-sha-256"}) as server:
        hba = server.data_directory / "pg_hba.conf"
        hba.write_text("local all dbdyno trust\nhost all all 127.0.0.1/32 scram-sha-256\n")
        server.execute(f"CREATE ROLE app LOGIN PASSWORD '{CANARY}'")
        server.execute("GRANT CREATE ON DATABASE dbdyno TO app")
        server.execute("SELECT pg_reload_conf()")
        relay = server.tcp_relay(PORT)
        url = f"postgres://app:{CANARY}@127.0.0.1:{PORT}/dbdyno?sslmode=disable"
        watcher = Watcher()
        watcher.start()
        started = time.monotonic()

        done = subprocess.run(
            command("run", write_experiment(tmp_path), "--out", tmp_path / "run", "--target", url, "--allow-write"),
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

        watcher.done.set()
        watcher.join()
    assert done.returncode == 0, done.stderr
    assert CANARY not in done.stdout + done.stderr
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert CANARY.encode() not in path.read_bytes(), path
    # The interpreter itself takes a moment to get to our first line.
    assert [where for where, when in watcher.seen.items() if when > started + 1.0] == []
