"""Names of tables and columns as people write them: SQL's way, or just as they are.

```
orders            Orders            "Order lines"      sales.orders       "we.ird"."a""b"
```
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dbdyno.errors import DynoError

_NAME = re.compile(r'\s*(?:"((?:[^"]|"")+)"|([^",]+?))\s*(?=,|$)')
_PLAIN = re.compile(r"[A-Za-z_]\w*")
_PART = re.compile(r'\s*(?:"((?:[^"]|"")+)"|([^".]+?))\s*(?=\.|$)')


def names_in_list(flag: str, text: str) -> list[str]:
    """The names of `a, "b, c"`, without their quotes. Raises `DynoError("bad_names")`."""
    return _split(flag, text, _NAME, ",")


def parts_of_name(flag: str, text: str) -> list[str]:
    """The parts of `schema."table"`, without their quotes. Raises `DynoError("bad_names")`."""
    return _split(flag, text, _PART, ".")


def column_named(flag: str, name: str, columns: Sequence[str]) -> str:
    """The column that `name` means: that very name, else as SQL folds it. Raises `DynoError("unknown_column")`."""
    for candidate in (name, name.lower()):
        if candidate in columns:
            return candidate
    alike = [column for column in columns if column.lower() == name.lower()]
    known = ", ".join(alike or columns[:20]) + (", ..." if not alike and len(columns) > 20 else "")
    raise DynoError("unknown_column", f"{flag} {name}: no such column; there are {known or 'none'}")


def quoted(name: str) -> str:
    """A name as SQL writes it, whatever it is."""
    return '"' + name.replace('"', '""') + '"'


def shown(name: str) -> str:
    """A name as people write it: without quotes where it needs none."""
    return name if _PLAIN.fullmatch(name) else quoted(name)


def _split(flag: str, text: str, pattern: re.Pattern[str], separator: str) -> list[str]:
    names, place = [], 0
    while place <= len(text):
        found = pattern.match(text, place)
        if found is None:
            raise DynoError("bad_names", f"{flag} {text}: no name at character {place + 1}; write a{separator}b")
        quoted, bare = found.groups()
        names.append(bare if quoted is None else quoted.replace('""', '"'))
        place = found.end() + 1
    return names
