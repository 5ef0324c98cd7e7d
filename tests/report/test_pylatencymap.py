"""The records for PyLatencyMap, read again by the rules that its own parser has."""

from __future__ import annotations

from itertools import pairwise

import pytest
import synthetic_calibration

from dbdyno.analysis.calibration.findings import HeatMap
from dbdyno.report.calibration.pylatencymap import command, records

LABEL = "dbdyno calibrate"


def parsed(text: str) -> list[tuple[int, dict[int, int]]]:
    """Records as LatencyMap.py 1.3 reads them: lines split at commas, everything between the tags understood."""
    found: list[tuple[int, dict[int, int]]] = []
    at, counts = 0, dict[int, int]()
    for line in text.splitlines():
        fields = line.lower().strip().split(",")
        if line == "<begin record>":
            at, counts = 0, {}
        elif line == "<end record>":
            found.append((at, counts))
        elif len(fields) == 4:
            assert fields[:2] == ["timestamp", "microsec"]
            at = int(fields[2])
        elif fields[0] in ("latencyunit", "label", "datasource"):
            assert len(fields) == 2
        else:
            bucket, count = (int(field) for field in fields)
            assert bucket & (bucket - 1) == 0, "a power of two"
            counts[bucket] = count
    return found


def test_what_is_drawn_are_the_cells() -> None:
    """The differences between records are the I/Os of the steps, none lost, and time goes on by a step."""
    [heat_map] = [one for one in synthetic_calibration.virtual_disk().heat_maps if one.step_ns is not None]
    found = parsed(records(heat_map, "2026-11-22T14:03:07+00:00", LABEL))
    totals = [sum(counts.values()) for _, counts in found]
    drawn = [after - before for before, after in pairwise(totals)]

    assert len(heat_map.columns) + 1 == len(found)
    assert (found[0][0], totals[0]) == (1_795_356_187_000_000, 0)
    assert {50_000} == {after[0] - before[0] for before, after in pairwise(found)}
    assert [sum(ios for step, _, ios in heat_map.cells if step == at) for at, _ in enumerate(heat_map.columns)] == drawn


def test_a_bucket_is_called_by_its_upper_bound() -> None:
    """50 us belong to 64, 100 us to 128, and what is faster than a microsecond to 1."""
    heat_map = HeatMap("time", ("0 s",), ((0, 235, 3), (0, 250, 5), (0, 100, 7)), step_ns=1_000_000)

    assert parsed(records(heat_map, "2026-11-22T14:03:07+00:00", LABEL))[-1][1] == {1: 7, 64: 3, 128: 5}


def test_one_record_to_the_letter() -> None:
    """What a comma in a label would break, it may not hold."""
    heat_map = HeatMap("burst, then sustained", ("0 s",), ((0, 235, 3),), step_ns=1_500_000)

    assert records(heat_map, "2026-11-22T14:03:07+00:00", LABEL).splitlines()[7:] == [
        "<begin record>",
        "timestamp,microsec,1795356187001500,2026-11-22 14:03:07.001 UTC",
        "latencyunit,microsec",
        "label,dbdyno calibrate: burst then sustained",
        "datasource,oracle",
        "64,3",
        "<end record>",
    ]


def test_the_command_shows_all_rows_and_all_steps() -> None:
    """By itself the program would put all that is faster than 128 us into one row."""
    heat_map = synthetic_calibration.virtual_disk().heat_maps[1]

    assert command(heat_map, "a file") == "latencymap --min_bucket=5 --num_records=41 < 'a file'"


def test_loads_are_no_steps() -> None:
    """A heat map over depths has no time to play back."""
    with pytest.raises(ValueError, match="are loads, not steps of time"):
        records(synthetic_calibration.virtual_disk().heat_maps[0], "2026-11-22T14:03:07+00:00", LABEL)
