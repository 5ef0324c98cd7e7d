"""Arms that did not do what their names say: in such a run their figures are of something else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dbdyno.analysis.checks import checks
from dbdyno.analysis.findings import Warning
from dbdyno.analysis.requests import page_bytes
from dbdyno.analysis.runs_compared.record import Measured


def failed_codes(run: Measured, name: str) -> list[str]:
    """What kinds of checks an arm failed in a run: `check`, `deviation`."""
    arm = run.arms[name]
    baseline_trials = run.trials(arm["baseline"]) if arm["baseline"] in run.arms else []
    made = checks(arm, run.trials(name), baseline_trials, page_bytes(run.server(name)))
    codes = ["deviation" if each.check == "deviation" else "check" for each in made if each.failed_trials]
    return list(dict.fromkeys(codes))


def failed_check_warnings(runs: Sequence[Measured], names: Sequence[str]) -> Iterator[Warning]:
    """One for each arm of a run that failed."""
    for run in runs:
        for name in (name for name in names if name in run.arms):
            for code in failed_codes(run, name):
                message = f"in {run.label} it did not do what its name says; see dbdyno report of that run"
                yield Warning(code, message, name)
