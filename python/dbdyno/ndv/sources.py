"""Which source a command names: a server, files that are one table, or the file of a database.

```
postgres://user@host/database
orders.parquet   'orders-*.parquet'   2026/      files, patterns and directories of one format: one table
shop.duckdb   shop.sqlite                        a database, whose tables have names
```

Files are known by their first bytes, whatever they are called; a CSV file has none, so it goes by its name.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from dbdyno.errors import DynoError

PARQUET, ARROW, CSV = "parquet", "arrow", "csv"
DUCKDB, SQLITE = "duckdb", "sqlite"
DATABASES = (DUCKDB, SQLITE)

# (offset, bytes): Parquet and Arrow say so in their specifications, "The SQLite database file format" in 1.3, DuckDB in
# src/storage/single_file_block_manager.cpp. A stream of Arrow messages begins with a continuation marker.
_MAGIC = (
    (0, b"PAR1", PARQUET),
    (0, b"ARROW1", ARROW),
    (0, b"\xff\xff\xff\xff", ARROW),
    (0, b"SQLite format 3\0", SQLITE),
    (8, b"DUCK", DUCKDB),
)
_MAGIC_BYTES = 16
_CSV_ENDINGS = (".csv", ".tsv", ".tab")
_TABS = (".tsv", ".tab")
_PATTERN = re.compile(r"[*?\[]")
_KNOWN = "a postgres:// URL, Parquet, Arrow or CSV files, or a database of DuckDB or SQLite"


@dataclasses.dataclass(frozen=True, slots=True)
class Server:
    """A URL; it may hold a password."""

    url: str = dataclasses.field(repr=False)


@dataclasses.dataclass(frozen=True, slots=True)
class Files:
    """Files of one format that are one table, one behind the other.

    `name` is short and fit for a directory, `shown` what the user wrote; `delimiter` is that of CSV.
    """

    paths: Sequence[Path]
    format: str
    name: str
    shown: str
    delimiter: str = ","


@dataclasses.dataclass(frozen=True, slots=True)
class Database:
    """A database in a file; `engine` is one of `DATABASES`."""

    path: Path
    engine: str


def recognise(arguments: Sequence[str]) -> Server | Files | Database:
    """What the arguments of a command name, and that it is there.

    Raises:
        DynoError: `one_source`, `no_file`, `unknown_kind`, `mixed_kinds`, `file_unreadable`.
    """
    if any(_is_url(argument) for argument in arguments):
        if len(arguments) > 1:
            raise DynoError("one_source", "SOURCE: a URL stands alone; count each by itself, then `dbdyno ndv merge`")
        return Server(arguments[0])
    paths = list(dict.fromkeys(path for argument in arguments for path in _files_of(argument)))
    first, kind = paths[0], kind_of(paths[0])
    for path in paths[1:]:
        if (other := kind_of(path)) != kind:
            raise DynoError("mixed_kinds", f"{path}: is {other}, and {first} is {kind}; count each kind by itself")
    if kind in DATABASES:
        if len(paths) > 1:
            raise DynoError("one_source", f"{paths[1]}: one database at a time; count it by itself")
        return Database(first, kind)
    delimiter = "\t" if kind == CSV and first.suffix.lower() in _TABS else ","
    return Files(paths, kind, _name(arguments, paths), _shown(arguments), delimiter)


def kind_of(path: Path) -> str:
    """Of a file. Raises `DynoError`: `unknown_kind`, `file_unreadable`."""
    try:
        with path.open("rb") as file:
            beginning = file.read(_MAGIC_BYTES)
    except OSError as error:
        raise DynoError("file_unreadable", f"{path}: cannot be read: {error.strerror}") from None
    for offset, magic, kind in _MAGIC:
        if beginning[offset:].startswith(magic):
            return kind
    if path.suffix.lower() in _CSV_ENDINGS:
        return CSV
    raise DynoError("unknown_kind", f"{path}: is of no kind that is known; name {_KNOWN}")


def _is_url(argument: str) -> bool:
    """Also what was meant for one: it may hold a password, and what reads URLs never repeats it."""
    return ("://" in argument or "@" in argument) and not Path(argument).exists()


def _files_of(argument: str) -> Iterator[Path]:
    """A file; those that a pattern matches; those in a directory, and below, but for hidden ones and `_SUCCESS`."""
    path = Path(argument)
    if path.is_dir():
        found = [one for one in path.rglob("*") if one.is_file() and not _is_marker(one.relative_to(path))]
        if not found:
            raise DynoError("no_file", f"{argument}: holds no file; name one that does")
        yield from sorted(found, key=_in_order)
    elif path.exists():
        yield path
    elif _PATTERN.search(argument):
        anchor = Path(path.anchor)
        found = [one for one in anchor.glob(str(path.relative_to(anchor))) if one.is_file()]
        if not found:
            raise DynoError("no_file", f"{argument}: matches no file; check the pattern")
        yield from sorted(found, key=_in_order)
    else:
        raise DynoError("no_file", f"{argument}: no such file; name {_KNOWN}")


def _is_marker(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)


def _in_order(path: Path) -> list[tuple[int, str]]:
    """part-2 before part-10: growth is told from the order of the files."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", str(path))]


def _name(arguments: Sequence[str], paths: Sequence[Path]) -> str:
    """What all names begin with, without the number at its end."""
    given = Path(arguments[0])
    if len(arguments) == 1 and given.is_dir():
        return given.resolve().name
    if len(paths) == 1:
        return paths[0].stem
    beginning = "".join(letters.pop() for letters in _while_equal(path.stem for path in paths))
    return beginning.rstrip("0123456789-_. ") or paths[0].stem


def _while_equal(names: Iterable[str]) -> Iterator[set[str]]:
    return itertools.takewhile(lambda letters: len(letters) == 1, map(set, zip(*names, strict=False)))


def _shown(arguments: Sequence[str]) -> str:
    more = len(set(arguments)) - 1
    return f"{arguments[0]} and {more} more" if more else arguments[0]
