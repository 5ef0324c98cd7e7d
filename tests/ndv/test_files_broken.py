"""Broken files are refused in one line; their readers never panic, and never give a wrong number that can be told."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbdyno import engine
from dbdyno.errors import DynoError

SPEC = {"precision": 14, "seed": 0, "groups": [{"name": "n, s", "columns": ["n", "s"]}]}
TABLE = pa.table(
    {
        "n": pa.array([None if row % 9 == 0 else row % 50 for row in range(300)]),
        "s": pa.array([f"text {row % 77}" for row in range(300)]),
        "l": pa.array([[row % 3, row % 2] for row in range(300)]),
        "p": pa.array([row * 0.5 for row in range(300)]),
    }
)

# What is done to a file, on a process of its own, whose standard error has to stay empty: `panicked at` is seen there.
FLIPPER = """
import json, resource, sys
from pathlib import Path
from dbdyno import engine
from dbdyno.errors import DynoError

# A length that was believed would end the process.
resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
spec, path, step = json.loads(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
whole = path.read_bytes()
broken = path.with_name("broken")
spec["files"]["paths"] = [str(broken)]
found = []
for at in range(0, len(whole), step):
    for bit in (1, 0x80, 0xFF):
        broken.write_bytes(whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1:])
        try:
            outcome = engine.scan_files(spec)[0]
            counted = outcome["columns"] + outcome["groups"]
            what = [[each["name"], each["nulls"], each["ndv"]["estimate"]] for each in counted]
        except DynoError as error:
            what = [error.code, str(error).startswith(str(broken)), str(error).count("\\n"), error.exit_code]
        found.append([at, what])
print(json.dumps(found))
"""


def flipped(path: Path, format_: str, step: int) -> list[tuple[int, list[Any]]]:
    """What is said of the file with one byte changed: where, and the error or the counts."""
    spec = SPEC | {"files": {"paths": [], "format": format_}}
    command = [sys.executable, "-c", FLIPPER, json.dumps(spec), str(path), str(step)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=1500)
    assert (done.returncode, done.stderr) == (0, "")
    return [(at, what) for at, what in json.loads(done.stdout)]


def counts(path: Path, format_: str) -> list[list[Any]]:
    """Of the file as it was written."""
    outcome = engine.scan_files(SPEC | {"files": {"paths": [str(path)], "format": format_}})[0]
    return [[each["name"], each["nulls"], each["ndv"]["estimate"]] for each in outcome["columns"] + outcome["groups"]]


def assert_refused_in_one_line(found: list[tuple[int, list[Any]]]) -> None:
    """Whatever is not counted."""
    refused = [what for _, what in found if what and isinstance(what[0], str)]
    assert len(refused) > len(found) // 3
    assert [what for what in refused if what[0] == "bad_file" and what != ["bad_file", True, 0, 2]] == []
    # A column may have lost its name: then the group asks for one that is not there.
    assert {what[0] for what in refused} <= {"bad_file", "spec_invalid"}


STEPS = [29, pytest.param(1, marks=pytest.mark.nightly)]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("dictionary", [True, False], ids=["dictionary", "plain"])
def test_no_byte_of_a_parquet_file_can_do_harm(tmp_path: Path, *, dictionary: bool, step: int) -> None:
    """And with checksums no byte of a page gives another number."""
    path = tmp_path / "x.parquet"
    pq.write_table(TABLE, path, row_group_size=150, use_dictionary=dictionary, write_page_checksum=True)
    found = flipped(path, "parquet", step)
    assert_refused_in_one_line(found)
    expected = counts(path, "parquet")
    metadata = pq.ParquetFile(path).metadata
    pages_end = max(
        chunk.data_page_offset + chunk.total_compressed_size
        for chunk in (metadata.row_group(1).column(place) for place in range(metadata.num_columns))
    )
    others = [at for at, what in found if at < pages_end and what and not isinstance(what[0], str) and what != expected]
    assert others == []


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(
    ("kind", "compression"), [("file", None), ("stream", None), ("file", "zstd"), ("stream", "lz4")]
)
def test_no_byte_of_an_arrow_file_can_do_harm(tmp_path: Path, kind: str, compression: str | None, step: int) -> None:
    """Arrow has no checksums, so a value may have become another; no reader panics, and none asks for all memory."""
    path = tmp_path / "x.arrow"
    new = {"file": pa.ipc.new_file, "stream": pa.ipc.new_stream}[kind]
    with new(path, TABLE.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(TABLE, max_chunksize=150)
    found = flipped(path, "arrow", step)
    assert {what[0] for _, what in found if what and isinstance(what[0], str)} <= {"bad_file", "spec_invalid"}
    assert all(what == ["bad_file", True, 0, 2] for _, what in found if what and what[0] == "bad_file")


def _rows(path: Path) -> int:
    spec = {"precision": 14, "seed": 0, "files": {"paths": [str(path)], "format": "arrow"}}
    return int(engine.scan_files(spec)[0]["rows"])


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_a_length_that_cannot_be_is_not_believed(tmp_path: Path, compression: str) -> None:
    """Of a buffer that would be as large as it says when it is decompressed."""
    path = tmp_path / "x.arrow"
    table = pa.table({"n": pa.array([7] * 100_000)})
    with pa.ipc.new_stream(path, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table)
    whole, true_length = path.read_bytes(), (800_000).to_bytes(8, "little")
    assert _rows(path) == 100_000
    assert whole.count(true_length) == 1
    for claimed in (2**62, -2, 2**40):
        path.write_bytes(whole.replace(true_length, claimed.to_bytes(8, "little", signed=True)))
        with pytest.raises(DynoError, match=rf": a buffer of \d+ bytes cannot hold {claimed}$"):
            _rows(path)


@pytest.mark.parametrize("format_", ["parquet", "arrow"])
@pytest.mark.parametrize("content", [b"", b"x", b"PAR1", b"ARROW1\0\0", b"PAR1" * 500, b"\xff" * 8, bytes(5000)])
def test_nonsense_is_refused(tmp_path: Path, format_: str, content: bytes) -> None:
    """With the file's name."""
    path = tmp_path / "x"
    path.write_bytes(content)
    with pytest.raises(DynoError) as raised:
        counts(path, format_)
    assert (raised.value.code, str(raised.value).startswith(f"{path}: ")) == ("bad_file", True)


@pytest.mark.parametrize("format_", ["parquet", "arrow", "csv"])
def test_a_file_that_is_not_there_is_named(tmp_path: Path, format_: str) -> None:
    """Whatever its format; a directory is no file."""
    with pytest.raises(DynoError, match=r"/missing: there is no such file$") as raised:
        counts(tmp_path / "missing", format_)
    assert (raised.value.code, raised.value.exit_code) == ("bad_file", 2)
    with pytest.raises(DynoError, match=r": it cannot be read: |: "):
        counts(tmp_path, format_)


def test_a_parquet_file_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    """Wherever."""
    path, cut = tmp_path / "x.parquet", tmp_path / "cut.parquet"
    pq.write_table(TABLE, path)
    whole = path.read_bytes()
    for end in range(0, len(whole), 41):
        cut.write_bytes(whole[:end])
        with pytest.raises(DynoError) as raised:
            counts(cut, "parquet")
        assert (raised.value.code, str(raised.value).startswith(f"{cut}: ")) == ("bad_file", True)


def test_an_exception_of_the_watcher_ends_the_reading_of_files(tmp_path: Path) -> None:
    """And is what is raised."""
    path = tmp_path / "x.csv"
    path.write_bytes(b"n,s\n" + b"123456,a text\n" * 200_000)
    seen = []

    def look(now: Any) -> None:
        seen.append(now)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine.scan_files(SPEC | {"files": {"paths": [str(path)] * 1000, "format": "csv"}}, look)
    assert 0 < seen[0]["rows"] < 200_000 * 1000
    assert seen[0]["rows_expected"] == pytest.approx(200_000 * 1000, rel=0.1)
