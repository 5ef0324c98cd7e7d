"""How a calibration goes on, on stderr, and the way to end it early."""

from __future__ import annotations

import signal
import sys
import time
from types import FrameType, TracebackType
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

from dbdyno.report.numbers import exact_duration

PLAIN_LINE_EVERY_S = 10.0
_WORDS = {
    "idle": "one read at a time",
    "cache_map": "reads within spans, for caches",
    "sweep": "reads by depth",
    "sizes": "large reads",
    "burst": "all that the device gives",
    "flush": "flushes by method",
    "group_commit": "several writers",
}


class CalibrationProgress:
    """Shows what is measured and the time left; Ctrl-C ends it, with what was measured. Use as a context manager."""

    def __init__(self, where: str, bytes_: int) -> None:
        self._where, self._bytes = where, bytes_
        self._console = Console(stderr=True)
        self._live = Live(console=self._console, refresh_per_second=4, transient=True)
        self._printed_s = 0.0
        self._stopped = False
        self._before: Any = None

    def __enter__(self) -> CalibrationProgress:
        self._before = signal.signal(signal.SIGINT, self._stop)
        written = f"writes {self._bytes / 2**30:.2f} GiB there, in files that are gone when it ends"
        print(f"calibrating {self._where}: {written}", file=sys.stderr, flush=True)
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.signal(signal.SIGINT, self._before)
        if self._live.is_started:
            self._live.stop()

    def begin(self, what: str, left_ns: int) -> None:
        """This is next, and so much is left."""
        now_s = time.monotonic()
        line = f"{_WORDS.get(what, what)}, {exact_duration(round(max(0, left_ns) / 1e9) * 1e9)} left"
        if self._live.is_started:
            self._live.update(Text(line, no_wrap=True, overflow="ellipsis"))
        elif now_s >= self._printed_s + PLAIN_LINE_EVERY_S:
            self._printed_s = now_s
            print(line, file=sys.stderr, flush=True)

    def go_on(self) -> bool:
        """Whether to."""
        return not self._stopped

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self._stopped = True
