"""Findings on where database time goes: events, CPU, the run queue, one query, no load at all."""

from __future__ import annotations

from collections.abc import Iterator

from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.server_profile import words
from dbdyno.analysis.server_profile.findings import Evidence, Finding, Part, QueryTime, ServerProfile, Wait
from dbdyno.analysis.server_profile.meanings import BLOCKERS, Meaning, explain
from dbdyno.analysis.server_profile.words import SECOND_NS

# Below a tenth of a session there is nothing to gain for the users of this server.
IDLE_SESSIONS = 0.1
# An event is told from a tenth of the database time on; it dominates from three tenths on. Three are enough to read.
EVENT_SHARE = 0.1
DOMINANT_SHARE = 0.3
MOST_EVENTS = 3
CPU_SHARE = 0.5
# Half a session in line, and a fifth of all time that sessions could have computed: more than the wake-ups of any load.
QUEUE_SESSIONS = 0.5
QUEUE_SHARE = 0.2
# A server whose sessions are in line although they use less of the CPUs than this is not short by itself.
OWN_CPUS = 0.6
QUERY_SHARE = 0.3
CLIENT_SHARE = 0.1


def idle(profile: ServerProfile) -> Iterator[Finding]:
    """Nothing at stake."""
    if profile.active_sessions_mean.estimate >= IDLE_SESSIONS:
        return
    mean = words.number(profile.active_sessions_mean.estimate)
    yield Finding(
        code="idle",
        seconds_at_stake=profile.database_time_ns.estimate / SECOND_NS,
        sentence=f"This server was idle: {mean} average active sessions over {words.number(profile.seconds)} s, "
        "so there is little to gain in it.",
        evidence=[Evidence("average active sessions", profile.active_sessions_mean, "sessions")],
        next="profile while users wait; where they wait although the server is idle, look at client and network",
    )


def events(profile: ServerProfile) -> Iterator[Finding]:
    """The events that sessions spend their time in."""
    if profile.active_sessions_mean.estimate < IDLE_SESSIONS:
        return
    for wait in [wait for wait in profile.waits if wait.share.estimate >= EVENT_SHARE][:MOST_EVENTS]:
        meaning = explain(wait.event)
        does = "" if meaning is None else f": sessions {meaning.what}"
        dominates = wait.share.estimate >= DOMINANT_SHARE
        yield Finding(
            code="dominant_event" if dominates else "event",
            seconds_at_stake=wait.ns.estimate / SECOND_NS,
            sentence=f"{words.share(wait.share)} of the database time is {wait.event}{does}{_like(wait, profile)}.",
            evidence=[
                Evidence(f"share of the database time in {wait.event}", wait.share, "share"),
                Evidence(f"time in {wait.event}", wait.ns, "ns"),
            ],
            next=_try(meaning, profile),
        )


def _try(meaning: Meaning | None, profile: ServerProfile) -> str:
    """The next step; one who is looked for is among the blockers only where sessions were asked."""
    if meaning is None:
        return "look the event up in the manual, under Monitoring"
    return f"see the blockers below; {meaning.next}" if meaning.next == BLOCKERS and profile.blockers else meaning.next


def _like(wait: Wait, profile: ServerProfile) -> str:
    """Which others it could as well be, as far as this profile tells."""
    others = [other.event for other in profile.waits if other.rank_group == wait.rank_group and other != wait]
    near = [event for event in others if _share_of(event, profile) >= wait.share.estimate / 2][:2]
    return f" (not told apart from {words.listed(near)})" if near else ""


def _share_of(event: str, profile: ServerProfile) -> float:
    return next(wait.share.estimate for wait in profile.waits if wait.event == event)


def run_queue(profile: ServerProfile) -> Iterator[Finding]:
    """Sessions in line for a CPU, those with a command that they have not begun among them."""
    cpu, queue = part(profile, "cpu"), part(profile, "run_queue")
    unbegun = profile.idle_run_queue_ns
    if unbegun is None:
        return
    length_ns = profile.seconds * SECOND_NS or 1.0
    waiting_ns = unbegun.estimate + (queue.ns.estimate if queue else 0.0)
    computing = cpu.active_sessions.estimate if cpu else 0.0
    waiting = waiting_ns / length_ns
    if waiting < QUEUE_SESSIONS or waiting < QUEUE_SHARE * (waiting + computing):
        return
    here = "" if profile.cpus is None else f" on {profile.cpus} CPU{'s' if profile.cpus != 1 else ''}"
    elsewhere = ""
    if profile.cpus is not None and computing < OWN_CPUS * profile.cpus:
        elsewhere = ": other programs, or a limit, had the rest of them"
    of_them = ""
    if unbegun.estimate >= QUEUE_SHARE * waiting_ns:
        of_them = f", {words.number(unbegun.estimate / length_ns)} of them with a command that PostgreSQL had not begun"
    top = _most_cpu(profile)
    yield Finding(
        code="cpu_saturation",
        seconds_at_stake=waiting_ns / SECOND_NS,
        sentence=f"The CPUs are short: on average {words.number(waiting)} sessions stood in line for one{of_them}, "
        f"while {words.number(computing)} computed{here}{elsewhere}.",
        evidence=[
            *([Evidence("active sessions in line for a CPU", queue.active_sessions, "sessions")] if queue else []),
            Evidence("time in line with a command not begun", unbegun, "ns"),
            *([Evidence("sessions on a CPU", cpu.active_sessions, "sessions")] if cpu else []),
        ],
        next="see with top what else runs on this host, and whether a container's limit (cpu.max) holds the server back"
        if elsewhere
        else "keep fewer sessions active at once (a pool of about twice the CPUs), "
        + (f"make {top} cheaper, " if top else "")
        + "or add CPUs",
    )


def cpu(profile: ServerProfile) -> Iterator[Finding]:
    """Computing is most of it."""
    found = part(profile, "cpu")
    if found is None or found.share.estimate < CPU_SHARE or profile.active_sessions_mean.estimate < IDLE_SESSIONS:
        return
    top = _most_cpu(profile)
    yield Finding(
        code="cpu_bound",
        seconds_at_stake=found.ns.estimate / SECOND_NS,
        sentence=f"{words.share(found.share)} of the database time is computing: faster storage would change little.",
        evidence=[
            Evidence("share of the database time on a CPU", found.share, "share"),
            Evidence("sessions on a CPU", found.active_sessions, "sessions"),
        ],
        next=f"EXPLAIN (ANALYZE, BUFFERS) of {top or 'the first query below'}; "
        "dbdyno profile TARGET --stacks names the functions",
    )


def one_stack(profile: ServerProfile) -> Iterator[Finding]:
    """Sessions that compute in one and the same place."""
    computing = part(profile, "cpu")
    common = next((stack for stack in profile.stacks.common if stack.kind == "cpu"), None) if profile.stacks else None
    if common is None or computing is None:
        return
    last = common.functions[-1]
    yield Finding(
        code="one_stack",
        seconds_at_stake=common.share.estimate * computing.ns.estimate / SECOND_NS,
        sentence=f"The same stack in {words.share(common.share)} of {common.of:,} looks at sessions that computed: "
        f"{' > '.join(common.functions[-3:])}.",
        evidence=[Evidence("share of the looks at sessions on a CPU with this stack", common.share, "share")],
        next=f"see in the flame graph what {last} means and what it calls",
    )


def unnamed_sleep(profile: ServerProfile) -> Iterator[Finding]:
    """Sessions that sleep where PostgreSQL sets no wait event."""
    found = part(profile, "asleep_no_wait_event")
    if found is None or found.share.estimate < EVENT_SHARE or profile.active_sessions_mean.estimate < IDLE_SESSIONS:
        return
    yield Finding(
        code="unnamed_sleep",
        seconds_at_stake=found.ns.estimate / SECOND_NS,
        sentence=f"{words.share(found.share)} of the database time is sleep without a wait event: commit_delay, "
        "page faults that read from disk or swap, or an extension.",
        evidence=[Evidence("share of the database time asleep without a wait event", found.share, "share")],
        next="SHOW commit_delay; see with vmstat 1 whether the host swaps; "
        "dbdyno profile TARGET --stacks shows where they sleep",
    )


def no_clock(profile: ServerProfile) -> Iterator[Finding]:
    """Sessions that wait for nothing, as far as SQL tells."""
    found = part(profile, "no_clock")
    if found is None or found.share.estimate < DOMINANT_SHARE or profile.active_sessions_mean.estimate < IDLE_SESSIONS:
        return
    yield Finding(
        code="no_wait_event",
        seconds_at_stake=found.ns.estimate / SECOND_NS,
        sentence=f"In {words.share(found.share)} of the database time sessions had no wait event: they computed, stood "
        "in line for a CPU, or slept unnamed; from here these are not told apart.",
        evidence=[Evidence("share of the database time without a wait event", found.share, "share")],
        next="run dbdyno on the server's host; EXPLAIN (ANALYZE, BUFFERS) of the first query below",
    )


def client(profile: ServerProfile) -> Iterator[Finding]:
    """Sessions that are held up by their own clients in the midst of a statement."""
    found = part(profile, "client_and_network")
    if found is None or found.share.estimate < CLIENT_SHARE or profile.active_sessions_mean.estimate < IDLE_SESSIONS:
        return
    yield Finding(
        code="client",
        seconds_at_stake=found.ns.estimate / SECOND_NS,
        sentence=f"{words.share(found.share)} of the database time is waiting for clients in the midst of a statement: "
        "they take results, or send data, more slowly than the server could.",
        evidence=[Evidence("share of the database time that waits for clients", found.share, "share")],
        next="fetch fewer rows and columns (LIMIT), or bring the client nearer; see By application",
    )


def query(profile: ServerProfile) -> Iterator[Finding]:
    """One query takes most, and surely more than any other."""
    if not profile.by_query or profile.active_sessions_mean.estimate < IDLE_SESSIONS:
        return
    top = profile.by_query[0]
    alone = sum(1 for other in profile.by_query if other.rank_group == top.rank_group) == 1
    if top.query_id is None or not alone or top.share.estimate < QUERY_SHARE:
        return
    mostly = f", mostly {part_name(top.parts[0].part)}" if top.parts else ""
    text = f": {words.clipped(top.text)}" if top.text else ""
    yield Finding(
        code="one_query",
        seconds_at_stake=top.ns.estimate / SECOND_NS,
        sentence=f"One query takes {words.share(top.share)} of the database time{mostly}{text}.",
        evidence=[Evidence(f"share of the database time of query {top.query_id}", top.share, "share"), *_calls(top)],
        next=_next_for_query(top),
    )


COMMITS = ("COMMIT", "END")
EXPLAINED = ("SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "MERGE", "VALUES", "TABLE", "EXECUTE", "DECLARE")


def _next_for_query(top: QueryTime) -> str:
    """EXPLAIN takes no utility statement, COMMIT among them."""
    first = (top.text or EXPLAINED[0]).lstrip("( \n\t").partition(" ")[0].rstrip(";").upper()
    if first in COMMITS:
        return "commit more rows per transaction: each COMMIT makes its WAL durable, and gives back its locks only then"
    if first in EXPLAINED or first.startswith(("/*", "--")):
        return f"EXPLAIN (ANALYZE, BUFFERS) of query {top.query_id}"
    return f"see its parts in By query ({top.query_id}); EXPLAIN takes no {first}"


def _calls(top: QueryTime) -> list[Evidence]:
    if top.calls is None or top.ns_per_call is None:
        return []
    return [
        Evidence("calls", Estimate(top.calls, None, None), "count"),
        Evidence("time of a call", Estimate(top.ns_per_call, None, None), "ns"),
    ]


def part(profile: ServerProfile, name: str) -> Part | None:
    """One part of the whole, with its intervals."""
    return next((found for found in profile.parts if found.part == name), None)


def part_name(name: str) -> str:
    """A part in words; a wait event keeps the engine's own name."""
    return {
        "cpu": "CPU",
        "run_queue": "the run queue",
        "asleep_no_wait_event": "sleep without a wait event",
        "client_and_network": "client and network",
        "no_clock": "time without a wait event",
        "unaccounted": "unaccounted time",
    }.get(name, name)


def _most_cpu(profile: ServerProfile) -> str | None:
    named = [query for query in profile.by_query if query.query_id is not None and query.profile_ns.cpu]
    return f"query {max(named, key=lambda query: query.profile_ns.cpu or 0.0).query_id}" if named else None
