"""What counting a table's different values costs, beside reading it and beside counting them exactly.

The table has three columns: an id, one of ten texts of 200 bytes, and texts of 200 bytes that are all different. It
lies in shared buffers. Each round does in random order: the COPY of all columns read and thrown away; the same COPY
counted; and the exact `SELECT count(DISTINCT id), count(DISTINCT ten), count(DISTINCT wide)` with a small work_mem and
with one in which all of it fits. Printed: the median time of each with the temporary bytes that the server wrote, and
within rounds the ratio of its time to that of the count (pseudo-median with its exact 95 % interval, signed rank).
The goals are 0.90 of the COPY that is thrown away, 5 times as fast as the exact ones, and no temporary bytes.

    make bench, or: python benches/ndv_scan.py [--rows 2000000] [--rounds 8]
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dbdyno import engine
from dbdyno.analysis.signed_rank import hodges_lehmann, interval
from dbdyno.ndv.postgres.catalogue import read_catalogue
from dbdyno.ndv.postgres.copy_plan import CopyOptions, plan_copy
from dbdyno.ndv.postgres.scan_source import plan_source
from dbdyno.ndv.postgres.session import connect
from dbdyno.targets.embedded import EmbeddedServer
from dbdyno.targets.target import SettingValue

ROOT = Path(__file__).parent.parent
EXAMPLE = ["cargo", "run", "--quiet", "--release", "--package", "dbdyno-core", "--example", "discard_copy", "--"]
TABLE = """
CREATE TABLE classic AS
SELECT n AS id, lpad((n % 10)::text, 200, 'ten different ones ') AS ten,
       lpad(n::text, 200, 'all of them are different ') AS wide
  FROM generate_series(1::bigint, {rows}) AS n
"""
WARM = "SELECT count(*) FROM classic"
EXACT = "SELECT count(DISTINCT id), count(DISTINCT ten), count(DISTINCT wide) FROM classic"
WORK_MEMS = ("4MB", "4GB")
COUNTED = "counted"
SETTLE_S = 0.05

Way = Callable[[], float]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=8)
    asked = parser.parse_args()
    settings: dict[str, SettingValue] = {
        "shared_buffers": f"{asked.rows * 600 // 1_000_000 + 256}MB",
        "autovacuum": False,
        "max_wal_size": "8GB",
    }
    with EmbeddedServer(settings=settings) as server:
        server.execute(TABLE.format(rows=asked.rows))
        server.vacuum(["classic"])
        server.execute(WARM)
        spec = spec_of(server)
        ways: dict[str, Way] = {
            "thrown away": lambda: discarded(spec),
            COUNTED: lambda: engine.scan_postgres(spec, None)[0]["elapsed_ns"] / 1e9,
        }
        for work_mem in WORK_MEMS:
            ways[f"exact, work_mem {work_mem}"] = exactly(server, work_mem)
        show(asked.rows, *measured(server, ways, asked.rounds))


def spec_of(server: EmbeddedServer) -> dict[str, Any]:
    """The scan as `dbdyno ndv` does it, with all that it keeps: growth, and samples of three targets."""
    with connect(server.endpoint) as session:
        source = plan_source(read_catalogue(session, "--table", "classic"))
    return plan_copy(source, server.endpoint, CopyOptions())


def discarded(spec: dict[str, Any]) -> float:
    """Seconds of the same statement, read and not looked at."""
    arguments = [json.dumps(spec["target"]), str(len(spec["columns"])), spec["parts"][0]["copy_sql"]]
    done = subprocess.run([*EXAMPLE, *arguments], cwd=ROOT, check=True, capture_output=True, text=True)
    return float(json.loads(done.stdout)["elapsed_ns"]) / 1e9


def exactly(server: EmbeddedServer, work_mem: str) -> Way:
    """Seconds of the exact count, in a session of its own."""

    def count() -> float:
        with server.connect() as session:
            session.execute(f"SET work_mem = '{work_mem}'".encode())
            began = time.perf_counter()
            session.execute(EXACT.encode()).fetchall()
            return time.perf_counter() - began

    return count


def measured(
    server: EmbeddedServer, ways: dict[str, Way], rounds: int
) -> tuple[dict[str, list[float]], dict[str, int]]:
    """Seconds by round, and the temporary bytes of all rounds, of each way."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    temp_bytes = dict.fromkeys(ways, 0)
    for count in ways.values():
        count()
    for round_ in range(rounds):
        for name in random.Random(round_).sample(list(ways), len(ways)):
            before = temp_bytes_of(server)
            seconds[name].append(ways[name]())
            temp_bytes[name] += temp_bytes_of(server) - before
    return seconds, temp_bytes


def temp_bytes_of(server: EmbeddedServer) -> int:
    """All that the server has written to temporary files; a session adds its own when it ends."""
    time.sleep(SETTLE_S)
    with server.connect() as session:
        (written,) = session.execute(
            b"SELECT temp_bytes FROM pg_stat_database WHERE datname = current_database()"
        ).fetchone() or (0,)
    return int(written)


def show(rows: int, seconds: dict[str, list[float]], temp_bytes: dict[str, int]) -> None:
    """One row a way."""
    rounds = len(seconds[COUNTED])
    print(f"{rows:,} rows, 3 columns, {rounds} rounds; times the count's own")
    print(f"{'way':<24}{'median':>10}{'temp bytes a time':>20}   its time / that of the count")
    for name, taken in seconds.items():
        logs = [math.log(one / own) for one, own in zip(taken, seconds[COUNTED], strict=True)]
        ratio = "" if name == COUNTED else in_words(logs)
        print(f"{name:<24}{statistics.median(taken):>8.2f} s{temp_bytes[name] // rounds:>20,}   {ratio}")


def in_words(logs: list[float]) -> str:
    """The ratio with its interval."""
    low, high = interval(logs) or (math.nan, math.nan)
    return f"{math.exp(hodges_lehmann(logs)):.3f} [{math.exp(low):.3f}, {math.exp(high):.3f}]"


if __name__ == "__main__":
    main()
