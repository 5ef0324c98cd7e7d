"""Parquet files say the same as the arrays that they were written from, however they were written."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dbdyno import engine
from dbdyno.errors import DynoError

SPEC = {"precision": 14, "seed": 0}


def scan(*paths: Path, **changes: Any) -> tuple[dict[str, Any], bytes]:
    """Outcome and sketches."""
    files = {"paths": [str(path) for path in paths], "format": "parquet"}
    return engine.scan_files(SPEC | {"files": files} | changes)


def of_arrays(table: pa.Table, **changes: Any) -> tuple[dict[str, Any], bytes]:
    """The same of what was written."""
    return engine.scan_arrow(SPEC | {"rows_expected": table.num_rows} | changes, table)


def assert_alike(path: Path, table: pa.Table, **changes: Any) -> None:
    """Sketches byte for byte; growth has a point at each tenth, and where both have one it is the same."""
    (found, sketches), (expected, sketches_expected) = scan(path, **changes), of_arrays(table, **changes)
    for kind in ("columns", "groups"):
        assert [_without_growth(each) for each in found[kind]] == [_without_growth(each) for each in expected[kind]]
        for ours, theirs in zip(found[kind], expected[kind], strict=True):
            points = {point["rows"]: point for point in ours["growth"]}
            assert sorted(points) == _tenths(table.num_rows)
            assert all(points.get(point["rows"], point) == point for point in theirs["growth"])
    assert sketches == sketches_expected
    assert found["rows"] == table.num_rows
    assert found["bytes"] == path.stat().st_size


def _tenths(rows: int) -> list[int]:
    """To the nearest row; of few rows each."""
    return [int(rows * tenth / 10 + 0.5) for tenth in range(1, 11)] if rows >= 10 else list(range(1, rows + 1))


def _without_growth(counted: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in counted.items() if key != "growth"}


# How a type is made of small numbers, so that values come more than once.
MADE_OF: dict[pa.DataType, Any] = {
    pa.int8(): lambda n: n - 3,
    pa.int16(): lambda n: n * 1000,
    pa.int32(): lambda n: -n * 2**20,
    pa.int64(): lambda n: n * 2**50,
    pa.uint8(): lambda n: n,
    pa.uint32(): lambda n: 2**32 - 1 - n,
    pa.uint64(): lambda n: 2**64 - 1 - n,
    pa.bool_(): lambda n: n % 2 == 0,
    pa.float16(): lambda n: n / 2,
    pa.float32(): lambda n: n / 8 - 1,
    pa.float64(): lambda n: n / 10,
    pa.string(): lambda n: "ä" * (n % 7) + str(n),
    pa.large_string(): lambda n: "x" * n,
    pa.string_view(): lambda n: "more than twelve bytes" * (n % 2) + str(n),
    pa.binary(): lambda n: bytes([n]) * (n % 3),
    pa.binary(5): lambda n: bytes([n]) * 5,
    pa.date32(): lambda n: datetime.date(1999, 12, 28) + datetime.timedelta(n),
    pa.date64(): lambda n: datetime.date(1999, 12, 28) + datetime.timedelta(n),
    pa.time32("ms"): lambda n: datetime.time(0, 0, n, 1000 * n),
    pa.time64("us"): lambda n: datetime.time(0, n, 0, n),
    pa.timestamp("ms"): lambda n: datetime.datetime(1970, 1, 1 + n),  # noqa: DTZ001
    pa.timestamp("us", "UTC"): lambda n: datetime.datetime(1970, 1, 1 + n, tzinfo=datetime.UTC),
    pa.timestamp("ns"): lambda n: 1_000_000_000_000_000_000 + n * 500,
    pa.duration("us"): lambda n: datetime.timedelta(seconds=n / 8),
    pa.decimal128(7, 2): lambda n: Decimal(n * 25) / 100,
    pa.decimal128(15, 2): lambda n: -Decimal(n * 25) / 100,
    pa.decimal128(38, 10): lambda n: Decimal(n) * 10**20,
    pa.decimal256(60, 3): lambda n: -Decimal(n) * 10**40,
    pa.dictionary(pa.int32(), pa.string()): lambda n: "d" * n,
    pa.list_(pa.int64()): lambda n: [n % 3, None, n][: n % 4],
    pa.struct([("a", pa.int32()), ("b", pa.string())]): lambda n: {"a": n % 3, "b": None if n % 5 == 0 else "b" * n},
    pa.map_(pa.string(), pa.int32()): lambda n: [("k" * n, n % 2)],
}
COMPRESSIONS = ["none", "snappy", "gzip", "zstd", "lz4", "brotli"]
DELTA = {pa.int64(): "DELTA_BINARY_PACKED", pa.string(): "DELTA_BYTE_ARRAY", pa.float64(): "BYTE_STREAM_SPLIT"}


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("dictionary", [True, False], ids=["dictionary", "plain"])
def test_every_type_in_every_encoding(tmp_path: Path, *, dictionary: bool, version: str) -> None:
    """With NULLs and without, in several row groups and pages."""
    numbers = [row * row % 23 for row in range(600)]
    columns = {}
    for type_, made_of in MADE_OF.items():
        columns[str(type_)] = pa.array([made_of(number) for number in numbers], type_)
        some = [None if row % 7 == 3 else made_of(number) for row, number in enumerate(numbers)]
        columns[f"{type_} or null"] = pa.array(some, type_)
    columns["nothing"] = pa.nulls(600, pa.int64())
    columns["null"] = pa.nulls(600)
    fields = [pa.field(name, array.type, nullable=array.null_count > 0) for name, array in columns.items()]
    table = pa.table(columns, schema=pa.schema(fields))
    path = tmp_path / "types.parquet"
    pq.write_table(
        table, path, row_group_size=250, use_dictionary=dictionary, data_page_version=version, data_page_size=200
    )
    assert_alike(path, table)
    (integers,) = [each for each in scan(path)[0]["columns"] if each["name"] == "int64 or null"]
    assert integers["ndv"]["estimate"] == len({number for row, number in enumerate(numbers) if row % 7 != 3})


@given(st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_columns_written_in_any_way(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Row groups, pages, codecs, and dictionaries that are given up on the way."""
    rows = data.draw(st.integers(0, 400))
    types = data.draw(st.lists(st.sampled_from(list(MADE_OF)), min_size=1, max_size=3))
    columns = {}
    for number, type_ in enumerate(types):
        spread, nulls = data.draw(st.integers(1, 30)), data.draw(st.sampled_from([1, 2, 50, 1000]))
        values = [None if row % nulls == nulls - 1 else MADE_OF[type_](row * 7 % spread) for row in range(rows)]
        columns[f"c{number}"] = pa.array(values, type_)
    table = pa.table(columns)
    encodings = {name: DELTA[array.type] for name, array in columns.items() if array.type in DELTA}
    options: dict[str, Any] = {"use_dictionary": True, "dictionary_pagesize_limit": data.draw(st.integers(1, 200))}
    if encodings and data.draw(st.booleans()):
        options = {"use_dictionary": False, "column_encoding": encodings}
    path = tmp_path_factory.mktemp("any") / "any.parquet"
    pq.write_table(
        table,
        path,
        row_group_size=data.draw(st.integers(1, 500)),
        data_page_size=data.draw(st.integers(1, 500)),
        write_batch_size=data.draw(st.integers(1, 100)),
        compression=data.draw(st.sampled_from(COMPRESSIONS)),
        data_page_version=data.draw(st.sampled_from(["1.0", "2.0"])),
        store_decimal_as_integer=data.draw(st.booleans()),
        write_page_checksum=data.draw(st.booleans()),
        **options,
    )
    assert_alike(path, table, groups=[{"name": "all", "columns": list(columns)}])


def test_entries_of_a_dictionary_that_no_row_has_do_not_count(tmp_path: Path) -> None:
    """They are in the file, and only what data pages refer to is counted."""
    entries = pa.array([f"entry {number}" for number in range(1000)])
    rows = pa.DictionaryArray.from_arrays(pa.array([5, 7, None, 5], pa.int32()), entries)
    path = tmp_path / "unused.parquet"
    pq.write_table(pa.table({"c": rows}), path, compression="none")
    assert path.stat().st_size > 10_000, "the writer leaves them in"
    (column,) = scan(path)[0]["columns"]
    assert (column["nulls"], column["ndv"]["estimate"], column["exact"]) == (1, 2, True)


def test_a_dictionary_that_is_given_up_loses_nothing(tmp_path: Path) -> None:
    """Of a column with more values than fit into one: the first pages have indices, the others values."""
    table = pa.table({"n": pa.array(range(40_000)), "s": pa.array([f"text {row % 30_000}" for row in range(40_000)])})
    path = tmp_path / "given_up.parquet"
    pq.write_table(table, path, dictionary_pagesize_limit=20_000, data_page_size=5000)
    chunk = pq.ParquetFile(path).metadata.row_group(0).column(0)
    assert {"RLE_DICTIONARY", "PLAIN"} <= set(chunk.encodings)
    assert_alike(path, table)
    assert not scan(path)[0]["columns"][0]["exact"]


def test_timestamps_of_old_writers_are_the_same_values(tmp_path: Path) -> None:
    """In 96 bits."""
    table = pa.table({"t": pa.array([0, 1_000, None, 86_400_000_000_000, 1_000], pa.timestamp("ns"))})
    path = tmp_path / "old.parquet"
    pq.write_table(table, path, use_deprecated_int96_timestamps=True)
    assert_alike(path, table)


def test_files_are_one_table(tmp_path: Path) -> None:
    """Whatever the order of their columns, and whether or not a dictionary is kept."""
    table = pa.table({"a": [row % 700 for row in range(3000)], "b": [str(row % 11) for row in range(3000)]})
    first, second = tmp_path / "1.parquet", tmp_path / "2.parquet"
    pq.write_table(table.slice(0, 1000), first)
    pq.write_table(table.slice(1000).select(["b", "a"]), second, use_dictionary=False)
    groups = [{"name": "b, a", "columns": ["b", "a"]}]
    (outcome, sketches), (expected, sketches_expected) = (
        scan(first, second, groups=groups),
        of_arrays(table, groups=groups),
    )
    assert (outcome["columns"], outcome["groups"]) == (expected["columns"], expected["groups"])
    assert sketches == sketches_expected
    assert outcome["bytes"] == first.stat().st_size + second.stat().st_size
    only_b, _ = scan(first, second, columns=["b"])
    assert [(each["name"], each["ndv"]["estimate"]) for each in only_b["columns"]] == [("b", 11)]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"a": ["1"], "b": [1]}, "column a is text, which is bigint before in "),
        ({"a": [1]}, "column b: there is none of this name; there are a in "),
        ({"a": [1], "b": [1], "c": [1]}, "column c is new in "),
    ],
)
def test_files_of_different_columns_are_refused(tmp_path: Path, other: dict[str, Any], message: str) -> None:
    """Before anything is read, with the file and the column."""
    first, second = tmp_path / "1.parquet", tmp_path / "2.parquet"
    pq.write_table(pa.table({"a": [1], "b": [1]}), first)
    pq.write_table(pa.table(other), second)
    with pytest.raises(DynoError) as raised:
        scan(first, second)
    assert (raised.value.code, raised.value.exit_code) == ("bad_file", 2)
    assert str(raised.value) == f"{second}: {message}{first}"


def test_files_of_other_writers(tmp_path: Path) -> None:
    """DuckDB and Polars: their pages, encodings and types, against their own exact counts."""
    query = """
        SELECT i % 1009 AS n, 'text ' || (i % 3001) AS s, (i % 77)::DECIMAL(18, 4) AS d, i * 0.5::DOUBLE AS f,
               TIMESTAMP '2020-01-01' + to_seconds(i % 5000) AS t, DATE '2020-01-01' + (i % 400)::INTEGER AS day,
               CASE WHEN i % 3 = 0 THEN NULL ELSE i % 7 END AS part, [i % 3, i % 2] AS l, i % 2 = 0 AS b
        FROM range(20000) AS rows (i)
    """
    names = ["n", "s", "d", "f", "t", "day", "part", "l", "b"]
    exact = duckdb.sql(f"SELECT {', '.join(f'count(DISTINCT {name})' for name in names)} FROM ({query})")
    (expected,) = exact.fetchall()
    by_duckdb, by_polars = tmp_path / "duckdb.parquet", tmp_path / "polars.parquet"
    for version in ("V1", "V2"):
        duckdb.sql(f"COPY ({query}) TO '{by_duckdb}' (FORMAT parquet, PARQUET_VERSION {version}, ROW_GROUP_SIZE 6144)")
        columns = scan(by_duckdb)[0]["columns"]
        assert [each["ndv"]["estimate"] for each in columns if each["exact"]] == [n for n in expected if n <= 8192]
        assert [each["ndv"]["estimate"] for each in columns] == pytest.approx(list(expected), rel=0.03)
    polars.read_parquet(by_duckdb).write_parquet(by_polars, row_group_size=5000, data_page_size=2000)
    assert scan(by_polars)[0]["columns"] == columns
