"""A scheduler of dask.distributed and its workers: one that runs somewhere, or one inside this process.

The one inside is made of threads, not of processes. The core counts without the interpreter's lock, so threads use all
CPUs; they end with the process, however that ends; and nothing listens: the workers of a cluster of processes take
tasks, which are code, from whoever reaches their ports, and every user of a machine reaches those of its loopback.
"""

from __future__ import annotations

import contextlib
import logging
import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dbdyno.errors import DynoError

if TYPE_CHECKING:
    from distributed import Client

_CONNECT_LIMIT_S = 10
_NEVER_SHOWN = logging.CRITICAL
_QUIET = {
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.worker.memory.spill": False,
}
# For a moment only: what is listening there is stopped as soon as it has begun.
_LOOPBACK = "127.0.0.1:0"


@contextlib.contextmanager
def connected(scheduler: str | None, workers: int) -> Iterator[Client]:
    """A client of the scheduler at an address; without one, of a new cluster of so many workers in this process.

    Raises:
        DynoError: `no_scheduler`, `no_workers`.
    """
    from distributed import Client

    # For good: what is cut short says so once more when this process ends.
    logging.getLogger("distributed").setLevel(_NEVER_SHOWN)
    if scheduler is None:
        with _in_this_process(workers) as client:
            yield client
        return
    try:
        client = Client(scheduler, timeout=_CONNECT_LIMIT_S, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise DynoError("no_scheduler", f"--scheduler {scheduler}: cannot be reached: {reason}; check it") from None
    with client:
        if not client.scheduler_info()["workers"]:
            raise DynoError(
                "no_workers", f"--scheduler {scheduler}: has no workers; start some: dask worker {scheduler}"
            )
        yield client


@contextlib.contextmanager
def _in_this_process(workers: int) -> Iterator[Client]:
    import dask
    from distributed import Client, LocalCluster

    with contextlib.ExitStack() as stack:
        # Workers want a directory; they put nothing into it, so it need not outlive their start.
        with tempfile.TemporaryDirectory(prefix="dbdyno-") as directory:
            stack.enter_context(dask.config.set({**_QUIET, "temporary_directory": directory}))
            cluster = stack.enter_context(
                LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    processes=False,
                    dashboard_address=_LOOPBACK,
                    worker_dashboard_address=_LOOPBACK,
                    memory_limit=0,
                    silence_logs=_NEVER_SHOWN,
                )
            )
            for server in (cluster.scheduler, *cluster.workers.values()):
                server.http_server.stop()
        yield stack.enter_context(Client(cluster, set_as_default=False))
