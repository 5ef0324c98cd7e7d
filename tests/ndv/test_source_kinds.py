"""What a command's arguments name: by scheme, by first bytes, by pattern; and what is wrong with them, in a line."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from dbdyno.errors import DynoError
from dbdyno.ndv.sources import Database, Files, Server, recognise

PARQUET, ARROW, STREAM = b"PAR1....PAR1", b"ARROW1\0\0....", b"\xff\xff\xff\xff\x10\0\0\0"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with files of all kinds."""
    monkeypatch.chdir(tmp_path)
    for number in (1, 2, 10):
        Path(f"orders-{number}.parquet").write_bytes(PARQUET)
    below = Path("2026/month=1")
    below.mkdir(parents=True)
    (below / "part-0").write_bytes(PARQUET)
    for name in ("2026/_SUCCESS", "2026/.hidden.crc"):
        Path(name).write_bytes(b"")
    Path("x.csv").write_text("a,b\n1,2\n")
    Path("x.TSV").write_text("a\tb\n")
    Path("x.arrow").write_bytes(ARROW)
    Path("y.arrow").write_bytes(STREAM)
    Path("notes.txt").write_text("PAR")
    Path("postgres@home").write_bytes(PARQUET)
    Path("empty").mkdir()
    Path("shop.db").write_bytes(bytes(8) + b"DUCK" + bytes(10))
    session = sqlite3.connect("other.db")
    session.execute("CREATE TABLE t (a)")
    session.close()
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "format_", "names", "name", "shown"),
    [
        (["orders-1.parquet"], "parquet", ["orders-1.parquet"], "orders-1", "orders-1.parquet"),
        (["orders-*.parquet"], "parquet", ["orders-1.parquet", "orders-2.parquet", "orders-10.parquet"],
         "orders", "orders-*.parquet"),
        (["./orders-?.parquet", "orders-10.parquet"], "parquet",
         ["orders-1.parquet", "orders-2.parquet", "orders-10.parquet"], "orders", "./orders-?.parquet and 1 more"),
        (["orders-2.parquet", "orders-1.parquet", "orders-2.parquet"], "parquet",
         ["orders-2.parquet", "orders-1.parquet"], "orders", "orders-2.parquet and 1 more"),
        (["2026"], "parquet", ["part-0"], "2026", "2026"),
        (["**/part-*"], "parquet", ["part-0"], "part-0", "**/part-*"),
        (["x.csv"], "csv", ["x.csv"], "x", "x.csv"),
        (["x.arrow", "y.arrow"], "arrow", ["x.arrow", "y.arrow"], "x", "x.arrow and 1 more"),
        (["postgres@home"], "parquet", ["postgres@home"], "postgres@home", "postgres@home"),
    ],
)  # fmt: skip
def test_files(arguments: list[str], format_: str, names: list[str], name: str, shown: str) -> None:
    """The format, the files in their order, a name for a directory, what is shown."""
    found = recognise(arguments)

    assert isinstance(found, Files)
    assert (found.format, [path.name for path in found.paths]) == (format_, names)
    assert (found.name, found.shown) == (name, shown)


def test_what_parts_the_columns_of_a_csv_file() -> None:
    """By its ending, in whatever case."""
    csv, tsv = recognise(["x.csv"]), recognise(["x.TSV"])

    assert isinstance(csv, Files)
    assert isinstance(tsv, Files)
    assert (csv.delimiter, tsv.delimiter) == (",", "\t")


def test_servers_and_databases(here: Path) -> None:
    """By the scheme, by the first bytes whatever the name; an absolute pattern is one, too."""
    assert recognise(["postgres://u:secret@h/d"]) == Server("postgres://u:secret@h/d")
    assert "secret" not in repr(recognise(["postgres://u:secret@h/d"]))
    assert recognise(["shop.db"]) == Database(Path("shop.db"), "duckdb")
    assert recognise([f"{here}/oth*.db"]) == Database(here / "other.db", "sqlite")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nope.parquet"], "no_file", "nope.parquet: no such file; name a postgres:// URL, Parquet, "),
        (["nope-*"], "no_file", "nope-*: matches no file; check the pattern"),
        (["empty"], "no_file", "empty: holds no file; name one that does"),
        (["notes.txt"], "unknown_kind", "notes.txt: is of no kind that is known; name a postgres:// URL"),
        (["x.csv", "x.arrow"], "mixed_kinds", "x.arrow: is arrow, and x.csv is csv; count each kind by itself"),
        (["shop.db", "x.csv"], "mixed_kinds", "x.csv: is csv, and shop.db is duckdb; count each kind by itself"),
        (["postgres://u:secret@h/d", "x.csv"], "one_source", "SOURCE: a URL stands alone"),
        (["x.csv", "u:secret@h"], "one_source", "SOURCE: a URL stands alone"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_source(arguments: list[str], code: str, message: str) -> None:
    """A code and one line, which does not repeat what may hold a password."""
    with pytest.raises(DynoError) as told:
        recognise(arguments)

    assert (told.value.code, told.value.message[: len(message)]) == (code, message)
    assert "secret" not in told.value.message
    assert "\n" not in told.value.message


def test_two_databases() -> None:
    """One at a time."""
    Path("more.db").write_bytes(bytes(8) + b"DUCK" + bytes(10))

    with pytest.raises(DynoError, match=r"more\.db: one database at a time; count it by itself"):
        recognise(["shop.db", "more.db"])
