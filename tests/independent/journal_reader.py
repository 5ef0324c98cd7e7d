"""Reads a run directory as docs/run-directory.md describes it, and finds out which trials count."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

Document = dict[str, Any]
Blocks = dict[int, dict[str, Document]]  # block -> arm -> its trial that counts


def read_run(directory: Path) -> tuple[Document, Document, list[Document]]:
    """The bodies of the run, of the last machine and of all trials; refuses a line whose checksum does not fit."""
    bodies: dict[str, list[Document]] = {"run": [], "machine": [], "trial": [], "end": []}
    for number, line in enumerate((directory / "journal.jsonl").read_text(encoding="utf-8").splitlines()):
        covered, _, rest = line.rpartition(',"sha256":')
        assert json.loads(rest[:-1]) == hashlib.sha256(covered.encode()).hexdigest(), f"line {number + 1}"
        record = json.loads(covered + "}")
        assert record["seq"] == number
        bodies[record["kind"]].append(record["body"])
    return bodies["run"][0], bodies["machine"][-1], bodies["trial"]


def is_ok(trial: Document) -> bool:
    """It did not fail, and some unit succeeded."""
    return trial["status"] == "ok" and trial["outcome"]["units"]["successful"] > 0


def counted_blocks(run: Document, trials: list[Document]) -> Blocks:
    """A block counts with its first attempt in which every arm is ok."""
    names = {arm["arm"] for arm in run["arms"]}
    found: Blocks = {}
    for block in range(run["blocks"]):
        for attempt in sorted({trial["attempt"] for trial in trials if trial["block"] == block}):
            of_it = {t["arm"]: t for t in trials if (t["block"], t["attempt"]) == (block, attempt) and is_ok(t)}
            if block not in found and of_it.keys() == names:
                found[block] = of_it
    return found


def counted_trials(arm: str, blocks: Blocks, trials: list[Document]) -> list[tuple[int, Document]]:
    """The trials of one arm that its figures are made of, in the order of time, each with its place in the run.

    Where no block is complete, all that are ok.
    """
    in_time = sorted(trials, key=lambda trial: trial["trial"])
    counting = {id(trial) for of_it in blocks.values() for trial in of_it.values()}
    return [
        (place, trial)
        for place, trial in enumerate(in_time)
        if trial["arm"] == arm and (id(trial) in counting if blocks else is_ok(trial))
    ]
