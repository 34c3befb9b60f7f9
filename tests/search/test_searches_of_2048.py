"""The generic searches play 2048: against a plain expectimax, a network, and random play."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from tuplet import LearnedAgent, Network
from tuplet.agents.agent import make_agent
from tuplet.agents.environments import RandomEnvironment
from tuplet.agents.searchers import Expectimax2048, Mcts2048, Searcher
from tuplet.arena.evaluate import play_episode
from tuplet.games import protocol as generic
from tuplet.games.g2048 import Board
from tuplet.games.g2048.board import MOVES
from tuplet.games.g2048.game import Game2048, words_of
from tuplet.games.g2048.rules import OVER, rules_for
from tuplet.search import expectimax, mcts, transpositions, tree as trees

u = np.uint64


def random_board(source: random.Random, rows: int, columns: int, highest: int = 5) -> Board:
    """A board on which something can be moved."""
    while True:
        exponents = [source.randint(0, highest) for _ in range(rows * columns)]
        board = Board([1 << e if e else 0 for e in exponents], rows=rows, columns=columns)
        if not board.over:
            return board


def plain_value(board: Board, depth: int, points: int) -> float:
    """The points at the end, or `depth` moves ahead with a little for every empty cell."""
    if board.over:
        return float(points)
    return max(plain_values(board, depth, points).values())


def plain_values(board: Board, depth: int, points: int = 0) -> dict[str, float]:
    values = {}
    for move, (after, reward) in board.after_states().items():
        total = points + reward
        if depth == 1:
            values[move] = float(total + len(after.empty))
        else:
            values[move] = sum(share * plain_value(spawned, depth - 1, total) for spawned, share in after.spawns())
    return values


@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (2, 3), (3, 2)])
def test_expectimax_is_that_of_a_search_that_looks_at_everything(rows: int, columns: int) -> None:
    source, game = random.Random(rows), rules_for(rows, columns)
    large, tiny = expectimax.make_workspace(14), expectimax.make_workspace(2)
    clear_choices = 0
    for number in range(36):
        board, depth = random_board(source, rows, columns), 1 + number % 3
        values = plain_values(board, depth)
        best = max(values.values())
        clear_choices += min(values.values()) < best - 0.01
        for work in (large, tiny):
            for _ in range(2):  # the second time with what the table knows
                move, value, _ = expectimax.iterative_deepening(game, words_of(board), depth, 60.0, 1 << 60, work)
                if len(values) > 1:
                    assert value == pytest.approx(best, abs=1e-5), board
                assert values[MOVES[move]] == pytest.approx(best, abs=1e-5), board
            work.table[:] = np.zeros(1, transpositions.ENTRY)  # deeper results are other results
    assert clear_choices > 8


def test_at_depth_one_it_is_the_networks_best_move(trained_run: Path, trained: Network) -> None:
    player = make_agent(f"expectimax:depth=1,values={trained_run}", "2048")
    source, boards = random.Random(1), 0
    for _ in range(150):
        for highest in (4, 8, 12):
            board = random_board(source, 4, 4, highest)
            assert player.choose(board) == trained.best_move(board), board
            boards += 1
    board = random_board(source, 4, 4, 16)  # tiles beyond 32768, too
    assert player.choose(board) == trained.best_move(board), board


def test_deeper_it_is_the_networks_values_behind_all_spawns(trained_run: Path, trained: Network) -> None:
    player, source = make_agent(f"expectimax:depth=2,values={trained_run}", "2048"), random.Random(2)
    for _ in range(8):
        board = random_board(source, 4, 4)
        values = {}
        for move, (after, reward) in board.after_states().items():
            values[move] = reward + sum(
                share * max((m.value for m in trained.moves(b) if m.value is not None), default=0)
                for b, share in after.spawns()
            )
        chosen = values[player.choose(board)]
        assert chosen == pytest.approx(max(values.values()), rel=1e-4)


def test_values_of_one_board_size_are_not_taken_for_anothers() -> None:
    """2x3 and 3x3 boards may be the same words."""
    player = make_agent("expectimax:depth=3", "2048")
    fresh = make_agent("expectimax:depth=3", "2048")
    source = random.Random(4)
    for _ in range(40):
        small = random_board(source, 2, 3)
        large = Board(small.tiles + [0, 0, 0], rows=3, columns=3)
        player.choose(Game2048((2, 3)).position(small))
        position = Game2048((3, 3)).position(large)
        chosen = player.choose(position)
        fresh.search.open(u(0))
        assert chosen == fresh.choose(position)
        assert player.search.value == fresh.search.value


@pytest.mark.parametrize("spec", ["mcts:sims=100", pytest.param("expectimax:depth=2", marks=pytest.mark.long)])
def test_a_search_beats_random_play_clearly(spec: str) -> None:
    scores = {}
    for name in (spec, "random"):
        games = [play_episode(make_agent(name, "2048", seed=n), RandomEnvironment(n)) for n in range(4)]
        scores[name] = sorted(game.score for game in games)
    assert scores[spec][0] > scores["random"][-1], scores
    assert sum(scores[spec]) > 2.5 * sum(scores["random"]), scores


def test_points_and_endings_of_playouts_are_those_of_boards() -> None:
    rules, source = rules_for(2, 3), random.Random(3)
    game = rules
    for number in range(50):
        board = random_board(source, 2, 3)
        _, (low, second) = generic.playout(game, words_of(board), u(number), True)
        last = Board.from_packed(int(low), 0, 2, 3)
        assert last.over and generic.ending(game, (u(low), u(second))) == OVER
        assert generic.payoff(game, (u(low), u(second)), OVER, False) == int(second) >> 32
        assert sum(last.tiles) > sum(board.tiles)


def test_mcts_finds_the_exact_value_of_a_small_board() -> None:
    """On a full 2x2 board where a game is soon over, all games can be looked at."""
    game, source = rules_for(2, 2), random.Random(5)
    settings = mcts.Options(batch=1, expand=1, unit=30.0)
    for number in range(4):
        board = random_board(source, 2, 2, 3)
        exact = plain_exact(board)
        tree = trees.make_tree(200_000)
        trees.reset(game, tree, words_of(board))
        mcts.search(game, tree, settings, 100_000, 60.0, u(number))
        own = range(int(tree.first[0]), int(tree.first[0]) + int(tree.children[0]))
        best = max(own, key=lambda n: tree.visits[n])
        mean = tree.totals[best] / tree.visits[best]
        assert mean == pytest.approx(exact, rel=0.1), board


def plain_exact(board: Board, known: dict[Board, float] | None = None) -> float:
    """The points that perfect play earns."""
    known = {} if known is None else known
    if board not in known:
        known[board] = max(
            (
                reward + sum(share * plain_exact(b, known) for b, share in after.spawns())
                for after, reward in board.after_states().values()
            ),
            default=0.0,
        )
    return known[board]


def test_searches_of_2048_are_named_by_their_settings(trained_run: Path) -> None:
    player = make_agent("mcts:sims=1000,c=1.5,ucb=ucb1,batch=1", "2048")
    assert isinstance(player, Searcher) and isinstance(player.search, Mcts2048)
    assert (player.search.sims, player.search.c, player.search.ucb) == (1000, 1.5, "ucb1")
    player = make_agent("expectimax:depth=3", "2048")
    assert isinstance(player, Searcher) and isinstance(player.search, Expectimax2048)
    assert player.search.depth == 3
    player = make_agent(f"expectimax:depth=3,values={trained_run}", "2048")
    assert isinstance(player, LearnedAgent)
    assert (player.depth, player.time, player.downgrade) == (3, None, None)
    player = make_agent(f"expectimax:values={trained_run},downgrade=32768", "2048")
    assert isinstance(player, LearnedAgent) and (player.depth, player.downgrade) == (2, 32768)
    usual = make_agent("expectimax", "2048")
    position = Game2048().position(Board([2, 2] + [0] * 14))
    usual.choose(position)
    assert "depth 2," in usual.analyze(position).note
    timed = make_agent("expectimax:depth=9,time=0.05", "2048")
    assert timed.choose(position) in MOVES


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("mcts:simz=3", "there are ucb, c, c1"),
        ("mcts:sims", "not a setting"),
        ("mcts:sims=many", "whole number"),
        ("mcts:ucb=best", "one of ucb1, tuned, report"),
        ("mcts:batch=0", "batch"),
        ("expectimax:depth=0", "depth"),
        ("expectimax:depth=3,depth=3", "twice"),
        ("expectimax:depth=2.5", "whole number"),
        ("expectimax:time=-1", "0 or more"),
        ("expectimax:reduce=perhaps", "yes or no"),
        ("expectimax:values=nowhere,nodes=9", "there are values, depth, time, downgrade"),
    ],
)
def test_a_bad_search_of_2048_is_refused_in_one_line(spec: str, words: str) -> None:
    with pytest.raises(ValueError, match=words) as refused:
        make_agent(spec, "2048")
    assert "\n" not in str(refused.value)


def test_a_missing_network_is_refused() -> None:
    with pytest.raises(FileNotFoundError):
        make_agent("expectimax:values=nowhere", "2048")


def test_the_same_seed_plays_the_same_game_of_2048() -> None:
    for spec in ("mcts:sims=20", "expectimax:depth=1"):
        player, environment = make_agent(spec, "2048", seed=3), RandomEnvironment(1)
        games = [play_episode(player, environment, seed=n) for n in range(2)]
        again = make_agent(spec, "2048", seed=3), RandomEnvironment(1)
        for n, game in enumerate(games):  # a game depends on its seed alone
            other = play_episode(*again, seed=n)
            assert other.position == game.position and other.moves == game.moves
