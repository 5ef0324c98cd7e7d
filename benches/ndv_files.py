"""How fast the columns of files are counted, beside DuckDB, on one thread each.

A file of six columns is written as Parquet with dictionaries, as Parquet without, as CSV and as an Arrow file. Each
round counts all of its columns by `dbdyno.engine.scan_files`, by DuckDB's `approx_count_distinct`, and has pyarrow
read it to arrays and throw them away; in random order, one right after the other. `ratio` is their CPU time over
ours, the median over the rounds with its smallest and greatest: above 1 we take less.
DuckDB has no reader for Arrow files; it is given pyarrow's. CSV is read as text by all of them.

    make bench, or: python benches/ndv_files.py [--rows 2000000] [--rounds 7]
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet as pq

from dbdyno import engine

Work = Callable[[], object]
PEERS = ("DuckDB", "reading")


def table(rows: int) -> pa.Table:
    """Identifiers, keys, a price, a day, words of a few and texts of many values; some are NULL."""
    random_ = np.random.default_rng(1)
    keys = random_.integers(0, 100_000, rows)
    cities = pa.array([f"city of {number}" for number in range(1000)])
    texts = pa.array([f"customer number {number:08d} of this shop" for number in range(100_000)])
    nulls = random_.random(rows) < 0.1
    return pa.table(
        {
            "id": pa.array(np.arange(rows)),
            "customer": pa.array(keys),
            "amount": pa.array(np.round(random_.gamma(2, 40, rows), 2)),
            "day": pa.array(random_.integers(18_000, 20_000, rows).astype(np.int32)).cast(pa.date32()),
            "city": cities.take(pa.array(random_.integers(0, 1000, rows), mask=nulls)),
            "name": texts.take(pa.array(keys)),
        }
    )


def write(content: pa.Table, directory: Path) -> dict[str, tuple[str, Path]]:
    """By kind of file: its format, and where it is."""
    paths = {
        "Parquet, dictionaries": ("parquet", directory / "dictionaries.parquet"),
        "Parquet, plain": ("parquet", directory / "plain.parquet"),
        "CSV": ("csv", directory / "x.csv"),
        "Arrow": ("arrow", directory / "x.arrow"),
    }
    pq.write_table(content, paths["Parquet, dictionaries"][1], row_group_size=250_000)
    pq.write_table(content, paths["Parquet, plain"][1], row_group_size=250_000, use_dictionary=False)
    pyarrow.csv.write_csv(content, paths["CSV"][1])
    with pa.ipc.new_file(paths["Arrow"][1], content.schema) as writer:
        writer.write_table(content, max_chunksize=65_536)
    return paths


def works(names: list[str], format_: str, path: Path) -> dict[str, Work]:
    """Who counts, and who only reads."""
    spec = {"files": {"paths": [str(path)], "format": format_}, "precision": 14, "seed": 0}
    counts = ", ".join(f"approx_count_distinct({name})" for name in names)
    connection = duckdb.connect(config={"threads": 1})
    source = f"read_csv('{path}', all_varchar = true)" if format_ == "csv" else f"'{path}'"
    as_text = pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()))
    one_thread = pyarrow.csv.ReadOptions(use_threads=False)

    def read() -> object:
        if format_ == "parquet":
            return [None for _ in pq.ParquetFile(path).iter_batches(use_threads=False)]
        if format_ == "csv":
            return [None for _ in pyarrow.csv.open_csv(path, read_options=one_thread, convert_options=as_text)]
        return pa.ipc.open_file(path).read_all()

    def by_duckdb() -> object:
        if format_ == "arrow":
            arrays = pa.ipc.open_file(path).read_all()
            return connection.from_arrow(arrays).aggregate(counts).fetchall()
        return connection.execute(f"SELECT {counts} FROM {source}").fetchall()

    return {"dbdyno": lambda: engine.scan_files(spec), "DuckDB": by_duckdb, "reading": read}


def cpu_ns(work: Work) -> int:
    """Of the whole process."""
    began_ns = time.process_time_ns()
    work()
    return time.process_time_ns() - began_ns


def main() -> None:
    """Prints a line for each kind of file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    asked = parser.parse_args()
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    order = random.Random(1)
    content = table(asked.rows)
    values = content.num_rows * content.num_columns
    print(f"{content.num_rows:,} rows of {content.num_columns} columns, CPU time, median of {asked.rounds} rounds")
    print(f"{'':24}{'MB':>8}{'ns/value':>10}{'DuckDB / ours':>24}{'reading / ours':>24}")
    with tempfile.TemporaryDirectory() as directory:
        for kind, (format_, path) in write(content, Path(directory)).items():
            by_name: dict[str, list[int]] = {}
            each = works(content.column_names, format_, path)
            for round_ in range(asked.rounds + 1):
                for name in order.sample(list(each), len(each)):
                    taken_ns = cpu_ns(each[name])
                    if round_ > 0:
                        by_name.setdefault(name, []).append(taken_ns)
            ours = by_name["dbdyno"]
            line = f"{kind:24}{path.stat().st_size / 1e6:8.1f}{statistics.median(ours) / values:10.2f}"
            for peer in PEERS:
                ratios = [theirs / mine for theirs, mine in zip(by_name[peer], ours, strict=True)]
                shown = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
                line += f"{shown:>24}"
            print(line, flush=True)


if __name__ == "__main__":
    main()
