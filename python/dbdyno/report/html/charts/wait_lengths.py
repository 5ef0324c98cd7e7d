"""How long single waits were in each arm: heat maps along the trial, all trials of an arm laid over each other."""

from __future__ import annotations

from collections.abc import Iterator

from dbdyno.analysis.findings import Arm, EventLengths, WaitLengths
from dbdyno.report.html.arrangement import Arrangement
from dbdyno.report.html.chart import Chart
from dbdyno.report.html.heat_map import Lengths, heat_panel, lengths_table, shade_key

# Of each arm the events that weigh most in its profile; the table has all.
MAPS_PER_ARM = 2
MOST_MAPS = 16
# Fewer waits than this show nothing but where they happened to fall.
LEAST_WAITS = 30


def chart(arrangement: Arrangement) -> Chart | None:
    """Some maps of each arm; None where no arm recorded lengths."""
    every = [lengths for one in arrangement.placed() for lengths in _of_arm(one.arm)]
    if not every:
        return None
    shown = [lengths for one in arrangement.placed() for lengths in list(_of_arm(one.arm))[:MAPS_PER_ARM]][:MOST_MAPS]
    return Chart(
        id="wait-lengths",
        short="Lengths of waits",
        heading="How long the waits were",
        caption=(
            "Waits by their length (upwards, logarithmic) and by when in a trial they ended (to the right), all "
            "trials of an arm over each other; the fuller the colour, the more of them, on a logarithmic scale of "
            f"each panel. The {MAPS_PER_ARM} greatest waits of an arm are drawn."
        ),
        reading=(
            "A wait is seen from one change of a backend’s wait event to the next. Two bands are two ways in which the "
            "same wait ends; lone cells high up are stalls. A band that climbs along the trial is a state that has "
            "not settled. In the shaded strip waits are shorter than the period of the snapshots: most of "
            "them are missed."
        ),
        panels=[heat_panel(lengths) for lengths in shown],
        keys=shade_key([lengths.event for lengths in shown]),
        columns=2,
        tables=[("Waits of each length", lengths_table("wait-lengths", every))],
    )


def _of_arm(arm: Arm) -> Iterator[Lengths]:
    """The lengths of an arm's waits, those of the greatest part of its profile first."""
    found = arm.wait_lengths
    if found is None:
        return
    for event in sorted(found.events, key=lambda event: -arm.profile_ns.waits.get(event.event, 0.0)):
        lengths = _lengths(arm, found, event)
        if event.event in arm.profile_ns.waits and lengths.count >= LEAST_WAITS:
            yield lengths


def _lengths(arm: Arm, found: WaitLengths, event: EventLengths) -> Lengths:
    steps = 1 + max((step for one in found.events for step, _, _ in one.cells), default=0)
    return Lengths(
        title=f"{arm.arm}: {event.event}",
        event=event.event,
        steps=steps,
        step_ns=found.step_ns,
        bins_per_decade=found.bins_per_decade,
        shortest_ns=found.shortest_ns,
        cells=event.cells,
    )
