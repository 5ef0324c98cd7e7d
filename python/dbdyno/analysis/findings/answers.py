"""What the arms of an experiment answered, where the right answer is known, and what an answer cost beside its time."""

from __future__ import annotations

import dataclasses

from dbdyno.analysis.findings.estimates import Estimate


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """One question and the answers of an arm's trials, in the order of time.

    Errors are relative: -0.02 is 2 % too few. `error_rms` is their root mean square, `error_mean` the bias,
    `error_low` and `error_high` the least and the greatest.
    """

    question: str
    truth: float
    answers: list[float]
    error_mean: float
    error_rms: float
    error_low: float
    error_high: float

    @property
    def worst(self) -> float:
        """The error farthest from none, without its sign."""
        return max(abs(self.error_low), abs(self.error_high))


@dataclasses.dataclass(frozen=True, slots=True)
class Cost:
    """What a unit of work took beside its time; None where it is not known.

    `memory_bytes`: the most anonymous memory that the processes doing it held at once.
    `cpu_ns`: CPU time of all of them, parallel workers and further threads among them.
    `temp_bytes`: what was written to temporary files.
    """

    memory_bytes: Estimate | None
    cpu_ns: Estimate | None
    temp_bytes: float | None


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """The fastest arm with so small an error, where that is told to be faster than the step before.

    `exact`: it claims to have no error. `error` is the greatest root mean square error over its questions.
    `ratio` is its elapsed time over that of the step before; None for the first. `rivals` are arms with no greater
    error that are not told apart from it in time.
    """

    arm: str
    exact: bool
    error: float
    ratio: Estimate | None
    rivals: list[str]


@dataclasses.dataclass(frozen=True, slots=True)
class Tradeoff:
    """Time against error among arms that answer the same in one place: from the exact ones on to the fastest.

    `baseline` is what they are compared with; `on_copy`: they work on a copy of the tables, which had to be made.
    `single` are arms that do not claim to be exact and whose answer hangs on no seed: their one error says nothing of
    the next, so that they have no place among the steps.
    """

    baseline: str
    on_copy: bool
    steps: list[Step]
    single: list[str]
