"""Puts the page together: which chart and table comes where, and how they reach the template."""

from __future__ import annotations

from dbdyno.analysis.findings import Findings
from dbdyno.report.answer_words import answer_sentences
from dbdyno.report.disturbance_words import carry_over_words
from dbdyno.report.html import evidence_tables, plan_tree, sampling_tables, statement_tables, tables
from dbdyno.report.html.arrangement import Arrangement, arrange
from dbdyno.report.html.charts import (
    answers,
    block_ratios,
    distribution,
    drift,
    effects,
    exposure,
    indexes,
    kinds,
    outcomes,
    profile,
    schedule,
    tail,
    trial_values,
    wait_lengths,
)
from dbdyno.report.html.document import rendered
from dbdyno.report.html.flame import drawn
from dbdyno.report.html.flame_svg import flame_graphs
from dbdyno.report.html.table import Table
from dbdyno.report.index_words import index_sentences
from dbdyno.report.instrument_words import self_test_words
from dbdyno.report.sentences import trial_length, verdict_sentences
from dbdyno.report.stopping_words import null_arm_sentence, stopping_sentence


def write_html(findings: Findings) -> str:
    """The whole report as one self-contained HTML text."""
    arrangement = arrange(findings)
    possible = [
        indexes.chart(findings),
        answers.chart(arrangement),
        profile.chart(arrangement),
        tail.chart(arrangement),
        effects.chart(findings, arrangement),
        kinds.chart(arrangement),
        outcomes.chart(arrangement),
        distribution.chart(arrangement),
        wait_lengths.chart(arrangement),
        trial_values.chart(findings, arrangement),
        drift.chart(findings, arrangement),
        block_ratios.chart(findings, arrangement),
        exposure.chart(arrangement),
        schedule.chart(findings, arrangement),
    ]
    charts = [chart for chart in possible if chart is not None]
    evidence = _evidence(findings, arrangement)
    return rendered(
        "page.html.j2",
        charts,
        findings=findings,
        sentences=[*answer_sentences(findings), *index_sentences(findings), *verdict_sentences(findings)],
        notes=_notes(findings),
        arms=tables.unit_of_work(arrangement),
        definitions=tables.definitions(arrangement),
        scripts=statement_tables.scripts(arrangement),
        statements=statement_tables.statements(arrangement),
        instrument=tables.instrument(arrangement),
        self_test=self_test_words(findings.instrument),
        sampling=sampling_tables.sampling(arrangement),
        background=tables.background(arrangement),
        provenance=tables.provenance(findings),
        machine=tables.machine(findings),
        settings=tables.settings(findings),
        length=trial_length(findings),
        evidence=evidence if any(evidence.values()) else None,
        carry_over=carry_over_words(findings),
        checks_summary=evidence_tables.checks_summary(arrangement),
        plans=plan_tree.statements(findings),
        flames=[drawn(graph, place) for place, graph in enumerate(flame_graphs(findings), 1)],
        changes=evidence_tables.changes(arrangement),
        started=tables.started(findings),
    )


def _notes(findings: Findings) -> list[str]:
    """When the run was looked at, and what its null arm says."""
    said = [stopping_sentence(findings), findings.null_arm and null_arm_sentence(findings.null_arm)]
    return [sentence for sentence in said if sentence]


def _evidence(findings: Findings, arrangement: Arrangement) -> dict[str, Table | None]:
    """The tables of the evidence by name; None where there is nothing to say."""
    return {
        "checks": evidence_tables.checks(arrangement),
        "disturbed": evidence_tables.disturbed(findings),
        "counters": evidence_tables.counters(arrangement),
        "requests": evidence_tables.requests(arrangement),
        "host_cpu": evidence_tables.host_cpu(arrangement),
        "reset": evidence_tables.reset(arrangement),
        "server_log": evidence_tables.server_log(arrangement),
    }
