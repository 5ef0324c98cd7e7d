"""How late this machine wakes up: a virtual machine's host pauses it, and lets it wait when it has something to do."""

from __future__ import annotations

import time

NAP_NS = 2_000_000
NAPS = 400
# On a machine of its own a nap ends 0.06 ms late (timer slack and waking up).
LATE_NS_USUAL = 200_000
# Beside more than this a time of 10 ms, which ends with waking up, cannot be told to a few per cent.
SHARE_MAX = 0.02


def late_share() -> float:
    """By which share of its length a nap of 2 ms ended late, in the mean, beyond what is usual."""
    late_ns = 0
    for _ in range(NAPS):
        begun = time.perf_counter_ns()
        time.sleep(NAP_NS / 1e9)
        late_ns += max(0, time.perf_counter_ns() - begun - NAP_NS - LATE_NS_USUAL)
    return late_ns / (NAPS * NAP_NS)
