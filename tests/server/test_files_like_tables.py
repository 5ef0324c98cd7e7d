"""A value has the same hash whether it comes from PostgreSQL or from Arrow arrays: their sketches merge."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from table_scan import column, part, spec_of

from dbdyno import engine
from dbdyno.ndv.decoders import BUILT_IN
from dbdyno.targets.embedded import EmbeddedServer

pytestmark = pytest.mark.server

# PostgreSQL's type by both of its names, the values there, and the same here.
ALIKE: list[tuple[str, str, str, Any]] = [
    ("bool", "boolean", "true false", pa.array([True, False])),
    ("int2", "smallint", "-32768 0 7", pa.array([-32768, 0, 7], pa.int16())),
    ("int4", "integer", "-2147483648 0 7", pa.array([-(2**31), 0, 7], pa.int32())),
    ("int8", "bigint", "-9223372036854775808 0 7", pa.array([-(2**63), 0, 7])),
    ("float4", "real", "-0 NaN 0.1 Infinity", pa.array([0.0, float("nan"), 0.1, float("inf")], pa.float32())),
    ("float8", "double precision", "-0 NaN 0.1 -Infinity", pa.array([0.0, float("nan"), 0.1, float("-inf")])),
    (
        "numeric",
        "numeric(20,6)",
        "0 -0.50 12345678901234.123456 10000 0.000100",
        pa.array(
            [Decimal(0), Decimal("-0.5"), Decimal("12345678901234.123456"), Decimal(10000), Decimal("0.0001")],
            pa.decimal128(20, 6),
        ),
    ),
    (
        "text",
        "text",
        "a größe long_enough_to_be_no_short_text",
        pa.array(["a", "größe", "long_enough_to_be_no_short_text"]),
    ),
    ("bytea", "bytea", r"\x00 \x616263", pa.array([b"\0", b"abc"])),
    (
        "date",
        "date",
        "1969-12-31 2000-01-01 2024-02-29",
        pa.array([date(1969, 12, 31), date(2000, 1, 1), date(2024, 2, 29)]),
    ),
    ("time", "time without time zone", "00:00 23:59:59.999999", pa.array([time(0), time(23, 59, 59, 999999)])),
    (
        "timestamp",
        "timestamp without time zone",
        "1969-12-31T23:59:59.5 2000-01-01T00:00",
        pa.array([datetime(1969, 12, 31, 23, 59, 59, 500_000), datetime(2000, 1, 1)], pa.timestamp("ns")),  # noqa: DTZ001
    ),
    (
        "timestamptz",
        "timestamp with time zone",
        "2024-03-31T02:30+02",
        pa.array([datetime(2024, 3, 31, 0, 30, tzinfo=UTC)], pa.timestamp("ms", "Europe/Berlin")),
    ),
    ("interval", "interval", "P1M P1D PT24H PT-0.5S", pa.array([timedelta(30), timedelta(1), timedelta(seconds=-0.5)])),
    (
        "uuid",
        "bytea",
        "00112233-4455-6677-8899-aabbccddeeff",
        pa.array([bytes.fromhex("00112233445566778899aabbccddeeff")], pa.binary(16)),
    ),
]


@pytest.mark.parametrize(("type_", "name", "values", "array"), ALIKE, ids=[case[0] for case in ALIKE])
def test_both_sketches_are_one(server: EmbeddedServer, type_: str, name: str, values: str, array: Any) -> None:
    """Byte for byte, but that one of them has read another number of rows."""
    select = f"SELECT unnest(string_to_array('{values}', ' '))::{type_} AS c"
    decoding = BUILT_IN[type_]
    spec = spec_of(server, [column("c", name, decoding.decoder)], [part(select)])
    of_table, of_array = (
        engine.scan_postgres(spec, None),
        engine.scan_arrow({"precision": 14, "seed": 0}, pa.table({"c": array})),
    )
    (theirs,), (ours,) = of_table[0]["columns"], of_array[0]["columns"]
    assert (ours["type"], ours["ndv"]) == (name, theirs["ndv"])
    merged = engine.sketch_estimates(engine.sketch_merge([of_table[1], of_array[1]]))
    assert merged["columns"][0]["ndv"] == theirs["ndv"]
