"""What server, host and database say of an arm beside its times."""

from __future__ import annotations

import dataclasses
from typing import Any

from dbdyno.analysis.findings.estimates import Estimate, Spread


@dataclasses.dataclass(frozen=True, slots=True)
class Background:
    """Server processes of one kind that serve no client.

    CPU and run queue of all of them, as shares of one CPU's time; waits as shares of a process's own time.
    """

    backend_type: str
    cpu_share: float
    run_queue_share: float
    wait_shares: dict[str, float]


@dataclasses.dataclass(frozen=True, slots=True)
class Exposure:
    """What a crash would have lost: WAL inserted but not flushed, sampled during the windows.

    `commits` is None where the server does not count its WAL.
    `acknowledged`: synchronous_commit is off, so that acknowledged commits are among what is exposed;
    where commits wait for the flush it is work in flight, not a risk.
    """

    samples: int
    acknowledged: bool
    bytes: Spread
    commits: Spread | None
    age_ns: Spread


@dataclasses.dataclass(frozen=True, slots=True)
class Outcome:
    """A figure of the database before and after the work of a trial, and the difference, over trials."""

    name: str
    before: Estimate
    after: Estimate
    difference: Estimate


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """How the server executes one statement; `shape` is its nodes from the top, as most trials had it.

    `other_shapes` are those of the other trials, the most frequent first; `explain` is the server's own document
    (EXPLAIN ANALYZE, BUFFERS, WAL), taken once, after the work.
    """

    script: str
    line: int
    shape: str
    nodes: list[str]
    other_shapes: list[str]
    explain: dict[str, Any] | None


@dataclasses.dataclass(frozen=True, slots=True)
class HostCpu:
    """What the host's CPUs did over an arm's trials, as shares of all their time."""

    user: float
    system: float
    io_wait: float
    steal: float


@dataclasses.dataclass(frozen=True, slots=True)
class Requests:
    """Requests of one kind: how many a unit of work, and their mean size; None where there were none."""

    per_unit: float
    bytes_mean: float | None


@dataclasses.dataclass(frozen=True, slots=True)
class Device:
    """The requests that reached the data directory's device, from the kernel; those of others are among them.

    Flushes are None where the kernel does not count them.
    """

    name: str
    reads: Requests
    writes: Requests
    flushes_per_unit: float | None


@dataclasses.dataclass(frozen=True, slots=True)
class Reads:
    """How an arm's pages were read.

    `physical_share`: of all pages looked at, those that came from the device; where the device's counters are not
    known, those that the server read, from wherever (`device_known` is False).
    """

    server: Requests
    physical_share: float
    device_known: bool


@dataclasses.dataclass(frozen=True, slots=True)
class ResetStep:
    """One step before each trial: how long it took (median) and what it reached (of the last trial)."""

    step: str
    ns: float
    reached: dict[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Check:
    """One thing that an arm must show if it did what its name says; `seen` is what a failed trial showed instead."""

    check: str
    expected: str
    seen: str
    trials: int
    failed_trials: int

    @property
    def holds(self) -> bool:
        """Whether every trial showed it."""
        return self.failed_trials == 0
