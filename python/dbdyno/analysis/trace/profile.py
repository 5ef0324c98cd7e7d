"""Lines of profiles: time on CPU, waits by name, and what is left, which is a line like any other."""

from __future__ import annotations

from collections.abc import Sequence

from dbdyno.analysis.documents import Document
from dbdyno.analysis.trace.findings import CPU, UNACCOUNTED, ProfileLine


def lines_of(cpu_ns: int, waits: Sequence[Document], unaccounted_ns: int, whole_ns: int) -> list[ProfileLine]:
    """The largest first; what nobody accounts for comes last.

    Args:
        waits: of the outcome, each event once.
        whole_ns: what the lines add up to.
    """

    def share(ns: int) -> float | None:
        return ns / whole_ns if whole_ns > 0 else None

    cpu = ProfileLine("CPU", CPU, cpu_ns, share(cpu_ns))
    lines = [cpu, *(_wait(wait, share(int(wait["sum_ns"]))) for wait in waits)]
    lines = [line for line in lines if line.ns or line.count]
    rest = ProfileLine("unaccounted for", UNACCOUNTED, unaccounted_ns, share(unaccounted_ns))
    return [*sorted(lines, key=lambda line: (-line.ns, line.name)), rest]


def _wait(wait: Document, share: float | None) -> ProfileLine:
    return ProfileLine(
        name=wait["event"],
        of=wait["class"],
        ns=int(wait["sum_ns"]),
        share=share,
        count=int(wait["count"]),
        mean_ns=wait["sum_ns"] / wait["count"],
        max_ns=int(wait["max_ns"]),
        first_line=int(wait["first_line"]),
        slowest_line=int(wait["slowest_line"]),
    )
