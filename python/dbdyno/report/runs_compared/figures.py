"""How the primary metric of a run is written: its heading with the unit, a figure, an interval."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from datetime import UTC, datetime
from statistics import median

from dbdyno.analysis.findings import Estimate
from dbdyno.report import numbers
from dbdyno.report.sentences import METRIC_NAMES


@dataclasses.dataclass(frozen=True, slots=True)
class Figures:
    """One unit for all figures of a metric."""

    heading: str
    unit: numbers.Unit
    unit_name: str

    def text(self, estimate: Estimate | None) -> str:
        """The estimate alone."""
        return numbers.NOTHING if estimate is None else numbers.in_unit(estimate.estimate, self.unit)

    def ends(self, estimate: Estimate | None) -> str:
        """The ends of its interval."""
        if estimate is None or estimate.low is None or estimate.high is None:
            return numbers.NOTHING
        return f"{numbers.in_unit(estimate.low, self.unit)} to {numbers.in_unit(estimate.high, self.unit)}"

    def named(self, estimate: Estimate) -> str:
        """The estimate and its unit."""
        return f"{self.text(estimate)} {self.unit_name}"


def figures_of(metric: str, estimates: Iterable[Estimate | None]) -> Figures:
    """The unit in which most of the estimates read well."""
    heading = METRIC_NAMES[metric].removeprefix("the ")
    heading = heading[0].upper() + heading[1:]
    if metric.endswith("_per_s"):
        return Figures(heading, numbers.ONE, "per s")
    unit = numbers.time_unit(median(one.estimate for one in estimates if one is not None))
    return Figures(heading, unit, unit.name)


def moment(started_at: str) -> str:
    """When a run was started, to the minute."""
    return f"{datetime.fromisoformat(started_at).astimezone(UTC):%Y-%m-%d %H:%M} UTC"
