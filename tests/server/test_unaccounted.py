"""What the time profile cannot explain is little, and no part of it is negative, whatever the load.

All arms of the shipped `commit-write` in its quick form, and pgbench's three built-in workloads at 1, 8 and 64 clients,
each a run of the whole program on a server of its own with the defaults. A host that takes the CPU away for a moment
can spoil a trial: an arm has several, in random order, and what is bounded is its mean, which the report shows, and
the median of its trials. `pytest -s` prints each figure beside the CPU time that the host took meanwhile.

In a closed loop without think time what could be unaccounted is the time between two units, and clocks that say more
than there was; so beside it stands, for information, the share of the time asleep by the exact clocks and by
snapshots, two figures that know nothing of each other.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from cell_text import unpack
from small_experiment import run_experiment, trials_of, write_experiment

pytestmark = [pytest.mark.server, pytest.mark.nightly]

SHARE_MAX = 0.03
BY_MEMORY = {"mapped", "sysv", "contiguous", "mem"}
BUILT_IN = """
question = "Where does the time of pgbench's workloads go?"
baseline = { clients = "1" }
[workload]
schema = "pgbench"
scale = 10
[design]
blocks = 6
reset = ["vacuum", "checkpoint"]
warm_up = "300 ms"
window = "1 s"
[factors.workload]
tpcb-like = { script = "builtin:tpcb-like" }
simple-update = { script = "builtin:simple-update" }
select-only = { script = "builtin:select-only" }
[factors.clients]
1 = { clients = 1 }
8 = { clients = 8 }
64 = { clients = 64 }
"""
Run = tuple[dict[str, Any], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def built_in(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Run:
    """The findings and the trials of the nine cells."""
    directory = tmp_path_factory.mktemp("built-in")
    out = directory / "run"
    return run_experiment(write_experiment(directory, BUILT_IN), out, timeout_s=1200), trials_of(out)


@pytest.fixture(scope="module")
def commit_write(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Run:
    """The findings and the trials of the shipped experiment in its quick form."""
    out = tmp_path_factory.mktemp("commit-write") / "run"
    return run_experiment(Path("commit-write"), out, "--quick", timeout_s=1800), trials_of(out)


@pytest.mark.parametrize("clients", ["1", "8", "64"])
@pytest.mark.parametrize("workload", ["tpcb-like", "simple-update", "select-only"])
def test_built_in_workloads(built_in: Run, workload: str, clients: str) -> None:
    """Three workloads by three numbers of clients."""
    check(built_in, f"{workload}/{clients}")


@pytest.mark.parametrize("durability", ["wait-immediate", "wait-batch", "nowait-immediate", "nowait-batch"])
@pytest.mark.parametrize("load", ["cpu-bound", "io-bound"])
def test_all_arms_of_commit_write(commit_write: Run, load: str, durability: str) -> None:
    """Two loads by four kinds of durability."""
    check(commit_write, f"{load}/{durability}")


def test_no_arm_is_left_out(built_in: Run, commit_write: Run) -> None:
    """The tests above name all arms of the runs."""
    assert [len(findings["arms"]) for findings, _ in (built_in, commit_write)] == [9, 8]


def check(run: Run, name: str) -> None:
    """The arm's parts sum to the whole, none is negative, little is unaccounted: in the mean and in most trials."""
    findings, trials = run
    arm = next(arm for arm in findings["arms"] if arm["arm"] == name)
    profiles = [trial["outcome"]["profile"] for trial in trials if trial["arm"] == name]
    share = arm["profile_ns"]["unaccounted"] / arm["profile_total_ns"]
    by_trial = [profile["unaccounted_ns"] / profile["total_ns"] for profile in profiles]
    stolen = [trial["host"]["cpu_steal_share"] for trial in trials if trial["arm"] == name]
    by_clocks, by_snapshots = asleep_shares(profiles)
    print(
        f"\n  {name}: unaccounted {share:+.2%}, trials {statistics.median(by_trial):+.2%}"
        f" ({min(by_trial):+.2%} to {max(by_trial):+.2%}, {len(by_trial)} of them), mean response"
        f" {arm['profile_total_ns'] / 1e6:.3f} ms; asleep by clocks {by_clocks:.1%}, by snapshots {by_snapshots:.1%};"
        f" stolen {statistics.mean(stolen):.1%}, at most {max(stolen):.1%}",
        end="",
    )

    assert {profile["route"] for profile in profiles} <= BY_MEMORY
    assert min(known(arm["profile_ns"])) >= 0
    assert sum(known(arm["profile_ns"])) + arm["profile_ns"]["unaccounted"] == pytest.approx(
        arm["profile_total_ns"], rel=1e-9
    )
    for profile in profiles:
        assert min(known(recorded(profile))) >= 0
    assert abs(share) <= SHARE_MAX
    assert abs(statistics.median(by_trial)) <= SHARE_MAX


def asleep_shares(profiles: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    """Of the time within units: what clocks leave for sleep, and what looks at snapshots of each event found."""
    counts: dict[str, list[int]] = {}
    for profile in profiles:
        for event, *three in chain.from_iterable(cell[-1] for cell in unpack(profile["cells"])):
            before = counts.setdefault(profile["events"][event], [0, 0, 0])
            before[:] = [old + new for old, new in zip(before, three, strict=True)]
    awake_ns = sum(profile["cpu_ns"] + profile["run_queue_ns"] for profile in profiles)
    known = [(seen, asleep / looked) for seen, looked, asleep in counts.values() if looked]
    by_snapshots = sum(seen * share for seen, share in known) / sum(seen for seen, _ in known)
    return 1 - awake_ns / sum(profile["total_ns"] for profile in profiles), by_snapshots


def recorded(profile: Mapping[str, Any]) -> dict[str, Any]:
    """A trial's profile in the words of the findings."""
    names = ("queue", "cpu", "run_queue", "asleep_no_wait_event", "client_and_network", "unaccounted")
    return {"waits": profile["waits_ns"], **{name: profile[f"{name}_ns"] for name in names}}


def known(profile: Mapping[str, Any]) -> list[float]:
    """All parts but what is unaccounted."""
    return [value for part, value in profile.items() if part not in ("waits", "unaccounted")] + [
        *profile["waits"].values()
    ]
