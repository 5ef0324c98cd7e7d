"""Where the mean response time of a unit went, part by part."""

from __future__ import annotations

import dataclasses

from dbdyno.analysis.findings.estimates import Estimate

# PostgreSQL 18 reads ahead: a backend waits here for what another process, or the kernel's ring, does with several
# requests at once, so the wait is neither one request's time nor the device's.
ASYNCHRONOUS = frozenset({"IO:AioIoCompletion", "IO:AioIoUringExecution", "LWLock:AioUringCompletion"})


def event_note(part: str) -> str | None:
    """What the name of a wait event does not say and a reader would mistake it for; None for nearly all."""
    return "asynchronous completion, not device latency" if part in ASYNCHRONOUS else None


@dataclasses.dataclass(frozen=True, slots=True)
class TimeProfile:
    """The mean response time of a unit, part by part; the parts sum to it exactly."""

    queue: float
    cpu: float | None
    run_queue: float | None
    waits: dict[str, float]
    asleep_no_wait_event: float
    client_and_network: float
    unaccounted: float

    @property
    def total(self) -> float:
        """The mean response time: the sum of the parts."""
        return sum(self.parts().values())

    def parts(self) -> dict[str, float]:
        """Every part by name, wait events by their own; CPU and run queue only where they are known."""
        named = {
            "queue": self.queue,
            "cpu": self.cpu,
            "run_queue": self.run_queue,
            **self.waits,
            "asleep_no_wait_event": self.asleep_no_wait_event,
            "client_and_network": self.client_and_network,
            "unaccounted": self.unaccounted,
        }
        return {part: ns for part, ns in named.items() if ns is not None}


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """One part of a profile with its interval, and its share of the whole.

    Parts with the same `rank_group` are not told apart: which of them is greater is not known. 1 is the greatest.
    `note` says what the name of a wait event does not.
    """

    part: str
    ns: Estimate
    share: Estimate
    rank_group: int
    note: str | None
