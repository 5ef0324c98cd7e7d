"""A validated experiment: every arm with what it runs and what it sets, nothing left to look up.

`load_experiment` is the only way to make one: it reads the file, multiplies the factors out, reads and parses every
script and refuses what cannot work before anything is started.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path

from dbdyno.design.arm import Arm
from dbdyno.design.arms import make_arms, null_arm
from dbdyno.design.asked import Asked
from dbdyno.design.combinations import Levels
from dbdyno.design.document import Candidates, Document
from dbdyno.design.looks import planned_blocks, planned_looks
from dbdyno.design.read import read_document
from dbdyno.design.scripts import read_schemas, read_sql
from dbdyno.errors import DynoError
from dbdyno.workloads import Workload

DEFAULT_WARM_UP_NS = 300_000_000
# Fixed work has as long as this to start all of its units, and once more to end them.
FIXED_WORK_LIMIT_NS = 3_600_000_000_000


@dataclasses.dataclass(frozen=True, slots=True)
class Experiment:
    """Everything that a run needs to know; `path` is the experiment file, beside which lies what it refers to.

    `candidates` holds the factors whose levels are found in the built schema; until they are, `arms` has their
    baseline only.
    """

    name: str
    path: Path
    question: str
    metric: str
    margin: float
    schemas: tuple[Workload, ...]
    scale: int
    data_seed: int
    target_settings: dict[str, bool | int | float | str]
    blocks: int
    looks: tuple[int, ...]
    all_pairs: bool
    warm_up_ns: int
    window_ns: int
    asked: Asked
    arms: tuple[Arm, ...]
    candidates: Mapping[str, Candidates]
    truth: Mapping[str, str]
    outcomes: Mapping[str, str]
    invariants: Mapping[str, str]
    files: tuple[Path, ...]

    def arm(self, name: str) -> Arm:
        """The arm called `name`."""
        return next(arm for arm in self.arms if arm.name == name)

    def resets(self, step: str) -> bool:
        """Whether any arm meets this reset step."""
        return any(step in arm.reset for arm in self.arms)

    @property
    def always_restores(self) -> bool:
        """Whether what one trial did to the schema is gone before the next, whichever arm that is."""
        return all("restore" in arm.reset for arm in self.arms)


AS_WRITTEN = Asked()


def load_experiment(path: Path, asked: Asked = AS_WRITTEN, found: Levels | None = None) -> Experiment:
    """Read and check the experiment at `path`.

    Args:
        path: the TOML file.
        asked: the flags.
        found: the levels of factors that are found in the built schema, once they are.

    Raises:
        DynoError: with the file, the key, the value seen and the fix.
    """
    document = read_document(path)
    name = path.resolve().parent.name if path.stem == "experiment" else path.stem
    quick = asked.quick
    scale = asked.scale or (document.quick.scale if quick else None) or document.workload.scale
    arms = make_arms(document, path, quick=quick, scale=scale, found=found or {})
    if document.null_arm or asked.null_arm:
        arms += (null_arm(arms, path),)
    fixed_work = arms[0].fixed_units is not None
    schemas, schema_files = read_schemas(path, document.workload.schema_)
    return Experiment(
        name=name,
        path=path,
        question=document.question,
        metric=_metric(document, path, arms),
        margin=document.margin,
        schemas=schemas,
        scale=scale,
        data_seed=document.workload.data_seed,
        target_settings=dict(document.target.settings),
        blocks=planned_blocks(document, asked),
        looks=planned_looks(document, path, asked),
        all_pairs=asked.all_pairs or document.compare == "all-pairs",
        warm_up_ns=_warm_up_ns(document, quick, fixed_work=fixed_work),
        window_ns=FIXED_WORK_LIMIT_NS if fixed_work else _window_ns(document, quick),
        asked=asked,
        arms=arms,
        candidates={name: levels for name, levels in document.factors.items() if isinstance(levels, Candidates)},
        truth=dict(document.truth),
        outcomes=dict(document.outcomes),
        invariants={**_shipped_invariants(schemas), **document.invariants},
        files=tuple(_files(path, arms, (*schema_files, *_level_files(document, path)))),
    )


def _metric(document: Document, path: Path, arms: tuple[Arm, ...]) -> str:
    """The one that the file names; else what the load leaves free: an open loop fixes its own throughput."""
    fixed_work = arms[0].fixed_units is not None
    open_loop = all(arm.arrival.is_open for arm in arms)
    metric = document.metric or (
        "elapsed_ns" if fixed_work else "response_time_ns_p95" if open_loop else "throughput_per_s"
    )
    if metric == "bytes_per_s" and any(arm.file is None for arm in arms):
        raise DynoError(
            "metric_needs_bytes",
            f"{path.name}: metric: 'bytes_per_s' is for arms that say which bytes they move; add file to their levels",
        )
    if metric == "elapsed_ns" and not fixed_work:
        raise DynoError(
            "metric_needs_fixed_work",
            f"{path.name}: metric: 'elapsed_ns' is for fixed work; add units or executions to the workload",
        )
    return metric


def _warm_up_ns(document: Document, quick: bool, *, fixed_work: bool) -> int:
    """Fixed work has none by default: its units would change what is measured."""
    asked = document.quick.warm_up if quick and document.quick.warm_up is not None else document.design.warm_up
    return (0 if fixed_work else DEFAULT_WARM_UP_NS) if asked is None else asked


def _window_ns(document: Document, quick: bool) -> int:
    return document.quick.window if quick and document.quick.window is not None else document.design.window


def _shipped_invariants(schemas: tuple[Workload, ...]) -> dict[str, str]:
    return {name: sql for schema in schemas for name, sql in schema.invariants.items()}


def _level_files(document: Document, path: Path) -> Iterator[Path]:
    """What the levels' `sql` and `undo` name."""
    for levels in document.factors.values():
        for level in () if isinstance(levels, Candidates) else levels.values():
            for text in (level.sql, level.undo):
                yield from read_sql(path, "factors", text)[1] if text else ()


def _files(path: Path, arms: tuple[Arm, ...], sql_files: tuple[Path, ...]) -> Iterator[Path]:
    """The experiment file and all that it refers to, each once, for the copy in the run directory."""
    seen: set[Path] = set()
    scripts = [script.path for arm in arms for script in arm.scripts if script.path is not None]
    for file in (path, *sql_files, *scripts):
        if file not in seen:
            seen.add(file)
            yield file
