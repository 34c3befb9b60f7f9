"""Expectimax of 2048 over a network's values, written for 2048 alone: there speed decides.

`search_root` takes the maximum over moves, `chance_value` the expectation over spawns, and
`frontier_value` the last of those, above the leaves. A depth counts the player's moves. Depth 1 is
greedy play; depth 3 is

    s --max--> s' --mean--> s'' --max--> ... --max--> after-state: reward + γV

The expectation is exact: over every empty cell and both tiles. A state without moves is worth 0.

A timed search is selective from depth 3 on, and so reaches a greater depth: behind a 4, which is
rare, it looks one move less ahead, and below the root it does not search moves whose after-state
has a much lower value than that of the best. If time runs out when it has searched some moves of the root one
deeper, the best and others, it decides by those.

An after-state searched `left` moves ahead has the same value wherever it occurs, so it is stored in
a table under its exact board and `left`; results do not depend on the table's size. Entries stay
valid until the weights change. Leaves have a second table, as they are many: after a slide, most
spawns on the same row give the same board. The leaves of all spawns on one after-state are looked
up together: the weights of some are prefetched while others are summed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tuplet.games.g2048.rules import (
    WIDE,
    Rules2048,
    empty_cells,
    largest,
    opening,
    slide,
    slides,
    spawn,
    view,
    wide_slides,
)
from tuplet.games.g2048.statistics import Results
from tuplet.kernel import draw, inlined, kernel, local_array, mix, now, pext, popcount, stream
from tuplet.values.downgrade import downgrade_limit, downgrade_words
from tuplet.values.network import Network
from tuplet.values.tables import Tables, expected_value, fetch, locate, value_at

Array = np.ndarray[Any, Any]

DEEPEST = 63
AHEAD = 8  # leaves whose weights are being prefetched; a power of two
LEAVES, NODES = 14, 14  # bits of the tables' sizes
MARGIN = 10_000.0  # points, of a timed search
# In `clock`. REACHED: the last completed depth. LOOKED: chance nodes searched. DUE: when to look at the clock next.
DEADLINE, STOPPED, REACHED, LOOKED, DUE = range(5)
_CHECK_EVERY = 8.0  # chance nodes between looks at the clock: some 20 microseconds

ENTRY = np.dtype([("board", np.uint64), ("tag", np.uint32), ("value", np.float32)])
_LAST = np.uint64(4 * DEEPEST + 4)  # where the after-states of the last move stand
_MOST = 2 * 15 * 4 + 4  # how many there are
_MARGIN = 32  # words: four cache lines
_SELECTIVE = np.uint32(1 << 30)  # in a node's tag
_PENDING = np.uint32(1 << 31)  # in a leaf's tag: `value` is the number of the leaf that is being valued
_LOWEST = np.uint64(0x1111111111111111)
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_AHEAD = np.uint64(AHEAD)


class LeafValues(NamedTuple):
    """How leaves are valued."""

    tables: Tables
    states: bool  # values of states, not of after-states
    gamma: np.float32
    limit: np.uint64  # boards are lowered from this exponent on
    margin: np.float32  # the search is selective: it skips moves that seem to be worse than the best by more; or inf


def leaf_values(network: Network, downgrade: int | None = None, margin: float = np.inf) -> LeafValues:
    """Leaf values by a network; boards with a tile of `downgrade` or more are seen downgraded."""
    gamma, limit = np.float32(network.gamma), downgrade_limit(downgrade)
    return LeafValues(network.tables, network.target == "state", gamma, limit, np.float32(margin))


class Workspace(NamedTuple):
    """A thread's working memory, for one network.

    Sixteen arrays: with a seventeenth, all searches took twice as long (`tuplet eval small --depth 3`).
    """

    nodes: Array  # ENTRY[2^k]: values of chance nodes
    leaves: Array  # ENTRY[2^k]: V of after-states
    after: Array  # uint64: four after-states for each depth, then those of the last move
    after_high: Array  # uint64
    rewards: Array  # uint64
    legal: Array  # uint64[30]: the number of legal moves after each spawn
    same: Array  # uint64: the number of the leaf that has this leaf's value
    waiting: Array  # uint64: numbers of the leaves whose weights are being prefetched
    indices: Array  # uint32 or uint64[AHEAD * m]: the indices of those weights
    values: Array  # float32: the leaves' values
    seen: Array  # float32[m]
    root_rewards: Array  # uint64[4]: of up, right, down, left
    root_values: Array  # float32[4]: reward + gamma V, NaN where the move is illegal
    trial: Array  # float32[4]: the same, for the depth that is not completed yet
    clock: Array  # float64[5]
    stop: Array  # bool[1]: set to end the search (`Stop.flag`)


def make_workspace(m: int, leaves: int = LEAVES, nodes: int = NODES, index: Any = np.uint32) -> Workspace:
    """Working memory for a network of m look-ups, with tables of 2^leaves and 2^nodes entries.

    `index` is the `index_type` of the network's weights.
    """
    places = int(_LAST) + _MOST
    sizes = [places] * 6 + [30, AHEAD * m, m, 4, 4, 4, 5]
    block = np.zeros(sum(sizes) + 2 * _MARGIN, np.uint64)  # on cache lines of its own
    ends = np.cumsum([_MARGIN, *sizes])
    small = [block[end - size : end] for end, size in zip(ends[1:], sizes, strict=True)]
    floats = [part.view(np.float32)[: len(part)] for part in small]
    return Workspace(
        nodes=np.zeros(1 << nodes, ENTRY),
        leaves=np.zeros(1 << leaves, ENTRY),
        after=small[0],
        after_high=small[1],
        rewards=small[2],
        same=small[3],
        waiting=small[4],
        values=floats[5],
        legal=small[6],
        indices=small[7].view(index)[: AHEAD * m],
        seen=floats[8],
        root_rewards=small[9],
        root_values=floats[10],
        trial=floats[11],
        clock=small[12].view(np.float64),
        stop=np.zeros(1, np.bool_),
    )


def forget(work: Workspace) -> None:
    """Empty the tables: the weights may have changed."""
    for table in (work.nodes, work.leaves):
        table.view(np.uint64)[:] = 0  # 20 times as fast as entry by entry


@inlined
def _lay_out(
    rules: Rules2048,
    across: Array,
    down: Array,
    board: np.uint64,
    high: np.uint64,
    after: Array,
    after_high: Array,
    rewards: Array,
    start: np.uint64,
) -> np.uint64:
    """Write the after-states of any board from `start` on; returns their number."""
    count = WIDE
    if high == _ZERO:
        count = slides(across, down, board, after, rewards, start)
        for n in range(np.uint64(4)):
            after_high[start + n] = _ZERO
    if count == WIDE:
        count = wide_slides(rules, board, high, after, after_high, rewards, start)
    return count


@inlined
def _place(table: Array, board: np.uint64, tag: np.uint32) -> np.uint64:
    """The index of an entry in a table."""
    return mix(board ^ (np.uint64(tag) << np.uint64(40))) & np.uint64(len(table) - 1)


@inlined
def _tiles(rules: Rules2048) -> tuple[int, int]:
    """The range of exponents - 1 of the tiles that spawn."""
    return int(rules.fours == np.uint64(1 << 32)), 1 + int(rules.fours > _ZERO)


@inlined
def _reduces_after_four(rules: Rules2048, leaf_values: LeafValues) -> bool:
    """Whether the search looks one move less ahead behind a 4: fours must be rare."""
    return bool(leaf_values.margin < np.inf and _ZERO < rules.fours < np.uint64(1 << 31))


@kernel
def leaf_value(
    rules: Rules2048, leaf_values: LeafValues, board: np.uint64, high: np.uint64, work: Workspace
) -> np.float32:
    """V of an after-state."""
    tables, states, _, limit, _ = leaf_values
    indices, m = work.indices, np.uint64(tables.plan.shape[1])
    board, high = downgrade_words(board, high, limit)
    if states:
        return expected_value(rules, tables, board, high, indices, work.seen)
    locate(view(board, high), tables.plan, tables.marks, tables.stride, indices, _ZERO)
    fetch(tables.weights, indices, _ZERO, m)
    return value_at(tables.weights, tables.stride, indices, _ZERO, m)


@kernel
def _value_moves(
    rules: Rules2048, leaf_values: LeafValues, start: np.uint64, count: np.uint64, work: Workspace
) -> np.float32:
    """Write reward + gamma V of the after-states from `start` on to `work.values`; returns the highest."""
    tables, states, gamma, limit, _ = leaf_values
    after, after_high, rewards, leaves, values = work.after, work.after_high, work.rewards, work.leaves, work.values
    indices, m = work.indices, np.uint64(tables.plan.shape[1])
    for n in range(count):
        i = start + n
        values[i] = np.nan
        tag = np.uint32(pext(after_high[i], _LOWEST))
        place = _place(leaves, after[i], tag)
        if leaves[place]["board"] == after[i] and leaves[place]["tag"] == tag:
            values[i] = leaves[place]["value"]
        elif states:
            values[i] = leaf_value(rules, leaf_values, after[i], after_high[i], work)
        else:
            leaf, leaf_high = downgrade_words(after[i], after_high[i], limit)
            locate(view(leaf, leaf_high), tables.plan, tables.marks, tables.stride, indices, n * m)
            fetch(tables.weights, indices, n * m, m)
    best = np.float32(-np.inf)
    for n in range(count):
        i = start + n
        v = values[i]
        if np.isnan(v):
            v = value_at(tables.weights, tables.stride, indices, n * m, m)
            tag = np.uint32(pext(after_high[i], _LOWEST))
            place = _place(leaves, after[i], tag)
            leaves[place]["board"], leaves[place]["tag"], leaves[place]["value"] = after[i], tag, v
        values[i] = np.float32(rewards[i]) + gamma * v
        best = max(best, values[i])
    return best


@kernel
def frontier_value(
    rules: Rules2048, leaf_values: LeafValues, board: np.uint64, high: np.uint64, work: Workspace
) -> np.float32:
    """The expectation, over all spawns on an after-state, of the best reward + gamma V."""
    tables, states, gamma, limit, _ = leaf_values
    weights, plan, across, down = tables.weights, tables.plan, rules.across, rules.down
    after, after_high, rewards, moves = work.after, work.after_high, work.rewards, work.legal
    leaves, same, waiting, indices = work.leaves, work.same, work.waiting, work.indices
    values, marks, stride, m = work.values, tables.marks, tables.stride, np.uint64(plan.shape[1])
    least, most = _tiles(rules)
    reduce_after_four, rare = _reduces_after_four(rules, leaf_values), np.float32(0)
    if reduce_after_four:
        most, rare = 1, leaf_value(rules, leaf_values, board, high, work)
    n, spawns, asked, summed = _LAST, _ZERO, _ZERO, _ZERO
    empty = empty_cells(rules.cells, board, high)
    rest = empty
    while rest != _ZERO:
        cell = rest & (~rest + _ONE)
        rest ^= cell
        for tile in range(least, most):
            state = board | (cell << np.uint64(tile))
            legal = _lay_out(rules, across, down, state, high, after, after_high, rewards, n)
            moves[spawns] = legal
            spawns += _ONE
            for i in range(n, n + legal):
                leaf, leaf_high = after[i], after_high[i]
                tag = np.uint32(pext(leaf_high, _LOWEST))
                place = _place(leaves, leaf, tag)
                same[i] = i
                if leaves[place]["board"] == leaf:
                    known = leaves[place]["tag"]
                    if known == tag:
                        values[i] = leaves[place]["value"]
                        continue
                    if known == tag | _PENDING:
                        same[i] = np.uint64(leaves[place]["value"])
                        continue
                if states:
                    leaves[place]["board"], leaves[place]["tag"] = leaf, tag
                    leaf, leaf_high = downgrade_words(leaf, leaf_high, limit)
                    v = expected_value(rules, tables, leaf, leaf_high, indices, work.seen)
                    values[i] = leaves[place]["value"] = v
                    continue
                if asked == summed + _AHEAD:
                    _sum(weights, stride, indices, m, after, after_high, waiting, leaves, values, summed)
                    summed += _ONE
                leaves[place]["board"], leaves[place]["tag"] = leaf, tag | _PENDING
                leaves[place]["value"] = np.float32(i)
                waiting[asked] = i
                at = (asked % _AHEAD) * m
                leaf, leaf_high = downgrade_words(leaf, leaf_high, limit)
                locate(view(leaf, leaf_high), plan, marks, stride, indices, at)
                fetch(weights, indices, at, m)
                asked += _ONE
            n += legal
    while summed < asked:
        _sum(weights, stride, indices, m, after, after_high, waiting, leaves, values, summed)
        summed += _ONE

    n, twos, fours = _LAST, np.float64(0), np.float64(0)
    s = _ZERO
    while s < spawns:
        for tile in range(least, most):
            best = np.float32(-np.inf) if moves[s] > _ZERO else np.float32(0)
            for i in range(n, n + moves[s]):
                best = max(best, np.float32(rewards[i]) + gamma * values[same[i]])
            n += moves[s]
            s += _ONE
            if tile == 0:
                twos += np.float64(best)
            else:
                fours += np.float64(best)
    if reduce_after_four:
        fours = np.float64(rare) * np.float64(popcount(empty))
    return _mean(rules, twos, fours, empty)


@inlined
def _sum(
    weights: Array,
    stride: np.uint64,
    indices: Array,
    m: np.uint64,
    after: Array,
    after_high: Array,
    waiting: Array,
    leaves: Array,
    values: Array,
    number: np.uint64,
) -> None:
    """Value a leaf whose weights were prefetched; its table entry may have been replaced meanwhile."""
    i = waiting[number]
    v = value_at(weights, stride, indices, (number % _AHEAD) * m, m)
    values[i] = v
    tag = np.uint32(pext(after_high[i], _LOWEST))
    place = _place(leaves, after[i], tag)
    if leaves[place]["board"] == after[i] and leaves[place]["tag"] == tag | _PENDING:
        leaves[place]["tag"], leaves[place]["value"] = tag, v


@inlined
def _mean(rules: Rules2048, twos: np.float64, fours: np.float64, empty: np.uint64) -> np.float32:
    """The expectation, given the sums over all empty cells."""
    share = np.float64(rules.fours) * 2.0**-32
    return np.float32(((1.0 - share) * twos + share * fours) / np.float64(popcount(empty)))


@kernel
def chance_value(
    rules: Rules2048, leaf_values: LeafValues, board: np.uint64, high: np.uint64, left: np.int64, work: Workspace
) -> np.float32:
    """The expected value of an after-state, searched `left` moves ahead, at least one.

    Meaningless once the search has been stopped.
    """
    nodes, clock = work.nodes, work.clock
    tag = np.uint32(pext(high, _LOWEST)) | (np.uint32(left) << np.uint32(16))
    reduce_after_four, selective = _reduces_after_four(rules, leaf_values), leaf_values.margin < np.inf
    if selective:
        tag |= _SELECTIVE
    place = _place(nodes, board, tag)
    if nodes[place]["board"] == board and nodes[place]["tag"] == tag:
        return nodes[place]["value"]  # type: ignore[no-any-return]
    if clock[STOPPED] > 0.0:  # unwind: else every level would still search its last moves
        return np.float32(0)
    clock[LOOKED] += 1.0
    if clock[LOOKED] >= clock[DUE]:
        clock[DUE] = clock[LOOKED] + _CHECK_EVERY
        if work.stop[0] or (clock[DEADLINE] < np.inf and now() > clock[DEADLINE]):
            clock[STOPPED] = 1.0
            return np.float32(0)
    if left == 1:
        v = frontier_value(rules, leaf_values, board, high, work)
    else:
        after, after_high, rewards = work.after, work.after_high, work.rewards
        across, down, gamma = rules.across, rules.down, leaf_values.gamma
        mine, twos, fours = np.uint64(4 * left), np.float64(0), np.float64(0)
        least, most = _tiles(rules)
        empty = empty_cells(rules.cells, board, high)
        rest = empty
        while rest != _ZERO:
            cell = rest & (~rest + _ONE)
            rest ^= cell
            for tile in range(least, most):
                state = board | (cell << np.uint64(tile))
                legal = _lay_out(rules, across, down, state, high, after, after_high, rewards, mine)
                best = np.float32(-np.inf) if legal > _ZERO else np.float32(0)
                further = left - 2 if reduce_after_four and tile == 1 else left - 1
                skips, floor = selective and further > 0 and legal > _ONE, np.float32(0)
                if skips:
                    floor = _value_moves(rules, leaf_values, mine, legal, work) - leaf_values.margin
                for i in range(mine, mine + legal):
                    if skips and work.values[i] < floor:
                        continue
                    if further > 0:
                        v = chance_value(rules, leaf_values, after[i], after_high[i], further, work)
                    else:
                        v = leaf_value(rules, leaf_values, after[i], after_high[i], work)
                    best = max(best, np.float32(rewards[i]) + gamma * v)
                if clock[STOPPED] > 0.0:
                    return np.float32(0)
                if tile == 0:
                    twos += np.float64(best)
                else:
                    fours += np.float64(best)
        v = _mean(rules, twos, fours, empty)
    nodes[place]["board"], nodes[place]["tag"], nodes[place]["value"] = board, tag, v
    return v


@inlined
def _sort(order: Array, values: Array) -> None:
    """Order moves by their values, illegal ones last."""
    for n in range(1, 4):
        i = n
        while i > 0 and not values[order[i - 1]] >= values[order[i]] and not np.isnan(values[order[i]]):
            order[i - 1], order[i] = order[i], order[i - 1]
            i -= 1


@inlined
def _take_over(values: Array, trial: Array, order: Array, complete: int) -> None:
    """Take the values of the first moves from a depth that was not completed; the others change as the first does."""
    change = trial[order[0]] - values[order[0]]
    for n in range(4):
        move = order[n]
        values[move] = trial[move] if n < complete else values[move] + change


@kernel
def search_root(
    rules: Rules2048,
    leaf_values: LeafValues,
    board: np.uint64,
    high: np.uint64,
    depth: np.int64 | int,
    seconds: float,
    work: Workspace,
) -> int:
    """Value all four moves, `depth` moves ahead; within `seconds`, as deep as time allows.

    Writes the workspace's `root_rewards` and `root_values`. Returns the completed depth, at least 1: that takes no
    time. A selective search whose time runs out keeps the values of moves that were searched deeper (`_take_over`).
    """
    tables, states, gamma, limit, margin = leaf_values
    rewards, trial, clock, root_values = work.root_rewards, work.trial, work.clock, work.root_values
    clock[:] = 0.0
    clock[DEADLINE] = now() + seconds
    reached, last = 0, int(depth)
    ahead = 1 if seconds < np.inf else last
    order = local_array(4, np.int64)  # in which moves are searched
    for n in range(4):
        order[n] = n
    while ahead <= last:
        left, complete = np.int64(ahead - 1), 0
        values = LeafValues(tables, states, gamma, limit, margin if ahead > 2 else np.float32(np.inf))
        for n in range(4):
            move = np.int64(order[n])
            slid, slid_high, reward = slide(rules, board, high, move)
            if slid == board and slid_high == high:
                rewards[move], trial[move] = _ZERO, np.nan
                continue
            if left > 0:
                v = chance_value(rules, values, slid, slid_high, left, work)
                if clock[STOPPED] > 0.0:
                    break
            else:
                v = leaf_value(rules, leaf_values, slid, slid_high, work)
            rewards[move], trial[move] = reward, np.float32(reward) + gamma * v
            complete += 1
        if clock[STOPPED] > 0.0:
            if reached > 0:
                if complete > 1 and margin < np.inf:
                    _take_over(root_values, trial, order, complete)
                break
            ahead = last = 1
            clock[STOPPED] = 0.0
            continue
        for n in range(4):
            root_values[n] = trial[n]
        reached = ahead
        clock[REACHED] = reached
        _sort(order, trial)
        ahead += 1
    return reached


@kernel
def play_games(
    rules: Rules2048,
    leaf_values: LeafValues,
    depth: np.int64 | int,
    seconds: float,
    work: Workspace,
    seed: np.uint64,
    first: int,
    games: int,
    results: Results,
) -> int:
    """Play games number `first` to `first + games` by search, until the workspace's `stop` is set.

    Returns the number of finished games. `results[0]` is game `first`; a game's length is updated
    after every move.
    """
    values = work.root_values
    for game in range(first, first + games):
        state, board = opening(rules, stream(seed, np.uint64(game)))
        high, score, length = np.uint64(0), np.int64(0), 0
        while True:
            search_root(rules, leaf_values, board, high, np.int64(depth), seconds, work)
            best = -1
            for move in range(4):
                if not np.isnan(values[move]) and (best < 0 or values[move] > values[best]):
                    best = move
            if best < 0:
                break
            if work.stop[0]:
                return game - first
            board, high, reward = slide(rules, board, high, best)
            score += np.int64(reward)
            length += 1
            results.lengths[game - first] = length
            state, bits = draw(state)
            board = spawn(rules, board, high, bits)
        results.scores[game - first] = score
        results.tiles[game - first] = largest(board, high)
    return games
