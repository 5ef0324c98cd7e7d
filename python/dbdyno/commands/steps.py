"""How work of equal steps goes on, on stderr: a live line in a terminal, now and then a plain line elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.text import Text

from dbdyno.report.numbers import exact_duration

PLAIN_LINE_EVERY_S = 10.0


class Steps:
    """Shows what is done now and the time left. Use as a context manager.

    Args:
        steps: how many there will be.
    """

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._begun = 0
        self._first_s = self._printed_s = 0.0
        self._console = Console(stderr=True)
        self._live = Live(console=self._console, refresh_per_second=4, transient=True)

    def __enter__(self) -> Steps:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live.is_started:
            self._live.stop()

    def begin(self, what: str) -> None:
        """The next step starts."""
        now_s = time.monotonic()
        if self._begun == 0:
            self._first_s = now_s
        line = f"step {self._begun + 1} of {self._steps}{self._time_left(now_s)}: {what}"
        self._begun += 1
        if self._live.is_started:
            self._live.update(Text(line, no_wrap=True, overflow="ellipsis"))
        elif self._begun == 1 or now_s >= self._printed_s + PLAIN_LINE_EVERY_S:
            self._printed_s = now_s
            print(line, file=sys.stderr, flush=True)

    def _time_left(self, now_s: float) -> str:
        if not self._begun:
            return ""
        left_s = (now_s - self._first_s) / self._begun * (self._steps - self._begun)
        return f", {exact_duration(round(left_s) * 1e9)} left"
