"""Two heat maps of the same cells, as PyLatencyMap draws them: how many I/Os, and what their time adds up to.

    frequency                 intensity
    2 ms |· · ░ ·             2 ms |▒ ▓ █ ▒      one I/O in a hundred, a quarter of the time
    60 us|█ ▓ █ ▓             60 us|▓ ▒ ▓ ▒

Over loads, a cell is its share of the column, because a deep queue reads more than a shallow one; over time columns are
equally long, and a cell is what it holds. Colours go with the logarithm, from a thousandth of the greatest cell on.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping

from dbdyno.analysis.calibration.findings import HeatMap
from dbdyno.report.html import palette
from dbdyno.report.html.chart import Json, Panel, literal, panel, title
from dbdyno.report.html.quantity import time_unit, whole
from dbdyno.report.html.scale import tick_text
from dbdyno.report.numbers import percent

HEIGHT_PX = 250
# A panel is at most 472 px wide and 200 px high: smaller cells are not told apart, and each makes the file larger.
MOST_COLUMNS, MOST_ROWS = 100, 60
DECADES_OF_COLOUR = 3.0
# Ticks of a decade, and for how many decades at most.
TICKS = (((1, 2, 5), 2.2), ((1, 3), 3.6))

Cells = dict[tuple[int, int], float]


@dataclasses.dataclass(frozen=True, slots=True)
class Weight:
    """What the cells of one of the two maps hold."""

    name: str
    colour: str

    def words(self, value: float) -> str:
        """A cell's content."""
        return f"{whole(round(value))} I/Os" if self is FREQUENCY else time_unit([value]).named(value)


@dataclasses.dataclass(frozen=True, slots=True)
class Grid:
    """How many steps and bins make up a cell."""

    steps: int
    bins: int


FREQUENCY = Weight("frequency: how many I/Os", palette.FREQUENCY)
INTENSITY = Weight("intensity: the time they took", palette.INTENSITY)


def panels(heat_map: HeatMap) -> list[Panel]:
    """Frequency and intensity, side by side."""
    places = [place for _, place, _ in heat_map.cells]
    grid = Grid(
        steps=1 if heat_map.step_ns is None else -(-len(heat_map.columns) // MOST_COLUMNS),
        bins=-(-(max(places) - min(places) + 1) // MOST_ROWS),
    )
    return [
        _panel(heat_map, FREQUENCY, _merged(heat_map.cells, grid), grid),
        _panel(heat_map, INTENSITY, _merged(heat_map.time_cells, grid), grid),
    ]


def _merged(cells: Iterable[tuple[int, int, float]], grid: Grid) -> Cells:
    """Neighbouring steps of a long series together, and neighbouring bins of a wide range."""
    found: Cells = {}
    for column, place, value in cells:
        at = column // grid.steps, place // grid.bins
        if value:
            found[at] = found.get(at, 0.0) + value
    return found


def _panel(heat_map: HeatMap, weight: Weight, cells: Cells, grid: Grid) -> Panel:
    over = "time" if heat_map.step_ns is not None else "load"
    places = range(min(place for _, place in cells), max(place for _, place in cells) + 1)
    lowest, longest = (_named(place * grid.bins, heat_map) for place in (places.start, places.stop))
    return panel(
        f"{heat_map.name} · {weight.name}",
        f"Heat map over {over}, {weight.name}: response times from {lowest} to {longest}.",
        HEIGHT_PX,
        [_trace(heat_map, weight, cells, places, grid)],
        x=_x_axis(heat_map),
        y=_y_axis(places, heat_map.bins_per_decade / grid.bins),
    )


def _trace(heat_map: HeatMap, weight: Weight, cells: Cells, places: range, grid: Grid) -> Json:
    columns = range(-(-len(heat_map.columns) // grid.steps))
    totals = _totals(cells)
    shares = {at: value / totals[at[0]] for at, value in cells.items()}
    drawn = shares if heat_map.step_ns is None else cells
    top = math.log10(max(drawn.values()))
    width = 1.0 if heat_map.step_ns is None else grid.steps * heat_map.step_ns / 1e9
    return {
        "type": "heatmap",
        "name": literal(weight.name),
        "x": [column * width for column in (*columns, len(columns))],
        "y": [*places, places.stop],
        "z": [
            [_logarithm(drawn.get((column, place))) for column in columns]
            for place in places
        ],
        "text": [
            [_words(heat_map, weight, (column, place), cells, shares, grid) for column in columns]
            for place in places
        ],
        "zmin": round(top - DECADES_OF_COLOUR, 3),
        "zmax": round(top, 3),
        "colorscale": [[0, palette.translucent(weight.colour, 0.12)], [1, palette.translucent(weight.colour, 1.0)]],
        "showscale": False,
        "hoverongaps": False,
        "hovertemplate": ("" if heat_map.step_ns is None else "%{x:.3~g} s: ") + "%{text}<extra></extra>",
    }  # fmt: skip


def _totals(cells: Cells) -> Mapping[int, float]:
    totals: dict[int, float] = {}
    for (column, _), value in cells.items():
        totals[column] = totals.get(column, 0.0) + value
    return totals


def _logarithm(value: float | None) -> float | None:
    return None if not value else round(math.log10(value), 3)


def _words(
    heat_map: HeatMap, weight: Weight, at: tuple[int, int], cells: Cells, shares: Cells, grid: Grid
) -> str:  # fmt: skip
    """What stands over a cell; an empty one has none, and takes no room in the file."""
    if at not in cells:
        return ""
    column, place = at
    load = f"<b>{literal(heat_map.columns[column])}</b>: " if heat_map.step_ns is None else ""
    lengths = f"{_named(place * grid.bins, heat_map)} to {_named((place + 1) * grid.bins, heat_map)}"
    return f"{load}{lengths}<br>{weight.words(cells[at])}, {percent(shares[at])}"


def _x_axis(heat_map: HeatMap) -> Json:
    if heat_map.step_ns is not None:
        seconds = len(heat_map.columns) * heat_map.step_ns / 1e9
        return {"range": [0, seconds], "showgrid": False, "nticks": 6, "ticksuffix": " s", "showline": True}
    count = len(heat_map.columns)
    every = -(-count // 10)
    return {
        "title": title(literal(heat_map.over or _load_of(heat_map))),
        "range": [0, count],
        "showgrid": False,
        "showline": True,
        "tickmode": "array",
        "tickvals": [place + 0.5 for place in range(0, count, every)],
        "ticktext": [literal(name) for name in heat_map.columns[::every]],
    }


def _load_of(heat_map: HeatMap) -> str:
    return "depth (reads at a time)" if all(name.isdigit() for name in heat_map.columns) else "load"


def _y_axis(places: range, per_decade: float) -> Json:
    """From the fastest to the slowest I/O; the fewer decades are in sight, the more ticks each has."""
    low, high = places.start - 1, places.stop + 1
    mantissas = next((few for few, most in TICKS if high - low <= most * per_decade), (1,))
    decades = range(math.floor(low / per_decade), math.ceil(high / per_decade) + 1)
    ticks = [mantissa * 10.0**decade for decade in decades for mantissa in mantissas]
    shown = [ns for ns in ticks if low <= math.log10(ns) * per_decade <= high]
    return {
        "range": [low, high],
        "tickmode": "array",
        "tickvals": [math.log10(ns) * per_decade for ns in shown],
        "ticktext": [tick_text(ns) for ns in shown],
    }


def _named(place: int, heat_map: HeatMap) -> str:
    ns = math.pow(10.0, place / heat_map.bins_per_decade)
    return time_unit([ns]).named(ns)
