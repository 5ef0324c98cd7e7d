"""What two records say differently, key by key; what both records may hold is the caller's to say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from dbdyno.analysis.runs_compared.findings import Difference


def listed(
    group: str, keys: Iterable[tuple[str, str, str]], one: Mapping[str, Any], two: Mapping[str, Any]
) -> Iterator[Difference]:
    """The differences in `keys`: (key, words, unit).

    Keys that one record lacks were not recorded by an older version: they say nothing.
    """
    for key, words, unit in keys:
        if key in one and key in two and one[key] != two[key]:
            yield Difference(group, words, _plain(one[key]), _plain(two[key]), unit)


def tables(
    group: str, one: Mapping[str, Any], two: Mapping[str, Any], words: Callable[[str], str]
) -> Iterator[Difference]:
    """The differences in every key of two tables; one that a single table has is None in the other.

    `words` is what a reader calls a key.
    """
    for key in sorted({*one, *two}):
        if one.get(key) != two.get(key):
            yield Difference(group, words(key), _plain(one.get(key)), _plain(two.get(key)))


def _plain(value: Any) -> str | float | None:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if value is None or isinstance(value, int | float) else str(value)
