"""The kinds of transactions of a mix."""

from __future__ import annotations

import pytest
import synthetic

from dbdyno.analysis.analyse import analyse


def test_each_kind_has_its_own_rate_and_times() -> None:
    """Three units of 1 ms for each of 7 ms: three quarters of the rate, and times of their own."""
    run, machine, trials = synthetic.run(arms=2, blocks=6, noise=0.0)
    synthetic.mix(trials, {"browse.sql": (600, 1_000_000), "order.sql": (200, 7_000_000)})
    for trial in trials:
        trial["outcome"]["units"]["successful"] = 800
        trial["outcome"]["throughput_per_s"] = 1000.0

    browse, order = analyse(run, machine, trials).arms[0].by_script

    assert (browse.script, browse.successful, browse.throughput_per_s.estimate) == (
        "browse.sql",
        3600,
        pytest.approx(750),
    )
    assert (order.script, order.successful, order.throughput_per_s.estimate) == ("order.sql", 1200, pytest.approx(250))
    assert browse.response_time_ns.mean.estimate == pytest.approx(1_000_000)
    assert order.response_time_ns.p99.estimate == pytest.approx(7_000_000, rel=1e-3)


def test_a_kind_that_some_trial_lacks_has_the_times_of_the_others() -> None:
    """A rare kind: its rate is 0 in some trials; one that never succeeded is left out."""
    run, machine, trials = synthetic.run(arms=2, blocks=6, noise=0.0)
    synthetic.mix(trials, {"browse.sql": (600, 1_000_000), "rare.sql": (1, 9_000_000), "never.sql": (0, 0)})
    for trial in trials[:2]:
        trial["outcome"]["scripts"][1].update(successful=0, response_time={"count": 0, "sum_ns": 0, "histogram": ""})

    kinds = analyse(run, machine, trials).arms[0].by_script

    assert [(kind.script, kind.successful) for kind in kinds] == [("browse.sql", 3600), ("rare.sql", 5)]
    assert kinds[1].response_time_ns.mean.estimate == pytest.approx(9_000_000)
    assert kinds[1].throughput_per_s.low == 0.0
