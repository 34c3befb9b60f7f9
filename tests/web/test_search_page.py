"""How it searches, step by step: the numbers on the page are those of the search, with a server and without."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest

import tuplet
from browsing import Looking, Server, axe

pytestmark = pytest.mark.slow

START = "ewn r1r2r3../r4r5.../r6...b6/...b5b4/..b3b2b1 red 2"
KNOWN = "ewn-6x7"


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """Kernels are compiled before a page waits for them."""
    for ucb in ("ucb1", "tuned", "puct"):
        tuplet.search_steps(tuplet.Position.parse(START), ucb, last=10)


def opened(looking: Looking, **state: object) -> Any:
    base = looking.server.address
    page = "search.html" if base.count("/") > 2 else "search"
    query = "&".join(f"{name}={quote(str(value))}" for name, value in state.items())
    found = looking.open(f"{base}/{page}?{query}", reduced_motion="reduce")
    wait_for(found, state.get("at", 0), state.get("phase", 0))
    return found


def wait_for(page: Any, at: object, phase: object) -> None:
    page.wait_for_selector(f"#tree[data-at='{at}.{phase}'] svg")
    page.wait_for_selector(f"#compare[data-at='{at}.{phase}']", state="attached")
    page.wait_for_selector("#board[data-notation]")


def content(page: Any) -> dict[str, str]:
    """All that is shown of a step."""
    page.wait_for_function("document.querySelector('#board-says').textContent")
    texts = {name: page.text_content(f"#{name}") for name in ("says", "tree", "numbers", "compare", "board-says")}
    return texts | {"notation": page.get_attribute("#board", "data-notation")}


def visits_of(steps: tuplet.SearchSteps) -> dict[str, int]:
    """The visits of the nodes after the last step."""
    visits = {str(each["node"]): each["visits"] for each in steps.tree}
    for step in steps.steps:
        visits |= {str(change["node"]): change["visits"][1] for change in step["backup"]}
    return visits


def check_numbers(page: Any, position: Any, ucb: str, at: int) -> None:
    """What the page shows of a step, against Python."""
    shown = tuplet.search_steps(position, ucb, last=at + 1)
    step = shown.steps[-1]
    cells = page.locator("#numbers [data-bandit]").evaluate_all(
        "all => all.map((c) => [c.closest('tr').dataset.node, c.dataset.bandit, c.dataset.column, c.dataset.value])"
    )
    choice = step["choices"][0]
    children = {str(child["node"]): child for child in choice["children"]}
    assert len(cells) == 8 * len(children)
    for node, bandit, column, value in cells:
        terms = {"prior": children[node]["prior"], **children[node]["bandits"][bandit]}
        assert float(value) == terms[column]
    assert page.get_attribute("#numbers tr.chosen", "data-node") == str(choice["selected"])
    page.keyboard.press("4")
    wait_for(page, at, 3)
    rows = page.locator("#numbers tbody tr").evaluate_all(
        "all => all.map((row) => [row.dataset.node, Number(row.dataset.visits), Number(row.dataset.total)])"
    )
    assert rows == [[str(c["node"]), c["visits"][1], c["total"][1]] for c in step["backup"]]
    visits = visits_of(shown)
    drawn = dict(
        page.locator("#tree [data-node]").evaluate_all("all => all.map((n) => [n.dataset.node, +n.dataset.visits])")
    )
    assert len(drawn) > 5 and drawn.items() <= visits.items()
    for bandit in ("ucb1", "tuned", "puct"):
        other = tuplet.search_steps(position, bandit, last=at + 1)
        known = {each["move"]: visits_of(other)[str(each["node"])] for each in other.steps[0]["expanded"]}
        bars = page.locator(f"#compare [data-bandit={bandit}] [data-move]").evaluate_all(
            "all => all.map((bar) => [bar.dataset.move, Number(bar.dataset.visits)])"
        )
        assert dict(bars) == known


@pytest.mark.parametrize("ucb", ["ucb1", "tuned", "puct"])
def test_the_numbers_are_those_of_the_search(looking: Looking, ucb: str) -> None:
    page = opened(looking, position=START, ucb=ucb, at=37)
    check_numbers(page, tuplet.Position.parse(START), ucb, 37)
    known = opened(looking, game=KNOWN, ucb=ucb, at=29)
    notation = parse_qs(urlsplit(known.url).query).get("position", [""])[0]
    if not notation:
        known.wait_for_function("new URL(location).searchParams.get('position')")
        notation = parse_qs(urlsplit(known.url).query)["position"][0]
    check_numbers(known, tuplet.Position.parse(notation), ucb, 29)


def test_each_phase_is_a_click_and_the_slider_goes_anywhere(looking: Looking) -> None:
    page = opened(looking, position=START)
    shown = tuplet.search_steps(tuplet.Position.parse(START), last=60)
    for number, name in enumerate(("Select", "Expand", "Simulate", "Back up")):
        page.click(f"#phases button:has-text('{name}')")
        wait_for(page, 0, number)
        assert page.text_content("#says").startswith(name)
    page.click("#phases button:has-text('Select')")  # of the next simulation
    wait_for(page, 1, 0)
    page.keyboard.press("ArrowRight")
    wait_for(page, 1, 1)
    page.keyboard.press("3")
    wait_for(page, 1, 2)
    played = shown.steps[1]["playouts"][0]
    page.wait_for_function(
        "end => document.querySelector('#board').dataset.notation === end", arg=played["steps"][-1]["position"]
    )
    page.keyboard.press("ArrowLeft")
    wait_for(page, 1, 1)
    page.locator("#slider input").fill("44")
    wait_for(page, 44, 3)
    assert page.get_attribute("#tree [data-node='0']", "data-visits") == str(shown.steps[44]["simulations"])
    page.click("label:has-text('PUCT')")
    wait_for(page, 0, 0)
    page.go_back()
    wait_for(page, 44, 3)


def test_a_lesson_link_opens_the_same_view_twice(looking: Looking) -> None:
    page = opened(looking, position=START, ucb="puct", c=1.5, expand=3, at=20)
    page.locator("#slider input").fill("33")
    wait_for(page, 33, 3)
    page.keyboard.press("1")  # select, of the next simulation
    wait_for(page, 34, 0)
    page.evaluate("import('/static/address.js').then((module) => module.settle())")
    seen = content(page)
    for _ in range(2):
        again = looking.open(page.url, reduced_motion="reduce")
        wait_for(again, 34, 0)
        assert content(again) == seen


def test_hidden_controls_are_hidden_and_their_keys_do_nothing(looking: Looking) -> None:
    page = opened(looking, position=START, at=12, hide="settings,phases,compare")
    for name in ("settings", "phases", "compare"):
        assert not page.is_visible(f"[data-control={name}]")
    assert page.is_visible("[data-control=slider]") and page.is_visible("[data-control=board]")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("4")
    assert page.get_attribute("#tree", "data-at") == "12.0"


def test_the_selected_child_is_hidden_until_the_viewer_has_chosen(looking: Looking) -> None:
    page = opened(looking, position=START, at=31, predict=1)
    selected = tuplet.search_steps(tuplet.Position.parse(START), last=32).steps[31]["choices"][0]["selected"]
    page.wait_for_selector(".lesson-ask button")
    assert not page.is_visible("#numbers table") and page.locator(".search-tree .way path").count() == 0
    assert axe(page) == []
    page.keyboard.press("ArrowRight")
    assert page.get_attribute("#tree", "data-at") == "31.0"
    page.click(f".lesson-ask button[value='{selected}']")
    page.wait_for_selector("#numbers table")
    assert "Right." in page.text_content(".lesson-ask")
    assert page.locator(".search-tree .way path").count() > 0


def test_without_a_server_it_shows_the_same(looking: Looking, chromium: Any, file_server: Server) -> None:
    static = Looking(chromium, file_server)
    for state in ({"at": 37, "phase": 0, "ucb": "ucb1"}, {"at": 21, "phase": 2}, {"game": KNOWN, "at": 30, "phase": 3}):
        there, here = opened(static, **state), opened(looking, **state)
        assert content(there) == content(here)
        assert axe(there) == []
    static.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_accessible_and_fits_a_phone(looking: Looking, theme: str) -> None:
    page = opened(looking, position=START, at=31)
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    for phase in range(4):
        page.keyboard.press(str(phase + 1))
        wait_for(page, 31, phase)
        assert axe(page) == []
    for width in (390, 1440, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
