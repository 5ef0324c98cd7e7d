"""Makes docs/report.png, the picture in the README, from the HTML report of a run.

    python docs/make_pictures.py dbdyno-runs/commit-write-.../report.html

Needs Chromium: DBDYNO_CHROMIUM names the program, else `chromium` is looked for on the PATH.
"""

from __future__ import annotations

import argparse
import os
import shutil
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

TARGET = Path(__file__).parent / "report.png"
WIDTH = 860
MOST_BYTES = 200_000

DRAWN = "() => [...document.querySelectorAll('.plot')].every(plot => plot.querySelector('.main-svg'))"
# The answer alone: the question, each verdict with its interval, and where the time went.
ANSWER = """
    main { padding: 24px 28px 28px; }
    nav, details, .sentences, .warnings, main > section { display: none; }
    #section-effects, #section-profile { display: block; margin-top: 28px; }
    .question { margin-bottom: 0; }
    .run { margin-top: 10px; }
"""


def main() -> None:
    """Open the report, leave the answer standing, take its picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=Path, help="the report.html of a run")
    report: Path = parser.parse_args().report
    program = os.environ.get("DBDYNO_CHROMIUM") or shutil.which("chromium")
    if not program:
        raise SystemExit("no Chromium: set DBDYNO_CHROMIUM to the program, or install `chromium`")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--headless", "--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": 900}, device_scale_factor=1)
        page.goto(report.resolve().as_uri())
        page.wait_for_function(DRAWN)
        take(page)
        browser.close()
    print(f"{TARGET}: {TARGET.stat().st_size:,} bytes")
    if TARGET.stat().st_size > MOST_BYTES:
        raise SystemExit(f"more than {MOST_BYTES:,} bytes: too heavy for a README")


def take(page: Page) -> None:
    """The picture of the answer."""
    page.add_style_tag(content=ANSWER)
    page.locator("main").screenshot(path=TARGET)


if __name__ == "__main__":
    main()
