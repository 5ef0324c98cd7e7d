"""Heat maps of how long waits were, over time: a cell is a stretch of time and a range of lengths.

    100 ms |        ▒
     10 ms |  ░ ▒▒░ █ ░        the darker, the more waits of that length ended then
      1 ms | ▒█▓██▓▒█▓▒
    100 µs |·░·░··░·░··        beneath the dotted line waits are shorter than the period of the snapshots

Colours go with the logarithm of the number, since one long wait among thousands of short ones is what one looks for.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from dbdyno.report.html import palette
from dbdyno.report.html.chart import BAND, Json, Key, Panel, literal, panel
from dbdyno.report.html.palette import Shade
from dbdyno.report.html.quantity import number, time_unit, whole
from dbdyno.report.html.table import Cell, Column, Section, Table

HEIGHT_PX = 210
# A panel is at most 472 px wide: cells thinner than 4 px are not told apart, and each makes the file larger.
MOST_COLUMNS = 120


@dataclasses.dataclass(frozen=True, slots=True)
class Lengths:
    """Waits of one event: `cells` are [step, bin, count], bin b holds lengths from 10^(b / bins_per_decade) ns on."""

    title: str
    event: str
    steps: int
    step_ns: int
    bins_per_decade: int
    shortest_ns: float
    cells: Sequence[Sequence[int]]

    @property
    def count(self) -> int:
        """All waits that were seen."""
        return sum(count for _, _, count in self.cells)

    def from_ns(self, place: int) -> float:
        """The shortest wait of a bin."""
        return math.pow(10.0, place / self.bins_per_decade)


def heat_panel(lengths: Lengths) -> Panel:
    """One heat map; time runs to the right, longer waits stand higher."""
    merged = -(-lengths.steps // MOST_COLUMNS)
    counts: dict[tuple[int, int], int] = {}
    for step, place, count in lengths.cells:
        counts[step // merged, place] = counts.get((step // merged, place), 0) + count
    low, high = _decades(lengths)
    return panel(
        lengths.title,
        f"Lengths of {whole(lengths.count)} waits for {lengths.event} over time, from "
        f"{_named(lengths.from_ns(min(place for _, place in counts)))} to "
        f"{_named(lengths.from_ns(max(place for _, place in counts) + 1))}.",
        HEIGHT_PX,
        [_cells(lengths, counts, merged)],
        x={
            "range": [0, lengths.steps * lengths.step_ns / 1e9], "showgrid": False, "nticks": 6,
            "ticksuffix": " s", "showline": True,
        },
        y={
            "range": [low, high], "tickmode": "array",
            "tickvals": list(range(low, high + 1, lengths.bins_per_decade)),
            "ticktext": [
                _tick(lengths.from_ns(place)) for place in range(low, high + 1, lengths.bins_per_decade)
            ],
        },
        shapes=_unseen(lengths, low),
    )  # fmt: skip


def colour_of(event: str) -> str:
    """The colour of the event's class."""
    return palette.class_fill(event.partition(":")[0]).colour


def shade_key(events: Sequence[str]) -> list[Key]:
    """What the shades mean, once for each class of waits."""
    classes = {event.partition(":")[0]: colour_of(event) for event in events}
    return [Key(f"{name or 'no event'}: few to many waits", Shade(colour)) for name, colour in classes.items()]


def lengths_table(name: str, every: Sequence[Lengths]) -> Table:
    """How many waits of each length, a decade a column, over the whole time: the heat maps laid flat."""
    by_event = [_by_decade(lengths) for lengths in every]
    seen = sorted({decade for decades in by_event for decade in decades})
    columns = [
        Column("waits of", figures=False),
        *(Column(f"{_tick(10.0**decade)} to {_tick(10.0 ** (decade + 1))}") for decade in seen),
        Column("all"),
    ]
    rows = [
        [
            Cell(lengths.title),
            *(Cell(whole(decades[decade]) if decade in decades else "") for decade in seen),
            Cell(whole(lengths.count)),
        ]
        for lengths, decades in zip(every, by_event, strict=True)
    ]
    return Table(name, columns, [Section(None, rows)])


def _by_decade(lengths: Lengths) -> dict[int, int]:
    decades: dict[int, int] = {}
    for _, place, count in lengths.cells:
        decade = place // lengths.bins_per_decade
        decades[decade] = decades.get(decade, 0) + count
    return decades


def _cells(lengths: Lengths, counts: dict[tuple[int, int], int], merged: int) -> Json:
    columns = range(-(-lengths.steps // merged))
    places = range(min(place for _, place in counts), max(place for _, place in counts) + 1)
    most = max(counts.values())
    colour = colour_of(lengths.event)
    width_s = merged * lengths.step_ns / 1e9
    return {
        "type": "heatmap",
        "name": literal(lengths.event),
        "x": [column * width_s for column in (*columns, len(columns))],
        "y": [*places, places.stop],
        "z": [
            [round(math.log10(counts[column, place]), 3) if (column, place) in counts else None for column in columns]
            for place in places
        ],
        "text": [[_words(lengths, place, counts.get((column, place), 0)) for column in columns] for place in places],
        "zmin": 0,
        "zmax": max(math.log10(most), 0.3),
        "colorscale": [[0, palette.translucent(colour, 0.25)], [1, palette.translucent(colour, 1.0)]],
        "showscale": False,
        "hoverongaps": False,
        "hovertemplate": f"<b>{literal(lengths.event)}</b><br>%{{text}}<extra></extra>",
    }


def _words(lengths: Lengths, place: int, count: int) -> str:
    """What stands over a cell; an empty one has none, and takes no room in the file."""
    if not count:
        return ""
    return f"{whole(count)} of {_named(lengths.from_ns(place))} to {_named(lengths.from_ns(place + 1))}"


def _decades(lengths: Lengths) -> tuple[int, int]:
    """Whole decades, as bins: up to the longest wait, down to the shortest, or to the decade below the period.

    What is shorter than that was seen by luck, and an axis for it would press the rest flat; the table has it.
    """
    per = lengths.bins_per_decade
    places = [place for _, place, _ in lengths.cells]
    top = -(-(max(places) + 1) // per) * per
    least = (math.floor(math.log10(max(lengths.shortest_ns, 1.0))) - 1) * per
    return min(max(min(places) // per * per, least), top - per), top


def _unseen(lengths: Lengths, low: int) -> list[Json]:
    """What lies beneath the period of the snapshots: such waits are mostly missed."""
    edge = math.log10(lengths.shortest_ns) * lengths.bins_per_decade if lengths.shortest_ns > 0 else low
    if edge <= low:
        return []
    return [
        {
            "type": "rect", "xref": "paper", "x0": 0, "x1": 1, "y0": low, "y1": edge, "layer": "below",
            "fillcolor": BAND, "line": {"width": 0},
        },
    ]  # fmt: skip


def _tick(ns: float) -> str:
    unit = time_unit([ns * 1.0000001])
    return f"{float(number(ns / unit.size).replace(',', '')):g} {unit.name}"


def _named(ns: float) -> str:
    return time_unit([ns]).named(ns)
