"""The thread that asks a guarded service, with a service that obeys the test."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from dbdyno.calibration.guard import Guard, GuardFailed

MS = 1_000_000


class Service:
    """Answers at once unless it is stalled or broken."""

    name, statement = "postgres://somewhere", "SELECT 1"

    def __init__(self) -> None:
        self.well, self.broken, self.woken = threading.Event(), False, False
        self.well.set()

    def ask(self) -> None:
        """One answer."""
        self.well.wait()
        if self.broken or self.woken:
            raise GuardFailed("no connection")

    def wake(self) -> None:
        """Ends a stall."""
        self.woken = True
        self.well.set()


def until(true: Callable[[], bool], limit_s: float) -> bool:
    """Whether it came to be so in time."""
    ends = time.monotonic() + limit_s
    while time.monotonic() < ends and not true():
        time.sleep(0.01)
    return true()


def test_a_well_service_lets_it_go_on_and_is_written_down() -> None:
    """Response times in their order, no reason to stop; asking on after the end changes nothing."""
    service = Service()
    with Guard(service, [MS] * 50, 3.0) as guard:
        assert until(lambda: len(guard.document["response_times_ns"]) >= 3, 5.0)
        assert guard.go_on()
        guard.end()
        service.well.clear()
        time.sleep(1.5)
        document = guard.document

    assert (document["service"], document["statement"], document["factor"]) == (
        "postgres://somewhere",
        "SELECT 1",
        3.0,
    )
    assert document["limits_ns"] == [10 * MS, 50 * MS]
    assert document["seen"] is None


def test_a_stall_is_seen_while_nobody_answers_and_its_thread_ends() -> None:
    """The one question that is under way does not hold anything up."""
    service = Service()
    with Guard(service, [MS] * 50, 3.0) as guard:
        service.well.clear()
        assert until(lambda: not guard.go_on(), 5.0)
        begun = time.monotonic()
    assert time.monotonic() - begun < 2.0
    assert guard.seen == "16 of its last 30 answers took more than 10 ms (usual: 3 of 4 within 1 ms)"


def test_a_failure_is_a_reason() -> None:
    """In the words of who failed."""
    service = Service()
    with Guard(service, [MS] * 50, 3.0) as guard:
        service.broken = True
        assert until(lambda: not guard.go_on(), 5.0)
    assert guard.seen == "it failed: no connection"


@pytest.mark.parametrize("well_again_s", [0.3])
def test_what_was_seen_stays_seen(well_again_s: float) -> None:
    """A service that is well again does not take it back."""
    service = Service()
    with Guard(service, [MS] * 50, 3.0) as guard:
        service.well.clear()
        assert until(lambda: not guard.go_on(), 5.0)
        service.well.set()
        time.sleep(well_again_s)
        assert not guard.go_on()
