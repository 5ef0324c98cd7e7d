"""Calibrations against each other: what is planted is named, and a disk that did not change is not called changed."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import numpy as np
import pytest
from compared_calibrations import CACHE, READS_AND_FLUSHES, SHORT, device, recorded, usual
from programmed_device import without

from dbdyno.analysis.calibrations_compared.compare import compare_calibrations
from dbdyno.analysis.calibrations_compared.contrasts import Known, by_blocks, by_calibrations
from dbdyno.analysis.calibrations_compared.document import to_json
from dbdyno.analysis.calibrations_compared.findings import (
    CHANGED,
    MAIN,
    NO_CONCLUSION,
    NOT_BEYOND_USUAL,
    ONE_EACH,
    SAME,
    CalibrationsComparison,
    FigureCompared,
)
from dbdyno.analysis.calibrations_compared.record import Recorded
from dbdyno.calibration.budget import MIB
from dbdyno.errors import DynoError

BY_DAY_AND_BY_NIGHT = pytest.mark.parametrize("histories", [8, pytest.param(60, marks=pytest.mark.nightly)])


def figure(found: CalibrationsComparison, phase: str, quantity: str, **level: Any) -> FigureCompared:
    """The one of that name."""
    key = (phase, quantity, *sorted(level.items()))
    [one] = [one for one in found.figures if one.figure.key == key]
    return one


def codes(found: CalibrationsComparison) -> set[str]:
    """What is warned of."""
    return {warning.code for warning in found.warnings}


def changed(one: Recorded, **more: Any) -> Recorded:
    """The same calibration with other keys in its record."""
    return dataclasses.replace(one, record={**one.record, **more})


def elsewhere(one: Recorded, **inventory: Any) -> Recorded:
    """The same calibration with other words of its inventory."""
    return changed(one, inventory={**one.record["inventory"], **inventory})


def unbelieved(one: Recorded) -> Recorded:
    """The same with response times that Little's law denies."""
    entries = json.loads(json.dumps(one.record["entries"]))
    for entry in entries:
        if entry["work"].get("load"):
            entry["outcome"]["response_time"]["sum_ns"] *= 2
    return changed(one, entries=entries)


def alarms(spread: float, calibrations: int) -> tuple[float, float]:
    """How often a figure of an unchanged disk is called changed: by blocks, and by calibrations."""
    random = np.random.default_rng([round(1000 * spread), calibrations])
    comparisons, error, free = 4000, 0.02, 8.0

    def known() -> Known:
        seen = error * math.sqrt(random.chisquare(free) / free)
        return Known(random.normal(0.0, math.hypot(spread, error)), seen, free)

    called = np.zeros(2)
    for _ in range(comparisons):
        before, later = [known() for _ in range(calibrations)], known()
        judged = (by_blocks(before[-1:], later), by_calibrations(before, later, before))
        called += [one is not None and (one.p_value() or 0.0) < 0.05 for one in judged]
    return float(called[0] / comparisons), float(called[1] / comparisons)


@pytest.mark.parametrize("calibrations", [2, 4, 8])
@pytest.mark.parametrize("spread", [0.05, 0.2])
def test_the_history_holds_five_per_cent_and_blocks_do_not(spread: float, calibrations: int) -> None:
    """Calibrations differ by 5 or 20 % while blocks know each to 2 %."""
    naive, held = alarms(spread, calibrations)

    assert naive > 0.35
    assert held <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 4000)
    assert calibrations == 2 or held >= 0.02  # two are careful: their blocks bound a spread that they hardly know


def test_blocks_hold_five_per_cent_where_calibrations_differ_by_nothing_else() -> None:
    """Then the history is careful."""
    naive, held = alarms(0.0, 4)

    assert naive == pytest.approx(0.05, abs=0.011)
    assert held <= 0.05


def test_one_that_is_noisier_than_usual_is_judged_by_its_own_noise() -> None:
    """Three calibrations that agree within 1 % by chance, and one whose blocks know it to 30 %."""
    before = [Known(log, 0.01, 8.0) for log in (0.0, 0.01, -0.01)]
    sharp, blunt = (by_calibrations(before, Known(0.5, error, 8.0), before) for error in (0.01, 0.3))

    assert sharp is not None
    assert blunt is not None
    assert sharp.error == pytest.approx(0.01 * math.sqrt(4 / 3))
    assert blunt.error == pytest.approx(math.sqrt(0.01**2 * 4 / 3 + 0.3**2 - 0.01**2))
    assert (sharp.free, blunt.free) == (2.0, 2.0)


def test_calibrations_that_agree_by_chance_are_no_better_known_than_their_blocks() -> None:
    """Two that are equal to four digits, though the blocks of each know it to 30 %."""
    before = [Known(log, 0.3, 8.0) for log in (0.0, 0.0001)]
    found = by_calibrations(before, Known(-0.5, 0.01, 8.0), before)

    assert found is not None
    assert found.error == pytest.approx(0.3 * math.sqrt(1.5))
    assert (found.p_value() or 0.0) > 0.3


@BY_DAY_AND_BY_NIGHT
def test_a_disk_that_differs_from_day_to_day_did_not_change(histories: int) -> None:
    """10 % between calibrations: by blocks most pairs differ, by the history of four hardly any does."""
    random = np.random.default_rng(7)
    by_pair, by_history = 0, 0
    for history in range(histories):
        days = [
            recorded(day, device(*np.exp(random.normal(0.0, 0.1, 2))), READS_AND_FLUSHES, seed=10 * history + day)
            for day in range(1, 6)
        ]
        pair, all_ = compare_calibrations(days[-2:]), compare_calibrations(days)
        by_pair += any(one.family == MAIN for one in pair.decided)
        by_history += any(one.family == MAIN for one in all_.decided)
        assert pair.answer == ONE_EACH

    assert by_pair >= histories / 2
    assert by_history <= max(2, histories * 0.1)


def test_a_slower_device_is_named_with_the_truth_in_the_interval() -> None:
    """Reads take 1.25 times as long, flushes do not: five days before, one after."""
    found = compare_calibrations([*usual(5), recorded(9, device(1.25))])
    idle, knee = figure(found, "idle", "p50_ns"), figure(found, "knee", "iops")

    assert found.answer == CHANGED
    assert [one.phase for one in found.worse] == ["idle", "knee"]
    for one, truth in ((idle, 1.25), (knee, 0.8)):
        assert (one.verdict, one.calibrations) == ("worse", 5)
        assert one.ratio.low is not None
        assert one.ratio.high is not None
        assert one.ratio.low < truth < one.ratio.high
    assert figure(found, "flush", "p50_ns", method="fdatasync").verdict not in ("better", "worse")
    assert (found.reference, found.later) == (["1", "2", "3", "4", "5"], "6")


def test_a_slower_flush_moves_flushes_only() -> None:
    """30 %."""
    found = compare_calibrations([*usual(5), recorded(9, device(flush_times=1.3))])

    assert {one.figure.phase for one in found.decided} == {"flush"}
    assert [one.level for one in found.worse] == [{"method": "fdatasync"}]
    slower = figure(found, "flush", "p50_ns", method="fdatasync").ratio
    assert slower.low is not None
    assert slower.high is not None
    assert slower.low < 1.3 < slower.high


def test_a_cache_that_is_gone_is_named() -> None:
    """64 MiB on the first day, nothing on the second; the gain is compared at its edge only."""
    cells = without("sizes", "burst", "group_commit", "sweep", "flush", "mixed")
    found = compare_calibrations([recorded(1, device(cache=CACHE), cells), recorded(2, device(), cells)])
    first, second = found.calibrations

    assert (first.cache_bytes, first.cache_below_bytes) == (64 * MIB, 256 * MIB)
    assert (second.cache_bytes, second.cache_below_bytes) == (None, None)
    assert [one.figure.level for one in found.figures if one.family == "cache"] == [{"span_bytes": 64 * MIB}]
    assert figure(found, "cache_map", "gain", span_bytes=64 * MIB).verdict == "worse"


def test_two_borrow_the_spread_of_others_of_their_kind() -> None:
    """Kept ones of the same place, measured before in the same way; one noisy, later, or elsewhere says nothing."""
    before, now = recorded(5), recorded(9, device(1.4))
    others = [*usual(4), recorded(8, device(1.05)), before]
    strange = [
        elsewhere(recorded(6), device="other"),
        changed(recorded(6), file_bytes=5 << 30),
        changed(recorded(6), interrupted=True),
        unbelieved(recorded(6)),
        recorded(12),
    ]
    found = compare_calibrations([before, now], [*others, *strange])

    assert [one.name for one in found.others] == ["day-1", "day-2", "day-3", "day-4", "day-8"]
    assert figure(found, "idle", "p50_ns").calibrations == 5
    assert found.answer == CHANGED
    assert compare_calibrations([before, now], strange).answer == ONE_EACH
    assert "day_to_day_unknown" in codes(compare_calibrations([before, now], strange))


def test_an_unchanged_disk_is_the_same_within_a_great_margin() -> None:
    """And within a small one it is not beyond what is usual."""
    every = [*usual(8), recorded(20)]

    assert compare_calibrations(every, margin=1.0).answer == SAME
    assert compare_calibrations(every, margin=0.01).answer == NOT_BEYOND_USUAL


def test_what_cannot_be_believed_gets_no_verdict() -> None:
    """Two: none at all. Many: an earlier one is shown and does not count, a last one withholds."""
    bad = unbelieved(recorded(3))
    two = compare_calibrations([recorded(1), bad])
    many = compare_calibrations([*usual(2), bad, recorded(9, device(1.6))])
    last = compare_calibrations([*usual(2), unbelieved(recorded(9, device(1.6)))])

    assert two.answer == last.answer == NO_CONCLUSION
    assert {one.verdict for one in (*two.figures, *last.figures)} == {"undecided"}
    assert many.reference == ["1", "2"]
    assert len(many.calibrations) == len(many.courses[0].values) == 4
    assert {one.calibrations for one in many.figures} == {2}


def test_two_places_and_two_ways_are_warned_of() -> None:
    """Not refused."""
    one, two = recorded(1), recorded(2)

    assert codes(compare_calibrations([one, two])) == {"day_to_day_unknown"}
    assert "other_place" in codes(compare_calibrations([one, elsewhere(two, host="db8")]))
    assert "other_place" in codes(compare_calibrations([one, elsewhere(two, device="sdb")]))
    bigger = compare_calibrations([one, changed(two, file_bytes=5 << 30, engine="threads")])
    assert {"other_conditions"} <= codes(bigger)
    assert [(each.what, each.second) for each in bigger.changes[0].differences] == [
        ("file", 5 << 30),
        ("engine", "threads"),
    ]
    remounted = compare_calibrations([one, elsewhere(two, cpus=4, kernel="7.0", queue={"rotational": "1"})])
    assert [each.what for each in remounted.changes[0].differences] == ["CPUs", "rotational", "write cache"]
    assert "order" in codes(compare_calibrations([two, one]))


def test_many_stand_in_the_order_of_time() -> None:
    """However they are named; two as they are named."""
    days = usual(4)
    one, other = compare_calibrations(days), compare_calibrations(days[::-1])

    assert to_json(one) == to_json(other)
    assert [each.name for each in one.calibrations] == ["day-1", "day-2", "day-3", "day-4"]
    assert [each.name for each in compare_calibrations([days[1], days[0]]).calibrations] == ["day-2", "day-1"]


def test_swapping_two_turns_the_ratio_over() -> None:
    """And better into worse."""
    one, two = recorded(1), recorded(2, device(1.25))
    pairs = [compare_calibrations(pair) for pair in ((one, two), (two, one))]
    there, back = (figure(each, "idle", "p50_ns") for each in pairs)

    assert there.ratio.estimate == pytest.approx(1 / back.ratio.estimate)
    assert there.ratio.low == pytest.approx(1 / (back.ratio.high or 0.0))
    assert (there.verdict, back.verdict) == ("worse", "better")


def test_figures_that_one_lacks_are_told() -> None:
    """No flushes on the second day; nothing in common is an error, and so is one beside itself."""
    some = compare_calibrations(
        [recorded(1), recorded(2, budget=dataclasses.replace(SHORT, flush_blocks=0, group_blocks=8))]
    )
    assert {(one.figure.phase, one.reason) for one in some.left_out} == {
        ("flush", "not measured in B"),
        ("group_commit", "not measured in A"),
    }

    only_flushes = recorded(2, budget=without("idle", "sweep", "sizes", "burst", "cache_map", "group_commit", "mixed"))
    only_idle = recorded(1, budget=dataclasses.replace(READS_AND_FLUSHES, flush_blocks=0))
    with pytest.raises(DynoError, match="no figure in common"):
        compare_calibrations([only_idle, only_flushes])
    with pytest.raises(DynoError, match="is the same as"):
        compare_calibrations([only_idle, dataclasses.replace(only_idle, name="its copy")])


def test_drift_is_the_line_through_the_days() -> None:
    """4 % slower a day over eight days: the truth is in its interval, and it is told from chance."""
    days = [recorded(day, device(1.04 ** (day - 1)), SHORT) for day in range(1, 9)]
    [idle] = [one for one in compare_calibrations(days).courses if one.figure.phase == "idle"]

    assert idle.drift is not None
    assert idle.drift.low is not None
    assert idle.drift.high is not None
    assert idle.drift.low < 1.04**7 < idle.drift.high
    assert (idle.drift_p_value_holm or 1.0) < 0.05
    assert idle.expected is not None
    assert len(idle.values) == 8


def test_holm_is_within_each_family() -> None:
    """Four main figures or fewer pay for each other, and not for forty others."""
    found = compare_calibrations([recorded(1), recorded(2, device(1.25))])
    main = [one for one in found.figures if one.family == MAIN]
    smallest = min(main, key=lambda one: one.p_value or 1.0)

    assert len(main) == 3
    assert smallest.p_value_holm == pytest.approx(3 * (smallest.p_value or 0.0))
    assert all((one.p_value_holm or 0.0) >= (one.p_value or 0.0) for one in found.figures)
