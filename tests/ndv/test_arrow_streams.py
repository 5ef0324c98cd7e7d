"""Streams of Arrow record batches: what is equal counts once, in every type and layout."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

import duckdb
import polars
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dbdyno import engine
from dbdyno.errors import DynoError

SPEC = {"precision": 14, "seed": 0}
NAN, INFINITE = float("nan"), float("inf")
DAY_NS = 86_400_000_000_000


def scan(table: Any, **changes: Any) -> dict[str, Any]:
    """The outcome."""
    return engine.scan_arrow(SPEC | changes, table)[0]


def counted(array: Any, **changes: Any) -> tuple[str, int, float]:
    """Type, nulls and different values of one column."""
    (column,) = scan(pa.table({"c": array}), **changes)["columns"]
    assert column["exact"]
    return column["type"], column["nulls"], column["ndv"]["estimate"]


# Name, Arrow type, values (None besides), and how many of them differ.
CASES: list[tuple[str, pa.DataType, list[Any], int]] = [
    ("tinyint", pa.int8(), [-128, 127, 0, -1, 0], 4),
    ("smallint", pa.int16(), [-(2**15), 2**15 - 1, 0, -1, 0], 4),
    ("integer", pa.int32(), [-(2**31), 2**31 - 1, 0, -1, 0], 4),
    ("bigint", pa.int64(), [-(2**63), 2**63 - 1, 0, -1, 0, 2**32], 5),
    ("utinyint", pa.uint8(), [255, 0, 1, 0], 3),
    ("usmallint", pa.uint16(), [2**16 - 1, 0, 1, 0], 3),
    ("uinteger", pa.uint32(), [2**32 - 1, 0, 1, 0], 3),
    ("ubigint", pa.uint64(), [2**64 - 1, 0, 1, 2**63, 0], 4),
    ("boolean", pa.bool_(), [True, False, True], 2),
    ("half", pa.float16(), [0.0, -0.0, NAN, -NAN, 1.5, INFINITE], 4),
    ("real", pa.float32(), [0.0, -0.0, NAN, -NAN, 1.5, INFINITE, -INFINITE, 1e-45], 6),
    ("double precision", pa.float64(), [0.0, -0.0, NAN, -NAN, 1.5, INFINITE, -INFINITE, 5e-324], 6),
    ("text", pa.string(), ["", "a", "a ", "a", "\0", "\0\0", "ä", "a\u0308"], 7),
    ("text", pa.large_string(), ["", "a", "a ", "a"], 3),
    ("text", pa.string_view(), ["", "a", "twelve bytes", "thirteen byte", "thirteen byte", "twelve bytes"], 4),
    ("bytea", pa.binary(), [b"", b"\0", b"\0\0", b"\0"], 3),
    ("bytea", pa.large_binary(), [b"", b"\0", b"\0\0", b"\0"], 3),
    ("bytea", pa.binary_view(), [b"", b"\0", b"x" * 13, b"x" * 13], 3),
    ("bytea", pa.binary(3), [b"abc", b"abd", b"abc"], 2),
    ("date", pa.date32(), [0, 1, 10_957, 0], 3),
    ("date", pa.date64(), [0, 86_400_000, 0], 2),
    ("time without time zone", pa.time32("s"), [0, 86_399, 0], 2),
    ("time without time zone", pa.time32("ms"), [0, 1, 0], 2),
    ("time without time zone", pa.time64("us"), [0, 1, 0], 2),
    ("time without time zone", pa.time64("ns"), [0, 1, 2, 1000, 1001, 0], 5),
    ("timestamp without time zone", pa.timestamp("s"), [0, 1, -(2**63), 2**63 - 1, 2**62, 0], 5),
    ("timestamp without time zone", pa.timestamp("ms"), [0, 1, -(2**63), 2**63 - 1, 0], 4),
    ("timestamp without time zone", pa.timestamp("us"), [0, 1, -(2**63), 2**63 - 1, 0], 4),
    ("timestamp with time zone", pa.timestamp("ns", "UTC"), [0, 1, -1, 1000, -1000, 2**63 - 1, 1], 6),
    ("interval", pa.duration("s"), [0, 86_400, -86_400, 0], 3),
    ("interval", pa.duration("ns"), [0, 1, 1000, 1], 3),
    ("interval", pa.month_day_nano_interval(), [(1, 0, 0), (0, 30, 0), (0, 0, 30 * DAY_NS), (0, 0, 1), (-1, 60, 0)], 2),
    ("numeric(5,2)", pa.decimal32(5, 2), [Decimal("1.50"), Decimal("-1.50"), Decimal("0.00"), Decimal("1.5")], 3),
    ("numeric(18,4)", pa.decimal64(18, 4), [Decimal("1.50"), Decimal(10) ** 13, Decimal("1.5"), Decimal("0.0001")], 3),
    ("numeric(38,0)", pa.decimal128(38, 0), [Decimal(9 * 10**37), Decimal(-9 * 10**37), Decimal(0), Decimal(1)], 4),
    ("numeric(76,10)", pa.decimal256(76, 10), [Decimal(9 * 10**60), Decimal("1.0000000001"), Decimal(9 * 10**60)], 2),
    ("bigint[]", pa.list_(pa.int64()), [[], [None], [1, 2], [2, 1], [1, 2], [1, None], [None, 1]], 6),
    ("text[]", pa.large_list(pa.string()), [["ab"], ["a", "b"], ["", "ab"], ["ab", ""], ["ab"]], 4),
    ("integer[]", pa.list_(pa.int32(), 2), [[1, 2], [2, 1], [1, None], [1, 2]], 3),
    ("bigint[][]", pa.list_(pa.list_(pa.int64())), [[], [[]], [[], []], [[1], [2]], [[1, 2]], [[1], [2]]], 5),
    (
        "struct(a bigint, b bigint[])",
        pa.struct([("a", pa.int64()), ("b", pa.list_(pa.int64()))]),
        [{"a": a, "b": b} for a in (0, 1, 2, None) for b in ([0], [1], [2], [], None)],
        20,
    ),
    (
        "map(text, bigint)",
        pa.map_(pa.string(), pa.int64()),
        [[], [("a", 1)], [("a", None)], [("a", 1), ("b", 2)], [("b", 2), ("a", 1)], [("a", 1)]],
        5,
    ),
]


@pytest.mark.parametrize(("name", "type_", "values", "different"), CASES, ids=[str(case[1]) for case in CASES])
def test_equal_values_count_once_in_every_type(
    name: str, type_: pa.DataType, values: list[Any], different: int
) -> None:
    """NULLs aside, in one chunk, in many, and in one that begins within its buffers."""
    array = pa.array([None, *values, None], type_)
    assert counted(array) == (name, 2, different)
    assert counted(array.slice(1, len(values))) == (name, 0, different)
    assert counted(pa.chunked_array([array.slice(row, 1) for row in range(len(array))])) == (name, 2, different)
    many = pa.concat_arrays([array] * 300)
    assert counted(many) == (name, 600, different)


@pytest.mark.parametrize("index", [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint32()], ids=str)
def test_a_dictionary_counts_as_its_entries(index: pa.DataType) -> None:
    """Whatever its indices."""
    assert counted(pa.array([2, 1, None, 1, 2], pa.dictionary(index, pa.int64()))) == ("bigint", 1, 2)


def test_entries_of_a_dictionary_that_no_row_has_do_not_count() -> None:
    """Nor do entries that are there twice count twice; an entry may be NULL."""
    indices = pa.array([0, 2, None, 2, 4], pa.int32())
    array = pa.DictionaryArray.from_arrays(indices, pa.array(["a", "unused", "a", "unused, too", None]))
    assert counted(array) == ("text", 2, 1)


def test_dictionaries_may_change_from_batch_to_batch() -> None:
    """The same index is another value then."""
    batches = [
        pa.record_batch({"c": pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), pa.array([first, "z"]))})
        for first in ("a", "b", "a", "c")
    ]
    reader = pa.RecordBatchReader.from_batches(batches[0].schema, batches)
    (column,) = scan(reader)["columns"]
    assert column["ndv"]["estimate"] == 4


def test_layouts_of_one_type_have_the_same_hashes() -> None:
    """Sketches of integers, texts, decimals, times in any width, unit and layout say that all of the one is in the
    other."""

    def each_cast(array: Any, *types: pa.DataType) -> list[Any]:
        return [array.cast(type_) for type_ in types]

    decimals = pa.array([Decimal("1.5"), Decimal(-70000), Decimal(0)], pa.decimal32(9, 1))
    units = ("s", "ms", "us", "ns")
    alike = [
        each_cast(pa.array([-1, 0, 100]), pa.int8(), pa.int16(), pa.int32(), pa.int64()),
        each_cast(pa.array(["", "a text of some length", "b"]), pa.string(), pa.large_string(), pa.string_view()),
        each_cast(decimals, pa.decimal32(9, 1), pa.decimal64(12, 2), pa.decimal128(20, 7), pa.decimal256(40, 3)),
        each_cast(pa.array([0, 5, 90_000], pa.timestamp("s")), *(pa.timestamp(unit) for unit in units)),
        each_cast(pa.array([0, 5, 86_399], pa.time32("s")), pa.time32("ms"), pa.time64("us"), pa.time64("ns")),
        each_cast(pa.array([0, 5, 20_000], pa.date32()), pa.date32(), pa.date64()),
        [pa.array([0.5, 1.0, -2.0], type_) for type_ in (pa.float16(), pa.float32(), pa.float64())],
        each_cast(pa.array([0, 5, 90_000], pa.duration("s")), *(pa.duration(unit) for unit in units)),
    ]
    for arrays in alike:
        table = pa.table({str(number): array for number, array in enumerate(arrays)})
        overlaps = engine.sketch_overlaps([engine.scan_arrow(SPEC, table)[1]])
        assert [each["common"] for each in overlaps] == [3] * (len(arrays) * (len(arrays) - 1) // 2), arrays


VALUES = {
    pa.int64(): st.integers(-5, 5),
    pa.string(): st.text("ab\0", max_size=3),
    pa.float64(): st.sampled_from([0.0, 1.0, INFINITE, 0.1]),
    pa.list_(pa.int8()): st.lists(st.none() | st.integers(0, 2), max_size=3),
}


@given(st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_columns_and_groups_agree_with_sets(data: st.DataObject) -> None:
    """Any values, any batches, NULLs anywhere."""
    rows = data.draw(st.integers(0, 40))
    types = data.draw(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=4))
    columns = [data.draw(st.lists(st.none() | VALUES[type_], min_size=rows, max_size=rows)) for type_ in types]
    names = [f"c{number}" for number in range(len(types))]
    arrays = [pa.array(values, type_) for values, type_ in zip(columns, types, strict=True)]
    batches = pa.table(dict(zip(names, arrays, strict=True))).to_batches(max_chunksize=data.draw(st.integers(1, 50)))
    reader = pa.RecordBatchReader.from_batches(pa.schema(zip(names, types, strict=True)), batches)
    outcome = scan(reader, groups=[{"name": "all", "columns": names}])

    keys = [[_key(value) for value in values] for values in columns]
    expected = [(values.count(None), len(set(values) - {None})) for values in keys]
    assert [(each["nulls"], each["ndv"]["estimate"]) for each in outcome["columns"]] == expected
    tuples = list(zip(*keys, strict=True))
    (group,) = outcome["groups"]
    assert (group["nulls"], group["ndv"]["estimate"]) == (tuples.count((None,) * len(names)), len(set(tuples)))
    assert outcome["rows"] == rows


def _key(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def test_growth_has_a_point_near_each_tenth() -> None:
    """Exactly there where the rows were known, near it where nobody knew."""
    table = pa.table({"c": pa.array([row // 4 for row in range(20_000)])})
    (known,) = scan(table, rows_expected=20_000)["columns"]
    assert [point["rows"] for point in known["growth"]] == [2000 * tenth for tenth in range(1, 11)]
    assert [point["ndv"] for point in known["growth"]] == [500 * tenth for tenth in range(1, 11)]
    (unknown,) = scan(table)["columns"]
    assert all(
        abs(point["rows"] - 2000 * tenth) <= 400 for tenth, point in zip(range(1, 11), unknown["growth"], strict=True)
    )


def test_a_long_column_is_the_sketch_that_parts_of_it_merge_to() -> None:
    """Beyond what is counted exactly."""
    whole = pa.table({"c": pa.array(range(50_000))})
    parts = [engine.scan_arrow(SPEC, whole.slice(begin, 12_500))[1] for begin in range(0, 50_000, 12_500)]
    outcome, sketches = engine.scan_arrow(SPEC, whole)
    assert sketches == engine.sketch_merge(parts)
    (column,) = outcome["columns"]
    assert not column["exact"]
    assert column["ndv"]["estimate"] == pytest.approx(50_000, rel=0.03)


def test_what_cannot_be_told_apart_is_listed_with_the_reason() -> None:
    """And is not allowed in a group."""
    union = pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["a", "b"])])
    table = pa.table({"u": union, "n": [1, 2]})
    outcome = scan(table)
    assert [each["name"] for each in outcome["columns"]] == ["n"]
    assert outcome["not_counted"] == [
        {"column": "u", "type": "union(0 bigint, 1 text)", "reason": "values of a union are not compared"}
    ]
    with pytest.raises(DynoError, match=r"^group n, u: column u \(union\(0 bigint, 1 text\)\) is not counted: "):
        scan(table, groups=[{"name": "n, u", "columns": ["n", "u"]}])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"columns": ["b"]}, "column b: there is none of this name; there are a, c, c"),
        ({"columns": ["c"]}, "column c: several columns have this name; give them different ones"),
        ({"columns": ["a"], "groups": [{"name": "g", "columns": ["a", "b"]}]}, "column b: there is none of this name"),
        ({"groups": [{"name": "g", "columns": []}]}, 'group "g": it has no columns'),
        ({"files": {"paths": [], "format": "csv"}}, "files: a stream is read; leave them out"),
        ({"precision": 9}, "precision 9"),
        ({"colums": []}, "spec: unknown field `colums`"),
    ],
)
def test_a_wrong_spec_is_refused(changes: dict[str, Any], message: str) -> None:
    """In one line that names the key."""
    table = pa.Table.from_arrays([pa.array([1])] * 3, names=["a", "c", "c"])
    with pytest.raises(DynoError) as raised:
        scan(table, **changes)
    assert (raised.value.code, raised.value.exit_code) == ("spec_invalid", 2)
    assert str(raised.value).startswith(message)


def _batches(batches: Sequence[Any], then: BaseException) -> Iterator[Any]:
    yield from batches
    raise then


def test_a_stream_that_breaks_fails_the_scan() -> None:
    """With what its producer says."""
    batch = pa.record_batch({"a": [1, 2]})
    reader = pa.RecordBatchReader.from_batches(batch.schema, _batches([batch], ValueError("the disk is gone")))
    with pytest.raises(DynoError, match=r"^stream: .*the disk is gone") as raised:
        scan(reader)
    assert (raised.value.code, raised.value.exit_code) == ("scan_failed", 1)


def test_an_exception_of_the_watcher_ends_an_endless_stream() -> None:
    """And is what is raised; the stream is released."""
    batch = pa.record_batch({"a": list(range(1000))})
    seen = []

    def look(now: Any) -> None:
        seen.append(now)
        raise KeyboardInterrupt

    reader = pa.RecordBatchReader.from_batches(batch.schema, itertools.repeat(batch))
    with pytest.raises(KeyboardInterrupt):
        engine.scan_arrow(SPEC, reader, look)
    assert seen[0]["rows"] > 0
    assert seen[0]["rows_expected"] == 0
    assert seen[0]["bytes"] == 8 * seen[0]["rows"]


def test_an_object_without_the_interface_is_a_type_error() -> None:
    """That names what is missing."""
    with pytest.raises(AttributeError, match="__arrow_c_stream__"):
        engine.scan_arrow(SPEC, object())


def test_relations_of_duckdb_and_frames_of_polars_are_streams() -> None:
    """Their own layouts of texts, decimals, intervals and dictionaries."""
    relation = duckdb.sql("""
        SELECT i % 7 AS n, 'a text that is long ' || (i % 5) AS s, (i % 3)::DECIMAL(10, 2) AS d, i::HUGEINT AS h,
               DATE '2024-02-29' + (i % 4)::INTEGER AS day, to_days((i % 6)::INTEGER) AS span,
               {'a': i % 2, 'b': [i % 3]} AS both, NULL AS nothing, (i % 2)::VARCHAR::ENUM ('0', '1') AS e
        FROM range(3000) AS rows (i)
    """)
    found = [each["ndv"]["estimate"] for each in scan(relation)["columns"]]
    assert found == [7, 5, 3, 3000, 4, 6, 6, 0, 2]
    frame = polars.DataFrame({"s": ["a", "bb", None, "a text that is long"] * 9, "l": [[1], [], None, [1]] * 9})
    frame = frame.with_columns(c=polars.col("s").cast(polars.Categorical), when=datetime.date(2024, 1, 1))
    assert [each["ndv"]["estimate"] for each in scan(frame)["columns"]] == [3, 2, 3, 1]
