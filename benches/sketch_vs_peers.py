"""How fast values are counted, beside others who count approximately: CPU nanoseconds a value, on one core.

The same arrays go to DuckDB's `approx_count_distinct`, Polars' `approx_n_unique`, the HLL sketch of the crate
`datasketches` and ours, as its Python binding has it and, from the example `sketch_peers`, compiled for each set of
instructions that the processor has. Each round takes all of them in random order; the least CPU time of the rounds
counts, because everything else that a machine does can only add to it. `ratio` is the best peer's time over ours.
The goals are a ratio of 1.7 for integers and of 1 for texts of 200 bytes. What a machine's memory takes to be read
(`sum`: adding up the array) is in every figure.

    make bench, or: python benches/sketch_vs_peers.py [--integers 10000000] [--texts 1000000] [--runs 9]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

os.environ["POLARS_MAX_THREADS"] = "1"

import duckdb
import numpy as np
import polars

from dbdyno import _core

ROOT = Path(__file__).parent.parent
EXAMPLE = ["cargo", "run", "--quiet", "--release", "--package", "dbdyno-core", "--example", "sketch_peers", "--"]
TEXT_BYTES = 200
GOLDEN = 0x9E3779B97F4A7C15  # odd: multiples of it modulo 2^64 are all different, and in no order
PEERS = ("DuckDB", "Polars", "datasketches")
OURS = ("dbdyno", "portable", "avx2", "avx512")

Count = Callable[[], float]


@dataclass(frozen=True)
class Array:
    """Values that all count; `different` is the truth, `width` the bytes of a text or 0 for integers."""

    name: str
    content: bytes
    count: int
    different: int
    width: int


def integers(name: str, count: int, different: int) -> Array:
    """So many 64-bit integers, in no order."""
    values = np.arange(count, dtype=np.uint64) % np.uint64(different)
    if different < count:
        values = (np.arange(count, dtype=np.uint64) * np.uint64(GOLDEN) >> np.uint64(20)) % np.uint64(different)
    return Array(name, values.tobytes(), count, len(np.unique(values)), 0)


def texts(count: int) -> Array:
    """All different, of 200 bytes each."""
    content = "".join(f"{number:0{TEXT_BYTES}d}" for number in range(count)).encode()
    return Array(f"texts of {TEXT_BYTES} bytes, all different", content, count, count, TEXT_BYTES)


def in_process(array: Array) -> dict[str, Count]:
    """Who counts in this process, everything read and converted."""
    return {"dbdyno": by_dbdyno(array), "sum": by_sum(array), "Polars": by_polars(array), "DuckDB": by_duckdb(array)}


def by_polars(array: Array) -> Count:
    """On one thread, as the environment says."""
    if array.width:
        begins = range(0, len(array.content), array.width)
        series = polars.Series("v", [array.content[begin : begin + array.width].decode() for begin in begins])
    else:
        series = polars.Series("v", np.frombuffer(array.content, dtype=np.int64))
    return lambda: float(series.approx_n_unique())


def by_duckdb(array: Array) -> Count:
    """A table in memory, on one thread."""
    connection = duckdb.connect(config={"threads": 1})
    if array.width:
        text = f"lpad(range::VARCHAR, {array.width}, '0')"
        connection.execute(f"CREATE TABLE t AS SELECT {text} AS v FROM range({array.count})")
    else:
        values = np.frombuffer(array.content, dtype=np.int64)
        connection.register("given", {"v": values})
        connection.execute("CREATE TABLE t AS SELECT v FROM given")
    return lambda: float(connection.execute("SELECT approx_count_distinct(v) FROM t").fetchall()[0][0])


def by_dbdyno(array: Array) -> Count:
    """Ours, from the bytes to the file and back to the figure."""
    ends = (
        np.arange(array.width, len(array.content) + 1, array.width, dtype=np.uint64).tobytes() if array.width else b""
    )

    def count() -> float:
        file = _core.sketch_texts(array.content, ends) if array.width else _core.sketch_integers(array.content)
        return float(json.loads(_core.sketch_estimates(file))["columns"][0]["ndv"]["estimate"])

    return count


def by_sum(array: Array) -> Count:
    """Reading alone; there is nothing to count."""
    values = np.frombuffer(array.content, dtype=np.uint64)

    def count() -> float:
        values.sum()
        return float(array.different)

    return count


def measure(array: Array, runs: int, directory: Path) -> dict[str, tuple[float, float]]:
    """By name: the least CPU nanoseconds a value, and what was found."""
    path = directory / "array"
    path.write_bytes(array.content)
    counts = in_process(array)
    kind = ["texts", str(path), str(array.width)] if array.width else ["integers", str(path)]
    best: dict[str, tuple[float, float]] = {}
    order = random.Random(1)
    for _ in range(runs):
        for name in order.sample([*counts, "example"], len(counts) + 1):
            if name == "example":
                told = json.loads(subprocess.run([*EXAMPLE, *kind], check=True, cwd=ROOT, capture_output=True).stdout)
                found = {peer: (float(ns), float(estimate)) for peer, (ns, estimate) in told.items()}
            else:
                began_ns = time.process_time_ns()
                estimate = counts[name]()
                found = {name: ((time.process_time_ns() - began_ns) / array.count, estimate)}
            for peer, figures in found.items():
                best[peer] = min(best.get(peer, figures), figures)
    return best


def print_table(array: Array, best: dict[str, tuple[float, float]]) -> None:
    """A row for each who counted."""
    print(f"\n{array.name}: {array.count:,} values, {array.different:,} different")
    print(f"{'':14}{'ns/value':>10}{'GB/s':>8}{'error':>10}{'ratio':>8}")
    rival_ns = min(best[name][0] for name in PEERS if name in best)
    for name in [*OURS, *PEERS, "sum"]:
        if name in best:
            ns, estimate = best[name]
            rate = (array.width or 8) / ns
            error = "" if name == "sum" else f"{100 * (estimate / array.different - 1):+.2f} %"
            ratio = f"{rival_ns / ns:.2f}" if name in OURS else ""
            print(f"{name:14}{ns:10.2f}{rate:8.1f}{error:>10}{ratio:>8}", flush=True)


def main() -> None:
    """Prints a table an array."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--integers", type=int, default=10_000_000)
    parser.add_argument("--texts", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=9)
    asked = parser.parse_args()
    arrays: tuple[Callable[[], Array], ...] = (
        lambda: integers("integers, all different", asked.integers, asked.integers),
        lambda: integers("integers, 100,000 different", asked.integers, 100_000),
        lambda: integers("integers, 10 different", asked.integers, 10),
        lambda: texts(asked.texts),
    )
    print(f"CPU of one core, least of {asked.runs} runs")
    with tempfile.TemporaryDirectory() as directory:
        for make in arrays:
            array = make()
            print_table(array, measure(array, asked.runs, Path(directory)))


if __name__ == "__main__":
    main()
