"""The two questions asked of recorded histograms; the decoding is the core's.

A histogram here is a base64 text of HdrHistogram's V2 compressed encoding, as a trial's outcome holds it.
"""

from __future__ import annotations

from collections.abc import Sequence

from dbdyno import _core
from dbdyno.analysis.findings import Bin


def quantiles_ns(histograms: Sequence[str], quantiles: Sequence[float]) -> list[int]:
    """The value at each quantile (0 to 1) of the merged histograms."""
    return _core.histogram_quantiles(list(histograms), list(quantiles))


def bins(histograms: Sequence[str], bins_per_decade: int) -> list[Bin]:
    """The merged histograms as logarithmic bins, empty ones left out."""
    found = _core.histogram_bins(list(histograms), bins_per_decade)
    return [Bin(low_ns=low, high_ns=high, count=count) for low, high, count in found]
