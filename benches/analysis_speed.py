"""How long the analysis of a long run takes: 10 arms in 1,000 blocks, 10,000 trials, in CPU time.

The trials are synthetic and as large as those of short trials on a real server: some hundred units in a hundred
cells, response times and snapshots in them. A few hundred of them are made and the others are copies with other
figures: every trial has a throughput, times and histograms of its own, so that nothing is known from another trial.
Reading the journal is not the analysis and is measured beside it.

    make bench, or: python benches/analysis_speed.py [--blocks 1000] [--repeats 3] [--by-function]

The bound is that of the analysis: 2 s for 10,000 trials.
"""

from __future__ import annotations

import argparse
import base64
import cProfile
import gc
import json
import pstats
import struct
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import cell_text
import hdr
import numpy as np
import synthetic

from dbdyno.analysis.analyse import analyse
from dbdyno.analysis.findings import to_json
from dbdyno.store import journal

Document = dict[str, Any]

ARMS = 10
# So many blocks of each arm are made; the others are copies.
MADE = 20
BOUND_S = 2.0


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, default=1_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--by-function", action="store_true", help="where the time goes, by cProfile")
    asked = parser.parse_args()

    run, machine, trials = long_run(asked.blocks)
    print(f"{len(trials):,} trials, {ARMS} arms, {asked.blocks:,} blocks; of one trial: {_size(trials[0])}")
    # Analysed is what was read: copies share their cells, and what is shared is quicker to walk through.
    lines = b"".join(journal.encode(seq, "trial", trial) for seq, trial in enumerate(trials))
    begin = time.process_time()
    trials = [record.body for record in journal.parse(lines, "journal").records]
    read_s = time.process_time() - begin
    gc.freeze()  # as the command does: what was read has no cycles
    analyse_s = least(asked.repeats, lambda: analyse(run, machine, trials))
    findings = analyse(run, machine, trials)
    bound_s = BOUND_S * len(trials) / 10_000
    print(
        f"analysis         {analyse_s:7.2f} s   of {bound_s:.2f} s at most; {analyse_s / len(trials) * 1e6:.0f} us each"
    )
    print(f"read the journal {read_s:7.2f} s")
    print(f"write the JSON   {least(asked.repeats, lambda: to_json(findings)):7.2f} s")
    if asked.by_function:
        _by_function(lambda: analyse(run, machine, trials))


def long_run(blocks: int) -> tuple[Document, Document, list[Document]]:
    """The documents of a run of so many blocks."""
    made = min(blocks, MADE)
    run, machine, trials = synthetic.run(arms=ARMS, blocks=made, shapes=_shapes())
    of_first = run["schedule"]
    run["blocks"] = blocks
    run["schedule"] = [
        {**place, "trial": place["trial"] + turn * len(of_first), "block": place["block"] + turn * made}
        for turn in range(-(-blocks // made))
        for place in of_first
        if place["block"] + turn * made < blocks
    ]
    random = np.random.default_rng(1)
    copies = [_varied(trials[place["trial"] % len(trials)], place, random) for place in run["schedule"]]
    return run, machine, copies


def _shapes() -> dict[str, synthetic.Shape]:
    """Arms that differ a little, with units of some milliseconds."""
    return {
        f"short/arm-{number}": synthetic.Shape(
            cpu=6_400_000 + 40_000 * number,
            run_queue=9_400_000,
            waits={"IO:WalSync": 400_000, "LWLock:WALWrite": 52_000, "Lock:transactionid": 90_000},
            spread=0.15,
        )
        for number in range(ARMS)
    }


def _varied(trial: Document, place: Document, random: np.random.Generator) -> Document:
    """A copy in another block, slower by some hundredths, with histograms that are shifted by some buckets."""
    slower, buckets = 1 + random.normal(0.0, 0.01), int(random.integers(0, 50))
    outcome = trial["outcome"]
    profile = outcome["profile"]
    clocks = {
        name: _shifted(outcome[name], buckets, slower) for name in ("response_time", "service_time", "queue_time")
    }
    scripts = [
        {**script, "response_time": _shifted(script["response_time"], buckets, slower)} for script in outcome["scripts"]
    ]
    return {
        **trial,
        **place,
        "outcome": {
            **outcome,
            **clocks,
            "scripts": scripts,
            "throughput_per_s": outcome["throughput_per_s"] / slower,
            "profile": dict(profile),
        },
    }


def _shifted(clock: Document, buckets: int, slower: float) -> Document:
    """Every value in a bucket so many further up: a histogram of its own, made without counting units again."""
    if not clock["sum_ns"]:
        return dict(clock)
    body = zlib.decompress(base64.b64decode(clock["histogram"])[8:])
    numbers = list(hdr._numbers(body[hdr.HEADER.size :]))
    numbers[0] -= buckets  # a negative number is a run of empty buckets
    payload = b"".join(hdr._zigzag_leb128(number) for number in numbers)
    head = hdr.HEADER.unpack_from(body)
    packed = zlib.compress(hdr.HEADER.pack(head[0], len(payload), *head[2:]) + payload)
    text = base64.b64encode(struct.pack(">ii", hdr.COOKIE_COMPRESSED, len(packed)) + packed).decode("ascii")
    return {**clock, "sum_ns": round(clock["sum_ns"] * slower), "histogram": text}


def least(repeats: int, work: Callable[[], object]) -> float:
    """CPU seconds of the fastest of some repeats: what others on the machine add is never negative.

    Nothing is known from the repeat before: a report is made in a new process.
    """

    def once() -> float:
        _forget()
        begin = time.process_time()
        work()
        return time.process_time() - begin

    return min(once() for _ in range(repeats))


def _forget() -> None:
    modules = [module for name, module in sys.modules.items() if name.startswith("dbdyno.analysis.")]
    for one in (one for module in modules for one in vars(module).values() if hasattr(one, "cache_clear")):
        one.cache_clear()


def _by_function(work: Callable[[], object]) -> None:
    _forget()
    profiler = cProfile.Profile()
    profiler.runcall(work)
    pstats.Stats(profiler).sort_stats("tottime").print_stats(30)


def _size(trial: Document) -> str:
    cells = cell_text.unpack(trial["outcome"]["profile"]["cells"])
    snapshots = sum(len(cell[-1]) for cell in cells)
    units = trial["outcome"]["units"]["successful"]
    return f"{units} units, {len(cells)} cells, {snapshots} rows of snapshots, {len(json.dumps(trial)):,} bytes"


if __name__ == "__main__":
    main()
