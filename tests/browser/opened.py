"""What a test holds in hand: a report opened in the browser, and what every chart of one must keep to."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from playwright.sync_api import Page

DESKTOP, PHONE = 1280, 375

# Texts of a plot that stick out of it, and pairs of texts of one kind that lie upon each other.
MISPLACED = """() => [...document.querySelectorAll('.plot')].flatMap(plot => {
    const frame = plot.getBoundingClientRect();
    const said = [];
    for (const kind of ['.annotation-text', '.xtick text', '.ytick text', '.xtitle']) {
        const texts = [...plot.querySelectorAll(kind)]
            .map(text => [text.textContent, text.getBoundingClientRect()])
            .filter(([words, box]) => box.width > 0);
        texts.forEach(([words, box], place) => {
            if (box.left < frame.left - 1 || box.right > frame.right + 1 ||
                box.top < frame.top - 1 || box.bottom > frame.bottom + 1) said.push(`${plot.id} cuts ${words}`);
            texts.slice(place + 1).forEach(([other, near]) => {
                if (box.left < near.right - 1 && near.left < box.right - 1 &&
                    box.top < near.bottom - 1 && near.top < box.bottom - 1)
                    said.push(`${plot.id}: ${words} lies upon ${other}`);
            });
        });
    }
    return said;
})"""


@dataclasses.dataclass
class Opened:
    """A page, everything it said on the console and everything it asked the network for."""

    page: Page
    complaints: list[str]
    requests: list[str]


# Opens a page at a width in CSS pixels.
Show = Callable[[str, int], Opened]


def silent_offline_and_in_its_place(show: Show, html: str) -> None:
    """At either width: no complaint, no request but for the file itself, no sideways scrolling, no text cut off or
    overlapping, and no script out of a name that came to run.
    """
    for width in (DESKTOP, PHONE):
        opened = show(html, width)
        assert opened.complaints == []
        assert [url.partition(":")[0] for url in opened.requests] == ["file"]
        assert opened.page.evaluate("document.documentElement.scrollWidth") == width
        assert opened.page.evaluate(MISPLACED) == []
        assert opened.page.title() != "broken"
