"""Names of ours in statements that somebody else will run."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

# NAMEDATALEN - 1 (src/include/pg_config_manual.h).
NAME_BYTES_MAX = 63
_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")


def quoted(name: str) -> str:
    """A name as SQL writes it. For names of ours only: a plain one that is a key word is not recognised."""
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'


def statistics_name(table: str, columns: Sequence[str], taken: Collection[str]) -> str:
    """A name for extended statistics that is not `taken`, and short enough for the server to keep it whole."""
    stem = "_".join([table, *columns])
    for number in range(1, len(taken) + 2):
        ending = "_ndistinct" + (f"_{number}" if number > 1 else "")
        name = stem.encode()[: NAME_BYTES_MAX - len(ending)].decode(errors="ignore") + ending
        if name not in taken:
            return name
    raise AssertionError("more names are tried than are taken")


def literal(text: str) -> str:
    """A text as SQL writes it, whatever standard_conforming_strings says."""
    doubled = text.replace("'", "''")
    return f"E'{doubled.replace(chr(92), chr(92) * 2)}'" if "\\" in text else f"'{doubled}'"


def in_comment(text: str) -> str:
    """A text that stands in a line comment and does not end it."""
    return " ".join(text.split())
