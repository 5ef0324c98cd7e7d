"""How an arm's waits were seen, how long they were, and what the kernel counted beside them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import EventLengths, Sampling, Switches, WaitLengths


def sampling(outcomes: Sequence[Document], seen_and_looked: tuple[int, int] | None) -> Sampling:
    """Period and number of the snapshots over all trials.

    Args:
        outcomes: of the arm's trials.
        seen_and_looked: the snapshots within counted units, and those with a look; None where they were not kept.
    """
    profiles = [outcome["profile"] for outcome in outcomes]
    periods = [profile["period_ns"] for profile in profiles if profile.get("period_ns")]
    seen, looked = seen_and_looked or (sum(profile["snapshots"] for profile in profiles), None)
    return Sampling(period_ns=sum(periods) / len(periods) if periods else None, snapshots=seen, looked=looked)


def switches(outcomes: Sequence[Document]) -> Switches:
    """Per unit that ended; None where any trial lacks the count."""
    profiles = [outcome["profile"] for outcome in outcomes]
    units = sum(outcome["units"]["successful"] + outcome["units"]["failed"] for outcome in outcomes)

    def per_unit(key: str) -> float | None:
        total = _total(profiles, key)
        return None if total is None else total / units

    return Switches(
        voluntary_per_unit=per_unit("voluntary_switches"),
        involuntary_per_unit=per_unit("involuntary_switches"),
        block_io_delay_ns_per_unit=per_unit("block_io_delay_ns"),
        stolen_cpu_ns_per_unit=per_unit("stolen_ns"),
        block_io_note=next((note for profile in profiles if (note := profile.get("block_io_note"))), None),
    )


def wait_lengths(outcomes: Sequence[Document]) -> WaitLengths | None:
    """The trials laid over each other, step by step; None where no trial recorded lengths."""
    recorded = [profile for outcome in outcomes if (profile := outcome["profile"]).get("episodes")]
    if not recorded:
        return None
    counts: defaultdict[str, Counter[tuple[int, int]]] = defaultdict(Counter)
    for profile in recorded:
        for step, event, place, count in profile["episodes"]["cells"]:
            counts[profile["events"][event]][step, place] += count
    first = recorded[0]["episodes"]
    return WaitLengths(
        step_ns=first["step_ns"],
        bins_per_decade=first["bins_per_decade"],
        shortest_ns=first["shortest_ns"],
        events=[
            EventLengths(event, [[step, place, count] for (step, place), count in sorted(cells.items())])
            for event, cells in sorted(counts.items())
        ],
    )


def _total(profiles: Sequence[Document], key: str) -> int | None:
    known = [profile.get(key) for profile in profiles]
    return None if any(count is None for count in known) else sum(count for count in known if count is not None)
