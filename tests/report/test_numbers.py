"""Every way a number is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbdyno.report import numbers


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1519.6, "1,520"),
        (33.14, "33.1"),
        (3.144, "3.14"),
        (9.996, "10.0"),
        (0.10512, "0.105"),
        (0.0094, "0.009"),
        (0.0004, "0.000"),
        (-0.0004, "0.000"),
        (-0.52, "-0.520"),
        (999.7, "1,000"),
        (1234567, "1,230,000"),
    ],
)
def test_significant(value: float, text: str) -> None:
    """Three digits, at most three decimals, thousands apart."""
    assert numbers.significant(value) == text


@pytest.mark.parametrize(
    ("ns", "text"), [(999, "0.999 us"), (1_020_000, "1.02 ms"), (180_000_000, "180 ms"), (2.5e9, "2.50 s"), (0, "0 ns")]
)
def test_duration(ns: float, text: str) -> None:
    """The unit that keeps the number between about 0.3 and 300."""
    assert numbers.duration(ns) == text


def test_change_is_in_one_unit() -> None:
    """Two times are compared in one unit."""
    assert numbers.change(1_020_000, 0, numbers.MILLISECONDS) == "from 1.02 to 0 ms"
    assert numbers.change(4_000, 118_000, numbers.MICROSECONDS) == "from 4.00 to 118 us"


@pytest.mark.parametrize(("size", "text"), [(405, "405 B"), (524_288, "512 KiB"), (3 * 2**20, "3.00 MiB")])
def test_size(size: float, text: str) -> None:
    """Binary units."""
    assert numbers.size(size) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(2.631, "2.63x"), (1.0242, "1.024x"), (0.9931, "0.993x"), (12.34, "12.3x"), (0.321, "0.321x"), (1.1, "1.10x")],
)
def test_ratio(value: float, text: str) -> None:
    """Near 1 the third decimal matters, elsewhere three digits do."""
    assert numbers.ratio(value) == text


def test_interval() -> None:
    """Bounds in brackets; none is a dash."""
    assert numbers.interval(2.406, 2.884) == "[2.41, 2.88]"
    assert numbers.interval(None, None) == "-"


@pytest.mark.parametrize(("share", "text"), [(0.03, "3 %"), (0.042, "4.2 %"), (0.369, "37 %"), (0.0996, "10 %")])
def test_percent(share: float, text: str) -> None:
    """Two digits are enough for a share."""
    assert numbers.percent(share) == text


@pytest.mark.parametrize(("p", "text"), [(None, "-"), (0.0001, "<0.001"), (0.0117, "0.012"), (1.0, "1.000")])
def test_p_value(p: float | None, text: str) -> None:
    """Not more digits than a p value bears."""
    assert numbers.p_value(p) == text


@pytest.mark.parametrize(
    ("value", "text"), [(2231.2, "2,230 commits"), (1.04, "1 commit"), (0.3, "less than 1 commit"), (0, "0 commits")]
)
def test_count(value: float, text: str) -> None:
    """Things come whole."""
    assert numbers.count(value, "commit") == text


@given(st.lists(st.floats(0, 1e6).map(numbers.significant), min_size=1))
def test_points_stand_in_one_column(texts: list[str]) -> None:
    """One width, and every point at the same place."""
    aligned = numbers.align_points(texts)

    assert len({len(text) for text in aligned}) == 1
    assert len({text.index(".") for text in aligned if "." in text}) <= 1
    assert [text.strip() for text in aligned] == texts
