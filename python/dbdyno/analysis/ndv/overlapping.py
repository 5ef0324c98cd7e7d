"""Pairs of columns that may refer to each other, from what their files of sketches have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dbdyno.analysis.documents import Document
from dbdyno.analysis.ndv.facts import column_facts
from dbdyno.analysis.ndv.findings import UNIQUE, NdvFindings
from dbdyno.analysis.ndv.foreign_keys import KeyColumn, Overlap


def overlaps(pairs: Sequence[Document], tables: Sequence[tuple[Document, NdvFindings]]) -> Iterator[Overlap]:
    """Each pair both ways.

    Args:
        pairs: the document of `_core.sketch_overlaps`: places (file, column), and what was seen of both.
        tables: catalogue and findings of each file, whose columns come first in the file, before the groups.
    """
    for pair in pairs:
        places = [(tables[file], column) for file, column in (pair["first"], pair["second"])]
        if any(column >= len(table[1].columns) for table, column in places):
            continue
        (first, of_first), (second, of_second) = (_key_column(table[0], table[1], column) for table, column in places)
        common, exact = pair["common"], pair["exact"]
        yield Overlap(first, second, pair["seen_of_first"], common, exact, of_first == second.label)
        yield Overlap(second, first, pair["seen_of_second"], common, exact, of_second == first.label)


def _key_column(catalogue: Document, found: NdvFindings, place: int) -> tuple[KeyColumn, str | None]:
    """The column, and the label of the one that a constraint says it refers to."""
    column = found.columns[place]
    facts = column_facts(catalogue, column.column)
    key = KeyColumn(
        table=catalogue["relation"]["name"],
        name=column.column,
        label=f"{found.table}.{facts.quoted}",
        type=column.type,
        ndv=column.ndv.estimate,
        unique=facts.unique or (column.growth is not None and column.growth.evidence == UNIQUE),
    )
    return key, facts.refers_to
