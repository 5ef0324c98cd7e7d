"""Columns of known values, counted as the core counts them: its outcome, made from arrays.

Values are whole numbers in the order of their rows, -1 for null. Samples are drawn as ANALYZE draws them: pages at
random, then rows at random among those of these pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.int64]
TARGETS = (100, 1000, 10000)


def outcome(columns: Mapping[str, Values], pages: int, seed: int = 1, groups: Sequence[Sequence[str]] = ()) -> Any:
    """What `_core.ndv_scan_postgres` would return, exact; `pages` is how many the table has."""
    rows = len(next(iter(columns.values())))
    return {
        "format": 1,
        "rows": rows,
        "bytes": 0,
        "elapsed_ns": 1,
        "client_cpu_ns": 1,
        "columns": [{"name": name, **_counted(values, pages, seed)} for name, values in columns.items()],
        "groups": [
            {"name": ", ".join(names), **_counted(_together([columns[name] for name in names]), pages, seed)}
            for names in groups
        ],
    }


def sample(values: Values, pages: int, target: int, seed: int) -> dict[str, int]:
    """The counts of what ANALYZE would draw."""
    random = np.random.default_rng([seed, target])
    wanted = 300 * target
    page = np.arange(len(values)) * pages // max(len(values), 1)
    chosen = random.permutation(pages)[:wanted]
    rows = np.flatnonzero(np.isin(page, chosen))
    drawn = values[random.permutation(rows)[:wanted]]
    _, counts = np.unique(drawn[drawn >= 0], return_counts=True)
    return {
        "target": target,
        "rows": len(drawn),
        "nulls": int((drawn < 0).sum()),
        "distinct": len(counts),
        "once": int((counts == 1).sum()),
        "wide": 0,
    }


def _counted(values: Values, pages: int, seed: int) -> dict[str, Any]:
    rows = len(values)
    first = np.unique(values, return_index=True)[1][np.unique(values) >= 0]
    found = float(len(first))
    steps = [rows * step // 10 for step in range(1, 11)]
    return {
        "nulls": int((values < 0).sum()),
        "value_bytes": 8 * rows,
        "ndv": {"estimate": found, "low": found, "high": found},
        "exact": True,
        "growth": [
            {"rows": step, "nulls": int((values[:step] < 0).sum()), "ndv": float((first < step).sum())}
            for step in steps
        ],
        "samples": [sample(values, pages, target, seed) for target in TARGETS],
    }


def _together(columns: Sequence[Values]) -> Values:
    return np.unique(np.column_stack(columns), axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
