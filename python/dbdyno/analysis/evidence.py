"""What server, host and database say of an arm's trials beside its times."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from dbdyno.analysis.documents import Document
from dbdyno.analysis.estimates import pseudo_median
from dbdyno.analysis.findings import HostCpu, Outcome, ResetStep
from dbdyno.analysis.work import units_in_all


def counters_per_unit(trials: Sequence[Document]) -> dict[str, float]:
    """The server's counters that every trial has; empty where not all units of the trials are known.

    They cover warm-up and cool-down, so they are divided by the units of these too.
    """
    units = units_in_all(trials)
    if units is None:
        return {}
    names = [name for name in trials[0]["server"] if all(name in trial["server"] for trial in trials)]
    return {name: sum(trial["server"][name] for trial in trials) / units for name in names}


def hot_update_share(trials: Sequence[Document]) -> float | None:
    """HOT updates of all updates; None where no row was updated, or the server does not count."""
    updated = sum(trial["server"].get("rows_updated", 0) for trial in trials)
    return sum(trial["server"].get("rows_updated_hot", 0) for trial in trials) / updated if updated else None


def outcomes(trials: Sequence[Document]) -> list[Outcome]:
    """Each figure before and after the work, and the difference within each trial."""
    names = dict.fromkeys(name for trial in trials for name in trial.get("outcomes") or {})
    return [_outcome(name, [trial["outcomes"][name] for trial in trials if _has(trial, name)]) for name in names]


def _has(trial: Document, name: str) -> bool:
    return name in (trial.get("outcomes") or {})


def _outcome(name: str, figures: Sequence[Document]) -> Outcome:
    return Outcome(
        name=name,
        before=pseudo_median([float(figure["before"]) for figure in figures]),
        after=pseudo_median([float(figure["after"]) for figure in figures]),
        difference=pseudo_median([float(figure["after"] - figure["before"]) for figure in figures]),
    )


def host_cpu(trials: Sequence[Document]) -> HostCpu | None:
    """The mean over the trials that know it, each by the time it took; None where none does."""
    known = [(trial["host"], trial["outcome"]["elapsed_ns"]) for trial in trials if trial.get("host")]
    whole_ns = sum(elapsed_ns for _, elapsed_ns in known)
    if not whole_ns:
        return None

    def mean(share: str) -> float:
        return float(sum(host[share] * elapsed_ns for host, elapsed_ns in known) / whole_ns)

    return HostCpu(mean("cpu_user_share"), mean("cpu_system_share"), mean("cpu_io_wait_share"), mean("cpu_steal_share"))


def reset(trials: Sequence[Document]) -> list[ResetStep]:
    """Every step before a trial: what it took in the median, and what it reached the last time."""
    by_trial = [trial["reset"] for trial in trials if trial.get("reset")]
    return [
        ResetStep(
            step=last["step"],
            ns=float(median(steps[place]["ns"] for steps in by_trial if len(steps) > place)),
            reached={key: value for key, value in last.items() if key not in ("step", "ns")},
        )
        for place, last in enumerate(by_trial[-1] if by_trial else [])
    ]


def server_log(trials: Sequence[Document]) -> list[str]:
    """Each distinct line once, in the order of first sight."""
    return list(dict.fromkeys(line for trial in trials for line in trial.get("server_log") or ()))
