"""The page of EWN, in a real browser: playing, placing, pasting, thinking and watching."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, quote_plus, urlsplit

import pytest

import tuplet
from browsing import Looking, axe
from tuplet.agents.placing import arrangement
from tuplet.values.players import PLAYERS

pytestmark = pytest.mark.slow

START = "ewn r1r2r3../r4r5.../r6...b6/...b5b4/..b3b2b1 red 3"
KNOWN = "ewn-6x7 r1r4r5..../r2r3...../r0....../......b4/.....b2b1/....b5b0b3 red 0:442244101345413510354"
STILL = {"reduced_motion": "reduce"}


def address(position: str = "", **state: str) -> str:
    """The address of what is to be seen."""
    given = {"game": position.split(" ")[0], "position": position} if position else {}
    return "/ewn?" + "&".join(f"{n}={quote_plus(v)}" for n, v in (given | state).items())


def shown(page: Any) -> tuplet.EwnPosition:
    """The position that the page's address has, once it says so."""
    page.evaluate("import('/static/address.js').then(module => module.settle())")
    return tuplet.EwnPosition.parse(parse_qs(urlsplit(page.url).query)["position"][0])


def ready(page: Any) -> Any:
    """The page, once it can be used."""
    page.wait_for_selector("#panel-play .ewn-seat, #panel-think .field", state="attached")
    page.wait_for_selector(".ewn-board .cube")
    return page


def thought(page: Any) -> None:
    """Wait for the end of a search, which may have to be compiled first."""
    page.wait_for_selector(".ewn-note[data-done=true]", timeout=120_000)


def has(locator: Any, number: int) -> None:
    """Wait until a locator has this many elements."""
    from playwright.sync_api import expect

    expect(locator).to_have_count(number)


def shown_moves(page: Any) -> dict[str, tuple[float, int]]:
    """Of each move in the table, its value and its visits."""
    rows = page.locator(".ewn-moves tbody tr").evaluate_all(
        "rows => rows.map(row => [row.dataset.move,"
        " row.querySelector('[data-part=value]').dataset.value,"
        " row.querySelector('[data-part=visits]')?.dataset.visits ?? '-1'])"
    )
    return {move: (float(value), int(visits)) for move, value, visits in rows}


def test_a_game_is_played_from_the_first_roll_to_a_win(looking: Looking) -> None:
    """By clicks and keys in turn; what the page calls legal is, or the server would complain."""
    page = ready(looking.open(address(blue="easy"), **STILL))
    made = page.locator(".ewn-record li")
    for turn in range(60):
        page.wait_for_selector("#die button:enabled, .ewn-board .target, #caption.won")
        if page.locator("#caption.won").count():
            break
        if page.locator("#die button:enabled").count():
            page.keyboard.press(" ") if turn else page.locator("#die button").click()
            page.wait_for_selector(".ewn-board .target")
        if turn == 2:
            page.get_by_label("my die rolls by itself").check()
        before = made.count()
        cube = page.locator(".ewn-board .cube.movable").first.get_attribute("data-cube")
        page.keyboard.press(cube[1:])
        target = page.locator(".ewn-board .target").last
        if turn % 2:
            target.click()
        else:  # keys lie around S as directions do
            page.keyboard.press("dxc"[int(target.get_attribute("data-move")[-1])])
        made.nth(before).wait_for(state="attached")
    assert "won" in page.locator("#caption").inner_text()
    last = shown(page)
    assert last.over
    assert page.locator("#caption").inner_text().lower() == last.caption().lower()
    page.keyboard.press("u")  # undo: my last move is mine to make again
    page.wait_for_selector(".ewn-board .target", state="attached")
    assert shown(page).turn == "red"


def test_a_wrong_move_is_explained(looking: Looking) -> None:
    """The die's cube, 3, is gone: 2 or 4 may move."""
    gone = "ewn r1r2.../r4r5.../r6...b6/...b5b4/..b3b2b1 red 3"
    page = ready(looking.open(address(gone, blue="easy"), **STILL))
    for act, why in (
        (lambda: page.keyboard.press("d"), "Cube 3 is gone: choose 2 or 4 first"),
        (lambda: page.locator("[data-cube=r1]").click(), "Cube 3 is gone: 2 or 4 may move"),
        (lambda: page.keyboard.press("1"), "Cube 3 is gone: 2 or 4 may move"),
        (lambda: page.locator("[data-cube=b2]").click(), "You play red now"),
        (lambda: page.keyboard.press("4") or page.keyboard.press("w"), "Cube 4 cannot go there"),
    ):
        act()
        page.wait_for_selector(f".toast:has-text('{why}')")
        has(page.locator(".toast"), 1)
    assert shown(page).notation == gone
    page.keyboard.press("x")
    page.wait_for_selector(".ewn-record li", state="attached")


def test_the_page_shows_the_numbers_of_the_search(looking: Looking) -> None:
    """Values and visits of moves, and nodes of the tree, to the last simulation."""
    agent = "mcts:ucb=ucb1,c=0.7,sims=20000"
    page = ready(looking.open(address(START, panel="think", agent=agent)))
    thought(page)
    found = tuplet.analyze("ewn", START, agent, tree=4)
    assert found.tree is not None
    shown_values = shown_moves(page)
    assert shown_values == {each.move: (each.value, each.visits) for each in found.moves}
    best = page.locator(".ewn-moves tr.best")
    assert best.get_attribute("data-move") == found.best
    lines = page.locator(".ewn-outline [role=treeitem]")
    assert lines.first.locator(".visits").get_attribute("data-visits") == str(found.tree.root.visits)
    child = found.tree.root.children[0]
    lines.nth(1).click()  # opened: the rolls below
    for number, below in enumerate(child.children):
        line = lines.nth(2 + number)
        assert line.get_attribute("data-path") == f"{child.move}/{below.move}"
        assert line.locator(".visits").get_attribute("data-visits") == str(below.visits)
    assert page.locator(".ewn-map .node").count() > 20
    assert page.locator(".ewn-growth .grown").count() == len(found.moves)


def test_the_main_line_is_drawn_and_the_tree_is_opened(looking: Looking) -> None:
    agent = "mcts:sims=50000"
    page = ready(looking.open(address(KNOWN, panel="think", agent=agent)))
    thought(page)
    line = tuplet.analyze("ewn-6x7", KNOWN, agent).line
    has(page.locator(".ewn-board .arrow"), min(len(line), 8))
    cubes = page.locator(".ewn-line .ewn-cube").all_inner_texts()
    assert cubes == [move[0] for move in line[:8]]
    for level in range(2, 8):  # always the most visited; what was not sent is asked for
        page.locator(f".ewn-outline [aria-level='{level}'][aria-expanded=false]").first.click()
        page.locator(f".ewn-outline [aria-level='{level + 1}']").first.wait_for()
    thought(page)
    page.get_by_role("button", name="Go to this position").click()
    page.locator(".ewn-ahead li.now", has_text="1").wait_for()  # the seventh of the known die
    assert shown(page).ply == 6


def test_alpha_beta_shows_a_row_for_each_depth(looking: Looking) -> None:
    """A row for each depth, the same as if it had been asked for no more than that."""
    page = ready(looking.open(address(KNOWN, panel="think", agent="alphabeta:depth=8")))
    thought(page)
    rows = page.locator(".ewn-depths tbody tr")
    assert rows.evaluate_all("rows => rows.map(row => row.dataset.depth)") == [*"87654321"]
    for depth, row in ((8, rows.nth(0)), (3, rows.nth(5))):
        found = tuplet.analyze("ewn-6x7", KNOWN, f"alphabeta:depth={depth}")
        assert row.locator("[data-value]").get_attribute("data-value") == str(found.moves[0].value)
        assert row.locator(".ewn-cube").all_inner_texts()[0] == found.line[0][0]
    line = tuplet.analyze("ewn-6x7", KNOWN, "alphabeta:depth=8").line
    assert rows.first.locator(".ewn-cube").all_inner_texts() == [move[0] for move in line[:8]]


def test_proven_wins_and_losses_are_shown_with_their_lengths(looking: Looking) -> None:
    game = tuplet.game("ewn:board=3x3,cubes=1,cycle=1")
    page = ready(looking.open(address(game.setup(die="1").notation, panel="think", agent="alphabeta:depth=20")))
    thought(page)
    rows = page.locator(".ewn-moves tbody tr")
    said = dict(rows.evaluate_all("rows => rows.map(row => [row.dataset.move, row.innerText])"))
    assert all(f"{how} in {moves}" in said[move] for move, how, moves in (("10", "won", 5), ("12", "lost", 2)))
    assert "won in 5" in page.locator(".ewn-depths tbody tr").first.inner_text()


@pytest.mark.parametrize(("flip", "marked"), [("", {12, 13, 14, 17, 18, 19}), ("yes", {5, 6, 7, 10, 11, 12})])
def test_the_tuples_of_learned_values_are_drawn(looking: Looking, flip: str, marked: set[int]) -> None:
    """Those that tell the moves apart most, as the side that moves next sees the board, and what each adds."""
    agent = "best:depth=2"
    page = ready(looking.open(address(START, panel="think", agent=agent, flip=flip)))
    thought(page)
    why = tuplet.analyze("ewn", START, agent).why
    rows = page.locator(".ewn-why tbody tr[data-part]")
    has(rows, 8)
    page.get_by_role("button", name=f"all {len(why)}").click()
    has(rows, len(why))
    for part, worth in why.items():
        row = page.locator(f".ewn-why tr[data-part='{part}']")
        assert row.locator("td").all_inner_texts() == [
            f"{worth[move]:+.3f}".replace("-", "−") if abs(worth[move]) >= 0.0005 else "0.000" for move in worth
        ]
    cells = page.locator(".ewn-why tr[data-part='5-6-7-10-11-12'] rect").evaluate_all(
        "cells => cells.map(cell => cell.getAttribute('fill'))"
    )
    assert {n for n, fill in enumerate(cells) if fill == "var(--accent)"} == marked
    assert page.locator(".ewn-why tr[data-part=race] rect").count() == 0
    assert axe(page) == []


def test_two_agents_play_with_a_running_score(looking: Looking) -> None:
    page = ready(looking.open(address(panel="watch", a="easy", b="normal", pace="0")))
    page.keyboard.press("t")
    page.locator(".ewn-results li").nth(2).wait_for()
    page.keyboard.press("t")
    games = page.locator(".ewn-results li").count()
    scores = [int(page.locator(f"[data-score={name}]").inner_text()) for name in "ab"]
    assert sum(scores) == games
    assert page.locator(".ewn-results").inner_text().count("B") == scores[1]


def test_cubes_are_placed_by_clicks_and_by_dragging(looking: Looking) -> None:
    page = ready(looking.open(address(START.replace(" 3", " ?"))))
    page.keyboard.press("p")
    page.locator("[data-cube=r1]").click()
    page.locator("[data-cube=r6]").click()
    page.wait_for_selector("[data-cube=r6][data-square='0,0']")
    page.locator("[data-cube=r2]").drag_to(page.locator("[data-cube=r3]"))
    page.wait_for_selector("[data-cube=r2][data-square='0,2']")
    page.keyboard.press("p")
    page.wait_for_selector("#die button:enabled")
    assert shown(page).notation == START.replace("r1r2r3", "r6r3r2").replace("/r6", "/r1")[:-1] + "?"


def test_cubes_are_placed_as_recommended(looking: Looking) -> None:
    page = ready(looking.open(address(START.replace(" 3", " ?"), blue="easy")))
    page.keyboard.press("p")
    page.get_by_role("button", name="Recommended").click()
    page.wait_for_selector("[data-cube=r2]:not([data-square='0,1']), [data-cube=r3]:not([data-square='0,2'])")
    page.keyboard.press("p")
    page.wait_for_selector("#die button:enabled")
    placed, first = shown(page), tuplet.EwnPosition.parse(START)
    plan = json.loads((PLAYERS / "ewn-placement.json").read_bytes())["red"]
    mine = arrangement(placed, "red")
    assert {each["cubes"] for each in plan} & {mine, "".join(str(7 - int(n)) for n in mine)}
    assert arrangement(placed, "blue") == arrangement(first, "blue")


def test_the_known_die_is_shown(looking: Looking) -> None:
    page = ready(looking.open(address(KNOWN, blue="normal"), **STILL))
    first = tuplet.EwnPosition.parse(KNOWN)
    ahead = page.locator(".ewn-ahead li span")
    assert [text.split()[1] for text in ahead.all_text_contents()] == [str(number) for number in first.coming_die(12)]
    page.keyboard.press("c")  # diagonally: the die has chosen the cube
    made = page.locator(".ewn-record li")
    has(made, 2)
    assert shown(page).ply == 2
    page.locator(".ewn-board .target[data-move]").first.click()
    has(made, 4)
    page.keyboard.press("u")
    page.keyboard.press("u")
    has(made, 0)
    assert shown(page) == first


@pytest.mark.parametrize("game", ["ewn:board=4x4,cubes=3,die=chosen", "ewn:die=free"])
def test_the_family_can_be_played(looking: Looking, game: str) -> None:
    page = ready(looking.open(address(game=game, red="you", blue="you", roll="auto"), **STILL))
    for moves in range(1, 4):
        page.wait_for_selector(".ewn-board .target, #faces button")
        if page.locator("#faces button").count():
            page.keyboard.press("2")
            page.wait_for_selector(".ewn-board .target")
        if not page.locator(".ewn-board .target[data-move]").count():
            page.locator(".ewn-board .cube.movable").last.click()
        page.locator(".ewn-board .target[data-move]").first.click()
        has(page.locator(".ewn-record .ewn-cube"), moves)
    assert shown(page).game.name == game


def test_a_shared_address_restores_the_page_and_back_works(looking: Looking) -> None:
    state = {"red": "you", "blue": "hard", "panel": "think", "agent": "mcs:sims=500", "flip": "yes"}
    page = ready(looking.open(address(START, **state)))
    thought(page)
    assert shown(page).notation == START
    assert parse_qs(urlsplit(page.url).query)["flip"] == ["yes"]
    assert page.locator(".ewn-strip.blue .ewn-who").inner_text() == "Blue hard"
    assert "500 simulations" in page.locator(".ewn-note").inner_text()
    page.keyboard.press("n")
    page.wait_for_selector("#die button:enabled")
    assert shown(page).notation != START
    page.go_back()
    page.wait_for_selector(".ewn-board .target")
    assert shown(page).notation == START
    page.keyboard.press("?")
    assert "roll the die" in page.locator("#shortcuts").inner_text()


def test_the_page_of_ewn_fits_and_is_accessible(looking: Looking) -> None:
    page = ready(looking.open(address(KNOWN, agent="mcts:sims=20000"), **STILL))
    for panel in ("play", "watch", "think"):
        page.locator(f"#tab-{panel}").click()
        if panel == "think":
            thought(page)
        for width in (360, 768, 1366, 1920):
            page.set_viewport_size({"width": width, "height": 900})
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{panel} at {width}"
    page.evaluate("document.querySelectorAll('[role=tabpanel]').forEach(each => each.hidden = 0)")
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        assert axe(page) == [], theme


def test_positions_and_records_are_pasted_and_copied(looking: Looking) -> None:
    """What is copied can be read again, by the page and by everybody else."""
    page = ready(looking.open(address(START, red="you", blue="you", roll="auto"), **STILL))
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    made = page.locator(".ewn-record li")
    for number in range(1, 4):
        page.locator(".ewn-board .cube.movable").first.click()
        page.locator(".ewn-board .target[data-move]").last.click()
        has(made, number)
    page.locator(".ewn-board .target").first.wait_for()  # the die is rolled
    last = shown(page)
    page.get_by_role("button", name="Copy record").click()
    page.get_by_text("Copied: the game's record").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    record = tuplet.Record.parse(copied)
    assert (record.start.notation, record.position) == (START, last)
    page.get_by_role("button", name="Copy position").click()
    page.get_by_text("Copied: the position").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == last.notation
    text = page.get_by_role("textbox", name="A position or a game's record to read")
    text.fill(KNOWN)
    page.get_by_role("button", name="Read", exact=True).click()
    has(made, 0)
    assert shown(page).notation == KNOWN
    text.fill(copied)
    page.get_by_role("button", name="Read", exact=True).click()
    has(made, 3)
    assert shown(page) == last


def test_changing_the_agent_quickly_shows_the_line_of_the_last(looking: Looking) -> None:
    """Searches asked for in a hurry wait for each other; what another found is not left over."""
    page = ready(looking.open(address(KNOWN, panel="think", agent="mcts:sims=2000000"), **STILL))
    page.locator(".ewn-outline [aria-level='2']").first.wait_for()
    for _ in range(9):  # an odd number: the board is turned
        page.keyboard.press("f")
    choice = page.locator("#panel-think .field > select.grow")
    for name in ("mcs", "mcts", "mcs", "mcts", "mcs", "mcts"):
        choice.select_option(name)
    page.locator(".ewn-outline [aria-level='2']").first.click()
    has(page.locator(".ewn-board .arrow"), 1)
    choice.select_option("alphabeta")
    page.wait_for_selector(".ewn-depths tbody tr")
    thought(page)
    line = tuplet.analyze("ewn-6x7", KNOWN, "alphabeta").line
    has(page.locator(".ewn-board .arrow"), min(len(line), 8))
    assert page.locator(".ewn-line .ewn-cube").all_inner_texts() == [move[0] for move in line[:8]]
    assert page.locator(".toast.error").count() == 0


def test_a_game_of_another_page_is_refused(looking: Looking) -> None:
    page = ready(looking.open(address(game="2048"), **STILL))
    assert "2048 is not played on this page" in page.inner_text(".toast.error")
    page.locator("#panel-play textarea").fill("2048 2,0,0,4/0,8,0,0/0,0,0,0/0,0,2,0 16")
    page.get_by_role("button", name="Read").click()
    has(page.locator(".toast.error"), 2)
    page.locator("#panel-play textarea").fill(START)
    page.get_by_role("button", name="Read").click()
    page.wait_for_selector(".ewn-board .target")
    assert shown(page).notation == START
