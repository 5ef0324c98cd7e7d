"""Column groups: what the planner expects of several columns together, and CREATE STATISTICS where that is wrong.

Without extended statistics the planner multiplies the columns' counts, as if they knew nothing of each other, and
believes no more than a tenth of the rows. Extended statistics hold a count of the group; ANALYZE takes it from its
sample by the same estimator as a column's, and no option overrides it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.ndv import counts
from dbdyno.analysis.ndv.facts import ColumnFacts, RelationFacts, Settings
from dbdyno.analysis.ndv.findings import RIGHT, ColumnFindings, GroupFindings
from dbdyno.analysis.ndv.fixes import Fix, fixing
from dbdyno.analysis.ndv.naming import quoted, statistics_name
from dbdyno.analysis.ndv.planner import EXTENDED, INDEPENDENCE, error_factor, independent_groups
from dbdyno.analysis.ndv.uses import grouping
from dbdyno.analysis.ndv.verdict import is_right, verdict

# STATS_MAX_DIMENSIONS (src/include/statistics/statistics.h).
_COLUMNS_MAX = 8


def group_findings(
    relation: RelationFacts,
    columns: Sequence[ColumnFacts],
    settings: Settings,
    found: Document,
    counted: Mapping[str, ColumnFindings],
    planner: float | None,
    extended: Sequence[Document],
    rows: int,
) -> tuple[GroupFindings, Fix | None]:
    """One group; and what mends it, where it is to be mended.

    Args:
        columns: of the group.
        found: its entry in the scan's outcome.
        counted: the table's columns, by name.
        planner: how many groups the planner expects; None where that is about other rows.
        extended: all extended statistics of the table.
        rows: of the table.
    """
    truth = counts.counted(found, rows)
    names = [column.name for column in columns]
    known = [one for one in extended if "d" in one["kinds"] and set(names) <= set(one["columns"])]
    believed = [counted[name].planner for name in names]
    independent = independent_groups([one for one in believed if one], rows) if all(believed) else None
    factor = error_factor(truth, planner) if planner is not None and truth.estimate > 0 else None
    width = sum(column.statistics.width_bytes for column in columns if column.statistics)
    uses = [] if planner is None else [grouping(settings, planner, truth.estimate, rows, width)]
    judged, reasons = verdict(factor, uses)
    fix: Fix | None = None
    if factor is not None and judged != RIGHT:
        if known:
            reasons = [*reasons, f"{known[0]['quoted']} has its count from a sample; a higher target may mend it"]
        elif is_right(error_factor(truth, independent_groups([counted[name].ndv.estimate for name in names], rows))):
            reasons = [*reasons, "it is right as soon as the figures of its columns are"]
        elif len(columns) <= _COLUMNS_MAX:
            fix = _create(relation, columns, [one["quoted"] for one in extended])
    group = dataclasses.replace(
        bare_group(names, found, truth),
        planner=planner,
        planner_source=None if planner is None else EXTENDED if known else INDEPENDENCE,
        independent=independent,
        error_factor=None if factor is None else factor.estimate,
        error_factor_low=None if factor is None else factor.low,
        error_factor_high=None if factor is None else factor.high,
        verdict=judged,
        reasons=reasons,
        uses=uses,
        fix=None if fix is None else fixing(relation, [fix]),
        undo=None if fix is None else fix.undo[0],
    )
    return group, fix


def bare_group(names: Sequence[str], found: Document, truth: Estimate) -> GroupFindings:
    """What was counted, compared with nothing."""
    judged, _ = verdict(None, [])
    return GroupFindings(
        columns=list(names),
        ndv=truth,
        exact=found["exact"],
        planner=None,
        planner_source=None,
        independent=None,
        error_factor=None,
        error_factor_low=None,
        error_factor_high=None,
        verdict=judged,
        reasons=[],
        uses=[],
        fix=None,
        undo=None,
    )


def _create(relation: RelationFacts, columns: Sequence[ColumnFacts], taken: Sequence[str]) -> Fix:
    prefix = f"{relation.schema_quoted}."
    bare = {one.removeprefix(prefix).removeprefix('"').removesuffix('"').replace('""', '"') for one in taken}
    name = prefix + quoted(statistics_name(relation.name, [column.name for column in columns], bare))
    keys = [column.quoted for column in columns]
    create = f"CREATE STATISTICS {name} (ndistinct) ON {', '.join(keys)} FROM {relation.quoted};"
    return Fix([create], [f"DROP STATISTICS {name};"], keys, None)
