"""All that the device gives, over time, with the token bucket fitted to it: a burst, and what is there for good."""

from __future__ import annotations

from dbdyno.analysis.calibration.findings import Burst, Calibration, TokenBucket
from dbdyno.report.calibration.words import burst_sentence
from dbdyno.report.html import palette
from dbdyno.report.html.calibration.drawing import RATE, figure, from_zero, named
from dbdyno.report.html.chart import Chart, Json, Key, panel, title
from dbdyno.report.html.palette import Fill, Stroke
from dbdyno.report.html.quantity import Unit, whole
from dbdyno.report.html.table import Cell, Column, Section, Table

HEIGHT_PX = 300
GIGABYTES = Unit("GB", 1e9)
SEEN, FITTED = Stroke(palette.P50, "solid"), Stroke(palette.INTENSITY, "dash")
BAND = palette.translucent(FITTED.colour, 0.16)
FITTED_KEYS = [Key("fitted token bucket", FITTED), Key("its 95 % intervals", Fill(BAND))]
# A series of half an hour has 18,000 steps; a panel is some 900 px wide.
MOST_STEPS = 450


def chart(calibration: Calibration) -> Chart | None:
    """The series with the fitted levels; None where the device was not asked for all it has."""
    burst = calibration.burst
    if burst is None or not burst.bytes_per_step:
        return None
    return Chart(
        id="burst",
        short="Burst",
        heading="What it gives for a while, and for good",
        words=[("Verdict", burst_sentence(burst))],
        caption="Throughput over time, with all that the device gives asked for"
        + (", and the token bucket fitted to it." if burst.bucket else "."),
        reading=(
            "Many devices that are rented lend a burst: a bucket of bytes that fills while nobody reads, on top of a "
            "rate that is always there. A short test measures the bucket. The area between the two levels, as long as "
            "the burst lasts, is what was in it. A neighbour who came and stayed would look the same; a second burst "
            "after a pause tells them apart."
        ),
        panels=[
            panel(
                None,
                f"Throughput over time. {burst_sentence(burst)}",
                HEIGHT_PX,
                [_series(burst), *([_fit(burst, burst.bucket)] if burst.bucket else [])],
                x={"title": title("seconds"), "range": [0, _seconds(burst)], "showgrid": False, "showline": True},
                y=from_zero("MB/s", max(burst.bytes_per_step) / burst.step_ns * 1e9 / RATE.size),
                shapes=_intervals(burst, burst.bucket) if burst.bucket else [],
            )
        ],
        keys=[Key("measured", SEEN), *(FITTED_KEYS if burst.bucket else [])],
        tables=[("The same as figures", _table(burst))],
    )


def _seconds(burst: Burst) -> float:
    return len(burst.bytes_per_step) * burst.step_ns / 1e9


def _series(burst: Burst) -> Json:
    """The means of neighbouring steps where there are too many to be told apart."""
    together = -(-len(burst.bytes_per_step) // MOST_STEPS)
    groups = [burst.bytes_per_step[at : at + together] for at in range(0, len(burst.bytes_per_step), together)]
    rates = [round(sum(group) / len(group) / burst.step_ns * 1e9 / RATE.size, 1) for group in groups]
    width = together * burst.step_ns / 1e9
    return {
        "type": "scatter", "mode": "lines", "name": "measured",
        "x": [round(place * width, 6) for place in range(len(rates))] + [_seconds(burst)],
        "y": [*rates, rates[-1]],
        "line": {"color": SEEN.colour, "width": 1.6, "shape": "hv"},
        "hovertemplate": "%{x:.1f} s: %{y:,.0f} MB/s<extra></extra>",
    }  # fmt: skip


def _fit(burst: Burst, bucket: TokenBucket) -> Json:
    dry, end = bucket.burst_for_ns.estimate / 1e9, _seconds(burst)
    high, low = bucket.burst_bytes_per_s, bucket.sustained_bytes_per_s
    rates = [high.estimate, high.estimate, low.estimate, low.estimate]
    words = [f"burst: {named(high, RATE)}"] * 2 + [f"sustained: {named(low, RATE)}"] * 2
    return {
        "type": "scatter", "mode": "lines", "name": "fitted token bucket",
        "x": [0, dry, dry, end], "y": [rate / RATE.size for rate in rates],
        "line": {"color": FITTED.colour, "width": 2.4, "dash": FITTED.dash},
        "text": words, "hovertemplate": "%{text}<extra></extra>",
    }  # fmt: skip


def _intervals(burst: Burst, bucket: TokenBucket) -> list[Json]:
    """Bands of the two levels, and of the moment in which the bucket ran dry."""
    dry, high, low = bucket.burst_for_ns, bucket.burst_bytes_per_s, bucket.sustained_bytes_per_s
    until, end = dry.estimate / 1e9, _seconds(burst)
    shapes = []
    for rate, start, stop in ((high, 0.0, until), (low, until, end)):
        if rate.low is not None and rate.high is not None:
            shapes.append(_band(x0=start, x1=stop, y0=rate.low / RATE.size, y1=rate.high / RATE.size))
    if dry.low is not None and dry.high is not None:
        sides = {"x0": dry.low / 1e9, "x1": dry.high / 1e9}
        shapes.append(_band(**sides, y0=low.estimate / RATE.size, y1=high.estimate / RATE.size))
    return shapes


def _band(**corners: float) -> Json:
    return {"type": "rect", **corners, "fillcolor": BAND, "line": {"width": 0}, "layer": "below"}


def _table(burst: Burst) -> Table:
    bucket, seconds = burst.bucket, Unit("s", 1e9)
    rows = [[Cell("measured for"), Cell(seconds.text(burst.step_ns * len(burst.bytes_per_step))), Cell("s")],
            [Cell("steps"), Cell(whole(len(burst.bytes_per_step))), Cell("")]]  # fmt: skip
    if bucket is not None:
        rows += [
            [Cell("burst"), figure(bucket.burst_bytes_per_s, RATE), Cell(RATE.name)],
            [Cell("lasts"), figure(bucket.burst_for_ns, seconds), Cell(seconds.name)],
            [Cell("in the full bucket"), figure(bucket.bucket_bytes, GIGABYTES), Cell(GIGABYTES.name)],
            [Cell("sustained"), figure(bucket.sustained_bytes_per_s, RATE), Cell(RATE.name)],
        ]
    if burst.steady is not None:
        rows.append([Cell("last five rounds (SNIA)"), Cell(burst.steady), Cell("")])
    columns = [Column("figure", figures=False), Column("value"), Column("unit", figures=False)]
    return Table("burst", columns, [Section(None, rows)])
