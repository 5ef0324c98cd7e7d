"""Which column refers to which, from what their samples of different values have in common.

Of two columns that were hashed alike the smallest hashes are known (`BottomK`): a sample of the child's different
values, and for each of them whether the parent has it. The share that it has not is the orphan share, of values, not
of rows; its interval is Clopper and Pearson's (1934), exact where both columns were known as a whole.

That values are contained proves little for small whole numbers: a quantity from 1 to 100 is contained in every serial
key. So a hint is `likely` only where something else agrees: the names; a type whose values do not coincide by chance;
or the child has a good part of the parent's values and, where both are of one table, is called like a key. Two keys
that count up have each other's values anyway: of a child that is unique itself only a name, or its type, says
something. And a column refers to one other as a rule: where a constraint or a name tells which, what the values alone
say of others is left out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from scipy import special

from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.ndv.findings import ForeignKey

DECLARED, LIKELY, POSSIBLE = "declared", "likely", "possible"

# A key with more orphans is none; below, it may be one that nobody enforces.
ORPHANS_MAX = 0.1
# Fewer values than that are contained by chance.
COMPARED_MIN = 10
# Of the parent's values; a quantity or a status has far fewer of them.
COVERAGE_MIN = 0.2
_INTEGERS = (
    *("tinyint", "smallint", "mediumint", "int", "integer", "bigint", "hugeint"),
    *("utinyint", "usmallint", "uinteger", "ubigint", "uhugeint"),
)
# Of SQLite, whose columns need no type.
_ANY = "any"
_FRACTIONS = ("numeric", "decimal", "real", "float", "double", "double precision", "half")
_COINCIDING_TYPES = (*_INTEGERS, *_FRACTIONS, _ANY, "date", "boolean")
# Types whose values may be equal though the types are not.
_FAMILIES = ((*_INTEGERS, _ANY), ("text", "character varying", "varchar", _ANY))
_KEY_ENDINGS = ("_id", "_key", "_no", "_code", "_fk")


@dataclasses.dataclass(frozen=True, slots=True)
class KeyColumn:
    """A column that may refer, or be referred to: `name` in `table`, and `label` as it is shown."""

    table: str
    name: str
    label: str
    type: str
    ndv: float
    unique: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Overlap:
    """Of `compared` values of the child, the parent has `common`; `exact` where that is all of the child's values."""

    child: KeyColumn
    parent: KeyColumn
    compared: int
    common: int
    exact: bool
    declared: bool


def foreign_keys(overlaps: Iterable[Overlap]) -> list[ForeignKey]:
    """The hints, the firmest first."""
    standings = (DECLARED, LIKELY, POSSIBLE)
    found = [(overlap, hint) for overlap in overlaps if (hint := _hint(overlap)) is not None]
    told = {hint.column for overlap, hint in found if _is_told(overlap)}
    kept = [hint for overlap, hint in found if _is_told(overlap) or hint.column not in told]
    return sorted(kept, key=lambda one: (standings.index(one.standing), one.orphans.estimate, one.column))


def may_refer(overlap: Overlap) -> bool:
    """Whether the child's values could be keys of the parent, however many of them there are."""
    child, parent = overlap.child, overlap.parent
    return overlap.compared > 0 and child.label != parent.label and parent.unique and _comparable(child, parent)


def _is_told(overlap: Overlap) -> bool:
    """By a constraint or by names, and not by values alone."""
    return overlap.declared or _name_agrees(overlap.child, overlap.parent)


def _hint(overlap: Overlap) -> ForeignKey | None:
    child, parent = overlap.child, overlap.parent
    if not may_refer(overlap):
        return None
    orphans = orphan_share(overlap)
    named = _name_agrees(child, parent)
    if not overlap.declared and (orphans.estimate > ORPHANS_MAX or (overlap.compared < COMPARED_MIN and not named)):
        return None
    if not _is_told(overlap) and child.unique and _bare_type(child) in _COINCIDING_TYPES:
        return None
    coverage = min(child.ndv / parent.ndv, 1.0) if parent.ndv > 0 else 0.0
    standing, words = _standing(overlap, coverage, named=named)
    return ForeignKey(child.label, parent.label, orphans, overlap.exact, coverage, standing, words)


def orphan_share(overlap: Overlap) -> Estimate:
    """Of the child's different values, those that the parent does not have."""
    orphans, compared = overlap.compared - overlap.common, overlap.compared
    share = orphans / compared
    if overlap.exact:
        return Estimate(share, share, share)
    low = 0.0 if orphans == 0 else float(special.betaincinv(orphans, compared - orphans + 1, 0.025))
    high = 1.0 if orphans == compared else float(special.betaincinv(orphans + 1, compared - orphans, 0.975))
    return Estimate(share, low, high)


def _standing(overlap: Overlap, coverage: float, *, named: bool) -> tuple[str, str]:
    if overlap.declared:
        return DECLARED, "a constraint says so"
    if named:
        return LIKELY, "the values are contained, and the names agree"
    if _bare_type(overlap.child) not in _COINCIDING_TYPES:
        return LIKELY, f"the values are contained, and values of type {overlap.child.type} do not agree by chance"
    if coverage >= COVERAGE_MIN and (overlap.child.table != overlap.parent.table or _is_named_as_key(overlap.child)):
        return LIKELY, f"the values are contained, and are {100 * coverage:.0f} % of those there"
    return POSSIBLE, "the values are contained, as small numbers may be by chance"


def _comparable(child: KeyColumn, parent: KeyColumn) -> bool:
    types = {_bare_type(child), _bare_type(parent)}
    return len(types) == 1 or any(types <= set(family) for family in _FAMILIES)


def _bare_type(column: KeyColumn) -> str:
    """Without a length."""
    return column.type.partition("(")[0]


def _is_named_as_key(column: KeyColumn) -> bool:
    """parent_id, and not amount."""
    return column.name.lower().endswith(_KEY_ENDINGS) or column.name.endswith("Id")


def _name_agrees(child: KeyColumn, parent: KeyColumn) -> bool:
    """customer_id and customers.id; or one name that says more than `id`."""
    name = child.name.lower()
    if name == parent.name.lower():
        return name not in ("id", "key", "no", "code", "name")
    stem = next((name.removesuffix(end) for end in (*_KEY_ENDINGS, "id") if name.endswith(end) and name != end), name)
    table = parent.table.lower()
    return stem in (table, table.removesuffix("s"), table.removesuffix("es"), f"{table.removesuffix('ies')}y")
