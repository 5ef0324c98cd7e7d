"""Files of sketches from Python: what is said of them, what is refused, what a server counted."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

from dbdyno import _core, engine
from dbdyno.errors import DynoError


def integers(count: int, first: int = 0, seed: int = 0) -> bytes:
    """The file of a column of consecutive integers."""
    return _core.sketch_integers(np.arange(first, first + count, dtype=np.uint64).tobytes(), seed=seed)


COUNTED = {"name": "id", "type": "bigint", "seed": 1, "precision": 10, "rows": 9, "nulls": 0, "kept": "hashes"}


def test_what_is_said_of_a_column() -> None:
    """A small one exactly, a large one with its interval."""
    small, large = (engine.sketch_estimates(integers(count))["columns"][0] for count in (8192, 8193))

    assert small == {
        "name": "",
        "type": "bigint",
        "hash": "dbdyno1",
        "seed": 0,
        "precision": 14,
        "rows": 8192,
        "nulls": 0,
        "ndv": {"estimate": 8192.0, "low": 8192.0, "high": 8192.0},
        "exact": True,
    }
    assert not large["exact"]
    assert large["ndv"]["low"] < large["ndv"]["estimate"] < large["ndv"]["high"]


def test_merged_parts_are_the_whole() -> None:
    """Rows add up, values unite."""
    assert engine.sketch_merge([integers(6_000), integers(4_000, first=6_000)]) == integers(10_000)


def test_columns_with_common_values_are_found_across_files() -> None:
    """By file and column, with what was seen of both."""
    files = [integers(100), integers(400, first=50), integers(100, seed=1), integers(10, first=5_000)]

    assert engine.sketch_overlaps(files) == [
        {"first": [0, 0], "second": [1, 0], "seen_of_first": 100, "seen_of_second": 400, "common": 50, "exact": True}
    ]


def test_what_a_server_counted() -> None:
    """Hashes as they are; or registers, of which a reader knows no more than the number."""
    few = engine.sketch_from_server([COUNTED], [np.arange(5, dtype="<u8").tobytes()])
    many = engine.sketch_from_server([{**COUNTED, "kept": "registers"}], [bytes([1] * 1024)])

    exact, estimated = (engine.sketch_estimates(file)["columns"][0] for file in (few, many))
    assert (exact["hash"], exact["seed"], exact["exact"], exact["ndv"]["estimate"]) == ("postgres_extended", 1, True, 5)
    assert (estimated["hash"], estimated["seed"], estimated["exact"]) == ("postgres_extended", 1, False)
    assert engine.sketch_overlaps([few, few])[0]["common"] == 5


@pytest.mark.parametrize(
    ("call", "code", "message"),
    [
        (lambda: engine.sketch_estimates(b"PAR1"), "sketch_file", "not a file of sketches; `dbdyno ndv` writes them"),
        (lambda: engine.sketch_merge([]), "sketches_differ", "no file to merge; name at least one"),
        (
            lambda: engine.sketch_merge([integers(3), integers(3, seed=7)]),
            "sketches_differ",
            'column "" is hashed by dbdyno1 with seed 0 in file 1 and by dbdyno1 with seed 7 in file 2; '
            "scan one of them again",
        ),
        (
            lambda: engine.sketch_merge([integers(3), integers(3)[:-1]]),
            "sketch_file",
            f"file 2: cut off after {len(integers(3)) - 1} of {len(integers(3))} bytes; copy it again",
        ),
        (
            lambda: engine.sketch_from_server([{**COUNTED, "precision": 19}], [b""]),
            "spec_invalid",
            'column "id": precision 19: it goes from 10 to 18; 14 is usual',
        ),
    ],
)
def test_refusals_say_why(call: Callable[[], object], code: str, message: str) -> None:
    """One line, with a code."""
    with pytest.raises(DynoError) as refused:
        call()

    assert (refused.value.code, refused.value.message) == (code, message)


def test_a_damaged_file_is_never_a_wrong_number() -> None:
    """Bits flipped, bytes lost, doubled, exchanged: always refused, by the one error there is."""
    good = integers(20_000)
    order = random.Random(1)
    for _ in range(3_000):
        damaged = bytearray(good)
        place = order.randrange(len(good))
        match order.randrange(4):
            case 0:
                damaged[place] ^= 1 << order.randrange(8)
            case 1:
                del damaged[place : place + order.randrange(1, 100)]
            case 2:
                damaged[place:place] = damaged[place : place + order.randrange(1, 100)]
            case _:
                damaged[place : place + 50] = order.randbytes(50)
        if bytes(damaged) != good:
            with pytest.raises(_core.CoreError):
                _core.sketch_estimates(bytes(damaged))
