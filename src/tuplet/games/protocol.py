"""The interface between games and searches: functions whose first argument is the game.

A game is a `NamedTuple` of its parameters and tables, and a position is two 64-bit words. A
search is written once against the names below and is compiled for each game it is used with:
`register_game` enters a game's kernels under these names, and code picks them by the game's type,
compiled or not.

A player moves with `apply`; where `is_chance` is true, chance acts with `apply_outcome`. Values are seen
from the side given by `side`: the one that moves next, also where chance acts before it.

Every game has `side`, `legal`, `apply`, `ending` and `winner`; a game with chance has `is_chance`,
`count_outcomes`, `probability` and `apply_outcome`, a game for one has `players` and `payoff`; a game that can be
learned has `encode`. The rest has defaults, at the end of this module: those of a game for two that may be drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tuplet.errors import UserError
from tuplet.kernel import draw, implementation_of, inlined, kernel, local_array, register

Array = np.ndarray[Any, Any]
Words = tuple[np.uint64, np.uint64]  # a position
Int = int | np.signedinteger[Any]  # a small number, Python's own or a kernel's

ONGOING = 0  # what `ending` returns until the game is over
NO_WINNER = 2  # what `winner` returns without a winner: a draw, a game for one, or one not over
MOST_MOVES = 48  # that a position of any game may have
MOST_FORGOTTEN = 64  # outcomes of a chance node whose outcome is forgotten
NO_STEP = -1  # in place of a move or an outcome, in a step of a playout
LONGEST = 10_000  # steps of a random game; one that goes on for ever counts as drawn

_HALF = np.uint64(32)


def players(game: Any) -> Int:
    """1 or 2. A game for one counts points; one for two is won, drawn or lost."""
    return implementation_of(players, game)(game)  # type: ignore[no-any-return]


def has_draws(game: Any) -> bool:
    """Whether a game for two can end with no winner: if not, searches need not look for it."""
    return implementation_of(has_draws, game)(game)  # type: ignore[no-any-return]


def side(game: Any, position: Words) -> Int:
    """The player, 0 or 1, who moves next."""
    return implementation_of(side, game)(game, position)  # type: ignore[no-any-return]


def is_chance(game: Any, position: Words) -> bool:
    """Whether chance acts before the next player."""
    return implementation_of(is_chance, game)(game, position)  # type: ignore[no-any-return]


def legal(game: Any, position: Words, moves: Array, start: Int) -> int:
    """Write the legal moves into `moves` from `start` on; returns how many there are."""
    return implementation_of(legal, game)(game, position, moves, start)  # type: ignore[no-any-return]


def apply(game: Any, position: Words, move: Int) -> Words:
    """The position after a player's move."""
    return implementation_of(apply, game)(game, position, move)  # type: ignore[no-any-return]


def count_outcomes(game: Any, position: Words) -> int:
    """The number of outcomes of chance."""
    return implementation_of(count_outcomes, game)(game, position)  # type: ignore[no-any-return]


def probability(game: Any, position: Words, outcome: Int) -> float:
    """The probability of an outcome."""
    return implementation_of(probability, game)(game, position, outcome)  # type: ignore[no-any-return]


def apply_outcome(game: Any, position: Words, outcome: Int) -> Words:
    """The position after an outcome of chance."""
    return implementation_of(apply_outcome, game)(game, position, outcome)  # type: ignore[no-any-return]


def forgets_outcome(game: Any) -> bool:
    """Whether chance only decides which moves are legal: a die that names the piece to move.

    A move then has the same number and leads to the same position whatever the outcome before it, and searches look
    at that position once. Chance must not end the game or change whose turn it is; there are MOST_FORGOTTEN outcomes
    and MOST_MOVES such moves or fewer.
    """
    return implementation_of(forgets_outcome, game)(game)  # type: ignore[no-any-return]


def ending(game: Any, position: Words) -> int:
    """ONGOING, or how the game ended, in the game's own code."""
    return implementation_of(ending, game)(game, position)  # type: ignore[no-any-return]


def winner(game: Any, ended: Int) -> int:
    """The winner of a game with this ending: 0, 1, or NO_WINNER."""
    return implementation_of(winner, game)(game, ended)  # type: ignore[no-any-return]


def payoff(game: Any, position: Words, ended: Int, rich: bool) -> float:
    """The result of player 0 with this ending: points, or 1 won, 1/2 drawn, 0 lost.

    With `rich`, endings may differ: wins have values between 1/2 and 1, losses between 0 and 1/2.
    """
    return implementation_of(payoff, game)(game, position, ended, rich)  # type: ignore[no-any-return]


def playout(game: Any, position: Words, state: np.uint64, shortcuts: bool) -> Any:
    """The random stream's next state, and the last position of a random game.

    The position must not be over: to look costs a twentieth of a playout, and a search has
    looked. With `shortcuts`, a move that wins at once is always played.
    """
    return implementation_of(playout, game)(game, position, state, shortcuts)


def playout_step(game: Any, position: Words, state: np.uint64, shortcuts: bool, moves: Array) -> Any:
    """The next step of a playout: the random stream's next state, the position after it, its outcome and its move.

    A step is an outcome of chance, a move, or one after the other, as `playout` draws them; what there is not is
    NO_STEP. `moves` has room for MOST_MOVES. A game with its own `playout` has its own steps: without them it cannot
    be shown step by step.
    """
    return implementation_of(playout_step, game)(game, position, state, shortcuts, moves)


def estimate(game: Any, position: Words) -> float:
    """A guess at the value of a position that is not over, between those of loss and win."""
    return implementation_of(estimate, game)(game, position)  # type: ignore[no-any-return]


def value_range(game: Any) -> tuple[float, float]:
    """The values of the worst and the best ending, to the side that looks at them."""
    return implementation_of(value_range, game)(game)  # type: ignore[no-any-return]


def move_priority(game: Any, position: Words, move: Int, child: Words) -> Int:
    """How much a move that leads to `child` promises: the more, the earlier it is searched."""
    return implementation_of(move_priority, game)(game, position, move, child)  # type: ignore[no-any-return]


def encode(game: Any, tables: Any, position: Words, codes: Array, numbers: Array) -> int:
    """Describe a position to a network, as the side that moves next sees it (see `encoding.Encoding`).

    For every cell that is not empty, `cell * kinds + content` is written to `codes`, for each feature its number to
    `numbers`. Returns how many codes were written. `tables` are those of the encoding.
    """
    return implementation_of(encode, game)(game, tables, position, codes, numbers)  # type: ignore[no-any-return]


def random_start(game: Any, position: Words, state: np.uint64) -> Any:
    """The random stream's next state, and a first position like the one given: another placement of the pieces."""
    return implementation_of(random_start, game)(game, position, state)


def reward(game: Any, position: Words, after: Words) -> float:
    """The points that a move earns, in a game for one whose `payoff` is the sum of its rewards."""
    return implementation_of(reward, game)(game, position, after)  # type: ignore[no-any-return]


@kernel
def call_legal(game: Any, position: Words, moves: Array) -> int:
    """`legal`, to be called from Python."""
    return legal(game, position, moves, 0)


@kernel
def call_apply(game: Any, position: Words, move: Int) -> Words:
    """`apply`, to be called from Python."""
    return apply(game, position, move)


@kernel
def call_ending(game: Any, position: Words) -> int:
    """`ending`, to be called from Python."""
    return ending(game, position)


REQUIRED = ("side", "legal", "apply", "ending", "winner")
_CHANCE = ("is_chance", "count_outcomes", "probability", "apply_outcome")


def register_game(kind: type, most: int, **kernels: Callable[..., Any]) -> None:
    """Register the kernels of a game, by the names above; a position has `most` moves or fewer."""
    if not 1 <= most <= MOST_MOVES:
        raise UserError(f"a position has 1 to {MOST_MOVES} moves at most, not {most}")
    known = (*REQUIRED, *DEFAULTS)
    for name in kernels:
        if name not in known:
            raise UserError(f"{kind.__name__}: a game has no {name}, but {', '.join(known)}")
    needed = [*REQUIRED, *(_CHANCE if kernels.keys() & set(_CHANCE) else ())]
    missing = [name for name in needed if name not in kernels]
    if missing:
        raise UserError(f"{kind.__name__}: a game needs {', '.join(missing)}, too")
    for name, code in (DEFAULTS | kernels).items():
        register(globals()[name], kind, code)
    _MOST[kind] = most


_MOST: dict[type, int] = {}


def has_rewards(game: Any) -> bool:
    """Whether points are earned move by move, and not only at the end."""
    return implementation_of(reward, game) is not _no_reward


def has_chance(game: Any) -> bool:
    """Whether the game has chance."""
    return implementation_of(is_chance, game) is not _no_chance


def most_moves(game: Any) -> int:
    """How many moves a position has at most, as the game was registered."""
    return _MOST[type(game)]


def same_rules(one: Any, other: Any) -> bool:
    """Whether two games are the same, parameters and tables, wherever they were made."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple):
        return all(map(same_rules, one, other))
    return bool(np.array_equal(one, other))


@inlined
def random_outcome(game: Any, position: Words, bits: np.uint64) -> Int:
    """An outcome of chance, drawn by its probability."""
    left = np.float64(bits >> np.uint64(11)) * 2.0**-53
    last = count_outcomes(game, position) - 1
    for outcome in range(last):
        left -= probability(game, position, outcome)
        if left < 0.0:
            return outcome
    return last


@kernel
def meets_chance(game: Any, position: Words) -> bool:
    """Whether chance acts after a move."""
    moves = local_array(MOST_MOVES, np.uint8)
    legal(game, position, moves, 0)
    return is_chance(game, apply(game, position, np.int64(moves[0])))


# Defaults.


@inlined
def _two(game: Any) -> Int:  # noqa: ARG001
    return 2


@inlined
def _may_be_drawn(game: Any) -> bool:  # noqa: ARG001
    return True


@inlined
def _no_chance(game: Any, position: Words) -> bool:  # noqa: ARG001
    return False


@inlined
def _no_outcomes(game: Any, position: Words) -> int:  # noqa: ARG001
    return 0


@inlined
def _never(game: Any, position: Words, outcome: Int) -> float:  # noqa: ARG001
    return 0.0


@inlined
def _unchanged(game: Any, position: Words, outcome: Int) -> Words:  # noqa: ARG001
    return position


@inlined
def _remembered(game: Any) -> bool:  # noqa: ARG001
    return False


@inlined
def _result(game: Any, position: Words, ended: Int, rich: bool) -> float:  # noqa: ARG001
    if ended == ONGOING:  # it went on for too long
        return 0.5
    won = winner(game, ended)
    return 0.5 if won == NO_WINNER else 1.0 - won


@inlined
def _no_idea(game: Any, position: Words) -> float:  # noqa: ARG001
    low, high = value_range(game)
    return 0.5 * (low + high)


@inlined
def _from_loss_to_win(game: Any) -> tuple[float, float]:  # noqa: ARG001
    return -1.0, 1.0


@inlined
def _all_alike(game: Any, position: Words, move: Int, child: Words) -> Int:  # noqa: ARG001
    return 0


@inlined
def _nothing(game: Any, tables: Any, position: Words, codes: Array, numbers: Array) -> int:  # noqa: ARG001
    return 0


@inlined
def _one_start(game: Any, position: Words, state: np.uint64) -> tuple[np.uint64, Words]:  # noqa: ARG001
    return state, position


@inlined
def _no_reward(game: Any, position: Words, after: Words) -> float:  # noqa: ARG001
    return 0.0


@inlined
def _random_step(
    game: Any, position: Words, state: np.uint64, shortcuts: bool, moves: Array
) -> tuple[np.uint64, Words, Int, Int]:
    """An outcome of chance, or a random move."""
    state, bits = draw(state)
    if is_chance(game, position):
        outcome = np.int64(random_outcome(game, position, bits))
        return state, apply_outcome(game, position, outcome), outcome, NO_STEP
    count = legal(game, position, moves, 0)
    move = np.int64(moves[((bits >> _HALF) * np.uint64(count)) >> _HALF])
    if shortcuts:
        mover = side(game, position)
        for i in range(count):
            ended = ending(game, apply(game, position, np.int64(moves[i])))
            if ended != ONGOING and winner(game, ended) == mover:
                move = np.int64(moves[i])
                break
    return state, apply(game, position, move), NO_STEP, move


@kernel
def _random_game(game: Any, position: Words, state: np.uint64, shortcuts: bool) -> tuple[np.uint64, Words]:
    """Random moves to the end."""
    moves = local_array(MOST_MOVES, np.uint8)
    for _ in range(LONGEST):
        state, position, _outcome, _move = _random_step(game, position, state, shortcuts, moves)
        if ending(game, position) != ONGOING:
            break
    return state, position


DEFAULTS: dict[str, Callable[..., Any]] = {
    "players": _two,
    "has_draws": _may_be_drawn,
    "is_chance": _no_chance,
    "count_outcomes": _no_outcomes,
    "probability": _never,
    "apply_outcome": _unchanged,
    "forgets_outcome": _remembered,
    "payoff": _result,
    "playout": _random_game,
    "playout_step": _random_step,
    "estimate": _no_idea,
    "value_range": _from_loss_to_win,
    "move_priority": _all_alike,
    "encode": _nothing,
    "random_start": _one_start,
    "reward": _no_reward,
}
