"""The live view's state: steps, sessions and keys in, exact figures out."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from dbdyno.analysis.live_profile import LiveState
from dbdyno.analysis.live_view import BlockedLine, Line, LiveView


@dataclasses.dataclass(frozen=True)
class FakeSession:
    """A row of pg_stat_activity."""

    pid: int
    user: str | None = "app"
    application: str | None = "shop"
    query_id: str | None = None
    query: str | None = None
    state: str | None = "active"
    wait: str | None = None


def step(
    cells: list[list[Any]], clocks: list[list[Any]] | None = None, sweeps: int = 100, **new: Any
) -> dict[str, Any]:
    """A step of a watch."""
    return {"sweeps": sweeps, "cells": cells, "clocks": clocks or [], **new}


def process(pid: int, **more: Any) -> dict[str, Any]:
    """A process of a watch."""
    return {"pid": pid, "backend_type": "client backend", "leader_pid": None, **more}


def two_sessions() -> LiveState:
    """Process 0 computes and flushes for query 7, process 1 waits for a lock in query 8, 2 is in a transaction."""
    state = LiveState(cpus=2)
    state.take_step(
        step(
            [
                [0, "7", "active", 0, 60, 10, 0],  # no event, never asleep: runnable
                [0, "7", "active", 1, 40, 10, 5],  # a flush, asleep in half of the looks
                [1, "8", "active", 2, 100, 20, 20],
                [2, "9", "idle in transaction", 3, 100, 5, 5],
                [3, None, "idle", 3, 100, 5, 5],
                [4, None, None, 4, 100, 5, 5],  # a background process
            ],
            [[0, 600_000_000, 200_000_000]],
            processes=[*(process(pid) for pid in (100, 101, 102, 103)), process(104, backend_type="walwriter")],
            events=["IO:WalSync", "Lock:transactionid", "Client:ClientRead", "Activity:WalWriterMain"],
        )
    )
    return state


def figures(view: LiveView, table: int) -> list[tuple[str, float, int, str]]:
    """A table's lines without shares."""
    return [(line.name, pytest.approx(line.sessions), line.snapshots, line.beside) for line in view.tables[table].lines]


def test_time_is_divided_by_looks_and_by_clocks() -> None:
    """0.6 + half of 0.4 sessions were runnable, three quarters of that on a CPU; the others asleep in their events."""
    view = two_sessions().view()

    assert view.active_sessions == pytest.approx(2.0)
    assert view.idle_in_transaction == pytest.approx(1.0)
    assert dict(view.classes) == pytest.approx({"Lock": 1.0, "CPU": 0.6, "run queue": 0.2, "IO": 0.2})
    assert figures(view, 0) == [
        ("Lock:transactionid", 1.0, 100, "query 8"),
        ("CPU", 0.6, 60, "query 7"),
        ("IO:WalSync", 0.2, 20, "query 7"),
        ("run queue", 0.2, 20, "query 7"),
    ]
    assert figures(view, 1) == [("query 7", 1.0, 100, "CPU"), ("query 8", 1.0, 100, "Lock:transactionid")]
    assert [line.share for line in view.tables[1].lines] == pytest.approx([0.5, 0.5])


def test_without_looks_there_is_no_clock() -> None:
    """Over SQL nobody looks whether a process sleeps: an event is what it says, none is neither CPU nor sleep."""
    state = LiveState(cpus=None)
    cells = [[0, None, "active", 0, 30, 0, 0], [0, None, "active", 1, 70, 0, 0]]
    state.take_step(step(cells, processes=[process(1)], events=["IO:DataFileRead"]))

    assert dict(state.view().classes) == pytest.approx({"IO": 0.7, "no clock": 0.3})
    assert [line.name for line in state.view().tables[1].lines] == ["(no query id)"]


def test_a_step_without_looks_at_an_event_takes_the_earlier_ones() -> None:
    """The share asleep of the step before: half of them."""
    state = two_sessions()
    state.take_step(step([[0, "7", "active", 1, 100, 0, 0]], [[0, 1, 0]]))

    assert dict(state.view().classes) == pytest.approx({"CPU": 0.5, "IO": 0.5})


def test_a_session_whose_state_is_not_known_is_active_unless_its_client_is_waited_for() -> None:
    """And a parallel worker's time is its leader's."""
    state = LiveState(cpus=2)
    new = [process(1), process(2, backend_type="parallel worker", leader_pid=1), process(3)]
    cells = [[0, "7", None, 1, 100, 1, 1], [1, "7", None, 1, 50, 1, 1], [2, None, None, 2, 100, 1, 1]]
    state.take_step(step(cells, processes=new, events=["IPC:ParallelFinish", "Client:ClientRead"]))
    state.press("down")
    state.press("enter")

    assert state.view().active_sessions == pytest.approx(1.5)
    assert figures(state.view(), 0) == [("1", 1.5, 150, "query 7")]


def test_tables_cover_five_steps_and_the_course_sixty() -> None:
    """And the bar only the last."""
    state = LiveState(cpus=2)
    new: dict[str, Any] = {"processes": [process(1)], "events": ["IO:WalSync"]}
    for number in range(70):
        seen = 100 if number >= 68 else 0
        state.take_step(step([[0, None, "active", 1, seen, 1, 1]], **(new if number == 0 else {})))
    view = state.view()

    assert (view.steps, view.window_steps, len(view.course)) == (70, 5, 60)
    assert view.course[-3:] == (0.0, 1.0, 1.0)
    assert view.tables[0].lines == (Line("IO:WalSync", "IO:WalSync", 0.4, 1.0, 200, "(no query id)"),)


def test_a_stopped_picture_stays_and_the_watch_goes_on() -> None:
    """Space stops, space goes on with all that came meanwhile."""
    state = two_sessions()
    state.press("space")
    stopped = state.view()
    state.take_step(step([[1, "8", "active", 2, 50, 20, 20]]))

    assert stopped.paused
    assert state.view() == stopped
    state.press("space")
    assert state.view().steps == 2
    assert state.view().active_sessions == pytest.approx(0.5)


def test_s_sorts_by_snapshots_then_by_name() -> None:
    """And again by time."""
    state = two_sessions()
    state.press("s")
    assert (state.view().sort, state.view().tables[0].lines[0].name) == (
        "snapshots",
        "Lock:transactionid",
    )
    state.press("s")
    assert [line.name for line in state.view().tables[0].lines] == [
        "CPU",
        "IO:WalSync",
        "Lock:transactionid",
        "run queue",
    ]
    state.press("s")
    assert state.view().sort == "time"


def test_enter_looks_into_an_event_and_back() -> None:
    """Who was found in it and in which queries; then the same line is chosen as before."""
    state = two_sessions()
    state.take_sessions([FakeSession(100, query_id="7", query="UPDATE  t\nSET x = 1")], {})
    state.press("down")
    state.press("down")
    state.press("enter")
    view = state.view()

    assert view.into == "CPU"
    assert figures(view, 0) == [("100 app shop", 0.6, 60, "UPDATE t SET x = 1")]
    assert figures(view, 1) == [("UPDATE t SET x = 1", 0.6, 60, "")]
    state.press("left")
    assert state.view().into is None
    assert [line.name for line in state.view().tables[0].lines if line.selected] == ["CPU"]


def test_a_query_is_looked_into_from_the_second_table() -> None:
    """Up from nothing chooses the last line; beyond the ends the choice stays."""
    state = two_sessions()
    state.press("up")
    state.press("down")
    state.press("enter")
    view = state.view()

    assert view.into == "query 8"
    assert figures(view, 0) == [("101", 1.0, 100, "Lock:transactionid")]
    assert figures(view, 1) == [("Lock:transactionid", 1.0, 100, "")]


def test_who_waits_for_whom_is_a_tree() -> None:
    """The root first, its waiters below it, those with more behind them first."""
    state = two_sessions()
    sessions = [
        FakeSession(1, state="idle in transaction"),
        FakeSession(2, wait="Lock:transactionid"),
        FakeSession(3, wait="Lock:tuple"),
        FakeSession(4, user="report", application=None, wait="Lock:transactionid"),
    ]
    state.take_sessions(sessions, {2: ([1], "row (0,1) of t"), 3: ([2], "row (0,1) of t"), 4: ([1], None)})

    assert state.view().blocked == (
        BlockedLine(0, 1, "app shop", "idle in transaction", None, 3),
        BlockedLine(1, 2, "app shop", "active, Lock:transactionid", "row (0,1) of t", 1),
        BlockedLine(2, 3, "app shop", "active, Lock:tuple", "row (0,1) of t", 0),
        BlockedLine(1, 4, "report", "active, Lock:transactionid", None, 0),
    )


def test_a_ring_of_waiters_ends() -> None:
    """A deadlock that is not yet broken has no root, and nothing hangs."""
    state = two_sessions()
    state.take_sessions([FakeSession(1), FakeSession(2)], {1: ([2], None), 2: ([1], None)})

    assert state.view().blocked == ()


def test_an_empty_watch_has_a_view() -> None:
    """Before the first step, and with keys pressed."""
    state = LiveState(cpus=None)
    for key in ("down", "enter", "left", "x"):
        state.press(key)

    assert state.view().active_sessions == 0.0
    assert not state.ended
    state.press("q")
    assert state.ended
