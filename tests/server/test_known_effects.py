"""Known effects on a real server: what `known-effect` plants is found, with the right size.

The true ratio is not quite 1 + share: what a unit takes beside the loop does not grow with it. With `outside` as its
part of the baseline's response time (the way to the server and back, less than 1 % here) the unit takes
outside + (1 - outside) * (1 + share) = 1 + share * (1 - outside) times as long.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from small_experiment import arm_of, run_experiment, write_experiment

from dbdyno import experiments
from dbdyno.analysis.signed_rank import interval
from dbdyno.design.experiment import load_experiment

SHIPPED = experiments.find("known-effect")
SHARES = {"1-percent": 0.01, "3-percent": 0.03, "5-percent": 0.05, "10-percent": 0.10}
# Of the nightly proof: so many experiments, and how many blocks each may take.
EXPERIMENTS, ENOUGH = 20, 17
PLANTED = ("3-percent", "5-percent", "10-percent")
PILOT_BLOCKS, FEWEST_BLOCKS, MOST_BLOCKS = 12, 40, 120


def shipped_with(directory: Path, *levels: str) -> Path:
    """The shipped experiment with none and these levels of slowdown."""
    kept = {"none", *levels}
    head, header, factor = SHIPPED.read_text(encoding="utf-8").partition("[factors.slowdown]\n")
    lines = [line for line in factor.splitlines() if line.split()[0] in kept]
    assert len(lines) == len(kept)
    files = {path.name: path.read_text(encoding="utf-8") for path in SHIPPED.parent.glob("*.sql")}
    return write_experiment(directory, head + header + "\n".join(lines), files)


def comparison(findings: Mapping[str, Any], level: str) -> dict[str, Any]:
    """Of one level with none."""
    return next(one for one in findings["comparisons"] if one["arm"] == level)


def true_ratio(findings: Mapping[str, Any], level: str) -> float:
    """What was planted, of the response time that the client sees."""
    arm = arm_of(findings, "none")
    outside = arm["profile_ns"]["client_and_network"] / arm["profile_total_ns"]
    return 1 + SHARES[level] * (1 - outside)


def test_each_level_does_as_much_more_as_its_name_says() -> None:
    """Rounds of the loop, to the last one."""
    rounds = {arm.name: int(arm.variables["rounds"]) for arm in load_experiment(SHIPPED).arms}

    assert {name: count / rounds["none"] for name, count in rounds.items()} == {
        "none": 1,
        **{name: 1 + share for name, share in SHARES.items()},
    }


@pytest.mark.server
@pytest.mark.timed
def test_a_tenth_more_is_found_with_the_right_size(tmp_path: Path) -> None:
    """Where the machine lets 10 % be seen at all; the interval is one that misses the truth once in 1000 times.

    19 blocks are the most without a look at which the run could end.
    """
    findings = run_experiment(shipped_with(tmp_path, "10-percent"), tmp_path / "run", "--blocks", 19)

    found = comparison(findings, "10-percent")
    logs = [math.log(ratio) for ratio in found["block_ratios"]]
    low, high = interval(logs, confidence=0.999) or (math.nan, math.nan)
    assert math.exp(low) <= true_ratio(findings, "10-percent") <= math.exp(high)
    assert 1.095 < true_ratio(findings, "10-percent") <= 1.10 + 1e-12
    out_of_reach = found["ratio"]["high"] / found["ratio"]["low"] > 1.10
    assert found["verdict"] == "worse" or (found["verdict"] == "undecided" and out_of_reach)


@pytest.mark.server
@pytest.mark.timed
@pytest.mark.nightly
def test_planted_effects_are_found_seventeen_times_in_twenty(tmp_path: Path) -> None:
    """Each of 3, 5 and 10 %: significant after Holm, in the right direction, and the interval holds the truth.

    The blocks come from a pilot whose figures are not used again. Of 3 % it may be said that it is out of reach: then
    the interval holds the truth and no difference, too.
    """
    blocks = blocks_from_pilot(tmp_path / "pilot")
    print(f"{blocks} blocks")
    found, covered, right = (dict.fromkeys(PLANTED, 0) for _ in range(3))
    for seed in range(1, EXPERIMENTS + 1):
        directory = tmp_path / str(seed)
        findings = run_experiment(
            shipped_with(directory, *PLANTED), directory / "run", "--blocks", blocks, "--seed", seed, timeout_s=900
        )
        for level in PLANTED:
            one, truth = comparison(findings, level), true_ratio(findings, level)
            low, high = one["ratio"]["low"], one["ratio"]["high"]
            is_found = one["p_value_holm"] < 0.05 and one["ratio"]["estimate"] > 1
            is_covered = low <= truth <= high
            found[level] += is_found
            covered[level] += is_covered
            right[level] += is_covered and (is_found or (level == "3-percent" and low <= 1))
            print(seed, level, f"{truth:.4f}", one["ratio"], one["p_value_holm"], one["verdict"], flush=True)

    print(f"found {found}, covered {covered}, right {right}")
    assert min(right.values()) >= ENOUGH


def blocks_from_pilot(directory: Path) -> int:
    """So many that 3 % would be found nine times in ten, as the strictest of three comparisons."""
    findings = run_experiment(shipped_with(directory, *PLANTED), directory / "run", "--blocks", PILOT_BLOCKS)
    ratios = [one["ratio"] for one in findings["comparisons"]]
    half_width = max(math.log(ratio["high"] / ratio["low"]) / 2 for ratio in ratios)
    # Normal quantiles: 2.39 for 0.05 / 3 on two sides, 1.28 for nine in ten, 1.96 for the half-width's own level.
    wanted = math.log(1.03) * 1.96 / (2.39 + 1.28)
    needed = math.ceil(PILOT_BLOCKS * (half_width / wanted) ** 2)
    return max(FEWEST_BLOCKS, min(MOST_BLOCKS, needed))
