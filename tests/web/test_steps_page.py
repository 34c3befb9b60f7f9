"""How it learns, step by step: the page shows the numbers of `learning_steps`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from browsing import Looking, axe
from tuplet import learning_steps, self_play_steps
from tuplet.learn.steps import LearningSteps

pytestmark = pytest.mark.slow

SETTINGS: dict[str, Any] = {"seed": 4, "games": 10, "last": 12}  # of the page, and of the function
QUERY = "seed=4&games=10"


@pytest.fixture(params=["served", "static"])
def pages(request: pytest.FixtureRequest, chromium: Any) -> Iterator[Looking]:
    """The page of the server, and the one that needs none."""
    found = Looking(chromium, request.getfixturevalue("server" if request.param == "served" else "file_server"))
    yield found
    found.close()


def opened(looking: Looking, query: str, **settings: Any) -> Any:
    return looking.open(f"{looking.server.address}/steps.html?{QUERY}{query and '&'}{query}", **settings)


def shown_at(page: Any, phase: str, number: int) -> None:
    page.wait_for_selector(f'#where-it-is[data-step="{phase} {number}"]')
    page.wait_for_selector(f'.side[data-shown="{phase} {number}"]')


def numbers(page: Any, selector: str, name: str) -> list[float]:
    found = page.locator(selector).evaluate_all(f"all => all.map(each => each.getAttribute('data-{name}'))")
    return [float(each) for each in found]


def check_play(page: Any, known: LearningSteps, number: int, side: str = ".side") -> None:
    step = next(each for each in known.steps if each.number == number)
    legal = {each.move: each for each in known.choices(step) if each.legal}
    cards = page.locator(f"{side} button.card")
    found = cards.evaluate_all(
        "all => all.map(e => [e.dataset.move, Number(e.querySelector('[data-sum]').dataset.sum)])"
    )
    assert dict(found) == {move: each.sum for move, each in legal.items()}
    assert page.get_attribute(f"{side} .card.best", "data-move") == known.best(step)
    states = known.network.target == "state"
    boards = sum(len(each.outcomes) if states else 1 for each in legal.values())
    assert page.get_attribute(f"{side} [data-boards]", "data-boards") == str(boards)


def check_learn(page: Any, known: LearningSteps, number: int, side: str = ".side", tuple_number: int = 0) -> None:
    step = next(each for each in known.steps if each.number == number)
    for name, value in ("target", step.target), ("error", step.error), ("updated", step.updated):
        assert numbers(page, f"{side} [data-{name}]", name) == [value]
    own = [each for each in known.look_ups(step) if each.tuple == tuple_number]
    assert numbers(page, f"{side} .entries td[data-before]", "before") == [each.before for each in own]
    assert numbers(page, f"{side} .entries td[data-after]", "after") == [each.after for each in own]


def walk_through(page: Any, known: LearningSteps) -> None:
    """From the first move that is shown to the last update, by keys and buttons."""
    first, last = known.steps[0].number, known.steps[-1].number
    shown_at(page, "play", first)
    check_play(page, known, first)
    page.keyboard.press("ArrowRight")
    shown_at(page, "play", first + 1)
    check_play(page, known, first + 1)
    page.keyboard.press("ArrowLeft")
    shown_at(page, "play", first)
    page.click("#to-learn")
    for back in range(3):
        shown_at(page, "learn", last - back)
        check_learn(page, known, last - back)
        page.click("#on")
    page.click('[data-key="tuple 2"]')
    page.wait_for_selector('[data-key="tuple 2"][aria-pressed=true]')
    check_learn(page, known, last - 3, tuple_number=2)
    page.click('[data-key="placement 5"]')
    page.wait_for_selector('.entries tr.chosen[data-placement="5"]')
    entry = [each for each in known.look_ups(known.steps[-4]) if (each.tuple, each.placement) == (2, 5)]
    assert page.get_attribute("[data-index]", "data-index") == str(entry[0].index)
    page.keyboard.press("End")
    shown_at(page, "learn", first)
    check_learn(page, known, first, tuple_number=2)


def test_stepping_shows_the_numbers_of_the_learner(pages: Looking) -> None:
    walk_through(opened(pages, ""), learning_steps(**SETTINGS))


@pytest.mark.parametrize(
    ("query", "settings"),
    [
        ("learner=tc&values=state", {"learner": "tc", "target": "state"}),
        ("order=forward&learner=tc", {"order": "forward", "learner": "tc"}),
        ("lam=0.5&alpha=0.3&net=0123+4567", {"lam": 0.5, "alpha": 0.3, "net": "0123 4567"}),
    ],
)
def test_each_setting_is_the_learners(pages: Looking, query: str, settings: dict[str, Any]) -> None:
    known = learning_steps(**SETTINGS | settings)
    page = opened(pages, query)
    shown_at(page, "play", known.steps[0].number)
    check_play(page, known, known.steps[0].number)
    page.click("#to-learn")
    number = known.steps[0 if settings.get("order") else -1].number
    shown_at(page, "learn", number)
    check_learn(page, known, number)


def test_both_kinds_of_values_learn_from_the_same_game(pages: Looking) -> None:
    page = opened(pages, "values=both")
    one = learning_steps(**SETTINGS)
    other = learning_steps(**SETTINGS, target="state", moves=one.played)
    page.wait_for_selector(".side:nth-child(2)[data-shown]")
    first = one.steps[0].number
    check_play(page, one, first, ".side:nth-child(1)")
    check_play(page, other, first, ".side:nth-child(2)")
    page.keyboard.press("End")
    page.wait_for_selector(f'.side:nth-child(2)[data-shown="learn {first}"]')
    check_learn(page, one, first, ".side:nth-child(1)")
    check_learn(page, other, first, ".side:nth-child(2)")


def test_a_game_of_ewn_shows_the_die_and_the_win_probabilities(looking: Looking) -> None:
    page = opened(looking, "game=ewn&learner=tc")
    known = self_play_steps("ewn", games=10, seed=4, learner="tc")
    shown_at(page, "play", 0)
    rolls = known.rolls(known.steps[0])
    assert numbers(page, "[data-face] [data-value]", "value") == [roll.value for roll in rolls]
    assert numbers(page, "[data-expected]", "expected") == [known.steps[0].expected]
    assert page.get_attribute("[data-face].best", "data-face") == known.steps[0].outcome
    page.click("#to-learn")
    last = known.steps[-1]
    shown_at(page, "learn", last.number)
    for name, value in ("target", last.target), ("error", last.error), ("updated", last.updated):
        assert numbers(page, f"[data-{name}]", name) == [value]
    assert numbers(page, "td[data-after]", "after") == [part.after for part in known.parts(last)]
    page.click('[data-key="part 2"]')
    page.wait_for_selector("tr.chosen [data-key='part 2']")
    assert axe(page) == []
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.check("input[name=game][value='2048']", force=True)
    page.wait_for_selector("#main[data-game='2048'] .cross")


def test_controls_change_the_numbers(looking: Looking) -> None:
    page = opened(looking, "step=12")
    before = learning_steps(**SETTINGS)
    number = before.steps[-1].number
    shown_at(page, "learn", number)
    check_learn(page, before, number)
    page.focus("#alpha")
    page.keyboard.press("ArrowRight")  # 0.2
    after = learning_steps(**SETTINGS, alpha=0.2)
    page.wait_for_selector(f'[data-updated="{after.steps[-1].updated!r}"]')
    check_learn(page, after, number)
    page.check("input[name=learner][value=tc]", force=True)
    page.wait_for_selector("th:has-text('rate')")
    page.check("input[name=order][value=forward]", force=True)
    page.wait_for_selector("#lam:disabled")


def test_a_lesson_link_opens_the_same_view_twice(pages: Looking) -> None:
    page = opened(pages, "values=state&hide=alpha,stepper&step=2")
    page.wait_for_selector(".side[data-shown]")
    assert not page.is_visible("#alpha") and not page.is_visible("#stepper") and page.is_visible("#lam")
    page.keyboard.press("ArrowRight")  # the keys of a control that is hidden do nothing
    page.click('button[data-move]:not([aria-pressed="true"])')
    page.wait_for_url("**move=*")
    views = []
    for _ in range(2):
        other = pages.open(page.url)
        other.wait_for_selector(".side[data-shown]")
        other.wait_for_selector(".code code")
        views.append(other.inner_text("#sides"))
        assert other.url == page.url
    assert views[0] == views[1] == page.inner_text("#sides")


def test_what_an_address_gets_wrong_is_said_on_the_page(looking: Looking) -> None:
    page = opened(looking, "learner=mine")
    page.wait_for_selector("#sides >> text=learner must be td or tc")
    looking.errors[:] = [each for each in looking.errors if "400" not in each]  # the browser reports it, too


def test_predict_first_hides_the_answer_until_the_viewer_has_chosen(looking: Looking) -> None:
    page = opened(looking, "predict=1")
    page.wait_for_selector(".lesson-ask")
    assert not page.is_visible("[data-sum]") and not page.is_visible(".is-best")
    page.click(".lesson-ask button")
    page.wait_for_selector("[data-sum]")
    assert page.inner_text(".lesson-ask [role=status]").startswith(("Right", "Not this time"))
    page.click("#to-learn")
    page.wait_for_selector(".learn .lesson-ask")
    assert not page.is_visible("[data-updated]") and not page.is_visible(".entries")
    page.click(".lesson-ask >> text=it falls")
    page.wait_for_selector("[data-updated]")


def test_each_panel_shows_the_lines_of_the_course_s_program(looking: Looking) -> None:
    from tuplet.web.homework import find_file

    text = find_file().read_text()
    page = opened(looking, "values=both&step=12")
    page.wait_for_selector(".side:nth-child(2)[data-shown]")
    page.wait_for_selector("pre[data-function]", state="attached")
    names = set(page.locator("pre").evaluate_all("all => all.map(each => each.dataset.function)"))
    assert names >= {"AfterstateLearner.update_episode", "StateLearner.update_episode", "indexof", "Pattern.update"}
    for pre in page.locator("pre").all():
        first, *lines = str(pre.text_content()).split("\n")
        at = int(first.removeprefix("# line "))
        assert [line.strip() for line in lines] == [line.strip() for line in text.splitlines()[at - 1 :][: len(lines)]]


@pytest.mark.parametrize("settings", [{}, {"viewport": {"width": 390, "height": 800}, "color_scheme": "dark"}])
@pytest.mark.parametrize("query", ["values=state", "values=both&step=13&learner=tc"])
def test_it_is_accessible_and_fits_a_phone(pages: Looking, settings: dict[str, Any], query: str) -> None:
    page = opened(pages, query, **settings)
    page.wait_for_selector(".side:last-child[data-shown]")
    page.wait_for_selector(".code code")
    assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
