"""How a profile goes on, on stderr: a live line in a terminal, a plain line every ten seconds elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

from dbdyno.analysis.live_profile import LiveState

_PLAIN_PERIOD_S = 10.0


class ProfileProgress:
    """Shows what is watched and the time left; a `Foreground`. Use as a context manager."""

    def __init__(self, shown: str, seconds: float) -> None:
        self._shown = shown
        self._seconds = seconds
        self._console = Console(stderr=True)
        self._live: Live | None = None
        self._started = self._said = 0.0
        self._active = ""
        self._state = LiveState(cpus=None)

    def __enter__(self) -> ProfileProgress:
        self._started = time.monotonic()
        if self._console.is_terminal:
            self._live = Live(console=self._console, refresh_per_second=4, transient=True)
            self._live.start()
        else:
            self._say(f"profiling {self._shown} for {self._seconds:g} s")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def take_step(self, step: Mapping[str, Any]) -> None:
        """How many sessions were active in the last step."""
        self._state.take_step(step)
        self._active = f", {self._state.view().active_sessions:.1f} sessions active"

    def take_sessions(self, sessions: Sequence[object], blocking: Mapping[int, object]) -> None:
        """Nothing of it is shown."""

    def tick(self) -> bool:
        """Redraw, or say something now and then."""
        left = max(0.0, self._seconds - (time.monotonic() - self._started))
        line = f"profiling {self._shown}: {left:.0f} s left{self._active}"
        if self._live is not None:
            self._live.update(Text(line, no_wrap=True, overflow="ellipsis"))
        elif time.monotonic() - self._said >= _PLAIN_PERIOD_S:
            self._say(line)
        return True

    def _say(self, line: str) -> None:
        self._said = time.monotonic()
        print(line, file=sys.stderr, flush=True)
