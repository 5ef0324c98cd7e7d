"""What to type to have an arm's schema, and to be rid of it again."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from dbdyno.analysis.findings import Arm
from dbdyno.report.layout import paragraph
from dbdyno.report.sections.arms import title

# The first lines show what it is about; the HTML report has the whole.
LONGEST_SQL = 200
# Where an experiment is made of changes, a reader looks for one of them, and finds it in the HTML report.
MOST_CHANGES = 8


def changes(arms: Sequence[Arm]) -> list[Text]:
    """The DDL of the arms that change the schema, once where several do the same."""
    alike: dict[tuple[str, str | None], list[str]] = {}
    for arm in arms:
        if arm.sql is not None:
            alike.setdefault((arm.sql, arm.undo), []).append(arm.arm)
    lines: list[Text] = []
    for (sql, undo), names in list(alike.items())[:MOST_CHANGES]:
        lines += paragraph(Text.assemble((f"{', '.join(names)}: ", "bold"), _short(sql)), first="- ")
        if undo is not None:
            lines += paragraph(Text.assemble(("undo: ", "dim"), _short(undo)), first="  ", rest="    ")
    if len(alike) > MOST_CHANGES:
        lines.append(Text(f"- {len(alike) - MOST_CHANGES} more are in the HTML report", style="dim"))
    return [*title("To apply, and to undo"), *lines] if lines else []


def _short(sql: str) -> str:
    words = " ".join(sql.split())
    return words if len(words) <= LONGEST_SQL else words[:LONGEST_SQL].rsplit(" ", 1)[0] + " ..."
