"""The analysis and an independent reader agree on what recorded histograms say."""

from __future__ import annotations

import hdr
import numpy as np
import pytest

from dbdyno.analysis.histograms import decoded, quantiles_ns
from dbdyno.errors import DynoError

QUANTILES = [0.001, 0.5, 0.95, 0.99, 1.0]


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Histograms of unlike scale: narrow and wide, zeros, one value, none, and the edges of bars."""
    random = np.random.default_rng(7)
    return [
        hdr.encode(random.lognormal(14, 0.5, 5_000).astype(np.int64)),
        hdr.encode(random.integers(0, 5_000, 300)),
        hdr.encode(random.lognormal(20, 3, 2_000).clip(0, 3.5e12).astype(np.int64)),
        hdr.encode(np.zeros(100)),
        hdr.encode([1_234_567_890_123]),
        hdr.encode([]),
        hdr.encode(10 ** np.arange(13)),
        hdr.encode(np.full(200_000, 77)),
    ]


def test_quantiles_of_each_histogram(texts: list[str]) -> None:
    """Every value, to the nanosecond of its bucket, decoded together or alone."""
    expected = [hdr.histogram_quantiles([text], QUANTILES) for text in texts]

    assert decoded(tuple(texts)).quantiles_ns(QUANTILES).tolist() == expected
    assert [quantiles_ns(text, QUANTILES) for text in texts] == expected


def test_quantiles_are_those_of_the_values() -> None:
    """Within the 3 digits that a histogram keeps."""
    values = np.sort(np.random.default_rng(3).lognormal(14, 0.5, 10_000).astype(np.int64))

    found = quantiles_ns(hdr.encode(values), [0.5, 0.95, 0.99])

    assert found == pytest.approx([values[4_999], values[9_499], values[9_899]], rel=1e-3)


@pytest.mark.parametrize("bins_per_decade", [1, 7, 20, 50])
def test_bins_are_those_of_all_histograms_merged(texts: list[str], bins_per_decade: int) -> None:
    """As an independent reader merges them, edges included."""
    found = decoded(tuple(texts)).bins(bins_per_decade)

    assert [(one.low_ns, one.high_ns, one.count) for one in found] == hdr.histogram_bins(texts, bins_per_decade)


def test_bins_hold_every_unit(texts: list[str]) -> None:
    """Bins are in order, without overlap, and lose nothing."""
    found = decoded(tuple(texts)).bins(20)

    assert sum(one.count for one in found) == 5_000 + 300 + 2_000 + 100 + 1 + 13 + 200_000
    assert all(one.low_ns <= one.high_ns for one in found)
    assert [one.low_ns for one in found] == sorted(one.low_ns for one in found)


def test_nothing_recorded_has_no_bins() -> None:
    """Of an empty histogram, and of no histogram."""
    assert decoded((hdr.encode([]),)).bins(20) == []
    assert decoded(()).bins(20) == []


@pytest.mark.parametrize("text", ["bm9uc2Vuc2U=", "?", "", "HISTFAAAAAp4nAMAAAAAAQ=="])
def test_a_broken_histogram_is_one_line(text: str) -> None:
    """Nonsense, no base64, nothing, and a header without a histogram."""
    with pytest.raises(DynoError) as raised:
        quantiles_ns(text, [0.5])

    assert raised.value.code == "histogram"
    assert "\n" not in raised.value.message
