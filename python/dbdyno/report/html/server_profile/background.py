"""Processes that serve no client, and how busy they were; I/O workers are servers of their own among them."""

from __future__ import annotations

from collections.abc import Sequence

from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.server_profile.findings import BackgroundProcess, ServerProfile
from dbdyno.report.html import palette
from dbdyno.report.html.chart import Chart
from dbdyno.report.html.palette import Fill
from dbdyno.report.html.quantity import Unit, whole
from dbdyno.report.html.ranked import Ranked, ranked_panel
from dbdyno.report.html.server_profile import looks
from dbdyno.report.html.table import Cell, Column, Section, Table
from dbdyno.report.numbers import percent

IO_WORKER = "io worker"
PER_CENT = Unit("%", 0.01)
NAMED_WAITS = 3
# A process that is busy less than this is left to the table.
LEAST_BUSY = 0.0005


def chart(profile: ServerProfile) -> Chart | None:
    """A bar for each kind of process; None where none was seen."""
    if not profile.background:
        return None
    every = sorted(profile.background, key=lambda process: -process.busy.estimate)
    shown = [process for process in every if process.busy.estimate >= LEAST_BUSY] or every[:1]
    rest = f" {whole(len(every) - len(shown))} more were hardly busy." if len(every) > len(shown) else ""
    return Chart(
        id="background",
        short="Background",
        heading="What the server did in the background",
        caption=f"Share of its time in which a process of each kind was busy, averaged over its processes.{rest}",
        reading=(
            "These processes serve no client, so their time is in no database time. Busy is on a CPU, in line for one, "
            "or asleep in the midst of work; the rest is waiting for work. Where the busiest I/O worker or the WAL "
            "writer nears 100 %, the sessions that wait for it wait in line."
        ),
        panels=[
            ranked_panel(
                None, "Busy share", [_ranked(process) for process in shown], PER_CENT,
                "% of the time of one process",
            )
        ],
        tables=[("The same as figures, and where they waited", _table(every))],
    )  # fmt: skip


def io_workers(profile: ServerProfile) -> str | None:
    """A sentence on the I/O workers, of PostgreSQL 18 and later; None where there are none."""
    workers = next((process for process in profile.background if process.backend_type == IO_WORKER), None)
    if workers is None:
        return None
    one = workers.processes == 1
    return (
        f"{whole(workers.processes)} I/O worker{'' if one else 's'} read and wrote for the sessions, "
        f"{'' if one else 'each '}busy {looks.shares(workers.busy)} of the time, "
        f"and at most {percent(workers.busiest)} in one step. "
        f"Sessions that wait for {'it' if one else 'them'} show as asleep in a wait of class IO; "
        "the time of the workers themselves is counted here and nowhere else."
    )


def _ranked(process: BackgroundProcess) -> Ranked:
    many = f" × {whole(process.processes)}" if process.processes > 1 else ""
    fill = Fill(palette.CLASSES["IO"].colour if process.backend_type == IO_WORKER else palette.NEUTRAL)
    words = f"{looks.share(process.busy.estimate)}, at most {percent(process.busiest)}"
    return Ranked(f"{process.backend_type}{many}", words, fill, process.busy)


def _table(processes: Sequence[BackgroundProcess]) -> Table:
    columns = [
        Column("process", figures=False),
        Column("how many"),
        Column("busy", "%"),
        Column("CPU", "%"),
        Column("run queue", "%"),
        Column("busiest", "%"),
        Column("longest waits, share of its time", figures=False),
    ]
    return Table("background-figures", columns, [Section(None, [_row(process) for process in processes])])


def _row(process: BackgroundProcess) -> list[Cell]:
    longest = sorted(process.waits.items(), key=lambda pair: -pair[1])[:NAMED_WAITS]
    return [
        Cell(process.backend_type),
        Cell(whole(process.processes)),
        _per_cent(process.busy),
        _per_cent(process.cpu),
        _per_cent(process.run_queue),
        Cell(PER_CENT.text(process.busiest)),
        Cell(", ".join(f"{event} {percent(share)}" for event, share in longest)),
    ]


def _per_cent(figure: Estimate | None) -> Cell:
    return Cell("") if figure is None else Cell(PER_CENT.text(figure.estimate), looks.interval(figure, PER_CENT))
