"""What a calibration must know while it runs: whether the sweep is precise enough, and where the knee is.

The sweep ends when at every depth the interval of the throughput is within 3 % of it and that of the 99th percentile
within 10 %, and the knee is known to a doubling. To end when an interval is narrow favours the narrow ones: of 160
sweeps of a device that drifts by 8 % within 0.4 s, which looked after 12, 16, ... 60 blocks and ended after 44 to 60,
93 % of the intervals of the throughput held the truth (of 60 that did not look, 97 %).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from dbdyno.analysis.calibration import loading
from dbdyno.analysis.calibration.knee import MOST, POWER
from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Estimate

PRECISE_THROUGHPUT, PRECISE_P99 = 0.03, 0.10
# A knee is known when its interval spans one doubling of the depth.
KNEE_SPAN = 2


@dataclasses.dataclass(frozen=True, slots=True)
class Judge:
    """Looks at the entries that there are so far."""

    seed: int

    def is_precise(self, entries: Sequence[Document]) -> bool:
        """Whether the sweep needs no more blocks."""
        loads = loading.loads(entries, self.seed)
        knees = [knee for knee in loading.knees_of(entries, self.seed) if knee.formula != MOST]
        return (
            bool(loads and knees)
            and all(within(load.iops, PRECISE_THROUGHPUT) for load in loads)
            and all(within(load.latency.p99_ns, PRECISE_P99) for load in loads)
            and all(knee.depth_high <= KNEE_SPAN * knee.depth_low for knee in knees)
        )

    def knee_per_s(self, entries: Sequence[Document]) -> float | None:
        """The throughput at the greatest X / R."""
        found = (knee for knee in loading.knees_of(entries, self.seed) if knee.formula == POWER)
        return next((knee.iops.estimate for knee in found), None)


def within(estimate: Estimate, share: float) -> bool:
    """Whether half the width of the interval is at most so much of the estimate."""
    if estimate.low is None or estimate.high is None or not estimate.estimate:
        return False
    return (estimate.high - estimate.low) / 2 <= share * estimate.estimate
