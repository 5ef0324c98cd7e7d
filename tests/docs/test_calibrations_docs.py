"""What a comparison of calibrations can say is described: every key of its document, every code of a warning."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from dbdyno.analysis import calibrations_compared
from dbdyno.analysis.calibrations_compared import findings

SOURCES = Path(calibrations_compared.__file__).parent
PAGE = (Path(__file__).parent.parent.parent / "docs" / "findings.md").read_text()
SECTION = PAGE.partition("## Calibrations compared")[2].partition("\n## ")[0]

# Earlier ones stand in the text of a calibration only, in no document.
RECORDS = [
    each
    for each in vars(findings).values()
    if dataclasses.is_dataclass(each) and each.__module__ == findings.__name__ and each is not findings.Earlier
]


@pytest.mark.parametrize("record", RECORDS)
def test_every_key_of_the_document_is_described(record: type) -> None:
    """docs/findings.md names each field."""
    assert sorted(field.name for field in dataclasses.fields(record) if f"`{field.name}`" not in SECTION) == []


def test_every_warning_and_every_answer_is_described() -> None:
    """docs/findings.md has its code."""
    said = set(re.findall(r'Warning\(\s*"([a-z_]+)"', "".join(path.read_text() for path in SOURCES.glob("*.py"))))
    answers = {findings.CHANGED, findings.CHANGED_IN_PART, findings.SAME}
    answers |= {findings.NOT_BEYOND_USUAL, findings.ONE_EACH, findings.NO_CONCLUSION}

    assert {"day_to_day_unknown", "other_place", "other_conditions", "quality"} <= said
    assert sorted(code for code in said | answers if f"`{code}`" not in SECTION) == []
