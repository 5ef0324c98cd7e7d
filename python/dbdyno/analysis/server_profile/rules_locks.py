"""Findings on sessions that hold up others: blockers, contention, transactions that stay open."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.server_profile import words
from dbdyno.analysis.server_profile.findings import Blocker, Evidence, Finding, ServerProfile, SessionTime
from dbdyno.analysis.server_profile.words import SECOND_NS

# Of the database time: what blockers must have cost to be worth a sentence.
BLOCKED_SHARE = 0.02
MOST_BLOCKERS = 3
# A blocker that is there look after look for so long is no ordinary short transaction.
STAYING_NS = 1.5e9
# A session that sits in an open transaction, and does not just pause between two statements.
SITTING_SHARE = 0.9
MOST_NAMED = 3
# Pauses between statements, on average and against the sessions that work.
OPEN_SESSIONS = 1.0
OPEN_SHARE = 0.25
# The relation that a lock's words name.
RELATION = re.compile(r" of ([^ ,]+)")


def blockers(profile: ServerProfile) -> Iterator[Finding]:
    """Sessions that hold up others: what they do meanwhile decides what to try.

    One that stays is the trouble itself. Where many take turns, none of them is: it is what they all change.
    """
    staying = [root for root in profile.blockers if root.longest_ns >= STAYING_NS]
    turns = [root for root in profile.blockers if root.longest_ns < STAYING_NS]
    least_ns = BLOCKED_SHARE * profile.database_time_ns.estimate
    for root in staying[:MOST_BLOCKERS]:
        if root.blocked_ns_all >= least_ns:
            open_share = sum(share for doing, share in root.doing.items() if doing.startswith("idle in transaction"))
            yield _blocker(root, idle=open_share >= 0.5)
    if turns and sum(root.blocked_ns_all for root in turns) >= least_ns:
        yield _taking_turns(turns)


def _taking_turns(turns: list[Blocker]) -> Finding:
    total = sum(root.blocked_ns_all for root in turns)
    where = Counter(found[1] for root in turns for lock in root.locks if (found := RELATION.search(lock)))
    mostly = "".join(f", mostly on {name}" for name, _ in where.most_common(1))
    what = f"{len(turns)} sessions in turn" if len(turns) > 1 else "One session for short times"
    return Finding(
        code="lock_contention",
        seconds_at_stake=total / SECOND_NS,
        sentence=f"{what} held up others for about {words.seconds(total)} in all{mostly}: none stays long, "
        "they change the same rows.",
        evidence=[Evidence("time of the sessions held up", Estimate(total, None, None), "ns")],
        next="change the row that all want at the end of the transaction, right before COMMIT; or spread it over rows",
    )


def _blocker(root: Blocker, *, idle: bool) -> Finding:
    who = "A prepared transaction" if root.pid == 0 else f"Session {root.pid}{_of(root)}"
    on = f" on {root.locks[0]}" if root.locks else ""
    held = f"{root.sessions_blocked} session{'s' if root.sessions_blocked != 1 else ''}"
    doing = max(root.doing, key=root.doing.__getitem__)
    did = "was idle in transaction" if idle else f"was {doing.replace('active: ', 'active, in ')}"
    if root.pid == 0:
        hint = "SELECT gid, prepared FROM pg_prepared_xacts, then COMMIT PREPARED or ROLLBACK PREPARED"
    elif idle:
        hint = (
            f"SELECT pg_terminate_backend({root.pid}) ends it now; "
            "ALTER SYSTEM SET idle_in_transaction_session_timeout = '30s' from now on"
        )
    elif doing == "idle":
        hint = (
            f"it keeps a lock beyond its transactions, an advisory one: SELECT pg_terminate_backend({root.pid}) ends it"
        )
    else:
        hint = f"SELECT pg_cancel_backend({root.pid}) ends its query; commit sooner after the change that locks"
    return Finding(
        code="blocker_idle_in_transaction" if idle else "blocker",
        seconds_at_stake=root.blocked_ns_all / SECOND_NS,
        sentence=f"{who} held up {held} for {words.seconds(root.blocked_ns_all)} in all{on}, while it {did}.",
        evidence=[
            Evidence("time of the sessions held up", Estimate(root.blocked_ns_all, None, None), "ns"),
            *(Evidence(f"of it: {did}", Estimate(part, None, None), "share") for did, part in root.doing.items()),
        ],
        next=hint,
    )


def _of(root: Blocker) -> str:
    named = [name for name in (root.user, root.application) if name]
    return f" ({', '.join(named)})" if named else ""


def idle_in_transaction(profile: ServerProfile) -> Iterator[Finding]:
    """Sessions that sit in an open transaction all the time; nobody may be waiting for them yet."""
    sitting = [one for one in profile.by_session if one.idle_in_transaction_ns >= SITTING_SHARE * _length_ns(profile)]
    if not sitting:
        return
    who = words.listed([str(one.pid) for one in sitting[:MOST_NAMED]])
    more = f" and {len(sitting) - MOST_NAMED} more" if len(sitting) > MOST_NAMED else ""
    many = len(sitting) > 1
    yield Finding(
        code="idle_in_transaction",
        seconds_at_stake=0.0,
        sentence=f"{len(sitting)} session{'s were' if many else ' was'} idle in transaction all the time "
        f"({who}{more}{_most_open(sitting)}): {'they keep' if many else 'it keeps'} locks and old row versions.",
        evidence=[
            Evidence(
                "sessions idle in transaction", _over(profile.idle_in_transaction_ns, _length_ns(profile)), "sessions"
            )
        ],
        next="ALTER SYSTEM SET idle_in_transaction_session_timeout = '30s'; "
        f"SELECT pg_terminate_backend({sitting[0].pid}) ends the first now",
    )


def chatty(profile: ServerProfile) -> Iterator[Finding]:
    """Transactions that are open while their client thinks about the next statement."""
    sitting_ns = sum(
        one.idle_in_transaction_ns
        for one in profile.by_session
        if one.idle_in_transaction_ns >= SITTING_SHARE * _length_ns(profile)
    )
    mean = (profile.idle_in_transaction_ns.estimate - sitting_ns) / _length_ns(profile)
    if mean < OPEN_SESSIONS or mean < OPEN_SHARE * profile.active_sessions_mean.estimate:
        return
    yield Finding(
        code="chatty_transactions",
        seconds_at_stake=0.0,
        sentence=f"Transactions are open while nothing is done in them: on average {words.number(mean)} sessions were "
        "between two statements of one, with its locks held.",
        evidence=[
            Evidence(
                "sessions idle in transaction", _over(profile.idle_in_transaction_ns, _length_ns(profile)), "sessions"
            )
        ],
        next="send the statements of a transaction together (a pipeline, one function, fewer round trips), "
        "and take what others want last",
    )


def _length_ns(profile: ServerProfile) -> float:
    return profile.seconds * SECOND_NS or 1.0


def _most_open(sitting: list[SessionTime]) -> str:
    """The application that more than half of them are of, if there is one."""
    name, count = Counter(one.application or "" for one in sitting).most_common(1)[0]
    return f", {name}" if name and count > len(sitting) / 2 else ""


def _over(figure: Estimate, by: float) -> Estimate:
    return Estimate(
        figure.estimate / by,
        None if figure.low is None else figure.low / by,
        None if figure.high is None else figure.high / by,
    )
