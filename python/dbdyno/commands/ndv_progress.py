"""How a scan goes on, on stderr: a live line in a terminal, a plain line every ten seconds elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

from dbdyno.report import numbers

_PLAIN_PERIOD_S = 10.0


class ScanProgress:
    """Shows the rows that were read, the rate and the time left. Use as a context manager."""

    def __init__(self, table: str) -> None:
        self._table = table
        self._console = Console(stderr=True)
        self._live = Live(console=self._console, refresh_per_second=4, transient=True)
        self._said_s = time.monotonic()

    def __enter__(self) -> ScanProgress:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live.is_started:
            self._live.stop()

    def take(self, scan: Mapping[str, Any]) -> None:
        """How far the scan is, as the engine says it about once a second."""
        self._show(f"counting {self._table}: {scan_words(scan)}")

    def step(self, done: int, steps: int) -> None:
        """So many scans of the server's own are done."""
        self._show(f"counting {self._table}: {done} of {steps} scans done")

    def _show(self, line: str) -> None:
        if self._live.is_started:
            self._live.update(Text(line, no_wrap=True, overflow="ellipsis"))
        elif time.monotonic() - self._said_s >= _PLAIN_PERIOD_S:
            self._said_s = time.monotonic()
            print(line, file=sys.stderr, flush=True)


def scan_words(scan: Mapping[str, Any]) -> str:
    """Rows, rate and time left, as far as the expected rows say it."""
    rows, expected, elapsed_ns = scan["rows"], scan["rows_expected"], scan["elapsed_ns"]
    words = f"{rows:,} rows"
    if elapsed_ns > 0:
        words += f", {numbers.significant(rows / elapsed_ns * 1e9)} a second"
    if rows > 0 and expected and expected > rows:
        left_ns = elapsed_ns / rows * (expected - rows)
        words += (
            f", {numbers.percent(rows / expected)}, about {numbers.exact_duration(round(left_ns / 1e9) * 1e9)} left"
        )
    return words
