"""Watches a service from a thread of its own while storage is measured, and says when to stop.

```
main thread:   cell, cell, ... --20 times a second--> go_on(): does it suffer?
guard thread:  ask . ask . ask ......(stalled)...     what is due and unanswered counts, too
```

Who is asked is not known here: `ask` returns when it has an answer, and raises `GuardFailed` where there is none.
"""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import Any, Protocol

from dbdyno.calibration.guard_rule import PROBES_PER_S, GuardRule

PERIOD_NS = 1_000_000_000 // PROBES_PER_S
BASELINE_S = 10
# In which a thread that has been told to end does so; one whose server does not answer is woken first.
_ENDS_WITHIN_S = 5.0


class GuardFailed(Exception):
    """The service did not answer; the text says why, without a secret."""


class Guarded(Protocol):
    """The service."""

    @property
    def name(self) -> str:
        """As messages may show it."""
        ...

    @property
    def statement(self) -> str:
        """What it is asked."""
        ...

    def ask(self) -> None:
        """One answer."""
        ...

    def wake(self) -> None:
        """Have an `ask` that waits in another thread fail."""
        ...


def baseline(service: Guarded) -> list[int]:
    """Response times of the undisturbed service."""
    found: list[int] = []
    wanted = BASELINE_S * PROBES_PER_S
    due_ns = time.monotonic_ns()
    while len(found) < wanted:
        _sleep_until(due_ns)
        service.ask()
        now_ns = time.monotonic_ns()
        while due_ns <= now_ns:
            found.append(now_ns - due_ns)
            due_ns += PERIOD_NS
    return found


class Guard:
    """Asks from its entry on. Use as a context manager."""

    def __init__(self, service: Guarded, baseline_ns: list[int], factor: float) -> None:
        self._service, self._baseline_ns, self._factor = service, baseline_ns, factor
        self._rule = GuardRule(baseline_ns, factor)
        self._response_times_ns: list[int] = []
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._due_ns = 0
        self._seen: str | None = None
        self._thread = threading.Thread(target=self._watch, name="guard", daemon=True)

    def __enter__(self) -> Guard:
        self._due_ns = time.monotonic_ns()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()
        self._service.wake()
        self._thread.join(_ENDS_WITHIN_S)

    def end(self) -> None:
        """What was measured is over: what the service does from now on says nothing about it."""
        self._ended.set()

    @property
    def seen(self) -> str | None:
        """Why to stop, in words, once there was a reason."""
        with self._lock:
            if self._seen is None and not self._ended.is_set():
                waiting_ns = range(time.monotonic_ns() - self._due_ns, 0, -PERIOD_NS)
                self._seen = self._rule.suffering(waiting_ns)
            return self._seen

    @property
    def name(self) -> str:
        """Of the service, as messages may show it."""
        return self._service.name

    def go_on(self) -> bool:
        """Whether the service is well."""
        return self.seen is None

    @property
    def document(self) -> dict[str, Any]:
        """The record's `guard`."""
        seen = self.seen
        with self._lock:
            return {
                "service": self._service.name,
                "statement": self._service.statement,
                "factor": self._factor,
                "limits_ns": [limit.response_time_ns for limit in self._rule.limits],
                "baseline_ns": self._baseline_ns,
                "response_times_ns": list(self._response_times_ns),
                "seen": seen,
            }

    def _watch(self) -> None:
        while not self._ended.wait(max(0.0, (self._due_ns - time.monotonic_ns()) / 1e9)):
            try:
                self._service.ask()
            except GuardFailed as failure:
                if not self._ended.is_set():
                    with self._lock:
                        self._seen = self._seen or f"it failed: {failure}"
                return
            self._answered(time.monotonic_ns())

    def _answered(self, now_ns: int) -> None:
        """Those that came to be due meanwhile would have had their answer now, too."""
        with self._lock:
            while self._due_ns <= now_ns:
                self._rule.add(now_ns - self._due_ns)
                self._response_times_ns.append(now_ns - self._due_ns)
                self._due_ns += PERIOD_NS
            if not self._ended.is_set():
                self._seen = self._seen or self._rule.suffering()


def _sleep_until(due_ns: int) -> None:
    time.sleep(max(0.0, (due_ns - time.monotonic_ns()) / 1e9))
