"""A headless Chromium for the tests of this directory.

`DBDYNO_CHROMIUM` names the program; without it `chromium` is looked for on the PATH.
Where there is none the tests are skipped, or fail if `DBDYNO_REQUIRE_BROWSER=1`.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

sys.path.insert(0, str(Path(__file__).parent))

from opened import Opened

ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# On a machine that is shared a page of 5 MB may take its time; a page that never stands fails all the same.
PATIENCE_MS = 120_000

DRAWN = "() => [...document.querySelectorAll('.plot')].every(plot => plot.querySelector('.main-svg'))"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests; each page has a context of its own."""
    program = os.environ.get("DBDYNO_CHROMIUM") or shutil.which("chromium")
    if not program:
        missing = "no Chromium: set DBDYNO_CHROMIUM to the program, or install `chromium`"
        if os.environ.get("DBDYNO_REQUIRE_BROWSER") == "1":
            pytest.fail(missing)
        pytest.skip(missing)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Callable[[str, int], Opened]]:
    """Opens a report at a width in CSS pixels, waits until every chart stands, and returns the page."""
    contexts = []

    def opened(html: str, width: int) -> Opened:
        file = tmp_path / f"report-{width}.html"
        file.write_text(html, encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": 900})
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        result = Opened(context.new_page(), [], [])
        result.page.on("console", lambda message: result.complaints.append(message.text))
        result.page.on("pageerror", lambda error: result.complaints.append(str(error)))
        result.page.on("request", lambda request: result.requests.append(request.url))
        result.page.goto(file.as_uri())
        result.page.wait_for_function(DRAWN)
        return result

    yield opened
    for context in contexts:
        context.close()
