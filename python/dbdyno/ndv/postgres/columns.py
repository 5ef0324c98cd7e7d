"""The columns of a relation: their types as far as equality goes, and what the planner knows of their values."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import psycopg
from psycopg.rows import class_row

from dbdyno.ndv.postgres.relation import Relation
from dbdyno.targets.target import Connection


@dataclasses.dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        name, quoted: as it is, and as SQL writes it.
        type: as a user reads it, e.g. `character varying(20)`.
        base_type: of a domain the type that it is made of, else the type; schema and name, unquoted.
        base_quoted: the same as SQL writes it.
        kind: of the base type, `typtype`: b base, c composite, e enum, r range, m multirange.
        element: of an array the base type of its elements, of a range that of its bounds; else None.
        deterministic: whether equal texts are the same bytes; True where there is no collation.
        hash_function: of the default operator class for hashing, its extended support function as SQL writes it, where
            that takes this very type; None where hashing goes through a record.
        hashable: whether the server can hash values of the type, and whatever they consist of.
        sortable: whether ANALYZE can sort them, which decides how it counts.
        readable: whether we may read it.
        unique: whether a unique index says that no value comes twice.
        indexed: whether an index begins with it.
        clustered: whether the table was once put in the order of an index that begins with it.
        virtual: whether it is computed when it is read, so that ANALYZE knows nothing of it.
        arrival: whether its default counts up: identity, or a sequence.
        refers_to: the column that a foreign key names, as SQL writes it with schema and table.
        referred_to: whether a foreign key of another table names it.
        override, override_inherited: `n_distinct` and `n_distinct_inherited` of its options, as they were written.
        target: its statistics target; None for the server's default.
    """

    number: int
    name: str
    quoted: str
    type: str
    base_type: tuple[str, str]
    base_quoted: str
    kind: str
    element: tuple[str, str] | None
    deterministic: bool
    hash_function: str | None
    hashable: bool
    sortable: bool
    readable: bool
    unique: bool
    indexed: bool
    clustered: bool
    virtual: bool
    arrival: bool
    not_null: bool
    refers_to: str | None
    referred_to: bool
    override: str | None
    override_inherited: str | None
    target: int | None


# A domain's base type, through domains of domains.
_BASE = """
WITH RECURSIVE bases AS (
  SELECT a.attnum, a.atttypid AS type FROM pg_catalog.pg_attribute a
   WHERE a.attrelid = %(oid)s AND a.attnum > 0 AND NOT a.attisdropped
  UNION ALL
  SELECT b.attnum, t.typbasetype FROM bases b JOIN pg_catalog.pg_type t ON t.oid = b.type WHERE t.typtype = 'd')"""

# The operator class that GetDefaultOpClass (indexcmds.c) finds: the type's own, that of a type that it is binary
# coercible to (varchar: text), or that of the family of types that it belongs to.
_HASH = """
  LEFT JOIN LATERAL (
    SELECT f.oid, f.proname, fn.nspname, f.proargtypes[0] AS takes, o.opcintype
      FROM pg_catalog.pg_opclass o JOIN pg_catalog.pg_am am ON am.oid = o.opcmethod AND am.amname = 'hash'
      JOIN pg_catalog.pg_amproc p ON p.amprocfamily = o.opcfamily AND p.amproclefttype = o.opcintype
       AND p.amprocrighttype = o.opcintype AND p.amprocnum = 2
      JOIN pg_catalog.pg_proc f ON f.oid = p.amproc JOIN pg_catalog.pg_namespace fn ON fn.oid = f.pronamespace
     WHERE o.opcdefault AND (o.opcintype = t.oid
        OR o.opcintype = CASE WHEN t.typcategory = 'A' AND t.typelem <> 0 THEN 'anyarray'::pg_catalog.regtype
                              WHEN t.typtype = 'e' THEN 'anyenum'::pg_catalog.regtype
                              WHEN t.typtype = 'r' THEN 'anyrange'::pg_catalog.regtype
                              WHEN t.typtype = 'm' THEN 'anymultirange'::pg_catalog.regtype
                              WHEN t.typtype = 'c' THEN 'record'::pg_catalog.regtype END
        OR EXISTS (SELECT FROM pg_catalog.pg_cast x WHERE x.castsource = t.oid AND x.casttarget = o.opcintype
                      AND x.castmethod = 'b' AND x.castcontext = 'i'))
     ORDER BY o.opcintype = t.oid DESC, o.opcintype = 'text'::pg_catalog.regtype DESC LIMIT 1) AS hash ON true"""

_COLUMNS = (
    _BASE
    + """
SELECT a.attnum AS number, a.attname AS name, pg_catalog.quote_ident(a.attname) AS quoted,
       pg_catalog.format_type(a.atttypid, a.atttypmod) AS type, ARRAY[tn.nspname, t.typname]::text[] AS base_type,
       pg_catalog.quote_ident(tn.nspname) || '.' || pg_catalog.quote_ident(t.typname) AS base_quoted,
       t.typtype::text AS kind,
       CASE WHEN e.oid IS NOT NULL THEN ARRAY[en.nspname, e.typname]::text[] END AS element,
       COALESCE(co.collisdeterministic, true) AS deterministic,
       CASE WHEN hash.takes = hash.opcintype
            THEN pg_catalog.quote_ident(hash.nspname) || '.' || pg_catalog.quote_ident(hash.proname) END
         AS hash_function,
       true AS hashable, true AS sortable,
       pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT') AS readable,
       COALESCE(ix.uniquely, false) AS unique, COALESCE(ix.leading, false) AS indexed,
       COALESCE(ix.clustering, false) AS clustered,
       a.attgenerated = 'v' AS virtual,
       a.attidentity <> '' OR COALESCE(pg_catalog.pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%%', false) AS arrival,
       a.attnotnull AS not_null, fk.refers_to, COALESCE(fk.referred_to, false) AS referred_to,
       o.plain AS override, o.inherited AS override_inherited, NULLIF(a.attstattarget, -1)::int AS target
  FROM pg_catalog.pg_attribute a JOIN bases b USING (attnum)
  JOIN pg_catalog.pg_type t ON t.oid = b.type AND t.typtype <> 'd'
  JOIN pg_catalog.pg_namespace tn ON tn.oid = t.typnamespace
  LEFT JOIN pg_catalog.pg_range r ON t.oid IN (r.rngtypid, r.rngmultitypid)
  LEFT JOIN pg_catalog.pg_type e
    ON e.oid = CASE WHEN t.typcategory = 'A' THEN NULLIF(t.typelem, 0) ELSE r.rngsubtype END
  LEFT JOIN pg_catalog.pg_namespace en ON en.oid = e.typnamespace
  LEFT JOIN pg_catalog.pg_collation co ON co.oid = a.attcollation
  LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
"""
    + _HASH
    + """
  LEFT JOIN LATERAL (
    SELECT pg_catalog.bool_or(i.indisunique AND i.indnkeyatts = 1 AND i.indimmediate AND i.indpred IS NULL) AS uniquely,
           pg_catalog.bool_or(i.indpred IS NULL) AS leading, pg_catalog.bool_or(i.indisclustered) AS clustering
      FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class ic ON ic.oid = i.indexrelid
      JOIN pg_catalog.pg_am am ON am.oid = ic.relam AND am.amname IN ('btree', 'hash')
     WHERE i.indrelid = a.attrelid AND i.indisvalid AND i.indkey[0] = a.attnum) AS ix ON true
  LEFT JOIN LATERAL (
    SELECT pg_catalog.max(CASE WHEN k.conrelid = a.attrelid AND k.conkey = ARRAY[a.attnum] THEN
             (SELECT pg_catalog.concat_ws('.', pg_catalog.quote_ident(rn.nspname), pg_catalog.quote_ident(rc.relname),
                                         pg_catalog.quote_ident(ra.attname))
                FROM pg_catalog.pg_attribute ra JOIN pg_catalog.pg_class rc ON rc.oid = ra.attrelid
                JOIN pg_catalog.pg_namespace rn ON rn.oid = rc.relnamespace
               WHERE ra.attrelid = k.confrelid AND ra.attnum = k.confkey[1]) END) AS refers_to,
           pg_catalog.bool_or(k.confrelid = a.attrelid AND k.confkey = ARRAY[a.attnum]) AS referred_to
      FROM pg_catalog.pg_constraint k
     WHERE k.contype = 'f' AND a.attrelid IN (k.conrelid, k.confrelid)) AS fk ON true
  LEFT JOIN LATERAL (
    SELECT pg_catalog.max(option_value) FILTER (WHERE option_name = 'n_distinct') AS plain,
           pg_catalog.max(option_value) FILTER (WHERE option_name = 'n_distinct_inherited') AS inherited
      FROM pg_catalog.pg_options_to_table(a.attoptions)) AS o ON true
 WHERE a.attrelid = %(oid)s AND a.attnum > 0 AND NOT a.attisdropped
 ORDER BY a.attnum"""
)


def read_columns(session: Connection, relation: Relation) -> list[Column]:
    """All columns in their order; a session in autocommit, for the server is asked what it can hash."""
    with session.cursor(row_factory=class_row(Column)) as cursor:
        rows = cursor.execute(_COLUMNS.encode(), {"oid": relation.oid}).fetchall()
    abilities = {quoted: _abilities(session, quoted) for quoted in {column.base_quoted for column in rows}}
    return [
        dataclasses.replace(
            column,
            base_type=_pair(column.base_type),
            element=_pair(column.element) if column.element else None,
            hashable=hashable,
            sortable=sortable,
        )
        for column in rows
        for hashable, sortable in [abilities[column.base_quoted]]
    ]


def _pair(names: Iterable[str]) -> tuple[str, str]:
    schema, name = names
    return schema, name


def _abilities(session: Connection, quoted: str) -> tuple[bool, bool]:
    """Whether values of a type can be hashed, and sorted.

    The server answers by looking at the type and at whatever it consists of; of a null it then does nothing.
    """
    null = f"ROW(NULL::{quoted})"
    return (
        _answers(session, f"SELECT pg_catalog.hash_record_extended({null}, 1)"),
        _answers(session, f"SELECT pg_catalog.btrecordcmp({null}, {null})"),
    )


def _answers(session: Connection, statement: str) -> bool:
    try:
        session.execute(statement.encode())
    except psycopg.errors.UndefinedFunction:
        return False
    return True
