"""How work of equal steps goes on, on stderr: a live line in a terminal, now and then a plain line elsewhere."""

from __future__ import annotations

import time
from types import TracebackType

from dbdyno.commands.live_line import LiveLine
from dbdyno.report.numbers import exact_duration


class Steps:
    """Shows what is done now and the time left. Use as a context manager.

    Args:
        steps: how many there will be.
    """

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._begun = 0
        self._first_s = 0.0
        self._line = LiveLine(at_once=True)

    def __enter__(self) -> Steps:
        self._line.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._line.stop()

    def begin(self, what: str) -> None:
        """The next step starts."""
        now_s = time.monotonic()
        if self._begun == 0:
            self._first_s = now_s
        line = f"step {self._begun + 1} of {self._steps}{self._time_left(now_s)}: {what}"
        self._begun += 1
        self._line.show(line)

    def _time_left(self, now_s: float) -> str:
        if not self._begun:
            return ""
        left_s = (now_s - self._first_s) / self._begun * (self._steps - self._begun)
        return f", {exact_duration(round(left_s) * 1e9)} left"
