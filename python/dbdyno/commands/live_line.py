"""A line on stderr that says how something goes on: redrawn in a terminal, printed now and then elsewhere."""

from __future__ import annotations

import sys
import time

from rich.console import Console
from rich.live import Live
from rich.text import Text

PLAIN_LINE_EVERY_S = 10.0


class LiveLine:
    """Started and stopped by whoever fills it.

    Args:
        at_once: whether the first line is printed as soon as it comes; else none before ten seconds.
    """

    def __init__(self, *, at_once: bool) -> None:
        self._console = Console(stderr=True)
        self._live = Live(console=self._console, refresh_per_second=4, transient=True)
        self._printed_s = -PLAIN_LINE_EVERY_S if at_once else time.monotonic()

    @property
    def is_redrawn(self) -> bool:
        """Whether it stands in a terminal."""
        return self._live.is_started

    def start(self) -> None:
        """In a terminal it is there from now on."""
        if self._console.is_terminal:
            self._live.start()

    def stop(self) -> None:
        """It goes, and leaves nothing behind."""
        if self._live.is_started:
            self._live.stop()

    def show(self, line: str) -> None:
        """This is how it stands now."""
        if self._live.is_started:
            self._live.update(Text(line, no_wrap=True, overflow="ellipsis"))
        elif time.monotonic() - self._printed_s >= PLAIN_LINE_EVERY_S:
            self._printed_s = time.monotonic()
            print(line, file=sys.stderr, flush=True)
