"""Names as people write them."""

from __future__ import annotations

import pytest

from dbdyno.errors import DynoError
from dbdyno.ndv.naming import column_named, names_in_list, parts_of_name


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a", ["a"]),
        ("a,b", ["a", "b"]),
        (" a , b ", ["a", "b"]),
        ('"a, b", c', ["a, b", "c"]),
        ('"a""b"', ['a"b']),
        ("über$, Größe x", ["über$", "Größe x"]),
    ],
)
def test_lists_of_names(text: str, names: list[str]) -> None:
    """By commas, but not within quotes."""
    assert names_in_list("--columns", text) == names


@pytest.mark.parametrize("text", ["", "a,", "a,,b", '"a', 'a"b'])
def test_lists_that_are_none(text: str) -> None:
    """Each says where."""
    with pytest.raises(DynoError, match=r"--columns .*: no name at character") as failure:
        names_in_list("--columns", text)
    assert failure.value.code == "bad_names"


def test_parts_of_a_name() -> None:
    """By dots, likewise."""
    assert parts_of_name("--table", 'a."b.c"') == ["a", "b.c"]


def test_a_column_by_its_name_or_as_sql_folds_it() -> None:
    """The very name goes first; one that only looks alike is shown."""
    assert column_named("--columns", "Id", ["id", "Id"]) == "Id"
    assert column_named("--columns", "ID", ["id", "Id"]) == "id"
    with pytest.raises(DynoError, match="--columns naem: no such column; there are name, x"):
        column_named("--columns", "naem", ["name", "x"])
    with pytest.raises(DynoError, match=r"--columns NAME: no such column; there are Name$"):
        column_named("--columns", "NAME", ["Name", "x"])
