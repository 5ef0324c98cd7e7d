"""The experiment file as it is written: pydantic models, one for each table, unknown keys refused.

Nothing here knows other keys than its own; what needs two tables together (an unknown baseline level, two factors
that set one key) is checked where arms are made, in `design.experiment`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from dbdyno.design.quantities import duration_ns, share

Duration = Annotated[int, BeforeValidator(duration_ns)]
Share = Annotated[float, BeforeValidator(share)]
Metric = Literal[
    "throughput_per_s",
    "rows_per_s",
    "response_time_ns_mean",
    "response_time_ns_p50",
    "response_time_ns_p95",
    "response_time_ns_p99",
]
ResetStep = Literal["vacuum", "checkpoint", "restore"]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Measured(_Table):
    """A setting's value taken from what was measured on this machine, for example half the flush time."""

    measured: Literal["flush_time_us"]
    times: float = Field(default=1.0, gt=0)


SettingValue = bool | int | float | str | Measured


class Closed(_Table):
    """Each client starts its next unit as soon as the last one ended, or after a think time."""

    think_time: Duration = 0


class Open(_Table):
    """Units arrive by a clock of their own; a ramp where `to_per_s` differs."""

    poisson_per_s: float | None = Field(default=None, gt=0)
    constant_per_s: float | None = Field(default=None, gt=0)
    to_per_s: float | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _one_process(self) -> Open:
        if (self.poisson_per_s is None) == (self.constant_per_s is None):
            raise ValueError("needs either poisson_per_s or constant_per_s")
        return self


class Load(_Table):
    """What both the workload and a level may say about the load."""

    script: str | list[str] | None = None
    clients: int | None = Field(default=None, ge=1, le=10_000)
    threads: int | None = Field(default=None, ge=1, le=256)
    mode: Literal["simple", "extended", "prepared"] | None = None
    arrival: Open | None = None
    think_time: Duration | None = None
    latency_limit: Duration | None = None
    rows_per_unit: int | None = Field(default=None, ge=1)
    max_tries: int | None = Field(default=None, ge=1)
    variables: dict[str, int | float | str] = {}

    @model_validator(mode="after")
    def _one_loop(self) -> Load:
        if self.arrival is not None and self.think_time is not None:
            raise ValueError("has both arrival (an open loop) and think_time (a closed loop); keep one")
        return self


class Level(Load):
    """One value of a factor: everything that it changes."""

    set: dict[str, SettingValue] = {}
    settings: dict[str, SettingValue] = {}
    role: dict[str, SettingValue] = {}
    sql: str | None = None
    undo: str | None = None


class Workload(Load):
    """The data and the load that all arms share unless a level changes it."""

    schema_: str = Field(default="pgbench", alias="schema")
    scale: int = Field(default=1, ge=1)


class Target(_Table):
    """Server settings of the embedded server, the same for all arms."""

    settings: dict[str, bool | int | float | str] = {}


class Design(_Table):
    """How often, in what state and for how long."""

    blocks: int = Field(default=12, ge=1, le=1000)
    reset: list[ResetStep] = ["vacuum", "checkpoint"]
    warm_up: Duration = 300_000_000
    window: Duration = 1_000_000_000

    @field_validator("window")
    @classmethod
    def _long_enough(cls, window_ns: int) -> int:
        if window_ns < 10_000_000:
            raise ValueError('is too short to measure; write at least "10 ms"')
        return window_ns


class Quick(_Table):
    """What `--quick` changes."""

    blocks: int | None = Field(default=None, ge=1, le=1000)
    scale: int | None = Field(default=None, ge=1)
    warm_up: Duration | None = None
    window: Duration | None = None


class Document(_Table):
    """A whole experiment file."""

    question: str = Field(min_length=1)
    metric: Metric = "throughput_per_s"
    margin: Share = 0.03
    baseline: dict[str, str]
    target: Target = Target()
    workload: Workload = Workload()
    design: Design = Design()
    quick: Quick = Quick()
    factors: dict[str, dict[str, Level]]
