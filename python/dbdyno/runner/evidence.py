"""What a trial leaves behind beside its times: read before and after the work, outside the measured window.

```
before_caches()  outcomes: looked at before a cache state is set, since looking fills caches
before_work()    counters
  the work
after_work()     counters, outcomes
```
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dbdyno.design.experiment import Experiment
from dbdyno.runner.prepare import Prepared
from dbdyno.targets.target import Target


class Evidence:
    """The evidence of one trial, on the control connection."""

    def __init__(self, experiment: Experiment, target: Target, prepared: Prepared, session_sql: Sequence[str]) -> None:
        self._experiment = experiment
        self._target = target
        self._prepared = prepared
        self._session_sql = session_sql
        self._counters_before: Mapping[str, int] = {}
        self._counters: dict[str, int] = {}

    def before_caches(self) -> None:
        """The arm is in force, its tables may still be looked at."""

    def before_work(self) -> None:
        """Nothing but the work follows."""
        self._counters_before = self._target.counters()

    def after_work(self) -> None:
        """The work is done, the arm is still in force."""
        self._counters = _differences(self._counters_before, self._target.counters())

    def record(self) -> dict[str, Any]:
        """What goes into the trial's record."""
        return {"server": self._counters}


def _differences(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    return {name: after[name] - before[name] for name in after if name in before}
