"""The live view of a trial: rates from two looks, percentiles as they came, at most 80 columns."""

from __future__ import annotations

from typing import Any

from dbdyno.probes.host_cpu import HostCpu
from dbdyno.report.live import LiveScreen


def view(elapsed_s: int, browse: int, order: int, **more: Any) -> dict[str, Any]:
    """What the engine shows of two scripts."""
    times = {"p50": 1_500_000, "p95": 9_000_000, "p99": 20_000_000}
    return {
        "elapsed_ns": elapsed_s * 1_000_000_000, "phase": "window", "clients": 500, "in_unit": 37,
        "scripts": [
            {"name": "builtin:order-entry/browse-products", "units": browse, "failed": 0, "response_time_ns": times},
            {"name": "order.sql", "units": order, "failed": 0, "response_time_ns": None},
        ],
        "waits": {"IO:WalSync": 0.6, "cpu": 0.4},
        **more,
    }  # fmt: skip


def shown(screen: LiveScreen) -> list[str]:
    """The lines as plain text."""
    return [line.plain for line in screen.lines()]


def test_one_look_shows_nothing_yet() -> None:
    """A rate needs two."""
    screen = LiveScreen()
    screen.take(view(1, 10, 0), None)

    assert shown(screen) == []


def test_the_screen_after_two_looks() -> None:
    """Units a minute from the difference; a dash where no unit ended."""
    screen = LiveScreen()
    screen.take(view(61, 1000, 50), None)
    screen.take(view(63, 1400, 50), HostCpu(0.45, 0.2, 0.031, 0.0, 0.319))

    lines = shown(screen)

    assert lines[0] == "12,000 a minute  window, 1:03  37 of 500 clients in a unit"
    assert lines[1] == "█  max 12,000"
    assert lines[3].split() == ["browse-products", "12,000", "1.50", "9.00", "20.0"]
    assert lines[4].split() == ["order", "0", "-", "-", "-"]
    assert lines[5] == "CPUs of this host: user 45 %  system 20 %  I/O wait 3.1 %"
    assert lines[6] == "units are in: IO:WalSync 60 %  cpu 40 %"
    assert max(map(len, lines)) <= 80


def test_the_course_shows_where_the_rate_fell() -> None:
    """The highest rate is a full bar, none an empty one; plain characters where blocks cannot be shown."""
    screen = LiveScreen(blocks=False)
    for second, units in ((1, 0), (2, 100), (3, 150), (4, 150)):
        screen.take(view(second, units, 0), None)

    assert shown(screen)[1] == "@+.  max 6,000"
