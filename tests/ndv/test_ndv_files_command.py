"""`dbdyno ndv` of files: the same counts from each format, keys within the table, and a wish that makes no sense."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
from called import Told, called

ROWS = 30_000
TABLE = pa.table(
    {
        "id": pa.array(range(ROWS), pa.int64()),
        "parent_id": pa.array([None if one % 10 == 0 else one // 3 for one in range(ROWS)], pa.int64()),
        "Status": [f"status {one % 9}" for one in range(ROWS)],
        "same": ["x"] * ROWS,
    }
)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table in each format."""
    made = tmp_path_factory.mktemp("files")
    pq.write_table(TABLE, made / "table.parquet")
    pc.write_csv(TABLE, made / "table.csv")
    pc.write_csv(TABLE, made / "table.tsv", pc.WriteOptions(delimiter="\t"))
    for name, opened in (("table.arrow", pyarrow.ipc.new_file), ("stream.arrow", pyarrow.ipc.new_stream)):
        with (made / name).open("wb") as file, opened(file, TABLE.schema) as writer:
            writer.write_table(TABLE, max_chunksize=7000)
    return made


def ndv(*arguments: str | Path) -> Told:
    """The command on these arguments."""
    return called("ndv", *arguments)


@pytest.mark.parametrize("name", ["table.parquet", "table.csv", "table.tsv", "table.arrow", "stream.arrow"])
def test_each_format(directory: Path, tmp_path: Path, name: str) -> None:
    """Counts, nulls, groups, and a column that refers to another one of the same files."""
    told = ndv(directory / name, "--group", "Status,same", "--json", "--out", tmp_path / "out")

    assert told.stderr == ""
    found = json.loads(told.stdout)
    columns = {one["column"]: one for one in found["columns"]}
    assert (found["rows"], found["kind"], found["files"], found["via"]) == (
        ROWS, "files", 1, {"tsv": "csv"}.get(name[6:], name.rpartition(".")[2]),
    )  # fmt: skip
    assert {name: (one["nulls"], one["exact"]) for name, one in columns.items()} == {
        "id": (0, False), "parent_id": (ROWS // 10, False), "Status": (0, True), "same": (0, True),
    }  # fmt: skip
    assert columns["id"]["ndv"]["low"] <= ROWS <= columns["id"]["ndv"]["high"]
    assert [columns[name]["ndv"]["estimate"] for name in ("Status", "same")] == [9, 1]
    assert found["groups"][0]["ndv"]["estimate"] == 9
    assert [
        (one["column"].rpartition(".")[2], one["refers_to"].rpartition(".")[2]) for one in found["foreign_keys"]
    ] == [("parent_id", "id")]


def test_another_delimiter(tmp_path: Path) -> None:
    """Of a file that has one column without it."""
    (tmp_path / "x.csv").write_text("a;b\n1;2\n1;3\n")

    columns = [
        json.loads(ndv(tmp_path / "x.csv", *flags, "--json", "--out", tmp_path / name).stdout)["columns"]
        for name, flags in (("commas", []), ("semicolons", ["--delimiter", ";"]))
    ]

    assert [[(one["column"], one["ndv"]["estimate"]) for one in found] for found in columns] == [
        [("a;b", 2)], [("a", 1), ("b", 2)],
    ]  # fmt: skip


def test_the_report_of_files(directory: Path, tmp_path: Path) -> None:
    """Keys first; shown again byte for byte; the columns that were asked for, and those of groups."""
    told = ndv(directory / "table.parquet", "--columns", "Status", "--group", "id,same", "--out", tmp_path / "out")
    again = called("report", tmp_path / "out")

    assert told.returncode == 0, told.stderr
    assert again.stdout == told.stdout
    assert "A value of their own in each row: id. One value only: same." in told.stdout
    rows = [line.split("  ")[0] for line in told.stdout.splitlines()]
    assert [row for row in rows if row in ("id", "parent_id", "Status", "same", "(id, same)")] == [
        "Status", "id", "same", "(id, same)",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--where", "id = 1"], "--where: is for a database, and these are files; leave it out"),
        (["--table", "t"], "--table: is for a database, and these are files; leave it out"),
        (["--what-if", "SELECT 1"], "--what-if: is for a PostgreSQL server, and these are files; leave it out"),
        (["--via", "sql"], "--via: is for a PostgreSQL server, and these are files; leave it out"),
        (["--connections", "2"], "--connections: is for a PostgreSQL server, and these are files; leave it out"),
        (["--delimiter", ";"], "--delimiter: is for CSV, and these files are parquet; leave it out"),
        (["--delimiter", ";;"], "--delimiter ;;: is not one character of ASCII; give one, like ';'"),
        (["--group", "id"], "--group id: name two columns or more"),
        (["--columns", "nope"], "nope"),
        (["--columns", "id,"], "--columns id,: no name at character 4; write a,b"),
    ],
)
def test_what_makes_no_sense_is_one_line(directory: Path, tmp_path: Path, arguments: list[str], words: str) -> None:
    """Exit code 2, and no directory is left."""
    told = ndv(directory / "table.parquet", *arguments, "--out", tmp_path / "out")

    assert (told.returncode, told.stdout, told.stderr.count("\n")) == (2, "", 1)
    assert words in told.stderr
    assert not (tmp_path / "out").exists()
