"""In how many moves a win is forced: against looking at everything."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import tuplet
from positions import random_positions
from tuplet.agents.searchers import AlphaBeta, Searcher
from tuplet.games.ewn import EwnPosition
from tuplet.search import expectimax, proofs

SMALL = ["ewn:board=4x4,cubes=3,cycle=5", "ewn:board=4x4,cubes=3,cycle=4,directions=4", "ewn:board=3x3,cubes=2"]


@cache
def end_of(position: EwnPosition) -> tuple[float, int]:
    """What a position is worth to the side to move if both know everything, and how many moves it lasts.

    A win as short as can be forced, a loss as long as possible; 0.5 where dice decide.
    """
    if position.over:
        return float(position.winner == position.turn), 0
    if position.is_chance:
        after = [end_of(position.apply_outcome(outcome)) for outcome in position.chance_outcomes()]
        worths = {worth for worth, _ in after}
        return (worths.pop() if len(worths) == 1 else 0.5), max(length for _, length in after)
    moves = [(1 - worth, length + 1) for worth, length in map(end_of, map(position.play, position.legal_moves()))]
    best = max(worth for worth, _ in moves)
    lengths = [length for worth, length in moves if worth == best]
    return best, min(lengths) if best == 1 else max(lengths)


@pytest.mark.parametrize("name", SMALL)
def test_a_proven_move_ends_the_game_in_as_many_moves_as_it_says(name: str) -> None:
    """With any table, whatever the search remembers of the game so far, reduced or not."""
    agents = [Searcher("", AlphaBeta(99, table=t, reduce=r)) for t in (4, 16) for r in (False, True)]
    longest = 0
    for _, _, position in random_positions(name, 40):
        for agent in agents:
            agent.open(position, position.turn, np.uint64(0))
            agent.choose(position)
            shown = agent.search.analysis(position).moves
            assert shown[0].proven or "cycle" not in name or len(shown) == 1  # a single move is not thought about
            for move in shown:
                worth, length = end_of(position.play(move.move))
                if move.proven and move.value in (0, 1):
                    assert (move.value, move.ends_in) == (1 - worth, length + 1), (position.notation, move)
                    longest = max(longest, length + 1)
                else:
                    assert move.ends_in is None
    assert longest >= 5


def test_a_game_that_goes_on_is_told_the_same_lengths_as_one_that_is_looked_at_anew() -> None:
    """The table of earlier moves knows more than a search of the same depth would find."""
    name, seen = SMALL[0], 0
    for _, _, position in random_positions(name, 30):
        agent = Searcher("", AlphaBeta(99))
        agent.open(position, position.turn, np.uint64(0))
        while not position.over:
            move = agent.choose(position)
            best = agent.search.analysis(position).moves[0]
            if best.ends_in is not None:
                assert best.ends_in == end_of(position.play(move))[1] + 1
                seen += best.ends_in > 2
            position = position.play(move)
    assert seen > 10


def test_a_search_for_wins_that_is_out_of_positions_says_nothing() -> None:
    """In place of a number that is too large."""
    unknown = 0
    for _, _, position in random_positions(SMALL[0], 40):
        mover, move = ("red", "blue").index(position.turn), position.legal_actions()[0]
        worth, length = end_of(position.after(move))
        of = np.int64(mover if worth == 0 else 1 - mover)
        work = expectimax.make_workspace(4)
        work.limits[expectimax.MOST_NODES] = 10
        found = proofs.moves_to_win(position.rules, position.words, np.int64(move), of, work)
        assert found in (0, length + 1)
        unknown += found == 0
    assert unknown > 5


def test_what_is_proven_is_said_in_text_and_json() -> None:
    """One cube each, two diagonal steps apart: who goes to the middle first is captured there."""
    game = tuplet.game("ewn:board=3x3,cubes=1,cycle=1")
    found = tuplet.analyze(game, game.setup(die="1"), "alphabeta:depth=20")
    assert {move.move: move.proof for move in found.moves} == {"10": "won in 5", "11": "won in 5", "12": "lost in 2"}
    assert "won in 5" in str(found) and "lost in 2" in str(found)
    assert {move["move"]: move["ends_in"] for move in found.as_json()["moves"]} == {"10": 5, "11": 5, "12": 2}
