"""`dbdyno profile --live`: keys in, pictures out, each second; the state and the drawing are elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import Any

from rich.console import Console, Group
from rich.live import Live

from dbdyno.analysis.live_profile import LiveState, SessionLike
from dbdyno.commands.terminal_keys import TerminalKeys
from dbdyno.report import live_profile

_DRAW_PERIOD_S = 0.25


class LiveProfile:
    """The picture on stderr; a `Foreground`. Use as a context manager, on the main thread."""

    def __init__(self, shown: str, seconds: float, cpus: int | None) -> None:
        self._shown = shown
        self._seconds = seconds
        self._state = LiveState(cpus=cpus)
        self._console = Console(stderr=True)
        self._blocks = self._console.encoding.startswith("utf")
        self._stack = ExitStack()
        self._keys: TerminalKeys | None = None
        self._live: Live | None = None
        self._started = self._drawn = 0.0

    def __enter__(self) -> LiveProfile:
        self._started = time.monotonic()
        with ExitStack() as stack:
            self._keys = stack.enter_context(TerminalKeys())
            self._live = stack.enter_context(
                Live(console=self._console, screen=True, auto_refresh=False, redirect_stdout=False)
            )
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def take_step(self, step: Mapping[str, Any]) -> None:
        """One more second."""
        self._state.take_step(step)

    def take_sessions(
        self, sessions: Iterable[SessionLike], blocking: Mapping[int, tuple[list[int], str | None]]
    ) -> None:
        """One more look at the sessions."""
        self._state.take_sessions(sessions, blocking)

    def tick(self) -> bool:
        """Take the keys, redraw where it is time or where somebody pressed one."""
        assert self._keys is not None
        keys = self._keys.read()
        for key in keys:
            self._state.press(key)
        if keys or time.monotonic() - self._drawn >= _DRAW_PERIOD_S:
            self._draw()
        return not self._state.ended

    def _draw(self) -> None:
        assert self._live is not None
        self._drawn = time.monotonic()
        left = max(0.0, self._seconds - (self._drawn - self._started))
        head = f"{left:.0f} s left: {self._shown}"
        drawn = live_profile.lines(self._state.view(), head, height=self._console.size.height, blocks=self._blocks)
        self._live.update(Group(*drawn), refresh=True)
