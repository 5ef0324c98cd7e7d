"""Arrow's files, and its streams in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from dbdyno import engine
from dbdyno.errors import DynoError

SPEC = {"precision": 14, "seed": 0}
TABLE = pa.table(
    {
        "n": pa.array([None if row % 9 == 0 else row % 500 for row in range(6000)]),
        "s": pa.array([f"text {row % 77}" for row in range(6000)]).dictionary_encode(),
        "l": pa.array([[row % 3, row % 2] for row in range(6000)]),
    }
)


def scan(*paths: Path) -> tuple[dict[str, Any], bytes]:
    """Outcome and sketches."""
    return engine.scan_files(SPEC | {"files": {"paths": [str(path) for path in paths], "format": "arrow"}})


def write(path: Path, table: pa.Table, kind: str, **options: Any) -> Path:
    """In batches of 1,000 rows."""
    new = {"file": pa.ipc.new_file, "stream": pa.ipc.new_stream}[kind]
    with new(path, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=1000)
    return path


@pytest.mark.parametrize("kind", ["file", "stream"])
@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
def test_files_say_what_the_arrays_say(tmp_path: Path, kind: str, compression: str | None) -> None:
    """Byte for byte, in one file or in two of different kinds."""
    expected = engine.scan_arrow(SPEC, TABLE)
    path = write(tmp_path / "x.arrow", TABLE, kind, compression=compression)
    outcome, sketches = scan(path)
    assert sketches == expected[1]
    assert (outcome["rows"], outcome["bytes"]) == (6000, path.stat().st_size)
    assert [each["ndv"]["estimate"] for each in outcome["columns"]] == [500, 77, 6]
    parts = [
        write(tmp_path / "1.arrow", TABLE.slice(0, 2000), kind, compression=compression),
        write(tmp_path / "2.arrow", TABLE.slice(2000), "stream"),
    ]
    assert scan(*parts)[1] == expected[1]


@pytest.mark.parametrize("kind", ["file", "stream"])
def test_what_was_cut_off_is_refused(tmp_path: Path, kind: str) -> None:
    """Wherever: also between two batches of a stream, where most readers see its end."""
    whole = write(tmp_path / "x.arrow", TABLE, kind).read_bytes()
    path = tmp_path / "cut.arrow"
    for end in [*range(0, len(whole), 1499), *range(len(whole) - 40, len(whole))]:
        path.write_bytes(whole[:end])
        with pytest.raises(DynoError) as raised:
            scan(path)
        assert (raised.value.code, "\n" in str(raised.value)) == ("bad_file", False)
        assert str(raised.value).startswith(f"{path}: ")
