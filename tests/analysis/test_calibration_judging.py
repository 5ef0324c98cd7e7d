"""What a calibration concludes from devices of known truth beyond modes, caches and throttles."""

from __future__ import annotations

import copy
import dataclasses
import math
import random
from typing import Any

import pytest
from programmed_device import calibrated, law, recorded, without

from dbdyno.analysis.calibration.analyse import analyse
from dbdyno.analysis.calibration.checking import checks
from dbdyno.analysis.calibration.judge import Judge, within
from dbdyno.analysis.findings import Estimate
from dbdyno.calibration.budget import QUICK
from dbdyno.calibration.cells import Cell, Planned
from dbdyno.calibration.storage import Storage

BY_DAY_AND_BY_NIGHT = pytest.mark.parametrize("runs", [3, pytest.param(20, marks=pytest.mark.nightly)])
ALL = ("idle", "cache_map", "burst", "sweep", "sizes", "flush", "group_commit", "mixed")
S = 1_000_000_000


def only(*phases: str) -> Any:
    """The quick budget with nothing but these."""
    return without(*(phase for phase in ALL if phase not in phases))


@BY_DAY_AND_BY_NIGHT
def test_a_stall_of_a_second_is_told_whenever_it_comes(runs: int) -> None:
    """At any time of the reads; with its length, and how many a load that does not wait would have late."""
    found = []
    for seed in range(runs):
        stall = {"at_ns": random.Random(seed).randrange(S, 20 * S), "for_ns": S}
        found.append(calibrated(law(stalls=[stall]), seed, without("flush", "group_commit")))

    told = [each for each in found if "stall" in {verdict.code for verdict in each.verdicts}]
    assert len(told) >= runs - 1
    for each in told:
        [stall_found] = each.stalls
        # What began before it ends within it, and after a rest nobody waits for up to 40 ms and more.
        assert 0.85 * S <= stall_found.for_ns <= 1.01 * S
        sentence = next(verdict.sentence for verdict in each.verdicts if verdict.code == "stall")
        assert f"some {stall_found.for_ns / 1e9 * stall_found.per_s:,.0f} late ones" in sentence


def test_a_slow_flush_is_a_stall_and_large_reads_of_a_slow_device_are_not() -> None:
    """A third of a second for one flush; 32 reads of 256 KiB at 20 MB/s are 13 ms apart."""
    record = recorded(law(), 1, only("flush"))
    entry = next(one for one in record["entries"] if one["phase"] == "flush")
    entry["outcome"]["times_ns"][3] = 400_000_000
    slow = calibrated(law(bytes_per_s=2e7), 1, only("burst"))

    assert [(stall.phase, stall.for_ns) for stall in analyse(record).stalls] == [("flush", 400_000_000)]
    assert slow.stalls == ()


@BY_DAY_AND_BY_NIGHT
def test_pages_that_were_never_written_are_told(runs: int) -> None:
    """Half of the device; and of a device that is full, none."""
    never = law(zeros={"from_byte": 1 << 29, "median_ns": 5_000.0})
    codes = [{one.code for one in calibrated(never, seed, only("idle")).verdicts} for seed in range(runs)]

    assert sum("zeros" in each for each in codes) >= runs - 1
    assert all("zeros" not in {one.code for one in calibrated(law(), seed, only("idle")).verdicts} for seed in range(3))


def test_reads_beside_writes_slow_down_as_far_as_the_device_is_full() -> None:
    """Eight servers of 100 us: half full, reads mind a few writes little; beyond full they fall behind."""
    found = {(one.read_share, one.write_share): one for one in calibrated(law(), 3, only("sweep", "mixed")).mixed}

    assert list(found) == [(reads, writes) for reads in (0.5, 0.8) for writes in (0.0, 0.1, 0.4)]
    assert found[0.5, 0.0].ratio is None
    for (reads, writes), one in found.items():
        asked = one.asked_per_s / (reads + writes)
        if reads + writes < 1:
            assert one.reads_per_s.estimate == pytest.approx(asked * reads, rel=0.05)
            assert one.writes_per_s.estimate == pytest.approx(asked * writes, rel=0.1)
    light, over = found[0.5, 0.1].ratio, found[0.8, 0.4].ratio
    assert light is not None
    assert light.estimate == pytest.approx(1.0, abs=0.1)
    assert over is not None
    assert over.low is not None
    assert over.low > 10


def test_writes_that_double_the_slow_reads_are_told_before_the_device_is_full() -> None:
    """A token bucket that writes and reads share: with a tenth of the knee more, what waits for it is late."""
    found = calibrated(
        law(servers=1, modes=[{"share": 1.0, "median_ns": 1e5, "sigma": 0.2}]), 3, only("sweep", "mixed")
    )
    codes = {verdict.code for verdict in found.verdicts}

    # A single server at 60 % instead of 50 % is no anomaly.
    assert "writes_slow_reads" not in codes
    record = recorded(law(), 3, only("sweep", "mixed"))
    for entry in record["entries"]:
        if entry["phase"] == "mixed" and entry["level"]["write_share"]:
            entry["outcome"]["heat"] = [[step, place + 50, ios] for step, place, ios in entry["outcome"]["heat"]]
    [told] = [one for one in analyse(record).verdicts if one.code == "writes_slow_reads"]
    assert " times as long" in told.sentence


def test_a_device_that_sleeps_is_told_by_reads_after_a_rest() -> None:
    """A device without sleep has the same median after a rest; one whose rested reads are doubled is named."""
    awake = calibrated(law(), 1, only("idle")).rested
    record = recorded(law(), 1, only("idle"))
    for entry in record["entries"]:
        if entry["phase"] == "rested":
            entry["outcome"]["heat"] = [[step, place + 15, ios] for step, place, ios in entry["outcome"]["heat"]]
    asleep = analyse(record)

    assert awake is not None
    assert awake.gap_ns == 40_000_000
    assert awake.ratio.estimate == pytest.approx(1.0, abs=0.1)
    assert asleep.rested is not None
    assert asleep.rested.ratio.estimate == pytest.approx(awake.ratio.estimate * 10**0.3, rel=1e-9)
    assert [verdict.code for verdict in asleep.verdicts] == ["slow_after_rest"]


def test_a_log_that_grows_is_held_against_one_that_is_written_over() -> None:
    """Equal on this device; twice as slow where its times are doubled, to the digit."""
    record = recorded(law(), 1, only("flush"))
    equal = analyse(record).flush_growing
    doubled = copy.deepcopy(record)
    for entry in doubled["entries"]:
        if entry["phase"] == "flush_growing":
            entry["outcome"]["times_ns"] = [2 * time_ns for time_ns in entry["outcome"]["times_ns"]]
    slow = analyse(doubled).flush_growing

    assert equal is not None
    assert equal.verdict == "same"
    assert slow is not None
    assert equal.ratio is not None
    assert slow.ratio is not None
    assert slow.verdict == "worse"
    assert slow.ratio.estimate == pytest.approx(2 * equal.ratio.estimate, rel=1e-9)


def test_every_writer_commits_as_often_whatever_their_number() -> None:
    """So the figures of many writers rest on as many flushes."""
    record = recorded(law(), 1, only("group_commit"))
    commits = {
        entry["level"]["writers"]: len(entry["outcome"]["times_ns"]) // entry["level"]["writers"]
        for entry in record["entries"]
    }

    assert commits == dict.fromkeys((1, 2, 4, 8), QUICK.commits_per_block)


def test_an_interval_is_precise_by_half_its_width() -> None:
    """3 of 100 on either side; one without ends is not."""
    assert within(Estimate(100, 97, 103), 0.03)
    assert not within(Estimate(100, 97, 103.1), 0.03)
    assert not within(Estimate(100, None, None), 0.03)


def test_a_sweep_ends_when_it_is_precise_and_not_before_its_least() -> None:
    """A device without chance needs the least; one that drifts by 30 % all."""
    exact = law(modes=[{"share": 1.0, "median_ns": 100_000.0, "sigma": 0.0}], drift=None)
    unsteady = law(drift={"sigma": 0.3, "correlation_ns": 5e8})
    budget = dataclasses.replace(only("sweep"), sweep_blocks=30, least_sweep_blocks=10)

    def blocks(device: dict[str, Any]) -> int:
        return 1 + max(entry["block"] for entry in recorded(device, 1, budget)["entries"])

    assert blocks(exact) == 10
    assert blocks(unsteady) == 30


def test_the_knee_for_the_mixed_load_is_that_of_the_findings() -> None:
    """By power; none where nothing was swept."""
    record = recorded(law(), 1, only("sweep"))
    [power, *_] = analyse(record).knee

    assert Judge(1).knee_per_s(record["entries"]) == power.iops.estimate
    assert Judge(1).knee_per_s([]) is None


def test_without_a_conclusion_no_setting_is_more_than_a_comment() -> None:
    """Others used the device: whatever was measured is theirs as well. What the kernel offers is not measured."""
    record = recorded(law(), 1)
    little = next(entry for entry in record["entries"] if entry["phase"] == "sweep")
    broken = copy.deepcopy(record)
    for entry in broken["entries"]:
        if "load" in entry["work"]:
            entry["outcome"]["concurrency"] *= 1.5
    sound, none = analyse(record), analyse(broken)

    assert little["outcome"]["concurrency"] > 0
    assert sound.quality == "sound"
    assert none.quality == "no conclusion"
    assert {line.confidence for line in sound.settings} == {"high", "indicative", "none"}
    assert {line.confidence for line in none.settings if line.name != "io_method"} == {"none"}


def outcome(concurrency: float, longest_ns: int) -> dict[str, Any]:
    """A cell of 100 reads of 1 ms in 100 ms."""
    return {
        "phase": "sweep",
        "work": {"load": {"kind": "closed"}, "write_share": 0.0, "io_bytes": 8192},
        "kernel": None,
        "outcome": {
            "reads": 100,
            "writes": 0,
            "window_ns": 100_000_000,
            "response_time": {"sum_ns": 100_000_000},
            "concurrency": concurrency,
            "series": {"response_time_max_ns": [longest_ns]},
        },
    }


def test_littles_law_forgives_what_an_io_at_the_edge_explains_and_no_more() -> None:
    """A tenth off: explained by one of 12 ms in 100, not by one of 2 ms."""
    [explained] = checks([outcome(1.0, 1_000_000)] * 9 + [outcome(1.1, 12_000_000)], direct=False)
    [broken] = checks([outcome(1.0, 1_000_000)] * 9 + [outcome(1.1, 2_000_000)], direct=False)

    assert explained.holds
    assert explained.seen == (
        "9 of 10 cells within 5%, at most 9.1% off; 1 more by no more than an I/O at the edge of the window explains"
    )
    assert not broken.holds
    assert broken.seen == "9 of 10 cells within 5%, at most 9.1% off"


def test_littles_law_knows_that_of_a_few_ios_one_at_the_edge_is_much() -> None:
    """Ten reads of 100 us in 100 ms: one of them more or less is a tenth."""
    rare = outcome(0.0092, 100_000)
    rare["outcome"] |= {"reads": 10, "response_time": {"sum_ns": 1_000_000}}
    [explained] = checks([rare], direct=False)
    rare["outcome"]["concurrency"] = 0.008
    [broken] = checks([rare], direct=False)

    assert explained.holds
    assert not broken.holds


TRUTH_RUNS = 10


@pytest.mark.nightly
def test_intervals_of_the_knee_and_of_the_flush_hold_the_truth() -> None:
    """Of ten calibrations at least eight each: throughput at the knee, and the median flush.

    The truth of the knee is that of 20 s of the same device without its drift, which is stationary in the logarithm
    and so moves the mean rate by exp(0.05^2 / 2); that of the flush is the law's median and the host's 2 us.
    """
    device = law()
    still = Storage.programmed(law(drift=None))
    cell = Cell(depth=8, io_bytes=8192, span_bytes=1 << 30, settle_ns=0, window_ns=20 * S, seed=1)
    reads = still.run(Planned("still", 0, {}, cell), lambda: True)["outcome"]["reads"]
    knee_per_s, flush_ns = reads / 20 * math.exp(0.05**2 / 2), 122_000.0
    held_knee = held_flush = 0
    for seed in range(TRUTH_RUNS):
        found = calibrated(device, 100 + seed)
        knee, flush = found.knee[0], found.flush[0].p50_ns
        assert None not in (knee.iops.low, knee.iops.high, flush.low, flush.high)
        held_knee += (knee.iops.low or 0) <= knee_per_s <= (knee.iops.high or 0)
        held_flush += (flush.low or 0) <= flush_ns <= (flush.high or 0)
        print(f"{seed}: knee {knee.depth} {knee.iops}, flush {flush}")

    print(f"truth {knee_per_s:,.0f}/s held by {held_knee}, {flush_ns:,.0f} ns by {held_flush} of {TRUTH_RUNS}")
    assert held_knee >= 8
    assert held_flush >= 8
