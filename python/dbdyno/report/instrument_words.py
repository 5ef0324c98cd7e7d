"""What the self-test says of the instrument, in words: the same in the terminal and on the page."""

from __future__ import annotations

from dbdyno.analysis.findings import Instrument, SamplingCost
from dbdyno.report import numbers

_NO_SELF_TEST = "no self-test on this machine yet when the run began: dbdyno selftest."

_VERDICTS = {
    "holds": "holds",
    "machine too busy": "met a machine that was too busy to tell",
    "fails": "failed",
}


def self_test_words(instrument: Instrument | None) -> str:
    """When the instrument checked itself here, how much of what was planted it found, and what watching costs."""
    if instrument is None:
        return _NO_SELF_TEST
    return (
        f"the self-test of {instrument.measured_at[:10]} on this machine (PostgreSQL {instrument.server_version}) "
        f"{_VERDICTS[instrument.verdict]}: {instrument.found} of {numbers.count(instrument.planted, 'planted time')} "
        f"found within {numbers.percent(instrument.tolerance)}; {_cost(instrument.cost)}."
    )


def _cost(cost: SamplingCost) -> str:
    throughput = numbers.ratio(cost.throughput.estimate)
    if cost.throughput.low is not None:
        throughput += f" {numbers.interval(cost.throughput.low, cost.throughput.high)}"
    return (
        f"watching {numbers.count(cost.clients, 'client')} cost {numbers.percent(cost.host_share)} of the host's CPU, "
        f"throughput {throughput} in {cost.pairs} pairs"
    )
