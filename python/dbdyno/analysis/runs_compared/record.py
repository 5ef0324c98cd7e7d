"""A run as a comparison of runs sees it: its documents, its counted blocks, and the figures of its arms in them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from dbdyno.analysis.blocks import Block, counted_blocks, usable
from dbdyno.analysis.documents import Document
from dbdyno.analysis.metrics import values
from dbdyno.analysis.runs_compared.findings import RunSummary
from dbdyno.errors import DynoError


@dataclasses.dataclass(frozen=True, slots=True)
class Recorded:
    """What was read: the bodies of a journal's records, and the SHA-256 of each file of the experiment's copy.

    `name` is what an error calls the run.
    """

    name: str
    run: Document
    machine: Document
    trials: Sequence[Document]
    files: Mapping[str, str]


@dataclasses.dataclass(frozen=True, slots=True)
class Measured:
    """A run with its counted blocks; the figures of an arm are those of the run's primary metric, block by block."""

    label: str
    recorded: Recorded
    blocks: Mapping[int, Block]
    arms: Mapping[str, Document]
    figures: Mapping[str, list[float]]

    @property
    def run(self) -> Document:
        """The run document."""
        return self.recorded.run

    @property
    def machine(self) -> Document:
        """The last machine document."""
        return self.recorded.machine

    def trials(self, arm: str) -> list[Document]:
        """The counted trials of an arm."""
        return [block[arm] for block in self.blocks.values()]

    def server(self, arm: str) -> Document:
        """The server of an arm: where targets or binaries are levels there are several."""
        servers, place = self.machine.get("servers"), self.arms[arm].get("server")
        found: Document = servers[place] if servers and place is not None else self.machine["server"]
        return found


def measured(recorded: Recorded, label: str) -> Measured:
    """Count the blocks of a run; one without a complete block has nothing to compare."""
    run = recorded.run
    blocks = counted_blocks(run, recorded.trials)
    if not blocks:
        raise DynoError(
            "no_complete_block", f"{recorded.name}: has no complete block, so there is nothing to compare; resume it"
        )
    arms = {arm["arm"]: arm for arm in run["arms"] if not arm.get("null")}
    figures = {
        name: values(run["metric"], arm, [block[name] for block in blocks.values()]) for name, arm in arms.items()
    }
    return Measured(label, recorded, blocks, arms, figures)


def check_one_metric(runs: Sequence[Recorded]) -> None:
    """Figures of two kinds have no ratio."""
    first = runs[0]
    for other in runs[1:]:
        if other.run["metric"] != first.run["metric"]:
            raise DynoError(
                "other_metric",
                f"{other.name}: its metric is {other.run['metric']}, that of {first.name} {first.run['metric']}; "
                "compare runs of one metric",
            )


def check_distinct(runs: Sequence[Recorded]) -> None:
    """A run beside itself, perhaps once as its archive, would look like proof of a steady machine."""
    for place, run in enumerate(runs):
        for earlier in runs[:place]:
            if run.run == earlier.run:
                raise DynoError("same_run", f"{run.name}: is the same run as {earlier.name}; name two different runs")


def window_ns(measured_run: Measured) -> int:
    """The length of the windows; 0 for fixed work, where the window of a trial is only a limit."""
    timed = [name for name, arm in measured_run.arms.items() if arm.get("fixed_units") is None]
    trials = [trial for name in timed for trial in measured_run.trials(name) if usable(trial)]
    return max((int(trial["outcome"]["window_ns"]) for trial in trials), default=0)


def summary(measured_run: Measured) -> RunSummary:
    """What a report says of a run in a line."""
    run, machine = measured_run.run, measured_run.machine
    servers = machine.get("servers") or [machine["server"]]
    return RunSummary(
        label=measured_run.label,
        run_id=run["run_id"],
        experiment=run["experiment"],
        experiment_file=run.get("experiment_file", "experiment.toml"),
        started_at=run["started_at"],
        seed=run["seed"],
        blocks=run["blocks"],
        blocks_complete=len(measured_run.blocks),
        window_ns=window_ns(measured_run),
        server_versions=list(dict.fromkeys(server["version"] for server in servers)),
        host=machine["host"],
        dbdyno=run["dbdyno"]["version"],
    )
