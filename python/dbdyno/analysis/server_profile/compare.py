"""Two profiles: where the time moved, per second and per commit.

The two are drawn from independently, so the interval of a difference holds what either varies by in itself. It does not
hold what differs between the two *moments* beside the change that the user has in mind: another hour, another load,
another cache. Only an experiment (`dbdyno run`) takes that apart, and the comparison says so.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np

from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Warning
from dbdyno.analysis.server_profile import words
from dbdyno.analysis.server_profile.analyse import commits, times
from dbdyno.analysis.server_profile.findings import FORMAT, Commits
from dbdyno.analysis.server_profile.findings.compared import Moved, ProfileComparison, Side
from dbdyno.analysis.server_profile.leaves import Leaves
from dbdyno.analysis.server_profile.query_texts import query_texts
from dbdyno.analysis.server_profile.resample import Draws
from dbdyno.analysis.server_profile.rules_time import part_name
from dbdyno.analysis.server_profile.snapshots import Floats

MOST_QUERIES = 50
# Of what moved along with the whole, so much is named.
NAMED = 3
NAMED_SHARE = 0.05
WHOLE = "database time"

Times = Mapping[str | None, Floats]


@dataclasses.dataclass(frozen=True, slots=True)
class _Profile:
    """One of the two, with all its draws."""

    record: Document
    leaves: Leaves
    elapsed_ns: float
    commits: Commits | None

    @property
    def total(self) -> Floats:
        """The database time of each draw."""
        return self.leaves.database_time(np.ones(len(self.leaves.state), dtype=np.bool_))

    def parts(self) -> Times:
        """The parts of it."""
        return dict[str | None, Floats](self.leaves.parts(np.ones(len(self.leaves.state), dtype=np.bool_)).items())

    def queries(self) -> Times:
        """The database time of each query."""
        names = self.leaves.rows.queries
        numbers = np.unique(self.leaves.query[self.leaves.active])
        return {names[number]: self.leaves.database_time(self.leaves.query == number) for number in numbers}


def compare_records(first: Document, second: Document) -> ProfileComparison:
    """What changed from one record to the other."""
    one, two = _profile(first, seed=1), _profile(second, seed=2)
    sessions = _moves(one, two, lambda profile: profile.elapsed_ns)
    per_commit = _moves(one, two, lambda profile: profile.commits.count if profile.commits else 1)
    known = one.commits is not None and two.commits is not None
    whole = sessions({WHOLE: one.total}, {WHOLE: two.total})[0]
    whole_per_commit = per_commit({WHOLE: one.total}, {WHOLE: two.total})[0] if known else None
    parts = sessions(one.parts(), two.parts())
    texts = query_texts(first) | query_texts(second)
    queries = [
        dataclasses.replace(moved, text=texts.get(moved.name or "")) for moved in sessions(one.queries(), two.queries())
    ]
    return ProfileComparison(
        format=FORMAT,
        first=_side(one),
        second=_side(two),
        active_sessions=whole,
        per_commit=whole_per_commit,
        parts=parts,
        parts_per_commit=per_commit(one.parts(), two.parts()) if known else [],
        by_query=queries[:MOST_QUERIES],
        sentences=_sentences(whole, whole_per_commit, parts),
        warnings=_warnings(one, two),
    )


def _profile(record: Document, seed: int) -> _Profile:
    found, _ = times(record, seed)
    return _Profile(record, found, float(record["watch"]["elapsed_ns"]) or 1.0, commits(record, found))


def _side(profile: _Profile) -> Side:
    watch = profile.record["watch"]
    return Side(
        target=str((profile.record.get("target") or {}).get("name") or "the server"),
        started_at=None if watch["started_at_ns"] is None else words.moment(watch["started_at_ns"]),
        seconds=watch["elapsed_ns"] / 1e9,
        route=watch["route"],
        active_sessions_mean=profile.leaves.draws.estimate(profile.total / profile.elapsed_ns),
        commits_per_s=profile.commits.per_s if profile.commits else None,
        ns_per_commit=profile.commits.ns_per_commit if profile.commits else None,
    )


def _moves(one: _Profile, two: _Profile, per: Callable[[_Profile], float]) -> Callable[[Times, Times], list[Moved]]:
    """Compares things that are in either profile, the greatest move first; what is in one only is 0 in the other."""
    drawn = _wider(one.leaves.draws, two.leaves.draws)
    both = min(len(one.leaves.draws.weights), len(two.leaves.draws.weights))

    def moved(name: str | None, first: Floats | None, second: Floats | None) -> Moved:
        before = np.zeros(both) if first is None else first[:both] / per(one)
        after = np.zeros(both) if second is None else second[:both] / per(two)
        difference = drawn.estimate(after - before)
        changed = difference.low is not None and difference.high is not None
        return Moved(
            name=name,
            first=one.leaves.draws.estimate(before),
            second=two.leaves.draws.estimate(after),
            difference=difference,
            changed=changed and not (difference.low or 0.0) <= 0.0 <= (difference.high or 0.0),
        )

    def moves(first: Times, second: Times) -> list[Moved]:
        found = [moved(name, first.get(name), second.get(name)) for name in {**first, **second}]
        seen = [one for one in found if one.first.estimate or one.second.estimate]
        return sorted(seen or found[:1], key=lambda one: -abs(one.difference.estimate))

    return moves


def _wider(one: Draws, two: Draws) -> Draws:
    """The one with the wider intervals: a difference is no surer than its less sure side."""
    if one.tail is None or two.tail is None:
        return one if one.tail is None else two
    return one if one.tail <= two.tail else two


def _sentences(whole: Moved, per_commit: Moved | None, parts: list[Moved]) -> list[str]:
    """The answer in words."""
    said = [f"{_went('Average active sessions', whole, words.number)}.{_along(whole, parts)}"]
    if per_commit is not None:
        said.append(f"{_went('Database time per commit', per_commit, words.duration)}.")
    return said


def _went(what: str, moved: Moved, shown: Callable[[float], str]) -> str:
    first, second = shown(moved.first.estimate), shown(moved.second.estimate)
    difference = moved.difference
    if difference.low is None or difference.high is None:
        return f"{what}: {first}, then {second} (too short for an interval)"
    interval = f"difference {_signed(difference.estimate, shown)}, 95 % interval {_signed(difference.low, shown)} to "
    interval += _signed(difference.high, shown)
    if not moved.changed:
        return f"{what}: {first}, then {second}; these profiles do not tell them apart ({interval})"
    return f"{what} {'rose' if difference.estimate > 0 else 'fell'} from {first} to {second} ({interval})"


def _signed(value: float, shown: Callable[[float], str]) -> str:
    return f"+{shown(value)}" if value > 0 else f"-{shown(-value)}" if value < 0 else shown(0.0)


def _along(whole: Moved, parts: list[Moved]) -> str:
    """The parts that moved the same way, or, where the whole did not move, those that did."""
    sign = whole.difference.estimate
    least = NAMED_SHARE * abs(sign)
    named = [
        part
        for part in parts
        if part.changed
        and abs(part.difference.estimate) >= least
        and (not whole.changed or part.difference.estimate * sign > 0)
    ]
    if not named:
        return " No part moved beyond doubt."
    told = [f"{part_name(part.name or '')} {_signed(part.difference.estimate, words.number)}" for part in named[:NAMED]]
    return f" What moved most: {words.listed(told)}."


def _warnings(one: _Profile, two: _Profile) -> list[Warning]:
    found = [
        Warning(
            "confounded",
            "the two profiles differ in time of day, load and cache as well as in what you changed, and nothing here "
            "tells these apart; for proof of a change: dbdyno run, which alternates both in random order",
        )
    ]
    routes = one.record["watch"]["route"], two.record["watch"]["route"]
    if routes[0] != routes[1]:
        found.append(
            Warning("routes_differ", f"seen by the routes {routes[0]} and {routes[1]}: parts may move by that alone")
        )
    if one.leaves.has_clocks != two.leaves.has_clocks:
        found.append(
            Warning(
                "clocks_differ", "only one of the two has clocks: its CPU and run queue are in the other's no clock"
            )
        )
    targets = [(profile.record.get("target") or {}).get("name") for profile in (one, two)]
    if targets[0] != targets[1]:
        found.append(Warning("targets_differ", f"these are two servers: {targets[0]} and {targets[1]}"))
    return found


def as_document(comparison: ProfileComparison) -> dict[str, object]:
    """The comparison as one JSON document."""
    return {"kind": "profiles", **dataclasses.asdict(comparison)}
