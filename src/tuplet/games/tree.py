"""The tree of a search for display: moves, visits, values, intervals, and proofs.

In every node a value is the expected result of the side that moves at the *root*, whichever side moves there:
0 lost, 1/2 drawn, 1 won; in a game for one, points. It can so be compared from node to node.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tuplet.errors import UserError
from tuplet.games.tree_drawing import draw_tree
from tuplet.system.files import atomic_write
from tuplet.system.pictures import as_picture
from tuplet.system.tables import Table, Tabular, table_of

MOST_NODES = 400  # of a view, by default


def as_tree_picture(path: str | Path) -> Path:
    """The path of a picture; UserError if it cannot be written."""
    if Path(path).suffix.lower() != ".svg":
        raise UserError(f"the picture of a tree is an SVG file: give it a name that ends in .svg (got {path})")
    return as_picture(path)


@dataclass(frozen=True)
class TreeNode:
    """A position that a search has visited, and the move that leads there."""

    move: str  # the move or outcome that leads here; "" for the root
    visits: int  # simulations through this node
    value: float | None  # to the side that moves at the root; None before the first visit
    ci95: tuple[float, float] | None = None  # of simulations, as if they were independent
    proven: bool = False  # the value is exact
    side: str = ""  # the side to move; "chance" at a chance node; "" where the game is over
    children: tuple[TreeNode, ...] = ()  # the most visited first
    chance: float | None = None  # the probability of this outcome of chance
    left_out: int = 0  # children that are not shown

    def as_json(self) -> dict[str, Any]:
        """As plain values, children within."""
        return {**self.values(), "children": [child.as_json() for child in self.children]}

    def values(self) -> dict[str, Any]:
        """As plain values, without children."""
        return {
            "move": self.move,
            "visits": self.visits,
            "value": self.value,
            "ci95": None if self.ci95 is None else list(self.ci95),
            "proven": self.proven,
            "side": self.side,
            "chance": self.chance,
            "left_out": self.left_out,
        }

    def walk(self, deep: int = 0) -> Iterator[tuple[int, TreeNode]]:
        """The node and all below it, each with its distance."""
        yield deep, self
        for child in self.children:
            yield from child.walk(deep + 1)


@dataclass(frozen=True, repr=False)
class TreeView(Tabular):
    """A part of a search's tree: to a depth in moves, or the nodes with a share of the visits.

    It shows itself as indented text (`print`), as a picture (`svg`, notebooks) and as JSON.
    """

    root: TreeNode
    simulations: int
    nodes: int  # of the whole tree
    depth: int | None = None  # moves shown, not counting outcomes of chance
    share: float = 0.0  # of the visits that a node has at least
    points: bool = False  # values are points, of a game that counts them
    full: bool = False  # there would be more nodes to show

    @property
    def shown(self) -> int:
        """The number of nodes in this view."""
        return sum(1 for _ in self.root.walk())

    def meaning(self) -> str:
        """What the values mean, in a sentence."""
        if self.points:
            return "Values are the points that may be expected from the root on."
        who = self.root.side
        return f"Values are what {who}, to move at the root, may expect: 0 lost, 1 won."

    def counted(self) -> str:
        """How much of the tree is shown, in words."""
        more = " (the most visited ones)" if self.full else ""
        return f"{self.shown:,} of {self.nodes:,} nodes{more}, {self.simulations:,} simulations"

    def as_json(self) -> dict[str, Any]:
        """The root, with all below it, and what values mean."""
        more = {"values": self.meaning(), "nodes": self.nodes, "shown": self.shown}
        return {**more, **self.root.as_json()}

    def table(self) -> Table:
        """A row for each node, in the order of `lines`, with its distance from the root."""
        return table_of({"depth": deep, **node.values()} for deep, node in self.root.walk())

    def figures(self, node: TreeNode) -> tuple[str, str, str, str]:
        """A node's visits, their share, its value and its interval, in words."""
        visits, total = f"{node.visits:,}", max(self.simulations, 1)
        share = f"{100 * node.visits / total:.1f} %"
        wide = ",.0f" if self.points else ".3f"
        value = "-" if node.value is None else format(node.value, wide)
        if node.proven:
            return visits, share, value, "proven"
        ci95 = "" if node.ci95 is None else " - ".join(format(b, wide) for b in node.ci95)
        return visits, share, value, ci95

    def label(self, node: TreeNode, parent: TreeNode | None) -> str:
        """A node by what led to it: a side and its move, or in brackets what chance did."""
        if parent is None:
            return f"{node.side} to move"
        if node.chance is not None:
            return f"[{node.move}]"
        return node.move if self.points else f"{parent.side} {node.move}"

    def lines(self) -> list[str]:
        """Indented, with a line for each node."""
        rows: list[tuple[str, ...]] = [("", "visits", "share", "value", "95 %")]

        def add(node: TreeNode, parent: TreeNode | None, deep: int) -> None:
            rows.append(("  " * deep + self.label(node, parent), *self.figures(node)))
            for child in node.children:
                add(child, node, deep + 1)
            if node.left_out and node.children:
                rows.append(("  " * (deep + 1) + f"... {node.left_out:,} more", "", "", "", ""))

        add(self.root, None, 0)
        wide = [max(len(row[i]) for row in rows) for i in range(5)]
        return [
            "  ".join([row[0].ljust(wide[0]), *(row[i].rjust(wide[i]) for i in range(1, 5))]).rstrip() for row in rows
        ]

    def notes(self) -> list[str]:
        """Notes below the lines."""
        outcomes = any(node.chance is not None for _, node in self.root.walk())
        brackets = ["In brackets: what chance does."] if outcomes else []
        return [" ".join([self.meaning(), *brackets]), self.counted()]

    def svg(self) -> str:
        """A picture: circles as large as their share of visits, coloured by value."""
        return draw_tree(self)

    def save(self, path: str | Path) -> Path:
        """Write the picture, an SVG file."""
        path = as_tree_picture(path)
        with atomic_write(path) as file:
            file.write(self.svg().encode())
        return path

    def _repr_svg_(self) -> str:
        """How notebooks show it."""
        return self.svg()

    def __str__(self) -> str:
        return "\n".join([*self.lines(), *self.notes()])

    def __repr__(self) -> str:
        return f"<TreeView of {self.counted()}>"
