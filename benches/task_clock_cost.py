"""What a CPU clock of perf (task-clock) on each backend costs: throughput with and without, in turn.

Such a clock is exact while its process runs and goes on when a hypervisor takes the CPU away, but the kernel works on
it at every switch. select-only with more clients than CPUs switches most.

    make bench, or: python benches/task_clock_cost.py [--pairs 100] [--clients 64]
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import math
import os
import random
import struct
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dbdyno import engine
from dbdyno.analysis.signed_rank import hodges_lehmann, interval
from dbdyno.runner.schema import build_workload
from dbdyno.targets.embedded import EmbeddedServer
from dbdyno.workloads import find

SCALE = 10
WARM_UP_S, WINDOW_S = 0.2, 0.25
SYS_PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}[os.uname().machine]
# perf_event_open(2): the first 64 bytes of perf_event_attr; type software, config task-clock, without the kernel.
ATTRIBUTES = struct.pack("IIQQQQQIIQ", 1, 64, 1, 0, 0, 0, 1 << 5 | 1 << 6, 0, 0, 0)


def sessions(postmaster_pid: int) -> list[int]:
    """The postmaster's children that serve a client of this host: their titles say where it is."""
    children = Path(f"/proc/{postmaster_pid}/task/{postmaster_pid}/children").read_text(encoding="ascii").split()
    found = []
    for pid in children:
        with contextlib.suppress(FileNotFoundError):  # one of the trial before may just end
            title = Path(f"/proc/{pid}/cmdline").read_bytes()
            if b"[local]" in title or b"127.0.0.1" in title:
                found.append(int(pid))
    return found


@contextlib.contextmanager
def clocks_on(pids: list[int]) -> Iterator[None]:
    """A task clock on each."""
    system = ctypes.CDLL(None, use_errno=True).syscall
    files = [system(SYS_PERF_EVENT_OPEN, ATTRIBUTES, pid, -1, -1, 8) for pid in pids]
    assert files, "no session was found"
    assert min(files) >= 0, "perf_event_open is not allowed here"
    try:
        yield
    finally:
        for file in files:
            os.close(file)


def throughput(server: EmbeddedServer, clients: int, seed: int, *, clocks: bool) -> float:
    """Units a second of one trial."""
    endpoint = server.endpoint
    spec = {
        "target": {"host": endpoint.host, "port": endpoint.port, "user": endpoint.user, "dbname": endpoint.dbname},
        "scripts": [{"name": "select-only", "text": engine.builtin_script("select-only")}],
        "variables": {"scale": str(SCALE)},
        "mode": "prepared",
        "clients": clients,
        "threads": 1,
        "arrival": {"kind": "closed"},
        "seed": seed,
        "warm_up_ns": round(WARM_UP_S * 1e9),
        "window_ns": round(WINDOW_S * 1e9),
        "waits": {"route": "off"},
    }
    outcome: dict[str, Any] = {}
    trial = threading.Thread(target=lambda: outcome.update(engine.run_trial(spec, None)))
    trial.start()
    while len(pids := sessions(server.postmaster_pid)) < clients and trial.is_alive():
        time.sleep(0.01)
    with clocks_on(pids) if clocks else contextlib.nullcontext():
        trial.join()
    return float(outcome["throughput_per_s"])


def main() -> None:
    """Prints the ratio and its interval."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--clients", type=int, default=64)
    arguments = parser.parse_args()
    schema = find("pgbench")
    assert schema is not None
    settings: dict[str, str | int] = {"fsync": "off", "shared_buffers": "512MB", "max_connections": 150}
    coin = random.Random(1)
    logarithms = []
    with EmbeddedServer(settings=settings) as server:
        build_workload(schema, server, SCALE, data_seed=1, say=lambda what: None)
        for pair in range(arguments.pairs):
            order = coin.sample((False, True), 2)
            seen = {clocks: throughput(server, arguments.clients, pair, clocks=clocks) for clocks in order}
            logarithms.append(math.log(seen[True] / seen[False]))
    low, high = interval(logarithms) or (-math.inf, math.inf)
    ratio = f"{math.exp(hodges_lehmann(logarithms)):.4f} [{math.exp(low):.4f}, {math.exp(high):.4f}]"
    load = f"select-only, {arguments.clients} clients, {os.cpu_count()} CPUs"
    print(f"{load}: throughput with task-clocks / without, {arguments.pairs} pairs: {ratio}")


if __name__ == "__main__":
    main()
