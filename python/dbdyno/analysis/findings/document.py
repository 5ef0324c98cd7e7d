"""The whole answer of one run, and its JSON."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from dbdyno.analysis.findings.answers import Tradeoff
from dbdyno.analysis.findings.arm import Arm
from dbdyno.analysis.findings.comparison import Comparison, Exploratory, Interaction, NullArm, Stopping
from dbdyno.analysis.findings.disturbances import CarryOver, Noise
from dbdyno.analysis.findings.indexes import IndexVerdict
from dbdyno.analysis.findings.instrument import Instrument

FORMAT = 1


@dataclasses.dataclass(frozen=True, slots=True)
class Warning:
    """Something that limits what may be concluded; the message ends with what to do."""

    code: str
    message: str
    arm: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Scheduled:
    """One place of the schedule and what became of it: `ok`, `failed`, `repeated` or `not_run`.

    `repeated`: the first attempt of its block does not count, a later one does.
    """

    trial: int
    block: int
    position: int
    arm: str
    status: str


@dataclasses.dataclass(frozen=True, slots=True)
class Findings:
    """The whole answer of one run.

    `window_ns` is 0 where all arms do fixed work; `instrument` is None where the machine had no self-test.
    `noise` is by source, empty where nothing is known; `carry_over` is None where it could not be asked.
    """

    format: int
    experiment: str
    question: str
    run_id: str
    seed: int
    blocks: int
    blocks_complete: int
    window_ns: int
    metric: str
    higher_is_better: bool
    margin: float
    started_at: str
    arms: list[Arm]
    comparisons: list[Comparison]
    interactions: list[Interaction]
    exploratory: list[Exploratory]
    null_arm: NullArm | None
    stopping: Stopping
    indexes: list[IndexVerdict]
    warnings: list[Warning]
    schedule: list[Scheduled]
    instrument: Instrument | None
    machine: dict[str, Any]
    versions: dict[str, str]
    noise: list[Noise] = dataclasses.field(default_factory=list)
    carry_over: CarryOver | None = None
    tradeoffs: list[Tradeoff] = dataclasses.field(default_factory=list)


def to_json(findings: Findings) -> str:
    """The findings document. Raises ValueError on NaN or infinity: neither may reach a reader."""
    return json.dumps(dataclasses.asdict(findings), indent=1, allow_nan=False, ensure_ascii=False) + "\n"
