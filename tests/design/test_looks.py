"""When a run is looked at: planned before it starts, from the file and the flags."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbdyno.design.asked import Asked
from dbdyno.design.experiment import load_experiment
from dbdyno.errors import DynoError

EXPERIMENT = """
question = "?"
baseline = {{ f = "a" }}
{top}
[workload]
script = "builtin:select-only"
{workload}
[design]
{design}
[quick]
blocks = 10
[factors.f]
a = {{}}
b = {{ set = {{ work_mem = "64kB" }} }}
"""


def write(tmp_path: Path, design: str = "", top: str = "", workload: str = "") -> Path:
    """An experiment file."""
    path = tmp_path / "looks.toml"
    path.write_text(EXPERIMENT.format(design=design, top=top, workload=workload))
    return path


@pytest.mark.parametrize(
    ("design", "asked", "expected"),
    [
        ("", Asked(), (12, 18, 24, 30)),
        ("", Asked(quick=True), (10,)),
        ("", Asked(blocks=100), (40, 60, 80, 100)),
        ("", Asked(blocks=19), (19,)),
        ("", Asked(until_decided=True), (24, 36, 48, 60)),
        ("looks = []", Asked(), (30,)),
        ("blocks = 40\nlooks = [10, 20]", Asked(), (10, 20, 40)),
        ("looks = [10, 20]", Asked(blocks=16), (10, 16)),
    ],
)
def test_looks_and_the_end(tmp_path: Path, design: str, asked: Asked, expected: tuple[int, ...]) -> None:
    """The last one is the end."""
    experiment = load_experiment(write(tmp_path, design), asked)

    assert experiment.looks == expected
    assert experiment.blocks == expected[-1]


@pytest.mark.parametrize(
    ("design", "words"), [("looks = [18, 12]", "ascending order"), ("looks = [5, 12]", "design.looks")]
)
def test_looks_that_are_none(tmp_path: Path, design: str, words: str) -> None:
    """Out of order, or so early that no test can find anything."""
    with pytest.raises(DynoError, match=words):
        load_experiment(write(tmp_path, design))


@pytest.mark.parametrize(
    ("workload", "top", "expected"),
    [
        ("", "", "throughput_per_s"),
        ("arrival = { poisson_per_s = 100 }", "", "response_time_ns_p95"),
        ("arrival = { poisson_per_s = 100 }", 'metric = "response_time_ns_mean"', "response_time_ns_mean"),
        ("units = 10", "", "elapsed_ns"),
    ],
)
def test_the_primary_metric(tmp_path: Path, workload: str, top: str, expected: str) -> None:
    """An open loop fixes its own throughput, so what it leaves free is the response time."""
    assert load_experiment(write(tmp_path, top=top, workload=workload)).metric == expected


def test_the_null_arm_is_a_copy_of_the_baseline(tmp_path: Path) -> None:
    """By the file or by the flag; it differs in name alone."""
    for top, asked in (("null_arm = true", Asked()), ("", Asked(null_arm=True))):
        arms = load_experiment(write(tmp_path, top=top), asked).arms

        assert [(arm.name, arm.baseline, arm.null) for arm in arms] == [
            ("a", None, False), ("b", "a", False), ("null-arm", "a", True),
        ]  # fmt: skip
        assert (arms[2].levels, arms[2].session) == (arms[0].levels, arms[0].session)


def test_all_pairs_by_the_file_or_by_the_flag(tmp_path: Path) -> None:
    """Both say the same."""
    assert load_experiment(write(tmp_path, top='compare = "all-pairs"')).all_pairs
    assert load_experiment(write(tmp_path), Asked(all_pairs=True)).all_pairs
    assert not load_experiment(write(tmp_path)).all_pairs
