"""What a profile shows, in sentences with the time at stake: only what is worth five per cent of the duration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dbdyno.analysis.trace.findings import (
    NETWORK,
    THINK_TIME,
    Finding,
    ProfileLine,
    StatementFindings,
    Transactions,
)

LEAST_SHARE = 0.05
# A statement that was run or fetched from less often shows no habit.
LEAST_CALLS = 100
# A fetch of an array brings some; the default of JDBC is 10, of SQL*Plus 15.
FEW_ROWS_A_FETCH = 2.0
FEW_ROWS_A_COMMIT = 10.0
LOG_FILE_SYNC = "log file sync"


def findings(
    duration_ns: int,
    profile: Sequence[ProfileLine],
    statements: Sequence[StatementFindings],
    transactions: Transactions,
) -> list[Finding]:
    """The largest first."""
    if duration_ns <= 0:
        return []
    found = [
        *_commits(duration_ns, profile, statements, transactions),
        *_fetches(duration_ns, statements),
        *_parses(duration_ns, statements),
    ]
    worth = [one for one in found if one.share >= LEAST_SHARE]
    return sorted(worth, key=lambda one: (-one.at_stake_ns, one.line))


def _commits(
    duration_ns: int,
    profile: Sequence[ProfileLine],
    statements: Sequence[StatementFindings],
    transactions: Transactions,
) -> Iterator[Finding]:
    wait = next((line for line in profile if line.name == LOG_FILE_SYNC), None)
    writing = transactions.commits - transactions.read_only
    if wait is None or wait.first_line is None or writing < LEAST_CALLS:
        return
    # Rows of statements that return none were written.
    written = sum(one.rows for one in statements if not any(calls.kind == "fetch" for calls in one.calls))
    rows = written / writing
    if rows > FEW_ROWS_A_COMMIT:
        return
    words = (
        f"{writing:,} commits, {_rows(rows)} each: {_percent(wait.ns / duration_ns)} of the time is {LOG_FILE_SYNC}; "
        "commit once for many rows"
    )
    yield Finding("commit_per_row", wait.ns, wait.ns / duration_ns, words, wait.first_line)


def _fetches(duration_ns: int, statements: Sequence[StatementFindings]) -> Iterator[Finding]:
    """A round trip each; what a recursive statement fetches needs none."""
    for one in statements:
        fetches = next((calls for calls in one.calls if calls.kind == "fetch"), None)
        if fetches is None or fetches.count < LEAST_CALLS or one.depth != 0:
            continue
        rows = fetches.rows / fetches.count
        of_client = [line for line in one.profile if line.of in (THINK_TIME, NETWORK)]
        if rows > FEW_ROWS_A_FETCH or fetches.count < 2 * max(one.executions, 1):
            continue
        at_stake_ns = fetches.own_elapsed_ns + sum(line.ns for line in of_client)
        words = (
            f"{_name(one)}: {fetches.count:,} fetches, {_rows(rows)} each: {_percent(at_stake_ns / duration_ns)} of "
            "the time is these fetches and the ways between them; fetch arrays"
        )
        yield Finding("row_by_row", at_stake_ns, at_stake_ns / duration_ns, words, fetches.first_line)


def _parses(duration_ns: int, statements: Sequence[StatementFindings]) -> Iterator[Finding]:
    for one in statements:
        parses = next((calls for calls in one.calls if calls.kind == "parse"), None)
        if parses is None or parses.misses < LEAST_CALLS:
            continue
        share = parses.elapsed_ns / duration_ns
        variants = "literals in its text" if one.kind == "variants" else "it does not stay in the library cache"
        words = (
            f"{_name(one)}: {parses.misses:,} of {parses.count:,} parses were hard ({variants}): {_percent(share)} of "
            "the time; bind variables"
        )
        yield Finding("hard_parses", parses.elapsed_ns, share, words, parses.first_line)


def _name(one: StatementFindings) -> str:
    return f"statement {one.sql_id or one.statement}"


def _rows(rows: float) -> str:
    return "1 row" if round(rows, 1) == 1 else f"{rows:.1f} rows".replace(".0 ", " ")


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("%", " %")


def unaccounted_words(
    within_ns: int, between_ns: int, duration_ns: int, *, coarse: bool | None, overlap: bool = False
) -> str:
    """What the remainder most likely is.

    Args:
        coarse: whether c goes in steps of a millisecond or more; None: not known.
        overlap: whether sessions of the scope ran at the same time.
    """
    rest_ns = within_ns + between_ns
    if overlap:
        return "what is left of the time by the clock when the times of all sessions are taken from it"
    if duration_ns <= 0 or abs(rest_ns) < 0.01 * duration_ns:
        return "less than 1 % of the duration: nothing is hidden"
    if rest_ns < 0:
        clock = "c goes in steps of a millisecond or more in this release" if coarse else "CPU is counted within waits"
        return f"negative: more was told than time went by, because {clock}"
    if within_ns >= between_ns:
        clock = ", and of steps of c that were not reached" if coarse else ""
        return f"within calls: most likely time on the run queue, and code that tells no waits{clock}"
    return "between calls: most likely code outside calls, or lines that this trace does not have"
