"""From the record of one profile to its findings."""

from __future__ import annotations

import dataclasses
from collections import Counter

import numpy as np

from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.server_profile import breakdown, words
from dbdyno.analysis.server_profile.active_sessions import active_sessions
from dbdyno.analysis.server_profile.background import background
from dbdyno.analysis.server_profile.blockers import blockers
from dbdyno.analysis.server_profile.concluding import findings
from dbdyno.analysis.server_profile.division import Division, spans, strata
from dbdyno.analysis.server_profile.findings import FORMAT, Commits, Sampler, ServerProfile
from dbdyno.analysis.server_profile.heat_maps import heat_maps
from dbdyno.analysis.server_profile.leaves import Leaves, leaves
from dbdyno.analysis.server_profile.limits import warnings
from dbdyno.analysis.server_profile.processes import processes
from dbdyno.analysis.server_profile.query_texts import query_texts
from dbdyno.analysis.server_profile.requests import PAGE_BYTES, differences, io_lines
from dbdyno.analysis.server_profile.resample import draws
from dbdyno.analysis.server_profile.session_stacks import session_stacks
from dbdyno.analysis.server_profile.snapshots import ACTIVE, BACKGROUND, IDLE_IN_TRANSACTION, Flags, Floats, snapshots

# The control connection's own statements are commits, too: so many each look, at most.
OWN_COMMITS_PER_LOOK = 4
# Where ours are more than this share of all, the count says little about the others.
OWN_COMMITS_SHARE = 0.1


def analyse(record: Document) -> ServerProfile:
    """What a profile concludes; the same record gives the same findings."""
    found, division = times(record)
    watch, server = record["watch"], record.get("server") or {}
    profile = _figures(record, found, division)
    profile = dataclasses.replace(
        profile,
        heat_maps=heat_maps(watch, profile.waits),
        blockers=blockers(record.get("sessions"), watch["elapsed_ns"]),
        io=io_lines(record.get("counters"), _page_bytes(server)),
        background=background(found, division),
        commits=commits(record, found),
        stacks=session_stacks(record, profile.profile_ns),
        system_calls=record.get("calls"),
    )
    return dataclasses.replace(profile, findings=findings(profile), warnings=warnings(profile, found, record))


def times(record: Document, seed: int = 1) -> tuple[Leaves, Division]:
    """All times of a record, for the profile itself and for what is drawn from it."""
    rows = snapshots(record["watch"], processes(record["watch"], record.get("sessions")))
    return leaves(rows, draws(rows, seed), strata(rows), spans(rows))


def commits(record: Document, found: Leaves) -> Commits | None:
    """Transactions by the server's own count, over all databases; None where it was not asked, or they are ours."""
    counters, sessions = record.get("counters") or {}, record.get("sessions") or {}
    rows = differences(counters, "pg_stat_database", ("datid",))
    count = sum(row.get("xact_commit") or 0 for row in rows)
    if not count or sessions.get("polls", 0) * OWN_COMMITS_PER_LOOK > OWN_COMMITS_SHARE * count:
        return None
    total = found.database_time(np.ones(len(found.state), dtype=np.bool_))
    # The looks at the counters enclose the watch: what was committed between them and it is not of the profile.
    elapsed_ns = record["watch"]["elapsed_ns"]
    count *= elapsed_ns / (counters["pg_stat_database"].get("elapsed_ns") or elapsed_ns)
    return Commits(round(count), count / (elapsed_ns / 1e9), found.draws.estimate(total / count))


def _figures(record: Document, found: Leaves, division: Division) -> ServerProfile:
    """Everything that comes from the times alone."""
    watch, server, target = record["watch"], record.get("server") or {}, record.get("target") or {}
    elapsed_ns = float(watch["elapsed_ns"]) or 1.0
    everything = np.ones(len(found.state), dtype=np.bool_)
    total = found.database_time(everything)

    def estimate(ns: Floats) -> Estimate:
        return found.draws.estimate(ns)

    texts, statements = query_texts(record), _statements(record)
    not_active = _not_active_sessions(found)
    return ServerProfile(
        format=FORMAT,
        target=str(target.get("name") or "the server"),
        server_version=str(server.get("version") or watch["version"]),
        cpus=server.get("cpus"),
        started_at=words.moment(watch["started_at_ns"]),
        route=watch["route"],
        note=watch["note"],
        ended=watch["ended"],
        seconds=watch["elapsed_ns"] / 1e9,
        period_ns=watch["period_ns"],
        sweeps=watch["sweeps"],
        sessions=len({found.rows.processes[place].leader for place in found.process if _is_session(found, place)}),
        sampler=_sampler(record),
        bootstrap=found.draws.described,
        database_time_ns=estimate(total),
        active_sessions_mean=estimate(total / elapsed_ns),
        idle_in_transaction_ns=_idle_in_transaction(record, found),
        idle_cpu_ns=estimate(found.cpu_ns[:, not_active].sum(axis=1)) if found.has_clocks else None,
        idle_run_queue_ns=estimate(found.run_queue_ns[:, not_active].sum(axis=1)) if found.has_clocks else None,
        profile_ns=found.time_parts(everything),
        parts=breakdown.parts(found, everything, elapsed_ns),
        waits=breakdown.waits(found),
        active_sessions=active_sessions(found.rows, division, server.get("cpus")),
        by_query=breakdown.by_query(found, texts, statements, elapsed_ns),
        by_user=breakdown.by_owner(found, lambda process: process.user, elapsed_ns),
        by_application=breakdown.by_owner(found, lambda process: process.application, elapsed_ns),
        by_database=breakdown.by_owner(found, lambda process: process.database, elapsed_ns),
        by_backend_type=breakdown.by_owner(found, lambda process: process.backend_type, elapsed_ns),
        by_session=breakdown.by_session(found, {} if found.rows.states_known else _polled_open(record)),
        commits=None,
        heat_maps=[],
        blockers=[],
        io=[],
        background=[],
        findings=[],
        warnings=[],
    )


def _is_session(found: Leaves, place: int) -> bool:
    return found.rows.processes[place].is_session


def _idle_in_transaction(record: Document, found: Leaves) -> Estimate:
    """From the snapshots; where these do not hold states, from the looks over SQL, without an interval."""
    sessions = record.get("sessions") or {}
    if found.rows.states_known or not sessions.get("polls"):
        return found.draws.estimate(found.seen_ns[:, found.state == IDLE_IN_TRANSACTION].sum(axis=1))
    return Estimate(sum(_polled_open(record).values()), None, None)


def _polled_open(record: Document) -> dict[int, float]:
    """The time that each pid was idle in transaction, from the looks over SQL: each stands for the time to the next."""
    sessions = record.get("sessions") or {}
    looks = Counter(
        pid for _, pid, state, *_ in sessions.get("seen", ()) if str(state).startswith("idle in transaction")
    )
    return {pid: count * record["watch"]["elapsed_ns"] / sessions["polls"] for pid, count in looks.items()}


def _not_active_sessions(found: Leaves) -> Flags:
    chosen: Flags = (found.state != ACTIVE) & (found.state != BACKGROUND)
    return chosen


def _sampler(record: Document) -> Sampler:
    sampler = record["watch"]["sampler"]
    control = (record.get("sessions") or {}).get("cpu_ns_server")
    asked = sampler.get("server_cpu_ns")
    known = [ns for ns in (control, asked) if ns is not None]
    return Sampler(
        cpu_ns=sampler["cpu_ns"],
        cpu_ns_per_sweep=sampler["cpu_ns_per_sweep"],
        host_share=sampler["host_share"],
        budget=sampler["budget"],
        control_cpu_ns=sum(known) if known else None,
    )


def _statements(record: Document) -> dict[str, Document]:
    """Calls and time of each query id, from pg_stat_statements, over all users and databases."""
    rows = differences(record.get("counters") or {}, "pg_stat_statements", ("userid", "dbid", "queryid", "toplevel"))
    found: dict[str, dict[str, float]] = {}
    for row in rows:
        entry = found.setdefault(str(row["queryid"]), {"calls": 0, "total_ns": 0.0})
        entry["calls"] += row.get("calls") or 0
        entry["total_ns"] += ((row.get("total_exec_time") or 0.0) + (row.get("total_plan_time") or 0.0)) * 1e6
    return dict(found)


def _page_bytes(server: Document) -> int:
    size = (server.get("settings") or {}).get("block_size")
    return int(size) if size is not None and str(size).isdigit() else PAGE_BYTES
