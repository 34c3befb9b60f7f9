"""The tree of a Monte-Carlo search: a struct of arrays, allocated once.

The children of a node stand side by side, after their parent. Results are seen from player 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tuplet.games.protocol import NO_WINNER, ONGOING, Int, Words, ending, is_chance, players, side, winner
from tuplet.kernel import allocating, inlined, kernel

Array = np.ndarray[Any, Any]

ROOT = 0
NO_NODE = -1
UNPROVEN, DRAWN = 2, 3  # in `proven`: else the player who wins whatever the other does
CHANCE = 2  # in `sides`: a chance node
USED, SIMULATIONS, FULL = range(3)  # counters
MOST_OUTCOMES = (1 << 16) - 1  # of a chance node


class Tree(NamedTuple):
    """Nodes by number; the children of a node stand side by side."""

    word0: Array  # uint64[nodes]: the position's first word
    word1: Array  # uint64[nodes]: and its second
    parents: Array  # int32[nodes]: NO_NODE for the root
    first: Array  # int32[nodes]: the first child, or NO_NODE for a leaf
    children: Array  # uint16[nodes]: how many
    moves: Array  # uint16[nodes]: the move, or chance outcome, that leads here
    sides: Array  # uint8[nodes]: who moves here: 0, 1 or CHANCE
    endings: Array  # uint8[nodes]
    proven: Array  # uint8[nodes]: UNPROVEN, DRAWN, or who wins
    visits: Array  # int64[nodes]: simulations that went through
    totals: Array  # float64[nodes]: the sum of their results
    squares: Array  # float64[nodes]: the sum of the results' squares
    priors: Array  # float32[nodes]: the prior probability of a move, where the bandit uses it
    counters: Array  # int64[3]


def make_tree(nodes: int = 1_000_000) -> Tree:
    """An empty tree with room for `nodes` nodes, 59 bytes each."""
    types = ["u8", "u8", "i4", "i4", "u2", "u2", "u1", "u1", "u1", "i8", "f8", "f8", "f4"]
    arrays = [np.zeros(nodes, each) for each in types]
    return Tree(*arrays, np.zeros(3, np.int64))  # type: ignore[call-arg]  # one for each field


@inlined
def add_node(game: Any, tree: Tree, parent: Int, move: Int, position: Words, solver: bool) -> None:
    """Add a leaf; with `solver`, a finished two-player game is proven."""
    node = tree.counters[USED]
    tree.counters[USED] = node + 1
    tree.word0[node], tree.word1[node] = position
    tree.parents[node], tree.moves[node] = parent, move
    tree.first[node], tree.children[node] = NO_NODE, 0
    tree.visits[node], tree.totals[node], tree.squares[node] = 0, 0.0, 0.0
    ended = ending(game, position)
    tree.endings[node] = ended
    tree.proven[node] = UNPROVEN
    if ended != ONGOING:
        tree.sides[node] = 0
        if solver and players(game) == 2:
            won = winner(game, ended)
            tree.proven[node] = DRAWN if won == NO_WINNER else won
    elif is_chance(game, position):
        tree.sides[node] = CHANCE
    else:
        tree.sides[node] = side(game, position)


@kernel
def reset(game: Any, tree: Tree, position: Words) -> None:
    """Make a tree of one node."""
    tree.counters[:] = 0
    add_node(game, tree, NO_NODE, 0, position, False)


@allocating("a number for each node")
def reroot(tree: Tree, position: Words) -> bool:
    """Make `position` the root and keep its subtree; False if it is not within two moves of the root.

    Children have larger numbers than their parents, so nodes are moved in place.
    """
    used = tree.counters[USED]
    new_root = NO_NODE
    level = np.zeros(used, np.uint8)  # distance from the old root; later 1 for nodes that are kept
    for node in range(1, used):
        level[node] = min(level[tree.parents[node]] + 1, 255)
        if (
            level[node] <= 4  # two moves, and the chance outcomes between them
            and tree.word0[node] == position[0]
            and tree.word1[node] == position[1]
        ):
            new_root = node
            break
    if new_root == NO_NODE:
        return False
    numbers = np.zeros(used, np.int32)  # a node's new number
    level[:] = 0
    level[new_root] = 1
    at = 0
    for node in range(new_root, used):
        if node != new_root and not level[tree.parents[node]]:
            continue
        level[node] = 1
        numbers[node] = at
        tree.word0[at], tree.word1[at] = tree.word0[node], tree.word1[node]
        # Every parent stands before its children, so its new number is known.
        tree.first[at] = tree.first[node]
        parent = tree.parents[node]
        if node == new_root:
            tree.parents[at] = NO_NODE
        else:
            tree.parents[at] = numbers[parent]
            if tree.first[numbers[parent]] == node:
                tree.first[numbers[parent]] = at
        tree.children[at], tree.moves[at] = tree.children[node], tree.moves[node]
        tree.sides[at], tree.endings[at] = tree.sides[node], tree.endings[node]
        tree.proven[at], tree.visits[at] = tree.proven[node], tree.visits[node]
        tree.totals[at], tree.squares[at] = tree.totals[node], tree.squares[node]
        tree.priors[at] = tree.priors[node]
        at += 1
    tree.counters[USED] = at
    tree.counters[SIMULATIONS] = tree.counters[FULL] = 0
    return True
