"""The sections on where the time goes: what they show, and what they say where they cannot know."""

from __future__ import annotations

import dataclasses

import example_findings
import pytest
import synthetic

from dbdyno.analysis.analyse import analyse
from dbdyno.analysis.bands import Share
from dbdyno.analysis.findings import Arm, Estimate, Findings, Part, Sampling, StatementTimes, Switches
from dbdyno.report.instrument_words import self_test_words
from dbdyno.report.naming import ArmNames
from dbdyno.report.sections.parts import parts
from dbdyno.report.sections.sampling import instrument, switches
from dbdyno.report.sections.statements import kinds_parts, statements
from dbdyno.report.sections.tail import tail
from dbdyno.report.sentences import plain, verdict_sentences


@pytest.fixture(scope="module")
def findings() -> Findings:
    """The findings of the HTML examples: two loads, eight arms."""
    return example_findings.commit_write()


def text(lines: list) -> list[str]:  # type: ignore[type-arg]
    """The lines without colour, none wider than the page."""
    assert all(len(line.plain) <= 80 for line in lines)
    return [line.plain for line in lines]


def first_arm(findings: Findings, **changes: object) -> Arm:
    """Its first arm, changed."""
    return dataclasses.replace(findings.arms[0], **changes)  # type: ignore[arg-type]


def part(name: str, ns: float, group: int, low: float | None = 0.9, high: float | None = 1.1) -> Part:
    """A part of a profile; its bounds are factors."""
    bounds = (None if low is None else ns * low, None if high is None else ns * high)
    return Part(name, Estimate(ns, *bounds), Estimate(ns / 2e6, None, None), group, None)


def test_asynchronous_completion_is_labelled(findings: Findings) -> None:
    """In the table, with a star, and in a sentence: nobody shall take it for the device's latency."""
    arm = findings.arms[0]
    profile = dataclasses.replace(arm.profile_ns, waits={"IO:AioIoCompletion": 2e6})
    arm = dataclasses.replace(arm, profile_ns=profile, intervals=None, profile_total_ns=profile.total)
    lines = text(parts([arm], ArmNames(findings)))

    assert "AioIoCompletion*" in lines[2]
    assert lines[-1] == "* asynchronous completion, not device latency"
    [first, *rest] = findings.comparisons
    reason = dataclasses.replace(first.why[0], part="IO:AioIoCompletion")
    changed = dataclasses.replace(findings, comparisons=[dataclasses.replace(first, why=[reason]), *rest])
    assert "IO:AioIoCompletion (asynchronous completion, not device latency)" in plain(verdict_sentences(changed)[0])


def test_without_intervals_there_are_the_times(findings: Findings) -> None:
    """One trial only: no give or take."""
    lines = text(parts([first_arm(findings, intervals=None)], ArmNames(findings)))

    assert not any("±" in line for line in lines[1:])


def test_a_difference_that_is_not_told_is_no_reason(findings: Findings) -> None:
    """A better arm of which no part is told: it says that it does not know why."""
    first, *rest = findings.comparisons
    vague = dataclasses.replace(first, why=[dataclasses.replace(reason, told=False) for reason in first.why])

    said = plain(verdict_sentences(dataclasses.replace(findings, comparisons=[vague, *rest]))[0])

    assert "Why is not known: no part of the response time is told from chance." in said


def test_why_nothing_is_known_of_a_tail(findings: Findings) -> None:
    """Once for all arms that share the reason."""
    arms = [dataclasses.replace(arm, tail=None, tail_note="no snapshots") for arm in findings.arms[:2]]

    assert text(tail(arms, ArmNames(findings)))[1:] == ["Not known: no snapshots."]
    known = text(tail([*arms, findings.arms[2]], ArmNames(findings)))
    assert known[-1] == "Not known: wait-immediate, wait-batch: no snapshots."


def test_another_band_has_another_title() -> None:
    """What was asked for stands above."""
    found = analyse(*synthetic.run(arms=2, blocks=6), slow=Share(0.9, 0.95))

    lines = text(tail(found.arms, ArmNames(found)))

    assert lines[0] == "Units of work from 90 to 95 % of the response times"
    assert lines[2].startswith("- wait-immediate: the units from 90 to 95 % (")


def test_statements_and_what_they_wait_for(findings: Findings) -> None:
    """The greatest wait with its interval; two that are not told apart; too few snapshots."""
    first = [part("IO:WalSync", 1.5e6, 1), part("cpu", 2e5, 2)]
    second = [part("IO:WalSync", 9e5, 1), part("Lock:tuple", 8e5, 1)]
    of = [
        StatementTimes("a.sql", 1, "UPDATE t SET n = n + 1", 1.0, 2e6, 2e6, 900, first),
        StatementTimes("a.sql", 2, "SELECT 1", 2.0, 1e6, 2e6, 700, second),
        StatementTimes("a.sql", 3, "COMMIT", 1.0, 2e4, 2e4, 9, []),
    ]

    lines = text(statements([first_arm(findings, by_statement=of)]))

    assert lines[0] == "By statement, io-bound/wait-immediate: ms per unit of work"
    assert [" ".join(line.split()) for line in lines[4:]] == [
        "1: UPDATE t SET n = 1.00 2.00 0.200 IO:WalSync 1.50 [1.35, 1.65]",
        "2: SELECT 1 2.00 2.00 - IO:WalSync 0.900 or Lock:tuple",
        "3: COMMIT 1.00 0.020 - too few snapshots to say",
    ]
    assert statements([first_arm(findings, by_statement=of[:1])]) == []


def test_kinds_of_a_mix_and_what_they_wait_for() -> None:
    """Per transaction of the kind, where there are several."""
    arm = example_findings.order_entry().arms[0]
    kinds = [dataclasses.replace(kind, parts=[part("IO:WalSync", 1.5e6, 1)]) for kind in arm.by_script[:2]]

    lines = text(kinds_parts([dataclasses.replace(arm, by_script=kinds)]))

    assert lines[0] == "By kind of transaction, io-bound/wait-immediate: ms per unit of the kind"
    assert len(lines) == 5
    assert kinds_parts([arm]) == []


def test_how_it_was_seen(findings: Findings) -> None:
    """Rate, number, looks and cost, and the self-test; what the kernel does not count has no column."""
    seen = first_arm(findings, sampling=Sampling(1e5, 12_345, 1_234), switches=Switches(4.0, None, 5e3, 2e3, None))
    names = ArmNames(findings)

    assert " ".join(" ".join(text(instrument(dataclasses.replace(findings, arms=[seen])))).split()) == (
        "The sampler: mapped route, 10,000 snapshots of each backend a second, 12,345 in units of work,"
        " 10 % of them with a look whether it sleeps, 0.3 % of the host's CPU."
        " The instrument: the self-test of 2026-11-20 on this machine (PostgreSQL 18.6) holds: 20 of 20 planted times"
        " found within 3 %; watching 16 clients cost 0.8 % of the host's CPU, throughput 0.997x [0.991, 1.003] in"
        " 24 pairs."
    )
    assert " ".join(" ".join(text(switches([seen], names))).split()).endswith("wait-immediate 4.00 5.00 2.00")
    assert switches(findings.arms, names) == []


def test_without_snapshots_or_a_self_test_the_report_says_so(findings: Findings) -> None:
    """No line on a sampler that was off; what to type where the machine has not been tested; nothing of no arm."""
    unseen = first_arm(findings, sampling=Sampling(None, 0, None))
    untested = dataclasses.replace(findings, arms=[unseen], instrument=None)

    assert " ".join(" ".join(text(instrument(untested))).split()) == (
        "The instrument: no self-test on this machine yet when the run began: dbdyno selftest."
    )
    assert instrument(dataclasses.replace(findings, arms=[])) == []


@pytest.mark.parametrize(
    ("verdict", "words"),
    [("machine too busy", "met a machine that was too busy to tell: 18 of 20"), ("fails", "failed: 18 of 20")],
)
def test_a_self_test_that_did_not_hold_is_told_so(findings: Findings, verdict: str, words: str) -> None:
    """The verdict before the figures."""
    assert findings.instrument is not None
    kept = dataclasses.replace(findings.instrument, verdict=verdict, found=18)

    assert words in self_test_words(kept)
