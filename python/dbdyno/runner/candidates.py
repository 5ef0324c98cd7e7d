"""Factors whose levels are found in the built schema: which of its indexes could be dropped, and the arms of that.

A secondary index is one that nothing but speed depends on: not primary, not unique, behind no constraint.
One that computes an expression, and one that a foreign key needs to find its rows, are candidates only where the
experiment file asks for them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from dbdyno.design.arm import Arm
from dbdyno.design.arms import ALL_INDEXES
from dbdyno.design.combinations import Levels
from dbdyno.design.document import Candidates, Level
from dbdyno.design.experiment import Experiment, load_experiment
from dbdyno.errors import DynoError
from dbdyno.targets.target import Target

NO_SECONDARY_INDEX = "no-secondary-index"

# A foreign key finds its rows by an index that begins with its columns, in whatever order. Indexes of partitions go
# with the one of their partitioned table. Definitions are written as this session must write them: without a schema.
# What the planner knows of an expression goes with its index, hence the ANALYZE.
_SECONDARY_INDEXES = """
    SELECT c.relname, t.relname, pg_get_indexdef(c.oid, 0, true), format('DROP INDEX %%I;', c.relname),
           pg_get_indexdef(c.oid, 0, true) || ';' || CASE WHEN i.indexprs IS NULL THEN ''
                                                          ELSE format(E'\nANALYZE %%I;', t.relname) END,
           greatest(pg_relation_size(c.oid),
                    (SELECT sum(pg_relation_size(relid)) FROM pg_partition_tree(c.oid)))::bigint,
           i.indexprs IS NOT NULL,
           EXISTS (SELECT FROM pg_constraint f
                   WHERE f.conrelid = i.indrelid AND f.contype = 'f'
                     AND f.conkey <@ (i.indkey::int2[])[0:cardinality(f.conkey) - 1]
                     AND f.conkey @> (i.indkey::int2[])[0:cardinality(f.conkey) - 1])
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
    WHERE c.relnamespace = %s::regnamespace AND NOT c.relispartition AND t.relkind IN ('r', 'p')
      AND i.indisvalid AND NOT i.indisprimary AND NOT i.indisunique AND NOT i.indisexclusion
      AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = c.oid AND k.contype <> 'f')
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.classid = 'pg_class'::regclass
                                                AND d.deptype = 'e')
    ORDER BY t.relname, c.relname"""


@dataclasses.dataclass(frozen=True, slots=True)
class SecondaryIndex:
    """One index that an arm may be without."""

    name: str
    table: str
    definition: str
    drop: str
    undo: str
    size_bytes: int
    has_expression: bool
    supports_foreign_key: bool

    @property
    def level(self) -> str:
        """The name of the level without it."""
        return f"without-{self.name}"


Found = Mapping[str, Sequence[SecondaryIndex]]  # factor -> the indexes that it varies


def find_candidates(experiment: Experiment, target: Target) -> Found:
    """For each factor that asks for them: the secondary indexes of the schema that was built."""
    return {name: _candidates(name, asked, target) for name, asked in experiment.candidates.items()}


def with_candidates(experiment: Experiment, found: Found) -> Experiment:
    """The experiment with an arm for each level that was found."""
    if not found:
        return experiment
    levels: Levels = {factor: _levels(indexes) for factor, indexes in found.items()}
    return load_experiment(experiment.path, experiment.asked, found=levels)


def index_record(arm: Arm, found: Found) -> dict[str, Any] | None:
    """Which one index this arm is without, as the run record has it; None for an arm without none or several."""
    for factor, indexes in found.items():
        for index in indexes:
            if arm.levels[factor] == index.level:
                return {
                    "factor": factor,
                    "name": index.name,
                    "table": index.table,
                    "definition": index.definition,
                    "bytes": index.size_bytes,
                    "sql": index.drop,
                    "undo": index.undo,
                }
    return None


def index_scans(target: Target) -> dict[str, int]:
    """How often each index of our schema has been scanned so far."""
    with target.connect() as connection:
        rows = connection.execute(
            "SELECT indexrelname, idx_scan FROM pg_stat_user_indexes WHERE schemaname = %s", [target.schema]
        ).fetchall()
    return {name: int(scans) for name, scans in rows}


def _candidates(factor: str, asked: Candidates, target: Target) -> list[SecondaryIndex]:
    if target.schema is None:
        raise DynoError(
            "no_candidate",
            f"factors.{factor}.candidates: are searched among what dbdyno built; name a workload.schema with tables",
        )
    with target.connect() as connection:
        rows = connection.execute(_SECONDARY_INDEXES, [target.schema]).fetchall()
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s ORDER BY 1", [target.schema])
        known = [table for (table,) in tables]
    for table in asked.tables:
        if table not in known:
            raise DynoError(
                "unknown_table",
                f"factors.{factor}.tables: no table {table!r} in the schema; tables are {', '.join(known)}",
            )
    indexes = [index for index in (SecondaryIndex(*row) for row in rows) if _is_asked(index, asked)]
    if not indexes:
        raise DynoError(
            "no_candidate",
            f"factors.{factor}.candidates: the schema has no secondary index to drop; widen tables or include",
        )
    return indexes


def _is_asked(index: SecondaryIndex, asked: Candidates) -> bool:
    return (
        (not asked.tables or index.table in asked.tables)
        and (not index.has_expression or "expression" in asked.include)
        and (not index.supports_foreign_key or "foreign-key" in asked.include)
    )


def _levels(indexes: Sequence[SecondaryIndex]) -> dict[str, Level]:
    """With one index alone, being without it is being without any: one arm, not two."""
    levels = {ALL_INDEXES: Level()}
    if len(indexes) > 1:
        drops, undos = ([index.drop for index in indexes], [index.undo for index in indexes])
        levels[NO_SECONDARY_INDEX] = Level(sql="\n".join(drops), undo="\n".join(undos))
    return levels | {index.level: Level(sql=index.drop, undo=index.undo) for index in indexes}
