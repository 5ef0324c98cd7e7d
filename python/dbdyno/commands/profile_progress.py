"""How a profile goes on, on stderr: a live line in a terminal, a plain line every ten seconds elsewhere."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

from dbdyno.analysis.live_profile import LiveState
from dbdyno.commands.live_line import LiveLine


class ProfileProgress:
    """Shows what is watched and the time left; a `Foreground`. Use as a context manager."""

    def __init__(self, shown: str, seconds: float) -> None:
        self._shown = shown
        self._seconds = seconds
        self._line = LiveLine(at_once=True)
        self._started = 0.0
        self._active = ""
        self._state = LiveState(cpus=None)

    def __enter__(self) -> ProfileProgress:
        self._started = time.monotonic()
        self._line.start()
        if not self._line.is_redrawn:
            self._line.show(f"profiling {self._shown} for {self._seconds:g} s")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._line.stop()

    def take_step(self, step: Mapping[str, Any]) -> None:
        """How many sessions were active in the last step."""
        self._state.take_step(step)
        self._active = f", {self._state.view().active_sessions:.1f} sessions active"

    def take_sessions(self, sessions: Sequence[object], blocking: Mapping[int, object]) -> None:
        """Nothing of it is shown."""

    def tick(self) -> bool:
        """Redraw, or say something now and then."""
        left = max(0.0, self._seconds - (time.monotonic() - self._started))
        self._line.show(f"profiling {self._shown}: {left:.0f} s left{self._active}")
        return True
