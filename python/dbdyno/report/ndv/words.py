"""The words of distinct counts, the same wherever they are shown."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.ndv.findings import (
    NOT_COMPARED,
    RIGHT,
    UNIQUE,
    WRONG,
    WRONG_AND_MATTERS,
    ColumnFindings,
    GroupFindings,
    NdvFindings,
    PlanChange,
)
from dbdyno.report import numbers

VERDICTS = {RIGHT: "right", WRONG: "wrong", WRONG_AND_MATTERS: "wrong, matters", NOT_COMPARED: "not compared"}
SOURCES = {
    "statistics": "ANALYZE says",
    "unique index": "by the unique index it is",
    "default": "without statistics it assumes",
    "boolean": "of a boolean it assumes",
    "extended statistics": "extended statistics say",
    "independence": "of columns that know nothing of each other it expects",
}
VIA = {"copy": "read once by COPY", "sql": "counted by the server in SQL"}
READ_ONCE = "read once"


def heading(found: NdvFindings) -> str:
    """What was read, and how long it took."""
    seconds = found.elapsed_ns / 1e9
    read = "" if found.bytes is None else f", {numbers.size(found.bytes)} at {numbers.size(found.bytes / seconds)}/s"
    where = "" if found.where is None else f" where {found.where}"
    files = "" if found.files is None or found.files == 1 else f" ({found.files:,} files)"
    rows = numbers.count(found.rows, "row") if found.rows < 1000 else f"{found.rows:,} rows"
    took = f"{VIA.get(found.via, READ_ONCE)} in {numbers.duration(found.elapsed_ns)}"
    return f"{found.table}{files}{where}: {rows}, {numbers.count(len(found.columns), 'column')}, {took}{read}"


def answer(found: NdvFindings) -> str:
    """The planner's figures as a whole, in a sentence."""
    if not found.has_planner:
        return plain_answer(found)
    counted: list[ColumnFindings | GroupFindings] = [*found.columns, *found.groups]
    compared = [one for one in counted if one.verdict != NOT_COMPARED]
    if not compared:
        return "Nothing is compared with the planner's figures."
    wrong = [one for one in compared if one.verdict != RIGHT]
    matters = [one for one in wrong if one.verdict == WRONG_AND_MATTERS]
    things = "columns and groups" if found.groups else "columns"
    if len(compared) == 1:
        right = "right: within a factor of 2."
        matter = "wrong, and it matters:" if matters else "wrong; it does not matter:"
        return f"The planner's distinct count is {matter if wrong else right}"
    if not wrong:
        return f"The planner's distinct counts are right for all {len(compared)} {things}: within a factor of 2."
    much = "; it matters for none" if not matters else f", and for {len(matters)} it matters"
    return f"The planner's distinct count is wrong for {len(wrong)} of {len(compared)} {things}{much}:"


def counts_of(found: NdvFindings) -> list[tuple[str, ColumnFindings | GroupFindings]]:
    """Columns, then groups, each with the name it goes by."""
    groups = [(f"({', '.join(group.columns)})", group) for group in found.groups]
    return [*((column.column, column) for column in found.columns), *groups]


def plain_answer(found: NdvFindings) -> str:
    """Of a source without a planner: which columns are keys, which say nothing."""
    if found.rows == 0:
        return "There are no rows."
    empty = [one.column for one in found.columns if one.ndv.estimate == 0]
    single = [one.column for one in found.columns if one.exact and one.ndv.estimate == 1 < found.rows]
    keys = [one.column for one in found.columns if one.growth is not None and one.growth.evidence == UNIQUE]
    keys = [name for name in keys if name not in single]
    sentences = [
        f"{words}: {listed(names)}."
        for words, names in (
            ("A value of their own in each row", keys),
            ("One value only", single),
            ("No value at all", empty),
        )
        if names
    ]
    return " ".join(sentences) or "No column has a value of its own in each row."


def listed(names: Sequence[str], most: int = 8) -> str:
    """a, b, c and 12 more."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def accusation(one: ColumnFindings | GroupFindings) -> str:
    """What is believed, what is, and what comes of it; of one that is wrong."""
    assert one.planner is not None
    assert one.planner_source is not None
    believed = f"{SOURCES.get(one.planner_source, 'the planner says')} {count(one.planner)}"
    reasons = "".join(f"; {words}" for words in one.reasons)
    return f"{figure(one.ndv, exact=one.exact)} different values, {believed}: {factor(one)}{reasons}."


def factor(one: ColumnFindings | GroupFindings) -> str:
    """How many times the planner's figure is too low or too high."""
    if one.error_factor is None or one.planner is None:
        return numbers.NOTHING
    if one.error_factor < 1.05:
        return "1.0x"
    return f"{times(one.error_factor)} too {'low' if one.planner < one.ndv.estimate else 'high'}"


def times(value: float) -> str:
    """1.0x, 5.3x, 369x."""
    return f"{value:.1f}x" if value < 9.95 else f"{value:,.0f}x"


def sufficient(column: ColumnFindings) -> str:
    """The statistics target at which ANALYZE would be right."""
    return "none of these" if column.sufficient_target is None else f"{column.sufficient_target:,}"


def count(value: float) -> str:
    """Of values: whole, to three significant digits beyond a thousand."""
    return numbers.significant(value, most_decimals=0) if value >= 1000 else f"{value:.0f}"


def figure(one: Estimate, *, exact: bool) -> str:
    """All digits where they are known."""
    return f"{one.estimate:,.0f}" if exact else count(one.estimate)


def within(one: Estimate, *, exact: bool) -> str:
    """How far the 95 % interval goes, in per cent of the count."""
    if exact:
        return "exact"
    if one.low is None or one.high is None or one.estimate <= 0:
        return numbers.NOTHING
    # To the end that is further: an interval that stops at the number of rows is no narrower below them.
    return f"+-{numbers.percent(max(one.high - one.estimate, one.estimate - one.low) / one.estimate)}"


def plan_words(change: PlanChange) -> str:
    """What becomes of one statement, in a sentence."""
    match change.outcome:
        case "other_plan":
            return f"another plan: {change.shape_before} becomes {change.shape_after}"
        case "other_estimates":
            return "the same plan with other estimates"
        case "unchanged":
            return "nothing changes"
        case _:
            return f"not planned: {change.note}"


def next_steps(found: NdvFindings, directory: str | None, page: str | None) -> Sequence[tuple[str, str]]:
    """Words, and the line to type, or the file to open."""
    steps: list[tuple[str, str]] = []
    if found.fix_script is not None and directory is not None:
        words = "to mend it, as the table's owner; undo.sql beside it takes it back"
        database = "" if found.target is None else f"{shlex.quote(found.target)} "
        steps.append((words, f"psql {database}-f {directory}/fix.sql"))
    if found.fix_script is not None and found.what_if is None and (found.server_version or 0) >= 180000:
        steps.append(("to see which plans would change, first", "dbdyno ndv ... --what-if 'SELECT ...'"))
    if directory is not None:
        steps.append(("with charts, in a browser", page or f"dbdyno report {directory} --html"))
        steps.append(("to show this again", f"dbdyno report {directory}"))
    return steps
