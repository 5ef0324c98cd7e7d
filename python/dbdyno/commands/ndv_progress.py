"""How a scan goes on, on stderr: a live line in a terminal, a plain line every ten seconds elsewhere."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from dbdyno.commands.live_line import LiveLine
from dbdyno.report import numbers


class _Progress:
    """A line about what is counted. Use as a context manager."""

    def __init__(self, table: str) -> None:
        self._table = table
        self._line = LiveLine(at_once=False)

    def __enter__(self) -> Self:
        self._line.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._line.stop()

    def _show(self, words: str) -> None:
        self._line.show(f"counting {self._table}: {words}")


class ScanProgress(_Progress):
    """Shows the rows that were read, the rate and the time left."""

    def take(self, scan: Mapping[str, Any]) -> None:
        """How far the scan is, as the engine says it about once a second."""
        self._show(scan_words(scan))

    def step(self, done: int, steps: int) -> None:
        """So many scans of the server's own are done."""
        self._show(f"{done} of {steps} scans done")


class FilesProgress(_Progress):
    """Shows how many of the files were read, by several at a time, and the time left."""

    def __init__(self, shown: str, paths: Sequence[Path]) -> None:
        super().__init__(shown)
        self._sizes = {path: path.stat().st_size for path in paths}
        self._done: set[Path] = set()
        self._began_ns = time.monotonic_ns()

    def take(self, path: Path) -> None:
        """A file is done."""
        self._done.add(path)
        share = sum(self._sizes[one] for one in self._done) / max(sum(self._sizes.values()), 1)
        words = f"{len(self._done)} of {len(self._sizes)} files"
        if 0 < share < 1:
            words += _left(share, time.monotonic_ns() - self._began_ns)
        self._show(words)


def scan_words(scan: Mapping[str, Any]) -> str:
    """Rows, rate and time left, as far as the expected rows say it."""
    rows, expected, elapsed_ns = scan["rows"], scan["rows_expected"], scan["elapsed_ns"]
    words = f"{rows:,} rows"
    if elapsed_ns > 0:
        words += f", {numbers.significant(rows / elapsed_ns * 1e9)} a second"
    if rows > 0 and expected and expected > rows:
        words += _left(rows / expected, elapsed_ns)
    return words


def _left(share: float, elapsed_ns: float) -> str:
    """The share that is done, and the time that the rest takes at this rate."""
    left_ns = elapsed_ns / share * (1 - share)
    return f", {numbers.percent(share)}, about {numbers.exact_duration(round(left_ns / 1e9) * 1e9)} left"
