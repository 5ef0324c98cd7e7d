"""What a run takes over from the last self-test of its machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dbdyno.analysis.findings import Estimate, FalseAlarms, NullArm, SamplingCost
from dbdyno.analysis.instrument import instrument_findings
from dbdyno.analysis.self_test.findings import Planted, SelfTest, TruthResult
from dbdyno.runner.instrument import instrument_record
from dbdyno.store import state

HERE = "this host"
COST = SamplingCost(16, 2, 24, Estimate(0.997, 0.991, 1.003), "mapped", 1000.0, 0.008, 16_000.0)
NULL = NullArm("b", "a", "throughput_per_s", Estimate(1.0, 0.99, 1.01), 0.5, False, FalseAlarms(1, 0, 0, 1))


def kept(*ratios: float) -> dict[str, Any]:
    """What `dbdyno selftest` keeps of two truths of 40 ms, the first found as these shares of itself."""
    found = tuple(Planted(4e7, 4e7 * ratio, 0.0) for ratio in ratios)
    exact = TruthResult("sleep", "says", (Planted(4e7, 4e7, 0.0),))
    document = SelfTest("18.6", (TruthResult("spin", "says", found), exact), COST, NULL).document()
    return {**document, "host": HERE, "measured_at": "2026-11-20T05:00:00+00:00"}


def test_what_the_self_test_keeps_reaches_the_findings(tmp_path: Path) -> None:
    """Counts over all truths, the verdict, and the cost as it was measured."""
    environment = {"DBDYNO_STATE_DIR": str(tmp_path)}
    state.remember("selftest", kept(1.0, 1.029, 1.031), environment)

    found = instrument_findings({"instrument": instrument_record(environment, HERE)})

    assert found is not None
    assert (found.measured_at, found.server_version) == ("2026-11-20T05:00:00+00:00", "18.6")
    assert (found.verdict, found.tolerance) == ("fails", 0.03)
    assert (found.planted, found.found) == (4, 3)
    assert found.cost == COST


def test_the_self_test_of_another_machine_says_nothing(tmp_path: Path) -> None:
    """A home directory that two machines share holds the last one of either."""
    environment = {"DBDYNO_STATE_DIR": str(tmp_path)}
    state.remember("selftest", kept(1.0), environment)

    assert instrument_record(environment, HERE) is not None
    assert instrument_record(environment, "another") is None


@pytest.mark.parametrize("missing", ["measured_at", "verdict", "truths", "cost"])
def test_a_run_needs_no_self_test(tmp_path: Path, missing: str) -> None:
    """Without one, and with one that lacks something, the record is null and the findings have none."""
    environment = {"DBDYNO_STATE_DIR": str(tmp_path)}
    assert instrument_record(environment, HERE) is None

    state.remember("selftest", {key: value for key, value in kept(1.0).items() if key != missing}, environment)

    assert instrument_record(environment, HERE) is None
    assert instrument_findings({"instrument": None}) is None
    assert instrument_findings({}) is None
    assert instrument_findings({"instrument": {"measured_at": "2026-11-20T05:00:00+00:00", "pairs": 24}}) is None
