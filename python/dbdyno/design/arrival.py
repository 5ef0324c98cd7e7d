"""How units of work come, made of what the workload and the levels say about it."""

from __future__ import annotations

import dataclasses
from typing import Any

from dbdyno.design.document import Open, ThinkTime


@dataclasses.dataclass(frozen=True, slots=True)
class Arrival:
    """How units of work come: a closed loop with think times, or an open loop by a process of its own.

    `think_time_ns` is the mean; the bounds are those of a `uniform` or `exponential` distribution.
    """

    kind: str
    think_time_ns: int = 0
    think_time_distribution: str = "constant"
    think_time_min_ns: int = 0
    think_time_max_ns: int = 0
    process: str = ""
    start_per_s: float = 0.0
    end_per_s: float = 0.0

    @property
    def is_open(self) -> bool:
        """Whether units come by a clock of their own."""
        return self.kind == "open"

    def document(self) -> dict[str, Any]:
        """As the trial spec writes it."""
        if self.is_open:
            return {
                "kind": "open",
                "process": self.process,
                "start_per_s": self.start_per_s,
                "end_per_s": self.end_per_s,
            }
        constant: dict[str, Any] = {"kind": "closed", "think_time_ns": self.think_time_ns}
        if self.think_time_distribution == "constant":
            return constant
        return {
            **constant,
            "think_time_distribution": self.think_time_distribution,
            "think_time_min_ns": self.think_time_min_ns,
            "think_time_max_ns": self.think_time_max_ns,
        }


def make_arrival(arrival: Open | None, think_time: int | ThinkTime | None) -> Arrival:
    """An open loop where `arrival` is given, else a closed one with this think time."""
    if arrival is None:
        return _closed(think_time or 0)
    process, start = (
        ("poisson", arrival.poisson_per_s) if arrival.poisson_per_s else ("constant", arrival.constant_per_s)
    )
    assert start is not None
    return Arrival(kind="open", process=process, start_per_s=start, end_per_s=arrival.to_per_s or start)


# Where an exponential think time is not cut off by the file: exp(-10) of the pauses would be longer than this.
_LONGEST_IN_MEANS = 10


def _closed(think_time: int | ThinkTime) -> Arrival:
    if isinstance(think_time, int):
        return Arrival(kind="closed", think_time_ns=think_time)
    if think_time.uniform is not None:
        low, high = think_time.uniform
        return Arrival("closed", (low + high) // 2, "uniform", low, high)
    mean = think_time.exponential or 0
    longest = mean * _LONGEST_IN_MEANS if think_time.maximum is None else think_time.maximum
    return Arrival("closed", mean, "exponential", think_time.minimum or 0, longest)
