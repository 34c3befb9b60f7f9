"""The page "Watch it learn": what its learners learn is what `train` learns, and it can be watched and changed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import tuplet
from browsing import Looking, axe, serving
from tuplet.web.site import EVALUATE_EWN
from wasm_calls import node

pytestmark = pytest.mark.slow

BLOCK = 100  # games of a point of the curve
DRIVER = Path(__file__).parent.parent / "wasm_learn.mjs"


def learn_in_node(site: Path, *asked: dict[str, Any]) -> list[Any]:
    """The curves that the page's learners draw, and a game of each."""
    done = subprocess.run([node(), str(DRIVER), str(site), json.dumps(asked)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    answers: list[Any] = json.loads(done.stdout)
    return answers


def means(run: tuplet.Run) -> list[float]:
    return [round(float(block["mean_score"]), 1) for block in run.metrics]


def test_a_learner_of_the_page_learns_what_train_learns(site: Path) -> None:
    asked = [
        {"settings": {"net": "4x5", "learner": learner, "target": target, "seed": 3}, "games": games}
        for learner in ("tc", "td")
        for target, games in (("afterstate", 500), ("state", 200))
    ]
    asked.append({"settings": {"net": "5x4", "learner": "td", "order": "forward", "spawn4": 0.2}, "games": 200})
    asked.append({"settings": {"net": "4x6", "alpha": 0.5, "lambda": 0.25}, "games": 200})
    for each, answer in zip(asked, learn_in_node(site, *asked), strict=True):
        settings: Any = {("lam" if name == "lambda" else name): value for name, value in each["settings"].items()}  # type: ignore[attr-defined]
        run = tuplet.train(settings.pop("net"), games=each["games"], block=BLOCK, **settings)
        assert answer["curve"]["mean"] == means(run), each
        assert answer["curve"]["games"] == [block["games"] for block in run.metrics]
        for tile, shares in answer["curve"]["tiles"].items():
            reached = [block["reached"] for block in run.metrics]  # from the smallest tile that a game ended with
            known = [each.get(tile, float(int(tile) < min(map(int, each)))) for each in reached]
            assert shares == pytest.approx([100 * share for share in known], abs=0.01)
        check_game(answer["game"], run.network, settings.get("spawn4", 0.1))


def check_game(game: dict[str, Any], network: Any, spawn4: float) -> None:
    """A game of the page is one that the same network plays here."""
    name = "2048" if spawn4 == 0.1 else f"2048:spawn4={spawn4}"
    position = tuplet.Position.parse(f"{name} {game['start']}")
    for move, outcome in game["steps"]:
        assert network.best_move([int(tile or 0) for row in position.cells for tile in row]) == move
        position = position.play(move).apply_outcome(outcome)
    assert position.over and position.score == game["score"]
    assert game["tile"] == max(int(tile or 0) for row in position.cells for tile in row)


def test_a_learner_that_is_changed_goes_on_as_train_does(site: Path) -> None:
    changes = [{"game": 100, "alpha": 0.1}, {"game": 200, "spawn4": 0.5}, {"game": 300, "net": "4x5+5x4"}]
    [answer] = learn_in_node(site, {"settings": {"net": "4x5"}, "games": 400, "changes": changes})
    run = tuplet.train("4x5", games=400, block=BLOCK, change="100:alpha=0.1 200:spawn4=0.5 300:net=5x4")
    assert answer["curve"]["mean"] == means(run)
    check_game(answer["game"], run.network, 0.5)


@pytest.mark.parametrize("learner", ["tc", "td"])
def test_a_learner_of_ewn_learns_what_train_learns(learner: str, site: Path) -> None:
    [answer] = learn_in_node(site, {"settings": {"game": "ewn", "learner": learner, "seed": 2}, "games": 4000})
    run = tuplet.train(game="ewn", learner=learner, games=4000, evaluate=EVALUATE_EWN, seed=2)
    curve = answer["curve"]
    assert curve["games"] == [each["learned"] for each in run.evaluations] == [2000, 4000]
    assert curve["mean"] == [each["mean_score"] for each in run.evaluations]
    for part, low_or_high in enumerate(("low", "high")):
        assert curve[low_or_high] == pytest.approx([each["ci95"][part] for each in run.evaluations], abs=1e-4)


def opened(pages: Looking, query: str = "", **settings: Any) -> Any:
    page = pages.open(f"{pages.server.address}/learn.html{query}", reduced_motion="reduce", **settings)
    page.wait_for_selector("#start:not(:disabled)")
    return page


def run_of(page: Any, name: str = "learner-1", points: int = 2000) -> Any:
    """What the page's learner answers."""
    ask = "([name, points]) => import('./static/api.js').then(({ post }) => post('/api/run', { name, points }))"
    return page.evaluate(ask, [name, points])


def wait_for_games(page: Any, games: int, name: str = "learner-1") -> None:
    page.wait_for_function(
        """([name, games]) => import("./static/api.js").then(({ post }) => post("/api/run", { name, points: 1 }))
            .then(({ run }) => run.games >= games, () => false)""",
        arg=[name, games],
    )


def test_the_curve_grows_and_its_numbers_are_those_of_train(pages: Looking) -> None:
    page = opened(pages, "?learners=td,net=5x4&seed=5")
    assert page.locator(".learn-card[data-state=planned]").count() == 1
    page.click("#start")
    page.wait_for_selector(".curves path.line")
    before = page.get_attribute(".curves path.line", "d")
    page.wait_for_function("was => document.querySelector('.curves path.line').getAttribute('d') !== was", arg=before)
    wait_for_games(page, 600)
    page.click("#start")  # stop
    page.wait_for_selector(".learn-card[data-state=stopped]")
    answer = run_of(page)
    games = answer["run"]["games"]
    page.wait_for_timeout(300)
    assert run_of(page)["run"]["games"] == games
    assert answer["curve"]["mean"][:6] == means(tuplet.train("5x4", learner="td", games=600, block=BLOCK, seed=5))
    assert answer["run"]["commands"] == [f"tuplet train --net=5x4 --learner=td --seed=5 --games={games}"]
    assert page.text_content(".learn-command code") == answer["run"]["commands"][0]
    page.click("#start")  # resume
    wait_for_games(page, games + 100)
    page.wait_for_selector("#board[data-notation]")  # a game of the player
    page.wait_for_function("Number(document.getElementById('move').textContent) > 3")


def test_a_learner_is_changed_while_it_runs(pages: Looking) -> None:
    page = opened(pages, "?learners=tc,net=5x4")
    page.click("#start")
    wait_for_games(page, 200)
    page.locator("input[aria-label='Learning rate α']").fill("0")
    page.wait_for_selector(".curves text.change")
    page.locator("input[aria-label='Share of fours']").fill("50")
    page.wait_for_function("document.querySelectorAll('.curves text.change').length === 2")
    page.select_option("select[aria-label='Add tuples']", "4x5")
    page.wait_for_function("document.querySelectorAll('.curves text.change').length === 3")
    run = run_of(page)["run"]
    assert [{name: change[name] for name in change if name != "game"} for change in run["changes"]] == [
        {"alpha": 0.001},
        {"spawn4": 0.5},
        {"net": "4x5"},
    ]
    alpha, fours, tuples = (change["game"] for change in run["changes"])
    command = f"tuplet train --net=5x4 '--change={alpha}:alpha=0.001 {fours}:spawn4=0.5 {tuples}:net=4x5' --games="
    assert run_of(page)["run"]["commands"][0].startswith(command)
    wait_for_games(page, run["games"] + 100)
    page.click("button[aria-label='Remove learner A']")
    page.wait_for_selector(".learn-card[data-state=planned]")
    assert page.evaluate("import('./static/api.js').then(({ get }) => get('/api/runs'))")["runs"] == []


def test_a_comparison_is_one_click_and_a_link_opens_it_again(pages: Looking) -> None:
    page = opened(pages)
    page.click("text=TD against TC")
    page.wait_for_function("document.querySelectorAll('.curves path.line').length === 2")
    assert page.locator(".learn-card h3").all_text_contents() == ["TC · 4x5", "TD · 4x5"]
    page.wait_for_function("new URL(location).searchParams.get('learners') === 'tc/td'")
    other = opened(pages, "?" + page.url.partition("?")[2])
    assert other.locator(".learn-card[data-state=planned] h3").all_text_contents() == ["TC · 4x5", "TD · 4x5"]


def test_ewn_is_learned_and_its_curve_is_what_it_wins(pages: Looking) -> None:
    page = opened(pages, "?game=ewn")
    page.click("#start")
    page.wait_for_selector(".curves circle.end")
    assert page.is_hidden("#watch") and "Points won" in page.text_content("#curve-title")
    answer = run_of(page)
    assert answer["run"]["game"] == "ewn" and answer["curve"]["games"][0] == 2000
    assert 0.2 < answer["curve"]["low"][0] < answer["curve"]["mean"][0] < answer["curve"]["high"][0] < 0.8
    page.locator("input[aria-label='Learning rate α']").fill("3")
    page.wait_for_function("document.querySelectorAll('.learn-card code')[0].textContent.includes(':alpha=0.01')")


def test_a_guess_comes_before_the_curve(pages: Looking) -> None:
    page = opened(pages, "?learners=td,net=5x4&predict=1")
    page.click("#start")
    wait_for_games(page, 300)
    assert page.is_hidden("#curves") and page.is_hidden("#watch")
    page.locator("input[aria-label='Mean score after 5,000 games']").fill("20000")
    page.click("text=Show the curve")
    page.wait_for_selector(".curves path.line")
    assert page.is_visible(".curves path.guess")


def test_what_does_not_fit_into_memory_is_refused_in_one_line(pages: Looking) -> None:
    page = opened(pages, "?learners=tc,net=4x6/tc,net=4x6/tc,net=4x6")
    page.add_init_script("Object.defineProperty(navigator, 'deviceMemory', { get: () => 4 })")
    page.reload()
    page.click("#start:not(:disabled)")
    page.wait_for_selector(".toast.error")
    assert "network 4x6 needs 0.81 GB, and this page may use 2.00 GB" in page.text_content(".toast.error")
    assert page.locator(".learn-card[data-state=running]").count() == 2


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_is_accessible_and_fits_a_phone(theme: str, pages: Looking) -> None:
    page = opened(pages, "?learners=tc/td", color_scheme=theme, viewport={"width": 390, "height": 844})
    assert axe(page) == []
    page.click("#start")
    page.wait_for_function("document.querySelectorAll('.curves path.line').length === 2")
    page.click(".learn-card:nth-child(1) button:has-text('Stop')")
    page.wait_for_selector(".learn-card[data-state=stopped]")
    assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_runs_of_a_server_are_drawn_and_without_train_nothing_can_be_started(chromium: Any, tmp_path: Path) -> None:
    tuplet.train("5x4", learner="td", games=600, block=BLOCK, out=tmp_path / "drawn")
    with serving(runs=tmp_path) as server:
        looking = Looking(chromium, server)
        page = looking.open("/learn")
        page.wait_for_selector("#runs tbody tr")
        assert "tuplet serve --train" in page.text_content("#note")
        assert page.is_disabled("#start") and page.is_disabled("#presets button >> nth=0")
        page.check("#runs label:has-text('drawn') input")
        page.wait_for_selector(".curves path.line")
        page.wait_for_selector("#board[data-notation]")
        assert page.text_content(".learn-card .figures dd >> nth=1") == "600"
        assert page.locator(".learn-card input[type=range]").count() == 0
        assert axe(page) == []
        page.wait_for_function("new URL(location).searchParams.get('runs') === 'drawn'")
        page.reload()
        page.wait_for_selector(".curves path.line")
        looking.close()


def test_a_run_is_started_changed_stopped_and_deleted_on_a_server(chromium: Any, tmp_path: Path) -> None:
    with serving(runs=tmp_path / "runs", train=True) as server:
        looking = Looking(chromium, server)
        page = looking.open("/learn?learners=td,net=5x4&seed=3")
        page.click("#start:not(:disabled)")
        page.wait_for_selector(".learn-card[data-state=running]")
        page.wait_for_selector(".curves path.line")
        page.locator("input[aria-label='Learning rate α']").fill("3")
        page.wait_for_selector(".curves text.change")
        page.reload()  # the run goes on, and the page finds it again
        page.wait_for_selector(".curves text.change")
        page.click("#start:has-text('Stop')")
        page.wait_for_selector(".learn-card[data-state=stopped]")
        [folder] = (tmp_path / "runs").iterdir()
        [change] = tuplet.Run.load(folder).method.changes()
        assert change.settings == {"alpha": 0.01}
        page.click("button:has-text('Delete…')")
        page.click("dialog button:has-text('Delete')")
        page.wait_for_selector(".learn-card[data-state=planned]")
        assert not folder.exists()
        looking.close()
