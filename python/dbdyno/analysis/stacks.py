"""Stacks as they were counted become stacks as wide as the time they stand for.

    parts of a profile (exact ns)   +   counts of stacks by CPU and wait event   ->   widths in microseconds

Counts divide and times are divided: the CPU stacks share the exact CPU time, the wait stacks of an event share the
time of that event. The widths are whole microseconds and add up to the measured time to the microsecond: what
rounding would lose goes to those stacks that lost most by it (largest remainders, Hamilton 1792).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from dbdyno.analysis.common_stack import common_stacks
from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import TimeProfile
from dbdyno.analysis.findings.stacks import Function, Pauses, Stacks

Frames = tuple[str, ...]
# (kind, wait event) -> stack -> count
Counted = Mapping[tuple[str, str | None], Mapping[Frames, int]]

CUT, KERNEL, UNSEEN_KERNEL = "[cut]", "[kernel]", "[kernel, no stacks]"
CPU = ("cpu", None)
# The caller of every server process's own main function: what lies above it is the same in all of them.
ANCESTOR = "postmaster_child_launch"
CLIENT_EVENTS = frozenset({"Client:ClientRead", "Client:ClientWrite"})
# Parts of a profile in which a backend has no stack, or none of its own.
BRACKETED = {
    "queue": "[queue]",
    "run_queue": "[run queue]",
    "cpu": "[CPU, no stacks]",
    "asleep_no_wait_event": "[asleep, no wait event]",
    "client_and_network": "[client and network]",
    "no_clock": "[no clock]",
    "unaccounted": "[unaccounted]",
}
NO_EVENT = "[no wait event]"
# Functions that a report lists.
HOTTEST = 30


def stacks_of(records: Sequence[Document], parts_ns: Mapping[str, float]) -> Stacks | None:
    """The stacks of some recordings as wide as the parts of the profile that belongs to them.

    Args:
        records: outcomes of `record_stacks`.
        parts_ns: the parts of all the time that was measured meanwhile, as `TimeProfile.parts` names them.
    """
    if not records:
        return None
    counted = counts(records)
    kernel = _kernel_share(records)
    unseen = 0.0 if all(record["kernel"]["seen"] for record in records) else kernel or 0.0
    drawn = {part: ns for part, ns in parts_ns.items() if ns > 0}
    widths = whole(widths_ns(counted, drawn, unseen))
    total_us = sum(widths.values())
    frames: dict[str, int] = {}
    rows = [
        ([frames.setdefault(frame, len(frames)) for frame in stack], us)
        for stack, us in sorted(widths.items(), key=lambda item: (-item[1], item[0]))
        if us
    ]
    snapshots = {kind: sum(sum(stacks.values()) for key, stacks in counted.items() if key[0] == kind) for kind in KINDS}
    cut = sum(count for stacks in counted.values() for stack, count in stacks.items() if stack[:1] == (CUT,))
    return Stacks(
        route=next((record["route"] for record in records if record["route"]), None),
        note=next((record["note"] for record in records if record["note"]), None),
        cpu_snapshots=snapshots["cpu"],
        wait_snapshots=snapshots["wait"],
        lost=sum(record["lost"] for record in records),
        cut=cut / (sum(snapshots.values()) or 1),
        pauses=_pauses(records),
        kernel_share=kernel,
        total_us=total_us,
        frames=list(frames),
        widths=rows,
        hottest=hottest(widths, total_us),
        common=common_stacks(counted),
        left_out=[f"{part}: below zero" for part, ns in parts_ns.items() if ns < 0],
    )


KINDS = ("cpu", "wait")


def recorded(outcomes: Iterable[Document]) -> list[Document]:
    """The recordings of some trials; none where they were not asked for."""
    return [outcome["stacks"] for outcome in outcomes if outcome.get("stacks")]


def measured_ns(profile: TimeProfile, outcomes: Iterable[Document]) -> dict[str, float]:
    """The parts of all the units of an arm's trials together: the mean of a unit times their number."""
    units = sum(outcome["units"]["successful"] + outcome["units"]["failed"] for outcome in outcomes)
    return {part: ns * units for part, ns in profile.parts().items()}


def counts(records: Iterable[Document]) -> Counted:
    """How often each stack was seen over all recordings, by kind and wait event, without what all have above them."""
    counted: defaultdict[tuple[str, str | None], Counter[Frames]] = defaultdict(Counter)
    for record in records:
        names = record["frames"]
        for _, kind, event, frames, count in record["stacks"]:
            counted[kind, event][_below_ancestor([names[at] for at in frames])] += count
    return counted


def _below_ancestor(frames: Sequence[str]) -> Frames:
    return tuple(frames[frames.index(ANCESTOR) + 1 :] if ANCESTOR in frames else frames)


def widths_ns(counted: Counted, parts_ns: Mapping[str, float], unseen_kernel: float) -> dict[Frames, float]:
    """Nanoseconds for each stack; they add up to those of the parts.

    Args:
        counted: the stacks by kind and event.
        parts_ns: the parts, none below zero.
        unseen_kernel: the share of the CPU time that was in the kernel where no stacks were taken.
    """
    widths: defaultdict[Frames, float] = defaultdict(float)
    for part, ns in parts_ns.items():
        if part == "cpu" and unseen_kernel:
            widths[(UNSEEN_KERNEL,)] += ns * unseen_kernel
            ns *= 1.0 - unseen_kernel
        stacks = _stacks_of_part(counted, part)
        seen = sum(stacks.values())
        if not seen:
            widths[(BRACKETED.get(part, part),)] += ns
        for stack, count in stacks.items():
            widths[stack] += ns * count / seen
    return dict(widths)


def _stacks_of_part(counted: Counted, part: str) -> Mapping[Frames, int]:
    """The stacks that a part's time is divided by, each with its wait event as the last frame."""
    if part == "cpu":
        return counted.get(CPU, {})
    if part == "client_and_network":
        events = [event for kind, event in counted if kind == "wait" and event in CLIENT_EVENTS]
    else:
        events = [""] if part == "asleep_no_wait_event" else [part]
    stacks: Counter[Frames] = Counter()
    for event in events:
        for stack, count in counted.get(("wait", event), {}).items():
            stacks[*stack, event or NO_EVENT] += count
    return stacks


def whole(widths: Mapping[Frames, float]) -> dict[Frames, int]:
    """Nanoseconds to whole microseconds that add up to the rounded sum: largest remainders are rounded up."""
    total = round(sum(widths.values()) / 1e3)
    floors = {stack: int(ns // 1e3) for stack, ns in widths.items()}
    missing = total - sum(floors.values())
    by_remainder = sorted(widths, key=lambda stack: (-(widths[stack] / 1e3 - floors[stack]), stack))
    for stack in by_remainder[:missing]:
        floors[stack] += 1
    return floors


def hottest(widths: Mapping[Frames, int], total_us: int) -> list[Function]:
    """Functions by the time in them and in what they called, the greatest first; frames in brackets are none."""
    inclusive: Counter[str] = Counter()
    own: Counter[str] = Counter()
    for stack, us in widths.items():
        for function in set(stack):
            inclusive[function] += us
        own[stack[-1]] += us
    of = total_us or 1
    ranked = sorted(inclusive, key=lambda function: (-own[function], -inclusive[function], function))
    return [
        Function(function, inclusive[function], inclusive[function] / of, own[function], own[function] / of)
        for function in ranked
        if own[function] and not function.startswith("[") and ":" not in function
    ][:HOTTEST]


def _kernel_share(records: Sequence[Document]) -> float | None:
    known = [(record["kernel"]["share"], record["elapsed_ns"]) for record in records if record["kernel"]["share"]]
    time = sum(ns for _, ns in known)
    return sum(share * ns for share, ns in known) / time if time else None


def _pauses(records: Sequence[Document]) -> Pauses | None:
    pauses = [record["pause_ns"] for record in records if record["pause_ns"]]
    count = sum(pause["count"] for pause in pauses)
    if not pauses:
        return None
    mean = sum(pause["count"] * pause["mean"] for pause in pauses) / (count or 1)
    return Pauses(count, mean, max(pause["max"] for pause in pauses))
