"""A running trial on the terminal, redrawn each second: rate over time, response time by kind, CPU, top waits.

screen = LiveScreen()
screen.take(view, cpu)          once a second: what the engine shows (docs/architecture.md, "A trial in progress")
screen.lines()                  the screen as it is now
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from rich.text import Text

from dbdyno.report import numbers
from dbdyno.report.layout import Column, Row, table

# The course of the rate is drawn over as many looks as fit behind its caption: about a minute.
SHOWN_LOOKS = 60
TOP_WAITS = 4
_BARS = "▁▂▃▄▅▆▇█"
_ASCII_BARS = ".:-=+*#@"
_NS_PER_MINUTE = 60e9


class CpuShares(Protocol):
    """What this host's CPUs did since the last look, as shares of all their time."""

    @property
    def user(self) -> float:
        """In programs."""

    @property
    def system(self) -> float:
        """In the kernel."""

    @property
    def io_wait(self) -> float:
        """Idle, with I/O under way."""


class LiveScreen:
    """What is shown of one trial; keeps the course of the rate."""

    def __init__(self, *, blocks: bool = True) -> None:
        """`blocks`: whether the terminal can show block characters."""
        self._bars = _BARS if blocks else _ASCII_BARS
        self._before: Mapping[str, Any] | None = None
        self._view: Mapping[str, Any] | None = None
        self._cpu: CpuShares | None = None
        self._per_minute: deque[float] = deque(maxlen=SHOWN_LOOKS)

    def take(self, view: Mapping[str, Any], cpu: CpuShares | None) -> None:
        """One look at the trial; `cpu` is None where it is not known."""
        self._before, self._view, self._cpu = self._view, view, cpu
        if self._before is not None:
            self._per_minute.append(sum(self._rates()))

    def lines(self) -> list[Text]:
        """The screen, at most 80 columns wide; empty before the second look."""
        if self._view is None or self._before is None:
            return []
        return [self._headline(), *self._course(), *self._kinds(), *self._where()]

    def _rates(self) -> list[float]:
        """Units a minute by script since the look before."""
        assert self._view is not None
        assert self._before is not None
        elapsed_ns = self._view["elapsed_ns"] - self._before["elapsed_ns"]
        pairs = zip(self._view["scripts"], self._before["scripts"], strict=True)
        return [(now["units"] - then["units"]) / elapsed_ns * _NS_PER_MINUTE for now, then in pairs]

    def _headline(self) -> Text:
        assert self._view is not None
        seconds = self._view["elapsed_ns"] // 1_000_000_000
        return Text.assemble(
            (f"{numbers.significant(self._per_minute[-1], most_decimals=0)} a minute", "bold"),
            f"  {self._view['phase']}, {seconds // 60}:{seconds % 60:02d}",
            f"  {self._view['in_unit']} of {numbers.count(self._view['clients'], 'client')} in a unit",
        )

    def _course(self) -> list[Text]:
        highest = max(self._per_minute)
        if highest == 0:
            return []
        steps = len(self._bars) - 1
        bars = "".join(self._bars[round(rate / highest * steps)] for rate in self._per_minute)
        caption = f"  max {numbers.significant(highest, most_decimals=0)}"
        return [Text.assemble((bars, "cyan"), (caption, "dim"))]

    def _kinds(self) -> list[Text]:
        assert self._view is not None
        scripts: Sequence[Mapping[str, Any]] = self._view["scripts"]
        seen = [script["response_time_ns"]["p50"] for script in scripts if script["response_time_ns"]]
        unit = numbers.time_unit(sorted(seen)[len(seen) // 2] if seen else numbers.MILLISECONDS.size)

        def times(name: str, style: str = "") -> Column:
            found = [script["response_time_ns"] for script in scripts]
            cells = tuple(numbers.in_unit(each[name] if each else None, unit) for each in found)
            return Column((f"{name}, {unit.name}",), cells, style)

        rates = tuple(numbers.significant(rate, most_decimals=0) for rate in self._rates())
        columns = [Column(("a minute",), rates), times("p50"), times("p95", "bold"), times("p99")]
        if any(script["failed"] for script in scripts):
            columns.append(Column(("failed",), tuple(f"{script['failed']:,}" for script in scripts), "bold red"))
        return table([Row(_kind(script["name"])) for script in scripts], columns)

    def _where(self) -> list[Text]:
        """What the host's CPUs do, and what the units in progress are found in."""
        assert self._view is not None
        lines: list[Text] = []
        if self._cpu is not None:
            shares = {"user": self._cpu.user, "system": self._cpu.system, "I/O wait": self._cpu.io_wait}
            lines.append(_shares("CPUs of this host: ", shares))
        waits: Mapping[str, float] = self._view["waits"]
        top = sorted(waits.items(), key=lambda wait: -wait[1])[:TOP_WAITS]
        return [*lines, _shares("units are in: ", dict(top))] if top else lines


def _shares(lead: str, shares: Mapping[str, float]) -> Text:
    parts = "  ".join(f"{name} {numbers.percent(share)}" for name, share in shares.items())
    return Text(lead + parts, style="dim", no_wrap=True, overflow="ellipsis")


def _kind(script: str) -> str:
    """A script's name without its directory, workload and ending."""
    return script.removeprefix("builtin:").rpartition("/")[2].removesuffix(".sql")
