"""Makes the pictures of docs/how-we-decide.md: SVG files that need nothing but a reader.

    python docs/make_charts.py

They are drawn with middle greys and two colours that stand out on white and on black, because the reader's page may be
either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from dbdyno.analysis.spending import level

HERE = Path(__file__).parent
WIDTH = 760
GREY, TEXT = "#8a8f98", "#7b818b"
RED, BLUE, GREEN = "#d64545", "#3d7fd1", "#2f9e63"

# Shares of false alarms on the noise that is worst for each, of arms that do not differ: 1,000 simulated experiments of
# the foils, 20,000 of ours (tests/analysis/test_proving_ground.py).
FALSE_ALARMS: Sequence[tuple[str, float, str]] = (
    ("all of A, then all of B, Welch's t-test", 0.420, RED),
    ("A B C D, A B C D, ..., Mann-Whitney", 0.541, RED),
    ("blocks, peeking after each", 0.205, RED),
    ("blocks, one look", 0.050, BLUE),
    ("blocks, four planned looks", 0.051, BLUE),
    ("blocks, looked at after each, e-process", 0.038, BLUE),
)


def main() -> None:
    """Write every picture beside the document."""
    for name, body, height in (
        ("verdicts.svg", verdicts(), 262),
        ("looks.svg", looks(), 250),
        ("false-alarms.svg", false_alarms(), 236),
    ):
        (HERE / name).write_text(svg(body, height), encoding="utf-8")
        print(HERE / name)


def svg(body: Iterator[str], height: int) -> str:
    """The whole picture."""
    style = "font-family: system-ui, sans-serif; font-size: 14px"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" style="{style}">'
    return "\n".join([head, *body, "</svg>"]) + "\n"


def text(x: float, y: float, words: str, *, anchor: str = "start", colour: str = TEXT) -> str:
    """Some words."""
    return f'<text x="{x:g}" y="{y:g}" fill="{colour}" text-anchor="{anchor}">{words}</text>'


def line(x1: float, y1: float, x2: float, y2: float, colour: str = GREY, width: float = 1.5, dash: str = "") -> str:
    """A straight line."""
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    ends = f'x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"'
    return f'<line {ends} stroke="{colour}" stroke-width="{width}"{dashes}/>'


def dot(x: float, y: float, colour: str) -> str:
    """An estimate."""
    return f'<circle cx="{x:g}" cy="{y:g}" r="5" fill="{colour}"/>'


def verdicts() -> Iterator[str]:
    """An interval for each verdict, against the margin."""
    middle, margin = 560.0, 60.0
    rows = [
        ("better", 110, 45, GREEN, "clear of 1, the estimate beyond the margin"),
        ("worse", -95, 30, RED, "the same on the other side"),
        ("small", 34, 20, BLUE, "clear of 1, the estimate within the margin"),
        ("same", 8, 38, BLUE, "not clear of 1, and (90 % interval) within the margin"),
        ("undecided", 40, 90, GREY, "anything else: too wide to tell"),
    ]
    band = f'x="{middle - margin:g}" y="14" width="{2 * margin:g}" height="{len(rows) * 40 + 6}"'
    yield f'<rect {band} fill="{GREY}" opacity="0.18"/>'
    yield line(middle, 10, middle, len(rows) * 40 + 24)
    for place, (word, estimate, half_width, colour, why) in enumerate(rows):
        y = 40 + 40 * place
        yield text(12, y + 5, word, colour=colour)
        yield line(middle + estimate - half_width, y, middle + estimate + half_width, y, colour, 3)
        yield dot(middle + estimate, y, colour)
        yield text(12, y + 21, why)
    base = len(rows) * 40 + 42
    yield text(middle, base, "1", anchor="middle")
    yield text(middle - margin, base, "1 / 1.03", anchor="middle")
    yield text(middle + margin, base, "1.03", anchor="middle")


def looks() -> Iterator[str]:
    """The level of each look, and what naive peeking would use."""
    planned = (12, 18, 24, 30)
    levels = [level(0.05, planned[: number + 1], 30) for number in range(len(planned))]
    left, right, top, bottom, most = 80.0, 730.0, 24.0, 190.0, 0.06

    def x(blocks: float) -> float:
        return left + (right - left) * blocks / 31

    def y(share: float) -> float:
        return bottom - (bottom - top) * share / most

    yield line(left, bottom, right, bottom)
    for share in (0.0, 0.02, 0.04):
        yield text(left - 8, y(share) + 5, f"{share * 100:g} %", anchor="end")
    yield line(left, y(0.05), right, y(0.05), RED, dash="5 4")
    yield text(left + 6, y(0.05) - 7, "5 % at every block: 20 false alarms in 100", colour=RED)
    for blocks, share in zip(planned, levels, strict=True):
        yield f'<rect x="{x(blocks) - 14:g}" y="{y(share):g}" width="28" height="{bottom - y(share):g}" fill="{BLUE}"/>'
        yield text(x(blocks), y(share) - 7, f"{share * 100:.2g} %", anchor="middle", colour=BLUE)
        yield text(x(blocks), bottom + 20, str(blocks), anchor="middle")
    yield text(left, bottom + 20, "blocks")
    yield text(left, bottom + 44, "p below the bar ends the comparison there; all four bars together spend 5 %")


def false_alarms() -> Iterator[str]:
    """How often each way of judging sees a difference between two things that are the same."""
    left, right, row = 300.0, 700.0, 34

    def x(share: float) -> float:
        return left + (right - left) * share / 0.6

    bottom = 12 + row * len(FALSE_ALARMS)
    for place, (way, share, colour) in enumerate(FALSE_ALARMS):
        y = 12 + row * place
        yield text(left - 12, y + 19, way, anchor="end")
        yield f'<rect x="{left:g}" y="{y + 4}" width="{x(share) - left:g}" height="22" fill="{colour}"/>'
        yield text(x(share) + 8, y + 19, f"{share * 100:.0f} %", colour=colour)
    yield line(x(0.05), 8, x(0.05), bottom, GREY, dash="5 4")
    yield text(x(0.05) + 4, bottom + 14, "the promise: 5 %")


if __name__ == "__main__":
    main()
