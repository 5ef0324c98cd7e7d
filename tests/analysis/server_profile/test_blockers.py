"""Who held up whom: the tree from looks at blockers, and what each of them was doing."""

from __future__ import annotations

from typing import Any

import server_record as make
from server_record import SECOND

from dbdyno.analysis.server_profile.blockers import blockers

LOCK = "row (0,12) of public.accounts, until transaction 741 ends"


def polled(blocking: list[list[Any]], seen: list[list[Any]], polls: int = 10) -> dict[str, Any]:
    """The sessions of a record, polled so often in 5 s."""
    return {
        "polls": polls,
        "processes": [make.session(pid, 5 * SECOND, application=f"app{pid}") for pid in (1, 2, 3, 4)],
        "queries": [{"query_id": None, "text": "UPDATE accounts"}, {"query_id": "9", "text": "SELECT 1"}],
        "seen": seen,
        "blocking": blocking,
    }


def test_a_line_of_waiters_is_one_blocker_with_all_below_it() -> None:
    """Pid 3 waits for the holder 1 and for 2, who stands before it in line: it is held up by 1, once."""
    looks = [at * SECOND // 2 for at in range(4)]
    sessions = polled(
        [entry for at in looks for entry in ([at, 2, [1], LOCK], [at, 3, [1, 2], LOCK])],
        [entry for at in looks for entry in ([at, 1, "idle in transaction", "Client:ClientRead", 1],)],
    )
    (root,) = blockers(sessions, 5 * SECOND)

    assert (root.pid, root.application, root.query) == (1, "app1", "SELECT 1")
    assert root.doing == {"idle in transaction": 1.0}
    assert (root.blocked_ns, root.blocked_ns_all, root.sessions_blocked) == (4 * SECOND, 4 * SECOND, 2)
    assert root.locks == [LOCK]
    assert root.longest_ns == 4 * SECOND / 2
    assert [(child.pid, child.waited_ns) for child in root.blocked] == [(2, 2 * SECOND), (3, 2 * SECOND)]


def test_a_chain_is_a_chain() -> None:
    """1 holds up 2, 2 holds up 3: the time below 1 is that of both."""
    sessions = polled([[0, 2, [1], LOCK], [0, 3, [2], "t"]], [[0, 1, "active", "IO:WalSync", 0]])
    (root,) = blockers(sessions, 5 * SECOND)

    assert root.doing == {"active: IO:WalSync": 1.0}
    assert (root.blocked_ns, root.blocked_ns_all, root.sessions_blocked) == (SECOND / 2, SECOND, 2)
    assert root.longest_ns == SECOND / 2
    assert root.blocked[0].doing == {"blocked": 1.0}
    assert root.blocked[0].blocked[0].pid == 3


def test_the_greatest_blocker_stands_first_and_may_be_nobody() -> None:
    """Pid 0 is a prepared transaction; a blocker that did two things has the share of each."""
    sessions = polled(
        [[0, 2, [0], LOCK], [1, 2, [0], LOCK], [2, 3, [4], "t"]],
        [[2, 4, "active", None, None]],
    )
    first, second = blockers(sessions, 5 * SECOND)

    assert (first.pid, first.backend_type) == (0, "prepared transaction")
    assert second.doing == {"active: no wait event": 1.0}


def test_a_circle_has_a_root() -> None:
    """A deadlock that was looked at before the server broke it."""
    (root,) = blockers(polled([[0, 2, [3], "t"], [0, 3, [2], "t"]], []), 5 * SECOND)

    assert root.pid == 2
    assert [child.pid for child in root.blocked] == [3]


def test_nothing_blocked_nothing_told() -> None:
    """No connection, or no look at a waiter."""
    assert blockers(None, SECOND) == []
    assert blockers(polled([], []), SECOND) == []
