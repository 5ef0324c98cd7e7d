"""Average active sessions over time, stacked by class, beside the number of the host's CPUs.

CPU lies lowest: where its area reaches the line, every CPU is taken and what lies above it stands in line.
Steps are drawn as steps, since each is an average over its stretch of time.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from dbdyno.analysis.server_profile.findings import ActiveSessions, ServerProfile
from dbdyno.report.html import palette
from dbdyno.report.html.chart import Chart, Json, Key, Panel, literal, note, panel
from dbdyno.report.html.palette import Fill, Stroke
from dbdyno.report.html.quantity import number
from dbdyno.report.html.table import Cell, Column, Section, Table

HEIGHT_PX = 340
# What the axis and the margins take of the height.
FRAME_PX = 46
LABEL_PX = 22
MOST_STEPS, MOST_ROWS = 480, 60
# A line far above all areas would press them flat.
CPU_LINE_AT_MOST = 4.0

FIRST = ("CPU", "run queue", "no clock")
IDLE = Stroke("#8C5AA8", "dot")
CPUS = Stroke(palette.NEUTRAL, "dash")
# Lines cross areas of every colour: black on a white hem is seen on all of them.
HEM = "rgba(255,255,255,0.8)"


@dataclasses.dataclass(frozen=True, slots=True)
class Layer:
    """One class: its name, its fill, and the sessions in it in each step."""

    name: str
    fill: Fill
    sessions: list[float]


def chart(profile: ServerProfile) -> Chart | None:
    """The stacked areas; None where no session was seen active."""
    sessions = profile.active_sessions
    layers = _layers(sessions)
    if not layers:
        return None
    highest = max(map(sum, zip(*(layer.sessions for layer in layers), strict=True)))
    idle = any(sessions.idle_in_transaction)
    lined = sessions.cpus is not None and sessions.cpus <= CPU_LINE_AT_MOST * highest
    return Chart(
        id="sessions",
        short="Active sessions",
        heading="What the sessions were doing, over time",
        caption=_caption(sessions, lined=lined),
        reading=(
            "Each step shows how many sessions were active on average during it, split by what they were doing: "
            "on a CPU, ready and waiting for one (run queue), or asleep in a wait of a class. The area is the "
            "database time. Where CPU alone reaches the dashed line, all CPUs of the host are taken; an area "
            "above the line in another colour is waiting, not work."
        ),
        panels=[_panel(profile, layers, highest, lined=lined)],
        keys=[
            *(Key(layer.name, layer.fill) for layer in layers),
            *([Key("idle in transaction, beside them", IDLE)] if idle else []),
            *([Key(f"the host’s {sessions.cpus} CPUs", CPUS)] if lined else []),
        ],
        tables=[("The same as figures", _table(sessions, layers))],
    )


def _caption(sessions: ActiveSessions, *, lined: bool) -> str:
    words = "Sessions that were active, on average of each step, by what they were doing."
    if sessions.cpus is not None and not lined:
        words += f" The host has {sessions.cpus} CPUs, which lies above the chart."
    return words


def _layers(sessions: ActiveSessions) -> list[Layer]:
    """Classes with anything in them, from the bottom up: CPU, what waits for it, then the others by size."""
    found = [
        Layer(name, palette.class_fill(name), values)
        for name, values in zip(sessions.classes, sessions.series, strict=True)
        if any(values)
    ]
    return sorted(found, key=lambda layer: FIRST.index(layer.name) if layer.name in FIRST else len(FIRST))


def _panel(profile: ServerProfile, layers: Sequence[Layer], highest: float, *, lined: bool) -> Panel:
    sessions = profile.active_sessions
    end_s = _end_s(sessions)
    top = max(highest, sessions.cpus if lined and sessions.cpus else 0, *sessions.idle_in_transaction, 0) * 1.06
    idle = _idle(sessions) if any(sessions.idle_in_transaction) else []
    mean = profile.active_sessions_mean.estimate
    return panel(
        None,
        f"{number(mean)} sessions active on average over {number(end_s)} seconds, at most {number(highest)} in a step: "
        + ", ".join(layer.name for layer in layers) + ".",
        HEIGHT_PX,
        [*(_area(layer, sessions) for layer in layers), *idle],
        x={"range": [0, end_s], "ticksuffix": " s", "nticks": 7, "showgrid": False},
        y={"range": [0, top], "nticks": 6},
        hovermode="x unified",
        annotations=[*_labels(layers, sessions, top), *([_cpu_words(sessions, end_s)] if lined else [])],
        shapes=_cpu_line(sessions) if lined else [],
    )  # fmt: skip


def merged(values: Sequence[float], most: int) -> list[float]:
    """Neighbouring steps averaged, so that at most `most` remain."""
    each = -(-len(values) // most) if values else 1
    groups = [values[at : at + each] for at in range(0, len(values), each)]
    return [sum(group) / len(group) for group in groups]


def _starts_s(sessions: ActiveSessions, most: int) -> list[float]:
    each = -(-len(sessions.from_ns) // most)
    return [ns / 1e9 for ns in sessions.from_ns[::each]]


def _end_s(sessions: ActiveSessions) -> float:
    return (sessions.from_ns[-1] + sessions.step_ns) / 1e9


def _stepped(values: Sequence[float], sessions: ActiveSessions) -> tuple[list[float], list[float]]:
    """Points of a line with steps; the last one is drawn to its end."""
    levels = merged(values, MOST_STEPS)
    return [*_starts_s(sessions, MOST_STEPS), _end_s(sessions)], [*levels, levels[-1]]


def _area(layer: Layer, sessions: ActiveSessions) -> Json:
    x, y = _stepped(layer.sessions, sessions)
    return {
        "type": "scatter",
        "mode": "lines",
        "stackgroup": "sessions",
        "name": literal(layer.name),
        "x": x,
        "y": y,
        "line": {"shape": "hv", "width": 0.5, "color": layer.fill.colour},
        "fillcolor": layer.fill.colour,
        "hovertemplate": f"{literal(layer.name)}  %{{y:.3~r}}<extra></extra>",
    }


def _idle(sessions: ActiveSessions) -> list[Json]:
    x, y = _stepped(sessions.idle_in_transaction, sessions)
    line = {"type": "scatter", "mode": "lines", "name": "idle in transaction", "x": x, "y": y}
    return [
        line | {"line": {"shape": "hv", "width": 4.5, "color": HEM}, "hoverinfo": "skip"},
        line
        | {
            "line": {"shape": "hv", "width": 2, "color": IDLE.colour, "dash": IDLE.dash},
            "hovertemplate": "idle in transaction  %{y:.3~r}<extra></extra>",
        },
    ]


def _cpu_line(sessions: ActiveSessions) -> list[Json]:
    place = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": sessions.cpus, "y1": sessions.cpus}
    return [
        place | {"line": {"color": HEM, "width": 4.5}},
        place | {"line": {"color": palette.INK, "width": 2, "dash": CPUS.dash}},
    ]


def _cpu_words(sessions: ActiveSessions, end_s: float) -> Json:
    return note(f"{sessions.cpus} CPUs", x=end_s, xanchor="right", y=sessions.cpus, yshift=10)


def _labels(layers: Sequence[Layer], sessions: ActiveSessions, top: float) -> list[Json]:
    """The name in each area that is thick enough, all where the stack is highest: there none can lie on another."""
    stacks = list(zip(*(merged(layer.sessions, MOST_STEPS) for layer in layers), strict=True))
    place = max(range(len(stacks)), key=lambda at: sum(stacks[at]))
    x = [*_starts_s(sessions, MOST_STEPS), _end_s(sessions)]
    middle = (x[place] + x[place + 1]) / 2
    side = "left" if middle < 0.25 * x[-1] else "right" if middle > 0.75 * x[-1] else "center"
    labels, height = [], 0.0
    for layer, thickness in zip(layers, stacks[place], strict=True):
        if thickness / top * (HEIGHT_PX - FRAME_PX) >= LABEL_PX:
            words = literal(layer.name)
            labels.append(note(words, x=middle, xanchor=side, y=height + thickness / 2, bgcolor="white", borderpad=2))
        height += thickness
    return labels


def _table(sessions: ActiveSessions, layers: Sequence[Layer]) -> Table:
    """Sessions by class in each step; neighbouring steps are averaged where there are many."""
    columns = [
        Column("from", "s"),
        *(Column(layer.name) for layer in layers),
        Column("all"),
        *([Column("idle in transaction")] if any(sessions.idle_in_transaction) else []),
    ]
    levels = [merged(layer.sessions, MOST_ROWS) for layer in layers]
    idle = merged(sessions.idle_in_transaction, MOST_ROWS) if any(sessions.idle_in_transaction) else None
    rows = [
        [
            Cell(f"{start:g}"),
            *(Cell(number(level[place])) for level in levels),
            Cell(number(sum(level[place] for level in levels))),
            *([Cell(number(idle[place]))] if idle else []),
        ]
        for place, start in enumerate(_starts_s(sessions, MOST_ROWS))
    ]
    return Table("sessions-figures", columns, [Section(None, rows)])
