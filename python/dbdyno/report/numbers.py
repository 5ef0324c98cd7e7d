"""All formatting of numbers: three significant digits, one unit a column, human units.

Inside everything is nanoseconds, bytes and plain ratios; here alone they become text.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

NOTHING = "-"


@dataclasses.dataclass(frozen=True, slots=True)
class Unit:
    """A human unit and how many of the inner unit it is."""

    name: str
    size: float


NANOSECONDS = Unit("ns", 1.0)
MICROSECONDS = Unit("us", 1e3)
MILLISECONDS = Unit("ms", 1e6)
SECONDS = Unit("s", 1e9)
ONE = Unit("", 1.0)
PER_CENT = Unit("%", 0.01)
BYTE_UNITS = (Unit("B", 1.0), Unit("KiB", 1024.0), Unit("MiB", 1024.0**2), Unit("GiB", 1024.0**3))


def significant(value: float, digits: int = 3, most_decimals: int = 3) -> str:
    """`value` to so many significant digits, thousands apart, never in powers of ten: 1,520  33.1  0.00."""
    if value == 0 or not math.isfinite(value):
        return "0"
    magnitude = math.floor(math.log10(abs(value)))
    rounded = round(value, digits - 1 - magnitude)
    if rounded != 0:  # 9.996 becomes 10.0: one digit more before the point, one less behind
        magnitude = math.floor(math.log10(abs(rounded)))
    decimals = min(most_decimals, max(0, digits - 1 - magnitude))
    text = f"{rounded:,.{decimals}f}"
    return text.removeprefix("-") if float(text.replace(",", "")) == 0 else text


def time_unit(typical_ns: float) -> Unit:
    """The unit for a column of times whose typical value is given: numbers run from about 0.3 to 300."""
    for unit in (SECONDS, MILLISECONDS, MICROSECONDS):
        if typical_ns >= 0.3 * unit.size:
            return unit
    return NANOSECONDS


def byte_unit(typical_bytes: float) -> Unit:
    """The unit for a column of sizes whose typical value is given."""
    return next((unit for unit in reversed(BYTE_UNITS) if typical_bytes >= unit.size), BYTE_UNITS[0])


def in_unit(value: float | None, unit: Unit, most_decimals: int = 3) -> str:
    """A figure of a column that names its unit in its heading."""
    return NOTHING if value is None else significant(value / unit.size, most_decimals=most_decimals)


def duration(ns: float) -> str:
    """A time with its own unit: 1.02 ms."""
    unit = time_unit(abs(ns))
    return f"{significant(ns / unit.size)} {unit.name}"


def change(before_ns: float, after_ns: float, unit: Unit) -> str:
    """Two times in one unit: from 1.02 to 0.03 ms."""
    return f"from {in_unit(before_ns, unit)} to {in_unit(after_ns, unit)} {unit.name}"


def exact_duration(ns: float) -> str:
    """A time that was set, not measured: 300 ms, 1 s."""
    unit = time_unit(ns)
    return f"{ns / unit.size:g} {unit.name}"


def count(value: float, thing: str) -> str:
    """How many, in whole things: 2,230 commits, 1 commit, less than 1 commit."""
    number = "less than 1" if 0 < value < 0.95 else significant(value, most_decimals=0)
    return f"{number} {thing}" if number.endswith(" 1") or number == "1" else f"{number} {thing}s"


def size(value_bytes: float) -> str:
    """A size with its own unit: 512 KiB."""
    unit = byte_unit(value_bytes)
    return f"{significant(value_bytes / unit.size)} {unit.name}"


def exact_size(value_bytes: float) -> str:
    """A size that was set, not measured: 64 MiB."""
    unit = byte_unit(value_bytes)
    return f"{value_bytes / unit.size:g} {unit.name}"


def ratio(value: float) -> str:
    """3.12x; near 1, where the distance from 1 is what matters, three decimals: 1.024x."""
    return f"{_ratio_digits(value)}x"


def interval(low: float | None, high: float | None) -> str:
    """[2.41, 2.88], or a dash where there is none."""
    return NOTHING if low is None or high is None else f"[{_ratio_digits(low)}, {_ratio_digits(high)}]"


def percent(share: float) -> str:
    """A share in per cent, to two digits: 4.2 %, 37 %."""
    value = share * 100
    return f"{value:.0f} %" if abs(value) >= 9.95 or value == round(value) else f"{value:.1f} %"


def p_value(value: float | None) -> str:
    """0.012; below a thousandth only that."""
    if value is None:
        return NOTHING
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def align_points(texts: Sequence[str]) -> list[str]:
    """The texts padded to one width with their decimal points in one column."""
    if not texts:
        return []
    heads = [text.partition(".")[0] for text in texts]
    tails = [text[len(head) :] for text, head in zip(texts, heads, strict=True)]
    before, after = max(map(len, heads)), max(map(len, tails))
    return [head.rjust(before) + tail.ljust(after) for head, tail in zip(heads, tails, strict=True)]


def _ratio_digits(value: float) -> str:
    return f"{value:.3f}" if 0.9 <= value < 1.1 else significant(value)
