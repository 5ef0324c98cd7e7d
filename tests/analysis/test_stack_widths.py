"""Stacks become as wide as the time they stand for, to the microsecond."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbdyno.analysis.common_stack import deepest_common, wilson
from dbdyno.analysis.findings.stacks import Stacks
from dbdyno.analysis.stacks import stacks_of, whole

ROOT = ["_start", "main", "ServerLoop", "postmaster_child_launch", "BackendMain", "PostgresMain"]


def record(stacks: list[tuple[str, str | None, list[str], int]], **changes: Any) -> dict[str, Any]:
    """An outcome of `record_stacks` with these (kind, event, functions below PostgresMain, count)."""
    frames = list(dict.fromkeys([*ROOT, *(name for _, _, names, _ in stacks for name in names)]))
    rows = [[7, kind, event, [frames.index(name) for name in [*ROOT, *names]], n] for kind, event, names, n in stacks]
    return {
        **{"format": 1, "route": "perf", "note": None, "frequency_hz": 99, "elapsed_ns": 10**9, "pause_ns": None},
        **{"kernel": {"seen": True, "share": 0.25}, "recorder_cpu_ns": 1, "frames": frames, "stacks": rows, "lost": 0},
        **changes,
    }


def found(records: list[dict[str, Any]], parts: dict[str, float]) -> Stacks:
    """The stacks, which there must be."""
    stacks = stacks_of(records, parts)
    assert stacks is not None
    return stacks


def by_name(stacks: Stacks) -> dict[str, int]:
    """Width of each stack, its functions joined."""
    return {";".join(stacks.frames[at] for at in frames): us for frames, us in stacks.widths}


def test_counts_divide_the_exact_times() -> None:
    """CPU stacks share the CPU time, wait stacks the time of their event; the event is the leaf."""
    seen = record(
        [("cpu", None, ["ExecSort"], 3), ("cpu", None, ["ExecHash"], 1), ("wait", "IO:WalSync", ["XLogFlush"], 9)]
    )

    stacks = found(
        [seen], {"cpu": 8_000_000.0, "IO:WalSync": 2_000_000.0, "run_queue": 1_000_000.0, "unaccounted": -5e3}
    )

    assert by_name(stacks) == {
        "BackendMain;PostgresMain;ExecSort": 6000,
        "BackendMain;PostgresMain;ExecHash": 2000,
        "BackendMain;PostgresMain;XLogFlush;IO:WalSync": 2000,
        "[run queue]": 1000,
    }
    assert stacks.total_us == 11_000
    assert stacks.left_out == ["unaccounted: below zero"]
    assert (stacks.cpu_snapshots, stacks.wait_snapshots) == (4, 9)
    assert [(each.function, each.self_us) for each in stacks.hottest] == [("ExecSort", 6000), ("ExecHash", 2000)]


def test_waiting_for_the_client_is_one_part() -> None:
    """ClientRead and ClientWrite share the time of client and network; sleep without an event is a leaf, too."""
    seen = record(
        [
            ("wait", "Client:ClientRead", ["secure_read"], 3),
            ("wait", "Client:ClientWrite", ["secure_write"], 1),
            ("wait", "", ["pg_usleep"], 1),
        ]
    )

    stacks = found([seen], {"client_and_network": 4_000_000.0, "asleep_no_wait_event": 1_000_000.0})

    assert by_name(stacks) == {
        "BackendMain;PostgresMain;secure_read;Client:ClientRead": 3000,
        "BackendMain;PostgresMain;secure_write;Client:ClientWrite": 1000,
        "BackendMain;PostgresMain;pg_usleep;[no wait event]": 1000,
    }


def test_time_in_the_kernel_without_stacks_is_a_frame_of_its_own() -> None:
    """Where the kernel lets nobody look into it, its share of the CPU time is not given to the functions seen."""
    seen = record([("cpu", None, ["ExecSort"], 3)], kernel={"seen": False, "share": 0.25})

    assert by_name(found([seen], {"cpu": 8_000_000.0})) == {
        "BackendMain;PostgresMain;ExecSort": 6000,
        "[kernel, no stacks]": 2000,
    }


def test_a_part_without_stacks_is_still_as_wide_as_its_time() -> None:
    """No time is lost for want of a stack."""
    stacks = found([record([])], {"cpu": 3_000_000.0, "LWLock:WALWrite": 1_000_000.0})

    assert by_name(stacks) == {"[CPU, no stacks]": 3000, "LWLock:WALWrite": 1000}


@given(st.lists(st.floats(min_value=0, max_value=1e12), min_size=1, max_size=50))
def test_widths_add_up_to_the_rounded_sum(widths: list[float]) -> None:
    """Whatever rounding loses is given back, and no width is off by a microsecond or more."""
    named = {(str(place),): ns for place, ns in enumerate(widths)}

    rounded = whole(named)

    assert sum(rounded.values()) == round(sum(widths) / 1e3)
    assert all(abs(rounded[stack] - ns / 1e3) < 1.01 for stack, ns in named.items())


def test_the_same_stack_in_nearly_all_snapshots() -> None:
    """The deepest beginning that nine of ten share is found, with its share and interval."""
    common = deepest_common(
        "cpu",
        {
            ("PostgresMain", "ExecHashJoin", "ExecScanHashBucket"): 200,
            ("PostgresMain", "ExecHashJoin", "MultiExecHash"): 91,
            ("PostgresMain", "planner"): 9,
        },
    )

    assert common is not None
    assert common.functions == ["PostgresMain", "ExecHashJoin"]
    assert (common.snapshots, common.of, common.share.estimate) == (291, 300, 0.97)
    assert common.share.low == pytest.approx(0.944, abs=0.001)
    assert common.share.high == pytest.approx(0.984, abs=0.001)


def test_what_every_session_is_in_is_no_finding() -> None:
    """A stack that ends in the session's loop says nothing, and a few snapshots say little."""
    assert (
        deepest_common("cpu", {("BackendMain", "PostgresMain", "a"): 50, ("BackendMain", "PostgresMain", "b"): 50})
        is None
    )
    assert deepest_common("cpu", {("PostgresMain", "ExecSort"): 49}) is None


def test_wilson_interval() -> None:
    """263 of 281 is 0.9009 to 0.9591, worked out by hand from the formula; and ten of ten is not certain."""
    assert wilson(263, 281) == pytest.approx((0.9009, 0.9591), abs=2e-4)
    assert wilson(10, 10) == pytest.approx((0.7225, 1.0), abs=1e-4)
