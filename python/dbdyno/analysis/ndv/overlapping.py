"""Pairs of columns that may refer to each other, from what their files of sketches have in common."""

from __future__ import annotations

from collections.abc import Sequence

from dbdyno.analysis.documents import Document
from dbdyno.analysis.ndv.facts import key_facts, table_label
from dbdyno.analysis.ndv.findings import UNIQUE, NdvFindings
from dbdyno.analysis.ndv.foreign_keys import KeyColumn, Overlap, may_refer


def overlaps(pairs: Sequence[Document], tables: Sequence[tuple[Document, NdvFindings]]) -> list[list[Overlap]]:
    """Of each table, what its columns may refer to: each pair is looked at both ways.

    Args:
        pairs: the document of `_core.sketch_overlaps`: places (file, column), and what was seen of both.
        tables: catalogue and findings of each file, whose columns come first in the file, before the groups.
    """
    found: list[list[Overlap]] = [[] for _ in tables]
    for pair in pairs:
        places = (pair["first"], pair["second"])
        if any(column >= len(tables[file][1].columns) for file, column in places):
            continue
        (first, of_first), (second, of_second) = (_key_column(tables[file], column) for file, column in places)
        common, exact = pair["common"], pair["exact"]
        one_way = Overlap(first, second, pair["seen_of_first"], common, exact, of_first == second.label)
        other_way = Overlap(second, first, pair["seen_of_second"], common, exact, of_second == first.label)
        for (file, _), overlap, declared in zip(places, (one_way, other_way), (of_first, of_second), strict=True):
            # Of a column that refers to another table by a constraint nobody need guess.
            if may_refer(overlap) and declared in (None, overlap.parent.label):
                found[file].append(overlap)
    return found


def overlap_of(document: Document) -> Overlap:
    """From its plain form, which is that of `dataclasses.asdict`."""
    child, parent = KeyColumn(**document["child"]), KeyColumn(**document["parent"])
    return Overlap(**{**document, "child": child, "parent": parent})


def _key_column(table: tuple[Document, NdvFindings], place: int) -> tuple[KeyColumn, str | None]:
    """The column, and the label of the one that a constraint says it refers to."""
    catalogue, found = table
    column = found.columns[place]
    facts = key_facts(catalogue, column.column)
    key = KeyColumn(
        table=catalogue["relation"]["name"],
        name=column.column,
        label=f"{table_label(catalogue)}.{facts.quoted}",
        type=column.type,
        ndv=column.ndv.estimate,
        unique=facts.unique or (column.growth is not None and column.growth.evidence == UNIQUE),
    )
    return key, facts.refers_to
