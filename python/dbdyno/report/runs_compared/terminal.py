"""Two runs on a terminal: the answer in sentences, the figures, what differs, what limits it, what to type next."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Callable, Iterator, Sequence

from rich.console import Console
from rich.text import Text

from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.runs_compared.findings import ArmCompared, EffectCompared, RunsComparison
from dbdyno.report import numbers
from dbdyno.report.layout import WIDTH, Column, Row, paragraph, table
from dbdyno.report.naming import ArmNames
from dbdyno.report.runs_compared.figures import figures_of
from dbdyno.report.runs_compared.sentences import run_sentences
from dbdyno.report.runs_compared.words import WITHIN, conclusion, grouped, settling_steps, summary_words
from dbdyno.report.sections.arms import title
from dbdyno.report.sections.effects import VERDICT_STYLES
from dbdyno.report.sections.limits import limits
from dbdyno.report.terminal import STYLES


@dataclasses.dataclass(frozen=True, slots=True)
class Places:
    """Where the runs lie, A first, and which of them are archives; `page` is the HTML page, if one was written."""

    paths: Sequence[str]
    archived: Sequence[bool]
    page: str | None = None


def render(comparison: RunsComparison, places: Places) -> str:
    """The whole report as plain text."""
    out = io.StringIO()
    print_comparison(comparison, Console(file=out, width=WIDTH, color_system=None), places)
    return out.getvalue()


def print_comparison(comparison: RunsComparison, console: Console, places: Places) -> None:
    """Print the report; colour only if the console is a terminal."""
    print_lines(_lines(comparison, places), console)


def print_lines(lines: Iterator[Text], console: Console) -> None:
    """Print lines as they are, without trailing blanks."""
    for line in lines:
        line.rstrip()
        console.print(line, highlight=False, soft_wrap=True)


def _lines(comparison: RunsComparison, places: Places) -> Iterator[Text]:
    names = ArmNames(comparison)
    yield from paragraph(Text(f"{comparison.experiment}: run B against run A", style="bold"))
    yield Text()
    yield from _sentences(comparison)
    yield Text()
    yield from paragraph(Text(conclusion(comparison)), rest="")
    yield Text()
    for run in (comparison.first, comparison.second):
        yield from paragraph(Text(f"{run.label}: {summary_words(run)}", style="dim"), rest="   ")
    for section in (
        _arms(comparison, names),
        _effects(comparison, names),
        _differences(comparison),
        _left_out(comparison),
        limits(comparison.warnings, ""),
        _settling(comparison, places),
    ):
        if section:
            yield Text()
            yield from section
    if places.page is not None:
        yield Text()
        yield Text(f"Page: {places.page}")


def _sentences(comparison: RunsComparison) -> Iterator[Text]:
    """Those of one group together."""
    said = run_sentences(comparison)
    before = said[0][0]
    for group, sentence in said:
        if group != before:
            yield Text()
        before = group
        yield from paragraph(Text.assemble(*((span.text, STYLES[span.role]) for span in sentence)))


def _arms(comparison: RunsComparison, names: ArmNames) -> list[Text]:
    """The primary metric in both runs, and the ratio."""
    arms = names.grouped(comparison.arms)
    figures = figures_of(comparison.metric, [one for arm in arms for one in (arm.first, arm.second)])
    heading = f"{figures.heading}, {figures.unit_name}, and B / A; less than {numbers.percent(comparison.margin)} "
    return [
        *title(f"{heading}does not matter"),
        *table(
            [Row(names.short(arm.arm), names.group(arm.arm)) for arm in arms],
            [
                *_side("A", [arm.first for arm in arms], figures.text, figures.ends),
                *_side("B", [arm.second for arm in arms], figures.text, figures.ends),
                *_judged(arms),
            ],
        ),
    ]


def _effects(comparison: RunsComparison, names: ArmNames) -> list[Text]:
    """The effects within the runs, and the ratio of them."""
    effects = comparison.effects
    if not effects:
        return []
    order = {arm.arm: place for place, arm in enumerate(names.grouped(comparison.arms))}
    effects = sorted(effects, key=lambda effect: order[effect.arm])
    return [
        *title(f"Effect of each arm on its baseline ({numbers.percent(comparison.margin)} does not matter)"),
        *table(
            [Row(names.short(effect.arm), names.group(effect.arm)) for effect in effects],
            [
                *_side("A", [effect.first for effect in effects], _ratio, _ratio_ends),
                *_side("B", [effect.second for effect in effects], _ratio, _ratio_ends),
                *_judged(effects),
            ],
        ),
        *paragraph(Text(WITHIN, style="dim"), rest=""),
    ]


def _side(
    run: str, estimates: Sequence[Estimate], text: Callable[[Estimate], str], ends: Callable[[Estimate], str]
) -> list[Column]:
    return [
        Column(("estimate",), tuple(map(text, estimates)), span=run),
        Column(("95 % interval",), tuple(map(ends, estimates)), style="dim", words=True, span=run),
    ]


def _judged(compared: Sequence[ArmCompared | EffectCompared]) -> list[Column]:
    words = tuple("withheld" if one.withheld else one.verdict for one in compared)
    styles = tuple(VERDICT_STYLES.get(word, "") for word in words)
    starred = tuple(f"{word}*" if one.limited_by else word for word, one in zip(words, compared, strict=True))
    return [
        Column(("ratio",), tuple(_ratio(one.ratio) for one in compared), "bold", span="B / A"),
        Column(("95 % interval",), tuple(_ratio_ends(one.ratio) for one in compared), "dim", words=True, span="B / A"),
        Column(("p (Holm)",), tuple(numbers.p_value(one.p_value_holm) for one in compared), span="B / A"),
        Column(("verdict",), starred, words=True, styles=styles, span="B / A"),
    ]


def _ratio(estimate: Estimate) -> str:
    return numbers.ratio(estimate.estimate)


def _ratio_ends(estimate: Estimate) -> str:
    return numbers.interval(estimate.low, estimate.high)


def _differences(comparison: RunsComparison) -> list[Text]:
    found = grouped(comparison.differences)
    lines = [
        line for group, words in found for line in paragraph(Text.assemble((f"{group}: ", "bold"), words), first="- ")
    ]
    return [*title("What differs in the records, A then B"), *lines] if lines else []


def _left_out(comparison: RunsComparison) -> list[Text]:
    if not comparison.left_out:
        return []
    lines = [line for each in comparison.left_out for line in paragraph(Text(f"{each.arm}: {each.reason}"), first="- ")]
    return [*title("Arms that are not compared"), *lines]


def _settling(comparison: RunsComparison, places: Places) -> list[Text]:
    labels = (comparison.first.label, comparison.second.label)
    steps = settling_steps(
        comparison, dict(zip(labels, places.paths, strict=True)), dict(zip(labels, places.archived, strict=True))
    )
    lines = title("To settle it")
    for words, typed in steps.groups:
        lines += [*paragraph(Text(words), rest=""), *(Text(f"    {line}") if line else Text() for line in typed)]
    return lines
