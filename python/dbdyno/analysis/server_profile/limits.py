"""What limits a profile's conclusions, each with what to do about it."""

from __future__ import annotations

from collections.abc import Iterator

from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Warning
from dbdyno.analysis.server_profile import words
from dbdyno.analysis.server_profile.findings import ServerProfile
from dbdyno.analysis.server_profile.leaves import Leaves
from dbdyno.analysis.server_profile.snapshots import ACTIVE

UNACCOUNTED_SHARE = 0.03
UNNAMED_SHARE = 0.5
NOT_POLLED_SHARE = 0.05
OVER_BUDGET = 1.5


def warnings(profile: ServerProfile, leaves: Leaves, record: Document) -> list[Warning]:
    """All that apply."""
    found = [*_of_route(profile, leaves), *_of_length(profile, record), *_of_names(profile, leaves, record)]
    return [Warning(code, message) for code, message in found]


def _of_route(profile: ServerProfile, leaves: Leaves) -> Iterator[tuple[str, str]]:
    if profile.route == "sql":
        rate = "" if not profile.period_ns else f" {words.number(1e9 / profile.period_ns)} times a second"
        yield (
            "sampled_by_sql",
            f"sessions were seen over SQL{rate}: waits shorter than the time between two looks are seen rarely and "
            "their lengths not at all, and a look costs the server CPU; run dbdyno on the server's host for more",
        )
    if not leaves.has_clocks and profile.database_time_ns.estimate > 0:
        yield (
            "no_clocks",
            "no clock of the server's processes could be read, so CPU, run queue and unnamed sleep are one part "
            "(no clock); run dbdyno on the server's host, as root or the server's user",
        )
    if profile.note:
        yield "route", f"{profile.note}; docs/reading-a-profile.md says what each route sees"
    if not leaves.rows.states_known and leaves.rows.is_session.any():
        yield (
            "states_unknown",
            "the state of sessions could not be read from memory: one that waits for its client counts as idle, even "
            "within a transaction, and time idle in transaction is from the looks over SQL, if there were any",
        )
    sampler = profile.sampler
    share, budget = sampler.host_share, sampler.budget
    if share is not None and budget is not None and share > OVER_BUDGET * budget:
        yield (
            "over_budget",
            f"watching took {words.percent(share)} of the host's CPU, more than the "
            f"{words.percent(budget)} allowed: the server had that less; lower --sampling-budget",
        )


def _of_length(profile: ServerProfile, record: Document) -> Iterator[tuple[str, str]]:
    if profile.ended != "time":
        what = {"stopped": "it was stopped", "server_gone": "the server ended"}.get(profile.ended, profile.ended)
        yield "ended_early", f"the profile is {words.number(profile.seconds)} s long, because {what}; profile again"
    if profile.bootstrap.unit == "none":
        yield "short", "the profile is too short for intervals; profile longer: --seconds 30"
    elif profile.bootstrap.unit != "steps":
        yield (
            "short",
            "the profile is short: its intervals come from single processes in single steps and leave out what all "
            "processes have in common; profile longer: --seconds 30",
        )
    if any(step["sweeps"] == 0 for step in record["watch"]["steps"]):
        yield "gaps", "in some steps nothing was seen, so their time is missing; is the host overloaded?"
    total = profile.database_time_ns.estimate
    if abs(profile.profile_ns.unaccounted) > UNACCOUNTED_SHARE * total:
        yield (
            "unaccounted",
            f"{words.percent(profile.profile_ns.unaccounted / total)} of the database time is not accounted for: "
            "too few snapshots for sessions that do little; profile longer",
        )


def _of_names(profile: ServerProfile, leaves: Leaves, record: Document) -> Iterator[tuple[str, str]]:
    total = profile.database_time_ns.estimate
    unnamed = sum(query.ns.estimate for query in profile.by_query if query.query_id is None)
    if total > 0 and unnamed > UNNAMED_SHARE * total:
        yield (
            "no_query_ids",
            f"{words.percent(unnamed / total)} of the database time has no query id; "
            "SET compute_query_id = on (ALTER SYSTEM, then reload) for time by query",
        )
    users = leaves.rows.processes
    unknown = sum(
        float(leaves.seen_ns[0, leaf])
        for leaf in range(len(leaves.state))
        if leaves.state[leaf] == ACTIVE and users[leaves.process[leaf]].user is None
    )
    if total > 0 and unknown > NOT_POLLED_SHARE * total:
        yield (
            "owners_unknown",
            f"of {words.percent(unknown / total)} of the database time the user and application are not known: the "
            "control connection did not see those sessions; where they are short, use a connection pool",
        )
    note = (record.get("sessions") or {}).get("note")
    if note:
        yield "sessions", f"{note}"
