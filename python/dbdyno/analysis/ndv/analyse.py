"""From a scan's outcome and the catalogue to findings.

    findings = analyse(catalogue, scan, outcome)

All three are plain documents: `Catalogue.document()`, `Source.document()` with `via`, and the outcome of the core
(docs/architecture.md), or of `--via sql` in the same form.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Warning
from dbdyno.analysis.ndv.columns import Table, column_findings
from dbdyno.analysis.ndv.counts import notes
from dbdyno.analysis.ndv.facts import RelationFacts, column_facts, relation_facts, settings
from dbdyno.analysis.ndv.findings import (
    FORMAT,
    ColumnFindings,
    ForeignKey,
    GroupFindings,
    NdvFindings,
    NotCounted,
)
from dbdyno.analysis.ndv.fixes import fixing, undoing
from dbdyno.analysis.ndv.groups import group_findings
from dbdyno.analysis.ndv.naming import in_comment
from dbdyno.analysis.ndv.plan_changes import what_if_findings
from dbdyno.analysis.ndv.without_planner import analyse_without_planner

# The planner's idea of the size of the table, against the rows that were read.
_ROWS_DIFFER_FACTOR = 1.2


def analyse(
    catalogue: Document,
    scan: Document,
    outcome: Document,
    planner_groups: Sequence[float] = (),
) -> NdvFindings:
    """What the counts conclude.

    Args:
        catalogue: of the relation, read before the scan; of a source without a planner as `without_planner` has it.
        scan: what was read: `via`, `where`, `in_order`, `groups`, `not_counted`.
        outcome: what was found; `growth` and `samples` may be empty.
        planner_groups: what the planner expects of each group.
    """
    if catalogue["server_version"] is None:
        return analyse_without_planner(catalogue, scan, outcome)
    relation = relation_facts(catalogue)
    known = {column["name"]: column_facts(catalogue, column["name"]) for column in catalogue["columns"]}
    table = Table(
        relation=relation,
        settings=settings(catalogue),
        rows=outcome["rows"],
        compared=scan["where"] is None and relation.has_statistics and outcome["rows"] > 0,
        in_order=scan["in_order"],
        target=max(column.target for column in known.values()),
    )
    columns, column_fixes = zip(
        *(column_findings(table, known[found["name"]], found) for found in outcome["columns"]), strict=True
    )
    by_name = {column.column: column for column in columns}
    extended = [one for one in catalogue["extended"] if one["inherited"] == relation.inherited]
    found_groups = [
        group_findings(
            relation,
            [known[name] for name in names],
            table.settings,
            found,
            by_name,
            planner_groups[place] if table.compared and planner_groups else None,
            extended,
            table.rows,
        )
        for place, (names, found) in enumerate(zip(scan["groups"], outcome["groups"], strict=True))
    ]
    groups = [group for group, _ in found_groups]
    fixes = [fix for fix in (*column_fixes, *(fix for _, fix in found_groups)) if fix is not None]
    return NdvFindings(
        format=FORMAT,
        table=relation.quoted,
        kind=relation.kind,
        files=None,
        via=scan["via"],
        where=scan["where"],
        rows=table.rows,
        bytes=outcome.get("bytes"),
        elapsed_ns=outcome["elapsed_ns"],
        server_version=relation.server_version,
        analyzed_at=catalogue["relation"]["analyzed_at"],
        columns=list(columns),
        groups=groups,
        foreign_keys=[],
        not_counted=[NotCounted(one["column"], one["type"], one["reason"]) for one in scan["not_counted"]],
        what_if=None,
        fix_script=_script("What mends the planner's figures", relation, fixing(relation, fixes) if fixes else None),
        undo_script=_script("What takes that back", relation, undoing(relation, fixes)),
        warnings=[*_warnings(catalogue, table, columns, groups), *notes(outcome)],
    )


def with_what_if(found: NdvFindings, document: Document) -> NdvFindings:
    """The findings with the plans before and after."""
    return dataclasses.replace(found, what_if=what_if_findings(document))


def with_foreign_keys(found: NdvFindings, hints: Sequence[ForeignKey]) -> NdvFindings:
    """The findings with what its columns refer to."""
    return dataclasses.replace(found, foreign_keys=list(hints))


def _script(title: str, relation: RelationFacts, statements: str | None) -> str | None:
    return None if statements is None else f"-- {title}: {in_comment(relation.quoted)}\n{statements}\n"


def _warnings(
    catalogue: Document, table: Table, columns: Sequence[ColumnFindings], groups: Sequence[GroupFindings]
) -> Iterator[Warning]:
    relation, facts = table.relation, catalogue["relation"]
    if not table.compared:
        why = "only some rows were read" if relation.has_statistics else "a view has no statistics"
        if table.rows == 0:
            why = "there are no rows"
        yield Warning("not_compared", f"{why}, so nothing is compared with the planner's figures")
        return
    if not any(one["inherited"] == relation.inherited for one in catalogue["statistics"]):
        yield Warning(
            "never_analyzed",
            f"the planner has no statistics of {relation.quoted} and assumes 200 different values; "
            f"run ANALYZE {relation.quoted}",
        )
    believed = relation.planner_rows
    if believed <= 0 or max(believed / table.rows, table.rows / believed) > _ROWS_DIFFER_FACTOR:
        yield Warning(
            "rows_differ",
            f"the planner believes in {believed:,.0f} rows, {table.rows:,} were read, and ratios are to what it "
            f"believes; run ANALYZE {relation.quoted}",
        )
    if relation.inherited and any(column.fix for column in columns):
        yield Warning(
            "parts_have_their_own",
            f"the figures are those of {relation.quoted} as a whole; each of its {facts['leaves']} parts has its own, "
            "which plans of one part go by: count those that matter by themselves",
        )
    if not facts["owned"] and (any(one.fix for one in columns) or any(one.fix for one in groups)):
        yield Warning("not_owner", f"only the owner of {relation.quoted} may run the fix; hand it on")
