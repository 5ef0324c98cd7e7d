"""Database time broken down: into its parts, and by query, user, application, database, backend type and session."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.server_profile.findings import Part, QueryTime, SessionTime, Share, Wait
from dbdyno.analysis.server_profile.leaves import NOT_WAITS, Leaves
from dbdyno.analysis.server_profile.meanings import meaning_of
from dbdyno.analysis.server_profile.processes import Process
from dbdyno.analysis.server_profile.snapshots import IDLE_IN_TRANSACTION, Flags, Floats, Ints

# Of what is broken down, the greatest are told one by one; a part that is smaller than this share of it is not.
MOST_PARTS = 8
LEAST_PART = 0.002
MOST_QUERIES = 50
MOST_SHARES = 30
MOST_SESSIONS = 50


def parts(leaves: Leaves, chosen: Flags, elapsed_ns: float) -> list[Part]:
    """The parts of the chosen leaves, the greatest first, each with its intervals and its rank group."""
    total = leaves.database_time(chosen)
    found = {part: ns for part, ns in leaves.parts(chosen).items() if ns[0] != 0}
    # What is left over is no part that could rank among the others: it stands last.
    names = sorted(found, key=lambda part: (part == "unaccounted", -found[part][0], part))
    groups = leaves.draws.rank_groups([found[part] for part in names])
    return [
        Part(
            part=part,
            ns=leaves.draws.estimate(found[part]),
            share=leaves.draws.estimate(ratio(found[part], total)),
            active_sessions=leaves.draws.estimate(found[part] / elapsed_ns),
            rank_group=group,
        )
        for part, group in zip(names, groups, strict=True)
    ]


def waits(leaves: Leaves) -> list[Wait]:
    """The wait events of all sessions, the greatest first, with what they mean; ranked among each other."""
    everything = np.ones(len(leaves.state), dtype=np.bool_)
    total = leaves.database_time(everything)
    found = {part: ns for part, ns in leaves.parts(everything).items() if part not in NOT_WAITS and ns[0] > 0}
    names = sorted(found, key=lambda event: (-found[event][0], event))
    groups = leaves.draws.rank_groups([found[event] for event in names])
    return [
        Wait(
            event=event,
            ns=leaves.draws.estimate(found[event]),
            share=leaves.draws.estimate(ratio(found[event], total)),
            rank_group=group,
            meaning=meaning_of(event),
        )
        for event, group in zip(names, groups, strict=True)
    ]


def by_query(
    leaves: Leaves, texts: dict[str, str], statements: dict[str, Document], elapsed_ns: float
) -> list[QueryTime]:
    """The queries with the most database time.

    Args:
        leaves: the times.
        texts: the text of each query id that the server gave.
        statements: of each query id, `calls` and `total_ns` from pg_stat_statements.
        elapsed_ns: the length of the profile.
    """
    found = []
    for query, ns, group, chosen in _ranked(leaves, leaves.query, MOST_QUERIES):
        name = leaves.rows.queries[query]
        counted = statements.get(name or "")
        found.append(
            QueryTime(
                query_id=name,
                text=texts.get(name or ""),
                ns=leaves.draws.estimate(ns),
                share=_share(leaves, ns),
                rank_group=group,
                profile_ns=leaves.time_parts(chosen),
                parts=_greatest(parts(leaves, chosen, elapsed_ns)),
                calls=None if counted is None else int(counted["calls"]),
                ns_per_call=None if counted is None or not counted["calls"] else counted["total_ns"] / counted["calls"],
            )
        )
    return found


def by_owner(leaves: Leaves, name_of: Callable[[Process], str | None], elapsed_ns: float) -> list[Share]:
    """The database time by something that a session has: its user, say. A parallel worker has what its leader has."""
    numbers, names = _numbered([name_of(process) for process in leaves.rows.processes], leaves.process)
    return [
        Share(
            name=names[number],
            ns=leaves.draws.estimate(ns),
            share=_share(leaves, ns),
            rank_group=group,
            profile_ns=leaves.time_parts(chosen),
            parts=_greatest(parts(leaves, chosen, elapsed_ns)),
        )
        for number, ns, group, chosen in _ranked(leaves, numbers, MOST_SHARES)
    ]


def by_session(leaves: Leaves, opened_by_pid: dict[int, float]) -> list[SessionTime]:
    """The sessions with the most database time, parallel workers within their leaders; behind them those that were
    only idle in transaction. Where snapshots hold no states, `opened_by_pid` has the time that each was.
    """
    is_open = leaves.state == IDLE_IN_TRANSACTION
    polled = np.isin([process.pid for process in leaves.rows.processes], list(opened_by_pid))[leaves.session]
    numbers = [int(number) for number in np.unique(leaves.session[leaves.active | is_open | polled])]
    flags = {number: leaves.session == number for number in numbers}
    opened = {
        number: opened_by_pid.get(leaves.rows.processes[number].pid)
        or float(leaves.seen_ns[0, flags[number] & is_open].sum())
        for number in numbers
    }
    times = {number: leaves.database_time(flags[number]) for number in numbers}
    found = []
    for session in sorted(numbers, key=lambda number: (-times[number][0], -opened[number]))[:MOST_SESSIONS]:
        process, chosen, ns, idle = leaves.rows.processes[session], flags[session], times[session], opened[session]
        found.append(
            SessionTime(
                pid=process.pid,
                backend_type=process.backend_type,
                user=process.user,
                database=process.database,
                application=process.application,
                ns=leaves.draws.estimate(ns),
                share=_share(leaves, ns),
                idle_in_transaction_ns=idle,
                parallel_workers=len(set(leaves.process[chosen]) - {session}),
                profile_ns=leaves.time_parts(chosen),
            )
        )
    return found


def ratio(values: Floats, total: Floats) -> Floats:
    """Draw by draw; 0 of nothing is 0."""
    return np.divide(values, total, out=np.zeros_like(values), where=total > 0)


def _ranked(leaves: Leaves, number_of_leaf: Ints, most: int) -> list[tuple[int, Floats, int, Flags]]:
    """The greatest by database time: number, time of each draw, rank group and leaves."""
    chosen = {int(number): number_of_leaf == number for number in np.unique(number_of_leaf[leaves.active])}
    times = {number: leaves.database_time(flags) for number, flags in chosen.items()}
    order = sorted((number for number in times if times[number][0] > 0), key=lambda number: -times[number][0])[:most]
    groups = leaves.draws.rank_groups([times[number] for number in order])
    return [(number, times[number], group, chosen[number]) for number, group in zip(order, groups, strict=True)]


def _share(leaves: Leaves, ns: Floats) -> Estimate:
    return leaves.draws.estimate(ratio(ns, leaves.seen_ns[:, leaves.active].sum(axis=1)))


def _greatest(found: Sequence[Part]) -> list[Part]:
    return [part for part in found if abs(part.share.estimate) >= LEAST_PART][:MOST_PARTS]


def _numbered(names: Sequence[str | None], process_of_leaf: Ints) -> tuple[Ints, list[str | None]]:
    """A number for each distinct name, and that of each leaf's process."""
    distinct = list(dict.fromkeys(names))
    of_process = np.array([distinct.index(name) for name in names], dtype=np.int64)
    return of_process[process_of_leaf], distinct
