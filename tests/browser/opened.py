"""What a test holds in hand: a report opened in the browser."""

from __future__ import annotations

import dataclasses

from playwright.sync_api import Page


@dataclasses.dataclass
class Opened:
    """A page, everything it said on the console and everything it asked the network for."""

    page: Page
    complaints: list[str]
    requests: list[str]
