"""The core and an independent reader agree on what a recorded histogram says."""

from __future__ import annotations

import hdr
import numpy as np
import pytest

from dbdyno.analysis.histograms import bins, quantiles_ns

QUANTILES = [0.5, 0.95, 0.99, 1.0]


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Two histograms of unlike scale."""
    random = np.random.default_rng(7)
    return [hdr.encode(random.lognormal(14, 0.5, 5_000).astype(np.int64)), hdr.encode(random.integers(0, 5_000, 300))]


def test_quantiles_of_merged_histograms(texts: list[str]) -> None:
    """Every value, to the nanosecond of its bucket."""
    assert quantiles_ns(texts, QUANTILES) == hdr.histogram_quantiles(texts, QUANTILES)


def test_quantiles_are_those_of_the_values() -> None:
    """Within the 3 digits that a histogram keeps."""
    values = np.sort(np.random.default_rng(3).lognormal(14, 0.5, 10_000).astype(np.int64))

    found = quantiles_ns([hdr.encode(values)], [0.5, 0.95, 0.99])

    assert found == pytest.approx([values[4_999], values[9_499], values[9_899]], rel=1e-3)


def test_bins_hold_every_unit(texts: list[str]) -> None:
    """Bins are in order, without overlap, and lose nothing."""
    found = bins(texts, 20)

    assert sum(one.count for one in found) == 5_300
    assert all(one.low_ns <= one.high_ns for one in found)
    assert [one.low_ns for one in found] == sorted(one.low_ns for one in found)
