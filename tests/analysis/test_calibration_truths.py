"""What is planted in a device is found in its calibration, and what is not is not.

Each truth in 20 calibrations with seeds of their own: at least 19 find it, and of 20 of a clean device at most one
sees something. By day it is 2 of 3.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from programmed_device import calibrated, law, without

from dbdyno.analysis.calibration.findings import Calibration
from dbdyno.calibration.budget import MIB

BY_DAY_AND_BY_NIGHT = pytest.mark.parametrize("runs", [3, pytest.param(20, marks=pytest.mark.nightly)])
FLUSHES_ONLY = without("idle", "cache_map", "sweep", "sizes", "burst", "group_commit")
ONE_BY_ONE = without("flush", "group_commit", "sizes", "sweep")


def codes(found: Calibration) -> set[str]:
    """What was recognised."""
    return {verdict.code for verdict in found.verdicts}


@BY_DAY_AND_BY_NIGHT
def test_a_clean_device_is_clean(runs: int) -> None:
    """No cache, no throttle, one mode, no lie, and every check holds."""
    seen: Counter[str] = Counter()
    for seed in range(runs):
        found = calibrated(law(), seed)
        assert [check.name for check in found.checks if not check.holds] == []
        seen.update(codes(found))

    assert max(seen.values(), default=0) <= 1, seen


PLANTED = {
    "modes": {
        "modes": [
            {"share": 0.99, "median_ns": 120_000.0, "sigma": 0.2},
            {"share": 0.01, "median_ns": 2e6, "sigma": 0.2},
        ]
    },
    "throttle": {"bytes_per_s": 1.5e9, "bucket": {"burst_bytes": 2.0e9, "bytes_per_s": 2.5e8}},
    "cache": {"cache": {"bytes": 64 * MIB, "median_ns": 20_000.0, "sigma": 0.2}},
}  # fmt: skip


@BY_DAY_AND_BY_NIGHT
@pytest.mark.parametrize("code", PLANTED)
def test_what_is_planted_is_found(code: str, runs: int) -> None:
    """Two modes of which the slow one is 1 % of the I/Os; a token bucket; a cache."""
    found = [codes(calibrated(law(**PLANTED[code]), seed, ONE_BY_ONE)) for seed in range(runs)]

    assert sum(code in each for each in found) >= runs - 1, Counter(one for each in found for one in each)


def test_the_modes_are_where_they_were_planted() -> None:
    """Centres within a tenth, and the share of the time."""
    slow = calibrated(law(drift=None, **PLANTED["modes"]), 5, ONE_BY_ONE).modes[-1]

    assert slow.centre_ns == pytest.approx(2e6, rel=0.1)
    assert slow.share_of_ios == pytest.approx(0.01, rel=0.3)
    assert slow.share_of_time == pytest.approx(0.14, abs=0.04)


def test_the_caches_size_lies_between_two_spans() -> None:
    """64 MiB: spans up to that one are in it, the next is not."""
    cache = calibrated(law(**PLANTED["cache"]), 5, ONE_BY_ONE).cache

    assert cache is not None
    assert cache.bytes_ == 64 * MIB
    assert 1.8 < cache.ratio.estimate < 2.4  # of 64 MiB not all is in it: it replaces pages at random


def test_the_bucket_has_its_size_and_rate() -> None:
    """2 GB of credit, 250 MB/s beyond it."""
    burst = calibrated(law(**PLANTED["throttle"]), 5, ONE_BY_ONE).burst

    assert burst is not None
    assert burst.bucket is not None
    assert burst.bucket.sustained_bytes_per_s.estimate == pytest.approx(2.5e8, rel=0.05)


def test_a_lying_flush_is_told_where_the_kernel_contradicts_it() -> None:
    """5 us on a device with a volatile cache; the same with a cache that is written through is an honest 5 us."""
    quick = law(flush={"median_ns": 5_000.0, "sigma": 0.1, "times": {}})
    volatile: dict[str, Any] = {"queue": {"rotational": "0", "write_cache": "write back"}}
    through: dict[str, Any] = {"queue": {"rotational": "0", "write_cache": "write through"}}

    assert codes(calibrated(quick, 1, FLUSHES_ONLY, **volatile)) == {"lying_flush"}
    assert codes(calibrated(quick, 1, FLUSHES_ONLY, **through)) == set()
    assert codes(calibrated(law(), 1, FLUSHES_ONLY, **volatile)) == set()


@BY_DAY_AND_BY_NIGHT
def test_equal_methods_have_no_winner_and_a_slow_one_is_named(runs: int) -> None:
    """Of 20 devices with equal methods at most three call one better, of 3 at most one; slowed by 10 % one is worse."""
    slowed = law(flush={"median_ns": 120_000.0, "sigma": 0.1, "times": {"open_sync": 1.1}})
    winners, named = 0, 0
    for seed in range(runs):
        equal = calibrated(law(), seed, FLUSHES_ONLY)
        winners += any(flush.verdict == "better" for flush in equal.flush)
        words = {flush.method: flush.verdict for flush in calibrated(slowed, seed, FLUSHES_ONLY).flush}
        named += words["open_sync"] == "worse" and words["fsync"] != "worse" and words["open_datasync"] != "worse"

    assert winners <= (3 if runs == 20 else 1)
    assert named >= runs - 1
