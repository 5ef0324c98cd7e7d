"""The report on a terminal: golden texts, the width of the page, and each sentence a verdict can be.

A golden text is rewritten with `BLESS=1 pytest tests/report`; read the difference before committing it.
"""

from __future__ import annotations

import dataclasses
import functools
import io
import os
from pathlib import Path
from typing import Any

import pytest
import synthetic
from counting_run import counting_run
from rich.console import Console
from rich.text import Text

from dbdyno.analysis.analyse import analyse
from dbdyno.analysis.findings import Findings, to_json
from dbdyno.report import json_report
from dbdyno.report.naming import ArmNames
from dbdyno.report.sections.changes import changes
from dbdyno.report.sentences import plain, verdict_sentences
from dbdyno.report.terminal import print_report

GOLDEN = Path(__file__).parent / "golden"
SHAPES = synthetic.SHAPES


def printed(findings: Findings, *, colour: bool = False, report: str | None = "RUN/report.html") -> str:
    """The whole report as text."""
    out = io.StringIO()
    console = Console(file=out, force_terminal=colour, color_system="standard" if colour else None, width=80)
    print_report(findings, console, run_directory="RUN", report=report)
    return out.getvalue()


def troubled() -> Findings:
    """A run with a warning of nearly every kind, on tmpfs, interrupted, with an arm left out."""
    run, machine, trials = synthetic.run(arms=4, blocks=9, seed=4, noise=0.2, failed=[(1, "io-bound/wait-batch")])
    machine["warnings"] = [
        {"code": "tmpfs", "message": "the data is on tmpfs, where a flush costs nothing; use --data-dir"}
    ]
    machine["instrument"].update(verdict="fails", found=12)
    run["left_out"] = [{"arm": "io-bound/eager", "reason": "needs wal_writer_delay; use the embedded server"}]
    for trial in (trial for trial in trials if trial["arm"] == "io-bound/nowait-batch"):
        trial["outcome"]["driver"]["busiest_thread_share"] = 0.97
        trial["outcome"]["profile"]["route"] = "sql"
        synthetic.storm(trial)
    return analyse(run, machine, trials)


def open_loop() -> Findings:
    """One factor only, arrivals from outside: units queue, and no level is shared."""
    shapes = {name.partition("/")[2]: shape for name, shape in list(SHAPES.items())[:3]}
    run, machine, trials = synthetic.run(blocks=8, seed=2, shapes=shapes, metric="response_time_ns_p99")
    for arm in run["arms"]:
        arm["levels"] = {"durability": arm["arm"]}
        arm["baseline"] = None if arm["arm"] == "wait-immediate" else "wait-immediate"
    for trial in trials:
        profile = trial["outcome"]["profile"]
        profile["queue_ns"], profile["run_queue_ns"] = profile["run_queue_ns"], 0
    return analyse(run, machine, trials)


def cold_scan() -> Findings:
    """Fixed work: one scan a trial, from a cold cache; the last arm was half cached and is caught."""
    scan = synthetic.Shape(cpu=2_100_000_000, run_queue=0, waits={"IO:DataFileRead": 9_400_000_000}, spread=0.0001)
    shapes = {
        "cold/8kB": scan,
        "cold/256kB": dataclasses.replace(scan, waits={"IO:DataFileRead": 3_200_000_000}),
        "cold/1MB": dataclasses.replace(scan, waits={"IO:DataFileRead": 1_900_000_000}),
    }
    run, machine, trials = synthetic.run(
        blocks=8, seed=5, shapes=shapes, metric="elapsed_ns", fixed_units=1, clients=1, noise=0.01
    )
    synthetic.add_evidence(trials, pages=104_000)
    for arm in run["arms"]:
        arm["expect"] = {"physical_reads": 1.0, "plan": "Seq Scan", "profile": ["IO:DataFileRead", "cpu"]}
    for trial in trials:
        trial["outcomes"] = {}
        if trial["arm"] == "cold/1MB":
            trial["device"]["read_bytes"] = round(trial["server"]["read_bytes"] * 0.43)
    return analyse(run, machine, trials)


def drop_indexes() -> Findings:
    """A mix of transactions with and without an index: plans, sizes, DDL, a busy host and a line in the log."""
    shapes = {f"users-8/{name}": SHAPES["io-bound/wait-immediate"] for name in ("all-indexes", "without-orders-date")}
    run, machine, trials = synthetic.run(blocks=8, seed=6, shapes=shapes, noise=0.01)
    synthetic.mix(trials, {"browse.sql": (900, 900_000), "order-products.sql": (300, 4_100_000)})
    synthetic.add_evidence(trials, pages=40, cold=False)
    run["arms"][1].update(sql="DROP INDEX orders_date;", undo="CREATE INDEX orders_date\n  ON orders (placed_at);")
    for trial in trials:
        trial["server"].update(rows_updated=400, rows_updated_hot=100)
        trial["outcomes"] = {"index bytes": {"before": 40_000_000, "after": 42_000_000}}
        if trial["arm"] == "users-8/without-orders-date":
            trial["plans"][0].update(shape="Limit > Sort > Seq Scan on orders", nodes=["Limit", "Sort", "Seq Scan"])
            trial["server"]["rows_updated_hot"] = 300
            trial["outcomes"] = {"index bytes": {"before": 20_000_000, "after": 20_500_000}}
            trial["host"]["cpu_steal_share"] = 0.04
            trial["server_log"] = ["WARNING: worker took too long to start; canceled"]
        elif trial["block"] == 3:
            trial["plans"][0].update(shape="Limit > Index Scan on orders", nodes=["Limit", "Index Scan"])
    return analyse(run, machine, trials)


MAKERS = {
    "cold-scan": cold_scan,
    "drop-indexes": drop_indexes,
    "commit-write": lambda: analyse(*synthetic.run(arms=8, blocks=10, seed=3, noise=0.012)),
    "troubled": troubled,
    "open-loop": open_loop,
    "five-blocks": lambda: analyse(*synthetic.run(arms=2, blocks=5)),
    "counting": lambda: analyse(*counting_run()),
    "nothing-yet": lambda: analyse(*synthetic.run(arms=2, blocks=6)[:2], []),
}


@functools.cache
def made(case: str) -> Findings:
    """The findings of a case, judged once."""
    return MAKERS[case]()


@pytest.mark.parametrize("case", MAKERS)
def test_golden_text(case: str) -> None:
    """The whole text, to the blank."""
    path = GOLDEN / f"{case}.txt"
    text = printed(made(case))
    if os.environ.get("BLESS") == "1":
        path.write_text(text, encoding="utf-8")

    assert text == path.read_text(encoding="utf-8"), "the report changed: read it, then BLESS=1 to accept"


@pytest.mark.parametrize("case", MAKERS)
def test_no_line_is_wider_than_the_page(case: str) -> None:
    """80 columns, no trailing blanks, no escape codes where there is no terminal."""
    for line in printed(made(case)).splitlines():
        assert len(line) <= 80
        assert line == line.rstrip()
        assert line.isprintable()


def test_colour_changes_no_word() -> None:
    """With colour the estimate is bold and bounds are faint; without the codes it is the same text."""
    findings = made("commit-write")
    coloured = printed(findings, colour=True)

    assert "\x1b[1m6.15x" in coloured
    assert "\x1b[2m[6.05, 6.23]" in coloured
    assert Text.from_ansi(coloured).plain.splitlines() == printed(findings).splitlines()


def test_long_names_stand_on_lines_of_their_own() -> None:
    """Forty letters do not push the figures off the page."""
    shapes = {f"load/{'x' * 40}": SHAPES["io-bound/wait-immediate"], "load/y": SHAPES["io-bound/nowait-batch"]}
    text = printed(analyse(*synthetic.run(blocks=6, shapes=shapes)))

    assert max(map(len, text.splitlines())) <= 80
    assert f"\n  {'x' * 40}\n" in text


def test_the_last_lines_say_where_things_are() -> None:
    """Run directory, then report; no report, no line."""
    findings = made("five-blocks")

    assert printed(findings).splitlines()[-2:] == ["Run directory: RUN", "Report:        RUN/report.html"]
    assert printed(findings, report=None).splitlines()[-1] == "Run directory: RUN"


def _sentence(**changes: Any) -> str:
    findings = made("commit-write")
    [*others, last] = findings.comparisons
    changed = dataclasses.replace(findings, comparisons=[*others, dataclasses.replace(last, **changes)])
    return plain(verdict_sentences(changed)[-1])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"verdict": "better"}, "cpu-bound: nowait-batch is better than wait-immediate: 1.016x the throughput (95 % "),
        ({"verdict": "worse"}, "cpu-bound: nowait-batch is worse than wait-immediate: "),
        ({"verdict": "small"}, "is a little better than wait-immediate, but by less than the margin of 3 %: "),
        ({"verdict": "same"}, "is the same as wait-immediate within 3 %: 1.016x the throughput (90 % interval "),
        ({"verdict": "undecided", "blocks_needed": 34}, "About 34 blocks would decide it; this run has 10."),
        ({"verdict": "undecided", "blocks_needed": None}, "No reasonable number of blocks would decide it"),
        ({"verdict": "undecided", "limited_by": ["deviation"]}, "no verdict on nowait-batch against wait-immediate."),
        ({"limited_by": ["client_bound"]}, "Caution: the driver, not the server, was the limit (see the warnings)."),
    ],
)
def test_sentence_of_each_verdict(changes: dict[str, Any], words: str) -> None:
    """Each says what was decided, and what not."""
    assert words in _sentence(**changes)


def test_the_small_effect_is_explained() -> None:
    """In the CPU-bound load the report says why so little is gained; in the other it does not."""
    sentences = [plain(sentence) for sentence in verdict_sentences(made("commit-write"))]

    explained = "Why no more: waits are only 2.8 % of the response time there; CPU and run queue are 97 %."
    assert [explained in sentence for sentence in sentences] == [False] * 3 + [True] * 3


@pytest.mark.parametrize(("moved_most", "explained"), [("IO:WalSync", True), ("cpu", False)])
def test_a_great_effect_is_explained_only_where_a_wait_made_it(moved_most: str, explained: bool) -> None:
    """Three times the speed by less CPU needs no excuse; by less waiting in a CPU-bound load it does."""
    findings = made("commit-write")
    last = findings.comparisons[-1]
    why = sorted(last.why, key=lambda reason: reason.part != moved_most)
    great = dataclasses.replace(last, why=why, ratio=dataclasses.replace(last.ratio, estimate=3.0))

    [sentence] = verdict_sentences(dataclasses.replace(findings, comparisons=[great]))

    assert ("Why no more:" in plain(sentence)) == explained


def test_a_loss_needs_no_excuse() -> None:
    """Why it is no greater is nobody's question."""
    findings = made("commit-write")
    worse = dataclasses.replace(findings.comparisons[-1], verdict="worse")

    [sentence] = verdict_sentences(dataclasses.replace(findings, comparisons=[worse]))

    assert "Why no more:" not in plain(sentence)


def test_a_profile_that_moved_the_other_way_is_no_reason() -> None:
    """A slower arm in which the time shown fell: no why rather than a wrong one."""
    findings = made("commit-write")
    comparison = dataclasses.replace(findings.comparisons[1], verdict="worse")
    slower = dataclasses.replace(comparison, ratio=dataclasses.replace(comparison.ratio, estimate=0.5))

    [sentence] = verdict_sentences(dataclasses.replace(findings, comparisons=[slower]))

    assert "Why:" not in plain(sentence)


def test_the_baseline_factor_may_come_first() -> None:
    """Groups are made of the levels that arm and baseline share, wherever the file has them."""
    shapes = {"/".join(reversed(name.split("/"))): shape for name, shape in SHAPES.items()}
    run, machine, trials = synthetic.run(blocks=6, shapes=shapes)
    for arm in run["arms"]:
        durability, load = arm["arm"].split("/")
        arm["levels"] = {"durability": durability, "load": load}
        arm["baseline"] = None if durability == "wait-immediate" else f"wait-immediate/{load}"

    names = ArmNames(analyse(run, machine, trials))

    assert (names.group("nowait-batch/io-bound"), names.short("nowait-batch/io-bound")) == ("io-bound", "nowait-batch")


def test_json_is_the_findings_document() -> None:
    """One document, nothing added."""
    findings = made("five-blocks")

    assert json_report.render(findings) == to_json(findings)


def test_a_server_elsewhere_has_no_data_directory() -> None:
    """Where the data lies is unknown there, and not invented."""
    run, machine, trials = synthetic.run(arms=2, blocks=6)
    machine["data_directory"] = None

    words = " ".join(printed(analyse(run, machine, trials)).split())

    assert "; PostgreSQL 18.6, 2 CPUs. A unit of work" in words


def test_the_same_change_of_several_arms_stands_once() -> None:
    """Under the names of all of them; what is beyond eight is in the HTML report."""
    arm = made("commit-write").arms[0]
    arms = [dataclasses.replace(arm, arm=name, sql="CREATE INDEX i ON t (a);", undo="DROP INDEX i;") for name in "ab"]
    arms += [dataclasses.replace(arm, arm=f"more-{n}", sql=f"SELECT {n};", undo=None) for n in range(9)]

    lines = [line.plain for line in changes(arms)]

    assert lines[:3] == ["To apply, and to undo", "- a, b: CREATE INDEX i ON t (a);", "  undo: DROP INDEX i;"]
    assert lines[-1] == "- 2 more are in the HTML report"
