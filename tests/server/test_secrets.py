"""A password in the URL appears nowhere."""

from __future__ import annotations

import gzip
import os
import subprocess
import threading
import time
from pathlib import Path

import pytest
from small_experiment import command, write_experiment

from dbdyno.targets.embedded import EmbeddedServer

pytestmark = pytest.mark.server

CANARY = "c4n4ry-p4ssw0rd"


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
            time.sleep(0.1)  # a glance at all processes is 10 ms of CPU, which the run must share


def test_a_password_in_the_url_appears_nowhere(tmp_path: Path, cache: Path, free_port: int) -> None:
    """Not in output, run directory, report, archive, nor, once started, in any process's arguments or environment."""
    with EmbeddedServer(port=free_port) as server:
        hba = server.data_directory / "cluster" / "pg_hba.conf"
        hba.write_text("local all dbdyno trust\nhost all all 127.0.0.1/32 scram-sha-256\n")
        server.execute(f"CREATE ROLE app LOGIN PASSWORD '{CANARY}'")
        server.execute("GRANT CREATE ON DATABASE dbdyno TO app; GRANT pg_checkpoint TO app")
        server.execute("ALTER SYSTEM SET listen_addresses = '127.0.0.1'")
        server.restart()
        url = f"postgres://app:{CANARY}@127.0.0.1:{free_port}/dbdyno?sslmode=disable"
        there = ("--target", url, "--allow-write", "--allow-checkpoint")
        watcher = Watcher()
        watcher.start()
        started = time.monotonic()

        done = subprocess.run(
            command("run", write_experiment(tmp_path), "--out", tmp_path / "run", *there),
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

        watcher.done.set()
        watcher.join()
    assert done.returncode == 0, done.stderr
    assert CANARY not in done.stdout + done.stderr
    archive = tmp_path / "run.tar.gz"
    subprocess.run(command("pack", tmp_path / "run", "--out", archive), check=True, capture_output=True, timeout=60)
    assert CANARY.encode() not in gzip.decompress(archive.read_bytes())
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert CANARY.encode() not in path.read_bytes(), path
    # The interpreter itself takes a moment to get to our first line.
    assert [where for where, when in watcher.seen.items() if when > started + 1.0] == []
