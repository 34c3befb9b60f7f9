"""Games that can be drawn: what alpha-beta says is proven, against looking at everything."""

from __future__ import annotations

import importlib
import random
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from tuplet.agents.searchers import AlphaBeta
from tuplet.games import protocol as generic
from tuplet.kernel import kernel, mix

sys.path.append(str(Path(__file__).parents[2] / "examples"))
connect4 = importlib.import_module("connect4")
u = np.uint64


def dropped(rows: int, position: tuple[int, int], column: int) -> tuple[int, int]:
    """The position of Connect Four after a move: one's own discs, and all."""
    own, discs = position
    return own ^ discs, discs | (discs + (1 << column * (rows + 1)))


def columns_of(size: tuple[int, int], position: tuple[int, int]) -> list[int]:
    """Those that are not full."""
    columns, rows = size
    return [c for c in range(columns) if not position[1] >> c * (rows + 1) + rows - 1 & 1]


@cache
def worth_of(size: tuple[int, int], position: tuple[int, int], plies: int) -> int:
    """What a position is to the side that moved last: 1, 0 or -1; 0 if nobody wins so soon."""
    other, rows = position[0] ^ position[1], size[1]
    for step in (1, rows, rows + 1, rows + 2):
        if other & other >> step & other >> 2 * step & other >> 3 * step:
            return 1
    if plies == 0:
        return 0
    after = (dropped(rows, position, column) for column in columns_of(size, position))
    return -max((worth_of(size, child, plies - 1) for child in after), default=0)


def late_position(size: tuple[int, int], empty: int, source: random.Random) -> tuple[int, int]:
    """A random position with so many empty cells, and nobody has won."""
    position = (0, 0)
    while size[0] * size[1] - position[1].bit_count() > empty:
        position = dropped(size[1], position, source.choice(columns_of(size, position)))
        if worth_of(size, position, 0):
            position = (0, 0)
    return position


@pytest.mark.parametrize(
    ("size", "most"),
    [pytest.param((4, 4), 12, marks=pytest.mark.long), ((5, 4), 12), pytest.param((7, 6), 12, marks=pytest.mark.long)],
)
def test_wins_draws_and_losses_are_proven(size: tuple[int, int], most: int) -> None:
    """Whatever the table still knows of other positions, or has forgotten."""
    rules, source, seen = connect4.rules(*size), random.Random(str(size)), [0, 0, 0]
    searches = [AlphaBeta(99, table=t, reduce=r) for t in (4, 16) for r in (False, True)]
    searches += [AlphaBeta(nodes=n, table=4) for n in (20, 300)]
    for _ in range(50):
        position = late_position(size, source.randint(2, most), source)
        while not worth_of(size, position, 0) and (legal := columns_of(size, position)):
            worth = {c: worth_of(size, dropped(size[1], position, c), 99) for c in legal}
            best = max(worth.values())
            for search in searches:
                move = search.think(rules, (u(position[0]), u(position[1])))
                assert search.proven or search.nodes or len(worth) == 1, position
                if search.proven:
                    assert (search.value, worth[move]) == (best, best), position
            for told in searches[seen[1] % 6].analysis(SimpleNamespace(move_text=str, all_moves=list)).moves:
                if told.proven:
                    assert told.value == (1 + worth[int(told.move)]) / 2, position
            seen[best + 1] += len(worth) > 1
            position = dropped(size[1], position, source.choice(legal))
        searches[1].open(u(0))
    assert min(seen) > 8


@pytest.mark.parametrize(
    ("game", "best", "plies"),
    [
        ("321767373", 7, 1),
        ("63262142664323465", 3, 1),
        ("317162375572", 4, 1),
        ("64563662742", 5, 3),
        ("3334315524735125", 2, 3),
        ("54677276574535271", 3, 3),
        ("663133327647756", 5, 5),
        ("3752335114353662573", 4, 5),
        ("15631536672167333346", 4, 5),
    ],
)
def test_the_one_move_that_wins_at_connect_four_is_found(game: str, best: int, plies: int) -> None:
    size, position = (7, 6), (0, 0)
    for column in game:
        position = dropped(6, position, int(column) - 1)
    soon = {c: worth_of(size, dropped(6, position, c), plies - 1) for c in range(7)}
    assert [c + 1 for c, worth in soon.items() if worth == 1] == [best]
    assert plies == 1 or worth_of(size, position, plies - 2) == 0
    for search in (AlphaBeta(plies), AlphaBeta(), AlphaBeta(reduce=True)):
        words = (u(position[0]), u(position[1]))
        assert search.think(connect4.rules(), words) == best - 1
        found = search.analysis(SimpleNamespace(move_text=lambda code: str(code + 1), all_moves=list))
        assert found.moves[0] == (str(best), 1.0, True, 0, None, None, True, plies)
        assert found.line[0] == str(best)


class Maze(NamedTuple):
    """A game of chance by chance: what follows what, and what is won, is drawn once for all."""

    seed: np.uint64
    guess: float  # the estimate of anything


@kernel
def maze_bits(game, position):  # type: ignore[no-untyped-def]
    return mix(game.seed ^ (position[0] << u(8)) ^ position[1])


@kernel
def maze_side(game, position):  # type: ignore[no-untyped-def]
    turn = position[0] + u(1) >> u(1)  # nature does not change it
    return np.int64(mix(game.seed ^ turn) & u(1))


@kernel
def maze_moves(game, position, moves, start):  # type: ignore[no-untyped-def]
    moves[start], moves[start + 1], moves[start + 2] = 0, 1, 2
    return 2 + np.int64(maze_bits(game, position) & u(1))


@kernel
def maze_next(game, position, move):  # type: ignore[no-untyped-def]
    bits = maze_bits(game, position) >> u(8 + 4 * move)
    return position[0] + u(1), bits & u(15)  # 16 positions a level


@kernel
def maze_chance(game, position):  # type: ignore[no-untyped-def]
    return position[0] & u(1) == u(1) and maze_bits(game, position) >> u(40) & u(1) == u(0)


@kernel
def maze_ending(game, position):  # type: ignore[no-untyped-def]
    if position[0] >= u(8) or maze_bits(game, position) >> u(48) & u(3) == u(0):
        return 1 + np.int64((maze_bits(game, position) >> u(56)) % u(3))
    return generic.ONGOING


@kernel
def maze_winner(game, ended):  # type: ignore[no-untyped-def]  # noqa: ARG001
    return ended - 1


@kernel
def maze_probability(game, position, outcome):  # type: ignore[no-untyped-def]  # noqa: ARG001
    return 0.25 if outcome else 0.5


@kernel
def maze_outcomes(game, position):  # type: ignore[no-untyped-def]  # noqa: ARG001
    return 3


@kernel
def maze_guess(game, position):  # type: ignore[no-untyped-def]  # noqa: ARG001
    return game.guess


generic.register_game(
    Maze,
    3,
    side=maze_side,
    legal=maze_moves,
    apply=maze_next,
    ending=maze_ending,
    winner=maze_winner,
    is_chance=maze_chance,
    count_outcomes=maze_outcomes,
    apply_outcome=maze_next,
    probability=maze_probability,
    estimate=maze_guess,
)


def maze_after(game: Maze, position: generic.Words, move: int) -> generic.Words:
    level, number = maze_next(game, position, np.int64(move))
    return u(level), u(number)


def maze_value(game: Maze, position: generic.Words) -> float:
    """To player 0."""
    ended, moves = generic.ending(game, position), np.zeros(3, np.uint8)
    if ended != generic.ONGOING:
        return (1.0, -1.0, 0.0)[generic.winner(game, ended)]
    after = [maze_value(game, maze_after(game, position, move)) for move in range(3)]
    if generic.is_chance(game, position):
        return 0.5 * after[0] + 0.25 * after[1] + 0.25 * after[2]
    after = after[: generic.legal(game, position, moves, 0)]
    return min(after) if generic.side(game, position) else max(after)


@pytest.mark.long
@pytest.mark.parametrize("guess", [0.0, 0.25])
def test_values_between_draw_and_win_are_proven_where_there_is_chance(guess: float) -> None:
    searches = [AlphaBeta(99, table=t, reduce=r) for t in (2, 12) for r in (False, True)]
    seen = set()
    for seed in range(60):
        game, start = Maze(u(seed), guess), (u(0), u(0))
        if generic.is_chance(game, start) or generic.ending(game, start) != generic.ONGOING:
            continue
        exact = maze_value(game, start) * (1 - 2 * generic.side(game, start))
        seen.add(exact)
        for search in searches:
            for depth in (1, 2, 3, 99):
                search.depth = depth
                move = search.think(game, start)
                if search.proven:
                    assert search.value == pytest.approx(exact, abs=1e-9), seed
                    chosen = maze_value(game, maze_after(game, start, move))
                    assert chosen * (1 - 2 * generic.side(game, start)) == pytest.approx(exact)
            assert search.proven
    assert len(seen) > 8
