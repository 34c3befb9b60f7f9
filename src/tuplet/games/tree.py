"""The tree of a search for display: moves, visits, values, intervals, and proofs.

In every node a value is the expected result of the side that moves at the *root*, whichever side moves there:
0 lost, 1/2 drawn, 1 won; in a game for one, points. It can so be compared from node to node.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from html import escape
from pathlib import Path
from typing import Any

from tuplet.errors import UserError
from tuplet.system.files import atomic_write
from tuplet.system.pictures import as_picture
from tuplet.system.tables import Table, Tabular, TextTable, as_text, table_of

SPREAD = "± 1.96 s.e."  # a column: standard errors of simulations, no interval of the true value
MOST_NODES = 400  # of a view, by default

ROW, MARGIN = 31.0, 26.0  # pixels: of a leaf, and around everything
SMALLEST, LARGEST = 4.0, 17.0  # of a node, from its middle
FONT = "Helvetica, Arial, sans-serif"
INK, PALE, PAPER = "#2b2b2b", "#767676", "#ffffff"
LOST, EVEN, WON = (200, 86, 43), (243, 234, 217), (32, 99, 155)  # distinct for colour-blind readers


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
    ci95: tuple[float, float] | None = None  # ± 1.96 standard errors of simulations, as in `MoveValue`
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
        ci95 = None if self.ci95 is None else list(self.ci95)
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name != "children"} | {
            "ci95": ci95
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
        """A row for each node, parents before their children, with its distance from the root."""
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

    def notes(self) -> list[str]:
        """What values and brackets mean, and how much of the tree is shown."""
        outcomes = any(node.chance is not None for _, node in self.root.walk())
        brackets = ["In brackets: what chance does."] if outcomes else []
        return [" ".join([self.meaning(), *brackets]), self.counted()]

    def svg(self) -> str:
        """A picture: circles as large as their share of visits, coloured by value."""
        return _Drawing(self).svg()

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
        """Indented, with a line for each node."""
        rows: list[tuple[str, ...]] = []

        def add(node: TreeNode, parent: TreeNode | None, deep: int) -> None:
            rows.append(("  " * deep + self.label(node, parent), *self.figures(node)))
            for child in node.children:
                add(child, node, deep + 1)
            if node.left_out and node.children:
                rows.append(("  " * (deep + 1) + f"... {node.left_out:,} more", "", "", "", ""))

        add(self.root, None, 0)
        return as_text(TextTable("", ("", "visits", "share", "value", SPREAD), rows, self.notes()))

    def __repr__(self) -> str:
        return f"<TreeView of {self.counted()}>"


class _Drawing:
    """The picture of a tree, from left to right, the most visited moves on top.

    Circles are positions, diamonds those where chance acts; both as large as their share of the visits and coloured by
    value. Moves stand on the edges, which are as wide as they were visited.
    """

    def __init__(self, view: TreeView) -> None:
        self.view = view
        nodes = [node for _, node in view.root.walk()]
        self.values = [node.value for node in nodes if node.value is not None] or [0.0]
        self.deepest = max(deep for deep, _ in view.root.walk())
        letters = max((len(node.move) for node in nodes), default=1)
        self.step = 74.0 + 7.5 * max(letters, 3)  # from a node to its children
        self.rows = 0
        self.edges: list[str] = []
        self.marks: list[str] = []

    def svg(self) -> str:
        """The whole picture."""
        self._place(self.view.root, 0, main=True)
        wide = 2 * MARGIN + self.deepest * self.step + 190
        top = 50.0
        wide, tall = max(wide, 560.0), top + self.rows * ROW + 70
        caption = f"{self.view.root.side} to move"
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:.0f}" height="{tall:.0f}" '
            f'viewBox="0 0 {wide:.0f} {tall:.0f}" font-family="{FONT}">',
            f'<rect width="100%" height="100%" rx="8" fill="{PAPER}"/>',
            _text(MARGIN - 8, 24, caption, 15, weight="bold"),
            _text(MARGIN - 8, 41, self.view.counted(), 11, PALE),
            f'<g transform="translate(0 {top:.0f})">',
            *self.edges,
            *self.marks,
            "</g>",
            *self._legend(tall - 42),
            "</svg>",
        ]
        return "\n".join(parts)

    def _place(self, node: TreeNode, deep: int, main: bool) -> tuple[float, float]:
        """Draw a node and all below it; returns its place. `main`: it is on the main line."""
        x = MARGIN + LARGEST + deep * self.step
        places = []
        for number, child in enumerate(node.children):
            places.append((child, self._place(child, deep + 1, main and number == 0)))
        if places:
            y = (places[0][1][1] + places[-1][1][1]) / 2
        else:
            y = ROW * (self.rows + 0.5)
            self.rows += 1
        for number, (child, (to_x, to_y)) in enumerate(places):
            self._edge(child, x, y, to_x, to_y, main and number == 0)
        self._mark(node, x, y, main)
        return x, y

    def _share(self, node: TreeNode) -> float:
        return float(node.visits / max(self.view.simulations, 1))

    def _radius(self, node: TreeNode) -> float:
        return SMALLEST + (LARGEST - SMALLEST) * math.sqrt(min(self._share(node), 1.0))

    def _edge(self, node: TreeNode, x: float, y: float, to_x: float, to_y: float, main: bool) -> None:
        """A curve to a child, with the move on it, where it has become level."""
        width = 1.0 + 11.0 * self._share(node)
        middle = x + 0.42 * (to_x - x)
        end = to_x - self._radius(node)
        self.edges.insert(
            0 if not main else len(self.edges),
            f'<path d="M{x:.1f} {y:.1f}C{middle:.1f} {y:.1f} {middle - 12:.1f} {to_y:.1f} '
            f'{middle + 22:.1f} {to_y:.1f}L{end:.1f} {to_y:.1f}" fill="none" '
            f'stroke="{"#9a8f7d" if main else "#ddd5c7"}" stroke-width="{width:.1f}"/>',
        )
        half = 4.0 + 3.9 * len(node.move)
        at = end - half - 7
        natural = node.chance is not None
        self.marks.append(
            f'<rect x="{at - half:.1f}" y="{to_y - 9:.1f}" width="{2 * half:.1f}" height="18" '
            f'rx="{9 if natural else 4}" fill="{"#f4efe6" if natural else PAPER}" '
            f'stroke="{"#9a8f7d" if main else "#ddd5c7"}"/>'
            + _text(
                at, to_y + 4.2, node.move, 12, anchor="middle", weight="bold" if main else "normal", slanted=natural
            )
        )

    def _mark(self, node: TreeNode, x: float, y: float, main: bool) -> None:
        """A node: a circle, or a diamond where chance acts; a ring around what is proven."""
        r, natural = self._radius(node), node.side == "chance"
        fill = self._colour(node.value)
        tooltip = _tooltip(self.view, node)
        body = f'fill="{fill}" stroke="{INK if main else "#8d8577"}" stroke-width="1.2"'
        title = f"<title>{escape(tooltip)}</title>"
        if natural:
            d = 1.15 * r
            shape = (
                f'<path d="M{x - d:.1f} {y:.1f}L{x:.1f} {y - d:.1f}L{x + d:.1f} {y:.1f}'
                f'L{x:.1f} {y + d:.1f}Z" {body}>{title}</path>'
            )
        else:
            shape = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}" {body}>{title}</circle>'
        if node.proven:
            shape += (
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r + 3:.1f}" fill="none" stroke="{INK}" stroke-width="1.8"/>'
            )
        self.marks.append(shape)
        visits, _, value, ci95 = self.view.figures(node)
        if node.children:
            self.marks.append(_text(x, y - r - 5, value, 10.5, anchor="middle", halo=True))
            return
        end = x + r + (9 if node.proven else 6)
        behind = f"  {ci95}" if node.proven else ""
        self.marks.append(_text(end, y + 4, f"{value}{behind}", 12))
        wide = 6.3 * len(f"{value}{behind}") + 14
        self.marks.append(_text(end + wide, y + 4, visits, 10.5, PALE))

    def _colour(self, value: float | None) -> str:
        low, high = self._range()
        if value is None:
            return PAPER
        at = (value - low) / (high - low) if high > low else 0.5
        one, other = (LOST, EVEN) if at < 0.5 else (EVEN, WON)
        part = 2 * at if at < 0.5 else 2 * at - 1
        mixed = (round(a + (b - a) * part) for a, b in zip(one, other, strict=True))
        return "#{:02x}{:02x}{:02x}".format(*mixed)

    def _range(self) -> tuple[float, float]:
        """The values of the scale's ends."""
        return (min(self.values), max(self.values)) if self.view.points else (0.0, 1.0)

    def _legend(self, y: float) -> list[str]:
        low, high = self._range()
        ends = (f"{low:,.0f}", f"{high:,.0f} points") if self.view.points else ("lost", "won")
        parts, x = [], MARGIN + 30.0
        parts.append(_text(x - 6, y + 11, ends[0], 11, PALE, anchor="end"))
        for i in range(40):
            colour = self._colour(low + (high - low) * (i + 0.5) / 40)
            parts.append(f'<rect x="{x + 4 * i:.1f}" y="{y:.1f}" width="4.3" height="14" fill="{colour}"/>')
        parts.append(_text(x + 166, y + 11, ends[1], 11, PALE))
        x += 166 + 8 * len(ends[1]) + 22
        for share in (0.01, 0.1, 1.0):
            r = SMALLEST + (LARGEST - SMALLEST) * share**0.5
            parts.append(f'<circle cx="{x:.1f}" cy="{y + 7:.1f}" r="{r:.1f}" fill="none" stroke="{PALE}"/>')
            parts.append(_text(x + r + 4, y + 11, f"{100 * share:g} %", 11, PALE))
            x += 2 * r + 50
        parts.append(_text(x - 22, y + 11, "of visits", 11, PALE))
        parts.append(_text(MARGIN - 8, y + 33, self.view.meaning(), 11, PALE))
        return parts


def _tooltip(view: TreeView, node: TreeNode) -> str:
    """The text of a node under the pointer."""
    visits, share, value, ci95 = view.figures(node)
    likely = "" if node.chance is None else f", {100 * node.chance:.1f} % likely"
    who = f"{node.side} moves" if node.side not in ("chance", "") else node.side or "over"
    return f"{node.move or 'root'}{likely}: {value} ({ci95}), {visits} visits, {share}; {who}"


def _text(
    x: float,
    y: float,
    text: str,
    size: float,
    colour: str = INK,
    *,
    anchor: str = "start",
    weight: str = "normal",
    slanted: bool = False,
    halo: bool = False,
) -> str:
    style = ' font-style="italic"' if slanted else ""
    style += f' stroke="{PAPER}" stroke-width="3" paint-order="stroke"' if halo else ""
    style += f' font-weight="{weight}"' if weight != "normal" else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" fill="{colour}" '
        f'text-anchor="{anchor}"{style}>{escape(text)}</text>'
    )
