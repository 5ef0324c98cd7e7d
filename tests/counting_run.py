"""A synthetic run whose arms count: an exact one, estimates with seeds, one without, and two on a copy of the table."""

from __future__ import annotations

from typing import Any

import numpy as np
import synthetic

Document = dict[str, Any]
TRUTH = {"id": 1_000_000, "ten": 10}

# Time of a unit, engine, whether it claims to be exact and takes a seed, standard error, memory and temporary bytes.
ARMS: dict[str, tuple[int, str | None, bool, bool, float, int, int]] = {
    "exact": (900_000_000, None, True, False, 0.0, 40 << 20, 200 << 20),
    "rewrite": (600_000_000, None, True, False, 0.0, 90 << 20, 0),
    "hll": (300_000_000, None, False, True, 0.008, 5 << 20, 0),
    "ndv": (305_000_000, "ndv-copy", False, True, 0.0081, 4 << 20, 0),
    "duckdb": (100_000_000, "duckdb", True, False, 0.0, 80 << 20, 0),
    "lucky": (20_000_000, "duckdb", False, False, 0.0, 2 << 20, 0),
}


def counting_run(blocks: int = 10, seed: int = 21, noise: float = 0.01) -> tuple[Document, Document, list[Document]]:
    """Of fixed work; `lucky` always says 999,000 and 10, the exact ones the truth."""
    shapes = {
        f"both/{name}": synthetic.Shape(
            cpu=ns - ns // 8 - ns // 50, run_queue=ns // 8, waits={"IO:DataFileRead": ns // 50},
            asleep_no_wait_event=0, client_and_network=0, unaccounted=0, spread=0.01,
        )
        for name, (ns, *_) in ARMS.items()
    }  # fmt: skip
    run, machine, trials = synthetic.run(
        blocks=blocks, seed=seed, shapes=shapes, metric="elapsed_ns", noise=noise, fixed_units=1
    )
    synthetic.add_evidence(trials)
    run["truth"] = dict(TRUTH)
    for arm, (name, (_, engine, exact, seeded, *_)) in zip(run["arms"], ARMS.items(), strict=True):
        arm.update(
            levels={"columns": "both", "method": name}, fixed_units=1, engine=engine, seeded=seeded,
            expect={"error": 0.0 if exact else 0.05},
        )  # fmt: skip
    random = np.random.default_rng(seed)
    for trial in trials:
        name = trial["arm"].removeprefix("both/")
        _, engine, _, seeded, error, memory, temp = ARMS[name]
        off = float(random.normal(0, error)) if seeded else -0.001 if name == "lucky" else 0.0
        trial["answers"] = {"id": 1_000_000 * (1 + off), "ten": 10.0}
        trial["work"] = {"memory_bytes": memory + trial["block"], "cpu_ns": trial["outcome"]["elapsed_ns"] // 2}
        trial["server"]["temp_bytes"] = temp
        if engine is not None:
            trial["work"].update(read_bytes=0, write_bytes=4096, file_bytes=1 << 20 if engine == "duckdb" else None)
            trial["outcome"]["profile"].update(route="own clocks", cells="")
    return run, machine, trials
