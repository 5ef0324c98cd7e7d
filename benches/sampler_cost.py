"""What watching a server costs: CPU per sweep by route, and the throughput of a saturated host with and without.

100 clients of one load thread run select-only against a server of our own, so that every backend is active and no CPU
idle.
First table: the sampler thread's CPU per sweep, by its own clock, least of the runs, with the wake-up and without it;
and that of a thread which only wakes up, beside the same load: the floor under any sampler on this machine.
Second: trials with and without the sampler in turn, in random order within each pair, and the ratio of throughputs with
its 95 % interval (Hodges-Lehmann on the logarithms, as for verdicts).

    make bench, or: python benches/sampler_cost.py [--pairs 200] [--runs 9] [--clients 100] [--user NAME]

The kernel lets only root map another process's memory, so root and an ordinary user have different routes: run it as
both. `--user`, as root, does so for a user who can reach the interpreter.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from dbdyno import engine
from dbdyno.analysis.signed_rank import hodges_lehmann, interval
from dbdyno.errors import DynoError
from dbdyno.runner.schema import build_workload
from dbdyno.targets.embedded import EmbeddedServer
from dbdyno.workloads import find

SCALE = 10
SERVER_SETTINGS: dict[str, str | int] = {
    "fsync": "off",
    "shared_buffers": "512MB",
    "max_connections": 150,
    "autovacuum": "off",
}
ROUTES = ("mapped", "sysv", "contiguous", "mem")
PERIODS_NS = (1_000_000, 100_000)
ROOT = Path(__file__).parent.parent
WAKE_UP_COST = ("--quiet", "--release", "--package", "dbdyno-core", "--example", "wake_up_cost")
# Beside the sweep itself nothing is to be measured: one look in four sweeps is the least there is.
NO_BUDGET = 1e-6


@dataclasses.dataclass(frozen=True, slots=True)
class Load:
    """What is run, again and again."""

    server: EmbeddedServer
    clients: int
    window_ns: int

    def trial(self, seed: int, **waits: Any) -> dict[str, Any]:
        """One trial of select-only, watched like this."""
        endpoint = self.server.endpoint
        where = {"host": endpoint.host, "port": endpoint.port, "user": endpoint.user, "dbname": endpoint.dbname}
        return engine.run_trial(
            {
                "target": where,
                "scripts": [{"name": "select-only", "text": engine.builtin_script("select-only")}],
                "variables": {"scale": str(SCALE)},
                "mode": "prepared",
                "clients": self.clients,
                "threads": 1,
                "arrival": {"kind": "closed"},
                "seed": seed,
                "warm_up_ns": 50_000_000,
                "window_ns": self.window_ns,
                "waits": {"postmaster_pid": self.server.postmaster_pid, **waits},
            },
            None,
        )


def print_sweeps(load: Load, runs: int) -> None:
    """One row for each route and period."""
    print(f"{'route':12}{'period us':>10}{'sweep us':>10}{'with wake-up us':>17}{'share of the host':>19}")
    for route in ROUTES:
        for period_ns in PERIODS_NS:
            try:
                asked = {"route": route, "period_ns": period_ns, "budget": NO_BUDGET}
                profiles = [load.trial(run, **asked)["profile"] for run in range(runs)]
            except DynoError as error:
                print(f"{route:12}  {error.message[:100]}")
                break
            sweeping_us = min(profile["sampler_cpu_ns_sweeping"] for profile in profiles) / 1e3
            waking_us = min(profile["sampler_cpu_ns"] / profile["sampler_wake_ups"] for profile in profiles) / 1e3
            share = waking_us * 1e3 / period_ns / (os.cpu_count() or 1)
            print(f"{route:12}{period_ns / 1e3:10.0f}{sweeping_us:10.2f}{waking_us:17.2f}{share:19.2%}", flush=True)


def print_wake_ups(load: Load, runs: int) -> None:
    """One row for each period: the least of the runs."""
    subprocess.run(["cargo", "build", *WAKE_UP_COST], check=True, cwd=ROOT)
    long_load = dataclasses.replace(load, window_ns=runs * 1_500_000_000)
    for period_ns in PERIODS_NS:
        beside = threading.Thread(target=long_load.trial, args=(1,), kwargs={"route": "off"})
        beside.start()
        time.sleep(0.5)
        command = ["cargo", "run", *WAKE_UP_COST, "--", str(period_ns // 1000), "0.5"]
        found = [float(subprocess.run(command, check=True, cwd=ROOT, capture_output=True).stdout) for _ in range(runs)]
        beside.join()
        share = min(found) * 1e3 / period_ns / (os.cpu_count() or 1)
        print(f"{'only waking up':12}{period_ns / 1e3:8.0f}{'':10}{min(found):17.2f}{share:19.2%}", flush=True)


def print_pairs(load: Load, pairs: int, name: str, **waits: Any) -> None:
    """The throughput with the sampler over that without, and the sampler's own share of the host."""
    coin = random.Random(1)
    logarithms, shares, periods_us = [], [], []
    for pair in range(pairs):
        seen: dict[str, float] = {}
        for route in coin.sample(("off", "auto"), 2):
            outcome = load.trial(pair, **{**waits, "route": route})
            seen[route] = outcome["throughput_per_s"]
            if route == "auto":
                profile = outcome["profile"]
                shares.append(profile["sampler_cpu_ns"] / profile["sampler_elapsed_ns"] / (os.cpu_count() or 1))
                periods_us.append(profile["period_ns"] / 1e3)
        logarithms.append(math.log(seen["auto"] / seen["off"]))
    low, high = interval(logarithms) or (-math.inf, math.inf)
    share, period_us = sum(shares) / pairs, sum(periods_us) / pairs
    print(
        f"{name:24}{profile['route']:12}{period_us:10.0f}{share:19.2%}"
        f"{math.exp(hodges_lehmann(logarithms)):12.4f}  {math.exp(low):.4f} to {math.exp(high):.4f}",
        flush=True,
    )


def as_user(name: str) -> int:
    """The same again in that user's name."""
    arguments = [argument for argument in sys.argv[1:] if argument not in ("--user", name)]
    return subprocess.run([sys.executable, __file__, *arguments], user=name, check=False, cwd="/").returncode


def main() -> None:
    """Prints both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--clients", type=int, default=100)
    parser.add_argument("--window-ms", type=int, default=250)
    parser.add_argument("--user")
    arguments = parser.parse_args()
    if arguments.user:
        sys.exit(as_user(arguments.user))
    schema = find("pgbench")
    assert schema is not None
    print(f"uid {os.getuid()}, {os.cpu_count()} CPUs, {arguments.clients} clients of select-only")
    with EmbeddedServer(settings=SERVER_SETTINGS) as server:
        build_workload(schema, server, SCALE, data_seed=1, say=lambda what: None)
        load = Load(server, arguments.clients, arguments.window_ms * 1_000_000)
        print_sweeps(load, arguments.runs)
        if os.getuid() == 0:  # an ordinary user has no checkout to build it in
            print_wake_ups(load, min(arguments.runs, 5))
        print(f"\n{arguments.pairs} pairs with and without")
        print(f"{'':24}{'route':12}{'period us':>10}{'share of the host':>19}{'throughput':>12}  95 % interval")
        print_pairs(load, arguments.pairs, "default budget", period_ns=None)
        print_pairs(load, arguments.pairs, "10 kHz, 4 % of the host", period_ns=100_000, budget=0.04)


if __name__ == "__main__":
    main()
