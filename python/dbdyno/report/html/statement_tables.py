"""The time of a unit by script and by statement, with the parts that each went into as small bars."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dbdyno.analysis.findings import Part, ScriptTimes, StatementTimes
from dbdyno.report.html.arrangement import Arrangement, Placed
from dbdyno.report.html.charts.profile import AFTER_WAITS, BEFORE_WAITS
from dbdyno.report.html.palette import Fill
from dbdyno.report.html.quantity import Unit, number, time_unit, whole
from dbdyno.report.html.small_bars import SmallBars, longest_words
from dbdyno.report.html.table import Cell, Column, Section, Table
from dbdyno.report.naming import part_name, script_name

TEXT_CHARACTERS = 120
TOO_FEW = "too few snapshots"


def scripts(arrangement: Arrangement) -> Table | None:
    """By kind of transaction; None where no arm has several whose parts are known."""
    placed = [one for one in arrangement.placed() if len(one.arm.by_script) > 1 and _known(one.arm.by_script)]
    if not placed:
        return None
    every = [script for one in placed for script in one.arm.by_script]
    unit = time_unit(script.response_time_ns.mean.estimate for script in every)
    bars = SmallBars(_fills(arrangement), [_times(script.parts) for script in every])
    columns = [
        Column("kind of transaction", figures=False),
        Column("what it went into", figures=False),
        Column("response mean", unit.name),
        Column("units"),
    ]
    return Table(
        "scripts", columns, [Section(one.arm.arm, _script_rows(one.arm.by_script, unit, bars)) for one in placed]
    )


def statements(arrangement: Arrangement) -> Table | None:
    """By statement; None where no arm has any."""
    placed = [one for one in arrangement.placed() if one.arm.by_statement]
    if not placed:
        return None
    every = [statement for one in placed for statement in one.arm.by_statement]
    unit = time_unit(statement.ns_per_unit for statement in every)
    single = time_unit(statement.service_time_ns_mean for statement in every)
    bars = SmallBars(_fills(arrangement), [_times(statement.parts) for statement in every])
    columns = [
        Column("statement", figures=False),
        Column("what it went into", figures=False),
        Column("time for one unit", unit.name),
        Column("executions for one unit"),
        Column("time of one", single.name),
    ]
    return Table("statements", columns, [Section(one.arm.arm, _rows(one, unit, single, bars)) for one in placed])


def _rows(one: Placed, unit: Unit, single: Unit, bars: SmallBars) -> list[list[Cell]]:
    return [
        [
            Cell(_clipped(statement.text), f"{script_name(statement.script)}, line {statement.line}"),
            _parts(statement.parts, bars),
            Cell(unit.text(statement.ns_per_unit)),
            Cell(number(statement.executions_per_unit)),
            Cell(single.text(statement.service_time_ns_mean)),
        ]
        for statement in sorted(one.arm.by_statement, key=lambda statement: -statement.ns_per_unit)
    ]


def _script_rows(found: Iterable[ScriptTimes], unit: Unit, bars: SmallBars) -> list[list[Cell]]:
    return [
        [
            Cell(script_name(script.script)),
            _parts(script.parts, bars),
            Cell(unit.text(script.response_time_ns.mean.estimate)),
            Cell(whole(script.successful)),
        ]
        for script in found
    ]


def _parts(parts: Sequence[Part], bars: SmallBars) -> Cell:
    times = _times(parts)
    return Cell(longest_words(times, part_name), "", bars.of(times)) if times else Cell(TOO_FEW)


def _times(parts: Sequence[Part]) -> dict[str, float]:
    return {part.part: part.ns.estimate for part in parts}


def _known(rows: Sequence[ScriptTimes | StatementTimes]) -> bool:
    return any(row.parts for row in rows)


def _fills(arrangement: Arrangement) -> Mapping[str, Fill]:
    return BEFORE_WAITS | arrangement.wait_fills | AFTER_WAITS


def _clipped(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= TEXT_CHARACTERS else f"{one_line[: TEXT_CHARACTERS - 1].rstrip()}…"
