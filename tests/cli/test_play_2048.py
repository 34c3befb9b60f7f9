"""2048 in the terminal: small boards, what keys do, and windows and terminals of all kinds."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from rich.console import Console

from terminal import at_terminal
from tuplet.cli import draw_2048
from tuplet.cli.draw_2048 import grid, picture
from tuplet.cli.game_session import GameSession
from tuplet.games.formats import read_game
from tuplet.games.g2048 import Board
from tuplet.games.g2048.game import Game2048
from tuplet.games.record import Record

pytestmark = pytest.mark.slow

# A player that thinks until it is told to stop, and one that does not listen.
OWN_PLAYERS = """
import time
class Deep:
    stop = None
    def choose(self, board):
        while not self.stop.is_set():
            time.sleep(0.01)
        return board.legal_moves()[0]
class Deaf:
    def choose(self, board):
        time.sleep(60)
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.py"
    path.write_text(OWN_PLAYERS)
    return path


def test_game_over_offers_undo_and_a_new_game(tmp_path: Path) -> None:
    """On 2x2 a game is over after a few moves, whoever plays."""
    board = "largest tile"
    moves = "lurd" * 12
    screen = at_terminal(
        [
            *((board, _key(move)) for move in moves),
            ("The game is over", "h"),
            ("q ends", "u"),
            ("taken back", "n"),
            ("n again", "n"),
            ("0 moves", "\x1b[D\x1b[A"),
            (board, "q"),
        ],
        "play",
        "2048",
        "--board",
        "2x2",
        "--agent",
        "greedy",
        "--seed",
        1,
        "--out",
        tmp_path / "g.jsonl",
    )
    assert "game over" in screen and "u takes back" in screen and "n new game" in screen
    first, second = (tmp_path / "g.jsonl").read_text().splitlines()
    assert Record.parse(first).start.game.name == "2048:board=2x2"
    assert len(Record.parse(first).moves) > len(Record.parse(second).moves) > 0


def _key(move: str) -> str:
    return {"l": "\x1b[D", "u": "\x1b[A", "r": "\x1b[C", "d": "\x1b[B"}[move]


def test_taking_back_takes_back_luck_as_well() -> None:
    session = GameSession(Game2048(), "greedy", None, "first", 1)
    for _ in range(20):
        move = session.record.position.legal_moves()[0]
        session.past.append(session.record.copy())
        session.move(move)
        after = session.record.position
        assert session.take_back() == "taken back"
        session.move(move)
        assert session.record.position == after


def test_keys_without_a_meaning_do_nothing(tmp_path: Path) -> None:
    at_terminal(
        [
            ("q ends", "\x1bq\x1bOP\x1b[15~\x1b[[A\x1b[<0;3;4M\x1b[M qqé漢\x1b[200~q\nnn\x1b[201~"),
            ("", "100x30"),
            ("q ends", "\x1b"),
            ("", "101x30"),
            ("q ends", "\x1b[D"),
            ("1 move", "q"),
        ],
        "play",
        "2048",
        "--agent",
        "greedy",
        "--seed",
        1,
        "--out",
        tmp_path / "g",
    )
    assert len(read_game((tmp_path / "g").read_text()).moves) == 1


def test_a_new_size_is_drawn_at_once_and_a_small_window_says_what_it_needs() -> None:
    at_terminal(
        [("q ends", "20x6"), ("needs a window", "40x12"), ("arrows move", "30x10"), ("arrows move", "q")],
        "play",
        "2048",
        "--agent",
        "greedy",
        lines=24,
        columns=80,
    )


@pytest.mark.parametrize(("agent", "watch", "leave"), [("Deaf", [], "q"), ("Deep", ["--watch"], "\x03")])
def test_a_search_is_left_at_once(agent: str, watch: list[str], leave: str, own: Path, tmp_path: Path) -> None:
    keys = [("thinks", "60x20"), ("thinks   1.", leave)]
    began: list[float] = []
    screen = at_terminal(
        [*([] if watch else [("h hint", "\x1b[D"), ("1 move", "h")]), *keys],
        "play",
        "2048",
        "--agent",
        f"{own}:{agent}",
        *watch,
        "--seed",
        1,
        "--out",
        tmp_path / "g",
        code=0 if leave == "q" else 130,
        left=began,
    )
    assert time.time() - began[-1] < 30  # seconds; a search of a minute was left
    assert f"Saved in {tmp_path / 'g'}" in screen.replace("\r\n", "") or watch


def test_the_game_is_saved_and_the_terminal_restored_when_told_to_end(tmp_path: Path) -> None:
    screen = at_terminal(
        [("q ends", "\x1b[D"), ("1 move", "HUP")],
        "play",
        "2048",
        "--agent",
        "greedy",
        "--seed",
        1,
        "--out",
        tmp_path / "g",
        code=130,
    )
    assert len(read_game((tmp_path / "g").read_text()).moves) == 1
    assert "Saved in" in screen


def test_a_hint_can_be_stopped_and_the_keys_stay(own: Path) -> None:
    screen = at_terminal(
        [("q ends", "h"), ("thinks", "\x1b"), ("arrows move", "\x1b[D"), ("1 move", "q")],
        "play",
        "2048",
        "--agent",
        f"{own}:Deaf",
        "--seed",
        1,
    )
    assert "Esc stops the hint" in screen


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--board", "5x5"], "2x2 to 4x4"),
        (["--board", "3x3", "--agent", "small"], "4x4 boards, not 3x3"),
        (["2048:board=2x2", "--board", "3x3"], "leave --board out"),
        (["--out", "."], "folder"),
    ],
)
def test_bad_input_is_one_line(tuplet, words: list[str], said: str) -> None:
    game = [] if words[0].startswith("2048") else ["2048"]
    done = tuplet("play", *game, *words, "--watch")
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1


def test_a_small_board_is_played_through_and_saved(tuplet, tmp_path: Path) -> None:
    done = tuplet("play", "2048:board=2x3", "--watch", "--agent", "greedy", "--out", tmp_path / "g")
    assert "points, largest tile" in done.stdout
    record = Record.parse((tmp_path / "g").read_text())
    assert record.over and record.start.game.name == "2048:board=2x3"


@pytest.mark.parametrize("system", ["truecolor", "256", "standard"])
def test_neighbouring_tiles_have_colours_of_their_own(system: str, monkeypatch) -> None:
    monkeypatch.setattr(draw_2048, "colour_system", lambda: system)
    draw_2048._style.cache_clear()
    try:
        styles = [draw_2048._style(exponent) for exponent in range(16)]
    finally:
        draw_2048._style.cache_clear()
    grounds = [str(style.bgcolor) for style in styles]
    assert len(set(grounds)) == len(grounds)
    assert all(style.color != style.bgcolor for style in styles)


def test_without_colours_there_are_lines(monkeypatch) -> None:
    monkeypatch.setattr(draw_2048, "colour_system", lambda: None)
    console = Console(width=80, color_system=None)
    with console.capture() as capture:
        console.print(grid(Board([[2, 4], [0, 2048]]), 6, 2))
    assert "|  2   |  4   |" in capture.get() and "+------+------+" in capture.get()


@pytest.mark.parametrize("size", [(80, 24), (60, 20), (40, 12), (30, 10), (200, 60)])
@pytest.mark.parametrize("system", ["256", None])
def test_all_of_it_fits_every_window(size: tuple[int, int], system: str, monkeypatch) -> None:
    monkeypatch.setattr(draw_2048, "colour_system", lambda: system)
    draw_2048._style.cache_clear()
    board = Board([131072, 2, 4, 8] * 4)
    head = ["you", "score 3,932,100", "120,000 moves", "largest tile 131072", "game over"]
    keys = ["arrows move", "h hint", "u takes back", "n new game", "q ends"]
    console = Console(width=size[0], color_system=None)
    with console.capture() as capture:
        console.print(picture(board, head, "up changes nothing here", keys, *size))
    draw_2048._style.cache_clear()
    lines = capture.get().splitlines()
    assert len(lines) <= size[1] and max(map(len, lines)) <= size[0]
    for word in ("131072", "changes nothing", "h hint", "u ", "n new", "q ends", *head):
        assert word in capture.get()


@pytest.mark.parametrize("settings", [{"PYTHONIOENCODING": "cp1252"}, {"LC_ALL": "C"}])
def test_plain_characters_where_there_are_no_others(settings, monkeypatch) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    screen = at_terminal([(">1", "h"), ("hint:", "q")], "play", "ewn", "--agent", "normal", "--seed", 1)
    assert screen.encode("cp1252") and "> red" in screen


def test_a_dumb_terminal_shows_the_game(monkeypatch) -> None:
    monkeypatch.setenv("TEST_TERM", "dumb")
    screen = at_terminal([("q ends", "\x1b[D"), ("1 move", "q")], "play", "2048", "--agent", "greedy", "--seed", 1)
    assert "+----" in screen


@pytest.mark.parametrize("size", [(10, 5), (20, 6), (5, 30), (200, 3), (1, 1)])
def test_the_window_that_is_needed_is_found_in_a_few_tries(size: tuple[int, int]) -> None:
    from tuplet.cli.draw_board import flow, footer_lines, too_small

    keys = ["arrows move", "h hint", "u takes back", "n new game", "q ends"]
    asked: list[tuple[int, int]] = []

    def fits(columns: int, lines: int) -> bool:
        asked.append((columns, lines))
        return columns >= 29 and lines >= 4 + len(flow(["score 0"], columns)) + footer_lines(keys, columns)

    told = too_small("2048", fits, *size)
    tries = len(asked)
    columns, lines = size
    every = [(columns + x, lines + y) for x in range(120) for y in range(50)]
    best = min((each for each in every if fits(*each)), key=lambda each: each[0] + 2 * each[1])
    text = " ".join(str(line) for line in told.renderables)
    assert tries <= 170
    assert size == (1, 1) or f"{best[0]}x{best[1]}" in text.replace(" ", "")
