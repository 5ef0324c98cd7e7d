"""Figures within the sentences of findings: short, with their interval. Tables are the reports' business."""

from __future__ import annotations

import datetime

from dbdyno.analysis.findings import Estimate

SECOND_NS = 1e9


def number(value: float) -> str:
    """Three significant digits without powers of ten: 1,520  33.1  0.021."""
    if value == 0:
        return "0"
    for least, decimals in ((99.95, 0), (9.995, 1), (0.9995, 2), (0.0995, 2), (0.0, 3)):
        if abs(value) >= least:
            return f"{value:,.{decimals}f}"
    raise AssertionError(value)


def percent(share: float) -> str:
    """37 %, 4.2 %, 0.3 %."""
    value = share * 100
    return f"{value:.0f} %" if abs(value) >= 9.95 else f"{value:.1f} %"


def share(figure: Estimate) -> str:
    """38 % (35 to 41 %)."""
    if figure.low is None or figure.high is None:
        return percent(figure.estimate)
    low = percent(figure.low).removesuffix(" %")
    return f"{percent(figure.estimate)} ({low} to {percent(figure.high)})"


def sessions(figure: Estimate) -> str:
    """3.12 (2.97 to 3.30)."""
    if figure.low is None or figure.high is None:
        return number(figure.estimate)
    return f"{number(figure.estimate)} ({number(figure.low)} to {number(figure.high)})"


def seconds(ns: float) -> str:
    """12.3 s."""
    return f"{number(ns / SECOND_NS)} s"


def duration(ns: float) -> str:
    """1.20 ms, 35.0 us."""
    for name, least in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if abs(ns) >= least:
            return f"{number(ns / least)} {name}"
    return f"{number(ns)} ns"


def moment(ns: int) -> str:
    """A moment since 1970 as ISO 8601, to the second."""
    return datetime.datetime.fromtimestamp(ns / 1e9, datetime.UTC).isoformat(timespec="seconds")


def size(value_bytes: float) -> str:
    """8 KiB, 1.2 MiB."""
    for name, least in (("GiB", 1024.0**3), ("MiB", 1024.0**2), ("KiB", 1024.0)):
        if value_bytes >= least:
            return f"{value_bytes / least:.3g} {name}"
    return f"{value_bytes:.0f} B"


def listed(names: list[str]) -> str:
    """a, b and c."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def clipped(text: str, most: int = 60) -> str:
    """A query on one line, cut; without the semicolon that ends it."""
    line = " ".join(text.split()).rstrip("; ")
    return line if len(line) <= most else f"{line[: most - 3]}..."
