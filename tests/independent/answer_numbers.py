"""How far answers are off, what they cost, and the fastest arm at each error, as docs/findings.md has them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from journal_reader import Document
from rank_statistics import estimate, interval, pseudo_median

Logs = Callable[[tuple[str, str], str], list[float]]


def answers(truth: dict[str, float], trials: list[Document]) -> list[Document]:
    """Errors relative to the truth."""
    found = []
    for question, right in truth.items():
        given = [trial.get("answers", {}).get(question) for trial in trials]
        if None in given:
            continue
        said = np.array(given, dtype=float)
        errors = said / right - 1 if right else (said != 0).astype(float)
        found.append(
            {
                "truth": float(right), "answers": said.tolist(),
                "error_mean": float(np.mean(errors)), "error_rms": float(np.sqrt(np.mean(np.square(errors)))),
                "error_low": float(errors.min()), "error_high": float(errors.max()),
            }
        )  # fmt: skip
    return found


def cost(trials: list[Document], units: int | None) -> Document | None:
    """Memory and CPU over trials, temporary bytes a unit."""
    works = [trial.get("work") for trial in trials]
    if not all(works):
        return None
    temp = [t["server"].get("temp_bytes", 0) + w.get("write_bytes", 0) for t, w in zip(trials, works, strict=True) if w]
    return {
        **{
            key: None if None in (values := [work[key] for work in works if work]) else pseudo_median(values)
            for key in ("memory_bytes", "cpu_ns")
        },
        "temp_bytes": sum(temp) / units if units else None,
    }


def tradeoffs(run: Document, arms: dict[str, Document], failed: set[str], logs: Logs) -> list[Document]:
    """Errors of the steps, and each one's time over that of the step before.

    Args:
        run: the run document.
        arms: the recomputed numbers of each arm.
        failed: arms that failed a check, from the findings: words, not numbers.
        logs: the log ratio of each block, of a pair and a metric.
    """
    records = {arm["arm"]: arm for arm in run["arms"]}
    found = []
    for baseline in dict.fromkeys(arm["baseline"] or arm["arm"] for arm in run["arms"] if arm["arm"] in arms):
        group = [
            name for name, arm in records.items()
            if name in arms and name not in failed and baseline in (name, arm["baseline"])
            and arms[name]["answers"] and not arm.get("null")
        ]  # fmt: skip
        for on_copy in (False, True):
            there = [one for one in group if (records[one].get("engine") in ("duckdb", "sqlite")) == on_copy]
            exact = [one for one in there if (records[one].get("expect") or {}).get("error") == 0]
            ranked = [one for one in there if one in exact or records[one].get("seeded")]
            if ranked:
                found.append({"steps": _steps(ranked, exact, arms, logs)})
    return found


def _steps(names: list[str], exact: list[str], arms: dict[str, Document], logs: Logs) -> list[Document]:
    rank = {one: (one not in exact, max(answer["error_rms"] for answer in arms[one]["answers"])) for one in names}
    steps: list[Document] = []
    last = None
    for worst in sorted(set(rank.values())):
        fastest = min((one for one in names if rank[one] <= worst), key=lambda one: arms[one]["elapsed_ns"]["estimate"])
        ratio = None if last is None else _ratio(logs((fastest, last), "elapsed_ns"))
        if ratio is None or (ratio["high"] is not None and ratio["high"] < 1):
            steps.append({"error": rank[fastest][1], "ratio": ratio})
            last = fastest
    return steps


def _ratio(logs: list[float]) -> Document:
    return estimate(logs, interval(logs, 0.95), logs=True)
