"""Distinct counts on a terminal: the answer, what is wrong, the figures, what ANALYZE would say, the fix."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from dbdyno.analysis.ndv.findings import (
    RIGHT,
    WRONG,
    WRONG_AND_MATTERS,
    ColumnFindings,
    ForeignKey,
    NdvFindings,
    NodeChange,
    PlanChange,
)
from dbdyno.report import numbers
from dbdyno.report.layout import WIDTH, Column, Row, paragraph, table
from dbdyno.report.ndv.plain import plain_figures
from dbdyno.report.ndv.words import (
    VERDICTS,
    accusation,
    answer,
    count,
    counts_of,
    factor,
    figure,
    heading,
    next_steps,
    plan_words,
    sufficient,
    times,
    within,
)
from dbdyno.report.runs_compared.terminal import print_lines
from dbdyno.report.sections.arms import title
from dbdyno.report.sections.limits import limits

STYLES = {RIGHT: "", WRONG: "yellow", WRONG_AND_MATTERS: "bold red"}
# A statement is named by its beginning.
STATEMENT_CHARACTERS = 200


def render(found: NdvFindings, directory: str | None = None, page: str | None = None) -> str:
    """The whole report as plain text."""
    out = io.StringIO()
    print_findings(found, Console(file=out, width=WIDTH, color_system=None), directory, page)
    return out.getvalue()


def print_findings(found: NdvFindings, console: Console, directory: str | None, page: str | None) -> None:
    """Print the report; colour only if the console is a terminal. `directory` is where it is kept, with its `page`."""
    print_lines(_lines(found, directory, page), console)


def _lines(found: NdvFindings, directory: str | None, page: str | None) -> Iterator[Text]:
    yield from paragraph(Text(heading(found), style="bold"))
    yield Text()
    yield from paragraph(Text(answer(found)), rest="")
    for name, one in counts_of(found):
        if one.verdict in (WRONG, WRONG_AND_MATTERS):
            yield from paragraph(Text.assemble((name, STYLES[one.verdict]), f": {accusation(one)}"), first="- ")
    for section in (
        _figures(found) if found.has_planner else plain_figures(found),
        _predictions(found.columns),
        _growth(found.columns),
        _foreign_keys(found.foreign_keys),
        _not_counted(found),
        _what_if(found),
        limits(found.warnings, ""),
        _script("The fix", found.fix_script),
        _next(found, directory, page),
    ):
        if section:
            yield Text()
            yield from section


def _figures(found: NdvFindings) -> list[Text]:
    every = counts_of(found)
    shown = [one for _, one in every]
    nulls = [one.nulls if isinstance(one, ColumnFindings) else 0 for one in shown]
    styles = tuple(STYLES.get(one.verdict, "dim") for one in shown)
    columns = [
        Column(("NULL",), tuple(numbers.percent(null / found.rows) if null else "" for null in nulls), "dim"),
        Column(("different", "values"), tuple(figure(one.ndv, exact=one.exact) for one in shown), "bold"),
        Column(("95 %",), tuple(within(one.ndv, exact=one.exact) for one in shown), "dim"),
        Column(("planner",), tuple(numbers.NOTHING if one.planner is None else count(one.planner) for one in shown)),
        Column(("off by",), tuple(factor(one).replace(" too", "") for one in shown), words=True),
        Column(("verdict",), tuple(VERDICTS[one.verdict] for one in shown), words=True, styles=styles),
    ]
    if not any(nulls):
        del columns[0]
    return table([Row(name) for name, _ in every], columns)


def _predictions(columns: Sequence[ColumnFindings]) -> list[Text]:
    """By how much ANALYZE would be off, with each statistics target."""
    shown = [column for column in columns if column.analyze]
    if not shown:
        return []
    targets = sorted({one.target for column in shown for one in column.analyze})
    rows = [Row(column.column) for column in shown]
    by_target = [
        Column((f"{target:,}",), tuple(_off(column, target) for column in shown), span="statistics target")
        for target in targets
    ]
    suffices = tuple(sufficient(column) for column in shown)
    said = "Drawn as ANALYZE draws its sample, from the rows that were read; another draw gives another figure."
    return [
        *title("By how much ANALYZE would be off"),
        *table(rows, [*by_target, Column(("which would do",), suffices, words=True)]),
        *paragraph(Text(said, style="dim"), rest=""),
    ]


def _off(column: ColumnFindings, target: int) -> str:
    found = next((one for one in column.analyze if one.target == target), None)
    return numbers.NOTHING if found is None else times(found.error_factor)


def _growth(columns: Sequence[ColumnFindings]) -> list[Text]:
    """Why a ratio or a constant, of those that are to be mended."""
    mended = [column for column in columns if column.fix is not None and column.growth is not None]
    lines = [
        line
        for column in mended
        if column.growth is not None
        for line in paragraph(Text.assemble((f"{column.column}: ", "bold"), column.growth.words), first="- ")
    ]
    return [*title("Ratio or constant?"), *lines] if lines else []


def _foreign_keys(hints: Sequence[ForeignKey]) -> list[Text]:
    """Those for which something speaks; of the others how many there are."""
    told = [hint for hint in hints if hint.standing != "possible"]
    lines = [
        line
        for hint in told
        for line in paragraph(
            Text.assemble((f"{hint.column} -> {hint.refers_to}", "bold"), f", {hint.standing}: {_orphans(hint)}"),
            first="- ",
        )
    ]
    if chance := len(hints) - len(told):
        words = f"{numbers.count(chance, 'pair')} more, whose values may agree by chance: ndv.json has them"
        lines += paragraph(Text(words, style="dim"), first="- ")
    return [*title("Columns that refer to others"), *lines] if lines else []


def _orphans(hint: ForeignKey) -> str:
    orphans = hint.orphans
    shown = numbers.percent(orphans.estimate)
    if not hint.exact and orphans.high is not None:
        shown += f" (at most {numbers.percent(orphans.high)})"
    return f"{hint.words}; orphans: {shown} of its values"


def _not_counted(found: NdvFindings) -> list[Text]:
    lines = [
        line
        for one in found.not_counted
        for line in paragraph(Text.assemble((f"{one.column}: ", "bold"), one.reason), first="- ")
    ]
    return [*title("Not counted"), *lines] if lines else []


def _what_if(found: NdvFindings) -> list[Text]:
    """Each statement: what becomes of its plan, and the nodes that change."""
    if found.what_if is None:
        return []
    lines = title("Plans with the fix, as the planner would make them (nothing was changed)")
    if found.what_if.refused is not None:
        return [*lines, *paragraph(Text(f"{found.what_if.refused}."), rest="")]
    for change in found.what_if.statements:
        lines += _plan(change)
    for words in found.what_if.left_out:
        lines += paragraph(Text(f"left out: {words}", style="dim"), first="- ")
    return lines


def _plan(change: PlanChange) -> list[Text]:
    statement = " ".join(change.statement.split())
    if len(statement) > STATEMENT_CHARACTERS:
        statement = f"{statement[:STATEMENT_CHARACTERS]}..."
    lines = [*paragraph(Text(statement, style="bold"), first="- "), *paragraph(Text(plan_words(change)), first="  ")]
    changed = [node for node in change.nodes if node.rows_before != node.rows_after or node.before != node.after]
    if not changed:
        return lines
    rows = [Row(f"{'  ' * node.depth}{node.after or node.before}") for node in changed]
    columns = [
        Column(("before",), tuple(_rows(node.before, node.rows_before) for node in changed), span="rows"),
        Column(("with it",), tuple(_rows(node.after, node.rows_after) for node in changed), span="rows"),
        Column(("before",), tuple(_cost(node, before=True) for node in changed), "dim", span="cost"),
        Column(("with it",), tuple(_cost(node, before=False) for node in changed), "dim", span="cost"),
    ]
    return [*lines, *table(rows, columns)]


def _rows(node: str | None, rows: float | None) -> str:
    return "" if node is None or rows is None else f"{rows:,.0f}"


def _cost(node: NodeChange, *, before: bool) -> str:
    cost = node.cost_before if before else node.cost_after
    return "" if cost is None else f"{cost:,.0f}"


def _script(heading: str, script: str | None) -> list[Text]:
    """As it is, to be copied: no line is broken."""
    if script is None:
        return []
    statements = [line for line in script.splitlines() if not line.startswith("--")]
    return [*title(heading), *(Text(line) for line in statements)]


def _next(found: NdvFindings, directory: str | None, page: str | None) -> list[Text]:
    lines: list[Text] = []
    for words, line in next_steps(found, directory, page):
        lines += [*paragraph(Text(f"{words}:", style="dim"), rest=""), Text(f"  {line}")]
    return [*title("What next"), *lines] if lines else []
