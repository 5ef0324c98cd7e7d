"""The statements that mend a column's figure, and those that take that back.

```
ALTER TABLE public.orders ALTER COLUMN customer_id SET (n_distinct = -0.0498);
ANALYZE public.orders (customer_id);
```

An option takes effect at the next ANALYZE, so one follows; the undo restores the option that was there, letter by
letter, or resets it, and lets ANALYZE estimate again.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

import numpy as np

from dbdyno.analysis.ndv.facts import ColumnFacts, RelationFacts
from dbdyno.analysis.ndv.findings import RATIO, UNIQUE, Growth
from dbdyno.analysis.ndv.naming import literal

_ALTER = {
    "table": "ALTER TABLE",
    "partitioned": "ALTER TABLE",
    "materialised view": "ALTER MATERIALIZED VIEW",
    "foreign table": "ALTER FOREIGN TABLE",
}
# More digits than the count is known to would only look exact.
_DIGITS = 4
# ANALYZE of a partitioned table would go through all partitions, too.
_ANALYZE_ONLY_SINCE = 180000
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")


@dataclasses.dataclass(frozen=True, slots=True)
class Fix:
    """What to run before ANALYZE of these columns (as SQL writes them), and what takes it back.

    `n_distinct` is what will be stored then; None of a group, for which nobody knows.
    """

    do: list[str]
    undo: list[str]
    columns: list[str]
    n_distinct: float | None


def stored_value(grown: Growth, ndv: float, rows: int, nulls: int, *, exact: bool) -> float:
    """What to store: the negative ratio to all rows, null ones among them, or the count.

    Where each row has a value of its own, their number is known better than any sketch knows it.
    """
    if grown.form == RATIO:
        found = rows - nulls if grown.evidence == UNIQUE else ndv
        return -min(float(f"{found / rows:.{_DIGITS}g}"), 1.0)
    return float(round(ndv)) if exact else float(f"{ndv:.{_DIGITS}g}")


def set_n_distinct(relation: RelationFacts, column: ColumnFacts, value: float) -> Fix:
    """Store `value`, beside whatever other options there are; a column that ANALYZE passes over would not get it."""
    option = "n_distinct_inherited" if relation.inherited else "n_distinct"
    alter = f"{_ALTER[relation.kind]} {relation.quoted} ALTER COLUMN {column.quoted}"
    before = column.override
    if before is None:
        undo = f"{alter} RESET ({option});"
    else:
        undo = f"{alter} SET ({option} = {before if _NUMBER.fullmatch(before) else literal(before)});"
    do = f"{alter} SET ({option} = {shown_value(value)});"
    if column.target == 0:
        return Fix([f"{alter} SET STATISTICS -1;", do], [undo, f"{alter} SET STATISTICS 0;"], [column.quoted], value)
    return Fix([do], [undo], [column.quoted], value)


def analyze_again(column: ColumnFacts, predicted: float) -> Fix:
    """Where ANALYZE would be right, and only has not run since: then `predicted` will be stored."""
    return Fix([], [], [column.quoted], predicted)


def fixing(relation: RelationFacts, fixes: Sequence[Fix]) -> str:
    """All of these, with one ANALYZE at the end."""
    columns = dict.fromkeys(column for fix in fixes for column in fix.columns)
    return "\n".join([*(one for fix in fixes for one in fix.do), analyze_statement(relation, list(columns))])


def undoing(relation: RelationFacts, fixes: Sequence[Fix]) -> str | None:
    """The last first; None where there is nothing to take back."""
    undone = [fix for fix in reversed(fixes) if fix.undo]
    if not undone:
        return None
    columns = dict.fromkeys(column for fix in undone for column in fix.columns)
    return "\n".join([*(one for fix in undone for one in fix.undo), analyze_statement(relation, list(columns))])


def analyze_statement(relation: RelationFacts, columns: Sequence[str]) -> str:
    """ANALYZE of these columns, as SQL writes them; of partitions as a whole alone, where that can be said."""
    only = "ONLY " if relation.kind == "partitioned" and relation.server_version >= _ANALYZE_ONLY_SINCE else ""
    return f"ANALYZE {only}{relation.quoted} ({', '.join(columns)});"


def shown_value(value: float) -> str:
    """As a reader writes it: without an exponent."""
    return str(np.format_float_positional(value, trim="-"))
