"""How a run goes on, on stderr: a live line in a terminal, a plain line a block elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text


class StderrProgress:
    """Shows stage, block, arm, throughput and time left. Use as a context manager."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._live: Live | None = None
        self._first_trial_s = 0.0
        self._done_before = 0
        self._last_block = -1

    def __enter__(self) -> StderrProgress:
        if self._console.is_terminal:
            self._live = Live(console=self._console, refresh_per_second=4, transient=True)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def stage(self, what: str) -> None:
        """A step before the first trial."""
        self._show(f"{what} ...")

    def trials_begin(self, done: int, left: int) -> None:
        """The first trial of this session starts; `done` were there before (a resumed run)."""
        self._first_trial_s, self._done_before = time.monotonic(), done
        self._show(f"{done} of {done + left} trials done ...")

    def trial_done(self, record: Mapping[str, Any], done: int, left: int) -> None:
        """One more trial is durable."""
        elapsed_s = time.monotonic() - self._first_trial_s
        left_s = elapsed_s / (done - self._done_before) * left
        if record["status"] == "ok":
            figure = f"{record['outcome']['throughput_per_s']:,.0f}/s"
        else:
            figure = f"failed: {record['reason']}"
        place = f"trial {done} of {done + left}, block {record['block'] + 1}, {_time(left_s)} left"
        line = f"{place}: {record['arm']} {figure}"
        if self._live is not None or record["block"] != self._last_block or left == 0 or record["status"] != "ok":
            self._show(line)
        self._last_block = record["block"]

    def _show(self, line: str) -> None:
        if self._live is not None:
            self._live.update(Text(line, no_wrap=True, overflow="ellipsis"))
        else:
            print(line, file=sys.stderr, flush=True)


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
