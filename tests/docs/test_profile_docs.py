"""What a profile can say is described: every code of a finding and of a warning, every key of its document."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from dbdyno.analysis import server_profile
from dbdyno.analysis.server_profile import findings
from dbdyno.analysis.server_profile.findings import compared

SOURCES = Path(server_profile.__file__).parent
DOCS = Path(__file__).parent.parent.parent / "docs"


def test_every_finding_and_warning_of_a_profile_is_described() -> None:
    """docs/reading-a-profile.md has its code."""
    page = (DOCS / "reading-a-profile.md").read_text()
    rules = "".join(path.read_text() for path in SOURCES.glob("rules_*.py"))
    said = set(re.findall(r'code="([a-z_]+)"', rules)) | set(re.findall(r'"([a-z_]+)" if (?:idle|dominates)', rules))
    said |= set(re.findall(r'yield \(?\s*"([a-z_]+)",', (SOURCES / "limits.py").read_text()))

    assert len(said) > 20
    assert sorted(code for code in said if f"`{code}`" not in page) == []


@pytest.mark.parametrize("record", [findings.ServerProfile, compared.ProfileComparison, findings.TimeParts])
def test_every_key_of_the_document_is_described(record: type) -> None:
    """docs/findings.md names each field."""
    page = (DOCS / "findings.md").read_text()

    assert sorted(field.name for field in dataclasses.fields(record) if f"`{field.name}`" not in page) == []
