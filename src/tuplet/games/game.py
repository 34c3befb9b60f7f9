"""What a game tells a search: a handful of functions that take the game first.

A game is a `NamedTuple` of its parameters and tables, and a position is two 64-bit words. A
search is written once against the names below and is compiled for each game it is used with:
`plays` registers a game's kernels under these names, and compiled code picks them by the game's
type. Uncompiled, the plain functions look the kernel up the same way.

A player moves with `apply`; where `is_chance` holds, nature moves with `chance`. Values are seen
from the side given by `side`: the one that moves next, also where nature has to act before it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from tuplet.kernel.compile import INLINED

Array = np.ndarray[Any, Any]
Words = tuple[np.uint64, np.uint64]  # a position
Int = int | np.signedinteger[Any]  # a small number, Python's own or a kernel's

ONGOING = 0  # what `ending` returns until the game is over
NOBODY = 2  # what `winner` returns where nobody wins: 2048, or a game not over

_KERNELS: dict[str, dict[type, Callable[..., Any]]] = {}


def side(game: Any, position: Words) -> Int:
    """The player, 0 or 1, who moves next."""
    return _kernel("side", game)(game, position)  # type: ignore[no-any-return]


def is_chance(game: Any, position: Words) -> bool:
    """Whether nature acts before the next player."""
    return _kernel("is_chance", game)(game, position)  # type: ignore[no-any-return]


def legal(game: Any, position: Words, moves: Array, start: Int) -> int:
    """Write the legal moves into `moves` from `start` on; returns how many there are."""
    return _kernel("legal", game)(game, position, moves, start)  # type: ignore[no-any-return]


def apply(game: Any, position: Words, move: Int) -> Words:
    """The position after a player's move."""
    return _kernel("apply", game)(game, position, move)  # type: ignore[no-any-return]


def outcomes(game: Any, position: Words) -> int:
    """How many things nature can do."""
    return _kernel("outcomes", game)(game, position)  # type: ignore[no-any-return]


def likelihood(game: Any, position: Words, outcome: Int) -> float:
    """The probability of one of them."""
    return _kernel("likelihood", game)(game, position, outcome)  # type: ignore[no-any-return]


def chance(game: Any, position: Words, outcome: Int) -> Words:
    """The position after nature did it."""
    return _kernel("chance", game)(game, position, outcome)  # type: ignore[no-any-return]


def ending(game: Any, position: Words) -> int:
    """ONGOING, or how the game ended, in the game's own code."""
    return _kernel("ending", game)(game, position)  # type: ignore[no-any-return]


def winner(game: Any, ended: Int) -> int:
    """Who won a game that ended so: 0, 1, or NOBODY."""
    return _kernel("winner", game)(game, ended)  # type: ignore[no-any-return]


def payoff(game: Any, position: Words, ended: Int, rich: bool) -> float:
    """What a game that ended so is worth to player 0."""
    return _kernel("payoff", game)(game, position, ended, rich)  # type: ignore[no-any-return]


def playout(game: Any, position: Words, state: np.uint64, shortcuts: bool) -> Any:
    """The random stream's next state, and the last position of a random game.

    The position must not be over: to look costs a twentieth of a playout, and a search has
    looked. With `shortcuts`, a move that wins at once is always played.
    """
    return _kernel("playout", game)(game, position, state, shortcuts)


def estimate(game: Any, position: Words) -> float:
    """A guess at the value of a position that is not over, between those of loss and win."""
    return _kernel("estimate", game)(game, position)  # type: ignore[no-any-return]


def limits(game: Any) -> tuple[float, float]:
    """The values of the worst and the best ending, to the side that looks at them."""
    return _kernel("limits", game)(game)  # type: ignore[no-any-return]


def promise(game: Any, position: Words, move: Int, child: Words) -> Int:
    """How much a move that leads to `child` promises: the more, the earlier it is searched."""
    return _kernel("promise", game)(game, position, move, child)  # type: ignore[no-any-return]


def _kernel(name: str, game: Any) -> Callable[..., Any]:
    return _KERNELS[name][type(game)]


def plays(kind: type, **kernels: Callable[..., Any]) -> None:
    """Register the kernels of a game, by the names above."""
    for name, compiled in kernels.items():
        function = globals()[name]
        if name not in _KERNELS:
            _KERNELS[name] = {}
            overload(function, strict=False, jit_options=INLINED)(_chooser(name))
        _KERNELS[name][kind] = compiled


def _chooser(name: str) -> Callable[..., Any]:
    """What Numba asks for the code behind a name: the kernel of the game's type."""

    def choose(game: Any, *_: Any) -> Any:
        if not isinstance(game, types.BaseNamedTuple):
            return None
        compiled = _KERNELS[name].get(game.instance_class)
        return getattr(compiled, "py_func", compiled)

    return choose
