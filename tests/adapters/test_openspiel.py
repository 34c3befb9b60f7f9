"""Our games in OpenSpiel: its own tests pass, and its own games in C++ go the same way."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pyspiel")

import pyspiel
from open_spiel.python.algorithms import generate_playthrough

import tuplet as package
from tuplet import Board, game, match
from tuplet.adapters.openspiel import load
from tuplet.adapters.openspiel_bots import AgentBot, StateMirror, moves_of, position_of
from tuplet.games.ewn.game import EwnGame
from tuplet.games.g2048.board import MOVES

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
CONNECT4 = f"{ROOT / 'examples' / 'connect4.py'}:CONNECT4"
OWN = ROOT / "tests" / "data" / "games" / "race.py"
GAMES = [
    "ewn",
    "ewn-6x7",
    "ewn:board=4x4,cubes=3",
    "ewn:die=chosen",
    "ewn:die=free,directions=4",
    "ewn:board=3x4,cubes=2,cycle=5,own=no",
    "2048:board=2x2",
    "2048:board=2x3,spawn4=0.5",
    CONNECT4,
    f"{OWN}:RACE",
    f"{OWN}:SOLO",
]


@pytest.mark.parametrize("name", GAMES)
def test_openspiels_own_random_simulations_pass(name: str) -> None:
    """Its check of everything: serialising, cloning, masks, chance, utilities, observations."""
    pyspiel.random_sim_test(load(name), num_sims=2, serialize=True, verbose=False)


def test_a_whole_game_of_2048_passes_and_other_openings_of_a_game() -> None:
    pyspiel.random_sim_test(load("2048"), num_sims=1, serialize=False, verbose=False)
    state = load("2048").new_initial_state()
    assert state.is_chance_node() and len(state.chance_outcomes()) == 32


@pytest.mark.parametrize("name", ["ewn:board=4x4,cubes=3", "ewn-6x7", "2048:board=2x3", CONNECT4])
def test_its_playthroughs_are_made_and_made_again(name: str) -> None:
    """A playthrough is what its integration tests compare: the same actions, the same text."""
    text = str(load(name))
    first = generate_playthrough.playthrough(text, [], seed=7)
    actions = [int(a) for a in re.findall(r"^action: (\d+)", first, re.M)]
    assert generate_playthrough.playthrough(text, actions, seed=7) == first
    assert "IsTerminal() = True" in first and "ObservationTensor" in first


def test_games_are_found_by_name_with_parameters_as_ours_are() -> None:
    assert {"tuplet_2048", "tuplet_ewn", "tuplet_ewn_6x7", "tuplet_game"} <= set(pyspiel.registered_names())
    for name, ours in (
        ("tuplet_2048", "2048"),
        ("tuplet_2048(board=3x3,spawn4=0.2)", "2048:board=3x3,spawn4=0.2"),
        ("tuplet_ewn", "ewn"),
        ("tuplet_ewn(cubes=3,board=4x4)", "ewn:board=4x4,cubes=3"),
        ("tuplet_ewn_6x7", "ewn-6x7"),
    ):
        loaded = pyspiel.load_game(name).tuplet_game
        assert loaded.name == game(ours).name
        again = pyspiel.load_game(str(pyspiel.load_game(name)))
        assert again.tuplet_game.name == loaded.name
    with pytest.raises(ValueError, match="3x3 to 9x9"):
        pyspiel.load_game("tuplet_ewn(board=2x2)")


def test_registering_leaves_nothing_that_fails_when_python_ends() -> None:
    code = "import pyspiel, tuplet.adapters.openspiel as a; print(a.load('ewn'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr


def test_observations_tell_positions_apart() -> None:
    """Every position of some games has planes of its own, and they say what stands where."""
    for name in ("ewn:board=3x3,cubes=1", "2048:board=2x2", CONNECT4):
        game = load(name)
        observer, seen = game.make_py_observer(), {}
        source = random.Random(name)
        for _ in range(5):
            state = game.new_initial_state()
            while not state.is_terminal():
                state.apply_action(source.choice(state.legal_actions()))
                if state.position is not None and not state.is_terminal():
                    observer.set_from(state, 0)
                    told = state.position.notation.rsplit(" ", 1)[0] if name[0] == "2" else str(state)
                    if not state.is_chance_node():
                        assert seen.setdefault(observer.tensor.tobytes(), told) == told
    state = load("2048").new_initial_state()
    for outcome in (3, 8):  # a 4 on cell 1, a 2 on cell 4
        state.apply_action(outcome)
    observer = load("2048").make_py_observer()
    observer.set_from(state, 0)
    tiles = observer.dict["tiles"]
    assert tiles[2, 0, 1] == tiles[1, 1, 0] == 1 and tiles[0].sum() == 14 and tiles.sum() == 16


def slid(tiles: list[int], move: int) -> list[bool]:
    """Which cells hold a tile that a slide has merged: plainly, from the rules."""
    lines = [[4 * r + c for c in range(4)] for r in range(4)]
    if move in (0, 2):
        lines = [list(line) for line in zip(*lines, strict=True)]
    merged = [False] * 16
    for line in lines:
        cells = line if move in (0, 3) else line[::-1]
        found = [tiles[cell] for cell in cells if tiles[cell]]
        at = 0
        while found:
            tile = found.pop(0)
            if found and found[0] == tile:
                found.pop(0)
                merged[cells[at]] = True
            at += 1
    return merged


def overlooking(tiles: list[int], merged: list[bool]) -> list[int]:
    """The moves that OpenSpiel's 2048 calls legal: it does not see that a tile that the last move
    has merged can take another.
    """
    steps = {0: -4, 1: 1, 2: 4, 3: -1}
    legal = []
    for move, step in steps.items():
        inside = [c for c in range(16) if (0 <= c + step < 16 if move in (0, 2) else c // 4 == (c + step) // 4)]
        if any(
            tiles[c] and (not tiles[c + step] or (tiles[c] == tiles[c + step] and not merged[c + step])) for c in inside
        ):
            legal.append(move)
    return legal


def same_games_of_2048(games: int, seed: int = 8) -> tuple[int, int]:
    """Play random games of both at once; returns positions, and those where it overlooks a move."""
    theirs, ours = pyspiel.load_game("2048(max_tile=131072)"), load("2048")
    source, seen, overlooked = random.Random(seed), 0, 0
    for _ in range(games):
        one, other, merged = theirs.new_initial_state(), ours.new_initial_state(), [False] * 16
        while not one.is_terminal():
            assert one.current_player() == other.current_player()
            if one.is_chance_node():
                outcomes = other.chance_outcomes()
                assert outcomes == one.chance_outcomes()
                action = source.choice(outcomes)[0]
            else:
                tiles, legal = position_of(one).tiles, other.legal_actions()
                assert other.position.tiles == tiles
                assert one.legal_actions() == overlooking(tiles, merged)
                assert legal == overlooking(tiles, [False] * 16)
                overlooked += legal != one.legal_actions()
                seen += 1
                action = source.choice(legal)
                merged = slid(tiles, action)
            for state in (one, other):
                state.apply_action(action)
            assert (one.rewards(), one.returns()) == (other.rewards(), other.returns())
        assert other.is_terminal() and other.position.tiles == position_of(one).tiles
    return seen, overlooked


def same_games_of_ewn(games: int, seed: int = 9) -> int:
    """The same of EWN: our Red moves first, as its White does, on a board turned round."""
    theirs, ours = pyspiel.load_game("einstein_wurfelt_nicht"), load("ewn")
    source, seen = random.Random(seed), 0
    for _ in range(games):
        other = ours.new_initial_state()
        for _side in range(2):
            other.apply_action(source.choice(other.legal_actions()))
        twin = StateMirror.of(other.position)
        assert twin is not None and twin.state.get_game().get_type() == theirs.get_type()
        one = twin.state
        while not other.is_terminal():
            assert not one.is_terminal()
            if other.is_chance_node():
                assert one.chance_outcomes() == other.chance_outcomes()
                face = source.choice(other.legal_actions())
                other.apply_action(face)
                one.apply_action(face)
                continue
            moves, own = moves_of(one), moves_of(other)
            assert sorted(moves) == sorted(own)
            assert one.current_player() == 1 - other.current_player()  # White is its player 1
            move = source.choice(sorted(own))
            other.apply_action(own[move])
            one.apply_action(moves[move])
            cubes = position_of(one).cubes
            turned = {("blue" if side == "red" else "red", n): (4 - r, 4 - c) for (side, n), (r, c) in cubes.items()}
            assert other.position.cubes == turned
            seen += 1
        assert one.is_terminal() and one.returns() == other.returns()[::-1]
    return seen


def test_2048_goes_as_openspiels_own_does() -> None:
    seen, overlooked = same_games_of_2048(100)
    assert seen > 7_000 and overlooked > 150


def test_ewn_goes_as_openspiels_own_does() -> None:
    assert same_games_of_ewn(300) > 4_000


@pytest.mark.long
def test_ten_thousand_games_go_as_openspiels_own_do() -> None:
    assert same_games_of_2048(10_000)[0] > 800_000 and same_games_of_ewn(10_000) > 150_000


@pytest.mark.parametrize(
    ("name", "agents"),
    [
        ("einstein_wurfelt_nicht", ["alphabeta:depth=3", "easy"]),
        ("tuplet_ewn_6x7", ["easy", "hard"]),
        ("2048(max_tile=131072)", ["greedy"]),
        ("tuplet_2048(board=3x3)", ["greedy"]),
    ],
)
def test_our_agents_are_its_bots(name: str, agents: list[str]) -> None:
    """Its referee lets them play to the end; seeds make the same game again."""
    game = pyspiel.load_game(name)
    ends = []
    for _ in range(2):
        bots = [AgentBot(agent, seed=5) for agent in agents]
        ends.append([pyspiel.evaluate_bots(game.new_initial_state(), bots, n) for n in range(3)])
    assert ends[0] == ends[1]
    if len(agents) == 1:
        assert all(points > 50 for (points,) in ends[0])
    else:
        strong = 0 if agents[1] == "easy" else 1
        assert sum(end[strong] for end in ends[0]) > 0


def test_an_agent_sees_the_position_that_openspiel_has() -> None:
    state = pyspiel.load_game("einstein_wurfelt_nicht").new_initial_state()
    for action in (5, 7, 1):  # Black's cubes, White's cubes, a 2 is rolled
        state.apply_action(action)
    position = position_of(state)
    assert position.notation == "ewn r1r2r3../r6r5.../r4...b1/...b2b4/..b3b6b5 blue 2"
    assert moves_of(state).keys() == set(position.legal_moves())
    state.apply_action(moves_of(state)["21"])
    assert position_of(state) == position.play("21") and position_of(state).is_chance
    with pytest.raises(ValueError, match="does not know OpenSpiel's game tic_tac_toe"):
        position_of(pyspiel.load_game("tic_tac_toe").new_initial_state())
    board = pyspiel.load_game("2048").new_initial_state()
    for action in (0, 2):
        board.apply_action(action)
    assert Board(position_of(board)) == Board([2, 2] + 14 * [0])
    assert moves_of(board) == {move: n for n, move in enumerate(MOVES) if move != "up"}


def test_its_bots_are_agents_of_our_arena(tuplet: Any) -> None:
    done = tuplet("match", "openspiel:bot=mcts,sims=300", "easy", "--game", "ewn", "--games", 10)
    assert done.returncode == 0, done.stderr
    assert "All settings of openspiel:bot=mcts,sims=300: bot=mcts, sims=300, c=2.0" in done.stdout
    found = match("openspiel:bot=mcts,sims=300", "easy", "ewn", games=20, progress=False)
    assert found.score > 0.7 and not found.forfeits
    again = match("openspiel:bot=mcts,sims=300", "easy", "ewn", games=20, progress=False)
    assert again.to_dicts() == found.to_dicts()
    assert not match("openspiel:bot=random", "easy", "ewn", games=4, progress=False).forfeits


@pytest.mark.parametrize("name", ["ewn:board=4x4,cubes=3", "ewn-6x7", CONNECT4])
def test_it_plays_other_games_by_our_rules(name: str) -> None:
    found = match("openspiel:bot=mcts,sims=10", "easy", name, games=2, progress=False)
    assert found.games == 2 and not found.forfeits


def test_it_answers_where_a_position_has_no_past() -> None:
    notation = "ewn ...../.r1.../...../...b6./..... red 1"
    agent = package.make_agent("openspiel:sims=60", "ewn")
    position = package.EwnPosition.parse(notation)
    assert agent.choose(position) in position.legal_moves()
    agent.open(position, "red", np.uint64(3))
    assert agent.choose(position) in position.legal_moves()


def test_it_follows_a_game_that_begins_with_a_rolled_die(monkeypatch) -> None:
    """Also where the other side moves first: its search stays the one in C++."""
    monkeypatch.setattr("tuplet.adapters.openspiel_bots.state_at", None)
    start = EwnGame("ewn").setup(red=(1, 2, 3, 4, 5, 6), blue=(6, 5, 4, 3, 2, 1))
    for sides in (("openspiel:sims=30", "easy"), ("easy", "openspiel:sims=30")):
        assert package.play_game(*sides, start.roll(2)).winner


def test_what_is_not_dealt_yet_is_no_position() -> None:
    for openspiel_game in (pyspiel.load_game("einstein_wurfelt_nicht"), load("2048"), load("ewn")):
        with pytest.raises(ValueError, match="are not dealt yet"):
            position_of(openspiel_game.new_initial_state())
    assert load("2048:spawn4=0.00001").tuplet_game.spawn4 == pytest.approx(1e-5)
    assert load(CONNECT4).num_distinct_actions() == game(CONNECT4).actions


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("match openspiel:bot=best easy --game ewn", "bot must be mcts or random"),
        ("match openspiel:sims=0 easy --game ewn", "sims must be a whole number from 1"),
        ("match openspiel:depth=3 easy --game ewn", "is not a setting; there are bot, sims, c"),
        ("match openspiel:bot=random,sims=5 easy --game ewn", "takes no other settings"),
        ("match openspiel:time=1 easy --game ewn-6x7", "time is only for the game ewn"),
        ("analyze 2048 --agent openspiel:sims=9", "OpenSpiel's bots play games for two players here"),
    ],
)
def test_what_it_cannot_do_is_one_line(tuplet: Any, words: str, told: str) -> None:
    done = tuplet(*words.split())
    assert done.returncode == 2 and told in done.stderr and done.stderr.count("\n") == 1


def test_untrusted_text_cannot_name_openspiels_bots() -> None:
    with pytest.raises(ValueError, match="cannot be named from here"):
        package.make_agent(package.Spec("openspiel:sims=9"), "ewn")
