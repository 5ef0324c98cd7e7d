"""What the functions of PostgreSQL do, from the table beside this file.

meanings()["ExecHashJoin"] -> "hash join: looks each outer row up in a hash table of the inner ones"
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

TABLE = Path(__file__).with_suffix(".toml")
# The group whose functions are the C library's, not the server's.
LIBRARY_GROUP = "libc"


@cache
def groups() -> Mapping[str, Mapping[str, str]]:
    """Group -> function -> meaning, as the table has them. A function in two groups is refused."""
    return checked(tomllib.loads(TABLE.read_text(encoding="utf-8")))


@cache
def meanings() -> Mapping[str, str]:
    """Function -> meaning, over all groups."""
    return {name: meaning for group in groups().values() for name, meaning in group.items()}


def meaning(function: str) -> str | None:
    """What a function does; None for one that is not in the table.

    The C library has a variant for each processor of what it copies and compares with: `__memcpy_avx_unaligned`
    is memcpy.
    """
    known = meanings()
    return known.get(function) or known.get(_library_name(function))


def _library_name(function: str) -> str:
    return function.removeprefix("__GI_").lstrip("_").split("_avx")[0].split("_sse")[0].split("_evex")[0]


def checked(table: Mapping[str, Mapping[str, str]]) -> Mapping[str, Mapping[str, str]]:
    """The table, if no function stands in it twice and every one means something."""
    seen: dict[str, str] = {}
    for group, functions in table.items():
        for name, text in functions.items():
            if name in seen:
                raise ValueError(f"{TABLE.name}: {name} stands in [{seen[name]}] and in [{group}]; keep one")
            if not text.strip():
                raise ValueError(f"{TABLE.name}: {name} in [{group}] means nothing; say what it does")
            seen[name] = group
    return table
