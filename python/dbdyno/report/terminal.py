"""The report on a terminal: the answer first, then the figures, then what to type next.

80 columns; in colour estimates are bold and bounds faint, and without colour not a word is lost.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from dbdyno.analysis.findings import Findings
from dbdyno.report import numbers
from dbdyno.report.answer_words import answer_sentences
from dbdyno.report.index_words import index_sentences
from dbdyno.report.layout import paragraph
from dbdyno.report.naming import ArmNames
from dbdyno.report.sections.answers import answers
from dbdyno.report.sections.background import background
from dbdyno.report.sections.changes import changes
from dbdyno.report.sections.checks import checks
from dbdyno.report.sections.disturbances import disturbed
from dbdyno.report.sections.effects import effects
from dbdyno.report.sections.exposure import exposure
from dbdyno.report.sections.further import exploratory, interactions
from dbdyno.report.sections.indexes import indexes
from dbdyno.report.sections.kinds import kinds
from dbdyno.report.sections.limits import limits
from dbdyno.report.sections.outcomes import before_and_after
from dbdyno.report.sections.parts import parts
from dbdyno.report.sections.plans import plans
from dbdyno.report.sections.sampling import instrument, switches
from dbdyno.report.sections.server import counters, host_cpu, requests
from dbdyno.report.sections.stacks import stacks
from dbdyno.report.sections.statements import kinds_parts, statements
from dbdyno.report.sections.tail import tail
from dbdyno.report.sections.times import unit_of_work
from dbdyno.report.sentences import Role, Sentence, trial_length, verdicts_by_group
from dbdyno.report.stopping_words import null_arm_sentence, stopping_sentence

STYLES: dict[Role, str] = {
    "plain": "",
    "arm": "",
    "estimate": "bold",
    "bound": "dim",
    "better": "bold green",
    "worse": "bold red",
    "open": "bold yellow",
}


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
    for sentence in answer_sentences(findings):
        yield from paragraph(_styled(sentence))
        yield Text()
    for sentence in index_sentences(findings):
        yield from paragraph(_styled(sentence))
    if findings.indexes:
        yield Text()
    yield from _verdicts(findings)
    yield Text()
    for said in (stopping_sentence(findings), findings.null_arm and null_arm_sentence(findings.null_arm)):
        if said:
            yield from paragraph(Text(said))
    yield from paragraph(Text(_measured(findings), style="dim"))
    arms = names.grouped(findings.arms)
    for section in (
        indexes(findings),
        answers(arms, names),
        unit_of_work(arms, names),
        effects(findings, names),
        interactions(findings, names),
        exploratory(findings, names),
        checks(arms),
        kinds(arms, names),
        parts(arms, names),
        tail(arms, names),
        kinds_parts(arms),
        statements(arms),
        switches(arms, names),
        instrument(findings),
        stacks(arms, names),
        counters(arms, names),
        requests(arms, names),
        host_cpu(arms),
        before_and_after(arms, names),
        plans(findings),
        changes(arms),
        background(arms, names),
        exposure(arms, names),
        disturbed(findings),
        limits(findings.warnings, run_directory),
    ):
        if section:
            yield Text()
            yield from section
    yield Text()
    yield Text(place)
    if report is not None:
        yield Text(f"Report:        {report}")


def _verdicts(findings: Findings) -> Iterator[Text]:
    """The sentences, those of one group together."""
    said = verdicts_by_group(findings)
    before = said[0][0]
    for group, sentence in said:
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
        f"Measured: {trials} trials of {trial_length(findings)} in {findings.blocks_complete} "
        f"complete blocks of {numbers.count(len(findings.arms), 'arm')}, seed {findings.seed}; {where}."
    )


def _server_versions(findings: Findings) -> str:
    """That of the default server, and of the others where the arms ran on several."""
    servers = findings.machine.get("servers", [])
    return " and ".join(dict.fromkeys([findings.versions["server"], *(server["version"] for server in servers)]))
