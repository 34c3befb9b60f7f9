"""What the three pages of lessons share: links that open the same view, hidden controls, large type, predict first."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

import tuplet
from browsing import Looking, Server, axe

pytestmark = pytest.mark.slow

TITLES = {"learn": "Watch it learn", "steps": "How it learns", "search": "How it searches"}


def test_the_three_pages_have_titles_links_and_no_accessibility_problems(chromium: Any, server: Server) -> None:
    looking = Looking(chromium, server)
    for name, title in TITLES.items():
        page = looking.open(f"/{name}.html", reduced_motion="reduce")  # as the static site has it
        assert page.url == f"{server.address}/{name}"
        page.wait_for_selector(".lesson-bar")
        assert title in page.title() and title in page.inner_text("h1")
        assert page.get_attribute("#top nav a[aria-current]", "href") == "/learn"
        assert page.locator(".lesson-bar nav a").count() == 3
        assert page.get_attribute(".lesson-bar nav a[aria-current]", "href") == f"/{name}"
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            assert axe(page) == []
        page.set_viewport_size({"width": 390, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    looking.close()


def test_the_static_site_has_the_three_pages(chromium: Any, file_server: Server) -> None:
    looking = Looking(chromium, file_server)
    page = looking.open(file_server.address + "/learn.html")
    for name, title in TITLES.items():
        page.click(f".lesson-bar nav a[href='{name}.html']")
        page.wait_for_url(f"**/{name}.html")
        assert title in page.inner_text("h1")
    looking.close()


def test_a_link_hides_controls_and_opens_in_large_type(looking: Looking) -> None:
    page = looking.open("/steps", permissions=["clipboard-read", "clipboard-write"])
    page.wait_for_selector(".lesson-bar")
    before = page.evaluate("parseFloat(getComputedStyle(document.querySelector('h1')).fontSize)")
    page.click("[data-control=link]")
    page.check("#lesson-link [name=predict] >> nth=0")
    page.check("#lesson-link fieldset:nth-of-type(2) [name=present]")
    assert axe(page) == []
    page.click("#lesson-link footer button")
    link = page.evaluate("navigator.clipboard.readText()")
    assert "hide=predict" in link and "present=1" in link
    there = looking.open(link)
    there.wait_for_selector(".lesson-bar")
    assert not there.is_visible("[data-control=predict]") and there.is_visible("[data-control=link]")
    assert there.evaluate("parseFloat(getComputedStyle(document.querySelector('h1')).fontSize)") > 1.2 * before
    there.keyboard.press("p")
    there.wait_for_function("() => !new URL(location).searchParams.has('present')")
    assert there.is_visible("#top")


def test_an_answer_stays_hidden_until_the_viewer_has_chosen(looking: Looking) -> None:
    page = looking.open("/steps?predict=1")
    page.wait_for_selector(".lesson-bar")
    page.evaluate("""() => import("/static/lesson.js").then(({ predict }) => {
        const [at, answer] = [document.createElement("div"), document.createElement("p")];
        answer.id = "the-answer";
        answer.textContent = "four";
        document.getElementById("main").append(at, answer);
        predict(answer, { at, question: "Two and two?", choices: { 3: "three", 4: "four" }, answer: "4" })
            .then((choice) => { window.chosen = choice; });
    })""")
    assert not page.is_visible("#the-answer")
    page.click("button:has-text('three')")
    assert page.is_visible("#the-answer") and page.evaluate("chosen") == "3"
    assert "it is four" in page.inner_text(".lesson-ask[aria-label='Two and two?']")


def test_every_link_of_the_ready_lessons_opens_its_view(looking: Looking) -> None:
    """And shows what the link says: the address keeps every name in it."""
    text = (Path(__file__).parents[2] / "docs" / "lessons.md").read_text()
    links = re.findall(r"`((?:learn|steps|search)\.html\?[^`]+)`", text)
    assert len(links) == len(re.findall(r"^\d+\. ", text, re.M)) > 15
    for ucb in ("ucb1", "tuned", "puct"):  # kernels are compiled before a page waits for them
        tuplet.search_steps(tuplet.game("ewn-6x7").start(), ucb, last=10)
    for target in ("afterstate", "state"):
        tuplet.learning_steps(games=1, target=target)
    for link in links:
        page = looking.open(f"{looking.server.address}/{link}", reduced_motion="reduce")
        name, wanted = link.partition(".")[0], parse_qs(urlsplit(link).query)
        ready = {"learn": "#learners > *", "steps": "#where-it-is[data-step]", "search": "#tree svg"}
        page.wait_for_selector(ready[name], state="attached")
        page.evaluate("import('/static/address.js').then((module) => module.settle())")
        kept = parse_qs(urlsplit(page.url).query)
        assert wanted.items() <= kept.items(), link
        for control in filter(None, wanted.get("hide", [""])[0].split(",")):
            found = page.locator(f"[data-control={control}]")
            assert found.count() > 0 and found.locator("visible=true").count() == 0, (link, control)
        if name == "learn":
            assert page.locator("#learners > *").count() == 1 + wanted["learners"][0].count("/")
        if name == "search":
            state = {key: wanted[key][0] for key in ("at", "phase")}
            page.wait_for_selector(f"#tree[data-at='{state['at']}.{state['phase']}']")
        if "predict" in wanted:
            page.wait_for_selector(".lesson-ask")
