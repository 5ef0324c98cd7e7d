"""Average active sessions over time in letters: a row for each class, darker where more sessions were in it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from dbdyno.analysis.server_profile.findings import ActiveSessions
from dbdyno.report import numbers
from dbdyno.report.sections.arms import title

# Plain letters: whatever the terminal's encoding, they can be printed.
SHADES = " .:-=+*#%@"
MOST_CLASSES = 7
FEWEST_STEPS = 4
# What would be printed as 0 needs no row.
LEAST_MEAN = 0.0005


def over_time(active: ActiveSessions, width: int) -> list[Text]:
    """The rows, with the mean of each; nothing for a profile of a few steps."""
    if len(active.from_ns) < FEWEST_STEPS or not active.classes:
        return []
    series_of = zip(active.classes, active.series, strict=True)
    shown = [(name, series) for name, series in series_of if sum(series) >= LEAST_MEAN * len(series)][:MOST_CLASSES]
    if not shown:
        return []
    if any(active.idle_in_transaction):
        shown.append(("(idle in transaction)", active.idle_in_transaction))
    name_width = max(len(name) for name, _ in shown)
    room = width - name_width - 12
    rows = [(name, _columns(series, room)) for name, series in shown]
    most = max(max(columns) for _, columns in rows)
    step_s = active.step_ns * -(-len(active.from_ns) // room) / 1e9
    scale = f"'@' = {numbers.significant(most)}, a letter = {numbers.significant(step_s)} s"
    lines = title(f"Average active sessions over time ({scale})")
    for (name, columns), (_, series) in zip(rows, shown, strict=True):
        mean = numbers.significant(sum(series) / len(series)).rjust(8)
        lines.append(Text.assemble(name.ljust(name_width), mean, "  ", (_shades(columns, most), "bold")))
    return lines


def _columns(series: Sequence[float], room: int) -> list[float]:
    """At most `room` columns, each the mean of so many steps."""
    together = -(-len(series) // room)
    groups = [series[start : start + together] for start in range(0, len(series), together)]
    return [sum(group) / len(group) for group in groups]


def _shades(columns: Sequence[float], most: float) -> str:
    """What is there at all gets at least the lightest shade."""
    top = len(SHADES) - 1
    places = [0 if most <= 0 or value <= 0 else max(1, round(value / most * top)) for value in columns]
    return "".join(SHADES[place] for place in places)
