"""The plans of statements, where they differ between an arm and its baseline or between trials."""

from __future__ import annotations

from rich.text import Text

from dbdyno.analysis.findings import Findings
from dbdyno.report.layout import paragraph
from dbdyno.report.plan_shapes import plans_that_differ
from dbdyno.report.sections.arms import title


def plans(findings: Findings) -> list[Text]:
    """One line for each shape of a statement's plan, with the arms that have it."""
    lines: list[Text] = []
    for statement, by_shape in plans_that_differ(findings).items():
        lines += paragraph(Text(f"{statement}:"))
        for shape, arms in by_shape.items():
            lines += paragraph(Text.assemble((shape, "bold"), f": {', '.join(arms)}"), first="- ")
    return [*title("Plans, where they differ"), *lines] if lines else []
