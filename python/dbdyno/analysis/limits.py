"""The limits beyond which a figure needs a warning, each with its reason."""

from __future__ import annotations

import math

# The three figures come from separate clocks; over windows of a second they agree within 1 % here.
LITTLE_DISCREPANCY = 0.03


def little_tolerance(units_per_trial: float, *, thinks: bool) -> float:
    """How far Little's law may be off.

    With think times units come nearly at random, and of n of them the number in a window varies by the square root of
    n; the throughput is estimated from whole cycles of units and thinking, the number in flight from the window.
    """
    return max(LITTLE_DISCREPANCY, 1 / math.sqrt(units_per_trial)) if thinks else LITTLE_DISCREPANCY


# A tenth of the time unexplained leaves the other parts useful; more, and a cause may hide in it.
UNACCOUNTED_SHARE = 0.10
# A driver thread this busy has no time left to start the next unit at once.
BUSIEST_THREAD_SHARE = 0.90
# On the server's own machine the driver's CPU is the server's loss; beyond a third the driver shapes the result.
DRIVER_SHARE_OF_MACHINE = 1 / 3
# Full-page images follow a checkpoint; a warmed-up small table has nearly none, the storm 0.4 to 0.6 a commit.
# The count includes warm-up and log-in, which write images of the catalogs; so the WAL of the windows themselves must
# show them too: an image of a half-full page has 4 KiB.
FULL_PAGE_IMAGES_PER_UNIT = 0.2
WAL_BYTES_OF_IMAGES_PER_UNIT = FULL_PAGE_IMAGES_PER_UNIT * 4096
# Lateness is part of the response time, so 1 % of its p99 is lost in the interval of any p99.
# Below 1 ms it is the kernel's own timer and scheduler, which no driver can beat, unless the units themselves
# are so short that it makes a tenth of their p99.
LATE_SHARE = 0.01
LATE_NS = 1_000_000
LATE_SHARE_OF_SHORT = 0.10
# What other guests of the host took: above this it moves times by as much as the usual margin of 3 %.
STEAL_SHARE = 0.02
# An arm is cold, or warm, with so much room for the catalogs' pages and for those of others.
PHYSICAL_TOLERANCE = 0.01

# Whether trials ran steadily. The start of a window is compared over all trials of an arm: 5 % of a fifth of the
# window is 1 % of the figure, a third of the usual margin; and an arm that is steady should cry wolf in 1 of 100 runs.
WARM_UP_SIZE = 0.05
WARM_UP_LEVEL = 0.01
# A step within one trial: 20 % is what a neighbour on a shared machine does at a stroke. 5 standard errors, because
# the best of many places for the step is taken, and the scatter is known from few steps of the series.
STEP_SIZE = 0.20
STEP_STANDARD_ERRORS = 5.0

# From where on a trial counts as hit by noise. Other processes: ticks and the processes' own clocks differ by 2 %.
OTHER_CPU_SHARE = 0.05
# The clock of a CPU falls by some per cent with the number of busy cores; a tenth is a change of regime.
CLOCK_LOST_SHARE = 0.10
# Above the median of the trial's arm, because the load presses, too: it varies by a few per cent from trial to trial.
CPU_PRESSURE_SHARE = 0.10
IO_PRESSURE_SHARE = 0.10
# A load that fits into memory has no stall for it at all.
MEMORY_PRESSURE_SHARE = 0.01
# Of the device's bytes: the file system's journal is among those of others, and does not change so much.
OTHER_DISK_SHARE = 0.25
# What an idle machine writes now and then; a share of less says nothing.
OTHER_DISK_BYTES_PER_S = 1_000_000.0
# A source is told from chance, or a run has a carry-over, at this level: in 1 of 100 runs for nothing.
DISTURBANCE_LEVEL = 0.01
# So many trials hit are the run's weather rather than an accident.
MANY_TRIALS_SHARE = 0.25


def image_storm(images_per_commit: float, wal_bytes_per_unit: float | None) -> bool:
    """Whether the windows lie in the storm of full-page images after a checkpoint."""
    inside = wal_bytes_per_unit is None or wal_bytes_per_unit > WAL_BYTES_OF_IMAGES_PER_UNIT
    return inside and images_per_commit > FULL_PAGE_IMAGES_PER_UNIT


def client_bound(busiest_thread_share: float) -> bool:
    """Whether the driver rather than the server limits the throughput."""
    return busiest_thread_share > BUSIEST_THREAD_SHARE


def late(lateness_ns_p99: float, response_time_ns_p99: float) -> bool:
    """Whether the driver started its units so late that the response times are its own."""
    share = lateness_ns_p99 / response_time_ns_p99
    return share > LATE_SHARE_OF_SHORT or (share > LATE_SHARE and lateness_ns_p99 > LATE_NS)


# A percentile with fewer units beyond it is the greatest few by another name: a p99 needs 1,000 units a trial.
LEAST_UNITS_BEYOND = 10
