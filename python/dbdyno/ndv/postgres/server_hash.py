"""The server's own hash of a value as an SQL expression: 64 bits in which equal values agree, whatever their type.

The functions are those of hash partitioning (`hash...extended`), so the server's idea of equality is in them: numeric
1.0 and 1.00, texts of a collation that ignores case, two ways to write one interval. For a partition two values may
well share a hash; here they would be one value, so what the functions leave out is put back (PostgreSQL 14 to 18;
tests/server/test_server_hash.py shows each):

- **Eight-byte integers are folded to four bytes first**, the upper half xor the lower one. Of 500,000 values
  (tenant << 32 | row) 1,024 hashes are left. So are timestamps and whatever else is such an integer. Their eight bytes
  are hashed instead; but a bigint within the range of integer is not, so that equal numbers of any width agree.
- **With the seed 0** jsonb's true and false are single bits, and objects of flags fall into one register: 128 objects
  had 1. So the seed is never 0.
- **A numeric's hash leaves out its sign**, and NaN and both infinities have one: of prices and their reversals half
  would be lost. Its bytes are hashed instead, without zeros at its end. What is made of numerics, and jsonb, whose
  numbers are such, keeps its own hash beside that of its text without digits, in which the signs are left.
- An array's hash leaves out its dimensions, jsonb's whether the whole is a scalar, an array or an object; that of an
  aclitem is the sum of its parts.

Enums are hashed by their labels: their oids mean nothing to another database. What is left: numerics within a composite
type have no sign; intervals, times with a zone, and integers within a composite type are folded to four bytes, which
loses one value in 1,000 of 10 million.
"""

from __future__ import annotations

from collections.abc import Sequence

from dbdyno.ndv.postgres.columns import Column

# Handed to the functions; any number but 0, and the same everywhere, so that sketches can be merged.
SEED = 1

_FOLDED = ("int8", "timestamp", "timestamptz", "time", "xid8", "pg_lsn")

# What gives the bytes of a value where equal values are equal bytes: of types of which the server's hash leaves
# something out, and of those that it can order but not hash.
_SEND = {
    "numeric": "numeric_send(pg_catalog.trim_scale({0}))",
    "int8": "int8send({0})",
    "timestamp": "timestamp_send({0})",
    "timestamptz": "timestamptz_send({0})",
    "time": "time_send({0})",
    "xid8": "xid8send({0})",
    "pg_lsn": "pg_lsn_send({0})",
    "bit": "bit_send({0})",
    "varbit": "varbit_send({0})",
    "money": "cash_send({0})",
    "tsvector": "tsvectorsend({0})",
    "tsquery": "tsquerysend({0})",
}
_ARRAY_HASH = "pg_catalog.hash_array_extended"
_SEND_OF_KIND = {"r": "range_send({0})", "m": "multirange_send({0})"}
_BYTES_SINCE = 180000


def can_hash(column: Column) -> bool:
    """Whether there is an expression for it."""
    return column.hashable or (column.base_type[0] == "pg_catalog" and column.base_type[1] in _SEND)


def hash_expression(column: Column, table: str, server_version: int) -> str:
    """The hash of a column's value (bigint), null of null.

    Args:
        column: one that `can_hash`.
        table: what the query calls the relation.
        server_version: as the server counts it; the hash is the same with any.
    """
    value = _value(column, table)
    text, own = _text_of(column, value), _own(column, value)
    if text is not None:
        return _of_text(text)
    found = _bytes_of(column, value)
    if found is None:
        return own
    of_bytes = f"pg_catalog.hashbyteaextended({found}, {SEED})" if server_version >= _BYTES_SINCE else _of_row(found)
    if column.base_type == ("pg_catalog", "int8"):
        return f"CASE WHEN {value} BETWEEN -2147483648 AND 2147483647 THEN {own} ELSE {of_bytes} END"
    return of_bytes


def group_expression(columns: Sequence[Column], table: str) -> str:
    """The hash of the values of several columns together, which is never null: in a group, null is a value."""
    row = ", ".join(_member(column, _value(column, table)) for column in columns)
    return f"pg_catalog.hash_record_extended(ROW({row}), {SEED})"


def _member(column: Column, value: str) -> str:
    """What stands in the row for a column: the value, or what the row's hash, which is made of the types' own, leaves
    whole of it. A bigint in a row would be folded, so our own hash goes into it as bytes."""
    whole = None if _beside(column, value) is None else f"pg_catalog.int8send({_own(column, value)})"
    return _text_of(column, value) or _bytes_of(column, value) or whole or value


def _value(column: Column, table: str) -> str:
    """Of a domain what it is made of: `anyenum` takes no domain."""
    return f"{table}.{column.quoted}::{column.base_quoted}"


def _bytes_of(column: Column, value: str) -> str | None:
    """Bytes to be hashed instead of a value, different ones for each; None where there is no need."""
    send = _SEND.get(column.base_type[1]) if column.base_type[0] == "pg_catalog" else None
    if send is None and _is_made_of(column, _FOLDED):
        send = _SEND_OF_KIND.get(column.kind)
    return None if send is None else f"pg_catalog.{send.format(value)}"


def _text_of(column: Column, value: str) -> str | None:
    """A text instead, likewise: of an array, whose bytes may say that it could hold a null where it holds none."""
    is_array = column.kind == "b" and _is_made_of(column, _FOLDED)
    is_text = column.kind == "e" or is_array or column.base_type == ("pg_catalog", "aclitem")
    return f"{value}::pg_catalog.text" if is_text else None


def _is_made_of(column: Column, names: Sequence[str]) -> bool:
    """Whether it is an array or a range of one of these types."""
    return column.element is not None and column.element[0] == "pg_catalog" and column.element[1] in names


def _own(column: Column, value: str) -> str:
    """By the type's own function, with what that leaves out; where SQL cannot call it, a row of one value has the hash
    of the value."""
    own = _of_row(value) if column.hash_function is None else f"{column.hash_function}({value}, {SEED})"
    beside = _beside(column, value)
    return own if beside is None else f"{own} # {_of_text(beside)}"


def _beside(column: Column, value: str) -> str | None:
    """A text of what the type's own hash leaves out; None where it leaves out nothing.

    Equal numbers are written alike but for their digits: zeros at the end, and the point before them.
    """
    has_signs = column.base_type == ("pg_catalog", "jsonb") or _is_made_of(column, ("numeric", "jsonb"))
    signs = f"pg_catalog.translate({value}::pg_catalog.text, '0123456789.', '')" if has_signs else None
    if column.hash_function != _ARRAY_HASH:
        return signs
    dimensions = f"COALESCE(pg_catalog.array_dims({value}), '')"
    return dimensions if signs is None else f"({dimensions} || {signs})"


def _of_text(text: str) -> str:
    return f'pg_catalog.hashtextextended({text} COLLATE pg_catalog."C", {SEED})'


def _of_row(value: str) -> str:
    return f"CASE WHEN {value} IS NOT NULL THEN pg_catalog.hash_record_extended(ROW({value}), {SEED}) END"
