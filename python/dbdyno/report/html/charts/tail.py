"""Why the slowest units are slow: their profile beside that of median units, and the difference part by part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dbdyno.analysis.findings import Arm, Band, Estimate, ExtraPart, Tail
from dbdyno.report.html import palette
from dbdyno.report.html.arrangement import Arrangement, Placed
from dbdyno.report.html.chart import Chart, Key, Panel
from dbdyno.report.html.charts.profile import AFTER_WAITS, BEFORE_WAITS
from dbdyno.report.html.palette import Fill
from dbdyno.report.html.quantity import Unit, time_unit, whole
from dbdyno.report.html.ranked import BRACKET_KEY, Ranked, bracketed, ranked_panel
from dbdyno.report.html.stacked import Part, Stack, stacked_panel
from dbdyno.report.html.table import Cell, Column, Section, Table
from dbdyno.report.naming import part_name
from dbdyno.report.numbers import p_value, percent

# A wait under this share of the slow units' time in every arm is drawn together with its like.
SMALL_SHARE = 0.02
SMALL_WAITS = "other waits, each under 2 %"
# Of the parts of the extra time those that matter; all stand in the table.
MOST_EXTRA, LEAST_EXTRA_SHARE = 6, 0.01
FAINT_KEY = Key("pale: the difference is not told from zero", Fill("#BFC6CE"))


def chart(arrangement: Arrangement) -> Chart | None:
    """Two panels for each arm whose tail was told, a sentence for every arm; None where no arm has anything to say."""
    placed = [one for one in arrangement.placed() if one.arm.tail is not None]
    if not placed:
        return None
    parts = _parts(arrangement, placed)
    told = [(one, one.arm.tail) for one in placed if one.arm.tail is not None and one.arm.tail.extra]
    shown = [part for _, tail in told for part in _shown(tail)]
    brackets = any(bracketed(part.rank_group for part in _shown(tail)) for _, tail in told)
    return Chart(
        id="tail",
        short="The slowest",
        heading="Why the slowest units are slow",
        words=[(one.arm.arm, said) for one in arrangement.placed() if (said := words(one.arm))],
        caption=(
            "For each arm, the profile of its slowest units above that of median ones, and the difference, "
            "part by part, with 95 % intervals."
        ),
        reading=(
            "A mean profile says little about the slowest units: what is rare in the mean may be all of their time. "
            "Here units are parted by their response time, and the snapshots within them divide the time of each "
            "group by itself. The bars at the side are the extra time of a slow unit over a median one, part by "
            "part; a bar to the left is a part that slow units have less of. A pale bar is a difference that chance "
            "makes often enough (tested over all parts at once); it explains nothing."
        ),
        panels=[panel for one, tail in told for panel in _panels(one, tail, parts)],
        keys=[
            *(Key(part.name, part.fill) for part in parts if told),
            *([FAINT_KEY] if any(not part.told for part in shown) else []),
            *([BRACKET_KEY] if brackets else []),
        ],
        columns=2,
        tables=[("The same as figures", _table(told))] if told else [],
    )


def words(arm: Arm) -> str | None:
    """The answer for one arm, or why there is none."""
    return arm.tail_note if arm.tail is None else arm.tail.sentence


def _parts(arrangement: Arrangement, placed: Sequence[Placed]) -> list[Part]:
    """The parts that slow or median units have, in stacking order; waits that are small everywhere as one."""
    bands = [band for one in placed if (tail := one.arm.tail) for band in (tail.slow, tail.median)]
    shares = [{part.part: part.share.estimate for part in band.parts} for band in bands]
    events = [event for event in arrangement.wait_fills if any(share.get(event) for share in shares)]
    small = tuple(event for event in events if all(share.get(event, 0.0) < SMALL_SHARE for share in shares))
    small = small if len(small) > 1 else ()
    large = {event: arrangement.wait_fills[event] for event in events if event not in small}
    parts = [
        *(Part(part_name(key), fill, (key,)) for key, fill in (BEFORE_WAITS | large).items()),
        Part(SMALL_WAITS, Fill(palette.SMALL_WAITS), small),
        *(Part(part_name(key), fill, (key,)) for key, fill in AFTER_WAITS.items()),
    ]
    return [part for part in parts if any(part.time(share) for share in shares)]


def _panels(one: Placed, tail: Tail, parts: Sequence[Part]) -> list[Panel]:
    unit = time_unit([tail.slow.response_time_ns])
    bands = {band_name(tail.slow): tail.slow, band_name(tail.median): tail.median}
    stacked = stacked_panel(
        one.arm.arm,
        f"Profiles of the slowest and of median units of {one.arm.arm}, in {unit.name} for one unit of work.",
        [Stack(name, band.response_time_ns, _times(band), _intervals(band)) for name, band in bands.items()],
        parts,
        unit,
        f"{unit.name} for one unit of work",
    )
    return [stacked, _extra_panel(one, tail, parts)]


def _extra_panel(one: Placed, tail: Tail, parts: Sequence[Part]) -> Panel:
    shown = _shown(tail)
    unit = time_unit(part.ns.estimate for part in shown)
    fills = {key: part.fill for part in parts for key in part.keys}
    return ranked_panel(
        "what they take more of",
        f"Extra time of the slowest units of {one.arm.arm} over median ones",
        [_ranked(part, fills, unit) for part in shown],
        unit,
        f"{unit.name} more in one unit of work",
    )


def _shown(tail: Tail) -> list[ExtraPart]:
    large = [part for part in tail.extra if abs(part.share.estimate) >= LEAST_EXTRA_SHARE]
    return (large or tail.extra)[:MOST_EXTRA]


def _ranked(part: ExtraPart, fills: Mapping[str, Fill], unit: Unit) -> Ranked:
    said = f"{unit.named(part.ns.estimate)} · {_percent(part.share.estimate)}"
    return Ranked(
        part_name(part.part),
        said if part.told else f"{said}, not told from 0",
        fills.get(part.part, Fill(palette.NEUTRAL)),
        part.ns,
        part.rank_group,
        faint=not part.told,
    )


def band_name(band: Band) -> str:
    """A range of units as a label: `slowest 0.94 %`, `units from 40 to 60 %`."""
    if band.high_ns is None:
        return f"slowest {band.share * 100:.2g} %"
    return f"units from {band.from_share * 100:g} to {band.to_share * 100:g} %"


def _times(band: Band) -> dict[str, float]:
    return {part.part: part.ns.estimate for part in band.parts}


def _intervals(band: Band) -> dict[str, Estimate]:
    return {part.part: part.ns for part in band.parts}


def _table(told: Sequence[tuple[Placed, Tail]]) -> Table:
    """For each arm every part in both groups, and the difference with its interval and its test."""
    unit = time_unit(tail.slow.response_time_ns for _, tail in told)
    columns = [
        Column("part", figures=False),
        Column("slowest", unit.name),
        Column("median", unit.name),
        Column("more", unit.name),
        Column("of all that is more"),
        Column("p"),
        Column("told from zero", figures=False),
    ]
    return Table("tail", columns, [Section(_heading(one, tail), _rows(tail, unit)) for one, tail in told])


def _heading(one: Placed, tail: Tail) -> str:
    counts = f"{whole(tail.slow.units)} and {whole(tail.median.units)} units"
    return f"{one.arm.arm}: {counts}, intervals from {whole(tail.clusters)} {tail.resampled}"


def _rows(tail: Tail, unit: Unit) -> list[list[Cell]]:
    slow, median = _times(tail.slow), _times(tail.median)
    slow_ends, median_ends = _intervals(tail.slow), _intervals(tail.median)
    rows = [
        [
            Cell(part_name(part.part), part.note or ""),
            _figure(slow.get(part.part, 0.0), slow_ends.get(part.part), unit),
            _figure(median.get(part.part, 0.0), median_ends.get(part.part), unit),
            _figure(part.ns.estimate, part.ns, unit),
            Cell(_percent(part.share.estimate)),
            Cell(p_value(part.p_value)),
            Cell("yes" if part.told else "no"),
        ]
        for part in tail.extra
    ]
    total = [
        Cell("response time"),
        Cell(unit.text(tail.slow.response_time_ns)),
        Cell(unit.text(tail.median.response_time_ns)),
        _figure(tail.extra_ns.estimate, tail.extra_ns, unit),
        *(Cell("") for _ in range(3)),
    ]
    return [*rows, total]


def _figure(ns: float, ends: Estimate | None, unit: Unit) -> Cell:
    if ends is None or ends.low is None or ends.high is None:
        return Cell(unit.text(ns))
    return Cell(unit.text(ns), f"{unit.text(ends.low)} to {unit.text(ends.high)}")


def _percent(share: float) -> str:
    return percent(share).replace("-", "−")
