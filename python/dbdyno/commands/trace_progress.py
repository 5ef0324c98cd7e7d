"""How far the reading of traces is, and the time left: one line on stderr."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from dbdyno.commands.live_line import LiveLine
from dbdyno.report import numbers


class TraceProgress:
    """Use as a context manager."""

    def __init__(self) -> None:
        self._line = LiveLine(at_once=False)

    def __enter__(self) -> Self:
        self._line.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._line.stop()

    def take(self, reading: Mapping[str, Any]) -> None:
        """As the engine says it about once a second."""
        self._line.show(words(reading))


def words(reading: Mapping[str, Any]) -> str:
    """Bytes, of all that lie on disk, and the time left at this rate."""
    done, expected, elapsed_ns = reading["bytes"], reading["bytes_expected"], reading["elapsed_ns"]
    said = f"reading: {reading['files']} of {reading['files_expected']} files, {numbers.size(done)}"
    if 0 < done <= expected:
        left_ns = (expected - done) * elapsed_ns / done
        said += f" of {numbers.size(expected)}, about {numbers.exact_duration(round(left_ns / 1e9) * 1e9)} left"
    return said
