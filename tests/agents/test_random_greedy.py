"""random and greedy: compiled games are the games of the Python players, on every board."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tuplet import Board, GreedyAgent, RandomAgent, RandomEnvironment, Record, Stop, evaluate, regret, solve
from tuplet.agents.random_greedy import make_workspace, play_games
from tuplet.games.g2048.game import Game2048, Position2048, words_of
from tuplet.games.g2048.rules import rules_for
from tuplet.games.g2048.statistics import make_results
from tuplet.kernel import as_seed, stream

PLAYERS = [RandomAgent(), GreedyAgent()]
SEED = as_seed(7)  # of the random agent


def compiled(player: Any, rules: Any, seed: int, games: int, stop: bool = False) -> Any:
    """The compiled games of a player."""
    results, greedy = make_results(games), isinstance(player, GreedyAgent)
    done = play_games(rules, greedy, ~SEED, as_seed(seed), 0, results, make_workspace(), np.array([stop]))
    assert done == (0 if stop else games)
    return results


@pytest.mark.parametrize("player", PLAYERS)
@pytest.mark.parametrize("size", [(2, 2), (2, 3), (3, 2), (3, 4), (4, 4)])
@pytest.mark.parametrize("tiles", [0, 14, 15, 17])
def test_compiled_games_are_those_of_the_python_player(player: Any, size: tuple[int, int], tiles: int) -> None:
    """Also where the board begins with large tiles, which four bits do not hold once they merge."""
    rules = rules_for(*size, 0.3)
    start = Board(rows=size[0], columns=size[1])
    if tiles:
        start = start.place(0, 1 << min(tiles, 15)).place(1, 1 << min(tiles, 15))
    rules = rules._replace(start=start.packed[0])
    found = compiled(player, rules, 5, 3)
    environment, mine, rows = RandomEnvironment(5, 0.3), type(player)(), Game2048(size)
    for game in range(3):
        if isinstance(mine, RandomAgent):
            mine.open(None, "player", np.uint64(stream(~SEED, np.uint64(game))))
        environment.open()
        board, score, length = start, 0, 0
        for _ in range(2):
            board = board.place(*environment.place(board))
        while not board.over:
            board, reward = board.move(mine.choose(Position2048(rows, words_of(board))))
            score, length = score + reward, length + 1
            board = board.place(*environment.place(board))
        assert (score, length) == (found.scores[game], found.lengths[game])
        assert max(board.exponents) == found.tiles[game]


@pytest.mark.parametrize("name", ["random", "greedy"])
def test_an_evaluation_has_the_same_games_recorded_or_compiled_on_any_number_of_threads(name: str) -> None:
    games: list[Record] = []
    slow = evaluate(name, games=12, seed=3, on_episode=games.append)
    fast = evaluate(name, games=12, seed=3)
    assert [game.score for game in games] == list(fast.results.scores)
    many = evaluate(name, games=2500, seed=3, threads=2)  # blocks of another size
    for one, two, three in zip(slow.results, fast.results, many.results, strict=True):
        assert (one == two).all() and (one == three[:12]).all()
    for one, two in zip(many.results, evaluate(name, games=2500, seed=3).results, strict=True):
        assert (one == two).all()
    assert evaluate(name, games=12, seed=4).summary != fast.summary


def test_their_mean_scores_are_the_exact_ones() -> None:
    rules = rules_for(2, 2, 0.1)
    for player, exact in (
        (RandomAgent(), solve("2x2", progress=False).random_score),
        (GreedyAgent(), regret("greedy", board="2x2").as_json()["score"]),
    ):
        scores = compiled(player, rules, 2, 20_000).scores
        assert abs(scores.mean() - exact) < 4 * scores.std() / np.sqrt(len(scores))


def test_the_kernel_allocates_nothing_and_stops_on_request() -> None:
    from numba.core.runtime import _nrt_python, rtsys

    _nrt_python.memsys_enable_stats()
    for player in PLAYERS:
        taken = []
        for games in (1, 1, 50):  # handing arrays over takes some, whatever the games
            before = rtsys.get_allocation_stats().alloc
            compiled(player, rules_for(), 1, games)
            taken.append(rtsys.get_allocation_stats().alloc - before)
        assert taken[1] == taken[2]
        assert not compiled(player, rules_for(), 1, 5, stop=True).scores.any()
    _nrt_python.memsys_disable_stats()
    stop_now = Stop()

    def watch(event: Any) -> None:
        if event.done:
            stop_now.set()

    ended = evaluate("random", games=10_000_000, progress=watch, stop=stop_now)
    assert ended.interrupted and ended.summary.games >= 1000
    same = evaluate("random", games=ended.summary.games)
    assert (same.results.scores == ended.results.scores).all()


def test_a_class_made_of_them_plays_its_own_moves() -> None:
    class Down(GreedyAgent):
        name = "down"

        def choose(self, board: Board) -> object:
            legal = board.legal_moves()
            return "down" if "down" in legal else legal[0]

    class Right(RandomAgent):
        def choose(self, board: Board) -> object:
            legal = board.legal_moves()
            return "right" if "right" in legal else legal[0]

    assert evaluate(Down(), games=3).summary != evaluate("greedy", games=3).summary
    assert regret(Right(), board="2x2").as_json() != regret("random", board="2x2").as_json()
