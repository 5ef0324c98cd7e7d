"""Larger reads, at random and one after another; and what the device gives for some time, and then for good."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from dbdyno.analysis.calibration.findings import Calibration, Size
from dbdyno.analysis.findings import Estimate
from dbdyno.report import numbers
from dbdyno.report.calibration.words import MEGABYTES_PER_S, burst_sentence
from dbdyno.report.layout import Column, Row, paragraph, table
from dbdyno.report.sections.arms import title

# By depth and size.
Cells = dict[tuple[int, int], Size]


def sizes(calibration: Calibration) -> list[Text]:
    """A row for each size of each depth, random and sequential side by side."""
    if not calibration.sizes:
        return []
    places = sorted({(size.depth, size.io_bytes) for size in calibration.sizes})
    rows = [Row(numbers.exact_size(io_bytes), _group(depth)) for depth, io_bytes in places]
    columns = [
        column
        for sequential, named in ((False, "random, MB/s"), (True, "sequential, MB/s"))
        for column in _columns(_cells(calibration.sizes, sequential), places, named)
    ]
    return [*title("Large reads: size and depth (MB = 10^6 bytes)"), *table(rows, columns)]


def burst(calibration: Calibration) -> list[Text]:
    """One paragraph: both rates, or that there is only one."""
    if calibration.burst is None:
        return []
    return paragraph(Text.assemble(("Burst and sustained: ", "bold"), burst_sentence(calibration.burst)))


def _group(depth: int) -> str:
    return f"{numbers.count(depth, 'read')} at a time"


def _cells(every: Sequence[Size], sequential: bool) -> Cells:
    return {(size.depth, size.io_bytes): size for size in every if size.sequential == sequential}


def _columns(cells: Cells, places: Sequence[tuple[int, int]], named: str) -> list[Column]:
    if not cells:
        return []
    found = [cells.get(place) for place in places]
    return [
        Column(("",), tuple(_rate(one) for one in found), style="bold", span=named),
        Column(("95 %",), tuple(_bounds(one) for one in found), style="dim", words=True, span=named),
    ]


def _rate(one: Size | None) -> str:
    return numbers.in_unit(None if one is None else one.bytes_per_s.estimate, MEGABYTES_PER_S)


def _bounds(one: Size | None) -> str:
    figure = Estimate(0.0, None, None) if one is None else one.bytes_per_s
    if figure.low is None or figure.high is None:
        return numbers.NOTHING
    return f"[{numbers.in_unit(figure.low, MEGABYTES_PER_S)}, {numbers.in_unit(figure.high, MEGABYTES_PER_S)}]"
