"""The front page, in a browser: where its cards lead, and that it can be read."""

from __future__ import annotations

import pytest

from browsing import Looking, axe

pytestmark = pytest.mark.slow


def test_the_cards_of_the_front_page_lead_to_the_pages(looking: Looking) -> None:
    page = looking.open("/")
    assert page.locator(".card").evaluate_all("all => all.map(each => each.pathname)") == ["/2048", "/ewn", "/learn"]
    page.click(".card[data-page='2048']")
    page.wait_for_selector("#board[data-notation]")
    page.click(".brand")
    page.wait_for_selector(".cards")
    assert page.url.rstrip("/") == looking.server.address


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_the_front_page_fits_and_is_accessible(looking: Looking, width: int, theme: str) -> None:
    page = looking.open("/", viewport={"width": width, "height": 900}, color_scheme=theme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert axe(page) == []


def test_an_unknown_address_leads_to_the_front_page(looking: Looking) -> None:
    page = looking.open("/2049")
    page.click("main a[href='/']")
    page.wait_for_selector(".cards")
    looking.errors[:] = [each for each in looking.errors if "404" not in each]
