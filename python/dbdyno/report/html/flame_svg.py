"""Flame graphs of stacks: the SVG that a page draws from, and one that stands for itself.

In: `Stacks` (plain findings). Out: text. The drawing is the Rust core's (`inferno`); nothing is computed here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from dbdyno import _core
from dbdyno.analysis.findings import Comparison, Findings, Stacks
from dbdyno.report import numbers
from dbdyno.report.function_meanings import meaning
from dbdyno.report.html import palette
from dbdyno.report.html.flame import FlameGraph

_WAIT = re.compile(r"(?P<wait_class>[A-Z][A-Za-z]+):\w+")
BRACKETS = "#c9c9c9"
UNIT = "microseconds"


def flame_graph_of(title: str, stacks: Stacks) -> FlameGraph:
    """What a page is given: the graph without meanings in it, and the meanings beside it."""
    return FlameGraph(title, _drawn(stacks.folded(), title, None, {}, {}), meanings_of(stacks.frames))


def flame_graphs(findings: Findings) -> list[FlameGraph]:
    """Those of the arms whose stacks were recorded, then the differences of arms and their baselines."""
    arms = [flame_graph_of(f"{arm.arm}, all trials", arm.stacks) for arm in findings.arms if arm.stacks]
    return [*arms, *(difference_of(each) for each in findings.comparisons if each.stacks)]


def difference_of(comparison: Comparison) -> FlameGraph:
    """What an arm does more or less than its baseline: as wide as in the arm, coloured by the change."""
    assert comparison.stacks is not None
    title = f"{comparison.arm} against {comparison.baseline}, {comparison.stacks.units:,} units each"
    svg = _drawn(comparison.stacks.folded(), title, None, {}, {})
    return FlameGraph(title, svg, meanings_of(comparison.stacks.frames), differential=True)


def flame_svg(title: str, stacks: Stacks) -> str:
    """A flame graph as a file of its own: frames coloured by what they are, their meaning in label and tooltip."""
    subtitle = (
        f"{numbers.duration(stacks.total_us * 1e3)}; {stacks.cpu_snapshots} CPU and {stacks.wait_snapshots} wait stacks"
    )
    return _drawn(stacks.folded(), title, subtitle, meanings_of(stacks.frames), _colours(stacks.frames))


def meanings_of(frames: Iterable[str]) -> dict[str, str]:
    """What those of the frames mean that the table knows."""
    return {frame: text for frame in frames if (text := meaning(frame))}


def _drawn(
    folded: str, title: str, subtitle: str | None, meanings: Mapping[str, str], colours: Mapping[str, str]
) -> str:
    options = {"title": title, "subtitle": subtitle, "count_name": UNIT, "meanings": meanings, "colours": colours}
    return _core.flame_graph(folded, json.dumps(options))


def _colours(frames: Iterable[str]) -> dict[str, str]:
    """Waits have the colour of their class, parts without a stack are grey; functions keep their shades."""
    colours = {}
    for frame in frames:
        if wait := _WAIT.fullmatch(frame):
            colours[frame] = palette.class_fill(wait["wait_class"]).colour
        elif frame.startswith("["):
            colours[frame] = BRACKETS
    return colours
