"""What a comparison of runs can say is described: every key of its documents, every code of a warning."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from dbdyno.analysis import runs_compared
from dbdyno.analysis.runs_compared import findings

SOURCES = Path(runs_compared.__file__).parent
PAGE = (Path(__file__).parent.parent.parent / "docs" / "findings.md").read_text().partition("## Runs compared")[2]

RECORDS = [
    each for each in vars(findings).values() if dataclasses.is_dataclass(each) and each.__module__ == findings.__name__
]


@pytest.mark.parametrize("record", RECORDS)
def test_every_key_of_the_documents_is_described(record: type) -> None:
    """docs/findings.md names each field."""
    assert sorted(field.name for field in dataclasses.fields(record) if f"`{field.name}`" not in PAGE) == []


def test_every_warning_is_described() -> None:
    """docs/findings.md has its code."""
    said = set(re.findall(r'Warning\(\s*"([a-z_]+)"', "".join(path.read_text() for path in SOURCES.glob("*.py"))))

    assert len(RECORDS) >= 10
    assert {"confounded", "few_blocks", "approximate"} <= said
    assert sorted(code for code in said if f"`{code}`" not in PAGE) == []
