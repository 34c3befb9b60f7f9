"""The page of 2048 in a real browser: it plays by the rules, and shows what the functions return."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest

import tuplet
from browsing import Looking, Server, axe, serving

pytestmark = pytest.mark.slow

RICH = "2048 2,4,8,16/0,2,64,32/4,8,256,128/0,2,512,1024 12344"
PLAIN = "2048 2,0,0,2/0,4,0,0/0,0,0,0/0,0,0,8 16"
KEYS = {"up": "ArrowUp", "right": "ArrowRight", "down": "ArrowDown", "left": "ArrowLeft"}
LETTERS = {"up": "w", "right": "d", "down": "s", "left": "a"}


def at(position: str, **more: object) -> str:
    """The address of a position."""
    return "/2048?" + "&".join(f"{k}={quote(str(v))}" for k, v in {"position": position, **more}.items())


def calm(looking: Looking, address: str, **settings: Any) -> Any:
    """A page on which nothing slides."""
    return looking.open(address, **({"reduced_motion": "reduce"} | settings))


def seen(page: Any) -> str:
    """The position that the board shows, as the board says and as its tiles are drawn."""
    notation: str = page.get_attribute("#board", "data-notation")
    return notation


DRAWN = """wanted => {
    const board = document.getElementById("board");
    const there = board.dataset.notation && board.classList.contains("still");
    if (!there || !(wanted.is ? board.dataset.notation === wanted.is : board.dataset.notation !== wanted.not)) return null;
    const size = ["--rows", "--columns"].map((name) => Number(board.style.getPropertyValue(name)));
    const tiles = [...board.querySelectorAll(".tile")].map((t) => [Number(t.dataset.cell), Number(t.textContent)]);
    return {notation: board.dataset.notation, size, tiles};
}"""  # noqa: E501


def drawn(page: Any, **wanted: str) -> str:
    """Wait for a position and for its tiles to have arrived; they are what it says."""
    found = page.wait_for_function(DRAWN, arg=wanted).json_value()
    rows, columns = found["size"]
    tiles = [0] * (rows * columns)
    for cell, tile in found["tiles"]:
        assert tiles[cell] == 0, "two tiles on one cell"
        tiles[cell] = tile
    notation: str = found["notation"]
    assert tiles == standing(notation).tiles
    return notation


def until(page: Any, wanted: str) -> None:
    """Wait for a position."""
    drawn(page, **{"is": wanted})


def changes(page: Any, act: Any) -> str:
    """Do something that leads to another position: which?"""
    before = seen(page)
    act()
    return drawn(page, **{"not": before})


def standing(notation: str) -> Any:
    return tuplet.game(notation.split()[0]).parse(notation)


def follows(before: str, move: str, after: str) -> bool:
    """Whether the rules lead from one position to the other."""
    moved = standing(before).play(move)
    return after in {moved.apply_outcome(tile).notation for tile in moved.chance_outcomes()}


def thought(page: Any) -> None:
    """Wait until the agent's values are those of what is seen."""
    page.wait_for_selector("#values:not(.stale) .value.best")


def values(page: Any) -> dict[str, float]:
    return {
        row.get_attribute("data-move"): float(row.get_attribute("data-value"))
        for row in page.query_selector_all(".value[data-value]")
    }


def analyze_values(position: str, depth: int = 1, agent: str = "small") -> dict[str, float]:
    """The values of `tuplet analyze --json`."""
    game, _, board = position.partition(" ")
    found = tuplet.analyze(game, position, agent, depth=depth, progress=False).as_json()
    assert board
    return {m["move"]: m["value"] for m in found["moves"] if m["legal"]}


def swipe(page: Any, move: str) -> None:
    """A finger on the board."""
    box = page.query_selector("#board").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    dx, dy = {"up": (0, -1), "right": (1, 0), "down": (0, 1), "left": (-1, 0)}[move]
    finger = page.context.new_cdp_session(page)
    points = [{"x": x + dx * far, "y": y + dy * far} for far in (0, 15, 40, 70)]
    for kind, point in zip(["touchStart", "touchMove", "touchMove", "touchMove"], points, strict=True):
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_keys_and_swipes_play_by_the_rules(looking: Looking) -> None:
    page = looking.open(at(PLAIN), has_touch=True)
    until(page, PLAIN)
    for number in range(9):
        before = seen(page)
        move = standing(before).legal_moves()[number % len(standing(before).legal_moves())]
        ways = [
            lambda m=move: page.keyboard.press(KEYS[m]),
            lambda m=move: swipe(page, m),
            lambda m=move: page.keyboard.press(LETTERS[m]),
        ]
        after = changes(page, ways[number % 3])
        assert follows(before, move, after), (before, move, after)
    assert page.inner_text("#moves-made") == "9"
    assert page.inner_text("#score").replace(",", "") == seen(page).split()[-1]


def test_keys_faster_than_the_animation_are_not_lost(looking: Looking, server: Server) -> None:
    page = looking.open("/2048")
    page.wait_for_selector("#board[data-notation]")
    with page.expect_response("**/api/position") as answer:
        page.keyboard.press("n")
    found = answer.value.json()
    until(page, found["position"]["notation"])
    position, rng, made = found["position"], found["rng"], 0
    moves = ["left", "down", "right", "down", "left", "up", "right", "down", "left", "down"]
    for move in moves:
        page.keyboard.press(KEYS[move], delay=0)
        if move in position["legal_moves"]:
            asked = {"game": "2048", "position": position["notation"], "move": move, "rng": rng}
            _, answered = server.ask("/api/play", asked)
            position, rng, made = answered["position"], answered["rng"], made + 1
    until(page, position["notation"])
    assert page.inner_text("#moves-made") == str(made)


def test_the_page_shows_the_values_of_analyze(looking: Looking) -> None:
    page = calm(looking, at(RICH))
    for depth in (1, 2):
        page.select_option("#ahead", f"d{depth}")
        page.wait_for_selector(f"#values-say:has-text('looking {depth} move')")
        thought(page)
        wanted = analyze_values(RICH, depth)
        assert values(page) == wanted
        best = max(wanted, key=wanted.__getitem__)
        assert page.get_attribute(".value.best", "data-move") == best
        assert f"{wanted[best]:,.1f}" in page.inner_text(".value.best")
        assert page.is_disabled(".value[data-move=right]")  # not possible here
        cells = page.eval_on_selector_all(
            f"#why tbody td[data-move={best}]", "all => all.map((cell) => cell.textContent)"
        )
        numbers = [float(text.replace(",", "").replace("−", "-")) for text in cells]
        assert sum(numbers[:-1]) == pytest.approx(numbers[-1], abs=0.5)  # rows make the value


def test_pointing_at_a_tuple_shows_its_eight_placements_and_their_weights(looking: Looking) -> None:
    page = calm(looking, at(RICH))
    thought(page)
    best = page.get_attribute(".value.best", "data-move")
    after = standing(RICH).play(best)
    network = tuplet.make_agent("small", "2048").network
    wanted = network.explain(tuplet.Board(after))[1]
    page.hover(f"#why tr[data-part='{wanted.cells}'] th")
    page.wait_for_selector(".board.explained .lines .weight")
    until(page, after.notation)
    weights = page.eval_on_selector_all(".lines .weight", "all => all.map(w => Number(w.dataset.weight))")
    assert sorted(weights) == sorted(weight for _, weight in wanted.placements)
    assert page.locator(".placement").count() == 8
    page.mouse.move(2, 2)
    page.wait_for_selector(".board:not(.explained)")
    until(page, RICH)


def test_the_analysis_can_be_hidden_or_shown_after_the_move(looking: Looking) -> None:
    page = calm(looking, at(RICH, show="after"))
    page.wait_for_selector("#analysis-says:has-text('Make your move')")
    assert page.is_hidden("#values")
    changes(page, lambda: page.keyboard.press("ArrowLeft"))
    thought(page)
    assert values(page) == analyze_values(RICH)  # of the board that the move was made on
    assert page.get_attribute(".value.played", "data-move") == "left"
    page.keyboard.press("t")
    page.wait_for_selector("#analysis-says:has-text('Hidden')")
    assert page.is_hidden("#values")
    page.keyboard.press("t")
    thought(page)
    assert values(page) == analyze_values(seen(page))


def test_undo_restores_the_board_and_the_random_state(looking: Looking) -> None:
    page = calm(looking, at(PLAIN))
    until(page, PLAIN)
    path = [PLAIN]
    for move in ("left", "down", "right"):
        path.append(changes(page, lambda m=move: page.keyboard.press(KEYS[m])))
    for wanted in path[-2::-1]:
        page.keyboard.press("u")
        until(page, wanted)
    assert page.is_disabled("#undo")
    page.keyboard.press("Shift+U")
    until(page, path[1])
    page.keyboard.press("Control+z")
    until(page, PLAIN)
    page.keyboard.press("a")
    until(page, path[1])  # the same tile comes again
    assert page.is_disabled("#redo")


def test_the_agent_plays_to_the_end(looking: Looking) -> None:
    page = calm(looking, "/2048?game=2048:board=2x3&agent=greedy&speed=100")
    page.wait_for_selector("#board[data-notation]")
    page.keyboard.press(" ")
    page.wait_for_selector("#board .over")
    last = standing(seen(page))
    assert last.over
    count = int(page.inner_text("#moves-made").replace(",", ""))
    path = [seen(page)]
    for _ in range(min(count, 5)):
        path.append(changes(page, lambda: page.keyboard.press("u")))
    for after, before in pairwise(path):
        assert any(follows(before, move, after) for move in standing(before).legal_moves())


def test_a_key_takes_over_from_the_agent_at_once(looking: Looking) -> None:
    page = calm(looking, at(PLAIN, speed=0))
    thought(page)
    page.keyboard.press(" ")
    page.wait_for_selector("#play[data-playing=true]")
    page.wait_for_function("() => Number(document.getElementById('moves-made').textContent) === 1")
    before = seen(page)
    move = standing(before).legal_moves()[-1]
    after = changes(page, lambda: page.keyboard.press(KEYS[move]))
    assert follows(before, move, after)
    assert page.get_attribute("#play", "data-playing") == "false"
    assert changes(page, lambda: page.keyboard.press("g")) != after  # one move by the agent
    assert page.inner_text("#moves-made") == "3"


def test_an_edited_board_is_analyzed(looking: Looking) -> None:
    page = calm(looking, at(PLAIN))
    thought(page)
    page.keyboard.press("e")
    page.click(".palette [data-tile='64']")
    one = changes(page, lambda: page.click(".cell[data-cell='5']"))
    assert standing(one).tiles[5] == 64
    two = changes(page, lambda: page.click(".cell[data-cell='0']", button="right"))
    assert standing(two).tiles[0] == 4
    three = changes(page, lambda: page.click(".cell[data-cell='1']", delay=600))  # a long press
    assert standing(three).tiles[1] == 2
    thought(page)
    page.wait_for_function(
        "v => document.querySelector('.value.best')?.dataset.value === v",
        arg=str(max(analyze_values(three).values())).removesuffix(".0"),
    )
    assert values(page) == analyze_values(three)
    page.keyboard.press("u")
    until(page, two)
    page.click("#edit-done")
    assert page.is_hidden("#edit-bar")
    assert follows(two, "down", changes(page, lambda: page.keyboard.press("ArrowDown")))


def test_the_player_can_place_the_tiles(looking: Looking) -> None:
    page = calm(looking, at(PLAIN, place=1))
    until(page, PLAIN)
    waiting = changes(page, lambda: page.keyboard.press("ArrowLeft"))
    assert waiting == standing(PLAIN).play("left").notation  # no tile yet
    after = changes(page, lambda: page.click(".cell[data-cell='10']", button="right"))
    assert after == standing(waiting).apply_outcome("4@10").notation
    page.keyboard.press("u")
    until(page, PLAIN)


def test_positions_and_games_are_pasted_and_copied(looking: Looking) -> None:
    episode = tuplet.play_episode("random", tuplet.RandomEnvironment(seed=3))
    page = calm(looking, "/2048", permissions=["clipboard-read", "clipboard-write"])
    page.wait_for_selector("#board[data-notation]")
    page.keyboard.press("p")
    page.fill("#paste-text", "what is this?")
    page.click("#paste-read")
    page.wait_for_selector("#paste-says:not(:empty):not(:text('Reading…'))")
    page.fill("#paste-text", ",".join(map(str, standing(RICH).tiles)))
    page.click("#paste-read")
    board = RICH.removesuffix("12344") + "0"
    until(page, board)
    page.keyboard.press("p")
    page.fill("#paste-text", episode.text("episode"))
    page.click("#paste-read")
    page.wait_for_selector(f"#moves-made:text-is('{len(episode.moves):,}')")
    assert standing(seen(page)).tiles == episode.position.tiles
    assert standing(seen(page)).score == episode.score
    copied = "navigator.clipboard.readText()"
    page.keyboard.press("p")
    page.click("#copy-episode")
    page.wait_for_selector(".toast:has-text('Copied')")
    again = tuplet.read(page.evaluate(copied)).record
    assert [*again.replay()][-1][0] == [*episode.replay()][-1][0]
    assert (again.score, len(again.moves)) == (episode.score, len(episode.moves))
    page.keyboard.press("Escape")
    last = seen(page)
    page.keyboard.press("c")
    page.wait_for_selector(".toast:has-text('the position')")
    assert page.evaluate(copied) == last
    page.go_back()
    until(page, board)
    looking.errors = [each for each in looking.errors if "400" not in each]  # of the text that is neither


def test_a_review_adds_up_and_leads_to_the_mistakes(looking: Looking) -> None:
    page = calm(looking, "/2048?agent=random&speed=100")
    page.wait_for_selector("#board[data-notation]")
    page.keyboard.press(" ")
    page.wait_for_selector("#board .over")
    last = seen(page)
    page.select_option("select[id^=agent-]", "small")
    page.keyboard.press("r")
    page.wait_for_selector("#review-results:not([hidden])")
    parts = {
        part.get_attribute("data-part"): float(part.get_attribute("data-value"))
        for part in page.query_selector_all("#sum [data-part]")
    }
    assert parts["score"] == standing(last).score
    assert parts["score"] == pytest.approx(
        parts["first_value"] + parts["luck"] + parts["drift"] - parts["losses"] - parts.get("left", 0), abs=0.06
    )
    counts = [int(b.inner_text().replace(",", "")) for b in page.query_selector_all("[data-count]")]
    assert sum(counts) == int(page.inner_text("#moves-made").replace(",", ""))
    assert float(page.get_attribute("#accuracy", "data-value")) < 50  # it was random play
    assert axe(page) == []
    changes(page, lambda: page.keyboard.press("["))  # the last mistake
    row = page.wait_for_selector(".row-of[aria-current=true]")
    loss = float(row.query_selector_all(".number")[1].inner_text().replace(",", "").replace("−", ""))
    number = int(row.get_attribute("data-number"))
    assert page.inner_text("#moves-made").replace(",", "") == str(number - 1)
    found = analyze_values(seen(page), 1)  # as the judge looked
    played = row.query_selector_all("span")[1].inner_text().split(",")[0]
    assert max(found.values()) - found[played] == pytest.approx(loss, abs=0.06)
    box = page.query_selector(".graph svg").bounding_box()
    changes(page, lambda: page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 60))
    until(page, seen(page))


def test_the_page_reviews_the_whole_game_as_the_command_line(looking: Looking) -> None:
    episode = tuplet.play_episode("random", seed=5)
    page = calm(looking, at(PLAIN))
    thought(page)
    page.keyboard.press("p")
    page.fill("#paste-text", episode.text("episode"))
    page.click("#paste-read")
    page.wait_for_selector(f"#moves-made:text-is('{len(episode.moves):,}')")
    changes(page, lambda: page.keyboard.press("u"))
    changes(page, lambda: page.keyboard.press("u"))
    page.keyboard.press("r")
    page.wait_for_selector("#review-results:not([hidden])")
    wanted = tuplet.review(episode.text("episode"))
    assert float(page.get_attribute("#accuracy", "data-value")) == wanted.accuracy
    shown = page.query_selector_all("[data-count]")
    assert {b.get_attribute("data-count"): int(b.inner_text()) for b in shown} == wanted.counts
    said = page.inner_text("#sum")
    for words in ("Expected at the start: ", "Luck: ", "Mistakes: −", "Re-estimates: "):
        assert words in said
    assert f"Final score: {episode.score:,}." in said


def test_an_address_restores_the_page(looking: Looking) -> None:
    page = calm(looking, at(PLAIN))
    thought(page)
    page.select_option("#ahead", "d2")
    page.click(".choice label:has-text('After my move')")
    last = changes(page, lambda: page.keyboard.press("ArrowLeft"))
    page.wait_for_url("**position=2048+" + last.split()[1] + "*")
    shared = urlsplit(page.url)
    assert parse_qs(shared.query)["position"] == [last]
    again = calm(looking, f"{shared.path}?{shared.query}")
    until(again, last)
    again.wait_for_selector("#analysis-says:has-text('Make your move')")
    assert again.eval_on_selector("#ahead", "a => a.value") == "d2"
    assert again.eval_on_selector("select[id^=agent-]", "a => a.value") == "small"


def test_the_back_button_restores_the_previous_game(looking: Looking) -> None:
    page = calm(looking, at(PLAIN))
    until(page, PLAIN)
    last = changes(page, lambda: page.keyboard.press("ArrowLeft"))
    new = changes(page, lambda: page.keyboard.press("n"))
    page.go_back()
    until(page, last)
    page.keyboard.press("u")  # with all its moves
    until(page, PLAIN)
    page.keyboard.press("Shift+U")
    until(page, last)
    page.go_forward()
    until(page, new)
    page.go_back()
    until(page, last)
    page.reload()
    until(page, last)
    page.keyboard.press("u")
    until(page, PLAIN)


def test_the_layout_holds_from_phone_to_screen(looking: Looking) -> None:
    page = calm(looking, at(RICH))
    thought(page)
    for width in (360, 480, 768, 900, 1366, 1920):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") == width
        board, side = (page.query_selector(s).bounding_box() for s in ("#board", "section.analysis"))
        beside = side["x"] >= board["x"] + board["width"]
        below = side["y"] >= board["y"] + board["height"]
        assert beside if width >= 900 else below
        assert board["width"] >= 300


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_of_2048_is_accessible(looking: Looking, theme: str) -> None:
    tiles = "2048 2,4,8,16/32,64,128,256/512,1024,2048,4096/8192,16384,32768,65536 12344"
    page = calm(looking, at(tiles), color_scheme=theme)
    page.wait_for_selector("#board .over")
    assert axe(page) == []
    page.goto(at(RICH))
    thought(page)
    page.keyboard.press("e")
    page.wait_for_selector("#edit-bar:visible")
    thought(page)
    assert axe(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert page.locator("#shortcuts kbd").count() > 20
    assert axe(page) == []


def test_the_theme_is_remembered(looking: Looking) -> None:
    page = calm(looking, at(PLAIN), color_scheme="light")
    until(page, PLAIN)
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.click("#theme")
    dark = page.evaluate(ground)
    assert dark != light
    page.reload()
    until(page, PLAIN)
    assert page.evaluate(ground) == dark


def test_a_token_is_exchanged_and_leaves_the_address(chromium: Any, tmp_path: Path) -> None:
    with serving(runs=tmp_path, token="a-token-of-24-letters-xx") as server:
        looking = Looking(chromium, server)
        page = looking.open(server.whole.replace(server.address, ""))
        page.wait_for_function("!location.href.includes('token')")
        page.click(".card[data-page='2048']")
        thought(page)  # over HTTP and the socket
        assert "token" not in page.url
        assert page.evaluate("document.cookie") == ""  # scripts cannot read it
        looking.close()


@pytest.mark.parametrize("game", ["ewn", "2048:board=9999x9999", "<img src=x onerror=alert(1)>"])
def test_an_invalid_address_still_shows_a_game_and_an_agent(looking: Looking, game: str) -> None:
    page = calm(looking, at("<b>", game=game, agent="", depth="zz", time="zz", speed="zz"))
    page.wait_for_selector(".toast.error")
    assert game in page.inner_text(".toast.error")
    thought(page)
    changes(page, lambda: page.keyboard.press(KEYS[page.get_attribute(".best", "data-move")]))
    page.evaluate("import('/static/address.js').then(module => module.settle())")
    assert "NaN" not in page.url
    looking.errors = [each for each in looking.errors if "400" not in each]  # refused, as said


def test_the_first_tap_on_a_tuple_shows_its_placements(looking: Looking) -> None:
    page = calm(looking, at(RICH), has_touch=True, viewport={"width": 360, "height": 740})
    thought(page)
    page.locator("[data-tuple]").first.tap()
    page.wait_for_selector(".board.explained .lines .weight")
    assert page.locator(".placement").count() == 8


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_palette_is_visible_without_scrolling(looking: Looking, theme: str) -> None:
    screen = {"width": 1440, "height": 900}
    page = calm(looking, at(PLAIN), viewport=screen, color_scheme=theme)
    until(page, PLAIN)
    page.keyboard.press("e")
    page.wait_for_selector("#edit-bar:not([hidden])")
    for what in (".palette button:last-child", "#edit-clear", "#edit-done"):
        box = page.query_selector(what).bounding_box()
        assert box["y"] + box["height"] <= 900, what
    ground = "e => getComputedStyle(e).backgroundColor"
    chip = page.eval_on_selector(".palette [data-tile='131072']", ground)
    assert chip != page.eval_on_selector("#edit-bar", ground)
    page.click("#edit-clear")
    until(page, "2048 0,0,0,0/0,0,0,0/0,0,0,0/0,0,0,0 0")
    page.wait_for_selector("#analysis-says:has-text('The board is empty')")
    page.keyboard.press("Escape")
    page.keyboard.press(" ")
    page.wait_for_selector(".toast:has-text('The board is empty')")
    assert page.locator("text=is over").count() == 0


def test_a_move_is_announced_to_screen_readers(looking: Looking) -> None:
    page = calm(looking, at(PLAIN))
    until(page, PLAIN)
    after = changes(page, lambda: page.keyboard.press("ArrowLeft"))
    page.wait_for_selector("#announce:has-text('left, 4 points; new ')", state="attached")
    assert f"{standing(after).score} points in all" in page.inner_text("#announce")
    assert page.get_attribute("#announce", "role") == "status"


def test_the_page_says_when_there_is_no_next_mistake(looking: Looking) -> None:
    page = calm(looking, at(PLAIN))
    thought(page)
    page.keyboard.press("]")
    page.wait_for_selector(".toast:has-text('Review the game first')")
    best = page.get_attribute(".value.best", "data-move")
    changes(page, lambda: page.keyboard.press(KEYS[best]))
    page.keyboard.press("r")
    page.wait_for_selector("#review-results:not([hidden])")
    page.keyboard.press("]")
    page.wait_for_selector(".toast:has-text('No mistake comes after this')")


def test_an_unknown_address_links_to_the_pages(looking: Looking, server: Server) -> None:
    page = looking.open("/nowhere/at-all")
    page.click("a:has-text('2048')")
    page.wait_for_selector("#board[data-notation]")
    looking.errors = [each for each in looking.errors if "404" not in each]  # as asked for
    assert server.ask("/nowhere") == (404, {"error": "there is no /nowhere"})


def test_leaving_the_editor_without_a_change_keeps_the_game(looking: Looking) -> None:
    page = calm(looking, at(PLAIN))
    thought(page)
    after = changes(page, lambda: page.keyboard.press("ArrowLeft"))
    page.keyboard.press("e")
    page.wait_for_selector("#edit-bar:not([hidden])")
    page.wait_for_selector("#moves-made:text-is('0')")
    page.keyboard.press("Escape")
    page.wait_for_selector("#moves-made:text-is('1')")
    until(page, after)
    page.keyboard.press("u")
    until(page, PLAIN)
