"""Server processes that serve no client, beside the profile and not in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.text import Text

from dbdyno.analysis.findings import Arm, Background
from dbdyno.report import numbers
from dbdyno.report.layout import Column, table
from dbdyno.report.naming import ArmNames
from dbdyno.report.sections.arms import arm_rows, title

# A background process that is nowhere on or in line for a CPU this often took nothing from the load.
BUSY_SHARE = 0.01
# The WAL writer and whichever comes next; all are in the HTML report.
TOP_BACKGROUND = 2


def background(arms: Sequence[Arm], names: ArmNames) -> list[Text]:
    """Server processes that serve no client, beside the profile and not in it: those that were busy anywhere."""
    busy: dict[str, float] = {}
    for arm in arms:
        for process in arm.background:
            share = process.cpu_share + process.run_queue_share
            busy[process.backend_type] = max(busy.get(process.backend_type, 0.0), share)
    shown = sorted((kind for kind, share in busy.items() if share >= BUSY_SHARE), key=lambda kind: -busy[kind])
    columns = [column for kind in shown[:TOP_BACKGROUND] for column in _columns(kind, arms)]
    words = "Busy background processes, in % of one CPU's time; their longest waits"
    return [*title(words), *table(arm_rows(arms, names), columns)] if columns else []


def _columns(kind: str, arms: Sequence[Arm]) -> list[Column]:
    found = [next((process for process in arm.background if process.backend_type == kind), None) for arm in arms]

    def percent(shares: Iterable[float | None]) -> tuple[str, ...]:
        return tuple(numbers.in_unit(share, numbers.PER_CENT, most_decimals=1) for share in shares)

    return [
        Column(("CPU",), percent(process.cpu_share if process else None for process in found), span=kind),
        Column(("run queue",), percent(process.run_queue_share if process else None for process in found), span=kind),
        Column(("sleeps in",), tuple(_longest_wait(process) for process in found), words=True, span=kind),
    ]


def _longest_wait(process: Background | None) -> str:
    if process is None or not process.wait_shares:
        return ""
    return max(process.wait_shares, key=process.wait_shares.__getitem__)
