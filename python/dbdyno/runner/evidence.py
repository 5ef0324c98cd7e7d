"""What a trial leaves behind beside its times: read before and after the work, outside the measured window.

```
before_caches()  outcomes, sizes: looked at before a cache state is set, since looking fills caches
before_work()    where the server's log ends; the server's counters; then the kernel's
  the work       log-ins, warm-up, window
after_work()     the kernel's counters, then the server's, then its log; outcomes, invariants; plans
```

From the end of `before_caches` to the work nothing here touches a page of a table or an index. Plans come last, because
explaining a statement may execute it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dbdyno.design.experiment import Experiment
from dbdyno.design.schedule import Place
from dbdyno.probes.server_log import log_end, raised_since
from dbdyno.runner.candidates import index_scans
from dbdyno.runner.kernel import KernelCounters
from dbdyno.runner.numbers import ask_numbers
from dbdyno.runner.plans import plans_of
from dbdyno.runner.prepare import Prepared
from dbdyno.targets.counters import differences
from dbdyno.targets.target import Connection, Target


class Evidence:
    """The evidence of one trial of `prepared` at `place`; `session_sql` is what its clients say first."""

    def __init__(
        self,
        experiment: Experiment,
        target: Target,
        prepared: Prepared,
        session_sql: Sequence[str],
        place: Place,
        seed: int,
    ) -> None:
        self._experiment = experiment
        self._target = target
        self._prepared = prepared
        self._session_sql = session_sql
        self._is_first = place.block == 0 and place.attempt == 0
        self._seed = seed
        self._outcomes_before: Mapping[str, int | float] = {}
        self._log_begins = 0
        self._counters_before: Mapping[str, int] = {}
        self._scans_before: Mapping[str, int] = {}
        self._kernel: KernelCounters | None = None
        self._record: dict[str, Any] = {"relation_bytes": {}}

    def before_caches(self) -> None:
        """The arm is in force, its tables may still be looked at."""
        names = list(self._prepared.arm.expect.relation_bytes)
        if self._experiment.outcomes or names:
            with self._target.connect() as connection:
                self._outcomes_before = ask_numbers(connection, "outcomes", self._experiment.outcomes)
                self._record["relation_bytes"] = relation_bytes(connection, names)

    def before_work(self) -> None:
        """Nothing but the work follows."""
        self._log_begins = log_end(self._target.log)
        self._scans_before = self._index_scans()
        self._counters_before = self._target.counters()
        self._kernel = KernelCounters(self._target)

    def after_work(self, of_work: Mapping[str, Any]) -> None:
        """The work is done, the arm is still in force; `of_work` is what whoever did it knows besides."""
        assert self._kernel is not None
        self._record |= {"file": None, "work": None, **of_work}
        self._record |= self._kernel.record()
        self._record["server"] = differences(self._counters_before, self._target.counters())
        self._record["index_scans"] = differences(self._scans_before, self._index_scans())
        self._record["server_log"] = raised_since(self._target.log, self._log_begins)
        with self._target.connect() as connection:
            self._record["outcomes"] = self._outcomes(connection)
            self._record["invariants"] = ask_numbers(connection, "invariants", self._experiment.invariants)
            self._record["plans"] = plans_of(
                connection, self._prepared.arm, self._session_sql, self._seed, analyze=self._is_first
            )

    def record(self) -> dict[str, Any]:
        """What goes into the trial's record."""
        return self._record

    def _index_scans(self) -> dict[str, int]:
        """Asked only where it is the question which index is used."""
        return index_scans(self._target) if self._experiment.candidates else {}

    def _outcomes(self, connection: Connection) -> dict[str, dict[str, int | float]]:
        after = ask_numbers(connection, "outcomes", self._experiment.outcomes)
        return {name: {"before": self._outcomes_before[name], "after": after[name]} for name in after}


def relation_bytes(connection: Connection, names: Sequence[str]) -> dict[str, int]:
    """The size of a table or an index itself (main fork: no index, no TOAST); one that does not exist is absent."""
    rows = connection.execute(
        "SELECT n, pg_relation_size(to_regclass(n)) FROM unnest(%s::text[]) AS n", [list(names)]
    ).fetchall()
    return {name: size for name, size in rows if size is not None}
