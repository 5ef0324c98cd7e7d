"""The identity of the measurement: exact clocks, divided by what snapshots saw.

For one process over some time, from exact clocks: wall = asleep + runnable, and runnable = CPU + run queue. Snapshots
only *divide* both among states, queries and wait events. What is known is a table of two rows with its margins:

                 row 1   row 2   ...    (a row of the record: query, state, event)
    asleep         ?       ?     ...  | exact, from the clocks
    runnable       ?       ?     ...  | exact, from the clocks
               -----------------------
                 seen    seen    ...    all snapshots: the time of each

and the looks say what share of each was found asleep (two-phase sampling, Neyman 1938). The table is raked to its
margins (Deming and Stephan 1940), which keeps the odds of the looks: all rows of a process are shifted by one amount on
the scale of log odds, so that they add up to the clocks. So an event is not charged with the time in which its process
already was awake again, and CPU goes to a query, to active or to idle time as its session was found runnable in it,
be that for the query, for the reply after it, or in line for a CPU with the next command unread.

Clocks are read once a step. A session that did little in a step was seen active in few snapshots or none, which would
give its CPU to idleness; so steps of a process are divided together (a *span*) until they hold `SPAN` snapshots in
which it was not idle, or all steps of the profile where there are fewer.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy.special import expit

from dbdyno.analysis.server_profile.snapshots import IDLE, Floats, Ints, Snapshots, sums_by

# Log odds of 1 in 10^13: nothing is less likely. 60 halvings of that are exact to the last digit of a float.
FURTHEST = 30.0
HALVINGS = 60
# 100 snapshots divide a time with a standard error of 5 % of it at worst.
SPAN = 100
# From so many looks on, the share asleep of one process, or of one query, is known to 5 points and stands for itself.
OWN_LOOKS = 100


@dataclasses.dataclass(frozen=True, slots=True)
class Strata:
    """Rows of which one share asleep is taken: an event in a state, by query and process where looked at often enough.

    `prior` is the share asleep of all waits, or of all time without an event: what is expected before a look.
    """

    of_row: Ints
    prior: Floats

    def share_asleep(self, looked: Floats, asleep: Floats) -> Floats:
        """The share asleep of each stratum; the prior weighs as much as one look, so that none is exactly 0 or 1."""
        return (asleep + self.prior) / (looked + 1)


@dataclasses.dataclass(frozen=True, slots=True)
class Division:
    """The time of each row, part by part; `no_clock` is of processes without a clock: awake, or without an event."""

    asleep_ns: Floats
    cpu_ns: Floats
    run_queue_ns: Floats
    no_clock_ns: Floats


@dataclasses.dataclass(frozen=True, slots=True)
class Spans:
    """The span of each row, -1 for rows without a clock, and the exact times of each."""

    of_row: Ints
    wall_ns: Floats
    cpu_ns: Floats
    run_queue_ns: Floats


def strata(rows: Snapshots) -> Strata:
    """The strata of the rows, and how often each was looked at: as fine as `OWN_LOOKS` allows."""
    pooled = rows.state * len(rows.events) + rows.event
    by_query = pooled * len(rows.queries) + rows.query
    by_process = by_query * max(len(rows.processes), 1) + rows.process
    # Names of the three kinds may not meet: each counts from where the one before ends.
    name = pooled
    for finer in (by_query, by_process):
        _, place = np.unique(finer, return_inverse=True)
        looked = np.bincount(place, weights=rows.looked)
        above = 1 + name.max(initial=0)
        name = np.where(looked[place] >= OWN_LOOKS, above + finer, name) if len(name) else name
    _, first, of_row = np.unique(name, return_index=True, return_inverse=True)
    return Strata(of_row=of_row, prior=_share_of_kind(rows)[first])


def spans(rows: Snapshots) -> Spans:
    """Steps of a process that are divided together."""
    steps, processes = rows.cpu_ns.shape
    has_clock = np.isfinite(rows.cpu_ns)
    place = rows.step * processes + rows.process
    busy = sums_by(place, rows.seen * (rows.state != IDLE), steps * processes)
    busy = np.where(has_clock, busy.reshape(steps, processes), 0.0)
    so_far = np.cumsum(busy, axis=0)
    most = np.maximum(so_far[-1] // SPAN - 1, 0) if steps else np.zeros(processes)
    number = np.minimum((so_far - busy) // SPAN, most)  # what is left over at the end joins the last whole span
    name = (number * processes + np.arange(processes)).astype(np.int64)
    name = np.where(has_clock, name, -1).ravel()
    known, of_pair = np.unique(name, return_inverse=True)
    offset = int(len(known) > 0 and known[0] == -1)  # -1 sorts first
    of_pair = of_pair.ravel() - offset
    of_row = of_pair[place]
    count = len(known) - offset
    clocked, pairs = of_row >= 0, of_pair >= 0
    return Spans(
        of_row=of_row,
        wall_ns=sums_by(of_row[clocked], rows.ns[clocked], count),
        cpu_ns=sums_by(of_pair[pairs], rows.cpu_ns.ravel()[pairs], count),
        run_queue_ns=sums_by(of_pair[pairs], rows.run_queue_ns.ravel()[pairs], count),
    )


def runnable_share(rows: Snapshots, share_asleep: Floats, over: Spans) -> Floats:
    """Of each row, the share of its time runnable: that of the looks, shifted to the clocks where there are any."""
    log_odds = np.log((1 - share_asleep) / share_asleep)
    clocked = over.of_row >= 0
    span = over.of_row[clocked]
    count = len(over.wall_ns)
    wanted_ns = np.minimum(over.cpu_ns + over.run_queue_ns, over.wall_ns)
    low, high = np.full(count, -FURTHEST), np.full(count, FURTHEST)
    for _ in range(HALVINGS):  # the sum rises with the shift: bisection, all spans at once
        middle = (low + high) / 2
        sums = sums_by(span, rows.ns[clocked] * expit(log_odds[clocked] + middle[span]), count)
        low, high = np.where(sums < wanted_ns, middle, low), np.where(sums < wanted_ns, high, middle)
    shift = np.zeros(len(log_odds))
    shift[clocked] = ((low + high) / 2)[span]
    share: Floats = expit(log_odds + shift)
    return share


def divide(rows: Snapshots, share_asleep: Floats, over: Spans) -> Division:
    """The parts of each row, given the share asleep of each *row* and the exact times of the spans."""
    clocked = over.of_row >= 0
    span = np.where(clocked, over.of_row, 0)
    runnable_ns = np.where(clocked, rows.ns * runnable_share(rows, share_asleep, over), 0.0)

    def exact(total_ns: Floats) -> Floats:
        """The exact time of each span, divided among its rows."""
        sums = sums_by(over.of_row[clocked], runnable_ns[clocked], len(total_ns))
        rate = np.divide(total_ns, sums, out=np.zeros(len(total_ns)), where=sums > 0)
        return runnable_ns * rate[span] if len(rate) else runnable_ns

    # Without a clock the time is as seen. A wait that nobody looked into is taken for asleep, as its name says;
    # no event is not: it may be CPU.
    guess = np.where(rows.looked > 0, share_asleep, np.where(rows.event == 0, 0.0, 1.0))
    return Division(
        asleep_ns=np.where(clocked, rows.ns - runnable_ns, rows.ns * guess),
        cpu_ns=exact(over.cpu_ns),
        run_queue_ns=exact(over.run_queue_ns),
        no_clock_ns=np.where(clocked, 0.0, rows.ns * (1 - guess)),
    )


def _share_of_kind(rows: Snapshots) -> Floats:
    """Of each row, what share of looks at its kind (a wait or no event, idle or not) found it asleep; 1/2 unseen."""
    kind = 2 * (rows.state == IDLE) + (rows.event == 0)
    looked = sums_by(kind, rows.looked, 4)
    asleep = sums_by(kind, rows.asleep, 4)
    share: Floats = ((asleep + 0.5) / (looked + 1))[kind]
    return share
