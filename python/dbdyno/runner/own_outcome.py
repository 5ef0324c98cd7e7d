"""The outcome of a trial whose work no session of the server did, in the shape that the engine's has
(docs/architecture.md): a closed loop of one client, its profile by the clocks of the thread that did it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dbdyno.runner.histogram import distribution

Document = dict[str, Any]
# In the place of the route by which a server's waits are seen.
OWN_CLOCKS = "own clocks"


def course(times_ns: Sequence[int], started_at_ns: int, elapsed_ns: int) -> Document:
    """The outcome but its profile.

    Args:
        times_ns: response times of the units, one after another.
        started_at_ns: when the first began, by CLOCK_REALTIME.
        elapsed_ns: from there to the end of the last.
    """
    count, total_ns = len(times_ns), sum(times_ns)
    times = distribution(times_ns)
    failures = dict.fromkeys(("serialization", "deadlock", "other", "unfinished"), 0)
    return {
        "started_at_ns": started_at_ns,
        "window_ns": elapsed_ns,
        "fixed_units": count,
        "elapsed_ns": elapsed_ns,
        "units": {
            **{"successful": count, "skipped": 0, "failed": 0, "retried": 0, "late": 0},
            **{f"failed_{kind}": number for kind, number in failures.items()},
        },
        "units_with_warm_up": count,
        "throughput_per_s": count / elapsed_ns * 1e9,
        "mean_in_flight": total_ns / elapsed_ns,
        "response_time": times,
        "service_time": times,
        "queue_time": distribution([0] * count),
        "scripts": [],
        "captured": {},
        "series": {"step_ns": elapsed_ns, "units": [count], "response_time_sum_ns": [total_ns], "failed": [0]},
        "background": [],
        # The process is the load itself: what it costs stands in its profile.
        "driver": {
            **{"cpu_ns": 0, "threads": 1, "busiest_thread_share": 0.0},
            "lateness_ns": {"p50": 0, "p99": 0, "max": 0},
        },
        "exposure": None,
    }


def own_profile(total_ns: int, cpu_ns: int, run_queue_ns: int | None, asleep_in: str | None = None) -> Document:
    """By exact clocks: what was neither CPU nor run queue the thread slept.

    Args:
        total_ns: the sum of the response times.
        cpu_ns: of the thread.
        run_queue_ns: likewise; None where the kernel does not show it, and then nothing can be told apart.
        asleep_in: the name of what it slept in, where there is only one such thing.
    """
    known_ns = 0 if run_queue_ns is None else cpu_ns + run_queue_ns
    asleep_ns = 0 if run_queue_ns is None else max(0, total_ns - known_ns)
    return {
        "route": OWN_CLOCKS,
        "note": None,
        "server_clocks": "schedstat",
        "queue_ns": 0,
        "cpu_ns": None if run_queue_ns is None else cpu_ns,
        "run_queue_ns": run_queue_ns,
        "waits_ns": {asleep_in: asleep_ns} if asleep_in and asleep_ns else {},
        "asleep_no_wait_event_ns": 0 if asleep_in else asleep_ns,
        "client_and_network_ns": 0,
        "unaccounted_ns": total_ns - known_ns - asleep_ns,
        "total_ns": total_ns,
        **dict.fromkeys(("snapshots", "snapshots_asleep", "looked", "sampler_cpu_ns", "sampler_elapsed_ns"), 0),
    }
