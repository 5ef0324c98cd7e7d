"""Server processes that serve no client: their CPU, and where they slept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Background


def background(outcomes: Sequence[Document]) -> list[Background]:
    """Processes of one kind together, the busiest kind first.

    A process is watched a little longer than the window, while the last units end; so its shares are of its own
    watched time, which is the sum of its parts. CPU and run queue of several processes add up, waits are averaged.
    """
    processes: dict[str, list[Document]] = {}
    for process in (process for outcome in outcomes for process in outcome["background"]):
        processes.setdefault(process["backend_type"], []).append(process)
    found = [_of_kind(kind, alike, len(outcomes)) for kind, alike in processes.items()]
    return sorted(found, key=lambda background: (-background.cpu_share, background.backend_type))


def _of_kind(kind: str, processes: Sequence[Document], trials: int) -> Background:
    waits_ns: Counter[str] = Counter()
    for process in processes:
        waits_ns.update(process["waits_ns"])
    cpu_ns = sum(process["cpu_ns"] or 0 for process in processes)
    run_queue_ns = sum(process["run_queue_ns"] or 0 for process in processes)
    asleep_ns = sum(process["asleep_no_wait_event_ns"] for process in processes)
    process_ns = cpu_ns + run_queue_ns + asleep_ns + waits_ns.total()
    wall_ns = process_ns * trials / len(processes)
    return Background(
        backend_type=kind,
        cpu_share=cpu_ns / wall_ns if wall_ns else 0.0,
        run_queue_share=run_queue_ns / wall_ns if wall_ns else 0.0,
        wait_shares={event: ns / process_ns for event, ns in waits_ns.most_common()},
    )
