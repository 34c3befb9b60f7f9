"""The page of calls."""

from __future__ import annotations

import json
from typing import Any

from browsing import axe
from tuplet.web.answers import CALLS


def test_every_call_is_shown_with_an_example_that_is_answered(looking: Any) -> None:
    page = looking.open("/api")
    page.wait_for_selector("#review")
    shown = page.locator("#calls h2").all_inner_texts()
    assert [each.split()[-1] for each in shown] == [path for _, path in CALLS]
    page.click("#play-ask")
    page.get_by_text('"happened"').wait_for()
    assert json.loads(page.inner_text("#play-answer"))["position"]["game"] == "2048"
    page.fill("#analyze-question", '{"game": "chess"}')
    page.click("#analyze-ask")
    page.get_by_text("is not a game").wait_for()
    assert "is not a game" in json.loads(page.inner_text("#analyze-answer"))["error"]
    looking.errors[:] = [each for each in looking.errors if "400" not in each]  # which we asked for


def test_it_can_be_read_by_all_and_fits(looking: Any) -> None:
    for theme in ("light", "dark"):
        page = looking.open("/api", color_scheme=theme)
        page.wait_for_selector("#review")
        assert axe(page) == []
        for width in (360, 1920):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
