"""Self-play for every game that has an encoding: games to learn from, and matches that evaluate a network.

One step of a game, as the side that moves next sees it:

    s --chance--> --move--> s'

V(s) is learned where chance is about to act, or where a side is about to move without chance. Its target is the mean
over the outcomes of chance of the best move's value: the reward plus V(s'), from the mover's side, or one move further
ahead. TD(lambda) mixes it with what the game came to, unless the move was a random one.

2048 has a loop of its own (`td.py`), which is many times as fast.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from tuplet.errors import UserError
from tuplet.games.protocol import (
    LONGEST,
    MOST_MOVES,
    ONGOING,
    Int,
    Words,
    apply,
    apply_outcome,
    count_outcomes,
    ending,
    is_chance,
    legal,
    payoff,
    playout,
    probability,
    random_outcome,
    random_start,
    reward,
    side,
)
from tuplet.kernel import draw, inlined, kernel, mix, stream
from tuplet.learn.learners import update_weights
from tuplet.system.blocks import Worker, ordered_map
from tuplet.system.intervals import mean_interval
from tuplet.system.progress import Progress, Watcher
from tuplet.system.stop import Stop
from tuplet.values.game_network import (
    GameNetwork,
    GameTables,
    Scratch,
    locate,
    logistic,
    make_scratch,
    result_of,
    seen_by,
    value,
)
from tuplet.values.tables import total

Array = np.ndarray[Any, Any]

CHUNK = 100  # games that a thread plays before it looks at the clock
SAME_DIE = 50  # games that one known die is used for: its tables take as long as some games
EVALUATE = "400@50000"  # how networks of these games are evaluated unless a run says otherwise
SLOPE = np.float32(4)  # 1 / the logistic function's slope at 0: there alpha is the share of the error that V moves
_SLOTS = 256  # after-states whose values are kept while a position is looked at
_HALF = np.uint64(32)


class GameHyperparameters(NamedTuple):
    """How to learn; alpha 0 only plays."""

    rule: Any  # a learner's rule, see `learners`
    alpha: np.float32
    gamma: np.float32
    lam: np.float32
    ahead: np.int64  # moves that a target looks ahead: 1 or 2
    explore: np.float64  # the probability of a random move
    opening: np.int64  # games begin with up to this many random moves


class Workspace(NamedTuple):
    """A thread's working memory, allocated once."""

    path: Array  # uint64[LONGEST, 2]: the positions of a game
    targets: Array  # float32[LONGEST]: the target of each without the rest of the game
    rewards: Array  # float32[LONGEST]: of the move made there
    movers: Array  # int64[LONGEST]
    follows: Array  # uint8[LONGEST]: whether the move was the best one, so that later values count
    moves: Array  # uint8[MOST_MOVES]
    replies: Array  # uint8[MOST_MOVES]
    best: Array  # int64[outcomes]: the best move after each outcome of chance
    keys: Array  # uint64[_SLOTS, 2]: after-states whose values are known
    known: Array  # float32[_SLOTS]: their values
    stamps: Array  # uint64[_SLOTS]: which positions they belong to
    clock: Array  # uint64[1]: the position looked at


class GameResults(NamedTuple):
    """Points, length and error of each game."""

    points: Array  # float64[games]: of the first player
    lengths: Array  # int64[games]: moves
    errors: Array  # float64[games]: the mean squared TD error


class GameSummary(NamedTuple):
    """The results of some games of self-play."""

    games: int
    mean_points: float  # of the first player: 1 won, 1/2 drawn, 0 lost; or points
    mean_moves: float
    error: float  # root of the mean squared TD error

    def printout(self, games: int) -> str:
        """A line for a block of games."""
        return f"{games}\tmoves = {self.mean_moves:.1f}\tfirst side = {self.mean_points:.3f}\terror = {self.error:.4f}"


def make_workspace() -> Workspace:
    """A workspace for any game."""
    return Workspace(
        np.zeros((LONGEST + 1, 2), np.uint64),
        np.zeros(LONGEST + 1, np.float32),
        np.zeros(LONGEST + 1, np.float32),
        np.zeros(LONGEST + 1, np.int64),
        np.zeros(LONGEST + 1, np.uint8),
        np.zeros(MOST_MOVES, np.uint8),
        np.zeros(MOST_MOVES, np.uint8),
        np.zeros(1 << 12, np.int64),
        np.zeros((_SLOTS, 2), np.uint64),
        np.zeros(_SLOTS, np.float32),
        np.zeros(_SLOTS, np.uint64),
        np.zeros(1, np.uint64),
    )


def make_results(games: int) -> GameResults:
    """Empty results of `games` games."""
    return GameResults(np.zeros(games), np.zeros(games, np.int64), np.zeros(games))


def summarise(results: GameResults) -> GameSummary:
    """Summarise some games."""
    error = math.sqrt(max(float(results.errors.mean()), 0.0))
    return GameSummary(len(results.points), float(results.points.mean()), float(results.lengths.mean()), error)


def account(results: GameResults) -> dict[str, Any]:
    """The figures that files keep of some games."""
    summary = summarise(results)
    return {"mean_points": summary.mean_points, "mean_moves": summary.mean_moves, "td_error": summary.error}


@kernel
def best_reply(
    rules: Any, tables: GameTables, position: Words, gamma: np.float32, rewarded: bool, moves: Array, scratch: Scratch
) -> np.float32:
    """The value of the best move to its mover."""
    mover, best = side(rules, position), np.float32(-np.inf)
    for i in range(legal(rules, position, moves, 0)):
        after = apply(rules, position, np.int64(moves[i]))
        ended = ending(rules, after)
        if ended != ONGOING:
            v = result_of(rules, tables, after, ended, mover, rewarded)
        else:
            v = gamma * seen_by(tables, value(rules, tables, after, scratch), side(rules, after) != mover)
        if rewarded:
            v += np.float32(reward(rules, position, after))
        best = max(best, v)
    return best


@kernel
def value_ahead(
    rules: Any, tables: GameTables, position: Words, gamma: np.float32, rewarded: bool, moves: Array, scratch: Scratch
) -> np.float32:
    """V of a position by one move of look-ahead: the mean over chance of the best move's value."""
    if not is_chance(rules, position):
        return best_reply(rules, tables, position, gamma, rewarded, moves, scratch)
    mean = np.float64(0)
    for outcome in range(count_outcomes(rules, position)):
        rolled = apply_outcome(rules, position, outcome)
        v = best_reply(rules, tables, rolled, gamma, rewarded, moves, scratch)
        mean += probability(rules, position, outcome) * np.float64(v)
    return np.float32(mean)


@inlined
def after_value(
    rules: Any,
    tables: GameTables,
    after: Words,
    ahead: Int,
    gamma: np.float32,
    rewarded: bool,
    work: Workspace,
    scratch: Scratch,
) -> np.float32:
    """V of an after-state, with `ahead` 2 by look-ahead; each is computed once while a position is looked at."""
    slot = mix(after[0] ^ mix(after[1])) & np.uint64(_SLOTS - 1)
    keys, stamp = work.keys, work.clock[0]
    if work.stamps[slot] == stamp and keys[slot, 0] == after[0] and keys[slot, 1] == after[1]:
        return work.known[slot]  # type: ignore[no-any-return]
    if ahead > 1:
        v = value_ahead(rules, tables, after, gamma, rewarded, work.replies, scratch)
    else:
        v = value(rules, tables, after, scratch)
    work.stamps[slot], keys[slot, 0], keys[slot, 1], work.known[slot] = stamp, after[0], after[1], v
    return v


@inlined
def best_move(
    rules: Any,
    tables: GameTables,
    position: Words,
    ahead: Int,
    gamma: np.float32,
    rewarded: bool,
    work: Workspace,
    scratch: Scratch,
) -> tuple[Int, np.float32]:
    """The move with the highest value, and that value to the mover."""
    mover, moves = side(rules, position), work.moves
    count = legal(rules, position, moves, 0)
    best, best_value = np.int64(moves[0]), np.float32(-np.inf)
    for i in range(count):
        move = np.int64(moves[i])
        after = apply(rules, position, move)
        ended = ending(rules, after)
        if ended != ONGOING:
            v = result_of(rules, tables, after, ended, mover, rewarded)
        else:
            v = after_value(rules, tables, after, ahead, gamma, rewarded, work, scratch)
            v = gamma * seen_by(tables, v, side(rules, after) != mover)
        if rewarded:
            v += np.float32(reward(rules, position, after))
        if v > best_value:
            best, best_value = move, v
    return best, best_value


@kernel
def target_of(
    rules: Any,
    tables: GameTables,
    position: Words,
    ahead: Int,
    gamma: np.float32,
    rewarded: bool,
    work: Workspace,
    scratch: Scratch,
) -> np.float32:
    """The mean over chance of the best move's value; `work.best` has the best move after each outcome."""
    work.clock[0] += np.uint64(1)
    if not is_chance(rules, position):
        best, target = best_move(rules, tables, position, ahead, gamma, rewarded, work, scratch)
        work.best[0] = best
        return target
    mean = np.float64(0)
    for outcome in range(count_outcomes(rules, position)):
        rolled = apply_outcome(rules, position, outcome)
        best, v = best_move(rules, tables, rolled, ahead, gamma, rewarded, work, scratch)
        work.best[outcome] = best
        mean += probability(rules, position, outcome) * np.float64(v)
    return np.float32(mean)


@inlined
def random_move(rules: Any, position: Words, moves: Array, bits: np.uint64) -> int:
    """Any legal move."""
    count = legal(rules, position, moves, 0)
    return np.int64(moves[((bits >> _HALF) * np.uint64(count)) >> _HALF])  # type: ignore[return-value]


@kernel
def learn_backward(
    rules: Any,
    tables: GameTables,
    hyper: GameHyperparameters,
    work: Workspace,
    scratch: Scratch,
    length: int,
    result: np.float32,
    last: int,
) -> np.float64:
    """Walk a finished game from its end; `result` is what it came to for side `last`.

    Returns the mean squared TD error.
    """
    m, zero, one = np.uint64(len(scratch.indices)), np.uint64(0), np.float32(1)
    weights, indices, lam = tables.weights, scratch.indices, hyper.lam
    step = hyper.alpha / np.float32(m) * (SLOPE if tables.logistic else one)
    z, mover, errors = result, last, np.float64(0)
    for k in range(length - 1, -1, -1):
        z = work.rewards[k] + hyper.gamma * seen_by(tables, z, mover != work.movers[k])
        mover = work.movers[k]
        target = work.targets[k]
        if work.follows[k] != np.uint8(0):
            target = (one - lam) * target + lam * z
        locate(rules, tables, (work.path[k, 0], work.path[k, 1]), scratch)
        v = total(weights, indices, zero, m)
        delta = target - (logistic(v) if tables.logistic else v)  # the TD error
        update_weights(hyper.rule, weights, tables.memory, indices, zero, m, step * delta)
        errors += np.float64(delta) * np.float64(delta)
        z = target
    return errors / np.float64(max(length, 1))


@kernel
def play_games(
    rules: Any,
    start: Words,
    tables: GameTables,
    hyper: GameHyperparameters,
    rewarded: bool,
    work: Workspace,
    scratch: Scratch,
    seed: np.uint64,
    first: int,
    games: int,
    results: GameResults,
    at: int,
) -> None:
    """Play games number `first` to `first + games` against itself and learn from each; results from place `at` on."""
    path = work.path
    for n in range(games):
        state, position = random_start(rules, start, stream(seed, np.uint64(first + n)))
        state, bits = draw(state)
        opening = np.int64(((bits >> _HALF) * np.uint64(hyper.opening + 1)) >> _HALF)
        length, ended = 0, ending(rules, position)
        while ended == ONGOING and length < LONGEST:
            path[length, 0], path[length, 1] = position
            work.movers[length] = side(rules, position)
            target = target_of(rules, tables, position, hyper.ahead, hyper.gamma, rewarded, work, scratch)
            work.targets[length] = target
            best = work.best[0]
            if is_chance(rules, position):
                state, bits = draw(state)
                outcome = random_outcome(rules, position, bits)
                position = apply_outcome(rules, position, outcome)
                best = work.best[outcome]
            move = best
            state, bits = draw(state)
            chance = np.float64(bits >> np.uint64(11)) * 2.0**-53
            if length < opening or chance < hyper.explore:
                state, bits = draw(state)
                move = random_move(rules, position, work.moves, bits)
            work.follows[length] = np.uint8(move == best)
            after = apply(rules, position, move)
            work.rewards[length] = np.float32(reward(rules, position, after)) if rewarded else np.float32(0)
            position = after
            length += 1
            ended = ending(rules, position)
        results.points[at + n] = payoff(rules, position, ended, False)
        results.lengths[at + n] = length
        if hyper.alpha != np.float32(0) and length > 0:
            last = work.movers[length - 1]
            result = result_of(rules, tables, position, ended, last, rewarded)
            results.errors[at + n] = learn_backward(rules, tables, hyper, work, scratch, length, result, last)


@kernel
def playout_move(rules: Any, position: Words, playouts: int, state: np.uint64, moves: Array) -> tuple[np.uint64, Int]:
    """The random stream's next state, and the move whose random games end best: the yardstick of evaluations."""
    count, mover = legal(rules, position, moves, 0), side(rules, position)
    best, best_points = np.int64(moves[0]), -1.0
    for i in range(count):
        after = apply(rules, position, np.int64(moves[i]))
        points, ended = 0.0, ending(rules, after)
        for _ in range(playouts if ended == ONGOING else 1):
            final = after
            if ended == ONGOING:
                state, final = playout(rules, after, state, False)
            p = payoff(rules, final, ending(rules, final), False)
            points += p if mover == 0 else 1.0 - p
        points = points if ended == ONGOING else points * playouts
        if points > best_points:
            best, best_points = np.int64(moves[i]), points
    return state, best


@kernel
def play_match(
    rules: Any,
    start: Words,
    tables: GameTables,
    gamma: np.float32,
    rewarded: bool,
    playouts: int,
    work: Workspace,
    scratch: Scratch,
    seed: np.uint64,
    first: int,
    games: int,
    points: Array,
) -> None:
    """Play games of a match by the network's best moves; writes its points.

    The opponent chooses by `playouts` random games for each move, or at random if that is 0. Two games in a row have
    the same start and exchange sides. A game for one is played alone.
    """
    for n in range(games):
        number = first + n
        state, position = random_start(rules, start, stream(seed, np.uint64(number >> 1)))
        state ^= np.uint64(number & 1)
        own, alone = np.int64(number & 1), not tables.logistic
        for _ in range(LONGEST):
            if ending(rules, position) != ONGOING:
                break
            if is_chance(rules, position):
                state, bits = draw(state)
                position = apply_outcome(rules, position, random_outcome(rules, position, bits))
                continue
            if alone or side(rules, position) == own:
                target_of(rules, tables, position, np.int64(1), gamma, rewarded, work, scratch)
                move = work.best[0]
            elif playouts > 0:
                state, move = playout_move(rules, position, playouts, state, work.moves)
            else:
                state, bits = draw(state)
                move = random_move(rules, position, work.moves, bits)
            position = apply(rules, position, move)
        p = payoff(rules, position, ending(rules, position), False)
        points[n] = p if alone or own == 0 else 1.0 - p


def learn_chunk(
    net: GameNetwork, tables: GameTables, hyper: GameHyperparameters, seed: int, first: int, games: int, worker: Worker
) -> GameResults:
    """Play some games and learn from them."""
    results, work, scratch = make_results(games), _workspace(worker), _scratch(net, worker)
    step = SAME_DIE if net.game.self_play_varies else max(games, 1)
    for at in range(0, games, step):
        rules, start = net.game.self_play_start(stream(~np.uint64(seed), np.uint64(first + at)))
        count = min(step, games - at)
        play_games(
            rules, start, tables, hyper, net.rewarded, work, scratch, np.uint64(seed), first + at, count, results, at
        )
    if games == 0:  # compile
        rules, start = net.game.self_play_start(np.uint64(1))
        play_games(rules, start, tables, hyper, net.rewarded, work, scratch, np.uint64(0), 0, 0, results, 0)
    return results


def play_block(net: GameNetwork, playouts: int, seed: np.uint64, first: int, games: int, worker: Worker) -> Array:
    """The network's points in some games of a match; none if the worker is stopped."""
    if worker.stop.is_set():
        return np.zeros(0)
    points, work, scratch = np.zeros(games), _workspace(worker), _scratch(net, worker)
    gamma, step = np.float32(net.gamma), 2 if net.game.self_play_varies else max(games, 1)
    for at in range(0, games, step):
        rules, start = net.game.self_play_start(stream(seed, np.uint64(first + at)))
        play_match(
            rules,
            start,
            net.tables,
            gamma,
            net.rewarded,
            playouts,
            work,
            scratch,
            seed,
            first + at,
            min(step, games - at),
            points[at:],
        )
    return points


def evaluate_match(
    net: GameNetwork, games: int, opponent: str, seed: np.uint64, *, threads: int, stop: Stop, watch: Watcher
) -> dict[str, Any] | None:
    """A match of greedy play by the network's values against a fixed opponent; None if stopped before the last game.

    The interval is that of pairs of games with the same start and exchanged sides.
    """
    games += games & 1
    playouts = parse_opponent(opponent)
    blocks = ((net, playouts, seed, n, min(CHUNK, games - n)) for n in range(0, games, CHUNK))
    parts: list[Array] = []

    def report(_: object) -> None:
        watch(Progress("evaluation games", sum(map(len, parts)), games))

    for part in ordered_map(play_block, blocks, threads=threads, stop=stop, on_tick=report):
        parts.append(part)
    points = np.concatenate(parts) if parts else np.zeros(0)
    if len(points) < games:
        return None
    pairs = points.reshape(-1, 2).mean(axis=1).tolist()
    low, high = mean_interval(pairs)
    if net.two_players:
        low, high = max(low, 0.0), min(high, 1.0)
    against = {"opponent": opponent} if net.two_players else {}
    return {"games": games, "mean_score": float(points.mean()), "ci95": [low, high], **against}


def parse_opponent(text: str) -> int:
    """The opponent of evaluations: how many random games it plays for each move, 0 for random moves.

    >>> parse_opponent("playouts=50"), parse_opponent("random")
    (50, 0)
    """
    if text == "random":
        return 0
    name, _, number = text.partition("=")
    if name == "playouts" and number.isdecimal() and 1 <= int(number) <= 100_000:
        return int(number)
    raise UserError(f"opponent must be random, or playouts=N with N from 1 to 100000 (got {text!r})")


def _workspace(worker: Worker) -> Workspace:
    return worker.keep("game workspace", make_workspace)


def _scratch(net: GameNetwork, worker: Worker) -> Scratch:
    return worker.keep(("game scratch", net.m), lambda: make_scratch(net.m))
