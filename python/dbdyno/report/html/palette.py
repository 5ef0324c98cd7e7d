"""Colours with fixed meanings, told apart by all common kinds of colour vision.

Two families that never share a chart: parts of a time profile, and arms.
Hues are those of Okabe and Ito (jfly.uni-koeln.de/color), lightened or darkened within a class of waits.
Every colour reads on white and on near-black, so that one figure serves the light and the dark page.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from dbdyno.analysis.findings import Arm


@dataclasses.dataclass(frozen=True, slots=True)
class Fill:
    """How an area is filled; `hatch` is a pattern's name in plotly's words, empty for a plain area."""

    colour: str
    hatch: str = ""


INK = "#1b1f24"

# The band of the margin, as it is drawn and, stronger, as a swatch shows it.
BAND_KEY = "rgba(128,128,128,0.3)"

BETTER, WORSE, NEUTRAL = "#0072B2", "#D55E00", "#7D8590"

CPU, RUN_QUEUE = "#009E73", "#86D1BA"
QUEUE, ASLEEP, CLIENT, UNACCOUNTED = "#5F6773", "#BFAE8E", "#AEB6C0", "#8C939C"

WAIT_CLASSES = {
    "IO": ("#0072B2", "#56B4E9", "#A3D3F0", "#004A75"),
    "LWLock": ("#D55E00", "#F0A06A", "#8C3E00", "#F6C9A6"),
    "Lock": ("#CC79A7", "#8B3A67", "#E6B9D2"),
}
# What a whole server does, by class: the same class looks the same in every report.
CLASSES = {
    "CPU": Fill(CPU),
    "run queue": Fill(RUN_QUEUE),
    "IO": Fill("#0072B2"),
    "LWLock": Fill("#D55E00"),
    "Lock": Fill("#CC79A7"),
    "IPC": Fill("#E69F00"),
    "BufferPin": Fill("#8B3A67"),
    "Timeout": Fill("#F0D264"),
    "Extension": Fill("#B9A3D0"),
    "InjectionPoint": Fill("#F3E3A6"),
    "Activity": Fill("#9A6A00"),
    "Client": Fill(CLIENT),
    "no event": Fill(ASLEEP),
    "no clock": Fill(QUEUE),
}
OTHER_CLASS = Fill("#F3E3A6")

# Frames of flame graphs: functions step back behind the waits that end them.
FUNCTION, KNOWN_FUNCTION, NO_STACK = "#E9DFC8", "#F0D58A", "#C9CED4"

# Storage: how many I/Os and how much time, as PyLatencyMap has them, blue and red; and the clocks of a load curve.
FREQUENCY, INTENSITY = "#0072B2", "#D55E00"
P50, MEAN, P99, KNEE = "#0072B2", "#009E73", "#D55E00", "#8C5AA8"

# Distinct counts: a wrong one that does not matter, a mended one, and what samples of growing size would say.
DOUBTFUL = "#E69F00"
MENDED = "#009E73"
SAMPLES = ("#56B4E9", "#0072B2", "#8C5AA8")

SMALL_WAITS = "#B9A3D0"
OTHER_WAITS = ("#E69F00", "#F0D264", "#9A6A00", "#F3E3A6")

ARMS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C5AA8")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "x")
HATCHES = ("", "/", "x", "-")


@dataclasses.dataclass(frozen=True, slots=True)
class Mark:
    """How an arm's points and lines are drawn: the symbol says again what the colour says."""

    colour: str
    symbol: str
    dash: str = "solid"


@dataclasses.dataclass(frozen=True, slots=True)
class Stroke:
    """How a line without symbols is drawn."""

    colour: str
    dash: str


@dataclasses.dataclass(frozen=True, slots=True)
class Shade:
    """How the cells of a heat map are coloured: from a thin tint to the full colour."""

    colour: str


def class_fill(wait_class: str) -> Fill:
    """The fill of a class of waits, of `CPU` or of `run queue`."""
    return CLASSES.get(wait_class, OTHER_CLASS)


def wait_fills(events: Iterable[str]) -> dict[str, Fill]:
    """A fill for each wait event: the class decides the hue, the order within the class the shade."""
    used: dict[str, int] = {}
    fills = {}
    for event in events:
        wait_class = event.partition(":")[0]
        shades = WAIT_CLASSES.get(wait_class, OTHER_WAITS)
        family = wait_class if wait_class in WAIT_CLASSES else ""
        place = used.get(family, 0)
        used[family] = place + 1
        fills[event] = Fill(shades[place % len(shades)], HATCHES[place // len(shades) % len(HATCHES)])
    return fills


def arm_marks(labels_with_arms: Iterable[tuple[str, Arm]]) -> dict[str, Mark]:
    """A mark for each label: the first baseline is grey, the others take colours in file order."""
    pairs = list(labels_with_arms)
    baseline = next((label for label, arm in pairs if arm.baseline is None), None)
    others = [label for label in dict.fromkeys(label for label, _ in pairs) if label != baseline]
    marks = {} if baseline is None else {baseline: Mark(NEUTRAL, "circle")}
    for place, label in enumerate(others):
        turn = place // len(ARMS)
        symbol = SYMBOLS[(place + 1 + turn) % len(SYMBOLS)]
        marks[label] = Mark(ARMS[place % len(ARMS)], symbol, ("solid", "dash", "dot")[turn % 3])
    return marks


def ink_on(colour: str) -> str:
    """The ink that is read on a colour (#RRGGBB): white on what is darker than the middle of perceived brightness."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#ffffff" if 0.299 * red + 0.587 * green + 0.114 * blue < 128 else INK


def translucent(colour: str, opacity: float = 0.25) -> str:
    """`colour` (#RRGGBB) thinned so that what lies beneath shows."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:g})"
