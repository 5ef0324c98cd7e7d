"""Planted disturbances of a real server: another process that takes CPU, a vacuum in the background."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dbdyno.probes.noise import NoiseMeter
from dbdyno.probes.process_work import work_of_family
from dbdyno.targets.counters import differences
from dbdyno.targets.embedded import EmbeddedServer

pytestmark = pytest.mark.server

CPUS = os.cpu_count() or 1
# So much work, not so much time: on a busy machine a time may pass with little work done. 0.4 s of CPU here and more.
SPIN_IN_SERVER = "DO $$ BEGIN FOR i IN 1..60000000 LOOP END LOOP; END $$"


@pytest.fixture(scope="module")
def server(cache: object) -> Iterator[EmbeddedServer]:
    """One whose autovacuum looks every second."""
    with EmbeddedServer(settings={"autovacuum_naptime": "1s", "autovacuum_vacuum_threshold": 50}) as started:
        yield started


@contextlib.contextmanager
def somebody_else_spinning() -> Iterator[None]:
    """A process that takes CPU and is no child of ours: a driver's children may be engines at its work."""
    orphaned = [sys.executable, "-c", "while True: pass"]
    shell = 'trap "" HUP; "$@" >/dev/null 2>&1 & echo $!'
    done = subprocess.run(["sh", "-c", shell, "sh", *orphaned], check=True, capture_output=True, text=True)
    try:
        time.sleep(0.5)
        yield
    finally:
        os.kill(int(done.stdout), signal.SIGKILL)


def seconds_of_all() -> float:
    """The CPU time of all processes of this host, with that of children that their parents have collected."""
    ticks = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
                ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def test_the_cpu_of_other_processes_is_told_from_the_server_s(server: EmbeddedServer) -> None:
    """Beside one that spins, and whatever else goes on here: all processes but server and driver.

    The client's backend spins as well and has gone when the span ends: its time is the server's.
    """
    assert server.postmaster_pid is not None
    with somebody_else_spinning():
        with server.connect() as client:
            backend = Path(f"/proc/{client.info.backend_pid}")
            everything, began, meter = seconds_of_all(), time.monotonic(), NoiseMeter(server.postmaster_pid, None)
            ours = work_of_family(server.postmaster_pid)
            client.execute(SPIN_IN_SERVER.encode())
        while backend.exists():
            time.sleep(0.001)
        found, elapsed_s = meter.read(), time.monotonic() - began
        everything = seconds_of_all() - everything
        ours_after = work_of_family(server.postmaster_pid)

    assert ours is not None
    assert ours_after is not None
    server_s = (ours_after.cpu_ns - ours.cpu_ns) / 1e9
    assert server_s > 0.2  # that of the backend that has gone
    others_s = everything - server_s
    assert found["other_cpu_share"] == pytest.approx(others_s / elapsed_s / CPUS, abs=0.08)
    assert found["other_cpu_share"] > 0.25 / CPUS


def test_an_automatic_vacuum_is_counted(server: EmbeddedServer) -> None:
    """Of a table that users made; within some seconds after enough of it has died."""
    before = server.counters()
    server.execute("CREATE TABLE dying (n int); INSERT INTO dying SELECT generate_series(1, 5000); DELETE FROM dying")
    limit = time.monotonic() + 60
    while (found := differences(before, server.counters()))["autovacuums"] == 0 and time.monotonic() < limit:
        time.sleep(0.2)

    assert found["autovacuums"] >= 1
