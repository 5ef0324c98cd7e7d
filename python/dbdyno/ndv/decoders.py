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
    """How a column is read.

    Args:
        decoder: `integer`, `unsigned`, `float`, `numeric`, `interval`, `bpchar`, `jsonb`, `bytes` or `hashed`.
        expression: what stands in the SELECT list, with `{0}` for the column; for `hashed` it is of type bigint.
    """

    decoder: str
    expression: str = "{0}"

    def select_item(self, column: str) -> str:
        """The expression for a column, which is given as SQL."""
        return self.expression.format(column)


def _hashed(function: str) -> Decoding:
    return Decoding("hashed", f"pg_catalog.{function}({{0}}, 0)")


def _each(decoding: Decoding, names: str) -> Iterable[tuple[str, Decoding]]:
    return ((name, decoding) for name in names.split())


# Two arrays, ranges or composites may differ in their bytes and be equal as soon as what they are made of may; and an
# array may say that it has nulls when it has none left. The hash of an array is that of its elements in a row: without
# its dimensions {1,2} and {{1,2}} would be one.
_ARRAY = Decoding(
    "hashed",
    "pg_catalog.hash_array_extended({0}, 0) OPERATOR(pg_catalog.#) "
    "pg_catalog.hashtextextended(COALESCE(pg_catalog.array_dims({0}), '') COLLATE pg_catalog.\"C\", 0)",
)

# By pg_type.typname, of types in pg_catalog. Those without equality are not in it: json, xml, point and its like.
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
            *_each(_hashed("hashoidvectorextended"), "oidvector"),
            *_each(_ARRAY, "int2vector"),
        )
    )
)

# By pg_type.typtype.
_BY_KIND: Mapping[str, Decoding] = MappingProxyType(
    {
        "e": Decoding("bytes"),
        "c": _hashed("hash_record_extended"),
        "r": _hashed("hash_range_extended"),
        "m": _hashed("hash_multirange_extended"),
    }
)

# Under a collation that is not deterministic texts of different bytes are equal; these functions follow it.
_BY_COLLATION: Mapping[str, Decoding] = MappingProxyType(
    {
        "text": _hashed("hashtextextended"),
        "varchar": _hashed("hashtextextended"),
        "bpchar": _hashed("hashbpcharextended"),
    }
)


def decoding_of(
    name: str, kind: str, category: str, *, is_built_in: bool = True, is_deterministic: bool = True
) -> Decoding | None:
    """How a column of a type is read; None where its values cannot be told apart, or nobody knows how.

    A domain goes by its base type. What arrays, ranges and composite types are made of must have a hash on the server,
    which says so when it is asked (SQLSTATE 42883): bit, money and text search have none.

    Args:
        name: `pg_type.typname`.
        kind: `pg_type.typtype`.
        category: `pg_type.typcategory`.
        is_built_in: whether the type lies in pg_catalog.
        is_deterministic: `pg_collation.collisdeterministic` of the column's collation.
    """
    if not is_deterministic and name in _BY_COLLATION:
        return _BY_COLLATION[name]
    if kind != "b":
        return _BY_KIND.get(kind)
    if is_built_in and name in BUILT_IN:
        return BUILT_IN[name]
    return _ARRAY if category == "A" and name.startswith("_") else None
