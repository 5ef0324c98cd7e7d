"""A machine beside its own past: what counts as slower, what is compared with what, and what is kept."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dbdyno.runner.fingerprint import COMPARED, KEPT, changes, fingerprint, usual_figures

HERE = {"host": "here", "device": "vda", "file_system": "ext4"}
ONCE = {**HERE, "cpu_ns_per_kib": 1000.0, "memory_ns_per_kib": 130.0, "flush_time_ns_p50": 800_000}


def history(count: int = 6, **changed: Any) -> list[dict[str, Any]]:
    """Earlier fingerprints that vary by 2 % around the same."""
    return [{**ONCE, "cpu_ns_per_kib": 1000.0 * (1 + 0.02 * (number % 3 - 1)), **changed} for number in range(count)]


def warned(current: dict[str, Any], kept: list[dict[str, Any]]) -> list[str]:
    """The messages about `current`."""
    return [warning["message"] for warning in changes(current, usual_figures(current, kept))]


@pytest.mark.parametrize(
    ("figure", "factor", "said"),
    [
        ("cpu_ns_per_kib", 2.0, "the CPU takes 2.0 times as long"),
        ("memory_ns_per_kib", 1.6, "copying memory takes 1.6 times as long"),
        ("flush_time_ns_p50", 2.1, "a flush takes 2.1 times as long"),
    ],
)
def test_a_machine_that_lost_its_speed_is_said(figure: str, factor: float, said: str) -> None:
    """Half of the clock, more than a third of the memory's speed, flushes of twice the length."""
    [message] = warned({**ONCE, figure: ONCE[figure] * factor}, history())

    assert message == (
        f"this machine is slower than it was: {said} as in the median of its last 6 runs; "
        "do not compare with runs of then, and find out what has changed"
    )


@pytest.mark.parametrize(
    ("figure", "factor"),
    [("cpu_ns_per_kib", 1.45), ("cpu_ns_per_kib", 0.5), ("memory_ns_per_kib", 1.45), ("flush_time_ns_p50", 1.95)],
)
def test_what_machines_do_from_day_to_day_is_not_said(figure: str, factor: float) -> None:
    """Less than the limits, and faster."""
    assert warned({**ONCE, figure: ONCE[figure] * factor}, history()) == []


def test_two_earlier_runs_are_too_few() -> None:
    """Which of them was the odd one?"""
    slow = {**ONCE, "cpu_ns_per_kib": 5000.0}

    assert warned(slow, history(2)) == []
    assert len(warned(slow, history(3))) == 1


def test_flushes_are_compared_on_the_same_storage_only() -> None:
    """Another disk is another disk; the CPU is the same whatever the disk."""
    slow = {**ONCE, "cpu_ns_per_kib": 2000.0, "flush_time_ns_p50": 8_000_000}

    [message] = warned(slow, history(device="sda"))

    assert "the CPU takes" in message
    assert "flush" not in message
    assert warned(slow, history(host="elsewhere")) == []


def test_the_latest_runs_are_the_measure() -> None:
    """A machine that has been slow for twenty runs is what it is."""
    slow = {**ONCE, "cpu_ns_per_kib": 3000.0}

    assert warned(slow, [*history(50), *[slow] * COMPARED]) == []
    assert len(warned(slow, [*history(50), *[slow] * (COMPARED // 2 - 1)])) == 1


def test_it_is_kept_and_compared_next_time(tmp_path: Path) -> None:
    """The last 200; each record has what was usual before it."""
    environment = {"DBDYNO_STATE_DIR": str(tmp_path)}
    servers: Any = SimpleNamespace(all=[SimpleNamespace(data_directory=tmp_path)])
    taken = [fingerprint(servers, {"flush_time_ns_p50": flush_ns}, environment) for flush_ns in [1000] * 3 + [2001]]
    kept = json.loads((tmp_path / "fingerprints.json").read_text())["fingerprints"]

    assert [one.record["usual"] for one in taken[:3]] == [{}] * 3
    assert taken[3].record["usual"]["flush_time_ns_p50"] == {"median": 1000.0, "earlier": 3}
    assert [warning["code"] for warning in taken[3].warnings] == ["machine_changed"]
    assert [one["flush_time_ns_p50"] for one in kept] == [1000, 1000, 1000, 2001]

    (tmp_path / "fingerprints.json").write_text(json.dumps({"format": 1, "fingerprints": [ONCE] * KEPT}))
    fingerprint(servers, {}, environment)
    kept = json.loads((tmp_path / "fingerprints.json").read_text())["fingerprints"]

    assert len(kept) == KEPT
    assert "flush_time_ns_p50" not in kept[-1]


@pytest.mark.parametrize("text", ["", '{"format": 1}', '{"format": 1, "fingerprints": [3, {"host": null}]}'])
def test_a_damaged_history_and_no_place_to_keep_it_stop_no_run(tmp_path: Path, text: str) -> None:
    """What cannot be read is no history; what cannot be written is not kept."""
    (tmp_path / "fingerprints.json").write_text(text)
    (tmp_path / "file").write_text("")
    servers: Any = SimpleNamespace(all=[SimpleNamespace(data_directory=None)])

    for directory in (tmp_path, tmp_path / "file" / "below"):
        taken = fingerprint(servers, {}, {"DBDYNO_STATE_DIR": str(directory)})

        assert taken.warnings == []
        assert taken.record["usual"] == {}
