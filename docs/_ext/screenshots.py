"""The pictures of the page in the README: `make screenshots`. Needs playwright and Chromium."""

from __future__ import annotations

import shutil
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any
from urllib.parse import quote

from playwright.sync_api import Page, sync_playwright

from tuplet import Stop, serve

DOCS = Path(__file__).parent.parent
BOARD = "2048 1024,512,16,4/128,256,8,0/4,32,64,0/0,2,4,2 18044"
LEARNING = 60_000  # milliseconds
EWN = "ewn-6x7 r4.r1..../r5.r3..../.r0r2..../...b4b1../....b2.b3/....b0.b5 red 8:514542503314443010403"


def main() -> None:
    """Open the pages, and take their pictures."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        sys.exit("there is no Chromium (Debian: apt-get install chromium)")
    stop, there, address = Stop(), threading.Event(), []

    def ready(url: str) -> None:
        address.append(url.rstrip("/"))
        there.set()

    runs = tempfile.mkdtemp()
    threading.Thread(target=lambda: serve(port=0, runs=runs, train=True, ready=ready, stop=stop), daemon=True).start()
    there.wait()
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        size: Any = {"width": 1280, "height": 860}
        page = browser.new_page(viewport=size, color_scheme="light")
        page.goto(f"{address[0]}/2048?position={quote(BOARD)}&agent=small&depth=2")
        _save(page, "page-2048.png")
        page.goto(f"{address[0]}/ewn?game=ewn-6x7&position={quote(EWN)}&panel=think")
        _save(page, "page-ewn.png")
        page.set_viewport_size({"width": 1280, "height": 940})
        page.goto(f"{address[0]}/learn")
        page.get_by_role("button", name="TD against TC").click()
        page.get_by_role("button", name="Start", exact=True).click()
        page.wait_for_timeout(LEARNING)
        _save(page, "page-learn.png")
        page.get_by_role("button", name="Stop").first.click()
        buttons = "[...document.querySelectorAll('button')].map(each => each.textContent.trim())"
        page.wait_for_function(f"() => !{buttons}.includes('Stop')")  # the runs would go on without this page
        browser.close()
    stop.set()
    shutil.rmtree(runs, ignore_errors=True)


def _save(page: Page, name: str) -> None:
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(2500)  # until everything has come to rest
    page.screenshot(path=DOCS / name)


if __name__ == "__main__":
    main()
