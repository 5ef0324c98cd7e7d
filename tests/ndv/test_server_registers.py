"""Registers from the smallest rests of buckets, and how many columns a scan has."""

from __future__ import annotations

import numpy as np
import pytest

from dbdyno.ndv.postgres.sql_plan import columns_at_once
from dbdyno.ndv.postgres.sql_scan import register_of, seem_few


@pytest.mark.parametrize("precision", [10, 14, 18])
def test_a_register_is_the_leading_zeros_plus_one(precision: int) -> None:
    """Of each bit alone, of all below it, and of none, as Python counts them."""
    bits = 64 - precision
    rests = [0, *(1 << bit for bit in range(bits)), *((1 << bit) - 1 for bit in range(1, bits + 1))]

    registers = register_of(np.array(rests, dtype=np.int64), precision)

    assert registers.tolist() == [bits - rest.bit_length() + 1 for rest in rests]


@pytest.mark.parametrize(("spare", "few"), [(20, True), (-20, False)])
def test_few_values_leave_buckets_empty(spare: int, *, few: bool) -> None:
    """8,192 values leave e^-0.5 of 2^14 buckets empty; a few more of them are a few values fewer."""
    registers = np.ones(1 << 14, dtype=np.uint8)
    registers[: round(len(registers) * np.exp(-0.5)) + spare] = 0

    assert seem_few(registers) is few


def test_columns_at_once() -> None:
    """Four of a narrow table, more of a wide one, as many as fit of a very wide one, one at the finest precision."""
    assert columns_at_once(14, 60) == 4
    assert columns_at_once(14, 500) == 9
    assert columns_at_once(14, 100_000) == 12
    assert columns_at_once(10, 100_000) == 31
    assert columns_at_once(18, 60) == 1
