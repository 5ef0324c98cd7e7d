"""Findings in words: each said where it holds, and not said where it does not."""

from __future__ import annotations

import re
from typing import Any

import pytest
import server_record as make
from server_record import MS, SECOND

from dbdyno.analysis.server_profile import analyse
from dbdyno.analysis.server_profile.findings import Finding, ServerProfile
from dbdyno.analysis.server_profile.meanings import MEANINGS, explain
from dbdyno.analysis.server_profile.rules_server import RELIEF

ACTIVE, IDLE, OPEN = "active", "idle", "idle in transaction"
READ = "Client:ClientRead"


def profile_of(
    sessions: list[list[tuple[str | None, str | None, str, int, int]]],
    *,
    clocks: list[tuple[int, int]] | None = None,
    background: dict[str, list[tuple[str, int, int]]] | None = None,
    counters: dict[str, Any] | None = None,
    blocking: list[list[Any]] | None = None,
    seen: list[list[Any]] | None = None,
    texts: dict[str, str] | None = None,
    stacks: dict[str, Any] | None = None,
    steps: int = 20,
    **watch: Any,
) -> ServerProfile:
    """Sessions that do the same in every step: (query, state, event, snapshots of 1000, of 100 looks asleep)."""
    background = background or {}
    lives = [*sessions, *([(None, None, *one) for one in cells] for cells in background.values())]
    events = list(dict.fromkeys(["", *(cell[2] for life in lives for cell in life)]))
    cells = [
        [place, query, state, events.index(event), seen, 100, asleep]
        for place, life in enumerate(lives)
        for query, state, event, seen, asleep in life
    ]
    kinds = ["client backend"] * len(sessions) + list(background)
    elapsed = steps * SECOND
    processes = [make.process(100 + at, elapsed, backend_type=kind) for at, kind in enumerate(kinds)]
    clock = [[at, *of] for at, of in enumerate(clocks or [])]
    record = make.record(
        [make.step(at, cells, clock) for at in range(steps)], processes, events, counters=counters, **watch
    )
    record["stacks"] = stacks
    record["sessions"]["blocking"] = blocking or []
    record["sessions"]["seen"] = seen or []
    record["sessions"]["queries"] = [{"query_id": name, "text": text} for name, text in (texts or {}).items()]
    return analyse(record)


def found(profile: ServerProfile, code: str) -> Finding:
    """The first finding of a kind."""
    return next(finding for finding in profile.findings if finding.code == code)


def codes(profile: ServerProfile) -> list[str]:
    """What was said, the greatest stake first."""
    return [finding.code for finding in profile.findings]


BUSY = [("1", ACTIVE, "IO:WalSync", 600, 100), ("1", ACTIVE, "", 400, 0)]
COMPUTING = (400 * MS, 0)


def test_an_event_that_dominates_says_what_it_means_and_what_to_try() -> None:
    """60 % of the time in the WAL flush."""
    profile = profile_of([BUSY] * 2, clocks=[COMPUTING] * 2)
    finding = found(profile, "dominant_event")

    assert finding.seconds_at_stake == pytest.approx(24, rel=0.01)
    assert re.match(
        r"60 % \(\d+ to \d+ %\) of the database time is IO:WalSync: sessions wait for the flush", finding.sentence
    )
    assert "synchronous_commit" in finding.next
    assert [evidence.unit for evidence in finding.evidence] == ["share", "ns"]


def test_an_idle_server_has_nothing_at_stake() -> None:
    """Two hundredths of a session: said, and nothing else is."""
    profile = profile_of([[("1", ACTIVE, "IO:WalSync", 20, 100), (None, IDLE, READ, 980, 100)]], clocks=[(0, 0)])

    assert codes(profile) == ["idle"]
    assert profile.findings[0].sentence.startswith("This server was idle: 0.020 average active sessions over 20.0 s")


def test_sessions_in_line_for_a_cpu() -> None:
    """Six sessions, two CPUs: said with the query to make cheaper; not said where they compute without a line."""
    runnable = [("77", ACTIVE, "", 1000, 0)]
    short = profile_of([runnable] * 6, clocks=[(333 * MS, 667 * MS)] * 6)
    enough = profile_of([runnable] * 2, clocks=[(990 * MS, 10 * MS)] * 2)

    finding = found(short, "cpu_saturation")
    assert finding.seconds_at_stake == pytest.approx(80, rel=0.01)
    assert "stood in line for one, while 2.00 computed on 2 CPUs" in finding.sentence
    assert "make query 77 cheaper" in finding.next
    assert "cpu_saturation" not in codes(enough)
    crowded = found(profile_of([runnable] * 2, clocks=[(300 * MS, 700 * MS)] * 2), "cpu_saturation")
    assert "while 0.60 computed on 2 CPUs: other programs, or a limit, had the rest of them." in crowded.sentence
    assert crowded.next.startswith("see with top")
    assert "cpu_bound" in codes(enough)


def test_one_query_takes_most() -> None:
    """Said only where it is told apart from all others."""
    report = [("42", ACTIVE, "IO:DataFileRead", 900, 100), (None, IDLE, READ, 100, 100)]
    other = [("43", ACTIVE, "IO:DataFileRead", 100, 100), (None, IDLE, READ, 900, 100)]
    alone = profile_of([report, other], clocks=[(0, 0)] * 2, texts={"42": "SELECT sum(x)\n  FROM orders"})
    equal = profile_of([report, [("43", *cell[1:]) for cell in report]], clocks=[(0, 0)] * 2)

    finding = found(alone, "one_query")
    assert finding.sentence.endswith("mostly IO:DataFileRead: SELECT sum(x) FROM orders.")
    assert finding.next == "EXPLAIN (ANALYZE, BUFFERS) of query 42"
    assert "one_query" not in codes(equal)


@pytest.mark.parametrize(
    ("text", "following"),
    [
        ("END;", "commit more rows per transaction"),
        ("commit", "commit more rows per transaction"),
        ("VACUUM orders", "see its parts in By query (42); EXPLAIN takes no VACUUM"),
        ("(SELECT 1)", "EXPLAIN (ANALYZE, BUFFERS) of query 42"),
        ("/* report */ SELECT 1", "EXPLAIN (ANALYZE, BUFFERS) of query 42"),
    ],
)
def test_explain_is_advised_for_what_it_takes(text: str, following: str) -> None:
    """A COMMIT has no plan, and a text is told without the semicolon behind it."""
    cells = [("42", ACTIVE, "IO:WalSync", 900, 100), (None, IDLE, READ, 100, 100)]
    finding = found(profile_of([cells], clocks=[(0, 0)], texts={"42": text}), "one_query")

    assert finding.next.startswith(following)
    assert finding.sentence.endswith(f": {text.rstrip(';')}.")


def test_a_blocker_that_is_idle_in_transaction() -> None:
    """The greatest stake, by name, with what ends it; one that is active is another finding."""
    looks = [at * SECOND // 2 for at in range(20)]
    waiting = [("1", ACTIVE, "Lock:transactionid", 1000, 100)]
    sessions = [waiting, waiting, [(None, OPEN, READ, 1000, 100)]]

    def held_up_by(state: str, wait: str | None) -> ServerProfile:
        return profile_of(
            sessions,
            clocks=[(0, 0)] * 3,
            blocking=[[at, pid, [102], "row (0,1) of public.t"] for at in looks for pid in (100, 101)],
            seen=[[at, 102, state, wait, None] for at in looks],
        )

    finding = found(held_up_by(OPEN, READ), "blocker_idle_in_transaction")
    assert finding.seconds_at_stake == pytest.approx(20)  # 20 of 40 looks, half a second each, two sessions
    assert finding.sentence == (
        "Session 102 (app, web) held up 2 sessions for 20.0 s in all on row (0,1) of public.t, "
        "while it was idle in transaction."
    )
    assert finding.next.startswith("SELECT pg_terminate_backend(102)")
    active = found(held_up_by(ACTIVE, "IO:DataFileRead"), "blocker")
    assert "while it was active, in IO:DataFileRead" in active.sentence
    assert "an advisory one" in found(held_up_by(IDLE, READ), "blocker").next


def test_blockers_that_take_turns() -> None:
    """Eight sessions change one row: no single one is named, nor is one to be ended; what they change is."""
    waiting = [("1", ACTIVE, "Lock:transactionid", 1000, 100)]
    lock = "row (3,40) of public.branches, until transaction 9 ends"
    profile = profile_of(
        [waiting] * 4,
        clocks=[(0, 0)] * 4,
        blocking=[[at * SECOND // 2, 100 + at % 4, [100 + (at + 1) % 4], lock] for at in range(0, 40)],
    )

    finding = found(profile, "lock_contention")
    assert finding.seconds_at_stake == pytest.approx(20)
    assert "4 sessions in turn held up others for about 20.0 s in all, mostly on public.branches" in finding.sentence
    assert not {"blocker", "blocker_idle_in_transaction"} & set(codes(profile))


def test_a_command_that_waits_for_a_cpu_before_it_is_begun() -> None:
    """The server calls the session idle, the clocks say run queue: in no database time, in the finding all the same."""
    unbegun = [(None, IDLE, READ, 900, 10), ("1", ACTIVE, "", 100, 0)]
    profile = profile_of([unbegun] * 2, clocks=[(100 * MS, 800 * MS)] * 2)

    assert profile.idle_run_queue_ns is not None
    assert profile.idle_run_queue_ns.estimate > 25 * SECOND
    assert "of them with a command that PostgreSQL had not begun" in found(profile, "cpu_saturation").sentence


def test_sessions_idle_in_transaction() -> None:
    """Two of them all the time; the pauses of one busy session between its statements are not."""
    opened = [(None, OPEN, READ, 1000, 100)]
    profile = profile_of([BUSY, opened, opened], clocks=[COMPUTING, (0, 0), (0, 0)])
    chatty = profile_of([[*BUSY[:1], (None, OPEN, READ, 400, 100)]], clocks=[(0, 0)])

    finding = found(profile, "idle_in_transaction")
    assert finding.sentence == (
        "2 sessions were idle in transaction all the time (101 and 102, web): they keep locks and old row versions."
    )
    assert "chatty_transactions" not in codes(profile)
    assert not {"idle_in_transaction", "chatty_transactions"} & set(codes(chatty))


def test_transactions_that_wait_for_their_clients() -> None:
    """Four sessions half of the time between two statements: nobody sits, all of them together keep locks."""
    pausing = [("1", ACTIVE, "IO:WalSync", 500, 100), (None, OPEN, READ, 500, 100)]
    profile = profile_of([pausing] * 4, clocks=[(0, 0)] * 4)

    assert "on average 2.00 sessions were between two statements" in found(profile, "chatty_transactions").sentence
    assert "idle_in_transaction" not in codes(profile)


def test_without_states_in_memory_open_transactions_are_those_of_the_looks_over_sql() -> None:
    """Snapshots without states: the control connection saw who sat in a transaction."""
    step = [[0, None, None, 1, 1000, 50, 50]]
    record = make.record([make.step(at, step) for at in range(20)], [make.process(7, 20 * SECOND)], ["", READ])
    record["sessions"]["seen"] = [[at * SECOND // 2, 7, OPEN, READ, None] for at in range(40)]
    profile = analyse(record)

    assert profile.idle_in_transaction_ns.estimate == 20 * SECOND
    assert "idle_in_transaction" in codes(profile)
    assert "states_unknown" in {warning.code for warning in profile.warnings}


def test_a_saturated_background_process() -> None:
    """I/O workers that are never idle, with the time of those who wait for them; half busy is not saturated."""
    reader = [("1", ACTIVE, "IO:AioIoCompletion", 1000, 100)]

    def workers(idle: int) -> ServerProfile:
        work = [("IO:DataFileRead", 1000 - idle, 100), ("Activity:IoWorkerMain", idle, 100)]
        return profile_of([reader], clocks=[(0, 0)] * 2, background={"io worker": [cell for cell in work if cell[1]]})

    finding = found(workers(50), "background_saturated")
    assert finding.seconds_at_stake == pytest.approx(20, rel=0.01)
    assert finding.sentence.startswith("The io worker was busy 95 %")
    assert "mostly in IO:DataFileRead; sessions spent 20.0 s waiting for what it does" in finding.sentence
    assert "io_workers" in finding.next
    assert "background_saturated" not in codes(workers(500))


def test_the_busiest_process_is_no_less_busy_than_the_mean() -> None:
    """A process that computes is often seen in the event that it slept in: the clocks count, not the event."""
    cells = [("Activity:IoWorkerMain", 1000, 80)]
    profile = profile_of([], clocks=[(150 * MS, 50 * MS)], background={"io worker": cells})
    (worker,) = profile.background

    assert worker.busy.estimate == pytest.approx(0.2, rel=0.01)
    assert worker.busiest == pytest.approx(0.2, rel=0.01)


def test_blockers_are_pointed_to_only_where_they_are_told() -> None:
    """By the server's memory alone nobody knows who blocks whom."""
    waiting = [[("1", ACTIVE, "Lock:transactionid", 1000, 100)]]
    blocking = [[at, 100, [4711], "row (0,1) of public.hot"] for at in range(40)]

    alone = found(profile_of(waiting, clocks=[(0, 0)]), "dominant_event")
    told = found(profile_of(waiting, clocks=[(0, 0)], blocking=blocking), "dominant_event")
    assert alone.next == "SELECT pg_blocking_pids(PID) names who holds the lock"
    assert told.next == f"see the blockers below; {alone.next}"


def test_commits_are_those_of_the_watch() -> None:
    """The looks at the counters enclose it: 25 s of commits around 20 s that were watched."""
    rows = {"rows_before": [{"datid": 1, "xact_commit": 0}], "rows_after": [{"datid": 1, "xact_commit": 2500}]}
    view = {**rows, "note": None, "elapsed_ns": 25 * SECOND}
    commits = profile_of([BUSY], clocks=[COMPUTING], counters={"pg_stat_database": view}).commits

    assert commits is not None
    assert (commits.count, commits.per_s) == (2000, pytest.approx(100))
    assert commits.ns_per_commit.estimate == pytest.approx(10 * MS, rel=0.01)


def test_small_requests() -> None:
    """A page at a time while sessions wait for reads; not said of large requests, nor where nobody waits."""

    def reading(request_bytes: int, event: str) -> ServerProfile:
        row = {"backend_type": "client backend", "object": "relation", "context": "normal"}
        after = {**row, "reads": 5000, "read_bytes": 5000 * request_bytes}
        return profile_of(
            [[("1", ACTIVE, event, 1000, 100)]],
            clocks=[(0, 0)],
            counters={"pg_stat_io": {"rows_before": [], "rows_after": [after]}},
        )

    finding = found(reading(8192, "IO:DataFileRead"), "small_requests")
    assert finding.sentence.startswith("Reads are small: 5,000 requests of client backend with 8 KiB each on average")
    assert "small_requests" not in codes(reading(131_072, "IO:DataFileRead"))
    assert "small_requests" not in codes(reading(8192, "IO:WalSync"))


def test_clients_that_hold_up_their_sessions() -> None:
    """The client is waited for in the middle of a statement."""
    profile = profile_of(
        [[("1", ACTIVE, "Client:ClientWrite", 500, 100), (None, IDLE, READ, 500, 100)]], clocks=[(0, 0)]
    )

    assert codes(profile)[0] in ("client", "one_query")
    assert "client" in codes(profile)


def test_the_same_stack_again_and_again() -> None:
    """90 of 100 looks at computing sessions; a background process's, too few, or where all statements are, are not."""
    frames = ["main", "ExecutorRun", "ExecHashJoin", "ExecScan"]

    def recorded(counts: list[tuple[int, list[int], int]]) -> ServerProfile:
        stacks = {
            **{"format": 1, "route": "perf", "note": None, "frequency_hz": 99, "pause_ns": None, "lost": 0},
            **{"frames": frames, "stacks": [[pid, "cpu", None, path, count] for pid, path, count in counts]},
        }
        return profile_of([[("1", ACTIVE, "", 1000, 0)]], clocks=[(999 * MS, 0)], stacks=stacks)

    finding = found(recorded([(100, [0, 1, 2], 90), (100, [0, 3], 10), (4711, [0, 3], 900)]), "one_stack")
    assert finding.sentence == (
        "The same stack in 90 % (83 to 94 %) of 100 looks at sessions that computed: main > ExecutorRun > ExecHashJoin."
    )
    assert finding.seconds_at_stake == pytest.approx(18, rel=0.01)
    assert "one_stack" not in codes(recorded([(100, [0, 1], 9), (100, [0, 3], 1)]))
    assert "one_stack" not in codes(recorded([(100, [0, place], 40) for place in (1, 2, 3)]))
    assert "one_stack" not in codes(recorded([(100, [0, 1, place], 40) for place in (2, 3)]))


def test_sleep_without_a_name() -> None:
    """Exact asleep time without an event."""
    profile = profile_of([[("1", ACTIVE, "", 500, 100), ("1", ACTIVE, "", 500, 0)]], clocks=[(500 * MS, 0)])

    assert "commit_delay" in found(profile, "unnamed_sleep").next


def test_vacuum_that_pauses() -> None:
    """An autovacuum worker that spends its time in VacuumDelay is throttled, not busy."""
    work = [("Timeout:VacuumDelay", 800, 100), ("IO:DataFileRead", 200, 100)]
    profile = profile_of([BUSY], clocks=[COMPUTING, (0, 0)], background={"autovacuum worker": work})

    assert found(profile, "vacuum_throttled").sentence.startswith("Autovacuum paused 80 % of its time")
    assert profile.background[0].busy.estimate == pytest.approx(0.2, rel=0.01)


def test_asynchronous_completion_is_called_what_it_is() -> None:
    """Not the latency of the device."""
    profile = profile_of([[("1", ACTIVE, "IO:AioIoCompletion", 1000, 100)]], clocks=[(0, 0)])

    assert "not the latency of the device" in found(profile, "dominant_event").sentence


def test_sampling_over_sql_says_what_it_cannot_see() -> None:
    """A warning, and time without an event that is not called CPU."""
    profile = profile_of([BUSY], clocks=None, route="sql", period_ns=20 * MS)
    remote = make.record(
        [make.step(at, [[0, "1", ACTIVE, 0, 1000, 0, 0]]) for at in range(20)],
        [make.process(7, 20 * SECOND, clock=None)],
        [""],
        route="sql",
    )

    warning = next(one for one in profile.warnings if one.code == "sampled_by_sql")
    assert "over SQL 50.0 times a second" in warning.message
    assert analyse(remote).findings[0].code == "no_wait_event"
    assert "no_clocks" in {one.code for one in analyse(remote).warnings}


def test_stakes_are_ranked() -> None:
    """The greatest first."""
    profile = profile_of([BUSY] * 3, clocks=[COMPUTING] * 3)
    stakes = [finding.seconds_at_stake for finding in profile.findings]

    assert stakes == sorted(stakes, reverse=True)
    assert all(finding.evidence and finding.next for finding in profile.findings)


def test_events_are_explained_by_name_whatever_their_capitals_and_else_by_class() -> None:
    """WALSync until 16 is WalSync from 17 on; at least sixty have words of their own."""
    assert len(MEANINGS) >= 60
    assert explain("IO:WALSync") == explain("IO:WalSync")
    assert explain("LWLock:SomeExtensionsOwn") == explain("LWLock:Another")
    assert explain("Unheard:Of") is None
    assert all(meaning.what[0].islower() and not meaning.next.endswith(".") for meaning in MEANINGS.values())
    assert {event for events, _ in RELIEF.values() for event in events if explain(event) is None} == set()
