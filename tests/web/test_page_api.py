"""The page of calls."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import Any

import pytest

from browsing import Looking, axe, serving
from tuplet.web.endpoints import CALLS

pytestmark = pytest.mark.slow


def test_every_call_has_an_example_that_works(looking: Any) -> None:
    page = looking.open("/api")
    page.wait_for_selector("#review")
    shown = page.locator("#calls h2").all_inner_texts()
    assert [each.split()[-1] for each in shown] == [path for _, path in CALLS]
    page.click("#play-send")
    page.get_by_text('"outcome"').wait_for()
    assert json.loads(page.inner_text("#play-answer"))["position"]["game"] == "2048"
    page.fill("#analyze-request", '{"game": "chess"}')
    page.click("#analyze-send")
    page.get_by_text("is not a game").wait_for()
    assert "is not a game" in json.loads(page.inner_text("#analyze-answer"))["error"]
    looking.errors[:] = [each for each in looking.errors if "400" not in each]  # which we asked for


def test_the_page_of_calls_is_accessible_and_fits(looking: Any) -> None:
    for theme in ("light", "dark"):
        page = looking.open("/api", color_scheme=theme)
        page.wait_for_selector("#review")
        assert axe(page) == []
        for width in (360, 1920):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("token", [None, "a-token-of-one-test-only"])
def test_copied_commands_work_with_and_without_a_token(chromium: Any, token: str | None) -> None:
    with serving(token=token) as server:
        looking = Looking(chromium, server)
        page = looking.open(
            f"/api#token={token}" if token else "/api", permissions=["clipboard-read", "clipboard-write"]
        )
        for call in ("games", "position"):
            page.wait_for_selector(f"#{call}")
            for button in ("Copy as Python", "Copy as curl"):
                page.evaluate("navigator.clipboard.writeText('')")
                page.locator(f"#{call}").get_by_role("button", name=button).click()
                page.wait_for_function("() => navigator.clipboard.readText()")
                copied = page.evaluate("navigator.clipboard.readText()")
                assert ("TUPLET_TOKEN" in copied) == (token is not None)
                assert str(token) not in copied
                if "curl" in button and shutil.which("curl") is None:
                    continue
                words = [sys.executable, "-c"] if "Python" in button else ["sh", "-c"]
                done = subprocess.run(
                    [*words, copied],
                    capture_output=True,
                    text=True,
                    timeout=60,
                    env={"TUPLET_TOKEN": token or "", "PATH": "/usr/bin:/bin"},
                )
                assert '"error"' not in done.stdout and "2048" in done.stdout, done
        looking.close()
