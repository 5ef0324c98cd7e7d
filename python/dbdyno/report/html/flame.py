"""Flame graphs on a page: inferno's SVG in, frames that fit any width out.

The SVG of a flame graph is 1,200 px wide and scales its letters with itself, which nobody reads on a telephone.
So its frames are read (name, place, width, depth) and drawn as boxes whose places are shares of the width;
a tap or a pointer shows the time of a frame and what the function means, and a click widens it to the whole.
Widths are exact time in microseconds, as the folded stacks have them.
"""

from __future__ import annotations

import dataclasses
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping, Sequence

from dbdyno.report.html import palette
from dbdyno.report.html.quantity import Unit, time_unit
from dbdyno.report.html.table import Cell, Column, Section, Table
from dbdyno.report.numbers import percent

ROW_PX = 19
# A frame narrower than this share of the whole is less than a pixel wide.
NARROWEST = 0.0008
NAMED_FRAMES = 25
US = 1e3

SVG, FG = "{http://www.w3.org/2000/svg}", "{http://github.com/jonhoo/inferno}"
# As the core writes it: `NAME (WIDTH microseconds, 12.00%)`, `NAME: MEANING (WIDTH ..., 12.00%; +3.00%)`.
_TITLE = re.compile(
    r"(?P<name>.*?)(: (?P<meaning>.*))? \([\d,]+ [^,]*, [\d.]+%(; (?P<change>[+-]?[\d.]+%))?\)", re.DOTALL
)
_WAIT = re.compile(r"(?P<wait_class>[A-Z][A-Za-z]+):\w+")


@dataclasses.dataclass(frozen=True, slots=True)
class FlameGraph:
    """What a page is given: a title, the SVG, what functions mean where the SVG does not say it itself.

    `differential`: it shows how the second of two differs from the first.
    """

    title: str
    svg: str
    meanings: Mapping[str, str] = dataclasses.field(default_factory=dict)
    differential: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Frame:
    """One box: where it begins and how wide it is, in microseconds, and how many frames lie beneath it."""

    name: str
    from_us: float
    us: float
    depth: int
    colour: str
    meaning: str | None
    change: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class Box:
    """A frame as the template draws it, in shares of the width and pixels of the height; `said` is shown on a tap."""

    name: str
    left_percent: float
    percent: float
    bottom_px: int
    colour: str
    ink: str
    said: str


@dataclasses.dataclass(frozen=True, slots=True)
class Drawn:
    """A whole flame graph for the template."""

    id: str
    title: str
    height_px: int
    boxes: Sequence[Box]
    spoken: str
    table: Table


def drawn(graph: FlameGraph, place: int) -> Drawn:
    """The boxes and the table of one flame graph; `place` makes its ids unique."""
    frames = [_explained(frame, graph.meanings) for frame in frames_of(graph.svg)]
    whole_us = max((frame.from_us + frame.us for frame in frames), default=0.0)
    unit = time_unit([whole_us * US])
    deepest = max((frame.depth for frame in frames), default=-1)
    boxes = [_box(frame, graph, whole_us, unit) for frame in frames if whole_us and frame.us >= NARROWEST * whole_us]
    return Drawn(
        f"flame-{place}",
        graph.title,
        (deepest + 1) * ROW_PX,
        boxes,
        f"Flame graph: {graph.title}, {unit.named(whole_us * US)} in {len(frames)} frames.",
        _table(f"flame-{place}", graph, frames, whole_us, unit),
    )


def frames_of(svg: str) -> Iterator[Frame]:
    """The frames of an inferno SVG, whichever side its root is drawn on."""
    groups = [
        (group, box)
        for group in ElementTree.fromstring(svg).iter(f"{SVG}g")
        if (box := group.find(f"{SVG}rect")) is not None and f"{FG}w" in box.attrib
    ]
    heights = sorted({float(box.attrib["y"]) for _, box in groups})
    widest_y = max(groups, key=lambda pair: float(pair[1].attrib[f"{FG}w"]), default=None)
    upright = widest_y is not None and float(widest_y[1].attrib["y"]) == heights[-1]
    rows = heights[::-1] if upright else heights
    depths = {height: depth for depth, height in enumerate(rows)}
    for group, box in groups:
        title = group.findtext(f"{SVG}title", "")
        said = _TITLE.fullmatch(title)
        yield Frame(
            said["name"] if said else title,
            float(box.attrib[f"{FG}x"]),
            float(box.attrib[f"{FG}w"]),
            depths[float(box.attrib["y"])],
            box.attrib.get("fill", ""),
            said["meaning"] if said else None,
            said["change"] if said else None,
        )


def _explained(frame: Frame, meanings: Mapping[str, str]) -> Frame:
    return dataclasses.replace(frame, meaning=frame.meaning or meanings.get(frame.name))


def _box(frame: Frame, graph: FlameGraph, whole_us: float, unit: Unit) -> Box:
    changed = frame.change if frame.change and frame.change.strip("+-0.%") else None
    said = f"{frame.name}: {unit.named(frame.us * US)}, {percent(frame.us / whole_us)}"
    if changed:
        said += f", changed by {changed} of the whole".replace("-", "−")
    if frame.meaning:
        said += f". {frame.meaning[0].upper()}{frame.meaning[1:]}"
    colour = frame.colour if graph.differential else _colour(frame.name, known=frame.meaning is not None)
    return Box(
        f"{frame.name} {changed.replace('-', '−')}" if changed else frame.name,
        100 * frame.from_us / whole_us,
        100 * frame.us / whole_us,
        frame.depth * ROW_PX,
        colour,
        palette.INK if graph.differential else palette.ink_on(colour),
        said,
    )


def _colour(name: str, *, known: bool) -> str:
    """Waits have the colour of their class, time without a stack is grey; functions with a meaning stand out."""
    if name.startswith("["):
        return palette.NO_STACK
    if wait := _WAIT.fullmatch(name):
        return palette.class_fill(wait["wait_class"]).colour
    return palette.KNOWN_FUNCTION if known else palette.FUNCTION


def _table(name: str, graph: FlameGraph, frames: Sequence[Frame], whole_us: float, unit: Unit) -> Table:
    """The widest frames, each function once: where it is widest."""
    widest: dict[str, Frame] = {}
    for frame in sorted(frames, key=lambda frame: (-frame.us, frame.depth)):
        widest.setdefault(frame.name, frame)
    columns = [
        Column("frame", figures=False),
        Column("time", unit.name),
        Column("share"),
        *([Column("change, of the whole")] if graph.differential else []),
        Column("what it means", figures=False),
    ]
    rows = [
        [
            Cell(frame.name),
            Cell(unit.text(frame.us * US)),
            Cell(percent(frame.us / whole_us)),
            *([Cell((frame.change or "").replace("-", "−"))] if graph.differential else []),
            Cell(frame.meaning or ""),
        ]
        for frame in list(widest.values())[:NAMED_FRAMES]
    ]
    return Table(name, columns, [Section(None, rows)])
