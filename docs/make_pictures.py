"""Makes the pictures of a race's page in docs/race.md: a race, its page in a headless Chromium, two screenshots.

Run `python docs/make_pictures.py` after a change of the page; it needs playwright and a Chromium.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import dualgap as dg

DOCS = Path(__file__).parent
WIDTH, HEIGHT = 1200, 920


def main() -> None:
    """Race as without arguments, and look at the page twice."""
    race = dg.race()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        page = race.page(Path(folder) / "race.html")
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        window = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        window.goto(page.as_uri())
        window.wait_for_selector("html[data-drawn]", state="attached")
        window.screenshot(path=DOCS / "race-page.png")
        window.evaluate("document.querySelector('#curves').scrollIntoView()")
        window.wait_for_timeout(1000)  # the page scrolls softly
        window.screenshot(path=DOCS / "race-curves.png")
        browser.close()


if __name__ == "__main__":
    main()
