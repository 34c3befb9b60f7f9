"""What a Monte-Carlo tree says: moves with values, the main line, and a view of its nodes."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

import numpy as np

from tuplet.errors import UserError
from tuplet.games.analysis import MoveValue
from tuplet.games.protocol import players, probability
from tuplet.games.tree import MOST_NODES, TreeNode, TreeView
from tuplet.search import tree as trees

Text = Callable[[int], str]  # of a move


def children(tree: trees.Tree, node: int) -> range:
    """The numbers of a node's children."""
    first = int(tree.first[node])
    return range(first, first + int(tree.children[node])) if first != trees.NO_NODE else range(0)


def root_moves(tree: trees.Tree, chosen: int, text_of: Text, points: bool) -> list[MoveValue]:
    """The moves of the position itself: the chosen one first, the others by visits."""
    nodes = sorted(children(tree, trees.ROOT), key=lambda n: (n != chosen, -tree.visits[n]))
    return [_move_value(tree, n, text_of(int(tree.moves[n])), points) for n in nodes]


def main_line(tree: trees.Tree, node: int, text_of: Text) -> list[str]:
    """The most visited moves from a node on, up to a chance node."""
    line = []
    while True:
        line.append(text_of(int(tree.moves[node])))
        if tree.first[node] == trees.NO_NODE or tree.sides[node] == trees.CHANCE:
            return line
        node = max(children(tree, node), key=lambda n: int(tree.visits[n]))


def _move_value(tree: trees.Tree, node: int, move: str, points: bool) -> MoveValue:
    """A node's value to the side that moves at the root."""
    mover = int(tree.sides[trees.ROOT])
    visits, proven = int(tree.visits[node]), int(tree.proven[node])
    if proven != trees.UNPROVEN:
        value = 0.5 if proven == trees.DRAWN else float(proven == mover)
        return MoveValue(move, value, visits=visits, proven=True)
    if not visits:
        return MoveValue(move, 0.0 if points else 0.5, visits=0)
    mean = float(tree.totals[node] / visits)
    half = 1.96 * max(float(tree.squares[node] / visits) - mean * mean, 0.0) ** 0.5 / visits**0.5
    value = mean if mover == 0 else 1 - mean
    most = np.inf if points else 1.0
    return MoveValue(move, value, visits=visits, ci95=(max(value - half, 0.0), min(value + half, most)))


def view(tree: trees.Tree, position: Any, depth: int | None, share: float, most: int = MOST_NODES) -> TreeView:
    """The part of a tree down to a depth, of nodes with at least a `share` of the visits.

    `position` is the root's. At most `most` nodes, those with the most visits.
    """
    if depth is not None and depth < 1:
        raise UserError(f"the depth of a tree must be 1 or more (got {depth})")
    if not 0 <= share <= 1:
        raise UserError(f"share must be 0 to 1 (got {share:g})")
    least = share * float(tree.visits[trees.ROOT])
    chosen: dict[int, int] = {}  # nodes, and their depth
    queue = [(0, trees.ROOT, 0)]  # by visits: parents always come before their children
    while queue and len(chosen) < most:
        _, node, deep = heapq.heappop(queue)
        chosen[node] = deep
        ahead = deep + (tree.sides[node] != trees.CHANCE)
        if depth is None or deep < depth:
            for child in children(tree, node):
                if tree.visits[child] >= least:
                    heapq.heappush(queue, (-int(tree.visits[child]), child, ahead))
    root = _node(tree, trees.ROOT, "", None, position, chosen)
    simulations, used = int(tree.visits[trees.ROOT]), int(tree.counters[trees.USED])
    points = players(position.rules) == 1
    return TreeView(root, simulations, used, depth, share, points, full=bool(queue))


def _node(
    tree: trees.Tree, number: int, move: str, probability_: float | None, root: Any, chosen: dict[int, int]
) -> TreeNode:
    """A node with those below it that are shown; `root` is the root's position."""
    rules, words = root.rules, (np.uint64(tree.word0[number]), np.uint64(tree.word1[number]))
    worth = _move_value(tree, number, move, players(rules) == 1)
    natural, position = tree.sides[number] == trees.CHANCE, root.at(words)
    side = "chance" if natural else "" if tree.endings[number] else str(position.turn)
    below, own = [], children(tree, number)
    for child in sorted((n for n in own if n in chosen), key=lambda n: -tree.visits[n]):
        code = int(tree.moves[child])
        text = position.game.outcome_text(position.words, code) if natural else position.move_text(code)
        likely = float(probability(rules, words, code)) if natural else None
        below.append(_node(tree, child, text, likely, root, chosen))
    return TreeNode(
        move,
        worth.visits or 0,
        worth.value if worth.visits or worth.proven else None,
        worth.ci95,
        worth.proven,
        side,
        tuple(below),
        probability_,
        len(own) - len(below),
    )
