"""How far estimates are from the truth over thousands of hash seeds, and how often their intervals hold it."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from dbdyno import _core

SEEDS = 2_000
MANY = (1_000_000, 3_000_000, 10_000_000, 40_000_000)
SHAPES = ("one after the other", "multiples of 2^40", "bits of doubles", "texts")


@dataclass(frozen=True)
class Errors:
    """Relative errors over seeds."""

    bias: float
    rmse: float
    covered: float


def errors(files: list[bytes], true: int) -> Errors:
    """Of the first column of each file."""
    found = [first_ndv(file) for file in files]
    relative = np.array([ndv["estimate"] for ndv in found]) / true - 1
    covered = sum(ndv["low"] <= true <= ndv["high"] for ndv in found)
    return Errors(float(relative.mean()), float(np.sqrt(np.mean(relative**2))), covered / len(found))


def first_ndv(file: bytes) -> dict[str, float]:
    """What a file says of its first column."""
    return dict(json.loads(_core.sketch_estimates(file))["columns"][0]["ndv"])


def integers(count: int) -> NDArray[np.uint64]:
    """0 to count - 1."""
    return np.arange(count, dtype=np.uint64)


def split(values: NDArray[np.uint64]) -> list[bytes]:
    """In 64 parts."""
    return [part.tobytes() for part in np.array_split(values, 64)]


def merged(parts: list[bytes], seed: int) -> bytes:
    """Every part sketched alone, then merged."""
    return _core.sketch_merge([_core.sketch_integers(part, seed=seed) for part in parts])


def hold(found: Errors) -> None:
    """What is promised at 2^14 registers; the seeds are given, so that it holds always or never."""
    assert found.rmse <= 0.0085, found
    assert abs(found.bias) <= 0.0015, found
    assert 0.93 <= found.covered <= 0.97, found


@pytest.mark.parametrize("count", [8_193, 20_000, 100_000])
def test_errors_are_as_small_as_promised(count: int) -> None:
    """2,000 seeds, from the first number that is not exact on."""
    values = integers(count).tobytes()

    hold(errors([_core.sketch_integers(values, seed=seed) for seed in range(SEEDS)], count))


@pytest.mark.parametrize("precision", [10, 12, 16])
def test_intervals_of_other_precisions_hold_the_truth(precision: int) -> None:
    """1,000 seeds; the error falls with the square root of the registers."""
    values = integers(60_000).tobytes()

    found = errors([_core.sketch_integers(values, precision, seed) for seed in range(1_000)], 60_000)

    assert 0.93 <= found.covered <= 0.97, found
    assert found.rmse <= 1.1 / np.sqrt(2**precision), found


def test_sixty_four_parts_make_the_file_of_the_whole() -> None:
    """Byte for byte, whether parts overlap or not: merging adds no error."""
    values = integers(100_000)
    overlapping = [part.tobytes() for part in (values[:90_000], values[10_000:], values[::3])]

    for seed in range(3):
        whole = _core.sketch_integers(values.tobytes(), seed=seed)
        assert merged(split(values), seed) == whole
        assert first_ndv(merged(overlapping, seed)) == first_ndv(whole)


@pytest.mark.parametrize("shape", SHAPES)
def test_no_shape_of_values_upsets_the_hash(shape: str) -> None:
    """500 seeds; values that differ in few bits, or in few bytes of many."""
    count = 30_000
    texts = b"".join(b"%040d" % (number * 10**30) for number in range(count))
    ends = (integers(count) + np.uint64(1)) * np.uint64(40)
    columns = {
        "one after the other": integers(count) + np.uint64(2**63 - 1000),
        "multiples of 2^40": integers(count) << np.uint64(40),
        "bits of doubles": integers(count).astype(np.float64).view(np.uint64),
    }

    found = errors(
        [
            _core.sketch_texts(texts, ends.tobytes(), seed=seed)
            if shape == "texts"
            else _core.sketch_integers(columns[shape].tobytes(), seed=seed)
            for seed in range(500)
        ],
        count,
    )

    assert found.rmse <= 0.0075, found
    assert abs(found.bias) <= 0.0015, found
    assert 0.92 <= found.covered <= 0.98, found


@pytest.mark.nightly
@pytest.mark.parametrize("count", [12_000, 30_000, 50_000, 75_000, 150_000, 300_000, *MANY])
def test_errors_of_many_values_are_as_small_as_promised(count: int) -> None:
    """2,000 seeds, every value hashed and added."""
    values = integers(count).tobytes()
    seeds = SEEDS if count <= 10_000_000 else 500

    found = errors([_core.sketch_integers(values, seed=seed) for seed in range(seeds)], count)

    print(f"{count:,} values: {found}")
    hold(found)


@pytest.mark.nightly
@pytest.mark.parametrize("count", [100_000, 1_000_000, 10_000_000])
def test_errors_after_merging_sixty_four_parts_are_as_small_as_promised(count: int) -> None:
    """2,000 seeds, every value hashed and added to the sketch of its part."""
    parts = split(integers(count))

    found = errors([merged(parts, seed) for seed in range(SEEDS)], count)

    print(f"{count:,} values in 64 parts: {found}")
    hold(found)
