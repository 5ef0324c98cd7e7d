"""Response times in logarithmic bins, 50 a decade: bin b holds 10^(b/50) <= ns < 10^((b+1)/50), each 4.7 % wide.

A quantile is placed inside its bin as if the bin's I/Os were spread evenly on the log scale. Without that, quantiles of
resampled histograms would be equal or a whole bin apart, and their intervals as coarse.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

BINS_PER_DECADE = 50


def edge_ns(bins: npt.ArrayLike) -> Floats:
    """The lower edge of each bin."""
    edges: Floats = np.power(10.0, np.asarray(bins, dtype=np.float64) / BINS_PER_DECADE)
    return edges


def middle_ns(bins: npt.ArrayLike) -> Floats:
    """The geometric middle of each bin: what one I/O of it took, within 2.3 %."""
    return edge_ns(np.asarray(bins, dtype=np.float64) + 0.5)


def bins_of(response_times_ns: npt.ArrayLike) -> Integers:
    """The bin of each response time of at least 1 ns."""
    logs = np.log10(np.asarray(response_times_ns, dtype=np.float64))
    bins: Integers = np.floor(logs * BINS_PER_DECADE).astype(np.int64)
    return bins


def quantile_ns(counts: Floats, quantile: float) -> Floats:
    """A quantile of each row of counts; column b is bin b. Not a number where a row is empty."""
    summed = counts.cumsum(axis=1)
    wanted = quantile * summed[:, -1]
    at = np.minimum((summed < wanted[:, None]).sum(axis=1), counts.shape[1] - 1)
    rows = np.arange(len(counts))
    inside = counts[rows, at]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(inside > 0, (wanted - (summed[rows, at] - inside)) / inside, np.nan)
    return edge_ns(at + share)
