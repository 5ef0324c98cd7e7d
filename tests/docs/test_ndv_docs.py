"""What a count of different values can say is described: every key of its document, every code in it."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from dbdyno.analysis import ndv
from dbdyno.analysis.ndv import findings, foreign_keys, plan_changes, planner, uses

SOURCES = "".join(path.read_text() for path in Path(ndv.__file__).parent.glob("*.py"))
PAGE = (Path(__file__).parent.parent.parent / "docs" / "ndv.md").read_text()

RECORDS = [
    each for each in vars(findings).values() if dataclasses.is_dataclass(each) and each.__module__ == findings.__name__
]
VALUES = [
    *(findings.RIGHT, findings.WRONG, findings.WRONG_AND_MATTERS, findings.NOT_COMPARED),
    *(planner.STATISTICS, planner.UNIQUE_INDEX, planner.BOOLEAN, planner.DEFAULT, planner.EXTENDED),
    *(uses.EQUALITY, uses.JOIN, uses.GROUPING, planner.INDEPENDENCE),
    *(plan_changes.OTHER_PLAN, plan_changes.OTHER_ESTIMATES, plan_changes.UNCHANGED, plan_changes.NOT_PLANNED),
    *(foreign_keys.DECLARED, foreign_keys.LIKELY, foreign_keys.POSSIBLE),
    *("unique", "grows", "slows", "saturates", "share_of_rows", "clustered_values", "arrival"),
]


@pytest.mark.parametrize("record", RECORDS)
def test_every_key_of_the_document_is_described(record: type) -> None:
    """docs/ndv.md names each field."""
    assert sorted(field.name for field in dataclasses.fields(record) if f"`{field.name}`" not in PAGE) == []


def test_every_value_and_every_warning_is_described() -> None:
    """docs/ndv.md has each word."""
    warnings = set(re.findall(r'Warning\(\s*"([a-z_]+)"', SOURCES))

    assert len(RECORDS) >= 10
    assert {"not_compared", "never_analyzed", "rows_differ"} <= warnings
    assert sorted(word for word in {*VALUES, *warnings} if f"`{word}`" not in PAGE) == []
