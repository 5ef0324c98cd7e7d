"""What a file of sketches says of its columns, whatever parts it was merged from."""

from __future__ import annotations

import dataclasses

from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.ndv.counts import counted
from dbdyno.analysis.ndv.findings import MergedColumn, MergedCounts


def merged_counts(document: Document, files: int) -> MergedCounts:
    """Of the document of `_core.sketch_estimates` (docs/sketch-file.md) about the union of so many files."""
    return MergedCounts(files, [_column(column) for column in document["columns"]])


def to_document(document: Document, found: MergedCounts) -> Document:
    """The same document with counts that are no more than there are rows."""
    columns = [
        {**column, "ndv": dataclasses.asdict(one.ndv)}
        for column, one in zip(document["columns"], found.columns, strict=True)
    ]
    return {**document, "files": found.files, "columns": columns}


def _column(column: Document) -> MergedColumn:
    ndv: Estimate = counted(column, int(column["rows"]) - int(column["nulls"]))
    return MergedColumn(column["name"], column["type"], column["rows"], column["nulls"], ndv, column["exact"])
