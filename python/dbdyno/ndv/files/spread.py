"""Files counted by the workers of a cluster, a file a task, and united in a tree.

```
files in their order      f1 f2 f3 ... f10 | f11 ... f20 | ...      ten parts in a row, as even as they come
count_part on workers      |  |  |      |     |       |
unite, eight at a time     '--'--'--.---'     '---.---'
                                    part 1        part 2  ...       each comes here; their unions in order are the
                                                                    growth curve, and the last one is the whole
```

The sketches of the whole are those of one pass, byte for byte: unions do not depend on their order. A part that was
lost with its worker is counted again by another one; dask.distributed sees to that.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbdyno import engine
from dbdyno.errors import EXIT_RUN_FAILED, DynoError
from dbdyno.ndv.files.cluster import connected
from dbdyno.ndv.files.part import Part, count_part, unite
from dbdyno.ndv.files.plan import FilesPlan

if TYPE_CHECKING:
    from distributed import Client, Future

UNITED_AT_ONCE = 8
GROWTH_POINTS = 10
Watcher = Callable[[Path], None]
Specs = Sequence[tuple[Path, Mapping[str, Any]]]


def count_spread(
    plan: FilesPlan, scheduler: str | None, workers: int, watcher: Watcher
) -> tuple[dict[str, Any], bytes]:
    """Outcome and sketches, as `_core.ndv_scan_files` would return them of all files.

    Args:
        scheduler: its address; None for a cluster in this process.
        workers: of the latter.
        watcher: is told of each file that is done.

    Raises:
        DynoError: `worker_failed`, `scheduler_lost`, `columns_differ`, and what counting a file and reaching a
            scheduler may raise.
    """
    # Workers elsewhere have another working directory.
    specs = [(path, plan.spec([path.resolve()])) for path in plan.files.paths]
    with connected(scheduler, workers) as client:
        began = time.monotonic_ns()
        parts = _counted(client, specs, watcher)
        elapsed_ns = time.monotonic_ns() - began
    return _outcome(parts, elapsed_ns)


def count_on_worker(spec: Mapping[str, Any], version: str, key: str) -> Part:
    """A task: ends early when nobody wants its result, because the client was interrupted or is gone."""
    from distributed import get_worker

    tasks = get_worker().state.tasks

    def is_wanted() -> bool:
        task = tasks.get(key)
        return task is not None and task.state != "cancelled"

    return count_part(spec, version, is_wanted)


def _counted(client: Client, specs: Specs, watcher: Watcher) -> list[Part]:
    from distributed import as_completed

    name = f"dbdyno-{time.time_ns():x}"
    paths = {f"{name}-{number}": path for number, (path, _) in enumerate(specs)}
    counted = [
        client.submit(count_on_worker, spec, engine.VERSION, key, key=key, pure=False)
        for key, (_, spec) in zip(paths, specs, strict=True)
    ]
    united = [_tree(client, run) for run in _runs(counted)]
    # A part that is done stays where it is, for as long as its union needs it: nobody holds on to it here.
    waiting = {future.key: future for future in counted}
    counted.clear()
    try:
        for done in as_completed(list(waiting.values()), loop=client.loop):
            if done.status != "finished":
                done.result()
            del waiting[done.key]
            watcher(paths[str(done.key)])
        return list(client.gather(united))
    except BaseException as error:
        client.cancel([*waiting.values(), *united])
        if failure := _failure(error, paths):
            raise failure from None
        raise


def _failure(error: BaseException, paths: Mapping[str, Path]) -> DynoError | None:
    """What a cluster may die of, in a line; None of what is not the cluster's."""
    from distributed import CancelledError, KilledWorker

    match error:
        case KilledWorker():
            named = paths.get(str(error.task), error.task)
            message = f"{named}: each worker that read it died; look into its log"
            return DynoError("worker_failed", message, exit_code=EXIT_RUN_FAILED)
        case ModuleNotFoundError():
            return DynoError("worker_failed", f"--scheduler: a worker has no {error.name}; install dbdyno there")
        case CancelledError() | OSError() | TimeoutError():
            message = f"--scheduler: the connection was lost: {str(error) or type(error).__name__}"
            return DynoError("scheduler_lost", message, exit_code=EXIT_RUN_FAILED)
        case _:
            return None


def _runs(counted: Sequence[Future[Part]]) -> list[list[Future[Part]]]:
    """In their order, as even as they come, ten at most."""
    many = min(GROWTH_POINTS, len(counted))
    bounds = [len(counted) * number // many for number in range(many + 1)]
    return [list(counted[start:end]) for start, end in itertools.pairwise(bounds)]


def _tree(client: Client, futures: Sequence[Future[Part]]) -> Future[Part]:
    """The union of a run."""
    while len(futures) > 1:
        parts = [futures[start : start + UNITED_AT_ONCE] for start in range(0, len(futures), UNITED_AT_ONCE)]
        futures = [client.submit(unite, part, pure=False) for part in parts]
    return futures[0]


def _outcome(parts: Sequence[Part], elapsed_ns: int) -> tuple[dict[str, Any], bytes]:
    """Of the unions from the first part on, each with one more; the last one is the whole."""
    grown = list(itertools.accumulate(parts, lambda whole, part: unite([whole, part])))
    whole = grown[-1]
    steps = [engine.sketch_estimates(part.sketches)["columns"] for part in grown]
    counted = [
        {
            **{key: column[key] for key in ("name", "type", "nulls", "ndv", "exact")},
            "value_bytes": None,
            "growth": [
                {"rows": step[place]["rows"], "nulls": step[place]["nulls"], "ndv": step[place]["ndv"]["estimate"]}
                for step in steps
            ],
            "samples": [],
        }
        for place, column in enumerate(steps[-1])
    ]
    outcome = {
        "format": 1,
        "rows": whole.rows,
        "bytes": whole.read_bytes,
        "elapsed_ns": elapsed_ns,
        "client_cpu_ns": whole.cpu_ns,
        "columns": counted[: len(counted) - whole.groups],
        "groups": counted[len(counted) - whole.groups :],
        "not_counted": list(whole.not_counted),
        "notes": [],
    }
    return outcome, whole.sketches
