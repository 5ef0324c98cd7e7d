"""CSV files: values are texts, quotes and NULLs as RFC 4180 and PostgreSQL's COPY have them."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbdyno import engine
from dbdyno.errors import DynoError

SPEC = {"precision": 14, "seed": 0}


def scan(*paths: Path, dialect: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """The outcome."""
    files = {"paths": [str(path) for path in paths], "format": "csv", "csv": dialect or {}}
    return engine.scan_files(SPEC | {"files": files} | changes)[0]


def written(tmp_path: Path, content: bytes, name: str = "x.csv") -> Path:
    """A file of this content."""
    path = tmp_path / name
    path.write_bytes(content)
    return path


def counted(outcome: dict[str, Any]) -> dict[str, tuple[int, float]]:
    """Nulls and different values by column."""
    return {each["name"]: (each["nulls"], each["ndv"]["estimate"]) for each in outcome["columns"]}


def test_values_are_texts(tmp_path: Path) -> None:
    """1 and 1.0 differ, blanks count, nothing is NULL, and two quotes are a text without characters."""
    path = written(tmp_path, b'n,s\n1,a\n1.0, a\n01,a\n1,\n,""\n1,"a"\n')
    outcome = scan(path)
    assert counted(outcome) == {"n": (1, 3), "s": (1, 3)}
    assert [each["type"] for each in outcome["columns"]] == ["text", "text"]
    assert (outcome["rows"], outcome["bytes"]) == (6, path.stat().st_size)


def test_a_text_that_comes_late_is_a_value_like_others(tmp_path: Path) -> None:
    """However many numbers came before it."""
    path = written(tmp_path, b"n\n" + b"7\n" * 300_000 + b"seven\n")
    assert counted(scan(path)) == {"n": (0, 2)}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\xef\xbb\xbfa,b\r\n1,2\r\n", {"a": (0, 1), "b": (0, 1)}),
        (b"a,b\n1,2", {"a": (0, 1), "b": (0, 1)}),
        (b"a,b\n\n1,2\n\n\n", {"a": (0, 1), "b": (0, 1)}),
        (b"a\n\n1\n\n", {"a": (2, 1)}),
        (b"a,\n1,2\n", {"a": (0, 1), "column2": (0, 1)}),
        (b'"a ""b""","c\nd"\n1,2\n', {'a "b"': (0, 1), "c\nd": (0, 1)}),
        (b"a,b\n", {"a": (0, 0), "b": (0, 0)}),
        ("größe\nä\nä\n".encode(), {"größe": (0, 1)}),
    ],
)
def test_lines_and_names(tmp_path: Path, content: bytes, expected: dict[str, tuple[int, int]]) -> None:
    """Byte order marks, ends of lines, blank lines, columns without a name."""
    assert counted(scan(written(tmp_path, content))) == expected


def test_the_dialect_is_asked_for(tmp_path: Path) -> None:
    """Delimiter, quote, and a file without names."""
    path = written(tmp_path, b"'a;b';1\n'a''b';1\na\"b;2\n")
    outcome = scan(path, dialect={"delimiter": ";", "quote": "'", "header": False})
    assert counted(outcome) == {"column1": (0, 3), "column2": (0, 2)}


ROWS = st.lists(st.tuples(*[st.text(st.sampled_from('a,"\n\r é'), max_size=4)] * 2), min_size=1, max_size=30)


@given(ROWS, st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]), st.booleans())
@settings(max_examples=150, deadline=None)
def test_what_python_writes_is_read(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], quoting: Any, compressed: bool
) -> None:
    """Any characters; where nothing is quoted without need, a text without characters comes back as NULL."""
    if quoting == csv.QUOTE_MINIMAL:
        # Python leaves a \r without quotes, also where it comes to lie before the end of a line.
        rows = [(first.replace("\r", ""), second.replace("\r", "")) for first, second in rows]
    text = io.StringIO(newline="")
    csv.writer(text, quoting=quoting, lineterminator="\n").writerows([("a", "b"), *rows])
    content = text.getvalue().encode()
    directory = tmp_path_factory.mktemp("csv")
    path = written(directory, gzip.compress(content) if compressed else content)
    expected = {}
    for name, values in zip("ab", zip(*rows, strict=True), strict=True):
        nulls = values.count("") if quoting == csv.QUOTE_MINIMAL else 0
        expected[name] = (nulls, len(set(values) - ({""} if quoting == csv.QUOTE_MINIMAL else set())))
    assert counted(scan(path)) == expected


def test_long_fields_and_many_rows_cross_every_chunk(tmp_path: Path) -> None:
    """The file is read 256 KB at a time."""
    rows = [f'{row},"{"x" * (row * 37 % 5000)}\n""{row % 50}"""' for row in range(4000)]
    path = written(tmp_path, "\n".join(["n,s", *rows]).encode())
    exact = len({(row * 37 % 5000, row % 50) for row in range(4000)})
    assert counted(scan(path)) == {"n": (0, 4000), "s": (0, exact)}
    wide = written(tmp_path, b"a,b\n1," + b"w" * 3_000_000 + b"\n2,\n", "wide.csv")
    assert counted(scan(wide)) == {"a": (0, 2), "b": (1, 1)}


def test_files_are_one_table_with_growth_over_it(tmp_path: Path) -> None:
    """Columns go by their names; points lie near the tenths of all rows."""
    first = written(tmp_path, b"a,b\n" + b"".join(b"%d,x\n" % row for row in range(20_000)), "1.csv")
    second = written(tmp_path, b"b,a\n" + b"".join(b"y,%d\n" % row for row in range(20_000)), "2.csv")
    outcome = scan(first, second, groups=[{"name": "a, b", "columns": ["a", "b"]}])
    assert outcome["rows"] == 40_000
    assert counted(outcome)["b"] == (0, 2)
    assert outcome["groups"][0]["ndv"]["estimate"] == pytest.approx(40_000, rel=0.03)
    points = [point["rows"] for point in outcome["columns"][0]["growth"]]
    assert all(abs(rows - 4000 * tenth) < 800 for tenth, rows in zip(range(1, 11), points, strict=True))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is empty"),
        (b"a,b\n1,2\n3\n", "line 3: 1 fields where 2 are expected"),
        (b'a,b\n"1\n\n",2\n1,2,3\n', "line 5: 3 fields where 2 are expected"),
        (b'a,b\n1,"2\n3,4\n', "line 2: a quote is never closed"),
        (b'a,b\n1,"2"x\n', "line 2: a closing quote is followed by something else than the end of a field"),
        (b"a\n\xff\n", "column a: a text is not in UTF-8; convert the file first"),
        (gzip.compress(b"a\n1\n" * 999)[:-9], "it cannot be read: "),
    ],
)
def test_what_is_no_csv_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    """With the file and the line."""
    path = written(tmp_path, content)
    with pytest.raises(DynoError) as raised:
        scan(path)
    assert (raised.value.code, raised.value.exit_code) == ("bad_file", 2)
    assert str(raised.value).startswith(f"{path}: {message}")


@pytest.mark.parametrize(
    ("dialect", "message"),
    [
        ({"delimiter": "ä"}, "delimiter 'ä': give one ASCII character"),
        ({"quote": "\n"}, "quote '\\n': give one ASCII character"),
        ({"quote": ","}, "quote ',': it is the delimiter, too"),
        ({"delimiter": "||"}, "spec: invalid value"),
    ],
)
def test_a_dialect_that_cannot_be_is_refused(tmp_path: Path, dialect: dict[str, Any], message: str) -> None:
    """By its key."""
    with pytest.raises(DynoError) as raised:
        scan(written(tmp_path, b"a\n1\n"), dialect=dialect)
    assert raised.value.code == "spec_invalid"
    assert str(raised.value).startswith(message)
