"""What the self-test concludes from what was planted and found."""

from __future__ import annotations

import math

import pytest

from dbdyno.analysis.findings import Estimate, FalseAlarms, NullArm, SamplingCost
from dbdyno.analysis.self_test.cost import Pair, Watched, null_arm_of, sampling_cost
from dbdyno.analysis.self_test.findings import Planted, SelfTest, TruthResult

COST = SamplingCost(16, 2, 24, Estimate(0.99, 0.98, 1.0), "mapped", 1000.0, 0.01, 20_000.0)

NULL = NullArm("b", "a", "throughput_per_s", Estimate(1.0, 0.99, 1.01), 0.5, False, FalseAlarms(1, 0, 0, 1))


def truth(*ratios: float, run_queue_share: float = 0.0) -> TruthResult:
    """A truth of 100 ns, found as these shares of itself."""
    return TruthResult("a", "b", tuple(Planted(100.0, 100.0 * ratio, run_queue_share) for ratio in ratios))


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (truth(1.029, 0.971, 1.0), "holds"),
        (truth(1.0, 1.031), "fails"),
        (truth(0.969), "fails"),
        (truth(1.0, 1.2, run_queue_share=0.06), "machine too busy"),
        (truth(1.0, 1.02, run_queue_share=0.6), "holds"),
    ],
)
def test_a_truth_holds_when_every_repeat_is_within_three_per_cent(result: TruthResult, expected: str) -> None:
    """One repeat outside is a failure, unless the load stood in line for a CPU."""
    assert result.verdict == expected


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ((truth(1.0), truth(1.0)), "holds"),
        ((truth(1.0), truth(2.0, run_queue_share=0.5)), "machine too busy"),
        ((truth(2.0), truth(2.0, run_queue_share=0.5)), "fails"),
    ],
)
def test_the_verdict_is_the_worst_of_the_truths(verdicts: tuple[TruthResult, ...], expected: str) -> None:
    """A failure is not hidden by a truth that holds, nor by a busy machine."""
    assert SelfTest("18.6", verdicts, COST, NULL).verdict == expected


def test_the_cost_is_a_paired_ratio_and_sums_over_all_windows() -> None:
    """Six pairs at 0.5, 1 s each on 2 CPUs: 1,000 sweeps and 20 ms of CPU a second are 1 % of the host."""
    pairs = [Pair(50.0, 100.0, 100.0, 20_000_000, 1_000_000_000, 1000) for _ in range(6)]

    cost = sampling_cost(Watched(pairs, clients=16, cpus=2, route="mapped"))

    assert cost.throughput.estimate == pytest.approx(0.5)
    assert (cost.pairs, cost.snapshots_per_s) == (6, 1000.0)
    assert math.isclose(cost.host_share, 0.01)
    assert math.isclose(cost.cpu_ns_per_sweep, 20_000.0)


def test_the_null_arm_is_the_load_without_the_sampler_against_itself() -> None:
    """Six pairs that all say slower are called different: one false alarm in the ledger's five runs."""
    pairs = [Pair(50.0, 100.0, 90.0 - number, 1, 1, 1) for number in range(6)]

    found = null_arm_of(Watched(pairs, clients=16, cpus=2, route="mapped"), {"runs": 4, "different": 0})

    assert (found.p_value, found.different) == (2 / 2**6, True)
    assert (found.on_this_machine.runs, found.on_this_machine.different) == (5, 1)
