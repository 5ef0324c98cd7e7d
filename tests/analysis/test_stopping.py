"""When a run may stop, how it is read at which moment, and that a killed run would have stopped there too."""

from __future__ import annotations

from typing import Any

import pytest
import synthetic

from dbdyno.analysis.analyse import analyse
from dbdyno.analysis.readings import AtAnyTime, AtLook, reading_of
from dbdyno.analysis.spending import repeated_p_value
from dbdyno.analysis.stopping import decided_early

SHAPES = {
    "io-bound/wait-immediate": synthetic.Shape(cpu=500_000, run_queue=0, waits={}),
    "io-bound/half-as-fast": synthetic.Shape(cpu=1_000_000, run_queue=0, waits={}),
    "io-bound/no-different": synthetic.Shape(cpu=500_001, run_queue=0, waits={}),
}


def run_of(blocks: int, arms: int = 2, **keys: Any) -> tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]]:
    """A run of which so many blocks of 30 are done."""
    run, machine, trials = synthetic.run(arms=arms, blocks=blocks, shapes=SHAPES, noise=0.02, seed=5)
    run.update({"blocks": 30, "looks": [12, 18, 24, 30], **keys})
    return run, machine, trials


@pytest.mark.parametrize(("blocks", "stops"), [(11, False), (12, True), (13, False), (18, True), (30, False)])
def test_a_clear_difference_ends_a_run_at_a_look(blocks: int, stops: bool) -> None:
    """Not between looks; and at the last one there is nothing left to save."""
    run, _, trials = run_of(blocks)

    assert decided_early(run, trials) is stops


def test_one_undecided_comparison_keeps_a_run_going() -> None:
    """One of two is clear at 18 blocks; that the other is within 0.1 % takes more."""
    run, machine, trials = run_of(18, arms=3)
    run["margin"] = 0.001

    assert [one.verdict for one in analyse(run, machine, trials).comparisons] == ["worse", "undecided"]
    assert not decided_early(run, trials)


def test_until_decided_looks_after_every_block() -> None:
    """From the sixth on, as soon as the bet is won."""
    run, _, trials = run_of(24)
    run.update(until_decided=True, blocks=60, looks=[60])
    stops = [blocks for blocks in range(1, 25) if decided_early(run, trials[: 2 * blocks])]

    assert stops[0] > 6
    assert stops == list(range(stops[0], 25))


def test_a_block_that_is_not_complete_is_no_look() -> None:
    """12 blocks and a trial of the thirteenth are read as 12."""
    run, _, trials = run_of(13)

    assert decided_early(run, trials[:-1])


def test_the_report_says_that_a_run_stopped_early() -> None:
    """And does not call it incomplete; between two looks it does."""
    early, between = analyse(*run_of(12)), analyse(*run_of(13))

    assert early.stopping.decided_early
    assert early.stopping.looked_at == [12]
    assert "incomplete" not in {warning.code for warning in early.warnings}
    assert not between.stopping.decided_early
    assert "incomplete" in {warning.code for warning in between.warnings}


def test_how_a_run_is_read() -> None:
    """At a look, between looks as if that were one more, at the end, and in a run without looks."""
    looked = {"blocks": 30, "looks": [12, 18, 24, 30]}

    assert reading_of(looked, 18) == AtLook((12, 18), 30)
    assert reading_of(looked, 20) == AtLook((12, 18, 20), 30)
    assert reading_of(looked, 30) == AtLook((12, 18, 24, 30), 30)
    assert reading_of({"blocks": 10}, 10) == AtLook((10,), 10)
    assert reading_of({"blocks": 10}, 8) == AtLook((8,), 10)
    assert isinstance(reading_of({"blocks": 60, "until_decided": True}, 9), AtAnyTime)


def test_an_early_look_needs_more() -> None:
    """The same 12 blocks: as the end of a run of 12 and as the first look of 30."""
    run, machine, trials = run_of(12, arms=3)
    first = analyse(run, machine, trials).comparisons[0]
    run.update(blocks=12, looks=[12])
    whole = analyse(run, machine, trials).comparisons[0]

    assert whole.p_value == 2 / 2**12
    assert first.p_value == repeated_p_value(2 / 2**12, (12,), 30)
    assert (first.ratio.low or 0.0) < (whole.ratio.low or 0.0)
