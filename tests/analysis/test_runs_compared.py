"""Two runs against each other: planted truths are found, and only what is common is compared."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compared_runs import ALL, recorded
from scipy import stats

from dbdyno.analysis.blocks import counted_blocks
from dbdyno.analysis.runs_compared.compare import compare_runs
from dbdyno.analysis.runs_compared.document import to_json
from dbdyno.analysis.runs_compared.findings import RunsComparison
from dbdyno.analysis.runs_compared.history import runs_history
from dbdyno.analysis.runs_compared.record import Recorded
from dbdyno.analysis.runs_compared.two_samples import Samples, judge
from dbdyno.design.experiment import load_experiment
from dbdyno.errors import DynoError

BATCH = "io-bound/wait-batch"


def changed(one: Recorded, change: Callable[[dict[str, Any], dict[str, Any]], object]) -> Recorded:
    """The same run after a change of its run and machine documents."""
    run, machine = json.loads(json.dumps([one.run, one.machine]))
    change(run, machine)
    return dataclasses.replace(one, run=run, machine=machine)


def codes(found: RunsComparison) -> list[str]:
    """Those of the warnings."""
    return [warning.code for warning in found.warnings]


def test_a_slower_day_makes_every_arm_worse_and_no_effect() -> None:
    """All arms 10 % slower: each is worse by that, and what arms do to their baselines stays the same."""
    found = compare_runs(recorded(1), recorded(2, slower=dict.fromkeys(ALL, 1.10)))

    assert [arm.verdict for arm in found.arms] == ["worse"] * 4
    assert found.worse == list(ALL[:4])
    for arm in found.arms:
        assert arm.ratio.low is not None
        assert arm.ratio.high is not None
        assert arm.ratio.low < 1 / 1.10 < arm.ratio.high
    assert [effect.verdict for effect in found.effects] == ["same"] * 3


def test_an_arm_that_lost_its_effect_is_found_alone() -> None:
    """One arm 10 % slower: it is worse, the others are not, and of the effects only its own changed."""
    found = compare_runs(recorded(1, noise=0.0005), recorded(3, noise=0.0005, slower={BATCH: 1.10}))

    assert {arm.arm: arm.verdict for arm in found.arms if arm.verdict not in ("same", "small")} == {BATCH: "worse"}
    assert {effect.arm: effect.verdict for effect in found.effects if effect.verdict != "same"} == {BATCH: "worse"}
    effect = next(effect for effect in found.effects if effect.arm == BATCH)
    assert effect.ratio.estimate == pytest.approx(1 / 1.10, abs=0.01)


def test_lower_is_better_for_times() -> None:
    """The same slower arm by its response time: the ratio turns over, the verdict does not."""
    metric = "response_time_ns_mean"
    found = compare_runs(
        recorded(1, noise=0.0005, metric=metric), recorded(3, noise=0.0005, metric=metric, slower={BATCH: 1.10})
    )

    arm = next(arm for arm in found.arms if arm.arm == BATCH)
    assert (arm.verdict, found.worse) == ("worse", [BATCH])
    assert arm.ratio.estimate == pytest.approx(1.10, abs=0.01)


def test_every_figure_is_recomputed_by_scipy() -> None:
    """p values to 1e-9 from the trials themselves, with Holm's correction over the arms."""
    a, b = recorded(1, noise=0.02), recorded(2, noise=0.02, slower={BATCH: 1.05})
    found = compare_runs(a, b)
    values = [
        {arm: [math.log(block[arm]["outcome"]["throughput_per_s"]) for block in blocks.values()] for arm in ALL[:4]}
        for blocks in (counted_blocks(one.run, one.trials) for one in (a, b))
    ]
    p_values = [stats.mannwhitneyu(values[0][arm], values[1][arm], method="exact").pvalue for arm in ALL[:4]]
    in_order = sorted(p_values)
    holm = [max(min(1, (4 - step) * p) for step, p in enumerate(in_order) if p <= own) for own in p_values]

    assert [arm.p_value for arm in found.arms] == pytest.approx(p_values, rel=1e-9)
    assert [arm.p_value_holm for arm in found.arms] == pytest.approx(holm, rel=1e-9)
    for arm in found.arms:
        differences = np.subtract.outer(values[1][arm.arm], values[0][arm.arm])
        assert arm.ratio.estimate == pytest.approx(math.exp(np.median(differences)), rel=1e-9)


@pytest.mark.parametrize("blocks", [8, 12])
def test_false_alarms_of_exchangeable_trials_are_what_the_test_promises(blocks: int) -> None:
    """600 pairs of runs of one arm: better or worse as often as the exact level says, +- 2.6 standard errors.

    The level is below 5 % because p values come in steps: 4.99 % for 8 + 8 blocks, 4.49 % for 12 + 12.
    """
    pairs = 600
    level = exact_level(blocks)
    random = np.random.default_rng(blocks)
    alarms = 0
    for _ in range(pairs):
        pooled = random.standard_t(3, 2 * blocks)  # outliers and all
        [found] = judge([Samples(pooled[:blocks].tolist(), pooled[blocks:].tolist(), [])], 1e-9, higher_is_better=True)
        alarms += found.verdict in ("better", "worse")

    assert level <= 0.05
    assert abs(alarms - pairs * level) < 2.6 * math.sqrt(pairs * level * (1 - level))


def exact_level(blocks: int) -> float:
    """The probability of p < 0.05 over all ways to deal 2 x blocks distinct values."""
    counts = np.array([partitions(total, blocks, blocks) for total in range(blocks * blocks + 1)], dtype=float)
    lower = np.cumsum(counts) / counts.sum()
    p = np.minimum(1, 2 * np.minimum(lower, lower[::-1]))
    return float(counts[p < 0.05].sum() / counts.sum())


@functools.cache
def partitions(total: int, parts: int, largest: int) -> int:
    """Partitions of `total` into at most so many parts, none above `largest`: the ways to this value of U."""
    if total == 0:
        return 1
    if total < 0 or parts == 0 or largest == 0:
        return 0
    return partitions(total - largest, parts - 1, largest) + partitions(total, parts, largest - 1)


def test_a_drifting_machine_breaks_the_promise_between_runs_and_not_within() -> None:
    """Why the report says what it says: two runs of one system on a wandering machine, and the effect within them.

    Both arms follow the machine, whose speed wanders by 1 % from block to block; nothing was changed in either.
    """
    pairs, blocks = 300, 12
    random = np.random.default_rng(5)
    between = within = 0
    for _ in range(pairs):
        runs = [
            np.cumsum(random.normal(0, 0.01, blocks))[:, None] + random.normal(0, 0.01, (blocks, 2)) for _ in range(2)
        ]
        [arm] = judge([Samples(*(run[:, 0].tolist() for run in runs), [])], 1e-9, higher_is_better=True)
        [effect] = judge(
            [Samples(*((run[:, 1] - run[:, 0]).tolist() for run in runs), [])], 1e-9, higher_is_better=True
        )
        between += arm.verdict in ("better", "worse")
        within += effect.verdict in ("better", "worse")

    assert between / pairs > 0.35
    assert within / pairs < 0.05 + 2.6 * math.sqrt(0.05 * 0.95 / pairs)


def test_holm_keeps_the_promise_for_a_family() -> None:
    """Four arms that did not change: any alarm in at most 5 % of the pairs of runs, plus 2.6 standard errors."""
    pairs, blocks = 400, 12
    random = np.random.default_rng(11)
    alarms = 0
    for _ in range(pairs):
        family = [
            Samples(random.normal(size=blocks).tolist(), random.normal(size=blocks).tolist(), []) for _ in range(4)
        ]
        alarms += any(one.verdict in ("better", "worse") for one in judge(family, 1e-9, higher_is_better=True))

    assert alarms <= pairs * 0.05 + 2.6 * math.sqrt(pairs * 0.05 * 0.95)


def test_order_of_the_trials_in_the_file_changes_no_byte() -> None:
    """Reversed journals give the same documents, of two runs and of a history."""
    a, b = recorded(1), recorded(2)
    turned = [dataclasses.replace(one, trials=list(reversed(one.trials))) for one in (a, b)]

    assert to_json(compare_runs(*turned)) == to_json(compare_runs(a, b))
    assert to_json(runs_history(turned)) == to_json(runs_history([a, b]))


def test_an_arm_that_did_not_do_what_its_name_says_has_no_verdict() -> None:
    """However clear the ratio, and it trips no gate; effects against it have none either."""
    bad = recorded(2, slower=dict.fromkeys(ALL, 1.10))
    deviating = {"deviations": ["commit_delay: set to 410, the session says 0"]}
    trials = [{**trial, **(deviating if trial["arm"] == BATCH else {})} for trial in bad.trials]
    found = compare_runs(recorded(1), dataclasses.replace(bad, trials=trials))

    arm = next(arm for arm in found.arms if arm.arm == BATCH)
    assert (arm.verdict, arm.withheld, arm.limited_by) == ("undecided", True, ["deviation"])
    assert BATCH not in found.worse
    assert len(found.worse) == 3
    assert [effect.arm for effect in found.effects if effect.withheld] == [BATCH]
    assert codes(found) == ["confounded", "deviation"]


def test_five_blocks_decide_nothing() -> None:
    """No p value, no interval, and it says so."""
    found = compare_runs(recorded(1, blocks=5), recorded(2, slower=dict.fromkeys(ALL, 2.0)))

    assert {arm.verdict for arm in found.arms} == {"undecided"}
    assert {(arm.p_value, arm.ratio.low, arm.first.low) for arm in found.arms} == {(None, None, None)}
    assert "few_blocks" in codes(found)


def test_what_the_records_say_differently_is_listed() -> None:
    """Machine, storage, server, settings, experiment; figures that are measured carry their ratio."""

    def other(run: dict[str, Any], machine: dict[str, Any]) -> None:
        run["dbdyno"]["version"] = "0.2.0"
        machine.update(cpus=4, kernel="6.18.1", fingerprint={"cpu_ns_per_kib": 90, "flush_time_ns_p50": 50_000})
        machine["server"].update(version="19.1", settings={"shared_buffers": "1GB", "jit": "off"})
        machine["data_directory"].update(file_system="xfs", flush_time_ns_p50=406_172)

    first = changed(recorded(1), lambda _, machine: machine.update(fingerprint={"cpu_ns_per_kib": 100}))
    b = dataclasses.replace(changed(recorded(2, blocks=10), other), files={"experiment.toml": "1" * 64})
    found = compare_runs(first, b).differences

    assert [(each.group, each.what, each.first, each.second, each.ratio) for each in found] == [
        ("machine", "CPUs", 2, 4, None),
        ("machine", "kernel", "6.12.41", "6.18.1", None),
        ("machine", "CPU time of a fixed piece of work, per KiB", 100, 90, 0.9),
        ("storage", "file system", "ext4", "xfs", None),
        ("storage", "flush time", 812_345, 406_172, pytest.approx(0.5, abs=1e-5)),
        ("server", "version", "18.6", "19.1", None),
        ("settings", "jit", None, "off", None),
        ("settings", "shared_buffers", "256MB", "1GB", None),
        ("dbdyno", "version", "0.1.0", "0.2.0", None),
        ("experiment", "blocks planned", 12, 10, None),
        ("experiment", "seed", 1, 2, None),
        ("experiment", "text of experiment.toml", "0" * 64, "1" * 64, None),
    ]


def test_records_of_older_versions_are_compared_in_what_they_have() -> None:
    """Keys that one record lacks are no difference; a server elsewhere has no data directory."""

    def old(run: dict[str, Any], machine: dict[str, Any]) -> None:
        machine.update(data_directory=None)
        del machine["virtualisation"], machine["server"]["embedded"], run["quick"]

    found = compare_runs(recorded(1), changed(recorded(2), old)).differences

    assert [each.what for each in found] == ["data directory", "seed"]


def test_only_what_is_common_is_compared() -> None:
    """Arms by name, that do the same work; other settings of one are listed and stand beside its verdict."""

    def other(run: dict[str, Any], _: dict[str, Any]) -> None:
        run.update(experiment="commit-writes", margin=0.01)
        run["arms"][1]["session"]["commit_delay"] = "800"
        run["arms"][2]["clients"] = 50

    found = compare_runs(recorded(1, arms=4), changed(recorded(2, arms=8), other))

    assert [arm.arm for arm in found.arms] == [ALL[0], ALL[1], ALL[3]]
    assert found.left_out[-1].reason == "does other work: clients 5 and 50"
    assert {each.reason for each in found.left_out[:-1]} == {"only in B"}
    assert [arm.limited_by for arm in found.arms] == [[], ["definition"], []]
    assert [each.what for each in found.differences if each.group == "arms"] == [f"{BATCH}: commit_delay"]
    assert found.margin == 0.01
    assert "name, margin, the definition of arms differ" in found.warnings[1].message


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (lambda run, _: run.update(metric="elapsed_ns"), "other_metric", "its metric is elapsed_ns, that of run-1"),
        (lambda run, _: [arm.update(clients=9) for arm in run["arms"]], "nothing_common", "both of commit-write"),
        (lambda run, _: run["arms"].append({**run["arms"][0], "arm": "x"}), "no_complete_block", "has no complete"),
    ],
)
def test_what_cannot_be_compared_is_refused(change: Any, code: str, words: str) -> None:
    """One line that names the run."""
    with pytest.raises(DynoError, match=words) as caught:
        compare_runs(recorded(1), changed(recorded(2), change))

    assert caught.value.code == code
    assert "run-2" in caught.value.message


def test_a_run_against_itself_is_refused() -> None:
    """It would look like the proof of a steady machine."""
    with pytest.raises(DynoError, match="is the same run as"):
        compare_runs(recorded(1), dataclasses.replace(recorded(1), name="its archive"))


EXPERIMENT = """
question = "?"
baseline = { durability = "wait" }
[target]
settings = { max_connections = 50 }
[workload]
script = "builtin:select-only"
[factors.durability]
wait = { set = { synchronous_commit = "on" } }
nowait = { set = { synchronous_commit = "off" } }
"""


def settled(found: RunsComparison, directory: Path) -> Any:
    """The experiment that the offer makes of the file above, loaded."""
    assert found.settling.toml is not None
    baseline, _, factor = found.settling.toml.partition("\n\n")
    tomllib.loads(found.settling.toml)
    path = directory / "experiment.toml"
    path.write_text(EXPERIMENT.replace('baseline = { durability = "wait" }', baseline) + factor + "\n")
    return load_experiment(path)


def test_two_builds_are_settled_by_server_bin(tmp_path: Path) -> None:
    """A factor with a level for each build, with the settings that came with it; each arm against itself."""

    def newer(_: dict[str, Any], machine: dict[str, Any]) -> None:
        machine["server"].update(version="19.1", settings={"shared_buffers": "256MB", "jit": "off"})

    found = compare_runs(recorded(1), changed(recorded(2), newer))
    experiment = settled(found, tmp_path)

    assert (found.settling.kind, found.settling.factor, found.settling.blocks) == ("server_bin", "build", 12)
    assert [(arm.name, arm.baseline) for arm in experiment.arms] == [
        ("wait/18.6", None), ("wait/19.1", "wait/18.6"), ("nowait/18.6", None), ("nowait/19.1", "nowait/18.6"),
    ]  # fmt: skip
    assert experiment.arms[1].settings == {"jit": "off"}
    assert str(experiment.arms[1].server) != str(experiment.arms[0].server)


def test_other_settings_are_settled_by_levels_with_them(tmp_path: Path) -> None:
    """Each side sets what the other has not; what was not recorded cannot be set."""

    def tuned(_: dict[str, Any], machine: dict[str, Any]) -> None:
        machine["server"]["settings"] = {"wal_buffers": "16MB", "cluster_name": "(not recorded)"}

    found = compare_runs(recorded(1), changed(recorded(2), tuned))
    arms = settled(found, tmp_path).arms

    assert found.settling.kind == "settings"
    assert [(arm.name, arm.settings) for arm in arms[:2]] == [
        ("wait/as-in-a", {"shared_buffers": "256MB"}), ("wait/as-in-b", {"wal_buffers": "16MB"}),
    ]  # fmt: skip


def test_other_settings_of_an_arm_are_settled_by_two_levels(tmp_path: Path) -> None:
    """The session settings that an arm had then and has now."""
    b = changed(recorded(2), lambda run, _: run["arms"][1]["session"].update(commit_delay="800"))
    found = compare_runs(recorded(1), b)

    assert found.settling.kind == "levels"
    assert [dict(arm.session) for arm in settled(found, tmp_path).arms[:2]] == [
        {"synchronous_commit": "on", "commit_delay": "410"}, {"synchronous_commit": "on", "commit_delay": "800"},
    ]  # fmt: skip


def test_servers_elsewhere_are_settled_by_their_urls(tmp_path: Path) -> None:
    """Their settings and builds are not ours to change."""

    def elsewhere(_: dict[str, Any], machine: dict[str, Any]) -> None:
        machine["server"].update(embedded=False, version="19.1")

    found = compare_runs(recorded(1), changed(recorded(2), elsewhere))

    assert found.settling.kind == "target"
    assert len({str(arm.server) for arm in settled(found, tmp_path).arms}) == 2


@pytest.mark.parametrize("host", ["3f1c7a90", "elsewhere"])
def test_where_only_the_day_differs_one_longer_run_is_offered(host: str) -> None:
    """With the blocks of both; on two machines it says that they cannot alternate."""
    b = changed(recorded(2, blocks=10), lambda _, machine: machine.update(host=host))
    found = compare_runs(recorded(1), b).settling

    assert (found.kind, found.blocks, found.toml, found.two_machines) == ("repeat", 22, None, host == "elsewhere")


def test_history_is_in_the_order_of_the_starts() -> None:
    """However the runs were named; an arm that a run lacks, or with other work, has no figure there."""
    later = changed(recorded(3, arms=8), lambda run, _: run["arms"][1].update(clients=50))
    found = runs_history([later, recorded(1, arms=2), recorded(2, arms=8)])

    assert [(run.label, run.seed) for run in found.runs] == [("1", 1), ("2", 2), ("3", 3)]
    assert {arm.arm: [value is not None for value in arm.values] for arm in found.arms} == {
        ALL[0]: [True, True, True],
        ALL[1]: [True, True, False],
        **{arm: [False, True, True] for arm in ALL[2:]},
    }
    assert [(each.arm, each.reason) for each in found.left_out] == [
        (ALL[1], "does other work in run 3: clients 5 and 50")
    ]
    assert [(change.before, change.after) for change in found.changes] == [("1", "2"), ("2", "3")]
