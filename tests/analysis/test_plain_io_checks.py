"""Plain I/O must have done what its arm's name says: past the page cache, from the device, on the device."""

from __future__ import annotations

from typing import Any

import pytest
import synthetic

from dbdyno.analysis.analyse import analyse
from dbdyno.analysis.findings import Findings

MOVED = 100_000_000
ARM = "io-bound/wait-batch"


def judged(work: dict[str, Any], expect: dict[str, Any], file: dict[str, int], device: dict[str, int]) -> Findings:
    """Two arms of which the second is plain I/O, with this evidence in each of its trials."""
    run, machine, trials = synthetic.run(arms=2, blocks=8, noise=0.001, fixed_units=20)
    synthetic.add_evidence(trials)
    for arm in run["arms"]:
        arm["fixed_units"] = 20
    run["arms"][1].update(file=work, expect=expect, bytes_per_unit=MOVED // 20)
    for trial in trials:
        if trial["arm"] == ARM:
            trial["file"] = {"bytes": MOVED, "file_bytes": MOVED, "read_bytes": 0, "resident_bytes_after": 0, **file}
            trial["device"].update(device)
    return analyse(run, machine, trials)


def failed(findings: Findings) -> list[tuple[str, str]]:
    """Of the second arm: which check, and what was seen."""
    return [(check.check, check.seen) for check in findings.arms[1].checks if not check.holds]


READ, WRITE = {"access": "read", "open": "buffered"}, {"access": "write", "open": "direct"}


@pytest.mark.parametrize(
    ("expect", "read_bytes", "seen"),
    [
        ("1.0", MOVED, []),
        ("1.0", MOVED * 98 // 100, [("physical reads", "98 %")]),
        ("0.0", MOVED // 200, []),
        ("0.0", MOVED // 4, [("physical reads", "25 %")]),
    ],
)
def test_cold_and_again_are_told_by_what_the_thread_had_the_storage_read(
    expect: str, read_bytes: int, seen: list[tuple[str, str]]
) -> None:
    """Whatever others read from the device meanwhile."""
    findings = judged(READ, {"physical_reads": expect}, {"read_bytes": read_bytes}, {"read_bytes": 10 * MOVED})

    assert failed(findings) == seen
    assert (findings.comparisons[0].limited_by == ["check"]) == bool(seen)


@pytest.mark.parametrize(
    ("work", "resident", "written", "seen"),
    [
        (WRITE, 0, MOVED, []),
        (WRITE, MOVED // 2, MOVED, [("page cache", "50,000,000 bytes")]),
        (WRITE, 0, MOVED // 2, [("physical writes", "50 %")]),
        ({"access": "write", "open": "synchronous"}, MOVED, MOVED // 2, [("physical writes", "50 %")]),
        ({"access": "write", "open": "buffered"}, MOVED, 0, []),
        ({"access": "read", "open": "direct"}, MOVED, 0, [("page cache", "100,000,000 bytes")]),
    ],
)
def test_what_is_opened_direct_or_synchronous_shows_it(
    work: dict[str, str], resident: int, written: int, seen: list[tuple[str, str]]
) -> None:
    """Without being expected: the page cache holds nothing of a direct file, the device got what was written."""
    assert failed(judged(work, {}, {"resident_bytes_after": resident}, {"write_bytes": written})) == seen


def test_rows_are_not_compared_where_bytes_are_the_work() -> None:
    """Plain I/O returns none."""
    assert "rows" not in [check.check for check in judged(READ, {}, {}, {}).arms[1].checks]


def test_bytes_per_second_are_those_of_the_units() -> None:
    """Throughput times what a unit moves."""
    arm = judged(READ, {}, {}, {}).arms[1]

    assert arm.bytes_per_s is not None
    assert arm.bytes_per_s.estimate == pytest.approx(arm.throughput_per_s.estimate * MOVED / 20)


@pytest.mark.parametrize(("launched", "seen"), [(40, []), (20, [("parallel workers", "1")])])
def test_parallel_workers_are_counted_by_the_server(launched: int, seen: list[tuple[str, str]]) -> None:
    """Two a unit, of 20 units."""
    run, machine, trials = synthetic.run(arms=2, blocks=8, noise=0.001, fixed_units=20)
    run["arms"][1]["expect"] = {"parallel_workers": 2}
    for trial in trials:
        trial["server"]["parallel_workers_launched"] = launched

    assert failed(analyse(run, machine, trials)) == seen
