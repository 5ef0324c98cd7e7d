"""Dividing the exact time of some units among its parts by the snapshots in them.

In: sums over the units (a row for the data as they are, and one for each replicate) and the arm's exact clocks.
Out: the time of each part. The parts of a row sum to its response time and none is negative, because each is the
exact service time times a share, and the queue time is exact itself.

A snapshot tells what its backend waits for, but not whether it sleeps: that was looked up in some of them only.
So the time asleep in event e goes as   seen_e x asleep_e / looked_e   (two-phase sampling, Neyman 1938), and what
is left of the snapshots is time on or in line for a CPU. The looks of the same units serve where there are enough,
else those of all the arm's units.

Snapshots alone are a little partial: a sampler that wakes up puts something else to sleep, and one that waits for a
CPU sees what the machine does when it has one. The clocks of the whole arm say exactly how its time divides into
asleep and not, so the odds of the two are corrected by the factor that makes them right for the arm
(calibration, Deville and Särndal 1992).
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dbdyno.analysis.resampling import Floats
from dbdyno.analysis.snapshots import NO_EVENT, Sums

CLIENT_EVENTS = frozenset({"Client:ClientRead", "Client:ClientWrite"})
# From so many looks of its own on, an event's share asleep is known to about 0.09 in some units: better than by
# borrowing it from units of another kind.
ENOUGH_LOOKS = 30
# The steps of the clocks lie between two looks at one backend in one unit. Where they cover less than a tenth of the
# time that they are to divide, they are those of a few long units only.
ENOUGH_STEPS = 0.1


@dataclasses.dataclass(frozen=True, slots=True)
class Clocks:
    """What the exact clocks say of the whole arm, a row as in `Sums`: CPU, run queue, and asleep in units."""

    cpu_ns: Floats
    run_queue_ns: Floats
    asleep_ns: Floats


@dataclasses.dataclass(frozen=True, slots=True)
class Divided:
    """The time of each part (rows as in `Sums`, a column a part), and what the division rests on."""

    parts: list[str]
    ns: Floats
    runnable_from: str | None
    states_from: str | None


class Divider:
    """What all divisions of one arm share: its events, its looks, its clocks."""

    def __init__(self, events: Sequence[str], arm: Sums, clocks: Clocks | None) -> None:
        """`arm` holds all units of the arm; clocks are None where the server's cannot be read."""
        self._events = list(events)
        self._clocks = clocks
        self._knows_states = bool(arm.looked[0].sum() > 0)
        never_looked = np.array([float(event != NO_EVENT) for event in events])
        self._asleep_share = _ratio(arm.asleep, arm.looked, never_looked)
        self._odds_factor = self._calibrated(arm) if clocks is not None and self._knows_states else np.ones(1)

    def of_estimates(self) -> Divider:
        """The same without replicates, for what was recorded by trial only where chunks are resampled."""
        first = copy.copy(self)
        first._asleep_share = self._asleep_share[:1]
        first._odds_factor = self._odds_factor[:1]
        return first

    def divide(self, some: Sums) -> Divided:
        """The parts of the response time of some units of the arm."""
        enough = some.looked[0] >= ENOUGH_LOOKS
        asleep_share = np.where(enough, _ratio(some.asleep, some.looked, self._asleep_share[0]), self._asleep_share)
        asleep = some.seen * asleep_share
        runnable = (some.seen - asleep).sum(axis=1) * self._odds_factor
        service_ns = np.maximum(some.response_ns - some.queue_ns, 0.0)
        # A replicate without a snapshot in these units has no figures.
        per_snapshot = _ratio(service_ns, runnable + asleep.sum(axis=1), np.nan)
        runnable_ns = runnable * per_snapshot
        asleep_ns = asleep * per_snapshot[:, None]
        columns = {"queue": some.queue_ns}
        runnable_from = None
        if self._clocks is None or not self._knows_states:
            columns["unaccounted"] = runnable_ns
        else:
            cpu_share, runnable_from = self._cpu_share(some, runnable_ns, self._clocks)
            columns |= {"cpu": runnable_ns * cpu_share, "run_queue": runnable_ns * (1 - cpu_share)}
        columns |= _by_event(self._events, asleep_ns)
        return Divided(
            parts=list(columns),
            ns=np.stack(list(columns.values()), axis=1),
            runnable_from=runnable_from,
            states_from=self._states_from(enough, some) if self._knows_states else None,
        )

    def _calibrated(self, arm: Sums) -> Floats:
        """What the odds of "not asleep" are to be multiplied with, so that they are right for the whole arm."""
        assert self._clocks is not None
        asleep = (arm.seen * self._asleep_share).sum(axis=1)
        runnable = arm.seen.sum(axis=1) - asleep
        runnable_ns = self._clocks.cpu_ns + self._clocks.run_queue_ns
        exact, sampled = runnable_ns * asleep, self._clocks.asleep_ns * runnable
        return np.where(exact > 0, _ratio(exact, sampled, 1.0), 1.0)

    def _cpu_share(self, some: Sums, runnable_ns: Floats, clocks: Clocks) -> tuple[Floats, str]:
        """The CPU's share of the time not asleep, and whose clocks say so."""
        steps = some.cpu_step_ns + some.run_queue_step_ns
        of_arm = _ratio(clocks.cpu_ns, clocks.cpu_ns + clocks.run_queue_ns, 1.0)
        if steps[0] and steps[0] >= ENOUGH_STEPS * runnable_ns[0]:
            return _ratio(some.cpu_step_ns, steps, of_arm), "band"
        return of_arm, "arm"

    def _states_from(self, enough: npt.NDArray[np.bool_], some: Sums) -> str:
        seen = some.seen[0] > 0
        if enough[seen].all():
            return "band"
        return "both" if enough[seen].any() else "arm"


def _by_event(events: Sequence[str], asleep_ns: Floats) -> dict[str, Floats]:
    """A column for each wait event that was seen, and the two that are made of events without a name of their own."""
    none = np.zeros(len(asleep_ns))
    columns = {
        event: asleep_ns[:, place]
        for place, event in enumerate(events)
        if event != NO_EVENT and event not in CLIENT_EVENTS and asleep_ns[0, place] > 0
    }
    client = sum((asleep_ns[:, place] for place, event in enumerate(events) if event in CLIENT_EVENTS), start=none)
    asleep = sum((asleep_ns[:, place] for place, event in enumerate(events) if event == NO_EVENT), start=none)
    return {**columns, "asleep_no_wait_event": asleep, "client_and_network": client}


def _ratio(numerator: Floats, denominator: Floats, otherwise: Floats | float) -> Floats:
    """Element by element; `otherwise` where the denominator is zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(denominator > 0, numerator / denominator, otherwise)
