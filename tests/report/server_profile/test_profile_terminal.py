"""A server's profile and two compared on a terminal: golden texts, and the width of the page.

A golden text is rewritten with `BLESS=1 pytest tests/report/server_profile`; read the difference before committing it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import server_record as make
from server_record import MS, SECOND

from dbdyno.analysis.server_profile import analyse
from dbdyno.analysis.server_profile.compare import compare_records
from dbdyno.report.server_profile import comparison, terminal

GOLDEN = Path(__file__).parent / "golden"
ACTIVE, IDLE, OPEN, READ = "active", "idle", "idle in transaction", "Client:ClientRead"
EVENTS = ["", "IO:WalSync", "IO:DataFileRead", "Lock:transactionid", READ, "Activity:WalWriterMain"]
ORDERS = "row (0,12) of public.orders, until transaction 741 ends"


def shop(seconds: int = 20, *, sync: int = 300) -> dict[str, Any]:
    """A web shop with a report beside it, a forgotten transaction, two waiters, and a WAL writer."""
    kinds = ["client backend"] * 5 + ["parallel worker", "walwriter"]
    elapsed = seconds * SECOND
    steps = []
    for at in range(seconds):
        vary = (at * 37) % 100
        cells = [
            [0, "11", ACTIVE, 1, sync + vary, 50, 48],
            [0, "11", ACTIVE, 0, 150, 40, 0],
            [0, None, IDLE, 4, 850 - sync - vary, 60, 59],
            [1, "22", ACTIVE, 2, 500 - vary, 50, 45],
            [1, "22", ACTIVE, 0, 500 + vary, 60, 0],
            [2, None, OPEN, 4, 1000, 30, 30],
            [3, "11", ACTIVE, 3, 1000, 30, 30],
            [4, "11", ACTIVE, 3, 700, 30, 30],
            [4, None, IDLE, 4, 300, 30, 30],
            [5, "22", ACTIVE, 2, 400, 30, 30],
            [5, "22", ACTIVE, 0, 400, 30, 0],
            [6, None, None, 5, 900, 30, 30],
            [6, None, None, 1, 100, 10, 10],
        ]
        clocks = [
            *([0, 150 * MS, 30 * MS], [1, 450 * MS, 90 * MS + vary * MS]),
            *([5, 350 * MS, 50 * MS], [6, 10 * MS, 2 * MS]),
        ]
        episodes = [[1, 60 + at % 7, 40], [2, 52, 200 + vary], [3, 90, 1]]
        steps.append(make.step(at, cells, clocks, episodes=episodes))
    processes = [
        make.process(100 + place, elapsed, backend_type=kind, leader_pid=101 if kind == "parallel worker" else None)
        for place, kind in enumerate(kinds)
    ]
    record = make.record(steps, processes, EVENTS, counters=counters(seconds))
    looks = [at * SECOND // 2 for at in range(2 * seconds)]
    record["sessions"] |= {
        "processes": [
            make.session(
                100 + at, elapsed, user="report" if at == 1 else "app", application="cron" if at == 1 else "web"
            )
            for at in range(5)
        ],
        "queries": [
            {"query_id": "11", "text": "UPDATE orders SET state = $1 WHERE id = $2"},
            {
                "query_id": "22",
                "text": "SELECT customer, sum(amount)\nFROM orders JOIN items USING (id) GROUP BY customer",
            },
            {"query_id": None, "text": "SELECT * FROM cart WHERE customer = 17"},
        ],
        "seen": [[at, 102, OPEN, READ, 2] for at in looks] + [[at, 103, ACTIVE, EVENTS[3], 0] for at in looks],
        "blocking": [[at, pid, [102], ORDERS] for at in looks for pid in (103, 104)],
    }
    return record


def counters(seconds: int) -> dict[str, Any]:
    """Reads of two relations and of two kinds of processes, and commits."""
    kind = {"object": "relation", "context": "normal"}

    def view(rows: list[dict[str, Any]]) -> dict[str, Any]:
        return {"rows_before": [], "rows_after": rows, "note": None}

    place = {"schemaname": "public", "tablespace": "pg_default"}
    return {
        "pg_stat_io": view(
            [
                {
                    "backend_type": "client backend",
                    **kind,
                    "reads": 4_000 * seconds,
                    "read_bytes": 8192 * 4_000 * seconds,
                },
                {
                    "backend_type": "walwriter",
                    "object": "wal",
                    "context": "normal",
                    "writes": 90,
                    "write_bytes": 4 << 20,
                },
            ]
        ),
        "pg_statio_user_tables": view(
            [
                {**place, "relid": 1, "relname": "orders", "heap_blks_read": 3_000 * seconds, "bytes": 1 << 30},
                {**place, "relid": 2, "relname": "items", "heap_blks_read": 1_000 * seconds, "bytes": 3 << 30},
            ]
        ),
        "pg_stat_database": view([{"datid": 5, "xact_commit": 400 * seconds}]),
        "pg_stat_statements": view(
            [{"userid": 10, "dbid": 5, "queryid": 11, "toplevel": True, "calls": 400 * seconds, "total_exec_time": 9e3}]
        ),
    }


def idle() -> dict[str, Any]:
    """Nobody does anything, for five seconds."""
    steps = [make.step(at, [[0, None, IDLE, 1, 1000, 50, 50]]) for at in range(5)]
    return make.record(steps, [make.process(7, 5 * SECOND)], ["", READ])


def over_sql() -> dict[str, Any]:
    """A server on another host, looked at ten times a second."""
    steps = [make.step(at, [[0, "5", ACTIVE, 0, 6, 0, 0], [0, "5", ACTIVE, 1, 4, 0, 0]], sweeps=10) for at in range(15)]
    processes = [make.process(7, 15 * SECOND, clock=None)]
    sampler = {"cpu_ns": 12 * MS, "cpu_ns_per_sweep": 80_000, "host_share": None, "budget": 0.01}
    return make.record(
        steps, processes, ["", "IO:DataFileRead"], route="sql", cpus=None, period_ns=100 * MS, sampler=sampler
    )


def check(name: str, text: str) -> None:
    """Against the golden text, which BLESS=1 rewrites."""
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("BLESS"):
        path.write_text(text)

    assert text == path.read_text()


@pytest.mark.parametrize(("name", "record"), [("shop", shop), ("idle", idle), ("over-sql", over_sql)])
def test_golden_profiles(name: str, record: Callable[[], dict[str, Any]]) -> None:
    """The whole text, and no line is wider than the page."""
    text = terminal.render(analyse(record()), directory=f"dbdyno-profiles/{name}")

    check(name, text)
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("name", "records"),
    [("faster-disk", (shop(), shop(sync=100))), ("the-same", (shop(), shop())), ("other-route", (idle(), over_sql()))],
)
def test_golden_comparisons(name: str, records: tuple[dict[str, Any], dict[str, Any]]) -> None:
    """What moved, what did not, and what limits it."""
    text = comparison.render(compare_records(*records))

    check(name, text)
    assert max(map(len, text.splitlines())) <= 80


def test_no_letter_beyond_ascii_is_needed() -> None:
    """Whatever the terminal's encoding, the report can be printed."""
    assert terminal.render(analyse(shop())).isascii()


def test_a_wider_terminal_has_a_finer_chart() -> None:
    """The chart over time takes the room there is, the tables stay at 80 columns."""
    record = shop(seconds=120)

    assert "a letter = 3.00 s" in terminal.render(analyse(record), 80)
    assert "a letter = 1.00 s" in terminal.render(analyse(record), 160)
