"""Synthetic runs in which together every number of a findings document appears."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import cell_text
import hdr
import numpy as np
import synthetic
from counting_run import counting_run

Document = dict[str, Any]
Run = tuple[Document, Document, list[Document]]


def everything_recorded() -> Run:
    """Two loads, all counters, changing plans with EXPLAIN, lengths of waits, steps of all kinds within the windows."""
    run, machine, trials = synthetic.run(arms=8, blocks=10, seed=3, noise=0.012)
    synthetic.add_evidence(trials)
    _disturb(trials, np.random.default_rng(3))
    for trial in trials:
        plan, outcome = trial["plans"][0], trial["outcome"]
        plan["shape"] = "Aggregate" if trial["block"] % 3 else "Aggregate > Seq Scan on web_returns"
        plan["explain"] = {"Plan": {"Actual Rows": trial["trial"]}} if trial["block"] == 1 else None
        trial["server"].update(rows_updated=400, rows_updated_hot=100 + trial["block"])
        trial["reset"][0]["ns"] += trial["trial"] * 1_000
        trial["outcomes"]["sessions"] = {"before": 0, "after": trial["block"]}
        outcome["profile"]["episodes"] = {
            "step_ns": 100_000_000, "bins_per_decade": 10, "shortest_ns": 1_000_000,
            "cells": [[step, 1 + step % 2, 60 + step, 3] for step in range(4)],
        }  # fmt: skip
        outcome["profile"].update(block_io_delay_ns=10_000_000, stolen_ns=2_000_000)
        outcome["units"].update(failed=3, retried=2, late=1)
        outcome["driver"]["lateness_ns"]["p99"] += trial["trial"]
    machine["server"]["page_bytes"] = 16_384
    return run, machine, trials


def _disturb(trials: list[Document], random: np.random.Generator) -> None:
    """Noise that costs throughput in some trials; a window that starts slowly, one with a step, checkpoints."""
    for trial in trials:
        other = float(random.beta(1, 20))
        trial["host"]["cpu_steal_share"] = float(random.beta(1, 100))
        trial["noise"] = {
            "other_cpu_share": other, "other_disk_share": float(random.random()),
            "other_disk_bytes_per_s": float(random.exponential(2e6)), "cpu_pressure_some_share": other,
            "io_pressure_some_share": float(random.beta(1, 9)), "memory_pressure_some_share": 0.0,
            "cpu_clock_hz": 3e9 * (1 - float(random.beta(1, 30))),
        }  # fmt: skip
        trial["outcome"]["throughput_per_s"] *= 1 - other / 2
        units = trial["outcome"]["series"]["units"]
        if trial["arm"].startswith("io-bound/nowait"):
            units[:2] = [round(count * 0.7) for count in units[:2]]
        if trial["block"] == 5:
            units[6:] = [round(count * 0.4) for count in units[6:]]
        trial["server"]["checkpoints"] = int(trial["block"] == 2)
        trial["server"]["autovacuums"] = int(trial["block"] == 4)
    trials[3]["noise"].pop("cpu_clock_hz")


def repeated_and_withheld() -> Run:
    """Blocks repeated at the end, one given up; an arm that did not do what its name says."""
    failed = [(2, "io-bound/wait-batch"), (5, "io-bound/wait-immediate"), (6, "io-bound/nowait-batch")]
    run, machine, trials = synthetic.run(arms=4, blocks=9, seed=4, noise=0.05, failed=failed)
    trials[0]["deviations"] = ["commit_delay: set to 410, the session says 0"]
    return run, machine, [trial for trial in trials if (trial["block"], trial["attempt"]) != (6, 1)]


def chunks() -> Run:
    """So few blocks that chunks of trials are resampled."""
    return synthetic.run(arms=2, blocks=4, seed=6)


def nothing_complete() -> Run:
    """No block in which every arm is ok."""
    run, machine, trials = synthetic.run(arms=2, blocks=7, seed=7)
    return run, machine, [trial for trial in trials if (trial["block"] + len(trial["arm"])) % 2]


def fixed_work() -> Run:
    """Units of whole trials, compared by the time that they took; nobody writes."""
    run, machine, trials = synthetic.run(arms=2, blocks=8, seed=8, fixed_units=300, metric="elapsed_ns", margin=0.2)
    synthetic.add_evidence(trials, cold=False)
    for trial in trials:
        trial["server"].update(rows_inserted=0, rows_updated=0, rows_deleted=0)
    return run, machine, trials


def ties() -> Run:
    """Compared by a percentile of few values: equal magnitudes and zeros."""
    shape = synthetic.Shape(cpu=900, run_queue=100, waits={"IO:WalSync": 200}, asleep_no_wait_event=20,
                            client_and_network=30, unaccounted=0, spread=0.05)  # fmt: skip
    shapes = {f"short/{name}": shape for name in ("baseline", "other", "third")}
    run, machine, trials = synthetic.run(
        blocks=14, seed=9, shapes=shapes, metric="response_time_ns_p50", fixed_units=1_200, noise=0.002
    )
    for arm in run["arms"]:
        arm["fixed_units"] = None
    return run, machine, trials


def open_loop() -> Run:
    """Arrivals from outside that queue; an arm on a server without clocks; rows are counted."""
    run, machine, trials = synthetic.run(arms=2, blocks=8, seed=10, metric="rows_per_s")
    for rows, arm in enumerate(run["arms"], start=3):
        arm.update(
            rows_per_unit=rows, arrival={"kind": "open", "process": "poisson", "start_per_s": 900, "end_per_s": 900}
        )
    for trial in trials:
        outcome = trial["outcome"]
        profile, count = outcome["profile"], outcome["units"]["successful"]
        waited = np.random.default_rng(trial["trial"]).exponential(20_000, count).astype(np.int64)
        outcome["queue_time"] = {"count": count, "sum_ns": int(waited.sum()), "histogram": hdr.encode(waited)}
        profile["queue_ns"], profile["unaccounted_ns"] = 40_000, profile["unaccounted_ns"] - 40_000
        cells = cell_text.unpack(profile["cells"])
        for cell in cells:
            cell[4] = cell[3] // 20
        profile["cells"] = cell_text.pack(cells)
        if trial["arm"] == "io-bound/wait-batch" and trial["block"] == 3:
            profile["unaccounted_ns"] += profile["cpu_ns"] + profile["run_queue_ns"]
            profile.update(cpu_ns=None, run_queue_ns=None)
    return run, machine, trials


def kinds_of_transactions() -> Run:
    """A mix of scripts, one of them rare; recorded before snapshots were kept by response time."""
    run, machine, trials = synthetic.run(arms=2, blocks=8, seed=11)
    synthetic.mix(trials, {"browse.sql": (900, 900_000), "order.sql": (300, 4_100_000)})
    for trial in trials:
        trial["outcome"]["profile"].pop("cells")
    trials[0]["outcome"]["scripts"][1].update(successful=0, failed=4)
    return run, machine, trials


def looks() -> Run:
    """A run that was looked at, and ended between two looks."""
    run, machine, trials = synthetic.run(arms=4, blocks=30, seed=12, noise=0.02)
    run["looks"] = [12, 18, 24, 30]
    return run, machine, [trial for trial in trials if trial["block"] < 20]


def decided_at_a_look() -> Run:
    """Stopped at the second look, because all was decided."""
    shapes = {name: synthetic.SHAPES[name] for name in ("io-bound/wait-immediate", "io-bound/nowait-batch")}
    run, machine, trials = synthetic.run(blocks=20, seed=13, shapes=shapes)
    run["looks"] = [8, 12, 16, 20]
    return run, machine, [trial for trial in trials if trial["block"] < 12]


def until_decided() -> Run:
    """Evidence for any time; a null arm on a machine that had some before; all pairs."""
    run, machine, trials = synthetic.run(arms=4, blocks=60, seed=14, noise=0.02)
    run.update(until_decided=True, all_pairs=True)
    run["arms"][3]["null"] = True
    machine["null_arms"] = {"runs": 40, "different": 3}
    return run, machine, [trial for trial in trials if trial["block"] < 14]


def indexes() -> Run:
    """An index that one kind of transaction needs, one that costs, and one of which too little is known."""
    levels = ("all-indexes", "without-vital", "without-costly", "without-dull")
    shapes = {f"users-8/{level}": synthetic.SHAPES["io-bound/wait-immediate"] for level in levels}
    run, machine, trials = synthetic.run(blocks=10, seed=15, shapes=shapes, noise=0.01)
    random = np.random.default_rng(15)
    for arm, level in zip(run["arms"], levels, strict=True):
        arm["levels"] = {"users": "users-8", "index": level}
        name = level.removeprefix("without-")
        arm["index"] = None if level == "all-indexes" else _index(name)
    for trial in trials:
        slow = 3.0 if trial["arm"].endswith("vital") else 1.0
        means = {"browse.sql": 900_000 * slow, "order.sql": 4_100_000}
        synthetic.mix([trial], {name: (300, round(ns * random.lognormal(0, 0.02))) for name, ns in means.items()})
        units = trial["outcome"]["units"]["successful"]
        cheap = 0.6 if trial["arm"].endswith("costly") else 1.0
        trial["server"].update(
            wal_bytes=round(300 * units * cheap * random.lognormal(0, 0.01)), buffers_written=units // 7,
            rows_inserted=units, rows_updated=2 * units, rows_deleted=units // 10,
            rows_updated_hot=units // (2 if cheap == 1.0 else 1), rows_updated_new_page=units // 3,
        )  # fmt: skip
        trial["index_scans"] = {"vital": 4 * units, "costly": 0, "dull": 3}
        trial["plans"] = [
            {**synthetic.PLAN, "script": "browse.sql", "shape": "Limit > Index Scan using vital on t"},
            {**synthetic.PLAN, "script": "order.sql", "shape": "Limit > Index Scan using dull on t"},
        ]
    return run, machine, trials


def _index(name: str) -> Document:
    return {
        "factor": "index", "name": name, "table": "t", "definition": f"CREATE INDEX {name} ON t (x)", "bytes": 8192,
        "sql": f"DROP INDEX {name};", "undo": f"CREATE INDEX {name} ON t (x);",
    }  # fmt: skip


def slow_and_few() -> Run:
    """So few units that some bands have no snapshots."""
    shape = dataclasses.replace(synthetic.SHAPES["cpu-bound/wait-batch"], cpu=90_000_000)
    return synthetic.run(blocks=7, seed=16, shapes={"slow/one": shape, "slow/two": shape})


def plain_io() -> Run:
    """Bytes a second of fixed work: one arm by a server, one by plain reads that the page cache partly served."""
    run, machine, trials = synthetic.run(arms=2, blocks=8, seed=15, metric="bytes_per_s", fixed_units=40)
    synthetic.add_evidence(trials)
    for arm, opened in zip(run["arms"], (None, "buffered"), strict=True):
        arm.update(fixed_units=40, bytes_per_unit=8_192_000, file={"access": "read", "open": opened})
    for trial in trials:
        if trial["arm"] == run["arms"][1]["arm"]:
            moved = 8_192_000 * 40
            cached = moved // (trial["block"] + 2)
            trial["file"] = {"bytes": moved, "read_bytes": moved - cached, "file_bytes": 8_192_000}
            trial["outcome"]["profile"].update(route="own clocks", cells="")
    return run, machine, trials


def counts() -> Run:
    """Answers whose truth is known, by a server and by other engines."""
    return counting_run(blocks=9, seed=22)


RUNS: dict[str, Callable[[], Run]] = {
    maker.__name__: maker
    for maker in (
        everything_recorded, repeated_and_withheld, chunks, nothing_complete, fixed_work, ties, open_loop,
        kinds_of_transactions, looks, decided_at_a_look, until_decided, indexes, slow_and_few, plain_io, counts,
    )
}  # fmt: skip
