"""Little's law, N = X R: units in flight = throughput x response time.

The three are measured on separate ways, so their agreement checks the instrument, not the database.
"""

from __future__ import annotations

from collections.abc import Sequence

from dbdyno.analysis.documents import Document


def discrepancy(trials: Sequence[Document]) -> float:
    """|N - X R| / N, the mean over the trials of an arm."""
    return sum(_of_trial(trial["outcome"]) for trial in trials) / len(trials)


def _of_trial(outcome: Document) -> float:
    in_flight = outcome["mean_in_flight"]
    response_time_s = outcome["response_time"]["sum_ns"] / outcome["response_time"]["count"] / 1e9
    expected = outcome["throughput_per_s"] * response_time_s
    return float(abs(in_flight - expected) / in_flight) if in_flight > 0 else 1.0
