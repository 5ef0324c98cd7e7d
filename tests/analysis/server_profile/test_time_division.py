"""Exact clocks divided by what snapshots saw: by hand where possible, and against sessions whose lives are known."""

from __future__ import annotations

import json
from typing import Any

import pytest
import server_record as make
from hypothesis import given, settings
from hypothesis import strategies as st
from server_record import MS, SECOND, Life, Stretch

from dbdyno.analysis.server_profile import analyse, as_document

ACTIVE, IDLE, OPEN = "active", "idle", "idle in transaction"
READ = "Client:ClientRead"


def watched(cells: list[list[Any]], clocks: list[list[Any]], events: list[str], **more: Any) -> dict[str, Any]:
    """One client for a second of 1000 sweeps."""
    step = make.step(0, cells, clocks)
    return make.record([step], [make.process(7, SECOND, **more)], events)


def test_exact_times_are_divided_by_what_was_seen() -> None:
    """A client active all along: CPU and run queue as the clocks say, sleep by snapshots that were looked at."""
    events = ["", "IO:WalSync", "LWLock:WALWrite"]
    cells = [
        [0, "5", ACTIVE, 0, 400, 400, 0],
        [0, "5", ACTIVE, 1, 450, 400, 400],
        [0, "5", ACTIVE, 2, 150, 100, 100],
    ]
    profile = analyse(watched(cells, [[0, 300 * MS, 100 * MS]], events))

    assert profile.database_time_ns.estimate == SECOND
    assert profile.profile_ns.cpu == pytest.approx(300 * MS)
    assert profile.profile_ns.run_queue == pytest.approx(100 * MS)
    assert profile.profile_ns.waits["IO:WalSync"] == pytest.approx(450 * MS, rel=3e-3)
    assert profile.profile_ns.waits["LWLock:WALWrite"] == pytest.approx(150 * MS, rel=5e-3)
    assert profile.profile_ns.unaccounted == pytest.approx(0, abs=1)


def test_an_event_is_not_charged_with_time_awake() -> None:
    """Half of the looks at an event found the task awake: the event gets the exact sleep, no more."""
    cells = [[0, "5", ACTIVE, 1, 1000, 1000, 500]]
    profile = analyse(watched(cells, [[0, 200 * MS, 300 * MS]], ["", "IO:WalSync"]))

    assert profile.profile_ns.waits == {"IO:WalSync": pytest.approx(500 * MS)}
    assert (profile.profile_ns.cpu, profile.profile_ns.run_queue) == (pytest.approx(200 * MS), pytest.approx(300 * MS))


def test_the_cpu_of_a_session_goes_where_it_was_seen_runnable() -> None:
    """Active a tenth of the time, half of it computing; idle, awake in 1 of 900 looks: most CPU is active time."""
    cells = [
        [0, "5", ACTIVE, 0, 100, 100, 50],
        [0, None, IDLE, 1, 900, 900, 899],
    ]
    profile = analyse(watched(cells, [[0, 51 * MS, 0]], ["", READ]))

    assert profile.profile_ns.cpu == pytest.approx(50 * MS, rel=0.02)
    assert profile.idle_cpu_ns is not None
    assert profile.idle_cpu_ns.estimate == pytest.approx(1 * MS, rel=0.6)
    assert profile.profile_ns.asleep_no_wait_event == pytest.approx(50 * MS, rel=0.02)


def test_idle_in_transaction_stands_apart() -> None:
    """It is no database time, and the client that is waited for in it is not in client and network."""
    cells = [[0, "5", ACTIVE, 1, 100, 100, 100], [0, None, OPEN, 1, 500, 100, 100], [0, None, IDLE, 1, 400, 9, 9]]
    profile = analyse(watched(cells, [[0, 0, 0]], ["", READ]))

    assert profile.database_time_ns.estimate == pytest.approx(100 * MS)
    assert profile.profile_ns.client_and_network == pytest.approx(100 * MS, rel=0.01)
    assert profile.idle_in_transaction_ns.estimate == pytest.approx(500 * MS)


def test_a_process_that_used_nothing_has_clocks_all_the_same() -> None:
    """Steps leave out processes without CPU time; their sleep is exact."""
    profile = analyse(watched([[0, "5", ACTIVE, 1, 1000, 10, 10]], [], ["", "Lock:tuple"]))

    assert profile.profile_ns.waits == {"Lock:tuple": pytest.approx(SECOND)}
    assert profile.profile_ns.cpu == 0


def test_without_clocks_cpu_is_unknown_not_zero() -> None:
    """Over SQL from another host: waits as seen; no event may be CPU, queue or sleep, and is called neither."""
    cells = [[0, "5", ACTIVE, 0, 600, 0, 0], [0, "5", ACTIVE, 1, 400, 0, 0]]
    profile = analyse(watched(cells, [], ["", "IO:WalSync"], clock=None))

    assert (profile.profile_ns.cpu, profile.profile_ns.run_queue, profile.idle_cpu_ns) == (None, None, None)
    assert profile.profile_ns.no_clock == pytest.approx(600 * MS)
    assert profile.profile_ns.waits == {"IO:WalSync": pytest.approx(400 * MS)}
    assert profile.profile_ns.unaccounted == pytest.approx(0, abs=1)


def test_workers_count_for_their_leader_and_io_workers_for_nobody() -> None:
    """Three processes work on one query: leader and worker are database time of one session, the I/O worker is not."""
    processes = [
        make.process(7, SECOND),
        make.process(8, SECOND, backend_type="parallel worker", leader_pid=7),
        make.process(9, SECOND, backend_type="io worker"),
    ]
    cells = [
        [0, "5", ACTIVE, 1, 1000, 100, 100],
        [1, "5", ACTIVE, 1, 500, 100, 100],
        [2, None, None, 2, 800, 100, 100],
        [2, None, None, 3, 200, 100, 100],
    ]
    events = ["", "IO:AioIoCompletion", "IO:DataFileRead", "Activity:IoWorkerMain"]
    record = make.record([make.step(0, cells, [[0, 0, 0], [1, 0, 0], [2, 0, 0]])], processes, events)
    record["sessions"]["processes"] = [make.session(7, SECOND, user="ann")]
    profile = analyse(record)

    assert profile.database_time_ns.estimate == pytest.approx(1500 * MS)
    assert profile.profile_ns.waits == {"IO:AioIoCompletion": pytest.approx(1500 * MS)}
    assert [(one.name, one.ns.estimate) for one in profile.by_user] == [("ann", pytest.approx(1500 * MS))]
    assert [(one.pid, one.parallel_workers) for one in profile.by_session] == [(7, 1)]
    assert [(one.name, one.ns.estimate) for one in profile.by_backend_type] == [
        ("client backend", pytest.approx(SECOND)),
        ("parallel worker", pytest.approx(500 * MS)),
    ]
    assert [(one.backend_type, one.busy.estimate) for one in profile.background] == [("io worker", pytest.approx(0.8))]


SHORT = Life(
    [
        Stretch(ACTIVE, "1", "", "cpu", 0.2 * MS),
        Stretch(ACTIVE, "1", "IO:WalSync", "sleep", 0.8 * MS),
        Stretch(ACTIVE, "1", "IO:WalSync", "cpu", 0.05 * MS),
        Stretch(IDLE, None, "", "cpu", 0.02 * MS),
        Stretch(IDLE, None, READ, "sleep", 3 * MS),
    ]
)
LONG = Life(
    [
        Stretch(ACTIVE, "2", "", "cpu", 50 * MS),
        Stretch(ACTIVE, "2", "IO:DataFileRead", "sleep", 30 * MS),
        Stretch(ACTIVE, "2", "", "queue", 10 * MS),
        Stretch(IDLE, None, READ, "sleep", 100 * MS),
    ]
)
SLEEPY = Life(
    [
        Stretch(ACTIVE, None, "", "sleep", 5 * MS),
        Stretch(ACTIVE, None, "", "cpu", 1 * MS),
        Stretch(ACTIVE, None, "Lock:transactionid", "sleep", 4 * MS),
        Stretch(OPEN, None, READ, "sleep", 10 * MS),
    ]
)


def test_known_lives_are_found_again() -> None:
    """Ten sessions of three kinds for 20 s: each part of each kind within 3 % of its kind's time."""
    record, truth = make.simulate([SHORT] * 4 + [LONG] * 3 + [SLEEPY] * 3)
    profile = analyse(record)

    for query in profile.by_query:
        known = {part: ns for (name, state, part), ns in truth.items() if (name, state) == (query.query_id, ACTIVE)}
        whole = sum(known.values())
        assert query.ns.estimate == pytest.approx(whole, rel=0.03)
        for part, ns in query.profile_ns.parts().items():
            assert ns == pytest.approx(known.get(part, 0), abs=0.03 * whole), (query.query_id, part)
    assert abs(profile.profile_ns.unaccounted) < 0.01 * profile.database_time_ns.estimate
    opened = sum(ns for (_, state, _), ns in truth.items() if state == OPEN)
    assert profile.idle_in_transaction_ns.estimate == pytest.approx(opened, rel=0.03)


def test_cpu_of_rarely_active_sessions_is_not_lost_to_idleness() -> None:
    """Active 2 % of the time and looked at 20 times a second: many steps see no activity, the CPU is still found."""
    rare = Life(
        [
            Stretch(ACTIVE, "1", "", "cpu", 10 * MS),
            Stretch(ACTIVE, "1", "IO:DataFileRead", "sleep", 10 * MS),
            Stretch(IDLE, None, READ, "sleep", 980 * MS),
        ]
    )
    record, truth = make.simulate([rare] * 20, seconds=40, period_ns=50 * MS, looks=20)
    profile = analyse(record)

    assert profile.profile_ns.cpu == pytest.approx(truth["1", ACTIVE, "cpu"], rel=0.15)


@st.composite
def records(draw: st.DrawFn) -> dict[str, Any]:
    """Any watch that could be: some processes, states, events; clocks or none."""
    kinds = draw(st.lists(st.sampled_from(["client backend", "parallel worker", "walwriter"]), min_size=1, max_size=4))
    clocks = [draw(st.booleans()) for _ in kinds]
    steps = []
    for number in range(draw(st.integers(1, 14))):
        cells: dict[tuple[Any, ...], list[int]] = {}
        for process, kind in enumerate(kinds):
            left = 100
            while left and draw(st.booleans()):
                state = draw(st.sampled_from([ACTIVE, IDLE, OPEN, None])) if kind != "walwriter" else None
                key = (process, draw(st.sampled_from([None, "1", "2"])), state, draw(st.integers(0, 2)))
                seen = draw(st.integers(1, left))
                looked = draw(st.integers(0, seen))
                cells.setdefault(key, [seen, looked, draw(st.integers(0, looked))])
                left -= seen
        ticks = [
            [process, draw(st.integers(0, 5 * 10**8)), draw(st.integers(0, 6 * 10**8))]
            for process, has_clock in enumerate(clocks)
            if has_clock
        ]
        steps.append(make.step(number, [[*key, *counts] for key, counts in cells.items()], ticks, sweeps=100))
    elapsed = steps[-1]["to_ns"]
    processes = [
        make.process(7 + at, elapsed, backend_type=kind, clock="schedstat" if clock else None)
        for at, (kind, clock) in enumerate(zip(kinds, clocks, strict=True))
    ]
    return make.record(steps, processes, ["", "IO:WalSync", READ])


@settings(max_examples=40, deadline=None)
@given(records())
def test_parts_add_up_and_none_is_negative(record: dict[str, Any]) -> None:
    """The identity, for the whole and for every breakdown; intervals hold their estimates."""
    profile = analyse(record)
    total = profile.database_time_ns.estimate

    def close(ns: float, expected: float) -> bool:
        return abs(ns - expected) <= 1 + 1e-9 * total

    assert close(profile.profile_ns.total, total)
    for name in ("by_query", "by_user", "by_application", "by_database", "by_backend_type", "by_session"):
        entries = getattr(profile, name)
        assert close(sum(entry.ns.estimate for entry in entries), total), name
        assert all(close(entry.profile_ns.total, entry.ns.estimate) for entry in entries), name
    parts = {part: ns for part, ns in profile.profile_ns.parts().items() if part != "unaccounted"}
    assert all(ns >= 0 for ns in parts.values())
    for part in profile.parts:
        assert part.ns.low is None or part.ns.low <= part.ns.estimate <= (part.ns.high or 0.0)


@pytest.mark.parametrize("steps", [[], [make.step(0, [])], [make.step(at, [], sweeps=0) for at in range(13)]])
def test_nothing_seen_is_nothing_told(steps: list[dict[str, Any]]) -> None:
    """No steps, no processes, no sweeps, nothing but the watch: a profile of nothing, and no NaN in it."""
    record = make.record(steps, [make.process(1, SECOND)] if len(steps) > 1 else [], [""])
    for key in ("sessions", "counters", "server", "target", "stacks"):
        profile = analyse(record)
        json.dumps(as_document(profile), allow_nan=False)
        assert profile.database_time_ns.estimate == 0
        record[key] = None
