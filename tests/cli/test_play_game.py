"""EWN in the terminal: what is seen, what keys do, and what is refused."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import naive_ewn as naive
from terminal import at_terminal
from tuplet.agents.placing import arrangement
from tuplet.cli import game_session, run
from tuplet.cli.draw_board import MOVES_KEYS, View, analysis_lines, picture
from tuplet.cli.draw_ewn import EwnRenderer
from tuplet.games.analysis import Analysis, MoveValue
from tuplet.games.ewn import EwnGame, EwnPosition
from tuplet.games.record import Record
from tuplet.games.registry import game as game_named
from tuplet.values.players import PLAYERS

pytestmark = pytest.mark.slow

# Agents of the tests' own, put where agents are made from names.
OWN_AGENTS = """
import time
import tuplet.cli.game_session as table
from tuplet.agents.agent import RandomAgent
from tuplet.games.analysis import Analysis, MoveValue
class Telling(RandomAgent):
    def analyze(self, position):
        moves = [MoveValue("12", 0.625, visits=1234, ci95=(0.6, 0.65))]
        return Analysis(moves, "12", ["12", "10"], "depth 9")
class Slow(RandomAgent):
    def choose(self, position):
        time.sleep(60)
made, own = table.make_agent, {"telling": Telling, "slow": Slow}
table.make_agent = lambda spec, game: own[spec]() if spec in own else made(spec, game)
"""


def records(path: Path) -> list[Record]:
    return [Record.parse(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_person_plays_with_hints_thoughts_and_takes_back(tmp_path: Path) -> None:
    keys = [
        ("q ends", "t"),
        ("no analysis yet", "h"),
        ("hint:", "\n"),
        ("0.625", "t"),
        ("▸1", "\x1b[B"),
        ("▸2", "u"),
        ("taken back", "u"),
        ("nothing to take", "9"),
        ("no move 9", "1"),
        ("▸1", "2"),
        ("▸1", "n"),
        ("n again", "n"),
        ("▸1", "1"),
        ("▸1", "q"),
    ]
    screen = at_terminal(
        keys,
        "play",
        "ewn",
        "--agent",
        "telling",
        "--seed",
        1,
        "--out",
        tmp_path / "g.jsonl",
        before=OWN_AGENTS,
        lines=24,
        columns=80,
    )
    assert "telling on blue's" in screen and "line: 1 ↖, 1 →" in screen
    assert "±0.025" in screen and "1,234" in screen and "depth 9" in screen
    first, second = records(tmp_path / "g.jsonl")
    assert first.names == ("you", "telling")
    assert first.start != second.start and len(first.moves) == 4 and len(second.moves) == 2
    assert "unfinished after 2 moves" in screen


def test_the_rolls_are_the_same_after_a_move_was_taken_back(tmp_path: Path) -> None:
    for name, keys in (("a", "1"), ("b", "1u1u1")):
        presses = [("▸1", keys[0])]
        for key in keys[1:]:
            presses.append(("▸1" if key == "u" else "taken back", key))
        at_terminal([*presses, ("▸1", "q")], "play", "ewn", "--agent", "normal", "--seed", 7, "--out", tmp_path / name)
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text()


def test_each_side_places_its_cubes_if_it_may(tmp_path: Path) -> None:
    """The person's as typed, the agent's as recommended; with p both as recommended."""
    screen = at_terminal(
        [("p placement", "1"), ("▸1", "n"), ("n again", "n"), ("▸1", "p"), ("as recommended, yours", "1"), ("▸1", "q")],
        *("play", "ewn", "--agent", "normal", "--seed", 7, "--placement", "345612", "--out", tmp_path / "g"),
    )
    first, second = records(tmp_path / "g")
    assert arrangement(first.start, "red") == "345612"
    mine = arrangement(second.start, "red")
    assert f"yours {mine}" in screen and mine[0] in "16"
    plan = json.loads((PLAYERS / "ewn-placement.json").read_bytes())
    for side, cubes in (("blue", arrangement(first.start, "blue")), ("red", mine)):
        assert {each["cubes"] for each in plan[side]} & {cubes, "".join(str(7 - int(n)) for n in cubes)}


@pytest.mark.parametrize(
    ("game", "placement", "says"),
    [
        ("ewn", "123", "--placement must be random, recommended, or 1 to 6 in some order (got '123')"),
        ("ewn", "12345x", "or 1 to 6 in some order (got '12345x')"),
        ("ewn-6x7", "recommended", "arrangements are recommended for ewn only (got ewn-6x7)"),
        ("2048", "recommended", "cubes are placed in EWN (got 2048)"),
    ],
)
def test_a_placement_that_the_game_does_not_have_is_refused(
    game: str, placement: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["play", game, "--agent", "random", "--watch", "--placement", placement]) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("game", ["ewn-6x7", "ewn:board=3x3,cubes=3", "ewn:cubes=2,die=chosen"])
def test_a_game_is_played_to_its_end(game: str, tmp_path: Path) -> None:
    """By a person who always presses 1, as often as it takes at the same table without a screen."""
    seated, presses = game_session.GameSession(game_named(game), "normal", None, "random", 3), 0
    while not seated.record.over:
        turn, position = seated.record.position.turn, seated.record.position
        presses += turn not in seated.agents
        agent = seated.agents.get(turn)
        seated.move(agent.choose(position) if agent else position.legal_moves()[0])
    screen = at_terminal(
        [("▸1", "1")] * presses + [("You have", "q")],
        "play",
        game,
        "--agent",
        "normal",
        "--side",
        "random",
        "--seed",
        3,
        "--out",
        tmp_path / "g",
    )
    assert records(tmp_path / "g") == [seated.record]
    assert seated.summary() in screen


def test_two_agents_are_watched() -> None:
    screen = at_terminal(
        [
            ("speed 3", "+"),
            ("speed 4", "-"),
            ("speed 3", " "),
            ("paused", "t"),
            ("gives no analysis", "n"),
            ("paused", "q"),
        ],
        "play",
        "ewn-6x7",
        "--agent",
        "normal",
        "--against",
        "easy",
        "--watch",
        "--speed",
        3,
    )
    assert "then" in screen and "unfinished" in screen


def test_a_watched_game_ends_by_itself() -> None:
    screen = at_terminal(
        [("won after", "q")], "play", "ewn:board=3x3,cubes=3", "--agent", "easy", "--watch", "--speed", 8
    )
    assert "won after" in screen


def test_the_terminal_stays_awake_while_an_agent_thinks() -> None:
    for key in ("q", "\x03"):
        began = time.perf_counter()
        screen = at_terminal(
            [("slow thinks", "t"), ("gives no", "1"), ("slow thinks", key)],
            "play",
            "ewn",
            "--agent",
            "slow",
            "--side",
            "blue",
            before=OWN_AGENTS,
            code=0 if key == "q" else 130,
        )
        assert "unfinished after 0 moves" in screen
        assert time.perf_counter() - began < 30


def test_watching_without_a_terminal_plays_to_the_end(tuplet, tmp_path: Path) -> None:
    words = ("play", "ewn", "--agent", "normal", "--against", "easy", "--watch", "--side", "blue")
    done = [tuplet(*words, "--seed", 3, "--out", tmp_path / "g") for _ in range(2)]
    assert done[0].returncode == 0, done[0].stderr
    assert done[0].stdout == done[1].stdout
    assert "red easy, blue normal: " in done[0].stdout and "has won" in done[0].stdout
    first, second = records(tmp_path / "g")
    assert first == second and first.over
    assert str(first.position) in done[0].stdout


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["ewn"], "terminal"),
        (["ewn-6x7", "--agent", "easy"], "terminal"),
        (["chess"], "'chess' is not a game"),
        (["ewn:board=1x1", "--watch"], "3x3 to 9x9"),
        (["ewn", "--watch", "--agent", "nobody"], "nobody"),
        (["ewn", "--watch", "--speed", "0"], "speed"),
        (["ewn", "--agent", "easy", "--against", "hard"], "--watch"),
        (["ewn", "--watch", "--spawn4", "0.1"], "2048"),
        (["ewn", "--watch", "--seed", "-1"], "seed"),
        (["ewn", "--watch", "--side", "green"], "green"),
        (["ewn", "--watch", "--out", "no/where/g"], "no/where"),
        (["2048", "--watch", "--agent", "random", "--against", "random"], "--against"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(tuplet, tmp_path, arguments, word) -> None:
    done = tuplet("play", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("tuplet: ") and done.stderr.count("\n") == 1
    assert word in done.stderr
    assert not list(tmp_path.iterdir())


def test_agents_that_fail_lose(monkeypatch, capsys) -> None:
    class Broken:
        def choose(self, position: EwnPosition) -> str:
            raise RuntimeError("out of ideas")

    class Cheat:
        def choose(self, position: EwnPosition) -> str:
            return "99"

    for agent, kind, reason in (
        (Broken, "crashed", "RuntimeError: out of ideas"),
        (Cheat, "illegal", "'99' is not legal"),
    ):
        monkeypatch.setattr(game_session, "make_agent", lambda *_, agent=agent: agent())
        seated = game_session.GameSession(game_named("ewn"), "a", "b", "red", 1)
        seated.play_through()
        assert (seated.record.winner, seated.record.termination) == ("blue", kind)
        assert seated.record.reason == reason and reason in capsys.readouterr().out
        assert Record.parse(seated.record.line) == seated.record


def test_moves_and_thoughts_are_spelled_out() -> None:
    position = EwnGame("ewn-6x7").setup(die="012345012345012345012")
    renderer = EwnRenderer(game_named("ewn-6x7"))
    spelled = renderer.spelled
    assert [spelled(position, m) for m in position.legal_moves()] == ["0 →", "0 ↓", "0 ↘"]
    assert [spelled(position, m, "blue") for m in ("10", "53")] == ["1 ←", "5 ↙"]
    assert spelled(position, "=3") == "die 3"
    thoughts = Analysis([MoveValue("02", 1.0, proven=True)], "02", ["02", "10", "=4"], "a note")
    assert analysis_lines("me", position, thoughts, renderer) == [
        "me on red's moves:",
        " 0 ↘  1.000 proven",
        "line: 0 ↘, 1 ←, die 4",
        "a note",
    ]


@pytest.mark.parametrize("size", [(80, 24), (60, 20), (40, 12), (30, 10), (200, 60)])
@pytest.mark.parametrize("colours", [True, False])
@pytest.mark.parametrize("name", naive.MEMBERS)
def test_every_window_shows_board_die_moves_and_keys_or_says_what_it_needs(
    name: str, colours: bool, size: tuple[int, int], monkeypatch
) -> None:
    monkeypatch.setattr("tuplet.cli.draw_board.colour_system", lambda: "256" if colours else None)
    columns, lines = size
    _, position = EwnGame(name).initial_position(np.uint64(4))
    if position.is_chance:
        position = position.roll(1)
    moves, renderer = position.legal_moves(), EwnRenderer(game_named(name))
    names, keys = {"red": "you", "blue": "hard"}, [MOVES_KEYS, "h hint", "t analysis", "q ends"]
    for thoughts in (None, ["hard thought so", *map(str, range(8))]):
        view = View(position, names, renderer, moves, 0, [(0, 0), (1, 1)], thoughts, "message", keys)
        console = Console(width=columns, color_system=None, force_terminal=False)
        with console.capture() as capture:
            console.print(picture(view, columns, lines))
        shown = capture.get()
        assert len(shown.splitlines()) <= lines
        assert max(len(line) for line in shown.splitlines()) <= columns
        assert all(char.isprintable() for line in shown.splitlines() for char in line)
        if "needs a window" in " ".join(shown.split()):
            assert f"this one is {columns}x{lines}" in " ".join(shown.split())
            assert columns < 60
            continue
        listed = [str(number + 1) in shown for number in range(min(len(moves), 9))]
        assert all(listed) or " more" in shown or thoughts
        assert ("you" in shown or "▶ blue" in shown) and "message" in shown and "q ends" in shown and "h hint" in shown
        assert position.die is None or f"die  {position.die}" in shown
        if columns >= 60:
            assert "▸1" in shown and "hard" in shown and (not thoughts or thoughts[0] in shown)
