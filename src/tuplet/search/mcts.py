"""Monte-Carlo tree search for every game, with or without chance, for one player or two.

A simulation has four steps: `select` descends from the root to a leaf as a bandit says (at a chance
node it follows a random outcome), `expand` gives the leaf children once it has been visited often
enough, `simulate` plays a batch of random games, `backup` adds their results to every node on the
path. A solver proves wins, draws and losses (Winands et al. 2008).

The game's estimate can end random games early (`cutoff`, Lorentz 2011), be mixed with their results (`mix`, Silver
et al. 2016), or replace them (`cutoff` 0): then a leaf is expanded at once and is worth the best estimate of
its children, which count as visited.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from tuplet.games.protocol import (
    LONGEST,
    MOST_MOVES,
    NO_WINNER,
    ONGOING,
    Int,
    Words,
    apply,
    apply_outcome,
    count_outcomes,
    ending,
    estimate,
    is_chance,
    legal,
    payoff,
    players,
    playout,
    random_outcome,
    side,
    value_range,
    winner,
)
from tuplet.kernel import draw, exp, inlined, kernel, local_array, now
from tuplet.search.bandits import Arm, Tuned, gumbel, preference, wants_prior, worth
from tuplet.search.transpositions import NO_MOVE
from tuplet.search.tree import CHANCE, DRAWN, FULL, NO_NODE, ROOT, SIMULATIONS, UNPROVEN, USED, Tree, add_node

Array = np.ndarray[Any, Any]

RATE, VISITS, LOWER = range(3)
NEVER = np.iinfo(np.int64).max  # a value of `expand`
_OTHER, _ZERO = np.uint64(3), np.uint64(0)  # one descent in four
_HALF = np.uint64(32)
_CHECK_EVERY = 400  # simulations between looks at the clock


class Options(NamedTuple):
    """How to search. The defaults are the report's."""

    bandit: Any = Tuned()
    batch: int = 25  # random games per simulation
    expand: int = 200  # visits after which a leaf gets children
    rich: bool = False
    shortcuts: bool = True
    solver: bool = True
    unit: float = 1.0  # points that count as a result of 1
    stop: Array = np.zeros(1, np.bool_)  # set to end the search (`Stop.flag`)
    cutoff: int = NEVER  # moves of a random game before the estimate takes its place
    mix: float = 0.0  # the weight of the leaf's own estimate in a result


@inlined
def mover_value(options: Options, mean: float, mover: Int) -> float:
    """A mean result as the player to move sees it, on a scale from 0 to 1."""
    value = mean / options.unit
    return value if mover == 0 else 1.0 - value


@inlined
def arm_of(tree: Tree, options: Options, child: Int, mover: Int, parent_visits: float, bits: np.uint64) -> Arm:
    """A child with visits, as the bandit of the player to move sees it."""
    visits = float(tree.visits[child])
    mean = tree.totals[child] / visits
    value = mover_value(options, mean, mover)
    variance = max(tree.squares[child] / visits - mean * mean, 0.0)
    variance /= options.unit * options.unit
    if tree.proven[child] == DRAWN:
        value, variance, visits = 0.5, 0.0, np.inf
    return Arm(value, variance, visits, parent_visits, float(tree.priors[child]), bits)


@kernel
def best_child(tree: Tree, options: Options, node: Int, bits: np.uint64) -> Int:
    """The child to descend to: never one that is proven lost while another is not."""
    mover = np.int64(tree.sides[node])
    first, count = np.int64(tree.first[node]), np.int64(tree.children[node])
    parent_visits = float(max(tree.visits[node], 1))
    best = best_open = -np.inf
    chosen: Int = first
    open_child: Int = NO_NODE  # the best that is not proven
    for child in range(first, first + count):
        proven = np.int64(tree.proven[child])
        if proven == 1 - mover:
            continue
        if tree.visits[child] == 0:
            return child
        bits, random = draw(bits)
        promise = worth(options.bandit, arm_of(tree, options, child, mover, parent_visits, random))
        if promise > best:
            best, chosen = promise, child
        if proven == UNPROVEN and promise > best_open:
            best_open, open_child = promise, child
    # A proven draw needs no more visits: one time in four, see whether another move is better.
    if tree.proven[chosen] == DRAWN and open_child != NO_NODE and bits & _OTHER == _ZERO:
        return open_child
    return chosen


@inlined
def select(game: Any, tree: Tree, options: Options, node: Int, state: np.uint64) -> tuple[np.uint64, Int]:
    """Descend from a node to a leaf, or to a proven node."""
    while tree.first[node] != NO_NODE and tree.proven[node] == UNPROVEN:
        state, bits = draw(state)
        if tree.sides[node] == CHANCE:
            position = (tree.word0[node], tree.word1[node])
            node = np.int64(tree.first[node]) + random_outcome(game, position, bits)
        else:
            node = best_child(tree, options, node, bits)
    return state, node


@kernel
def set_priors(game: Any, tree: Tree, options: Options, node: Int) -> None:
    """Give the children of a node the bandit's prior probabilities."""
    mover, priors = np.int64(tree.sides[node]), tree.priors
    first, count = np.int64(tree.first[node]), np.int64(tree.children[node])
    most = -np.inf
    for child in range(first, first + count):
        value = mover_value(options, static_result(game, tree, options, child), mover)
        priors[child] = preference(options.bandit, 2.0 * value - 1.0)
        most = max(most, np.float64(priors[child]))
    total = 0.0
    for child in range(first, first + count):
        priors[child] = exp(np.float64(priors[child]) - most)
        total += np.float64(priors[child])
    for child in range(first, first + count):
        priors[child] = np.float64(priors[child]) / total


@inlined
def estimated_result(game: Any, position: Words) -> float:
    """The game's estimate of a position as a result of player 0: points, or 0 lost to 1 won."""
    value = estimate(game, position)
    if players(game) == 1:
        return value
    low, high = value_range(game)
    value = (value - low) / (high - low)
    return value if side(game, position) == 0 else 1.0 - value


@inlined
def static_result(game: Any, tree: Tree, options: Options, node: Int) -> float:
    """The result of player 0 at a node: by its ending or its proof, else the game's estimate."""
    position = (tree.word0[node], tree.word1[node])
    ended, proven = np.int64(tree.endings[node]), np.int64(tree.proven[node])
    if ended != ONGOING:
        return payoff(game, position, ended, options.rich)
    if proven != UNPROVEN:
        return 0.5 if proven == DRAWN else 1.0 - proven
    return estimated_result(game, position)


@kernel
def expand(game: Any, tree: Tree, options: Options, node: Int, moves: Array) -> bool:
    """Give a leaf its children; False if the tree is full."""
    position = (tree.word0[node], tree.word1[node])
    is_chance_node = tree.sides[node] == CHANCE
    count = count_outcomes(game, position) if is_chance_node else legal(game, position, moves, 0)
    used = tree.counters[USED]
    if used + count > len(tree.word0):
        tree.counters[FULL] = 1
        return False
    tree.first[node], tree.children[node] = used, count
    for i in range(count):
        if is_chance_node:
            add_node(game, tree, node, i, apply_outcome(game, position, i), options.solver)
        else:
            move = np.int64(moves[i])
            add_node(game, tree, node, move, apply(game, position, move), options.solver)
    if wants_prior(options.bandit) and not is_chance_node:
        set_priors(game, tree, options, node)
    return True


@kernel
def _cut_off_game(
    game: Any, position: Words, options: Options, state: np.uint64, moves: Array
) -> tuple[np.uint64, float]:
    """Play at most `cutoff` random moves; the random state, and the result of player 0 or its estimate."""
    for played in range(options.cutoff):
        if is_chance(game, position):
            state, bits = draw(state)
            position = apply_outcome(game, position, random_outcome(game, position, bits))
            if ending(game, position) != ONGOING:
                break
        state, bits = draw(state)
        count, mover = legal(game, position, moves, 0), side(game, position)
        after = apply(game, position, np.int64(moves[((bits >> _HALF) * np.uint64(count)) >> _HALF]))
        for i in range(count if options.shortcuts else 0):
            trial = apply(game, position, np.int64(moves[i]))
            ended = ending(game, trial)
            if ended != ONGOING and winner(game, ended) == mover:
                after = trial
                break
        position = after
        if ending(game, position) != ONGOING or played >= LONGEST:
            break
    ended = ending(game, position)
    if ended != ONGOING:
        return state, payoff(game, position, ended, options.rich)
    return state, estimated_result(game, position)


@kernel
def simulate(
    game: Any, tree: Tree, options: Options, node: Int, state: np.uint64, moves: Array
) -> tuple[np.uint64, Int, float, float]:
    """Play a batch of random games from a node.

    Returns the random state, the number of games (0 if it was told to stop), the sum of their
    results and the sum of the squares.
    """
    position = (tree.word0[node], tree.word1[node])
    batch = options.batch
    proven, known = np.int64(tree.proven[node]), tree.endings[node] != ONGOING
    if known or proven == DRAWN or (proven != UNPROVEN and not options.rich) or options.cutoff == 0:
        result = static_result(game, tree, options, node)
        return state, batch, batch * result, batch * result * result
    total = squares = 0.0
    own = estimated_result(game, position) if options.mix > 0.0 else 0.0
    for n in range(batch):
        if n & 31 == 31 and options.stop[0]:
            return state, 0, 0.0, 0.0
        if options.cutoff != NEVER and proven == UNPROVEN:
            state, result = _cut_off_game(game, position, options, state, moves)
        else:
            state, last = playout(game, position, state, options.shortcuts)
            last_ended = ending(game, last)
            result = payoff(game, last, last_ended, options.rich)
            if proven != UNPROVEN and winner(game, last_ended) != proven:
                # Random play missed the proven result, and only its kind matters.
                result = 1.0 - (proven if winner(game, last_ended) == NO_WINNER else result)
        if options.mix > 0.0 and proven == UNPROVEN:
            result += options.mix * (own - result)
        total += result
        squares += result * result
    return state, batch, total, squares


@inlined
def backup(tree: Tree, node: Int, games: Int, total: float, squares: float) -> None:
    """Add the results of simulated games to a node and to every node above it."""
    while node != NO_NODE:
        tree.visits[node] += games
        tree.totals[node] += total
        tree.squares[node] += squares
        node = np.int64(tree.parents[node])
    tree.counters[SIMULATIONS] += games


@kernel
def prove(tree: Tree, node: Int) -> None:
    """Propagate proofs upwards from a node whose children have changed."""
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


@inlined
def _simulate_children(game: Any, tree: Tree, options: Options, node: Int, state: np.uint64, moves: Array) -> np.uint64:
    """Simulate every child of a node that was just expanded; those of a chance node wait."""
    if tree.sides[node] != CHANCE:
        first = np.int64(tree.first[node])
        if options.cutoff == 0:
            result = _value_children(game, tree, options, node)
            backup(tree, node, options.batch, options.batch * result, options.batch * result * result)
        for child in range(first, first + np.int64(tree.children[node]) if options.cutoff != 0 else first):
            state, games, total, squares = simulate(game, tree, options, child, state, moves)
            backup(tree, child, games, total, squares)
    prove(tree, node)
    return state


@inlined
def _value_children(game: Any, tree: Tree, options: Options, node: Int) -> float:
    """Let each child of a node count as visited, by its estimate; the result of the mover's best child."""
    mover, best = np.int64(tree.sides[node]), -np.inf
    chosen = 0.0
    first = np.int64(tree.first[node])
    for child in range(first, first + np.int64(tree.children[node])):
        result = static_result(game, tree, options, child)
        tree.visits[child] = options.batch
        tree.totals[child] = options.batch * result
        tree.squares[child] = options.batch * result * result
        value = mover_value(options, result, mover)
        if value > best:
            best, chosen = value, result
    return chosen


@kernel
def search(game: Any, tree: Tree, options: Options, simulations: Int, seconds: float, state: np.uint64) -> np.uint64:
    """Simulate until the tree has this many simulations, time is up, the root is proven, or stop is set.

    Splitting a search into several calls grows the same tree. Returns the random stream's next
    state.
    """
    moves = local_array(MOST_MOVES, np.uint8)
    deadline = now() + seconds
    counters = tree.counters
    if tree.first[ROOT] == NO_NODE and expand(game, tree, options, ROOT, moves):
        state = _simulate_children(game, tree, options, ROOT, state, moves)
    checked = 0
    while counters[SIMULATIONS] < simulations and tree.proven[ROOT] == UNPROVEN:
        if options.stop[0]:
            break
        checked += options.batch
        if checked >= _CHECK_EVERY:
            checked = 0
            if now() > deadline:
                break
        node: Int = ROOT
        while True:
            state, node = select(game, tree, options, node, state)
            if (
                tree.visits[node] < options.expand
                or tree.endings[node] != ONGOING
                or tree.proven[node] != UNPROVEN
                or not expand(game, tree, options, node, moves)
            ):
                state, games, total, squares = simulate(game, tree, options, node, state, moves)
                backup(tree, node, games, total, squares)
                break
            state = _simulate_children(game, tree, options, node, state, moves)
            if tree.sides[node] != CHANCE:
                break  # else the descent goes on through one of its outcomes
    return state


@kernel
def mean_result(game: Any, position: Words, games: Int, state: np.uint64) -> float:
    """The mean result of random games."""
    total = 0.0
    for _ in range(games):
        state, last = playout(game, position, state, False)
        total += payoff(game, last, ending(game, last), False)
    return total / games


@kernel
def obvious_move(game: Any, position: Words) -> Int:
    """The move that wins at once, or the only one; else NO_MOVE."""
    moves = local_array(MOST_MOVES, np.uint8)
    count = legal(game, position, moves, 0)
    for i in range(count):
        ended = ending(game, apply(game, position, np.int64(moves[i])))
        if ended != ONGOING and winner(game, ended) == side(game, position):
            return np.int64(moves[i])
    return np.int64(moves[0]) if count == 1 else NO_MOVE


@kernel
def choose(tree: Tree, options: Options, final: Int, k: float, bits: np.uint64) -> Int:
    """The child of the root to play: a proven win, else the best that is not proven lost.

    A proven draw is worth 1/2. With `k` (K) not negative: at random, in proportion to
    exp(K * win rate).
    """
    mover = np.int64(tree.sides[ROOT])
    first, count = np.int64(tree.first[ROOT]), np.int64(tree.children[ROOT])
    best, best_lost = -np.inf, True
    chosen: Int = first
    for child in range(first, first + count):
        proven = np.int64(tree.proven[child])
        if proven == mover:
            return child
        visits = np.float64(tree.visits[child])
        mean = tree.totals[child] / visits if visits > 0.0 else 0.0
        value = mover_value(options, mean, mover) if visits > 0.0 else -1.0
        if proven == DRAWN:
            value = 0.5
        promise, lost = value, proven == 1 - mover
        if k >= 0.0:
            bits, random = draw(bits)
            promise, lost = k * value + gumbel(random), False
        elif final == VISITS:
            promise = visits + value / (2.0 + 2.0 * abs(value))  # of two with as many, the better
        elif final == LOWER and visits > 0.0 and proven != DRAWN:
            variance = max(tree.squares[child] / visits - mean * mean, 0.0)
            promise = value - 1.96 * math.sqrt(variance / visits) / options.unit
        # Lost moves come last; among them, the one that looked best.
        if (best_lost and not lost) or (lost == best_lost and promise > best):
            best, best_lost, chosen = promise, lost, child
    return chosen
