"""Monte-Carlo tree search for every game, with or without chance, for one player or two.

A simulation descends from the root as a bandit says, plays random games from the leaf, and adds
their results to every node on the way back. A leaf is expanded once it has been simulated often
enough; simulations come in batches. Where nature acts, the descent follows a random outcome. A
solver proves wins, draws and losses (Winands et al. 2008).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from tuplet.games.game import (
    MOST_MOVES,
    NOBODY,
    ONGOING,
    Int,
    Words,
    apply,
    chance,
    ending,
    estimate,
    legal,
    outcomes,
    payoff,
    players,
    playout,
    random_outcome,
    side,
    value_range,
    winner,
)
from tuplet.kernel import draw, inlined, kernel, now
from tuplet.search.bandits import Arm, Tuned, gumbel, preference, wants_prior, worth
from tuplet.search.tree import CHANCE, DRAWN, FULL, NO_NODE, ROOT, SIMULATIONS, UNPROVEN, USED, Tree, add_node

Array = np.ndarray[Any, Any]

NO_MOVE = -1
RATE, VISITS, LOWER = range(3)
NEVER = np.iinfo(np.int64).max  # an expansion threshold
_OTHER, _ZERO = np.uint64(3), np.uint64(0)  # one descent in four
_LOOK = 400  # simulations between looks at the clock


class Options(NamedTuple):
    """How to search. The defaults are the report's."""

    bandit: Any = Tuned()
    batch: int = 25
    expand: int = 200
    rich: bool = False
    shortcuts: bool = True
    solver: bool = True
    unit: float = 1.0  # what a result of 1 would be, for games that count points
    stop: Array = np.zeros(1, np.bool_)  # somebody told the search to end (`Stop.flag`)


@inlined
def view(settings: Options, mean: float, mover: Int) -> float:
    """A mean result as the player to move sees it, on a scale from 0 to 1."""
    seen = mean / settings.unit
    return seen if mover == 0 else 1.0 - seen


@kernel
def _select(tree: Tree, settings: Options, node: Int, bits: np.uint64) -> Int:
    """The child to descend to: never one that is proven lost while another is not."""
    mover = np.int64(tree.sides[node])
    first, count = np.int64(tree.first[node]), np.int64(tree.children[node])
    parent_visits = float(max(tree.visits[node], 1))
    best = best_open = -np.inf
    best_child: Int = first
    open_child: Int = NO_NODE  # the best that is not proven
    for child in range(first, first + count):
        proven = np.int64(tree.proven[child])
        if proven == 1 - mover:
            continue
        visits = float(tree.visits[child])
        if visits == 0.0:
            return child
        mean = tree.totals[child] / visits
        seen = view(settings, mean, mover)
        variance = max(tree.squares[child] / visits - mean * mean, 0.0)
        variance /= settings.unit * settings.unit
        if proven == DRAWN:
            seen, variance, visits = 0.5, 0.0, np.inf
        prior = float(tree.priors[child])
        bits, random = draw(bits)
        arm = Arm(seen, variance, visits, parent_visits, prior, random)
        promise = worth(settings.bandit, arm)
        if promise > best:
            best, best_child = promise, child
        if proven == UNPROVEN and promise > best_open:
            best_open, open_child = promise, child
    # A proven draw has nothing more to tell: now and then, see whether another move is better.
    if tree.proven[best_child] == DRAWN and open_child != NO_NODE and bits & _OTHER == _ZERO:
        return open_child
    return best_child


@kernel
def _set_priors(game: Any, tree: Tree, settings: Options, node: Int) -> None:
    """What a bandit thinks of the children of a node before anything is known of them."""
    mover = np.int64(tree.sides[node])
    first, count = np.int64(tree.first[node]), np.int64(tree.children[node])
    likes = np.zeros(count)
    for i in range(count):
        likes[i] = preference(settings.bandit, _guess(game, tree, settings, first + i, mover))
    most, total = likes.max(), 0.0
    for i in range(count):
        likes[i] = math.exp(likes[i] - most)
        total += likes[i]
    for i in range(count):
        tree.priors[first + i] = likes[i] / total


@inlined
def _guess(game: Any, tree: Tree, settings: Options, node: Int, mover: Int) -> float:
    """The value of a node by its ending or the game's estimate: -1 lost to 1 won for the mover."""
    position = (tree.word0[node], tree.word1[node])
    ended = np.int64(tree.endings[node])
    if ended != ONGOING:
        result = payoff(game, position, ended, settings.rich)
        return 2.0 * view(settings, result, mover) - 1.0
    value = estimate(game, position)
    if players(game) == 1:
        return 2.0 * view(settings, value, mover) - 1.0
    low, high = value_range(game)
    value = 2.0 * (value - low) / (high - low) - 1.0
    return value if side(game, position) == mover else -value


@kernel
def _expand(game: Any, tree: Tree, settings: Options, node: Int, moves: Array) -> bool:
    """Give a leaf its children; False if the tree is full."""
    position = (tree.word0[node], tree.word1[node])
    natural = tree.sides[node] == CHANCE
    count = outcomes(game, position) if natural else legal(game, position, moves, 0)
    used = tree.counters[USED]
    if used + count > len(tree.word0):
        tree.counters[FULL] = 1
        return False
    tree.first[node], tree.children[node] = used, count
    for i in range(count):
        if natural:
            add_node(game, tree, node, i, chance(game, position, i), settings.solver)
        else:
            move = np.int64(moves[i])
            add_node(game, tree, node, move, apply(game, position, move), settings.solver)
    if wants_prior(settings.bandit) and not natural:
        _set_priors(game, tree, settings, node)
    return True


@kernel
def _simulate(game: Any, tree: Tree, settings: Options, node: Int, state: np.uint64) -> np.uint64:
    """A batch of random games from a node, added to it and to every node above.

    A large batch that is told to stop adds nothing.
    """
    position = (tree.word0[node], tree.word1[node])
    ended = np.int64(tree.endings[node])
    batch = settings.batch
    total = squares = 0.0
    proven = np.int64(tree.proven[node])
    if proven == DRAWN:
        total, squares = batch * 0.5, batch * 0.25
    elif ended != ONGOING:
        result = payoff(game, position, ended, settings.rich)
        total, squares = batch * result, batch * result * result
    else:
        for n in range(batch):
            if n & 31 == 31 and settings.stop[0]:
                return state
            state, last = playout(game, position, state, settings.shortcuts)
            last_ended = ending(game, last)
            result = payoff(game, last, last_ended, settings.rich)
            if proven != UNPROVEN and winner(game, last_ended) != proven:
                # Random play missed what is certain.
                result = 1.0 - (proven if winner(game, last_ended) == NOBODY else result)
            total += result
            squares += result * result
    while node != NO_NODE:
        tree.visits[node] += batch
        tree.totals[node] += total
        tree.squares[node] += squares
        node = np.int64(tree.parents[node])
    tree.counters[SIMULATIONS] += batch
    return state


@kernel
def _prove(tree: Tree, node: Int) -> None:
    """Carry proofs upwards from a node whose children have changed."""
    while node != NO_NODE and tree.proven[node] == UNPROVEN:
        mover = np.int64(tree.sides[node])
        first, count = np.int64(tree.first[node]), np.int64(tree.children[node])
        result: Int = np.int64(tree.proven[first])  # all children agree, or
        for child in range(first, first + count):
            proven = np.int64(tree.proven[child])
            if mover != CHANCE and proven == mover:  # the mover has a win
                result = mover
                break
            if proven != result:  # or it has a draw, and all else is lost
                known = proven != UNPROVEN and result != UNPROVEN
                result = DRAWN if known and mover != CHANCE else UNPROVEN
        if result == UNPROVEN:
            return
        tree.proven[node] = result
        node = np.int64(tree.parents[node])


@kernel
def search(game: Any, tree: Tree, settings: Options, simulations: Int, seconds: float, state: np.uint64) -> np.uint64:
    """Simulate until so many simulations have been made, the time is over, or all is proven.

    Or until it is told to stop. However it is cut into several calls, the tree grows the same.
    Counts from where the tree's counter stands; returns the random stream's next state.
    """
    moves = np.zeros(MOST_MOVES, np.uint8)
    deadline = now() + seconds
    counters = tree.counters
    if tree.first[ROOT] == NO_NODE and _expand(game, tree, settings, ROOT, moves):
        if tree.sides[ROOT] != CHANCE:
            for child in range(tree.first[ROOT], tree.first[ROOT] + tree.children[ROOT]):
                state = _simulate(game, tree, settings, child, state)
        _prove(tree, ROOT)
    checked = 0
    while counters[SIMULATIONS] < simulations and tree.proven[ROOT] == UNPROVEN:
        if settings.stop[0]:
            break
        checked += settings.batch
        if checked >= _LOOK:
            checked = 0
            if now() > deadline:
                break
        node: Int = ROOT
        while True:
            while tree.first[node] != NO_NODE and tree.proven[node] == UNPROVEN:
                state, bits = draw(state)
                if tree.sides[node] == CHANCE:
                    position = (tree.word0[node], tree.word1[node])
                    node = np.int64(tree.first[node]) + random_outcome(game, position, bits)
                else:
                    node = _select(tree, settings, node, bits)
            if (
                tree.visits[node] < settings.expand
                or tree.endings[node] != ONGOING
                or tree.proven[node] != UNPROVEN
                or not _expand(game, tree, settings, node, moves)
            ):
                state = _simulate(game, tree, settings, node, state)
                break
            if tree.sides[node] != CHANCE:
                first = np.int64(tree.first[node])
                for child in range(first, first + np.int64(tree.children[node])):
                    state = _simulate(game, tree, settings, child, state)
                _prove(tree, node)
                break
            _prove(tree, node)  # nature's outcomes may all be over; else one of them is next
    return state


@kernel
def mean_result(game: Any, position: Words, games: Int, state: np.uint64) -> float:
    """The mean result of some random games."""
    total = 0.0
    for _ in range(games):
        state, last = playout(game, position, state, False)
        total += payoff(game, last, ending(game, last), False)
    return total / games


@kernel
def obvious_move(game: Any, position: Words) -> Int:
    """The move that wins at once, or the only one; else NO_MOVE."""
    moves = np.zeros(MOST_MOVES, np.uint8)
    count = legal(game, position, moves, 0)
    for i in range(count):
        ended = ending(game, apply(game, position, np.int64(moves[i])))
        if ended != ONGOING and winner(game, ended) == side(game, position):
            return np.int64(moves[i])
    return np.int64(moves[0]) if count == 1 else NO_MOVE


@kernel
def choose(tree: Tree, settings: Options, final: Int, k: float, bits: np.uint64) -> Int:
    """The child of the root to play: a proven win, else the best that is not proven lost.

    A proven draw is worth 1/2. With `k` (K) not negative: at random, in proportion to
    exp(K * win rate).
    """
    mover = np.int64(tree.sides[ROOT])
    first, count = np.int64(tree.first[ROOT]), np.int64(tree.children[ROOT])
    best, best_lost = -np.inf, True
    best_child: Int = first
    for child in range(first, first + count):
        proven = np.int64(tree.proven[child])
        if proven == mover:
            return child
        visits = np.float64(tree.visits[child])
        mean = tree.totals[child] / visits if visits > 0.0 else 0.0
        seen = view(settings, mean, mover) if visits > 0.0 else -1.0
        if proven == DRAWN:
            seen = 0.5
        promise, lost = seen, proven == 1 - mover
        if k >= 0.0:
            bits, random = draw(bits)
            promise, lost = k * seen + gumbel(random), False
        elif final == VISITS:
            promise = visits
        elif final == LOWER and visits > 0.0 and proven != DRAWN:
            variance = max(tree.squares[child] / visits - mean * mean, 0.0)
            promise = seen - 1.96 * math.sqrt(variance / visits) / settings.unit
        # Lost moves come last; among them, the one that looked best.
        if (best_lost and not lost) or (lost == best_lost and promise > best):
            best, best_lost, best_child = promise, lost, child
    return best_child
