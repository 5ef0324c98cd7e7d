"""What polls become in the record, and locks in words."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from dbdyno.attach.session_poll import SessionRecord
from dbdyno.attach.sessions_sql import HIDDEN, Lock, Session, lock_text

SESSION = Session(
    pid=10, backend_type="client backend", user="app", database="shop", application="web", client="local",
    leader_pid=None, query_id="42", query="SELECT 1", state="active", wait="IO:DataFileRead", began="1.5",
    in_state_s=0.1,
)  # fmt: skip
LOCK = Lock(10, "relation", False, None, None, None, None, "public.t", "shop", "AccessShareLock", None, None)


def test_polls_become_processes_queries_and_what_was_seen() -> None:
    """One entry a process and a query; times from the start of the watch; an idle session is there and not seen."""
    record = SessionRecord()
    record.take(1_100, [SESSION, dataclasses.replace(SESSION, pid=11, state="idle", wait="Client:ClientRead")], {})
    again = dataclasses.replace(SESSION, query="SELECT 2", application="job", wait=None)
    record.take(1_600, [again], {10: ([12, 13], "public.t, ShareLock")})

    document = record.document(1_000)

    assert [(each["pid"], each["first_ns"], each["last_ns"]) for each in document["processes"]] == [
        (10, 100, 600),
        (11, 100, 100),
    ]
    assert document["processes"][0]["application"] == "job"
    assert document["queries"] == [{"query_id": "42", "text": "SELECT 1"}]
    assert document["seen"] == [
        [100, 10, "active", "IO:DataFileRead", 0],
        [600, 10, "active", None, 0],
    ]
    assert document["blocking"] == [[600, 10, [12, 13], "public.t, ShareLock"]]


def test_an_idle_session_that_somebody_waits_for_is_seen() -> None:
    """It holds an advisory lock of its session."""
    record = SessionRecord()
    idle = dataclasses.replace(SESSION, pid=11, state="idle", wait="Client:ClientRead")
    record.take(0, [dataclasses.replace(SESSION, wait="Lock:advisory"), idle], {10: ([11], "advisory lock 0, 7")})

    assert record.document(0)["seen"] == [
        [0, 10, "active", "Lock:advisory", 0],
        [0, 11, "idle", "Client:ClientRead", None],
    ]


def test_queries_without_an_id_are_told_apart_by_their_text() -> None:
    """compute_query_id is off."""
    record = SessionRecord()
    for text in ("SELECT 1", "SELECT 2", "SELECT 1"):
        record.take(0, [dataclasses.replace(SESSION, query_id=None, query=text)], {})

    document = record.document(0)

    assert document["queries"] == [{"query_id": None, "text": "SELECT 1"}, {"query_id": None, "text": "SELECT 2"}]
    assert [row[4] for row in document["seen"]] == [0, 1, 0]


def test_a_pid_that_is_used_again_is_another_process() -> None:
    """It began at another time."""
    record = SessionRecord()
    record.take(0, [SESSION], {})
    record.take(5, [dataclasses.replace(SESSION, began="2.5", user="other")], {})

    assert [(each["pid"], each["user"]) for each in record.document(0)["processes"]] == [(10, "app"), (10, "other")]


def test_hidden_sessions_are_counted_once_and_leave_no_trace_of_a_text() -> None:
    """Who they are is shown to everybody; what they do is not."""
    record = SessionRecord()
    hidden = dataclasses.replace(SESSION, query=HIDDEN, state=None, wait=None, query_id=None)
    record.take(0, [hidden], {})
    record.take(1, [hidden], {})

    assert record.hidden == 1
    assert record.document(0)["seen"] == []
    assert record.document(0)["queries"] == []


@pytest.mark.parametrize(
    ("changes", "held", "words"),
    [
        ({}, None, "public.t, AccessShareLock"),
        ({"kind": "tuple", "page": 0, "tuple": 12}, None, "row (0,12) of public.t"),
        ({"kind": "transactionid", "transaction": "741"}, None, "transaction 741"),
        (
            {"kind": "transactionid", "transaction": "741", "relation": None},
            {"kind": "tuple", "granted": True, "page": 3, "tuple": 1},
            "row (3,1) of public.t, until transaction 741 ends",
        ),
        ({"kind": "virtualxid", "virtual_transaction": "3/12"}, None, "virtual transaction 3/12"),
        ({"relation": "relation 16384", "database": "other"}, None, "relation 16384 in other, AccessShareLock"),
        ({"kind": "extend"}, None, "extend lock of public.t"),
        ({"kind": "advisory", "class_id": 0, "object_id": 7}, None, "advisory lock 0, 7"),
        ({"kind": "frozenid"}, None, "frozenid lock"),
        ({"granted": True}, None, None),
    ],
)
def test_what_is_waited_for_in_words(changes: dict[str, Any], held: dict[str, Any] | None, words: str | None) -> None:
    """A waiter for a row holds the row's own lock and waits for the transaction that changed it."""
    locks = [dataclasses.replace(LOCK, **changes)]
    locks += [dataclasses.replace(LOCK, **held)] if held else []

    assert lock_text(locks) == words
