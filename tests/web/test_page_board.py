"""The page of a user's own game: listed, analyzed, and played."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import tuplet
from browsing import Looking, Server, axe, serving

pytestmark = pytest.mark.slow

HERE = Path(__file__).parents[1]
AGENTS = ("mcts:sims=200", "alphabeta:depth=2", "easy")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of games whose name has a space."""
    folder = tmp_path_factory.mktemp("my games")
    for file in (HERE.parent / "examples/connect4.py", HERE / "data/games/race.py"):
        shutil.copy(file, folder / f"spaced_{file.name}")  # no module of another test has this name
    return folder


@pytest.fixture(scope="module")
def connect4(folder: Path) -> str:
    return f"{folder}/spaced_connect4.py:CONNECT4"


@pytest.fixture(scope="module")
def race(folder: Path) -> str:
    """A game with chance, and without a board."""
    return f"{folder}/spaced_race.py:RACE"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory, connect4: str, race: str) -> Iterator[Server]:
    with serving(runs=tmp_path_factory.mktemp("runs"), rules=[connect4, race]) as found:
        yield found


@pytest.fixture
def pages(chromium: Any, own: Server) -> Iterator[Looking]:
    found = Looking(chromium, own)
    yield found
    found.close()


def test_user_games_are_listed_and_every_call_takes_them(own: Server, connect4: str, race: str) -> None:
    name = tuplet.game(connect4).name
    listed = {each["game"]: each for each in own.ask("/api/games")[1]["games"]}
    assert listed[name]["title"] == "CONNECT4" and listed[name]["sides"] == ["yellow", "red"]
    assert "ewn" in listed and tuplet.game(race).name in listed
    status, agents = own.ask(f"/api/agents?game={quote(name)}")
    assert status == 200 and {"mcts", "alphabeta"} <= {each["agent"] for each in agents["agents"]}
    status, first = own.ask("/api/position", {"game": connect4})  # as it was typed
    assert status == 200 and first["position"]["svg"].startswith("<svg")
    start = first["position"]["notation"]
    status, then = own.ask("/api/play", {"game": name, "position": start, "move": "4"})
    assert status == 200 and then["position"]["turn"] == "red"
    for agent in AGENTS:
        asked = {"game": name, "position": then["position"]["notation"], "agent": agent}
        status, found = own.ask("/api/analyze", asked)
        assert status == 200 and found["best"] in then["position"]["legal_moves"]
    steps = [["4", None], ["3", None]]
    status, text = own.ask("/api/write", {"game": name, "start": start, "steps": steps})
    assert status == 200
    status, read = own.ask("/api/read", {"text": text["text"]})
    assert status == 200 and read["kind"] == "game" and read["game"] == name


def test_a_user_game_is_played_on_the_page(pages: Looking, connect4: str) -> None:
    page = pages.open("/2048", reduced_motion="reduce")
    page.click("nav a:has-text('CONNECT4')")
    page.wait_for_selector("#moves button:not([disabled])")
    name = connect4
    start = page.get_attribute("#board", "data-notation")
    assert start == tuplet.game(name).start().notation
    page.select_option("[data-side=red] .field > select:not([data-setting])", "easy")
    page.click("#moves button[data-move='4']")
    page.wait_for_function("() => document.querySelectorAll('#record li').length === 2")
    made = page.eval_on_selector_all("#record li", "all => all.map((each) => each.textContent)")
    position = tuplet.game(name).start().play("4").play(made[1])
    assert page.get_attribute("#board", "data-notation") == position.notation
    assert page.get_attribute("#board img", "alt").startswith("yellow to move")
    page.select_option("#thinker select:not([data-setting])", "alphabeta")
    page.click("#thinker summary")
    page.fill("#thinker input[data-setting=depth]", "3")
    page.check("#think")
    page.wait_for_selector("#moves small")
    wanted = tuplet.analyze(name, position.notation, "alphabeta:depth=3", progress=False).as_json()
    for move in wanted["moves"]:
        seen = page.get_attribute(f"#moves [data-move='{move['move']}'] small", "data-value")
        assert float(seen) == pytest.approx(move["value"])
    assert axe(page) == []
    page.keyboard.press("u")
    page.wait_for_function("() => document.querySelectorAll('#record li').length === 0")
    assert page.get_attribute("#board", "data-notation") == start
    page.evaluate("import('/static/address.js').then(module => module.settle())")
    again = pages.open(page.url)
    again.wait_for_selector("#moves button:not([disabled])")
    assert again.get_attribute("#board", "data-notation") == start


def test_agents_play_a_game_with_chance_to_its_end(pages: Looking, race: str) -> None:
    sides = tuplet.game(race).sides
    page = pages.open(f"/board?game={quote(race)}&" + "&".join(f"{side}=easy" for side in sides))
    page.wait_for_selector("#caption:has-text('won'), #caption:has-text('drawn')")
    assert page.locator("#moves button").count() == 0
    page.click("label:has-text('You') >> nth=0")
    page.keyboard.press("n")
    page.wait_for_selector("#moves button:not([disabled])")


def test_without_a_user_game_the_page_says_how_to_add_one(looking: Looking) -> None:
    page = looking.open("/board")
    page.wait_for_selector("#caption:has-text('--game')")


def test_it_fits_a_phone(pages: Looking) -> None:
    page = pages.open("/board", viewport={"width": 360, "height": 740})
    page.wait_for_selector("#moves button")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert page.is_visible("#theme")
