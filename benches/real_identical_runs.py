"""Real experiments on four identical arms, kept as data: what a real server shows where nothing differs.

Each experiment is a whole `dbdyno run` on an embedded server of its own: 20 blocks of 4 arms that differ by the value
of a setting that nobody reads. Three workloads take turns. The seeds are the numbers of the experiments, so nobody
chose them. An experiment is appended when it is complete, so a second call goes on where the first was stopped.

    python benches/real_identical_runs.py --experiments 72 --out tests/data/identical-runs.csv

tests/analysis/test_identical_runs.py judges the file; benches/judge_identical_runs.py prints what it finds.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from dbdyno.analysis.blocks import usable
from dbdyno.analysis.metrics import clock_figures
from dbdyno.store import run_directory

COLUMNS = (
    *("experiment", "workload", "seed", "block", "position", "arm", "started_at"),
    *("throughput_per_s", "response_time_ns_mean", "response_time_ns_p50"),
    *("response_time_ns_p95", "response_time_ns_p99"),
)
ARMS = ("1", "2", "3", "4")
FIRST_SEED = 1001
# Enough that rounding makes no ties that were not there: throughput is a quotient, the other figures count ns.
DIGITS = 7


@dataclasses.dataclass(frozen=True, slots=True)
class Workload:
    """One load of 1 to 4 clients that a trial of 0.15 s can show."""

    script: str
    clients: int


# The CPU-bound one adds up numbers for about 1 ms a unit; simple-update waits for a flush in each.
WORKLOADS = {
    "select-only": Workload("builtin:select-only", clients=2),
    "simple-update": Workload("builtin:simple-update", clients=4),
    "cpu-bound": Workload("cpu-bound.sql", clients=1),
}
CPU_BOUND = "SELECT sum(sqrt(number)) FROM generate_series(1, 10000) AS number;\n"


def write_experiment(directory: Path, workload: Workload) -> Path:
    """The experiment file, in a new directory."""
    levels = "\n".join(f'{arm} = {{ set = {{ "dbdyno.copy" = "{arm}" }} }}' for arm in ARMS)
    (directory / "cpu-bound.sql").write_text(CPU_BOUND, encoding="ascii")
    path = directory / "identical.toml"
    path.write_text(
        f"""question = "Do four copies of one arm differ?"
baseline = {{ copy = "1" }}
[workload]
script = "{workload.script}"
clients = {workload.clients}
[design]
blocks = 20
reset = []
warm_up = "50 ms"
window = "150 ms"
[factors.copy]
{levels}
""",
        encoding="ascii",
    )
    return path


def run(experiment: Path, seed: int) -> list[dict[str, object]]:
    """The figures of each trial, in the order of time."""
    out = experiment.parent / "run"
    command = [sys.executable, "-m", "dbdyno", "run", str(experiment), "--out", str(out), "--seed", str(seed), "--json"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    stored, _ = run_directory.read(out)
    return [dict(_figures(trial)) for trial in stored.trials]


def _figures(trial: dict[str, object]) -> Iterator[tuple[str, object]]:
    assert trial["status"] == "ok", trial["reason"]
    outcome = trial["outcome"]
    assert isinstance(outcome, dict)
    for key in ("block", "position", "arm", "started_at"):
        yield key, trial[key]
    yield "throughput_per_s", f"{outcome['throughput_per_s'] + 0.0:.{DIGITS}g}"  # a sum of nothing is -0.0
    if not usable(trial):  # a host that took the CPU away for the whole window: no unit ended, so no time is known
        return
    for name, ns in clock_figures(outcome["response_time"]).items():
        yield f"response_time_ns_{name}", f"{ns:.{DIGITS}g}" if ns < 10**DIGITS else f"{ns:.0f}"


def experiments_in(path: Path) -> int:
    """How many the file has, from 1 on without a gap."""
    if not path.exists():
        return 0
    with path.open(encoding="ascii", newline="") as file:
        return max((int(row["experiment"]) for row in csv.DictReader(file)), default=0)


def append(path: Path, experiment: int, workload: str, seed: int, trials: list[dict[str, object]]) -> None:
    """All trials of one experiment, or none."""
    is_new = not path.exists()
    with path.open("a", encoding="ascii", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerows({"experiment": experiment, "workload": workload, "seed": seed, **trial} for trial in trials)


def main() -> None:
    """Fills the file up to the number of experiments that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiments", type=int, default=72)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    names = list(WORKLOADS)
    for place in range(experiments_in(options.out), options.experiments):
        name, seed = names[place % len(names)], FIRST_SEED + place
        with tempfile.TemporaryDirectory() as directory:
            trials = run(write_experiment(Path(directory), WORKLOADS[name]), seed)
        append(options.out, place + 1, name, seed, trials)
        print(f"{place + 1:>4} {name}", flush=True)


if __name__ == "__main__":
    main()
