"""How a calibration goes on, on stderr, and the way to end it early."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

from dbdyno.commands.live_line import LiveLine
from dbdyno.probes.process_work import moved_bytes
from dbdyno.report.numbers import exact_duration

_WORDS = {
    "idle": "one read at a time",
    "rested": "one read at a time, after a rest",
    "cache_map": "reads within spans, for caches",
    "sweep": "reads by depth",
    "sizes": "large reads",
    "burst": "all that the device gives",
    "flush": "flushes by method",
    "flush_growing": "flushes of a file that grows",
    "group_commit": "several writers",
    "mixed": "reads beside writes",
    "together": "all files at once",
    "files": "each file, and its thirds",
}
# Before that a rate says little, and its rest of time jumps.
RATE_KNOWN_AFTER_S = 0.5


class CalibrationProgress:
    """Shows what is measured and the time left; Ctrl-C ends it, with what was measured. Use as a context manager."""

    def __init__(self, where: str, what: str, also: Callable[[], bool] | None = None) -> None:
        """`what` is said at first; `also` ends it, too, by saying False."""
        self._where, self._what, self._also = where, what, also
        self.phase = ""
        self._line = LiveLine(at_once=True)
        self._stopped = False
        self._before: Any = None

    def __enter__(self) -> CalibrationProgress:
        self._before = signal.signal(signal.SIGINT, self._stop)
        print(f"calibrating {self._where}: {self._what}", file=sys.stderr, flush=True)
        self._line.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.signal(signal.SIGINT, self._before)
        self._line.stop()

    def begin(self, what: str, left_ns: int) -> None:
        """This is next, and so much is left."""
        self.phase = what
        self._line.show(f"{_WORDS.get(what, what)}, {exact_duration(round(max(0, left_ns) / 1e9) * 1e9)} left")

    def filling(self, bytes_: int, then_ns: int) -> Callable[[], bool]:
        """The file is filled next, and so much is to be done then. What is returned is asked meanwhile whether to go
        on: the time left follows from the rate that was seen so far."""
        begun_s, before = time.monotonic(), moved_bytes()
        self.phase = "fill"

        def go_on() -> bool:
            elapsed_s, moved = time.monotonic() - begun_s, (moved_bytes() or 0) - (before or 0)
            if moved > 0 and elapsed_s > RATE_KNOWN_AFTER_S:
                left_ns = max(0, bytes_ - moved) * elapsed_s / moved * 1e9
                self._line.show(f"fill the file, {exact_duration(round((left_ns + then_ns) / 1e9) * 1e9)} left")
            return self.go_on()

        return go_on

    def go_on(self) -> bool:
        """Whether to."""
        return not self._stopped and (self._also is None or self._also())

    @property
    def interrupted(self) -> bool:
        """By Ctrl-C."""
        return self._stopped

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self._stopped = True
