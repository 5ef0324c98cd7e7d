"""The figures of one trial by which an index is weighed: how long each kind of transaction took, what writing cost.

A trial's writes are counted by the server over the whole trial. They are taken per row written, not per unit: trials
of one arm draw slightly different mixes of transactions, and rows written follow the mix where units do not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from dbdyno.analysis.documents import Document

# Figure -> whether more of it is better. Shares are compared by their difference, the others by their ratio.
COSTS: Mapping[str, bool] = {
    "wal_bytes_per_row_written": False,
    "buffers_written_per_row_written": False,
    "hot_share": True,
    "new_page_share": False,
}
SHARES = frozenset({"hot_share", "new_page_share"})


def response_times_ns(trial: Document) -> dict[str, float]:
    """The mean response time of each kind of transaction that succeeded at least once."""
    found: dict[str, list[Document]] = {}
    for script in trial["outcome"]["scripts"]:
        found.setdefault(script["name"], []).append(script["response_time"])
    sums = {name: (sum(c["sum_ns"] for c in clocks), sum(c["count"] for c in clocks)) for name, clocks in found.items()}
    return {name: total / count for name, (total, count) in sums.items() if count and total}


def cost(figure: str, trial: Document) -> float | None:
    """A key of `COSTS`; None where the server does not count it, or nothing was written."""
    server = trial["server"]
    match figure:
        case "wal_bytes_per_row_written":
            return _share(server, ["wal_bytes"], _ROWS_WRITTEN)
        case "buffers_written_per_row_written":
            return _share(server, ["buffers_written"], _ROWS_WRITTEN)
        case "hot_share":
            return _share(server, ["rows_updated_hot"], ["rows_updated"])
        case "new_page_share":
            return _share(server, ["rows_updated_new_page"], ["rows_updated"])
    raise KeyError(figure)


_ROWS_WRITTEN = ("rows_inserted", "rows_updated", "rows_deleted")


def _share(server: Document, parts: Sequence[str], whole: Sequence[str]) -> float | None:
    if not server.keys() >= {*parts, *whole}:
        return None
    total = sum(server[name] for name in whole)
    return sum(server[name] for name in parts) / total if total else None


def scans(index: str, trial: Document) -> int | None:
    """How often an index was scanned in a trial; None where that was not asked."""
    found: int | None = trial.get("index_scans", {}).get(index)
    return found


def scripts_using(index: str, trial: Document) -> set[str]:
    """The kinds of transactions with a plan that uses an index, as far as plans are known."""
    pattern = re.compile(rf"(?: using | Index Scan on ){re.escape(index)}(?: on |$|[ )])")
    return {plan["script"] for plan in trial.get("plans", ()) if pattern.search(f" {plan['shape']}")}


def units(trial: Document) -> int:
    """All units of a trial, warm-up and cool-down included where they are known: what the server counted over."""
    outcome = trial["outcome"]
    return int(outcome.get("units_with_warm_up", outcome["units"]["successful"]))
