"""Which trial comes next is a pure function of the design and the trials recorded."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dbdyno.design.schedule import Place, block_order, schedule, trial_seed
from dbdyno.runner.pending import MAX_ATTEMPTS, hopeless_arm, next_place, trials_left

ARMS = ["a", "b", "c"]


def record(place: Place, status: str = "ok") -> dict[str, Any]:
    return {"trial": place.trial, "block": place.block, "attempt": place.attempt, "arm": place.arm, "status": status}


def run_all(arms: list[str], blocks: int, seed: int, fails: set[tuple[int, int, str]]) -> list[dict[str, Any]]:
    """Go on until nothing is pending; `fails` holds (block, attempt, arm)."""
    trials: list[dict[str, Any]] = []
    while (place := next_place(arms, blocks, seed, trials)) is not None:
        failed = (place.block, place.attempt, place.arm) in fails
        trials.append(record(place, "failed" if failed else "ok"))
    return trials


def test_without_failures_the_schedule_is_followed() -> None:
    """Trial by trial, the pending place is the schedule's next one."""
    trials = run_all(ARMS, 4, 7, set())

    assert [(trial["trial"], trial["arm"]) for trial in trials] == [
        (place.trial, place.arm) for place in schedule(ARMS, 4, 7)
    ]


def test_a_failed_trial_repeats_its_whole_block_at_the_end() -> None:
    """The rest of the block is left, and the repeat comes after all other blocks, under numbers of its own."""
    second = block_order(ARMS, 7, 1)[1]

    trials = run_all(ARMS, 3, 7, {(1, 0, second)})

    assert [trial["block"] for trial in trials] == [0, 0, 0, 1, 1, 2, 2, 2, 1, 1, 1]
    assert [trial["attempt"] for trial in trials[-3:]] == [1, 1, 1]
    assert sorted(trial["arm"] for trial in trials[-3:]) == ARMS
    assert len({trial["trial"] for trial in trials}) == len(trials)


def test_a_block_that_always_fails_is_given_up() -> None:
    """After the last attempt the run ends instead of trying for ever."""
    trials = run_all(["a"], 1, 7, {(0, attempt, "a") for attempt in range(MAX_ATTEMPTS)})

    assert [trial["status"] for trial in trials] == ["failed"] * MAX_ATTEMPTS


@given(
    blocks=st.integers(1, 5),
    seed=st.integers(0, 2**31),
    cut=st.integers(0, 20),
    fails=st.sets(st.tuples(st.integers(0, 4), st.integers(0, 1), st.sampled_from(ARMS)), max_size=4),
)
def test_a_resumed_run_is_the_run_that_was_not_interrupted(
    blocks: int, seed: int, cut: int, fails: set[tuple[int, int, str]]
) -> None:
    """Cutting the record anywhere and going on gives the same trials: none lost, none doubled."""
    whole = run_all(ARMS, blocks, seed, fails)
    trials = whole[:cut]

    while (place := next_place(ARMS, blocks, seed, trials)) is not None:
        trials.append(record(place, "failed" if (place.block, place.attempt, place.arm) in fails else "ok"))

    assert trials == whole


@given(arms=st.lists(st.text(min_size=1), min_size=1, max_size=8, unique=True), seed=st.integers(0, 2**31))
def test_every_arm_appears_once_in_each_block(arms: list[str], seed: int) -> None:
    """Complete blocks, whatever the names."""
    places = schedule(arms, 5, seed)

    for block in range(5):
        assert Counter(place.arm for place in places if place.block == block) == Counter(arms)


def test_the_same_seed_gives_the_same_schedule_for_good() -> None:
    """Written down: a change of Python or of ours that moves it would break old run directories' seeds."""
    assert "".join(place.arm for place in schedule(ARMS, 4, 42)) == "baccbaacbbac"
    assert trial_seed(42, 0) == 8373905698030229864
    assert trial_seed(42, 0) != trial_seed(42, 1)


def test_the_number_left_counts_whole_blocks() -> None:
    """What the progress line says."""
    places = schedule(ARMS, 2, 1)

    assert trials_left(ARMS, 2, 1, []) == 6
    assert trials_left(ARMS, 2, 1, [record(places[0])]) == 5


def test_an_arm_that_never_worked_is_hopeless_after_two_failures() -> None:
    """One failure is repeated, a success clears the arm."""
    place = Place(0, 0, 0, "a")

    assert hopeless_arm([record(place, "failed")]) is None
    assert hopeless_arm([record(place, "failed")] * 2) == "a"
    assert hopeless_arm([record(place, "failed")] * 2 + [record(place)]) is None
