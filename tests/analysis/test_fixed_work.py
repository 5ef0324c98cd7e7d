"""Fixed work: elapsed time as the metric, one unit a trial, the same rows in both arms."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import synthetic

from dbdyno.analysis.analyse import analyse

SLOW = synthetic.Shape(cpu=400_000_000, run_queue=0, waits={"IO:DataFileRead": 600_000_000}, spread=0.0001)
FAST = dataclasses.replace(SLOW, waits={"IO:DataFileRead": 100_000_000})
SHAPES = {"scan/slow": SLOW, "scan/fast": FAST}

Documents = tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]]


def fixed_run(units: int = 1, clients: int = 1, **more: Any) -> Documents:
    """Two arms of fixed work; the second takes half the time."""
    return synthetic.run(blocks=8, shapes=SHAPES, metric="elapsed_ns", fixed_units=units, clients=clients, **more)


def test_elapsed_time_is_compared_and_less_is_better() -> None:
    """The ratio of the planted response times, exactly where there is no noise."""
    found = analyse(*fixed_run(noise=0.0))

    [comparison] = found.comparisons
    assert comparison.ratio.estimate == pytest.approx(FAST.response_ns / SLOW.response_ns, rel=1e-6)
    assert (comparison.metric, comparison.verdict, found.higher_is_better) == ("elapsed_ns", "better", False)


def test_an_arm_of_fixed_work_has_its_elapsed_time() -> None:
    """Two clients share four units; the window was only a limit."""
    found = analyse(*fixed_run(units=4, clients=2, noise=0.0))
    [slow, _] = found.arms

    assert slow.elapsed_ns is not None
    assert slow.elapsed_ns.estimate == pytest.approx(2 * SLOW.response_ns, rel=1e-3)
    assert [trial.elapsed_ns for trial in slow.by_trial] == pytest.approx([slow.elapsed_ns.estimate] * 8, rel=1e-3)
    assert (slow.fixed_units, found.window_ns) == (4, 0)


def test_fixed_work_raises_no_alarm() -> None:
    """Little's law holds over the time that the work took, and page images after a checkpoint belong to the work."""
    run, machine, trials = fixed_run(units=4, clients=2)
    for trial in trials:
        trial["server"].update(wal_full_page_images=5_000, commits=4)

    found = analyse(run, machine, trials)

    assert [arm.little_discrepancy < 1e-6 for arm in found.arms] == [True, True]
    assert found.warnings == []


@pytest.mark.parametrize(("units", "expected"), [(1, False), (19, False), (20, True), (None, True)])
def test_few_units_have_no_percentiles(units: int | None, expected: bool) -> None:
    """Of 19 units the p95 is the slowest."""
    found = analyse(*synthetic.run(blocks=6, shapes=SHAPES, fixed_units=units))

    assert [arm.has_percentiles for arm in found.arms] == [expected] * 2


def test_timed_windows_have_no_elapsed_time() -> None:
    """A window's length is the experiment's choice, not a figure."""
    found = analyse(*synthetic.run(arms=2, blocks=6))

    assert found.arms[0].elapsed_ns is None
    assert found.arms[0].by_trial[0].elapsed_ns is None
    assert found.window_ns == synthetic.WINDOW_NS


def _rows(trial: dict[str, Any], returned: int, affected: int) -> None:
    trial["outcome"]["scripts"][0]["statements"][0].update(rows=returned, rows_affected=affected)


@pytest.mark.parametrize(
    ("rows", "seen"),
    [
        ((720, 10), ""),
        ((719, 10), "719 returned and 10 affected a unit instead of 720 returned and 10 affected a unit"),
        ((720, 0), "720 returned and 0 affected a unit instead of 720 returned and 10 affected a unit"),
    ],
)
def test_fixed_work_must_be_the_same_work(rows: tuple[int, int], seen: str) -> None:
    """A row fewer than the baseline in one block of eight, returned or affected: no verdict."""
    run, machine, trials = fixed_run()
    for trial in trials:
        odd = trial["arm"] == "scan/fast" and trial["block"] == 3
        _rows(trial, *(rows if odd else (720, 10)))

    found = analyse(run, machine, trials)

    [check] = [check for check in found.arms[1].checks if check.check == "rows"]
    assert (check.expected, check.seen) == ("the rows of scan/slow", seen)
    assert (check.trials, check.failed_trials) == (8, 1 if seen else 0)
    assert found.comparisons[0].verdict == ("undecided" if seen else "better")
    assert [check.check for check in found.arms[0].checks] == []


def test_rows_are_counted_for_each_unit() -> None:
    """Ten units of 72 rows are not the work of ten units of 720."""
    run, machine, trials = fixed_run(units=10)
    for trial in trials:
        _rows(trial, 7200 if trial["arm"] == "scan/slow" else 720, 0)

    [check] = analyse(run, machine, trials).arms[1].checks

    assert check.seen == "72 returned and 0 affected a unit instead of 720 returned and 0 affected a unit"
    assert check.failed_trials == 8
