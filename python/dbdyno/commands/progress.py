"""How a run goes on, on stderr: a live line in a terminal, a plain line a block elsewhere.

In a terminal the work of a trial that takes longer than two looks is shown below the line, redrawn each second.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from dbdyno.analysis.outlook import outlook
from dbdyno.design.schedule import Place
from dbdyno.engine import Watcher
from dbdyno.probes.host_cpu import HostCpuMeter
from dbdyno.report.live import LiveScreen
from dbdyno.report.outlook_words import outlook_sentence


class StderrProgress:
    """Shows stage, block, arm, throughput and time left. Use as a context manager."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._live: Live | None = None
        self._first_trial_s = 0.0
        self._done_before = self._done = self._left = 0
        self._last = ""
        self._last_block = -1
        self._told_outlook = False

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

    def notice(self, what: str) -> None:
        """Something to know before the first trial: it stays above the live line."""
        self._say(f"warning: {what}")

    def trials_begin(self, done: int, left: int) -> None:
        """The first trial of this session starts; `done` were there before (a resumed run)."""
        self._first_trial_s, self._done_before = time.monotonic(), done
        self._done, self._left = done, left

    def block_begins(self, run: Mapping[str, Any], trials: Sequence[Mapping[str, Any]]) -> None:
        """Once, after the first few blocks: what the run will be able to tell."""
        if self._told_outlook:
            return
        found = outlook(run, trials)
        if found is not None:
            self._told_outlook = True
            self._say(outlook_sentence(found))

    def trial_begins(self, place: Place) -> Watcher | None:
        """The next trial starts: in a terminal what runs now stands beside what the last one gave."""
        if self._live is None:
            return None
        last = f" (before: {self._last})" if self._last else ""
        line = f"{self._place(self._done + 1, place.block)}: {place.arm}{last}"
        self._show(line)
        screen = LiveScreen(blocks=self._console.encoding.startswith("utf"))
        cpu = HostCpuMeter()

        def look(view: Mapping[str, Any]) -> None:
            screen.take(view, cpu.read())
            self._show(line, screen.lines())

        return look

    def trial_done(self, record: Mapping[str, Any], done: int, left: int) -> None:
        """One more trial is durable; elsewhere than in a terminal a line a block will do."""
        self._done, self._left = done, left
        ok = record["status"] == "ok"
        figure = f"{record['outcome']['throughput_per_s']:,.0f}/s" if ok else f"failed: {record['reason']}"
        self._last = f"{record['arm']} {figure}"
        if self._live is None and (record["block"] != self._last_block or left == 0 or not ok):
            self._show(f"{self._place(done, record['block'])}: {self._last}")
        self._last_block = record["block"]

    def _place(self, trial: int, block: int) -> str:
        return f"trial {trial} of {self._done + self._left}, block {block + 1}{self._time_left()}"

    def _time_left(self) -> str:
        measured = self._done - self._done_before
        if not measured:
            return ""
        seconds = (time.monotonic() - self._first_trial_s) / measured * self._left
        return f", {_time(seconds)} left"

    def _say(self, line: str) -> None:
        """A line that stays, above the live one."""
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    def _show(self, line: str, below: Sequence[Text] = ()) -> None:
        if self._live is not None:
            self._live.update(Group(Text(line, no_wrap=True, overflow="ellipsis"), *below))
        else:
            print(line, file=sys.stderr, flush=True)


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
