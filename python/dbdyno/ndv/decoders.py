"""Which decoder of the core brings which PostgreSQL type to a form in which equal values have equal bytes.

The decoders are described in `crates/dbdyno-core/src/ndv/canonical.rs`. What none of them knows is hashed by the
server, whose hashes of equal values are equal: 64 bits come in the place of the value.

A test holds every type of this table against COUNT(DISTINCT) on the server.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from types import MappingProxyType


@dataclasses.dataclass(frozen=True, slots=True)
class Decoding:
    """How the values of a column are read.

    Args:
        decoder: `integer`, `unsigned`, `float`, `numeric`, `interval`, `bpchar`, `jsonb` or `bytes`.
        expression: what stands in the SELECT list, with `{0}` for the column.
    """

    decoder: str
    expression: str = "{0}"

    def select_item(self, column: str) -> str:
        """The expression for a column, which is given as SQL."""
        return self.expression.format(column)


def _each(decoding: Decoding, names: str) -> Iterable[tuple[str, Decoding]]:
    return ((name, decoding) for name in names.split())


# By pg_type.typname, of types in pg_catalog.
BUILT_IN: Mapping[str, Decoding] = MappingProxyType(
    dict(
        (
            *_each(Decoding("integer"), "bool char int2 int4 int8 money date time timestamp timestamptz"),
            *_each(Decoding("unsigned"), "oid xid cid xid8 pg_lsn regclass regcollation regconfig regdictionary"),
            *_each(Decoding("unsigned"), "regnamespace regoper regoperator regproc regprocedure regrole regtype"),
            *_each(Decoding("float"), "float4 float8"),
            *_each(Decoding("numeric"), "numeric"),
            *_each(Decoding("interval"), "interval"),
            *_each(Decoding("bpchar"), "bpchar"),
            *_each(Decoding("bytes"), "text varchar name bytea uuid inet cidr macaddr macaddr8 bit varbit timetz tid"),
            *_each(Decoding("bytes"), "tsvector tsquery"),
            *_each(Decoding("jsonb"), "jsonb"),
            # It has no binary form, and its hash is the sum of its parts.
            *_each(Decoding("bytes", "{0}::pg_catalog.text"), "aclitem"),
        )
    )
)

# Of whose values other programs hold the same bytes, of types in pg_catalog: integers, floating-point numbers, texts in
# UTF-8, bytes.
EXPORTED = frozenset({"int2", "int4", "int8", "float4", "float8", "text", "varchar", "bytea"})

# Of which values of different bytes may be equal: under a collation that is not deterministic.
_COLLATED = frozenset({"text", "varchar", "bpchar"})


def decoding_of(name: str, kind: str, *, is_built_in: bool = True, is_deterministic: bool = True) -> Decoding | None:
    """How a column of a type is read; None where the server has to hash it, or where it has no equality at all.

    A domain goes by its base type. Arrays, ranges and composites have no decoder: two may differ in their bytes and be
    equal as soon as what they are made of may.

    Args:
        name: `pg_type.typname`.
        kind: `pg_type.typtype`.
        is_built_in: whether the type lies in pg_catalog.
        is_deterministic: `pg_collation.collisdeterministic` of the column's collation.
    """
    if name in _COLLATED and not is_deterministic:
        return None
    if kind == "e":
        return Decoding("bytes")
    return BUILT_IN.get(name) if kind == "b" and is_built_in else None
