"""Sketches for other programs: the bytes are those that another implementation writes for the same values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import datasketches
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from dbdyno import engine
from dbdyno.errors import DynoError

KINDS = ["hll", "cpc", "theta"]
SPEC = {"precision": 12, "seed": 0, "interop": KINDS}
TABLE = pa.table(
    {
        "n": pa.array([1, None, 2, 3, 1], pa.int32()),
        "s": pa.array(["größe", None, "", "a", "a"]),
        "d": pa.array([None, 0, 1, 2, 2], pa.date32()),
    }
)
# datasketches-python 5.2.0: hll_sketch(12, HLL_8), cpc_sketch(12), update_theta_sketch(12) of 1, 2 and 3.
HLL_OF_1_2_3 = "0201070c030803082bf2fb06862ff90d75816607"


def exported(outcome: dict[str, Any]) -> dict[tuple[str, str], bytes]:
    """By column and kind."""
    return {(each["column"], each["kind"]): each["sketch"] for each in outcome["interop"]}


def test_bytes_are_those_of_another_implementation() -> None:
    """Of integers, whatever their width; columns that others cannot hash are named."""
    outcome, _ = engine.scan_arrow(SPEC, TABLE)
    sketches = exported(outcome)
    assert sketches["n", "hll"].hex() == HLL_OF_1_2_3
    assert sorted(sketches) == sorted((column, kind) for column in "ns" for kind in KINDS)
    assert outcome["notes"] == [
        "d (date) has no sketch for others: integers, floating-point numbers, texts and binaries have"
    ]
    assert {each["name"]: each["ndv"]["estimate"] for each in outcome["columns"]} == {"n": 3, "s": 3, "d": 3}


def test_the_other_implementation_reads_them() -> None:
    """All three kinds, of many values, merged with its own sketch."""
    outcome, _ = engine.scan_arrow(SPEC | {"precision": 14}, pa.table({"n": pa.array(range(20_000))}))
    sketches = exported(outcome)
    union = datasketches.hll_union(14)
    union.update(datasketches.hll_sketch.deserialize(sketches["n", "hll"]))
    more = datasketches.hll_sketch(14, datasketches.HLL_8)
    for value in range(10_000, 30_000):
        more.update(value)
    union.update(more)
    estimates = [
        union.get_estimate() * 2 / 3,
        datasketches.cpc_sketch.deserialize(sketches["n", "cpc"]).get_estimate(),
        datasketches.compact_theta_sketch.deserialize(sketches["n", "theta"]).get_estimate(),
    ]
    assert estimates == pytest.approx([20_000] * 3, rel=0.04)


def test_every_source_gives_the_same_sketches(tmp_path: Path) -> None:
    """Parquet with and without dictionaries, dictionary arrays with unused entries, and texts from CSV."""
    expected = exported(engine.scan_arrow(SPEC, TABLE)[0])
    for dictionary in (True, False):
        path = tmp_path / f"{dictionary}.parquet"
        pq.write_table(TABLE, path, use_dictionary=dictionary)
        files = {"paths": [str(path)], "format": "parquet"}
        assert exported(engine.scan_files(SPEC | {"files": files})[0]) == expected
    entries = pa.DictionaryArray.from_arrays(pa.array([0, None, 2, 1, 1]), pa.array(["größe", "a", "", "unused"]))
    assert exported(engine.scan_arrow(SPEC, pa.table({"s": entries}))[0])["s", "cpc"] == expected["s", "cpc"]
    pyarrow.csv.write_csv(TABLE.select(["s"]), tmp_path / "x.csv")
    files = {"paths": [str(tmp_path / "x.csv")], "format": "csv"}
    assert exported(engine.scan_files(SPEC | {"files": files})[0])["s", "theta"] == expected["s", "theta"]


def test_nothing_is_made_unless_it_is_asked_for() -> None:
    """And an unknown kind is refused."""
    outcome, _ = engine.scan_arrow({"precision": 12, "seed": 0}, TABLE)
    assert (outcome["interop"], outcome["notes"]) == ([], [])
    with pytest.raises(DynoError, match=r'^sketch "kll": there are hll, cpc and theta$'):
        engine.scan_arrow(SPEC | {"interop": ["kll"]}, TABLE)
