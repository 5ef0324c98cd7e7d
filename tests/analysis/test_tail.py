"""Why the slowest are slow: against units whose causes were planted."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import cell_text
import numpy as np
import pytest
import simulated_units as simulated
from hypothesis import given, settings
from hypothesis import strategies as st

from dbdyno.analysis.bands import Share
from dbdyno.analysis.findings import Band, Tail
from dbdyno.analysis.time_spent import NO_SNAPSHOTS, NOT_RECORDED, TimeSpent

QUIET = dataclasses.replace(simulated.SERVER, lock_chance=0.0)


def tail_of(trials: list[dict[str, Any]], *asked: Share) -> Tail:
    """The tail, which there must be."""
    found, note = TimeSpent(trials, seed=7).tail(*asked)
    assert found is not None, note
    return found


def times_of(band: Band) -> dict[str, float]:
    """Each part's time."""
    return {part.part: part.ns.estimate for part in band.parts}


def test_a_lock_in_one_unit_of_a_hundred_is_the_tail() -> None:
    """It is at least 90 % of the extra time, with an interval that says so; the median units have none of it."""
    trials, _ = simulated.trials(simulated.SERVER, 12, seed=1)

    tail = tail_of(trials)

    first = tail.extra[0]
    assert (tail.answer, first.part, first.told) == ("told", simulated.LOCK, True)
    assert first.share.low is not None
    assert 0.90 <= first.share.low <= first.share.estimate <= 1.0
    assert simulated.LOCK not in times_of(tail.median)
    assert tail.sentence.startswith("The slowest ")
    assert f"of it is {simulated.LOCK} (" in tail.sentence


def test_bands_are_what_the_units_were() -> None:
    """Units, edges and response times exactly; the parts within three standard errors of the truth."""
    trials, truths = simulated.trials(simulated.SERVER, 12, seed=2)
    units = simulated.pooled(truths)

    tail = tail_of(trials)

    for band in (tail.slow, tail.median):
        low, high = band.low_ns or 0.0, band.high_ns or np.inf
        chosen = (units.response_ns >= low) & (units.response_ns < high)
        assert band.units == chosen.sum()
        assert band.share == pytest.approx(chosen.mean())
        assert band.response_time_ns == pytest.approx(units.response_ns[chosen].mean())
        for part, ns in times_of(band).items():
            true_ns = units.mean(part, chosen)
            # Poisson noise of the snapshots, tripled, and of the looks that tell sleep from the rest.
            allowed = 5 * np.sqrt((true_ns + 0.02 * band.response_time_ns) * simulated.PERIOD_NS / band.units)
            assert ns == pytest.approx(true_ns, abs=allowed), part


def test_nothing_planted_is_nothing_told_of_a_lock() -> None:
    """Without the lock the slowest are slow by bad luck, most of all in what varies most; that is what it says."""
    trials, truths = simulated.trials(QUIET, 12, seed=3)
    units = simulated.pooled(truths)

    tail = tail_of(trials)

    slow = units.response_ns >= (tail.slow.low_ns or 0.0)
    extra_ns = units.mean("IO:WalSync", slow) - units.mean("IO:WalSync")
    assert simulated.LOCK not in tail.sentence
    assert tail.extra[0].part == "IO:WalSync"
    assert tail.extra[0].ns.estimate == pytest.approx(extra_ns, rel=0.15)


@pytest.mark.parametrize(("low", "high"), [(0.999, 1.0), (0.9, 0.95), (0.05, 0.2)])
def test_any_band_may_be_asked_for(low: float, high: float) -> None:
    """Its edges are bins, its share is near what was asked for, and its differences sum to the whole difference."""
    trials, _ = simulated.trials(simulated.SERVER, 12, seed=4)

    tail = tail_of(trials, Share(low, high))

    assert tail.slow.share == pytest.approx(high - low, rel=0.35)
    assert (tail.slow.high_ns is None) == (high == 1.0)
    assert sum(part.ns.estimate for part in tail.extra) == pytest.approx(tail.extra_ns.estimate)
    assert ("more than median units" in tail.sentence) == (low > 0.5)


def test_a_band_of_median_units_is_no_tail() -> None:
    """One reason in words."""
    trials, _ = simulated.trials(simulated.SERVER, 6, seed=4)

    found, note = TimeSpent(trials, seed=7).tail(Share(0.45, 0.55))

    assert found is None
    assert note is not None
    assert note.startswith("the response times lie too close together")


def test_few_snapshots_are_an_answer() -> None:
    """Fast units and few: their times are known, the causes are not, and it says so."""
    fast = dataclasses.replace(
        simulated.SERVER, kinds={kind: ns / 100 for kind, ns in simulated.SERVER.kinds.items()}, lock_chance=0.0
    )
    trials, _ = simulated.trials(fast, 12, seed=5)

    tail = tail_of(trials)

    assert (tail.answer, tail.extra, tail.slow.parts) == ("too_few_snapshots", [], [])
    assert tail.sentence.endswith(f"too few snapshots ({tail.slow.snapshots}) to say what it is.")


def test_few_trials_are_resampled_by_chunks_and_it_says_so() -> None:
    """Two trials of ten chunks: the lock is named, and where the interval comes from."""
    trials, _ = simulated.trials(simulated.SERVER, 2, seed=6)

    tail = tail_of(trials)

    assert (tail.resampled, tail.clusters, tail.extra[0].part) == ("chunks", 20, simulated.LOCK)
    assert tail.sentence.endswith("Few trials: the intervals come from 20 chunks of them.")


def test_what_was_not_recorded_is_not_known() -> None:
    """Runs of before, and runs without sampling, each in a plain word."""
    trials, _ = simulated.trials(simulated.SERVER, 6, seed=6)
    for trial in trials:
        del trial["outcome"]["profile"]["cells"]

    assert TimeSpent(trials, seed=1).tail() == (None, NOT_RECORDED)
    for trial in trials:
        trial["outcome"]["profile"]["route"] = "off"
    assert TimeSpent(trials, seed=1).tail() == (None, NO_SNAPSHOTS)


def test_queue_time_is_a_part_like_others() -> None:
    """In an open loop a stall makes units wait before they start: the tail is queue time, exactly."""
    trials, _ = simulated.trials(QUIET, 12, seed=8)
    for trial in trials:
        profile = trial["outcome"]["profile"]
        cells = cell_text.unpack(profile["cells"])
        slowest = max(cell[1] for cell in cells) + 20
        for cell in cells[::7]:
            units, waited_ns = 1, round(10 ** (slowest / simulated.BINS_PER_DECADE))
            cells.append([cell[0], slowest, units, waited_ns + 2_000_000, waited_ns, 0, 0, [[2, 2, 1, 0]]])
            profile["queue_ns"] += waited_ns
            profile["total_ns"] += waited_ns + 2_000_000
        profile["cells"] = cell_text.pack(cells)

    tail = tail_of(trials)

    assert tail.extra[0].part == "queue"
    assert "of it is queue time before the start (" in tail.sentence


@st.composite
def recorded_cells(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Whatever a sampler could have recorded, sensible or not."""
    events = ["", "IO:WalSync", "Client:ClientRead"]
    counts = st.tuples(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40)).map(sorted)
    clocks = draw(st.booleans())

    def cell(chunk: int, place: int) -> list[Any]:
        units = draw(st.integers(1, 50))
        response_ns = units * round(10 ** (place / 50))
        rows = [[event, *reversed(draw(counts))] for event in range(len(events)) if draw(st.booleans())]
        steps = [draw(st.integers(0, 10**7)) for _ in range(2)]
        return [chunk, place, units, response_ns, draw(st.integers(0, response_ns)), *steps, rows]

    def trial() -> dict[str, Any]:
        cells = [cell(chunk, 300 + 10 * draw(st.integers(0, 9))) for chunk in range(3)]
        known = {key: draw(st.integers(0, 10**9)) if clocks else None for key in ("cpu_ns", "run_queue_ns")}
        total = sum(cell[3] for cell in cells)
        profile = {
            "route": "mapped", "events": events, "cells": cells, "bins_per_decade": 50, **known,
            "waits_ns": {"IO:WalSync": draw(st.integers(0, 10**9))}, "asleep_no_wait_event_ns": 0,
            "client_and_network_ns": draw(st.integers(0, 10**9)), "queue_ns": 0, "total_ns": total,
        }  # fmt: skip
        return {"outcome": {"profile": profile, "units": {"successful": sum(cell[2] for cell in cells), "failed": 0}}}

    return [trial() for _ in range(draw(st.integers(1, 7)))]


@settings(max_examples=25, deadline=None)
@given(trials=recorded_cells(), low=st.sampled_from([0.0, 0.5, 0.8, 0.99]))
def test_the_parts_of_a_band_sum_to_its_response_time(trials: list[dict[str, Any]], low: float) -> None:
    """And none is negative; differences sum to the extra time; intervals hold their estimates."""
    found, note = TimeSpent(trials, seed=1).tail(Share(low, 1.0))
    if found is None:
        assert note
        return

    for band in (found.slow, found.median):
        if band.parts:
            assert sum(times_of(band).values()) == pytest.approx(band.response_time_ns, rel=1e-9)
            assert min(times_of(band).values()) >= 0
    for part in (*found.slow.parts, *found.median.parts, *found.extra):
        if part.ns.low is not None and part.ns.high is not None:
            assert part.ns.low <= part.ns.estimate <= part.ns.high
    if found.extra:
        assert sum(part.ns.estimate for part in found.extra) == pytest.approx(
            found.extra_ns.estimate, rel=1e-6, abs=1e-3
        )


def test_the_analysis_of_128_trials_is_quick() -> None:
    """Eight arms of sixteen trials: well under a second, here with a margin for a busy machine."""
    arms = [simulated.trials(simulated.SERVER, 16, seed=seed)[0] for seed in range(8)]
    before = time.process_time()

    for trials in arms:
        spent = TimeSpent(trials, seed=1)
        spent.intervals()
        spent.tail()

    assert time.process_time() - before < 1.5
