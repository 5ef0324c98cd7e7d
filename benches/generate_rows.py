"""How fast rows of the shipped schemas are made, on one core: rows/s and MB/s of this thread's CPU time.

Each table is made whole, nine times; the least CPU time counts, because everything else that a machine does can only
add to it. Writing them to a server is not in it: COPY takes many times longer.

    make bench, or: python benches/generate_rows.py [--scale 1] [--runs 9]
"""

from __future__ import annotations

import argparse
import time

from dbdyno import engine

GENERATORS = ("order-entry", "web-returns")


def least_cpu_ns(generator: str, table: engine.GeneratedTable, scale: int, runs: int) -> tuple[int, int]:
    """Nanoseconds of the quickest run, and the bytes that each made."""
    times_ns = []
    size = 0
    for _ in range(runs):
        began_ns = time.thread_time_ns()
        size = sum(len(chunk) for chunk in engine.generated_rows(generator, table, scale, seed=1))
        times_ns.append(time.thread_time_ns() - began_ns)
    return min(times_ns), size


def print_row(name: str, rows: int, size: int, cpu_ns: int) -> None:
    """One line of the table."""
    print(f"{name:34}{rows:12,}{rows / cpu_ns * 1e9:16,.0f}{size / cpu_ns * 1e3:10,.0f}", flush=True)


def main() -> None:
    """Prints one row a table, and one for all of a generator's."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--runs", type=int, default=9)
    arguments = parser.parse_args()
    print(f"thread CPU, least of {arguments.runs} runs, scale {arguments.scale}")
    print(f"{'table':34}{'rows':>12}{'rows/s':>16}{'MB/s':>10}")
    for generator in GENERATORS:
        rows = size = cpu_ns = 0
        for table in engine.generated_tables(generator, arguments.scale, seed=1):
            table_ns, table_size = least_cpu_ns(generator, table, arguments.scale, arguments.runs)
            print_row(f"{generator} {table.name}", table.rows, table_size, table_ns)
            rows, size, cpu_ns = rows + table.rows, size + table_size, cpu_ns + table_ns
        print_row(f"{generator}, all", rows, size, cpu_ns)


if __name__ == "__main__":
    main()
