"""What a trial leaves behind beside its times: read before and after the work, outside the measured window.

```
before_caches()  outcomes, sizes: looked at before a cache state is set, since looking fills caches
before_work()    the server's counters, then the kernel's
  the work       warm-up and window
after_work()     the kernel's counters, then the server's; outcomes, invariants
```

From `before_caches` to the work nothing here touches a page of a table or an index.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dbdyno.design.experiment import Experiment
from dbdyno.runner.candidates import index_scans
from dbdyno.runner.kernel import KernelCounters
from dbdyno.runner.numbers import ask_numbers
from dbdyno.runner.prepare import Prepared
from dbdyno.targets.counters import differences
from dbdyno.targets.target import Target


class Evidence:
    """The evidence of one trial."""

    def __init__(self, experiment: Experiment, target: Target, prepared: Prepared, session_sql: Sequence[str]) -> None:
        self._experiment = experiment
        self._target = target
        self._prepared = prepared
        self._session_sql = session_sql
        self._outcomes_before: Mapping[str, int | float] = {}
        self._counters_before: Mapping[str, int] = {}
        self._scans_before: Mapping[str, int] = {}
        self._kernel: KernelCounters | None = None
        self._record: dict[str, Any] = {}

    def before_caches(self) -> None:
        """The arm is in force, its tables may still be looked at."""
        self._outcomes_before = ask_numbers(self._target, "outcomes", self._experiment.outcomes)

    def before_work(self) -> None:
        """Nothing but the work follows."""
        self._scans_before = self._index_scans()
        self._counters_before = self._target.counters()
        self._kernel = KernelCounters(self._target)

    def after_work(self) -> None:
        """The work is done, the arm is still in force."""
        assert self._kernel is not None
        kernel = self._kernel.record()
        counters = differences(self._counters_before, self._target.counters())
        scans = differences(self._scans_before, self._index_scans())
        after = ask_numbers(self._target, "outcomes", self._experiment.outcomes)
        self._record = {
            "server": counters,
            **({"index_scans": scans} if scans else {}),
            **kernel,
            "outcomes": {name: {"before": self._outcomes_before[name], "after": after[name]} for name in after},
            "invariants": ask_numbers(self._target, "invariants", self._experiment.invariants),
        }

    def record(self) -> dict[str, Any]:
        """What goes into the trial's record."""
        return self._record

    def _index_scans(self) -> dict[str, int]:
        """Asked only where it is the question which index is used."""
        return index_scans(self._target) if self._experiment.candidates else {}
