"""The report on a terminal: the answer first, then the figures, then what to type next.

80 columns; in colour estimates are bold and bounds faint, and without colour not a word is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from rich.console import Console
from rich.text import Text

from dbdyno.analysis.findings import Arm, Background, Comparison, Findings, Spread, Warning
from dbdyno.report import numbers
from dbdyno.report.layout import Column, Row, paragraph, table
from dbdyno.report.naming import ArmNames
from dbdyno.report.sentences import METRIC_NAMES, Role, Sentence, verdict_sentences

STYLES: dict[Role, str] = {
    "plain": "",
    "arm": "",
    "estimate": "bold",
    "bound": "dim",
    "better": "bold green",
    "worse": "bold red",
    "open": "bold yellow",
}
VERDICT_STYLES = {"better": "bold green", "worse": "bold red", "undecided": "bold yellow"}

# More wait events than this make no row clearer; the others are summed in a column of their own.
TOP_WAITS = 4
# What would be printed as 0.000 needs no column.
SMALLEST_SHOWN = 0.0005
# A background process that is nowhere on or in line for a CPU this often took nothing from the load.
BUSY_SHARE = 0.01
# The WAL writer and whichever comes next; all are in the HTML report.
TOP_BACKGROUND = 2


def print_report(
    findings: Findings, console: Console, *, run_directory: str, report: str | None, archived: bool = False
) -> None:
    """Print the whole report.

    Args:
        findings: what the analysis concludes.
        console: where to; colour only if it is a terminal.
        run_directory: the path of the run directory, for the last lines.
        report: the path of the HTML report, if it was written.
        archived: `run_directory` is an archive of one.
    """
    place = f"{'Archive:      ' if archived else 'Run directory:'} {run_directory}"
    for line in _lines(findings, run_directory, place, report):
        line.rstrip()
        console.print(line, highlight=False, soft_wrap=True)


def _lines(findings: Findings, run_directory: str, place: str, report: str | None) -> Iterator[Text]:
    yield from paragraph(Text(f"{findings.experiment}: {findings.question}", style="bold"))
    yield Text()
    names = ArmNames(findings)
    yield from _verdicts(findings, names)
    yield Text()
    yield from paragraph(Text(_measured(findings), style="dim"))
    arms = names.grouped(findings.arms)
    for section in (
        _unit_of_work(arms, names),
        _effects(findings, names),
        _waits(arms, names),
        _background(arms, names),
        _exposure(arms, names),
        _warnings(findings.warnings, run_directory),
    ):
        if section:
            yield Text()
            yield from section
    yield Text()
    yield Text(place)
    if report is not None:
        yield Text(f"Report:        {report}")


def _verdicts(findings: Findings, names: ArmNames) -> Iterator[Text]:
    """The sentences, those of one group together."""
    groups = [names.group(comparison.arm) for comparison in findings.comparisons] or [None]
    before = groups[0]
    for group, sentence in zip(groups, verdict_sentences(findings), strict=True):
        if group != before:
            yield Text()
        before = group
        yield from paragraph(_styled(sentence))


def _styled(sentence: Sentence) -> Text:
    return Text.assemble(*((span.text, STYLES[span.role]) for span in sentence))


def _measured(findings: Findings) -> str:
    """How much was measured, and where: no figure without it."""
    where = f"PostgreSQL {_server_versions(findings)}, {findings.machine['cpus']} CPUs"
    disk = findings.machine["data_directory"]
    if disk is not None:
        flush = disk["flush_time_ns_p50"]
        where += f", {disk['file_system']} on {disk['device']}"
        where += f" (flush {numbers.duration(flush)})" if flush else ""
    trials = sum(arm.trials for arm in findings.arms)
    if trials == 0:
        return f"Measured: nothing yet, on {where}."
    return (
        f"Measured: {trials} trials of {numbers.exact_duration(findings.window_ns)} in {findings.blocks_complete} "
        f"complete blocks of {numbers.count(len(findings.arms), 'arm')}, seed {findings.seed}; {where}."
    )


def _server_versions(findings: Findings) -> str:
    """That of the default server, and of the others where the arms ran on several."""
    servers = findings.machine.get("servers", [])
    return " and ".join(dict.fromkeys([findings.versions["server"], *(server["version"] for server in servers)]))


def _title(text: str) -> list[Text]:
    return paragraph(Text(text, style="bold"))


def _rows(arms: Sequence[Arm], names: ArmNames) -> list[Row]:
    return [Row(names.short(arm.arm), names.group(arm.arm)) for arm in arms]


def _unit_of_work(arms: Sequence[Arm], names: ArmNames) -> list[Text]:
    """Arrival rate, then the response time of a unit part by part: each row adds up to its mean."""
    if not arms:
        return []
    unit = numbers.time_unit(median(arm.profile_total_ns for arm in arms))

    def times(*heading: str, of: Sequence[float | None], style: str = "") -> Column:
        return Column(heading, tuple(numbers.in_unit(value, unit) for value in of), style)

    profiles = [arm.profile_ns for arm in arms]
    columns = [Column(("units", "per s"), tuple(numbers.significant(arm.throughput_per_s.estimate) for arm in arms))]
    if any(arm.rows_per_s for arm in arms):
        rows = [arm.rows_per_s for arm in arms]
        columns.append(Column(("rows", "per s"), tuple(numbers.significant(r.estimate) if r else "-" for r in rows)))
    if any(profile.queue > 0 for profile in profiles):
        columns.append(times("queue", of=[profile.queue for profile in profiles]))
    columns += [
        times("CPU", of=[profile.cpu for profile in profiles]),
        times("run", "queue", of=[profile.run_queue for profile in profiles]),
        times("wait", of=[sum(profile.waits.values()) + profile.asleep_no_wait_event for profile in profiles]),
        times("client", "+net", of=[profile.client_and_network for profile in profiles]),
        times("unac-", "counted", of=[profile.unaccounted for profile in profiles], style="dim"),
        times("mean", of=[arm.profile_total_ns for arm in arms], style="bold"),
        times("p99", of=[arm.response_time_ns.p99.estimate for arm in arms]),
    ]
    return [
        *_title(f"A unit of work, in {unit.name}: the parts add up to the mean"),
        *table(_rows(arms, names), columns),
    ]


def _effects(findings: Findings, names: ArmNames) -> list[Text]:
    """Each comparison with its interval and verdict."""
    comparisons = _in_order(findings, names)
    if not comparisons:
        return []
    rows = [Row(names.short(comparison.arm), names.group(comparison.arm)) for comparison in comparisons]
    verdicts = tuple(comparison.verdict + ("*" if comparison.limited_by else "") for comparison in comparisons)
    intervals = tuple(numbers.interval(one.ratio.low, one.ratio.high) for one in comparisons)
    styles = tuple(VERDICT_STYLES.get(one.verdict, "") for one in comparisons)
    baselines = tuple(names.short(one.baseline) for one in comparisons)
    columns = [
        Column(("ratio",), tuple(numbers.ratio(one.ratio.estimate) for one in comparisons), "bold"),
        Column(("95 % interval",), intervals, "dim", words=True),
        Column(("p (Holm)",), tuple(numbers.p_value(one.p_value_holm) for one in comparisons)),
        Column(("verdict",), verdicts, words=True, styles=styles),
    ]
    title = f"Effect on {METRIC_NAMES[findings.metric]}"
    if len(set(baselines)) == 1:
        title += f" against {baselines[0]}"
    else:
        columns.append(Column(("against",), baselines, words=True))
    title += f"; less than {numbers.percent(findings.margin)} does not matter"
    note = [Text("* see the warnings", style="dim")] if any(one.limited_by for one in comparisons) else []
    return [*_title(title), *table(rows, columns), *note]


def _in_order(findings: Findings, names: ArmNames) -> list[Comparison]:
    place = {arm.arm: order for order, arm in enumerate(names.grouped(findings.arms))}
    return sorted(findings.comparisons, key=lambda comparison: place[comparison.arm])


def _waits(arms: Sequence[Arm], names: ArmNames) -> list[Text]:
    """The greatest waits of each arm, an event a column."""
    greatest: dict[str, float] = {}
    for arm in arms:
        for event, ns in arm.profile_ns.waits.items():
            greatest[event] = max(greatest.get(event, 0.0), ns)
    if not greatest:
        return []
    unit = numbers.time_unit(median(arm.profile_total_ns for arm in arms))
    seen = [event for event, ns in greatest.items() if ns >= SMALLEST_SHOWN * unit.size]
    top = sorted(seen, key=lambda event: -greatest[event])[:TOP_WAITS]
    columns = [
        Column(
            (f"{kind}:", name) if name else (kind,),
            tuple(numbers.in_unit(arm.profile_ns.waits.get(event, 0.0), unit) for arm in arms),
        )
        for event in top
        for kind, _, name in [event.partition(":")]
    ]
    rest = [sum(ns for event, ns in arm.profile_ns.waits.items() if event not in top) for arm in arms]
    if max(rest) >= SMALLEST_SHOWN * unit.size:
        columns.append(Column(("other", "waits"), tuple(numbers.in_unit(ns, unit) for ns in rest)))
    asleep = tuple(numbers.in_unit(arm.profile_ns.asleep_no_wait_event, unit) for arm in arms)
    columns.append(Column(("asleep,", "no event"), asleep))
    title = f"The wait in it, in {unit.name} per unit of work"
    if any(arm.profile_route == "sql" for arm in arms):
        title += " (sampled over SQL: rough)"
    return [*_title(title), *table(_rows(arms, names), columns)]


def _background(arms: Sequence[Arm], names: ArmNames) -> list[Text]:
    """Server processes that serve no client, beside the profile and not in it: those that were busy anywhere."""
    busy: dict[str, float] = {}
    for arm in arms:
        for process in arm.background:
            share = process.cpu_share + process.run_queue_share
            busy[process.backend_type] = max(busy.get(process.backend_type, 0.0), share)
    shown = sorted((kind for kind, share in busy.items() if share >= BUSY_SHARE), key=lambda kind: -busy[kind])
    columns = [column for kind in shown[:TOP_BACKGROUND] for column in _background_columns(kind, arms)]
    title = "Busy background processes, in % of one CPU's time; their longest waits"
    return [*_title(title), *table(_rows(arms, names), columns)] if columns else []


def _background_columns(kind: str, arms: Sequence[Arm]) -> list[Column]:
    found = [next((process for process in arm.background if process.backend_type == kind), None) for arm in arms]

    def percent(shares: Iterable[float | None]) -> tuple[str, ...]:
        return tuple(numbers.in_unit(share, numbers.PER_CENT, most_decimals=1) for share in shares)

    return [
        Column(("CPU",), percent(process.cpu_share if process else None for process in found), span=kind),
        Column(("run queue",), percent(process.run_queue_share if process else None for process in found), span=kind),
        Column(("sleeps in",), tuple(_longest_wait(process) for process in found), words=True, span=kind),
    ]


def _longest_wait(process: Background | None) -> str:
    if process is None or not process.wait_shares:
        return ""
    return max(process.wait_shares, key=process.wait_shares.__getitem__)


def _exposure(arms: Sequence[Arm], names: ArmNames) -> list[Text]:
    """WAL inserted but not flushed: what a crash would take."""
    exposed = [(arm, arm.exposure) for arm in arms if arm.exposure is not None]
    if not exposed:
        return []
    sizes = numbers.byte_unit(median(exposure.bytes.max for _, exposure in exposed))
    ages = numbers.time_unit(median(exposure.age_ns.max for _, exposure in exposed))
    rows = [
        Row(names.short(arm.arm) + (" *" if exposure.acknowledged else ""), names.group(arm.arm))
        for arm, exposure in exposed
    ]
    columns = [
        *_spread(f"WAL, {sizes.name}", [exposure.bytes for _, exposure in exposed], sizes),
        *_spread("commits", [exposure.commits for _, exposure in exposed], numbers.ONE, most_decimals=0),
        *_spread(f"age, {ages.name}", [exposure.age_ns for _, exposure in exposed], ages),
    ]
    note = "* A crash loses them although they were acknowledged; in the other arms their clients still wait."
    return [
        *_title("Commits not yet on disk at any moment"),
        *table(rows, columns),
        *(paragraph(Text(note, style="dim")) if any(exposure.acknowledged for _, exposure in exposed) else []),
    ]


def _spread(span: str, spreads: Sequence[Spread | None], unit: numbers.Unit, most_decimals: int = 1) -> list[Column]:
    def column(heading: str, values: Sequence[float | None], style: str = "") -> Column:
        return Column(
            (heading,), tuple(numbers.in_unit(value, unit, most_decimals) for value in values), style, span=span
        )

    if not any(spreads):
        return []
    return [
        column("mean", [None if spread is None else spread.mean for spread in spreads]),
        column("p95", [None if spread is None else spread.p95 for spread in spreads], "bold"),
        column("max", [None if spread is None else spread.max for spread in spreads]),
    ]


def _warnings(warnings: Sequence[Warning], run_directory: str) -> list[Text]:
    """One entry a kind: the first message stands for all arms that have it."""
    kinds: dict[str, list[Warning]] = {}
    for warning in warnings:
        kinds.setdefault(warning.code, []).append(warning)
    lines = _title("Warnings") if kinds else []
    for code, found in kinds.items():
        arms = [warning.arm for warning in found if warning.arm is not None]
        where = "" if not arms else arms[0] if len(arms) == 1 else f"{arms[0]} and {len(arms) - 1} more"
        lead = f"{code.replace('_', ' ')}{', ' + where if where else ''}: "
        message = found[0].message.replace("RUN_DIR", run_directory)
        lines += paragraph(Text.assemble((lead, "bold yellow"), message), first="- ")
    return lines
