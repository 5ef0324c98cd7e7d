"""Response times of one read at a time: the idle device, its modes, and the cache map."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from rich.text import Text

from dbdyno.analysis.calibration.findings import Calibration, Latency
from dbdyno.analysis.findings import Estimate
from dbdyno.report import numbers
from dbdyno.report.calibration.words import cache_sentence, modes_sentence, patterns, rested_sentence
from dbdyno.report.layout import Column, Row, paragraph, table
from dbdyno.report.sections.arms import title


def idle(calibration: Calibration) -> list[Text]:
    """One row a figure, each with its interval."""
    latency = calibration.idle
    if latency is None:
        return []
    named = figures_of(latency)
    unit = numbers.time_unit(latency.p50_ns.estimate)
    columns = [estimates(unit.name, list(named.values()), unit), intervals(list(named.values()), unit)]
    lines = title(f"Response time of the idle device: one read at a time, {latency.ios:,} reads")
    lines += table([Row(name) for name in named], columns)
    if latency.p999_ns is None:
        lines += paragraph(Text("Too few reads for a p99.9.", style="dim"))
    if calibration.rested is not None:
        lines += paragraph(Text(rested_sentence(calibration)))
    if calibration.engine_ns_per_io is not None:
        cost = numbers.duration(calibration.engine_ns_per_io)
        lines += paragraph(Text(f"The engine's own part of each I/O, measured without a device: {cost}.", style="dim"))
    return lines


def figures_of(latency: Latency) -> dict[str, Estimate]:
    """The figures that are known, by name."""
    known = {
        "mean": latency.mean_ns,
        "p50": latency.p50_ns,
        "p90": latency.p90_ns,
        "p99": latency.p99_ns,
        "p99.9": latency.p999_ns,
    }
    return {name: figure for name, figure in known.items() if figure is not None}


def modes(calibration: Calibration) -> list[Text]:
    """Each peak with what it costs; the share of time is what makes a rare one matter."""
    found = calibration.modes
    if not found:
        return []
    unit = numbers.time_unit(min(mode.centre_ns for mode in found))
    columns = [
        Column((f"centre, {unit.name}",), tuple(numbers.in_unit(mode.centre_ns, unit) for mode in found)),
        Column(("from", unit.name), tuple(numbers.in_unit(mode.low_ns, unit) for mode in found)),
        Column(("to", unit.name), tuple(numbers.in_unit(mode.high_ns, unit) for mode in found)),
        _shares("of I/Os, %", [mode.share_of_ios for mode in found]),
        _shares("of time, %", [mode.share_of_time for mode in found]),
        Column(("pattern",), tuple(mode.pattern or numbers.NOTHING for mode in found), words=True),
    ]
    lines = title("Modes: the peaks of the response time")
    lines += table([Row(str(place)) for place, _ in enumerate(found, 1)], columns)
    lines += paragraph(Text(modes_sentence(calibration)))
    if len(found) > 1:
        for named, words in patterns(calibration):
            lines += paragraph(Text(f"I/Os of {named}: {words}.", style="dim"), first="- ")
    return lines


def _shares(heading: str, shares: Sequence[float]) -> Column:
    return Column(("share", heading), tuple(numbers.in_unit(share, numbers.PER_CENT, 1) for share in shares))


def cache_map(calibration: Calibration) -> list[Text]:
    """One row a span, then the verdict."""
    spans = calibration.spans
    if not spans:
        return []
    unit = numbers.time_unit(median(span.latency.p50_ns.estimate for span in spans))
    p50s = [span.latency.p50_ns for span in spans]
    columns = [
        Column(("reads",), tuple(f"{span.latency.ios:,}" for span in spans)),
        estimates("p50", p50s, unit, span=unit.name),
        intervals(p50s, unit, span=unit.name),
        estimates("mean", [span.latency.mean_ns for span in spans], unit, span=unit.name),
        estimates("p99", [span.latency.p99_ns for span in spans], unit, span=unit.name),
        Column(("",), tuple(_within(calibration, span.span_bytes) for span in spans), words=True),
    ]
    rows = [Row(numbers.exact_size(span.span_bytes)) for span in spans]
    lines = title("Cache map: one read at a time within spans of growing size")
    return [*lines, *table(rows, columns), *paragraph(Text(cache_sentence(calibration)))]


def _within(calibration: Calibration, span_bytes: int) -> str:
    return "in the cache" if calibration.cache is not None and span_bytes <= calibration.cache.bytes_ else ""


def estimates(heading: str, figures: Sequence[Estimate | None], unit: numbers.Unit, span: str = "") -> Column:
    """A column of estimates in one unit; a dash where one is not known."""
    cells = tuple(numbers.in_unit(None if figure is None else figure.estimate, unit) for figure in figures)
    return Column((heading,), cells, style="bold", span=span)


def intervals(figures: Sequence[Estimate], unit: numbers.Unit, span: str = "") -> Column:
    """Their intervals beside them."""
    return Column(("95 %",), tuple(_interval(figure, unit) for figure in figures), style="dim", words=True, span=span)


def _interval(figure: Estimate, unit: numbers.Unit) -> str:
    if figure.low is None or figure.high is None:
        return numbers.NOTHING
    return f"[{numbers.in_unit(figure.low, unit)}, {numbers.in_unit(figure.high, unit)}]"
