"""What to type to have an arm's schema, and to be rid of it again."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from dbdyno.analysis.findings import Arm
from dbdyno.report.layout import paragraph
from dbdyno.report.sections.arms import title

# The first lines show what it is about; the HTML report has the whole.
LONGEST_SQL = 200


def changes(arms: Sequence[Arm]) -> list[Text]:
    """The DDL of each arm that changes the schema."""
    lines: list[Text] = []
    for arm in arms:
        if arm.sql is not None:
            lines += paragraph(Text.assemble((f"{arm.arm}: ", "bold"), _short(arm.sql)), first="- ")
            if arm.undo is not None:
                lines += paragraph(Text.assemble(("undo: ", "dim"), _short(arm.undo)), first="  ", rest="    ")
    return [*title("To apply, and to undo"), *lines] if lines else []


def _short(sql: str) -> str:
    words = " ".join(sql.split())
    return words if len(words) <= LONGEST_SQL else words[:LONGEST_SQL].rsplit(" ", 1)[0] + " ..."
