"""A third of a file that is slower than its others, on response times that are known."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from synthetic_calibration import nothing

from dbdyno.analysis.calibration.findings import FileFigures
from dbdyno.analysis.calibration.per_file import per_file
from dbdyno.analysis.calibration.recognising import verdicts

MIB = 1 << 20
NAMED = {"path": "base/1/2", "bytes": 96 * MIB, "device": "sda", "file_system": "ext4"}


def entry(file: int, part: int | None, depth: int, block: int, mean_ns: float, zeros: int = 0) -> dict[str, Any]:
    """A cell of 100 ms in which all reads took the same time."""
    reads = round(depth * 1e8 / mean_ns)
    bin_ = int(np.floor(50 * np.log10(mean_ns)))
    return {
        "phase": "files",
        "block": block,
        "level": {"file": file, "part": part, "depth": depth},
        "work": {"first_byte": (part or 0) * 32 * MIB, "span_bytes": 32 * MIB},
        "outcome": {
            "reads": reads,
            "writes": 0,
            "window_ns": 100_000_000,
            "response_time": {"count": reads, "sum_ns": round(reads * mean_ns)},
            "zero_response_time": {"count": min(zeros, reads)},
            "heat": [[0, bin_, reads]],
        },
    }


def entries(seed: int, slower: dict[tuple[int, int], float], files: int = 1, zeros: int = 0) -> list[dict[str, Any]]:
    """12 blocks with a drift that all cells of a block share and 10 % of noise of their own."""
    random = np.random.default_rng(seed)
    found = []
    for block in range(12):
        drift = float(np.exp(random.normal(0.0, 0.3)))
        for file in range(files):
            for part, depth in [(None, 1), (None, 16), (0, 1), (1, 1), (2, 1)]:
                times = slower.get((file, part), 1.0) if part is not None else 1.0
                mean_ns = 1e5 * drift * times * float(np.exp(random.normal(0.0, 0.1)))
                found.append(entry(file, part, depth, block, mean_ns, zeros))
    return found


def figures(seed: int, slower: dict[tuple[int, int], float], files: int = 1, zeros: int = 0) -> list[FileFigures]:
    """What is found of them."""
    named = [{**NAMED, "path": f"base/1/{2 + file}"} for file in range(files)]
    return list(per_file(entries(seed, slower, files, zeros), named, seed))


def slow(found: list[FileFigures]) -> list[tuple[int, int]]:
    """(file, third) of those that are told."""
    return [(number, part) for number, file in enumerate(found) for part, third in enumerate(file.thirds) if third.slow]


def test_a_slow_third_is_named_with_its_interval() -> None:
    """The last third takes 1.4 times as long: told so, and no other."""
    found = figures(1, {(0, 2): 1.4})
    [sentence] = [one.sentence for one in verdicts(dataclasses.replace(nothing(), files=found), 0.0)]
    third = found[0].thirds[2]

    assert slow(found) == [(0, 2)]
    assert third.ratio.low is not None
    assert third.ratio.high is not None
    assert third.ratio.low < 1.4 < third.ratio.high
    assert sentence == (
        f"The last third of base/1/2 is {third.ratio.estimate:.2g} [{third.ratio.low:.2g}, {third.ratio.high:.2g}] "
        "times slower than the rest of it."
    )


def test_among_several_files_the_right_one_is_named_and_no_other() -> None:
    """20 times three files of which one has a slow first third, and 20 times none."""
    named = [slow(figures(seed, {(1, 0): 1.5}, files=3)) for seed in range(20)]
    clean = [slow(figures(100 + seed, {}, files=3)) for seed in range(20)]

    assert sum(one == [(1, 0)] for one in named) >= 19
    assert sum(one != [] for one in clean) <= 1


def test_a_tenth_slower_is_nothing_to_tell() -> None:
    """The rim of a disk and its middle differ by more."""
    assert sum(bool(slow(figures(seed, {(0, 2): 1.1}))) for seed in range(20)) == 0


def test_with_pages_that_were_never_written_no_third_is_called_slow() -> None:
    """The zeros are told by themselves."""
    found = figures(1, {(0, 2): 1.4}, zeros=400)

    assert found[0].zero_share > 0.05
    assert slow(found) == []


def test_the_file_as_a_whole() -> None:
    """One read at a time, and the IOPS of 16."""
    [found] = figures(1, {})

    assert found.idle is not None
    assert 0.7e5 < found.idle.p50_ns.estimate < 1.4e5
    assert found.depth == 16
    assert found.iops is not None
    assert 1.1e5 < found.iops.estimate < 2.2e5
    assert (found.path, found.bytes_, found.device, found.zero_share) == ("base/1/2", 96 * MIB, "sda", 0.0)


def test_it_may_be_interrupted_anywhere() -> None:
    """Whatever of the first block was measured, and a block more: figures or none, and no failure."""
    every = entries(1, {})
    for count in range(2 * 5 + 1):
        [found] = per_file(every[:count], [NAMED], 1)
        assert len(found.thirds) == (3 if count >= 5 else 0)


def test_what_was_interrupted_before_it_began_has_no_figures() -> None:
    """The file is named all the same."""
    [found] = per_file([], [NAMED], 1)

    assert (found.idle, found.iops, found.thirds) == (None, None, ())
