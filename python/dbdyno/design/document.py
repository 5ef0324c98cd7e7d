"""The experiment file as it is written: pydantic models, one for each table, unknown keys refused.

Nothing here knows other keys than its own; what needs two tables together (an unknown baseline level, two factors
that set one key) is checked where arms are made, in `design.experiment`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    field_validator,
    model_validator,
)

from dbdyno.design.quantities import duration_ns, share, size_bytes

Duration = Annotated[int, BeforeValidator(duration_ns)]
Share = Annotated[float, BeforeValidator(share)]
Size = Annotated[int, BeforeValidator(size_bytes)]
Metric = Literal[
    "throughput_per_s",
    "rows_per_s",
    "bytes_per_s",
    "elapsed_ns",
    "response_time_ns_mean",
    "response_time_ns_p50",
    "response_time_ns_p95",
    "response_time_ns_p99",
]
Engine = Literal["duckdb", "sqlite", "ndv-copy"]
ResetStep = Literal["vacuum", "analyze", "checkpoint", "restore", "cold-cache", "warm-cache"]


# With fewer no test can find anything.
FEWEST_BLOCKS_OF_A_LOOK = 6


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Measured(_Table):
    """A setting's value taken from what was measured on this machine, for example half the flush time."""

    measured: Literal["flush_time_us"]
    times: float = Field(default=1.0, gt=0)


SettingValue = bool | int | float | str | Measured


class ThinkTime(_Table):
    """A pause between a client's units that is drawn anew each time."""

    uniform: Annotated[list[Duration], Field(min_length=2, max_length=2)] | None = None
    exponential: Duration | None = None
    minimum: Duration | None = None
    maximum: Duration | None = None

    @model_validator(mode="after")
    def _one_distribution(self) -> ThinkTime:
        if (self.uniform is None) == (self.exponential is None):
            raise ValueError("needs either uniform or exponential")
        if self.uniform is not None:
            if self.minimum is not None or self.maximum is not None:
                raise ValueError("has minimum or maximum beside uniform, which names both; keep uniform")
            if self.uniform[0] > self.uniform[1]:
                raise ValueError("has a uniform range whose end lies before its start; swap the two")
        elif (self.minimum or 0) > (self.maximum if self.maximum is not None else (self.minimum or 0)):
            raise ValueError("has a minimum above its maximum; swap the two")
        return self


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


# A tag in angle brackets is no key of the file (`design.read` leaves it out of what it prints).
Pause = Annotated[
    Annotated[Duration, Tag("<duration>")] | Annotated[ThinkTime, Tag("<drawn>")],
    Discriminator(lambda value: "<drawn>" if isinstance(value, dict | ThinkTime) else "<duration>"),
]


class Bounds(_Table):
    """Between which sizes a relation must lie."""

    at_least: Size | None = None
    at_most: Size | None = None


class Expect(_Table):
    """What must be seen if an arm did what its name says."""

    physical_reads: Share | None = None
    parallel_workers: int | None = Field(default=None, ge=0)
    plan: str | list[str] | None = None
    no_plan: str | list[str] | None = None
    profile: str | list[str] | None = None
    error: Share | None = None
    settings: dict[str, bool | int | float | str] = {}
    relation_bytes: dict[str, Bounds] = {}

    @field_validator("physical_reads")
    @classmethod
    def _all_or_nothing(cls, expected: float | None) -> float | None:
        if expected not in (None, 0.0, 1.0):
            raise ValueError('is neither "0 %" (warm) nor "100 %" (cold)')
        return expected


class Load(_Table):
    """What both the workload and a level may say about the load."""

    script: str | list[str] | None = None
    statement: str | None = None
    units: int | None = Field(default=None, ge=1)
    executions: int | None = Field(default=None, ge=1)
    fetch_rows: int | None = Field(default=None, ge=1)
    clients: int | None = Field(default=None, ge=1, le=10_000)
    threads: int | None = Field(default=None, ge=1, le=256)
    mode: Literal["simple", "extended", "prepared"] | None = None
    arrival: Open | None = None
    think_time: Pause | None = None
    connect_ramp: Duration | None = None
    latency_limit: Duration | None = None
    rows_per_unit: int | None = Field(default=None, ge=1)
    max_tries: int | None = Field(default=None, ge=1)
    variables: dict[str, int | float | str] = {}

    @model_validator(mode="after")
    def _one_of_each(self) -> Load:
        if self.arrival is not None and self.think_time is not None:
            raise ValueError("has both arrival (an open loop) and think_time (a closed loop); keep one")
        if self.script is not None and self.statement is not None:
            raise ValueError("has both script and statement; keep one")
        if self.units is not None and self.executions is not None:
            raise ValueError("has both units (of a script) and executions (of a statement); keep one")
        return self


class FileWork(_Table):
    """The same work as plain I/O: `open` says that no server does it, and how the file is opened instead."""

    relation: str | None = None
    access: Literal["read", "write"] | None = None
    order: Literal["sequential", "random"] | None = None
    request: Size | None = Field(default=None, gt=0, le=1 << 30)
    open: Literal["buffered", "direct", "synchronous"] | None = None


class Level(Load):
    """One value of a factor: everything that it changes."""

    engine: Engine | None = None
    extension: str | None = Field(default=None, min_length=1)
    file: FileWork = FileWork()
    set: dict[str, SettingValue] = {}
    settings: dict[str, SettingValue] = {}
    role: dict[str, SettingValue] = {}
    sql: str | None = None
    undo: str | None = None
    reset: list[ResetStep] | None = None
    expect: Expect = Expect()
    target: str | None = None
    server_bin: str | None = None
    only_with: dict[str, list[str]] = {}


class Candidates(_Table):
    """A factor whose levels are found in the built schema."""

    candidates: Literal["secondary-indexes"]
    tables: list[str] = []
    include: list[Literal["expression", "foreign-key"]] = []


def _kind_of_factor(value: object) -> str:
    found = isinstance(value, Candidates) or (isinstance(value, dict) and isinstance(value.get("candidates"), str))
    return "<candidates>" if found else "<levels>"


Factor = Annotated[
    Annotated[Candidates, Tag("<candidates>")] | Annotated[dict[str, Level], Tag("<levels>")],
    Discriminator(_kind_of_factor),
]


class Workload(Load):
    """The data and the load that all arms share unless a level changes it."""

    schema_: str | list[str] = Field(default="pgbench", alias="schema")
    scale: int = Field(default=1, ge=1)
    data_seed: int = Field(default=1, ge=0, lt=1 << 63)


class Target(_Table):
    """Server settings of the embedded server, the same for all arms."""

    settings: dict[str, bool | int | float | str] = {}


class Design(_Table):
    """How often, in what state and for how long."""

    blocks: int = Field(default=30, ge=1, le=1000)
    looks: list[Annotated[int, Field(ge=FEWEST_BLOCKS_OF_A_LOOK, le=1000)]] | None = None
    reset: list[ResetStep] = ["vacuum", "checkpoint"]
    warm_up: Duration | None = None
    window: Duration = 1_000_000_000

    @field_validator("looks")
    @classmethod
    def _one_after_another(cls, looks: list[int] | None) -> list[int] | None:
        if looks is not None and looks != sorted(set(looks)):
            raise ValueError("is not in ascending order; write for example [12, 18, 24]")
        return looks

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
    units: int | None = Field(default=None, ge=1)
    executions: int | None = Field(default=None, ge=1)
    levels: dict[str, Annotated[list[str], Field(min_length=1)]] = {}


class Document(_Table):
    """A whole experiment file."""

    question: str = Field(min_length=1)
    metric: Metric | None = None
    margin: Share = 0.03
    baseline: dict[str, str]
    compare: Literal["with-baseline", "all-pairs"] = "with-baseline"
    null_arm: bool = False
    target: Target = Target()
    workload: Workload = Workload()
    design: Design = Design()
    quick: Quick = Quick()
    factors: dict[str, Factor]
    expect: Expect = Expect()
    truth: dict[str, str] = {}
    outcomes: dict[str, str] = {}
    invariants: dict[str, str] = {}
