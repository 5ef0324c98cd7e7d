"""Times that Python recorded are stored as the core stores its own."""

from __future__ import annotations

import hdr
import numpy as np
import pytest

from dbdyno.analysis.histograms import quantiles_ns
from dbdyno.runner.histogram import distribution, histogram


@pytest.mark.parametrize(
    "times_ns",
    [[0], [1], [2047], [2048], [2049, 2049, 4096], [215_032_017], [5, 1_000, 90_000, 90_000, 3_599_999_999_999]],
)
def test_a_histogram_has_the_buckets_of_a_second_implementation(times_ns: list[int]) -> None:
    """Filled buckets, their bounds and counts."""
    assert hdr.decode(histogram(times_ns)) == hdr.decode(hdr.encode(times_ns))


def test_quantiles_of_many_times_are_read_back_within_a_thousandth() -> None:
    """As the analysis reads them."""
    times = np.random.default_rng(1).lognormal(11, 0.5, 5_000).astype(np.int64)

    found = distribution(times.tolist())

    assert (found["count"], found["sum_ns"]) == (5_000, int(times.sum()))
    wanted = np.quantile(times, [0.5, 0.99], method="inverted_cdf")
    assert quantiles_ns(found["histogram"], [0.5, 0.99]) == pytest.approx(wanted.tolist(), rel=1e-3)
