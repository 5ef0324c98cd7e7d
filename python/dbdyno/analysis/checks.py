"""Whether an arm did what its name says: what the experiment file expects, and what fixed work and schemas promise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from dbdyno.analysis.answers import relative_error
from dbdyno.analysis.check import NOT_KNOWN, Seen, check
from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Check
from dbdyno.analysis.limits import PHYSICAL_TOLERANCE
from dbdyno.analysis.profile import parts_by_trial
from dbdyno.analysis.requests import physical_share, physical_write_share
from dbdyno.analysis.setting_checks import setting_checks
from dbdyno.analysis.work import rows_per_unit, units_in_all


def checks(
    arm: Document,
    trials: Sequence[Document],
    baseline_trials: Sequence[Document],
    page_bytes: int,
    truth: Document | None = None,
) -> list[Check]:
    """Every check of an arm, failed or not: what the file expects, what the schema promises, what was asked for.

    Args:
        arm: the arm's entry in the run document.
        trials: its counted trials.
        baseline_trials: those of its baseline in the same blocks; empty where there is none.
        page_bytes: the server's page size.
        truth: the right answer to each question.
    """
    expect = arm.get("expect") or {}
    return [
        *_physical_reads(expect, trials, page_bytes),
        *_plain_io(arm, trials),
        *_parallel_workers(expect, trials),
        *_plan(expect, trials),
        *_dominant_part(expect, trials),
        *setting_checks(expect, trials),
        *_relation_bytes(expect, trials),
        *_answers(expect, trials, truth or {}),
        *_invariants(trials),
        *_same_rows(arm, trials, baseline_trials),
    ]


def _physical_reads(expect: Document, trials: Sequence[Document], page_bytes: int) -> Iterator[Check]:
    if "physical_reads" not in expect:
        return
    wanted = float(expect["physical_reads"])
    seen = [_physical(physical_share([trial], page_bytes), wanted) for trial in trials]
    yield check("physical reads", f"physical reads of {wanted * 100:.0f} %", seen)


def _physical(share: float | None, wanted: float) -> Seen:
    if share is None:
        return NOT_KNOWN
    holds = share >= 1 - PHYSICAL_TOLERANCE if wanted else share <= PHYSICAL_TOLERANCE
    return None if holds else _percent(share)


def _plain_io(arm: Document, trials: Sequence[Document]) -> Iterator[Check]:
    """How the file was opened promises what is seen: not every file system keeps to it."""
    work = arm.get("file") or {}
    if work.get("open") == "direct":
        yield check("page cache", "nothing of the file in the page cache", [_in_page_cache(trial) for trial in trials])
    if work.get("open") in ("direct", "synchronous") and work["access"] == "write":
        seen = [_physical(physical_write_share([trial]), 1.0) for trial in trials]
        yield check("physical writes", "physical writes of 100 %", seen)


def _in_page_cache(trial: Document) -> Seen:
    resident, whole = trial["file"]["resident_bytes_after"], trial["file"]["file_bytes"]
    return None if resident <= PHYSICAL_TOLERANCE * whole else f"{resident:,} bytes"


def _parallel_workers(expect: Document, trials: Sequence[Document]) -> Iterator[Check]:
    """So many were launched for each unit of the whole trial, by the server's own count."""
    if "parallel_workers" not in expect:
        return
    wanted = int(expect["parallel_workers"])

    def seen(trial: Document) -> Seen:
        launched, units = trial["server"].get("parallel_workers_launched"), units_in_all([trial])
        if launched is None or units is None:
            return NOT_KNOWN
        return None if launched == wanted * units else f"{launched / units:g}"

    yield check("parallel workers", f"{wanted} parallel workers a unit", [seen(trial) for trial in trials])


def _percent(share: float) -> str:
    """Whole per cents, but two decimals near the ends, where 98.7 % must not read as 99 %."""
    return f"{round(share * 100, 0 if 0.03 < share < 0.97 else 2):g} %"


def _plan(expect: Document, trials: Sequence[Document]) -> Iterator[Check]:
    def seen(trial: Document, holds: Callable[[set[str]], bool]) -> Seen:
        plans = trial.get("plans")
        if not plans:
            return NOT_KNOWN
        if holds({node for plan in plans for node in plan["nodes"]}):
            return None
        return "; ".join(plan["shape"] for plan in plans)

    if wanted := _listed(expect.get("plan")):
        seen_in = [seen(trial, lambda nodes: nodes.issuperset(wanted)) for trial in trials]
        yield check("plan", f"a plan with {' and '.join(wanted)}", seen_in)
    if unwanted := _listed(expect.get("no_plan")):
        seen_in = [seen(trial, lambda nodes: nodes.isdisjoint(unwanted)) for trial in trials]
        yield check("no plan", f"no plan with {' or '.join(unwanted)}", seen_in)


def _dominant_part(expect: Document, trials: Sequence[Document]) -> Iterator[Check]:
    """A part is the greatest if it is greater than all others; without the server's clocks, more than half of all."""
    wanted = _listed(expect.get("profile"))
    if not wanted:
        return
    names = {name.lower().replace(" ", "_") for name in wanted}

    def seen(trial: Document) -> Seen:
        profile = parts_by_trial([trial]).profile()
        part, ns = max(profile.parts().items(), key=lambda part: part[1])
        if profile.cpu is None and ns <= profile.total / 2:
            return NOT_KNOWN
        return None if part.lower() in names else part

    expected = f"{' or '.join(wanted)} as the greatest part of the time"
    yield check("profile", expected, [seen(trial) for trial in trials])


def _relation_bytes(expect: Document, trials: Sequence[Document]) -> Iterator[Check]:
    for name, bounds in (expect.get("relation_bytes") or {}).items():
        least, most = bounds.get("at_least"), bounds.get("at_most")

        def seen(trial: Document, name: str = name, least: int = least or 0, most: int | None = most) -> Seen:
            size = (trial.get("relation_bytes") or {}).get(name)
            if size is None:
                return NOT_KNOWN
            return None if least <= size and (most is None or size <= most) else f"{size:,} bytes"

        limits = [
            f"{words} {bound:,} bytes" for words, bound in (("at least", least), ("at most", most)) if bound is not None
        ]
        yield check(f"size of {name}", f"{name} of {' and '.join(limits)}", [seen(trial) for trial in trials])


def _answers(expect: Document, trials: Sequence[Document], truth: Document) -> Iterator[Check]:
    """No answer is farther from the truth than the arm allows itself."""
    if "error" not in expect:
        return
    most = float(expect["error"])

    def seen(trial: Document) -> Seen:
        given = trial.get("answers") or {}
        if not given:
            return NOT_KNOWN
        worst = max(given, key=lambda name: abs(relative_error(given[name], truth[name])))
        error = relative_error(given[worst], truth[worst])
        return None if abs(error) <= most else f"{given[worst]:,.10g} instead of {truth[worst]:,.10g} ({worst})"

    yield check("answer", f"answers within {most * 100:g} % of the truth", [seen(trial) for trial in trials])


def _invariants(trials: Sequence[Document]) -> Iterator[Check]:
    names = dict.fromkeys(name for trial in trials for name in trial.get("invariants") or {})
    for name in names:
        found = [(trial.get("invariants") or {}).get(name) for trial in trials]
        seen = [NOT_KNOWN if one is None else None if one == 0 else f"{one:,} violations" for one in found]
        yield check(f"invariant {name}", f"no violation of {name}", seen)


def _same_rows(arm: Document, trials: Sequence[Document], baseline_trials: Sequence[Document]) -> Iterator[Check]:
    """Fixed work is the same work only if a unit returns and affects as many rows as one of the baseline.

    Where a level says which bytes are the work, arms may move them in other ways than by rows.
    """
    if arm.get("fixed_units") is None or arm.get("file"):
        return
    theirs = {(trial["block"], trial["attempt"]): rows_per_unit(trial) for trial in baseline_trials}
    pairs = [
        (rows_per_unit(trial), theirs[key]) for trial in trials if (key := (trial["block"], trial["attempt"])) in theirs
    ]
    if pairs:
        seen = [None if own == other else f"{_rows(*own)} instead of {_rows(*other)}" for own, other in pairs]
        yield check("rows", f"the rows of {arm['baseline']}", seen)


def _rows(returned: Fraction, affected: Fraction) -> str:
    return f"{float(returned):,.10g} returned and {float(affected):,.10g} affected a unit"


def _listed(value: str | Sequence[str] | None) -> list[str]:
    if value is None:
        return []
    return [value] if isinstance(value, str) else list(value)
