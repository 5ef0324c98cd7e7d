"""The bootstrap of a profile: intervals that hold what they promise, and ranks that are earned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import server_record as make
from server_record import MS, SECOND, Life, Stretch

from dbdyno.analysis.server_profile import analyse
from dbdyno.analysis.server_profile.analyse import times
from dbdyno.analysis.server_profile.findings import Bootstrap
from dbdyno.analysis.server_profile.resample import Draws

ACTIVE = "active"
EVENTS = ["", "IO:WalSync", "LWLock:WALWrite", "Lock:tuple"]


def steps_of(counts: list[tuple[int, int, int]]) -> dict[str, Any]:
    """One client whose snapshots of each step are divided so among three events."""
    steps = [
        make.step(at, [[0, "1", ACTIVE, event + 1, seen, 9, 9] for event, seen in enumerate(step) if seen], [[0, 0, 0]])
        for at, step in enumerate(counts)
    ]
    return make.record(steps, [make.process(7, len(counts) * SECOND)], EVENTS)


def test_what_varies_together_is_told_apart_all_the_same() -> None:
    """One event is always a fifth more than another: their intervals overlap, their difference does not hold 0."""
    profile = analyse(steps_of([(600, 500, 0) if at % 2 else (120, 100, 0) for at in range(24)]))
    first, second = profile.waits

    assert first.ns.low is not None
    assert second.ns.high is not None
    assert first.ns.low < second.ns.high
    assert (first.rank_group, second.rank_group) == (1, 2)


def test_events_that_cannot_be_told_apart_share_a_rank() -> None:
    """Two that take turns at being the greater; the third is less beyond doubt."""
    random = np.random.default_rng(3)
    profile = analyse(steps_of([(int(a), 800 - int(a), 10) for a in random.integers(100, 700, 24)]))

    assert [wait.rank_group for wait in profile.waits] == [1, 1, 2]


def test_the_same_record_gives_the_same_intervals() -> None:
    """The draws come from a fixed seed."""
    record = steps_of([(at * 10, 50, 50) for at in range(15)])

    assert analyse(record) == analyse(record)


@pytest.mark.parametrize(
    ("steps", "unit"), [(1, "none"), (8, "processes in steps"), (12, "steps"), (60, "steps"), (600, "steps")]
)
def test_what_is_drawn_depends_on_the_length(steps: int, unit: str) -> None:
    """Steps where there are enough of them, never more than 60 units; too short a profile has no interval."""
    profile = analyse(steps_of([(100, 100, 0)] * steps))

    assert profile.bootstrap.unit == unit
    assert profile.bootstrap.units <= 60
    assert (profile.database_time_ns.low is None) == (unit == "none")
    assert any(warning.code == "short" for warning in profile.warnings) == (steps < 12)


def test_short_profiles_have_wider_intervals() -> None:
    """Percentiles are widened for few units as t is against z: 30 units nearly 2.5 %, 6 much less."""
    tails = [Draws(np.zeros(0), np.ones((1, 1)), Bootstrap("steps", units, 1, 400)).tail for units in (6, 30, 1000)]

    assert tails == [pytest.approx(0.0024, abs=2e-4), pytest.approx(0.0188, abs=2e-4), pytest.approx(0.025, abs=3e-4)]


LIFE = Life(
    [
        Stretch(ACTIVE, "1", "", "cpu", 20 * MS),
        Stretch(ACTIVE, "1", "IO:WalSync", "sleep", 30 * MS),
        Stretch(ACTIVE, "1", "LWLock:WALWrite", "sleep", 25 * MS),
        Stretch("idle", None, "Client:ClientRead", "sleep", 125 * MS),
    ]
)


def coverage(repeats: int, seconds: int, sessions: int = 3) -> dict[str, float]:
    """How often the intervals of simulated profiles hold what the load does in the long run."""
    truth = {"database time": 0.375, "cpu": 0.1, "IO:WalSync": 0.15, "LWLock:WALWrite": 0.125}
    held = dict.fromkeys([*truth, "share", "difference"], 0)
    for seed in range(repeats):
        record, _ = make.simulate([LIFE] * sessions, seconds=seconds, seed=seed, period_ns=2 * MS)
        leaves, _ = times(record)
        everything = np.ones(len(leaves.state), dtype=np.bool_)
        total = leaves.database_time(everything)
        parts = {"database time": total, **leaves.parts(everything)}
        values = {name: (parts[name] / seconds / SECOND, sessions * mean) for name, mean in truth.items()}
        values["share"] = (parts["IO:WalSync"] / total, 0.4)
        values["difference"] = ((parts["IO:WalSync"] - parts["LWLock:WALWrite"]) / seconds / SECOND, sessions * 0.025)
        for name, (drawn, mean) in values.items():
            low, high = leaves.draws.interval(drawn)
            held[name] += low is not None and high is not None and low <= mean <= high
    return {name: count / repeats for name, count in held.items()}


@pytest.mark.parametrize("seconds", [6, 15])
def test_intervals_hold_the_truth_mostly(seconds: int) -> None:
    """40 profiles: far too few to tell 95 % from 93 %, enough to tell it from 80 %."""
    assert min(coverage(40, seconds).values()) >= 0.82


@pytest.mark.nightly
@pytest.mark.parametrize("seconds", [6, 12, 30, 60])
def test_intervals_hold_the_truth_19_times_in_20(seconds: int) -> None:
    """400 profiles of a length; a bootstrap of so few dependent units may be off by some points, not by more."""
    found = coverage(400, seconds)

    assert min(found.values()) >= 0.90, found
    assert max(found.values()) <= 0.995, found
