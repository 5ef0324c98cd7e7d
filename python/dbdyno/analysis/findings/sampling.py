"""How the waits of an arm were seen, and what the kernel counted beside them."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True)
class Sampling:
    """The snapshots within counted units; `looked` are those of which the state (asleep or not) was read, too.

    `period_ns` is the mean time between two snapshots of one backend; None where it was not recorded.
    """

    period_ns: float | None
    snapshots: int
    looked: int | None


@dataclasses.dataclass(frozen=True, slots=True)
class Switches:
    """What the kernel counted for the backends, per unit of work; each is None where it does not say.

    A voluntary switch is a sleep that began, an involuntary one a CPU that was taken away.
    Block-I/O delay is time in which a backend waited for a block device by itself, as the kernel accounts it;
    `block_io_note` says why there is none. `stolen_cpu_ns_per_unit` is the part of the CPU time that a hypervisor took,
    estimated from what it took from the whole host, by CPU time; also None where a run did not record it.
    """

    voluntary_per_unit: float | None
    involuntary_per_unit: float | None
    block_io_delay_ns_per_unit: float | None
    stolen_cpu_ns_per_unit: float | None
    block_io_note: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class EventLengths:
    """How long the waits of one event were: `cells` are [step, bin, count].

    Step s is the s-th of a trial; bin b holds waits of 10^(b / bins_per_decade) ns up to the next bin's.
    """

    event: str
    cells: list[list[int]]


@dataclasses.dataclass(frozen=True, slots=True)
class WaitLengths:
    """Lengths of waits from the transitions that were seen, all trials laid over each other.

    Waits shorter than `shortest_ns`, the period of the snapshots, are missed more often than not.
    """

    step_ns: int
    bins_per_decade: int
    shortest_ns: int
    events: list[EventLengths]
