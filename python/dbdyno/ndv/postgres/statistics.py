"""What the planner goes by: pg_stats of each column, extended statistics, and the settings that turn it into plans."""

from __future__ import annotations

import dataclasses
import json

from psycopg.rows import class_row

from dbdyno.ndv.postgres.relation import Relation
from dbdyno.targets.target import Connection


@dataclasses.dataclass(frozen=True, slots=True)
class ColumnStatistics:
    """A row of pg_stats, without the values themselves.

    Attributes:
        inherited: whether it is about the whole tree below the relation.
        n_distinct: a count; negative, a ratio to the rows, null ones included; 0 where unknown.
        common_values: how many values the list of common ones has; `common_share` of the rows have one of them, and
            `least_common_share` the least common of these.
        correlation: of the order of the values and that of the rows; None where there is no order.
    """

    column: str
    inherited: bool
    n_distinct: float
    null_share: float
    width_bytes: int
    common_values: int
    common_share: float
    least_common_share: float | None
    correlation: float | None


@dataclasses.dataclass(frozen=True, slots=True)
class ExtendedStatistics:
    """An object of CREATE STATISTICS: its columns, and the distinct counts of groups of them that ANALYZE found.

    `distinct`: (columns, n_distinct); a group with an expression is left out.
    """

    quoted: str
    kinds: list[str]
    columns: list[str]
    inherited: bool
    distinct: list[tuple[list[str], float]]


@dataclasses.dataclass(frozen=True, slots=True)
class PlannerSettings:
    """Settings of this session; bytes are bytes."""

    default_statistics_target: int
    work_mem_bytes: int
    hash_mem_multiplier: float
    random_page_cost: float
    seq_page_cost: float
    cpu_tuple_cost: float
    cpu_index_tuple_cost: float
    cpu_operator_cost: float


_STATISTICS = """
SELECT attname AS column, inherited, n_distinct::float8, null_frac::float8 AS null_share, avg_width AS width_bytes,
       COALESCE(pg_catalog.cardinality(most_common_freqs), 0) AS common_values,
       COALESCE((SELECT pg_catalog.sum(f) FROM pg_catalog.unnest(most_common_freqs) AS f), 0)::float8 AS common_share,
       (SELECT pg_catalog.min(f) FROM pg_catalog.unnest(most_common_freqs) AS f)::float8 AS least_common_share,
       correlation::float8
  FROM pg_catalog.pg_stats WHERE schemaname = %s AND tablename = %s
 ORDER BY 1, 2"""

_EXTENDED = """
SELECT pg_catalog.quote_ident(s.statistics_schemaname) || '.' || pg_catalog.quote_ident(s.statistics_name),
       s.kinds::text[], s.attnames::text[], {inherited}, s.n_distinct::text,
       pg_catalog.jsonb_object_agg(a.attnum, a.attname)
  FROM pg_catalog.pg_stats_ext s
  JOIN pg_catalog.pg_attribute a ON a.attrelid = %(oid)s AND a.attnum > 0 AND NOT a.attisdropped
 WHERE s.schemaname = %(schema)s AND s.tablename = %(name)s
 GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 4"""

_SETTINGS = """
SELECT name, setting::float8 * CASE unit WHEN 'kB' THEN 1024 ELSE 1 END FROM pg_catalog.pg_settings
 WHERE name = ANY(%s)"""
_INHERITED_SINCE = 150000


def read_statistics(session: Connection, relation: Relation) -> list[ColumnStatistics]:
    """Of all columns that we may read; of a tree, those of the relation alone beside those of the whole."""
    with session.cursor(row_factory=class_row(ColumnStatistics)) as cursor:
        return cursor.execute(_STATISTICS.encode(), [relation.schema, relation.name]).fetchall()


def read_extended(session: Connection, relation: Relation) -> list[ExtendedStatistics]:
    """Of a table whose owner we are, or whose columns we may all read."""
    inherited = "s.inherited" if session.info.server_version >= _INHERITED_SINCE else "false"
    rows = session.execute(
        _EXTENDED.format(inherited=inherited).encode(),
        {"oid": relation.oid, "schema": relation.schema, "name": relation.name},
    ).fetchall()
    return [
        ExtendedStatistics(quoted, kinds, columns or [], bool(inherited), distinct_of_groups(text or "{}", names))
        for quoted, kinds, columns, inherited, text, names in rows
    ]


def distinct_of_groups(text: str, names: dict[str, str]) -> list[tuple[list[str], float]]:
    """pg_ndistinct's text, by the names of the columns.

    `{"1, 2": 11}` until 18, `[{"attributes": [1, 2], "ndistinct": 11}]` since 19; an expression has a negative number.
    """
    document = json.loads(text)
    if isinstance(document, dict):
        found = [(key.split(", "), value) for key, value in document.items()]
    else:
        found = [([str(number) for number in one["attributes"]], one["ndistinct"]) for one in document]
    return [
        ([names[number] for number in numbers], float(value))
        for numbers, value in found
        if all(number in names for number in numbers)
    ]


def read_settings(session: Connection) -> PlannerSettings:
    """As a session of this user has them."""
    names = [field.name.removesuffix("_bytes") for field in dataclasses.fields(PlannerSettings)]
    values: dict[str, float] = dict(session.execute(_SETTINGS.encode(), [names]).fetchall())
    return PlannerSettings(
        int(values["default_statistics_target"]), int(values["work_mem"]), *(values[name] for name in names[2:])
    )
