"""What a unit of work costs the client: dbdyno's load engine against pgbench, in interleaved pairs.

Starts a server of its own, fills it with pgbench's tables, and runs both drivers in turn, in random order within each
pair, with the same scripts, clients and threads.
Client CPU is that of the load threads over the window (dbdyno) and of the whole process (pgbench, less what connecting
alone costs); both come from the kernel's clocks.

    make bench, or: python benches/driver_vs_pgbench.py [--pairs 12] [--seconds 2] [--clients 8]
"""

from __future__ import annotations

import argparse
import dataclasses
import random
import resource
import statistics
import subprocess
import tempfile
from pathlib import Path

from dbdyno import engine
from dbdyno.runner.schema import build_workload
from dbdyno.targets.embedded import EmbeddedServer
from dbdyno.workloads import find

SCALE = 10
SCRIPTS = ("select-only", "tpcb-like")
# Its disk is not the subject: without flushes the client's share of the work is greatest.
SERVER_SETTINGS = {"fsync": "off", "shared_buffers": "512MB", "max_connections": 200, "autovacuum": "off"}


@dataclasses.dataclass(frozen=True, slots=True)
class Cost:
    """One driver's run."""

    client_cpu_us_per_unit: float
    units_per_s: float


@dataclasses.dataclass(frozen=True, slots=True)
class Load:
    """What both drivers run."""

    server: EmbeddedServer
    script: Path
    clients: int
    seconds: int


def run_pgbench(load: Load, seed: int) -> Cost:
    """CPU of the process for its transactions; connecting and parsing are measured apart and taken off."""
    transactions_cpu_s, transactions, elapsed_s = pgbench_once(load, ["-T", str(load.seconds)], seed)
    connecting_cpu_s, _, _ = pgbench_once(load, ["-t", "1"], seed)
    return Cost((transactions_cpu_s - connecting_cpu_s) * 1e6 / transactions, transactions / elapsed_s)


def pgbench_once(load: Load, length: list[str], seed: int) -> tuple[float, int, float]:
    """CPU seconds, transactions, and the seconds that they took by pgbench's own count."""
    endpoint = load.server.endpoint
    program = load.server.binaries.postgres.with_name("pgbench")
    where = ["-h", endpoint.host, "-p", str(endpoint.port), "-U", endpoint.user]
    workload = ["-n", "-M", "prepared", "-f", str(load.script), "-c", str(load.clients), "-j", "1", "-s", str(SCALE)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run(
        [program, *where, *workload, f"--random-seed={seed}", *length, endpoint.dbname],
        check=True,
        capture_output=True,
        text=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    lines = dict(line.split(sep, 1) for line in result.stdout.splitlines() for sep in (":", " = ") if sep in line)
    transactions = int(lines["number of transactions actually processed"].split("/")[0])
    return cpu_s, transactions, transactions / float(lines["tps"].split()[0])


def run_dbdyno(load: Load, seed: int) -> Cost:
    """One trial without probes; the load thread's CPU over the window."""
    endpoint = load.server.endpoint
    outcome = engine.run_trial(
        {
            "target": {"host": endpoint.host, "port": endpoint.port, "user": endpoint.user, "dbname": endpoint.dbname},
            "scripts": [{"name": load.script.name, "text": load.script.read_text(encoding="utf-8")}],
            "variables": {"scale": str(SCALE)},
            "mode": "prepared",
            "clients": load.clients,
            "threads": 1,
            "arrival": {"kind": "closed"},
            "seed": seed,
            "warm_up_ns": 50_000_000,
            "window_ns": load.seconds * 1_000_000_000,
            "waits": {"route": "off"},
        },
        None,
    )
    units = sum(outcome["series"]["units"])
    return Cost(outcome["driver"]["cpu_ns"] / 1e3 / units, units / load.seconds)


def measure_pairs(load: Load, pairs: int, seed: int) -> list[tuple[Cost, Cost]]:
    """(pgbench, dbdyno) for each pair; a coin says which goes first."""
    coin = random.Random(seed)
    measured = []
    for pair in range(pairs):
        if coin.random() < 0.5:
            pgbench = run_pgbench(load, seed + pair)
            dbdyno = run_dbdyno(load, seed + pair)
        else:
            dbdyno = run_dbdyno(load, seed + pair)
            pgbench = run_pgbench(load, seed + pair)
        measured.append((pgbench, dbdyno))
    return measured


def print_row(name: str, pairs: list[tuple[Cost, Cost]]) -> None:
    """Medians of both, and the median of the ratios within pairs."""
    cells = []
    for field, width in (("client_cpu_us_per_unit", 10), ("units_per_s", 14)):
        pgbench = [getattr(cost, field) for cost, _ in pairs]
        dbdyno = [getattr(cost, field) for _, cost in pairs]
        ratios = [mine / theirs for mine, theirs in zip(dbdyno, pgbench, strict=True)]
        digits = 2 if field.startswith("client") else 0
        cells.append(f"{statistics.median(pgbench):{width}.{digits}f}{statistics.median(dbdyno):10.{digits}f}")
        cells.append(f"{statistics.median(ratios):10.2f}")
    print(f"{name:12}" + "".join(cells), flush=True)


def main() -> None:
    """Prints one row per script: medians over the pairs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    schema = find("pgbench")
    assert schema is not None
    print(f"{arguments.pairs} interleaved pairs of {arguments.seconds} s, {arguments.clients} clients on one thread")
    print(f"{'':12}{'client CPU per unit, us':>30}{'units per s':>34}")
    print(f"{'script':12}{'pgbench':>10}{'dbdyno':>10}{'ratio':>10}{'pgbench':>14}{'dbdyno':>10}{'ratio':>10}")
    with EmbeddedServer(settings=SERVER_SETTINGS) as server, tempfile.TemporaryDirectory() as directory:
        build_workload(schema, server, SCALE, data_seed=1, say=lambda what: None)
        server.vacuum(())
        for name in SCRIPTS:
            script = Path(directory) / f"{name}.sql"
            script.write_text(engine.builtin_script(name), encoding="utf-8")
            load = Load(server, script, arguments.clients, arguments.seconds)
            print_row(name, measure_pairs(load, arguments.pairs, arguments.seed))


if __name__ == "__main__":
    main()
