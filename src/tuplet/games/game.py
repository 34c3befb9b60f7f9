"""What a game tells a search: a handful of functions that take the game first.

A game is a `NamedTuple` of its parameters and tables, and a position is two 64-bit words. A
search is written once against the names below and is compiled for each game it is used with:
`register_game` enters a game's kernels under these names, and code picks them by the game's type,
compiled or not.

A player moves with `apply`; where `is_chance` holds, nature moves with `chance`. Values are seen
from the side given by `side`: the one that moves next, also where nature has to act before it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tuplet.kernel import code_of, register

Array = np.ndarray[Any, Any]
Words = tuple[np.uint64, np.uint64]  # a position
Int = int | np.signedinteger[Any]  # a small number, Python's own or a kernel's

ONGOING = 0  # what `ending` returns until the game is over
NOBODY = 2  # what `winner` returns where nobody wins: 2048, or a game not over
MOST_MOVES = 48  # that a position of any game may have


def side(game: Any, position: Words) -> Int:
    """The player, 0 or 1, who moves next."""
    return code_of(side, game)(game, position)  # type: ignore[no-any-return]


def is_chance(game: Any, position: Words) -> bool:
    """Whether nature acts before the next player."""
    return code_of(is_chance, game)(game, position)  # type: ignore[no-any-return]


def legal(game: Any, position: Words, moves: Array, start: Int) -> int:
    """Write the legal moves into `moves` from `start` on; returns how many there are."""
    return code_of(legal, game)(game, position, moves, start)  # type: ignore[no-any-return]


def apply(game: Any, position: Words, move: Int) -> Words:
    """The position after a player's move."""
    return code_of(apply, game)(game, position, move)  # type: ignore[no-any-return]


def outcomes(game: Any, position: Words) -> int:
    """How many things nature can do."""
    return code_of(outcomes, game)(game, position)  # type: ignore[no-any-return]


def likelihood(game: Any, position: Words, outcome: Int) -> float:
    """The probability of one of them."""
    return code_of(likelihood, game)(game, position, outcome)  # type: ignore[no-any-return]


def chance(game: Any, position: Words, outcome: Int) -> Words:
    """The position after nature did it."""
    return code_of(chance, game)(game, position, outcome)  # type: ignore[no-any-return]


def ending(game: Any, position: Words) -> int:
    """ONGOING, or how the game ended, in the game's own code."""
    return code_of(ending, game)(game, position)  # type: ignore[no-any-return]


def winner(game: Any, ended: Int) -> int:
    """Who won a game that ended so: 0, 1, or NOBODY."""
    return code_of(winner, game)(game, ended)  # type: ignore[no-any-return]


def payoff(game: Any, position: Words, ended: Int, rich: bool) -> float:
    """What a game that ended so is worth to player 0."""
    return code_of(payoff, game)(game, position, ended, rich)  # type: ignore[no-any-return]


def playout(game: Any, position: Words, state: np.uint64, shortcuts: bool) -> Any:
    """The random stream's next state, and the last position of a random game.

    The position must not be over: to look costs a twentieth of a playout, and a search has
    looked. With `shortcuts`, a move that wins at once is always played.
    """
    return code_of(playout, game)(game, position, state, shortcuts)


def estimate(game: Any, position: Words) -> float:
    """A guess at the value of a position that is not over, between those of loss and win."""
    return code_of(estimate, game)(game, position)  # type: ignore[no-any-return]


def value_range(game: Any) -> tuple[float, float]:
    """The values of the worst and the best ending, to the side that looks at them."""
    return code_of(value_range, game)(game)  # type: ignore[no-any-return]


def move_priority(game: Any, position: Words, move: Int, child: Words) -> Int:
    """How much a move that leads to `child` promises: the more, the earlier it is searched."""
    return code_of(move_priority, game)(game, position, move, child)  # type: ignore[no-any-return]


def register_game(kind: type, most_moves: int, **kernels: Callable[..., Any]) -> None:
    """Register the kernels of a game, by the names above; no position has more moves than that."""
    if most_moves > MOST_MOVES:
        raise ValueError(f"a position has at most {MOST_MOVES} moves, not {most_moves}")
    for name, code in kernels.items():
        register(globals()[name], kind, code)


def same_rules(one: Any, other: Any) -> bool:
    """Whether two games are the same, parameters and tables, wherever they were made."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple):
        return all(map(same_rules, one, other))
    return bool(np.array_equal(one, other))
