"""The table of meanings: every function that it names is one of the server's, and stands in it once."""

from __future__ import annotations

import pytest

from dbdyno import _core
from dbdyno.report.function_meanings import LIBRARY_GROUP, checked, groups, meaning, meanings
from dbdyno.targets.binaries import find_binaries


def test_every_function_is_in_the_symbol_table_of_the_wheels_server() -> None:
    """A name that the server does not have (misspelt, inlined, of another version) is refused."""
    functions = set(_core.function_names(str(find_binaries(None).postgres)))
    named = {name for group, entries in groups().items() if group != LIBRARY_GROUP for name in entries}

    assert sorted(named - functions) == []
    assert len(named) >= 300


def test_all_parts_of_the_server_are_there() -> None:
    """Each room of the server has entries, and no meaning is a name said again."""
    assert len(groups()) >= 18
    assert all(len(entries) >= 10 for entries in groups().values())
    assert [name for name, text in meanings().items() if text.lower() == name.lower()] == []


def test_duplicates_and_empty_meanings_are_refused() -> None:
    """One function, one meaning."""
    with pytest.raises(ValueError, match=r"palloc stands in \[a\] and in \[b\]; keep one"):
        checked({"a": {"palloc": "takes memory"}, "b": {"palloc": "takes memory"}})
    with pytest.raises(ValueError, match=r"palloc in \[a\] means nothing"):
        checked({"a": {"palloc": " "}})


def test_variants_of_the_c_library_are_known_by_their_name() -> None:
    """The loader chooses one of several copies of memcpy for the processor; all copy memory."""
    assert meaning("__memcpy_avx512_unaligned_erms") == "copies memory"
    assert meaning("__memcmp_evex_movbe") == "compares memory"
    assert meaning("ExecHashJoin") == meanings()["ExecHashJoin"]
    assert meaning("no_such_function") is None
