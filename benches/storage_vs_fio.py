"""dbdyno's storage engine beside fio: the same file, the same depth, one after the other, who is first by chance.

8 KiB random reads past the page cache, io_uring on both sides, fio with its defaults but for total latency instead of
its completion latency, which leaves the submission out. Printed by depth: the ratio of dbdyno to fio within pairs
(pseudo-median with its exact 95 % interval, signed rank) of I/Os a second, p50, p99 and CPU an I/O; and what the
engine's loop costs where there is no device: I/Os a second of one core with the null device.

fio's CPU is what it reports (user and system time of its job), ours the thread's own clock: both hold the kernel's
part.
The goals are IOPS at least equal at 1, 4, 16 and 64, CPU at 64 at most 0.9 of fio's, and 1.5 million I/Os a second of
one core without a device.

    make bench, or: python benches/storage_vs_fio.py [--pairs 12] [--seconds 1] [--directory DIR]
"""

from __future__ import annotations

import argparse
import json
import math
import random
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dbdyno.analysis.histograms import quantiles_ns
from dbdyno.analysis.signed_rank import hodges_lehmann, interval
from dbdyno.calibration.cells import Cell, Planned
from dbdyno.calibration.storage import Storage

DEPTHS = (1, 4, 16, 64)
PAGE_BYTES = 8192
FILE_BYTES = 1 << 30
NULL_REPEATS = 9
FIGURES = ("iops", "p50", "p99", "CPU an I/O")
RAMP_S = 0.1


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--directory", type=Path, default=Path())
    asked = parser.parse_args()
    if shutil.which("fio") is None:
        print("storage_vs_fio: left out, there is no fio (apt-get install fio)")
        return
    with tempfile.TemporaryDirectory(dir=asked.directory, prefix=".dbdyno-bench-") as directory:
        path = Path(directory) / "file"
        path.touch()
        Storage.of_file(path, None, direct=False, write=True, engine_name="threads").fill(FILE_BYTES, 1, lambda: True)
        compare(path, asked.pairs, asked.seconds)
        own_cost(path)


def compare(path: Path, pairs: int, seconds: float) -> None:
    """Both tools in pairs, at each depth."""
    storage = Storage.of_file(path, None, direct=True, write=False, engine_name="auto")
    print(f"{pairs} pairs of {seconds:g} s, {storage.engine_name}; ratio of dbdyno to fio [95 %]")
    print(f"{'depth':>5}  {'fio IOPS':>9}" + "".join(f"  {name:>22}" for name in FIGURES))
    order = random.Random(1)
    logs: dict[int, list[list[float]]] = {depth: [] for depth in DEPTHS}
    fio_iops: dict[int, list[float]] = {depth: [] for depth in DEPTHS}
    for pair in range(pairs):
        for depth in order.sample(DEPTHS, len(DEPTHS)):
            seen: dict[str, dict[str, float]] = {}
            for tool in order.sample(("fio", "dbdyno"), 2):
                seen[tool] = fio(path, depth, seconds) if tool == "fio" else ours(storage, depth, seconds, pair)
            logs[depth].append([math.log(seen["dbdyno"][name] / seen["fio"][name]) for name in FIGURES])
            fio_iops[depth].append(seen["fio"]["iops"])
    for depth in DEPTHS:
        cells = "".join(f"  {ratio([row[at] for row in logs[depth]]):>22}" for at in range(len(FIGURES)))
        print(f"{depth:>5}  {sorted(fio_iops[depth])[pairs // 2]:>9,.0f}{cells}")


def ratio(logs: list[float]) -> str:
    """The pseudo-median and its interval."""
    low, high = interval(logs) or (math.nan, math.nan)
    return f"{math.exp(hodges_lehmann(logs)):.3f} [{math.exp(low):.3f}, {math.exp(high):.3f}]"


def ours(storage: Storage, depth: int, seconds: float, seed: int) -> dict[str, float]:
    """One cell."""
    cell = Cell(
        depth=depth,
        io_bytes=PAGE_BYTES,
        span_bytes=FILE_BYTES,
        settle_ns=round(RAMP_S * 1e9),
        window_ns=round(seconds * 1e9),
        seed=seed,
    )
    outcome = storage.run(Planned("bench", 0, {}, cell), lambda: True)["outcome"]
    p50, p99 = quantiles_ns(outcome["response_time"]["histogram"], [0.5, 0.99])
    return {
        "iops": outcome["reads"] / seconds,
        "p50": p50,
        "p99": p99,
        "CPU an I/O": outcome["cpu_ns"] / outcome["reads_in_all"],
    }


def fio(path: Path, depth: int, seconds: float) -> dict[str, float]:
    """One job, as people run it."""
    command = [
        "fio", "--name=bench", f"--filename={path}", "--readonly", "--direct=1", "--ioengine=io_uring", "--rw=randread",
        f"--bs={PAGE_BYTES}", f"--iodepth={depth}", "--time_based", f"--runtime={seconds}", f"--ramp_time={RAMP_S}",
        "--lat_percentiles=1", "--clat_percentiles=0", f"--randseed={time.monotonic_ns() % 2**31}",
        "--output-format=json",
    ]  # fmt: skip
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    job: Mapping[str, Any] = json.loads(ended.stdout)["jobs"][0]
    read = job["read"]
    cpu_ns = (job["usr_cpu"] + job["sys_cpu"]) / 100 * job["job_runtime"] * 1e6
    return {
        "iops": read["iops"],
        "p50": read["lat_ns"]["percentile"]["50.000000"],
        "p99": read["lat_ns"]["percentile"]["99.000000"],
        "CPU an I/O": cpu_ns / read["total_ios"],
    }


def own_cost(path: Path) -> None:
    """The loop without a device: the least CPU of some repeats."""
    storage = Storage.of_file(path, None, direct=False, write=False, engine_name="null")
    for depth in (1, 64):
        cell = Cell(depth=depth, io_bytes=PAGE_BYTES, span_bytes=FILE_BYTES, settle_ns=0, window_ns=200_000_000, seed=1)
        runs = [storage.run(Planned("bench", 0, {}, cell), lambda: True)["outcome"] for _ in range(NULL_REPEATS)]
        least_ns = min(outcome["cpu_ns"] / outcome["reads_in_all"] for outcome in runs)
        rate = 1e3 / least_ns
        print(f"null device, depth {depth}: {least_ns:.0f} ns of CPU an I/O, {rate:.1f} million a second of a core")


if __name__ == "__main__":
    main()
