"""From the accounts of a trace to findings: everything adds up, and what stands out is said."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from traced import MS, calls, file, row, statement, wait

from dbdyno.analysis.trace.advice import unaccounted_words
from dbdyno.analysis.trace.analyse import analyse
from dbdyno.analysis.trace.document import to_json
from dbdyno.analysis.trace.findings import Scope
from dbdyno.analysis.trace.notes import MESSAGES

CLIENT = "SQL*Net message from client"


def scope_of(document: dict[str, Any]) -> Scope:
    """The only one."""
    (scope,) = analyse({"format": 1, "files": [document]}).scopes
    return scope


def fetching(rows: int) -> dict[str, Any]:
    """A query that is fetched from 1,000 times."""
    waits = [
        wait("db file sequential read", "work", 10, 80 * MS),
        wait(CLIENT, "think_time", 1000, 500 * MS, between=True),
    ]
    by_kind = {
        "exec": calls(1, 1 * MS, 2 * MS),
        "fetch": calls(1000, 200 * MS, 298 * MS, rows=rows, first_line=44),
    }
    return file([statement(0, "select * from orders")], [row(0, by_kind, waits)], 1000 * MS)


def test_profiles_add_up() -> None:
    """That of the scope to the duration, those of the statements to their parts of it."""
    scope = scope_of(fetching(1000))

    assert [(line.name, line.of, line.ns // MS) for line in scope.profile] == [
        (CLIENT, "think_time", 500),
        ("CPU", "cpu", 201),
        ("db file sequential read", "work", 80),
        ("unaccounted for", "unaccounted", 219),
    ]
    assert sum(line.ns for line in scope.profile) == scope.duration_ns == 1000 * MS
    (one,) = scope.statements
    assert (one.response_ns, one.executions, one.rows) == (800 * MS, 1, 1000)
    assert sum(line.ns for line in one.profile) == one.response_ns
    assert one.response_ns + scope.unaccounted_between_calls_ns == scope.duration_ns
    assert (scope.profile[2].count, scope.profile[2].mean_ns, scope.profile[2].slowest_line) == (10, 8 * MS, 21)


def test_rows_that_are_fetched_one_by_one() -> None:
    """With the calls and the ways between them at stake, and the line of the first; an array is no finding."""
    (finding,) = scope_of(fetching(1000)).findings

    assert (finding.code, finding.at_stake_ns, finding.line) == ("row_by_row", 798 * MS, 44)
    assert finding.words == (
        "statement sql0000000000: 1,000 fetches, 1 row each: 80 % of the time is these fetches and the ways between "
        "them; fetch arrays"
    )
    assert scope_of(fetching(15_000)).findings == []


@pytest.mark.parametrize(("read_only", "codes"), [(0, ["commit_per_row"]), (9950, [])])
def test_commits_of_a_row_each(read_only: int, codes: list[str]) -> None:
    """Commits of transactions that only read write nothing and wait for nothing."""
    waits = [wait("log file sync", "work", 10_000, 610 * MS, line=77)]
    rows = [row(0, {"exec": calls(10_000, 100 * MS, 800 * MS, rows=10_000)}, waits)]
    transactions = {"commits": 10_000, "read_only": read_only}

    found = scope_of(file([statement(0, "insert")], rows, 1000 * MS, transactions=transactions)).findings

    assert [one.code for one in found] == codes
    if codes:
        assert found[0].words == (
            "10,000 commits, 1 row each: 61 % of the time is log file sync; commit once for many rows"
        )
        assert (found[0].line, found[0].share) == (77, 0.61)


def test_texts_that_are_parsed_anew() -> None:
    """Variants that differ in their literals."""
    rows = [row(0, {"parse": calls(500, 300 * MS, 400 * MS, misses=499), "exec": calls(500, 0, 0)}, [])]

    (found,) = scope_of(file([statement(0, "select 1", kind="variants")], rows, 1000 * MS)).findings

    assert found.code == "hard_parses"
    assert found.words == (
        "statement sql0000000000: 499 of 500 parses were hard (literals in its text): 40 % of the time; bind variables"
    )


def test_what_is_left_has_a_likely_cause() -> None:
    """By where it lies, and by its sign."""
    words = [unaccounted_words(*split, 100, coarse=coarse) for *split, coarse in (
        (0, 0, None), (40, 5, True), (5, 40, False), (-40, 0, True), (-40, 0, False),
    )]  # fmt: skip

    assert words == [
        "less than 1 % of the duration: nothing is hidden",
        "within calls: most likely time on the run queue, and code that tells no waits, and of steps of c that were "
        "not reached",
        "between calls: most likely code outside calls, or lines that this trace does not have",
        "negative: more was told than time went by, because c goes in steps of a millisecond or more in this release",
        "negative: more was told than time went by, because CPU is counted within waits",
    ]


def test_every_note_has_its_words() -> None:
    """With how often it was, and its first line."""
    notes = [{"code": code, "count": 1234, "line": 56} for code in MESSAGES]
    unknown = {"count": 7, "shapes": [{"shape": "nonsense 9", "count": 7, "line": 9}], "others": 0}
    document = fetching(1) | {"notes": notes, "unknown_lines": unknown}

    (read,) = analyse({"format": 1, "files": [document]}).files

    assert [one.code for one in read.warnings] == [*MESSAGES, "unknown_lines"]
    assert not any("{" in one.message for one in read.warnings)
    assert read.warnings[-1].message == "7 lines are of no known kind, as 'nonsense 9' (line 9); left out"


def test_the_document_is_the_contract() -> None:
    """The keys of the design."""
    document = json.loads(to_json(analyse({"format": 1, "files": [fetching(1000)]})))

    (scope,) = document["scopes"]
    assert (document["format"], scope["scope"], scope["file"]) == (1, "file", "shop_ora_1.trc")
    assert scope["profile_ns"]["cpu"] == 201 * MS
    assert scope["profile_ns"]["waits"] == {CLIENT: 500 * MS, "db file sequential read": 80 * MS}
    assert scope["profile_ns"]["unaccounted"] == 219 * MS
    assert scope["wait_counts"] == {CLIENT: 1000, "db file sequential read": 10}


def test_a_trace_without_time() -> None:
    """Has no shares, and nothing stands out."""
    scope = scope_of(file([], [], 0))

    assert ([line.share for line in scope.profile], scope.findings) == ([None], [])


def test_the_reader_notes_nothing_else() -> None:
    """The codes of the core, each with its words."""
    source = (Path(__file__).parents[3] / "crates/dbdyno-core/src/trace/notes.rs").read_text()

    assert sorted(re.findall(r'=> "([a-z_]+)",', source)) == sorted(MESSAGES)
