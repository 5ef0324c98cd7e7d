"""Waiting for an asynchronous completion is called so wherever it is shown: nobody shall take it for the device."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import example_findings
import pytest
import server_record as make
from server_record import MS, SECOND

from dbdyno.analysis.findings import event_note
from dbdyno.analysis.findings.profile import ASYNCHRONOUS
from dbdyno.analysis.server_profile import analyse
from dbdyno.analysis.server_profile.meanings import meaning_of
from dbdyno.report.html import write_html
from dbdyno.report.html.server_profile import page
from dbdyno.report.server_profile import terminal

EVENTS = ["", "IO:AioIoCompletion", "IO:DataFileRead", "Activity:IoWorkerMain"]
LABEL = "wait until an I/O worker or the kernel has completed an asynchronous request"
WARNING = "not the latency of the device"


def reader_and_worker() -> dict[str, Any]:
    """A session that waits for reads nine tenths of its time, and the I/O worker that makes them in half of it."""
    cells: list[list[Any]] = [
        [0, "1", "active", 1, 900, 90, 90],
        [0, "1", "active", 0, 100, 10, 0],
        [1, None, None, 2, 500, 50, 50],
        [1, None, None, 3, 500, 50, 50],
    ]
    steps = [make.step(at, cells, [[0, 100 * MS, 0], [1, 0, 0]]) for at in range(10)]
    processes = [make.process(7, 10 * SECOND), make.process(8, 10 * SECOND, backend_type="io worker")]
    return make.record(steps, processes, EVENTS)


def words(text: str) -> str:
    """A text without its tags and line breaks."""
    return " ".join(re.sub(r"<[^>]*>", "", text).split())


def test_a_profile_says_so() -> None:
    """On the terminal and on the page; the worker's own read is among the processes in the background only."""
    profile = analyse(reader_and_worker())

    for shown in (terminal.render(profile, directory="p"), page(profile)):
        assert LABEL in words(shown)
        assert WARNING in words(shown)
    assert profile.profile_ns.waits == {"IO:AioIoCompletion": pytest.approx(9 * SECOND, rel=1e-3)}
    assert [process.waits["IO:DataFileRead"] for process in profile.background] == [pytest.approx(0.5)]


@pytest.mark.parametrize("event", sorted(ASYNCHRONOUS))
def test_every_such_event_has_the_words(event: str) -> None:
    """In a profile of a server and in a run."""
    meaning = meaning_of(event)

    assert meaning is not None
    assert meaning.endswith(WARNING)
    assert event_note(event) == "asynchronous completion, not device latency"


def test_a_synchronous_read_has_not() -> None:
    """What a backend reads by itself is as long as the device took."""
    meaning = meaning_of("IO:DataFileRead")

    assert meaning is not None
    assert WARNING not in meaning
    assert event_note("IO:DataFileRead") is None


def test_a_run_s_page_says_so_where_there_is_some() -> None:
    """Beside the bars of the time profile."""
    findings = example_findings.commit_write()
    arm = findings.arms[0]
    profile = dataclasses.replace(arm.profile_ns, waits=arm.profile_ns.waits | {"IO:AioIoCompletion": 2e6})
    first = dataclasses.replace(arm, profile_ns=profile, intervals=None, profile_total_ns=profile.total)
    sentence = "IO:AioIoCompletion is asynchronous completion, not device latency."

    assert sentence in words(write_html(dataclasses.replace(findings, arms=[first, *findings.arms[1:]])))
    assert sentence not in words(write_html(findings))
