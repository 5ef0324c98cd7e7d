"""Dividing exact time by snapshots, by hand: two-phase sampling, borrowed looks, calibration, the clocks' steps."""

from __future__ import annotations

import numpy as np
import pytest

from dbdyno.analysis.division import Clocks, Divided, Divider
from dbdyno.analysis.snapshots import Sums

EVENTS = ["", "IO:WalSync", "Client:ClientRead"]


def sums(
    snapshots: list[tuple[int, int, int]],
    response_ns: float = 1_000.0,
    queue_ns: float = 0.0,
    steps: tuple[int, int] = (0, 0),
) -> Sums:
    """Ten units; of each event the snapshots seen, looked at, and asleep."""
    seen, looked, asleep = (np.array([row], dtype=np.float64) for row in zip(*snapshots, strict=True))
    exact = (np.array([float(value)]) for value in (10, response_ns, queue_ns, *steps))
    return Sums(*exact, seen, looked, asleep)


def clocks(cpu_ns: float, run_queue_ns: float, asleep_ns: float) -> Clocks:
    """The exact clocks of the arm."""
    return Clocks(*(np.array([value]) for value in (cpu_ns, run_queue_ns, asleep_ns)))


def times(divided: Divided) -> dict[str, float]:
    """The time of each part."""
    return dict(zip(divided.parts, divided.ns[0].tolist(), strict=True))


def test_seen_times_asleep_over_looked() -> None:
    """Of 50 snapshots without an event a fifth sleep: 10; of 40 on the flush half: 20; of 10 on the client all.

    So 40 of 100 snapshots sleep and 60 do not, which is what the clocks say; they part 60 into 45 and 15.
    """
    arm = sums([(50, 50, 10), (40, 40, 20), (10, 40, 40)])

    found = Divider(EVENTS, arm, clocks(450, 150, 400)).divide(arm)

    assert times(found) == pytest.approx(
        {
            "queue": 0, "cpu": 450, "run_queue": 150, "IO:WalSync": 200, "asleep_no_wait_event": 100,
            "client_and_network": 100,
        }
    )  # fmt: skip
    assert (found.states_from, found.runnable_from) == ("band", "arm")


def test_queue_time_is_exact_and_not_divided() -> None:
    """Snapshots are of the time after the start."""
    arm = sums([(50, 50, 10), (40, 40, 20), (10, 40, 40)], response_ns=1_600, queue_ns=600)

    found = times(Divider(EVENTS, arm, clocks(450, 150, 400)).divide(arm))

    assert (found["queue"], found["cpu"], found["IO:WalSync"]) == (600, pytest.approx(450), pytest.approx(200))


def test_rare_events_borrow_the_arm_s_looks() -> None:
    """Four own looks are not enough: half of the flush's ten snapshots sleep, as in the arm, all the client's."""
    arm = sums([(50, 50, 10), (40, 40, 20), (10, 40, 40)])
    some = sums([(0, 0, 0), (10, 4, 4), (10, 4, 0)], response_ns=150)

    found = Divider(EVENTS, arm, clocks(450, 150, 400)).divide(some)

    assert found.states_from == "arm"
    assert times(found)["IO:WalSync"] == pytest.approx(150 * 5 / 20)
    assert times(found)["client_and_network"] == pytest.approx(150 * 10 / 20)


def test_the_clocks_correct_a_partial_sampler() -> None:
    """It saw 20 % of the time on a CPU where the clocks say 50 %: in any band the odds are multiplied by four."""
    arm = sums([(20, 50, 0), (80, 50, 50), (0, 0, 0)])
    some = sums([(10, 50, 0), (10, 50, 50), (0, 0, 0)])
    divider = Divider(EVENTS, arm, clocks(250, 250, 500))

    assert times(divider.divide(arm))["IO:WalSync"] == pytest.approx(500)
    assert times(divider.divide(some))["IO:WalSync"] == pytest.approx(200)


def test_steps_part_cpu_from_run_queue_where_they_cover_enough() -> None:
    """A tenth of the time on or in line for a CPU: then the band's own clocks; less: those of the arm."""
    arm = sums([(60, 50, 0), (40, 40, 40), (0, 0, 0)])
    divider = Divider(EVENTS, arm, clocks(450, 150, 400))
    enough = divider.divide(sums([(60, 50, 0), (40, 40, 40), (0, 0, 0)], steps=(20, 40)))
    few = divider.divide(sums([(60, 50, 0), (40, 40, 40), (0, 0, 0)], steps=(20, 30)))

    assert (times(enough)["cpu"], enough.runnable_from) == (pytest.approx(200), "band")
    assert (times(few)["cpu"], few.runnable_from) == (pytest.approx(450), "arm")


def test_without_clocks_what_has_no_event_is_unaccounted() -> None:
    """Another host: a named wait is taken for sleep, the rest for what it is: unknown."""
    arm = sums([(60, 0, 0), (30, 0, 0), (10, 0, 0)])

    found = Divider(EVENTS, arm, None).divide(arm)

    assert times(found) == pytest.approx(
        {"queue": 0, "unaccounted": 600, "IO:WalSync": 300, "asleep_no_wait_event": 0, "client_and_network": 100}
    )
    assert (found.states_from, found.runnable_from) == (None, None)


def test_no_snapshots_no_figures() -> None:
    """Not zero: unknown."""
    arm = sums([(60, 50, 0), (40, 40, 40), (0, 0, 0)])

    found = times(Divider(EVENTS, arm, clocks(450, 150, 400)).divide(sums([(0, 0, 0)] * 3)))

    assert np.isnan(found["cpu"])
