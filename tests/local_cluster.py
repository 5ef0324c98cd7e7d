"""A scheduler and four worker processes of dask.distributed, as somebody has them running; and what became of tasks.

Prints `ADDRESS PID PID PID PID`, waits for a line on stdin, prints how often each task of ours came to an end, as JSON.
"""

from __future__ import annotations

import collections
import json
import sys
import tempfile
from typing import Any

import dask
from distributed import LocalCluster
from distributed.diagnostics.plugin import SchedulerPlugin

WORKERS = 4


class Ended(SchedulerPlugin):
    """Counts, of each task, how often some worker had its result."""

    def __init__(self) -> None:
        self.times: collections.Counter[str] = collections.Counter()

    def transition(self, key: Any, start: Any, finish: Any, *args: object, **kwargs: object) -> None:
        """Called by the scheduler at each change."""
        if start == "processing" and finish == "memory":
            self.times[str(key)] += 1


def main() -> None:
    """Run until a line comes."""
    with (
        tempfile.TemporaryDirectory() as directory,
        dask.config.set({"temporary_directory": directory}),
        LocalCluster(
            n_workers=WORKERS,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=100,
        ) as cluster,
    ):
        ended = Ended()
        cluster.scheduler.add_plugin(ended)
        pids = [worker.process.pid for worker in cluster.workers.values()]
        print(cluster.scheduler_address, *pids, flush=True)
        sys.stdin.readline()
        print(json.dumps(ended.times), flush=True)


if __name__ == "__main__":
    main()
