"""The live view as it is drawn: 80 columns, whatever the names, and never higher than the terminal."""

from __future__ import annotations

import dataclasses

from dbdyno.analysis.live_view import BlockedLine, Line, LiveView, Table
from dbdyno.report.live_profile import lines

VIEW = LiveView(
    steps=7,
    active_sessions=3.0,
    idle_in_transaction=1.0,
    cpus=4,
    classes=(("Lock", 2.0), ("CPU", 1.0)),
    course=(0.0, 1.5, 3.0),
    window_steps=3,
    tables=(
        Table(
            "events",
            "mostly in query",
            (
                Line("Lock:transactionid", "Lock:transactionid", 2.0, 0.667, 1234, "UPDATE accounts SET v = v + 1"),
                Line("CPU", "CPU", 1.0, 0.333, 600, "SELECT 1", selected=True),
            ),
        ),
        Table(
            "queries", "mostly in", (Line("7", "UPDATE accounts SET v = v + 1 WHERE id = 7", 3.0, 1.0, 1834, "CPU"),)
        ),
    ),
    blocked=(
        BlockedLine(0, 10, "app web", "idle in transaction", None, 2),
        BlockedLine(1, 11, "app web", "active, Lock:transactionid", "row (0,7) of public.accounts", 0),
    ),
    into=None,
    sort="time",
    paused=False,
)


def plain(view: LiveView, *, height: int = 24, blocks: bool = False) -> list[str]:
    """The picture without its colours."""
    return [line.plain for line in lines(view, "12 s left: shop", height=height, blocks=blocks)]


def test_the_whole_picture() -> None:
    """Sessions, the bar on the scale of the CPUs, the last minute, tables, who waits for whom, keys."""
    assert plain(VIEW) == [
        "12 s left: shop",
        "3.00 active sessions (4 CPUs), and 1.0 idle in transaction",
        "L" * 40 + "C" * 20,
        "Lock 2.00  CPU 1.00",
        ".+@  max 3.00",
        "  events, last 3 s               sessions  share    seen  mostly in query",
        "  Lock:transactionid                 2.00   67 %   1,234  UPDATE accounts SET v",
        "> CPU                                1.00   33 %     600  SELECT 1",
        "  queries, last 3 s              sessions  share    seen  mostly in",
        "  UPDATE accounts SET v = v +...     3.00  100 %   1,834  CPU",
        "  who waits for whom",
        "  10, app web, idle in transaction: blocks 2 sessions",
        "    11, app web, active, Lock:transactionid: waits for row (0,7) of public.ac...",
        "space stop  s sort by (time)  up/down enter look into  q end",
    ]


def test_it_fits_the_terminal() -> None:
    """However many lines there are, the chosen one is shown, and the keys are the last line."""
    many = tuple(Line(str(n), f"{n} {'x' * 200}", 1.0, 0.1, 10, "y" * 200, selected=n == 45) for n in range(50))
    view = dataclasses.replace(
        VIEW,
        tables=(Table("events", "mostly in query", many), Table("queries", "mostly in", many)),
        blocked=VIEW.blocked * 10,
        classes=tuple((f"class {n}", 0.3) for n in range(20)),
        course=(1.0,) * 60,
    )
    for height in (10, 24, 60):
        for blocks in (False, True):
            drawn = plain(view, height=height, blocks=blocks)
            assert len(drawn) <= height
            assert max(map(len, drawn)) <= 80
            assert drawn[-1].startswith("space stop")
    assert any(line.startswith("> 45 ") for line in plain(view))


def test_what_is_stopped_or_looked_into_says_so() -> None:
    """And how to get back."""
    drawn = plain(dataclasses.replace(VIEW, paused=True, into="Lock:transactionid", blocked=()))

    assert drawn[0] == "12 s left: shop - stopped, space goes on"
    assert drawn[5] == "in Lock:transactionid (left: back)"
    assert drawn[-1] == "space go on  s sort by (time)  left back  q end"


def test_nothing_to_show_yet() -> None:
    """Before the first step."""
    empty = dataclasses.replace(
        VIEW, active_sessions=0.0, idle_in_transaction=0.0, cpus=None, classes=(), course=(), tables=(), blocked=()
    )

    assert plain(empty)[1:] == [
        "0 active sessions",
        "",
        "",
        "nothing active",
        "space stop  s sort by (time)  up/down enter look into  q end",
    ]
