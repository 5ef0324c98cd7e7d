"""What limits the conclusions."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from dbdyno.analysis.findings import Warning
from dbdyno.report.layout import paragraph
from dbdyno.report.sections.arms import title


def limits(warnings: Sequence[Warning], run_directory: str) -> list[Text]:
    """One entry a kind: the first message stands for all arms that have it."""
    kinds: dict[str, list[Warning]] = {}
    for warning in warnings:
        kinds.setdefault(warning.code, []).append(warning)
    lines = title("Warnings") if kinds else []
    for code, found in kinds.items():
        arms = list(dict.fromkeys(warning.arm for warning in found if warning.arm is not None))
        where = "" if not arms else arms[0] if len(arms) == 1 else f"{arms[0]} and {len(arms) - 1} more"
        lead = f"{code.replace('_', ' ')}{', ' + where if where else ''}: "
        message = found[0].message.replace("RUN_DIR", run_directory)
        lines += paragraph(Text.assemble((lead, "bold yellow"), message), first="- ")
    return lines
