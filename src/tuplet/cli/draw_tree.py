"""A search's tree in the terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.tree import Tree

    from tuplet.games.tree import TreeNode, TreeView


def show_tree(view: TreeView) -> None:
    """With branches and colours at a terminal, as indented text elsewhere."""
    if not sys.stdout.isatty():
        print(view)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    console.print(_branch(view, view.root, None))
    for note in view.notes():
        console.print(Text(note, style="dim"))


def _branch(view: TreeView, node: TreeNode, parent: TreeNode | None) -> Tree:
    from rich.text import Text
    from rich.tree import Tree

    visits, share, value, ci95 = view.figures(node)
    chance = node.chance is not None
    line = Text(view.label(node, parent), style="italic" if chance else "bold")
    colour = ""
    if node.value is not None and not view.points:
        colour = "green" if node.value >= 0.6 else "red" if node.value <= 0.4 else "yellow"
    line.append(f"  {value}", style=f"{'bold ' if node.proven else ''}{colour}".strip())
    line.append(f"  {ci95}", style="bold" if node.proven else "dim")
    line.append(f"  {visits}", style="not bold not italic")
    line.append(f"  {share}", style="dim")
    tree = Tree(line, guide_style="dim")
    for child in node.children:
        tree.add(_branch(view, child, node))
    if node.left_out and node.children:
        tree.add(Text(f"... {node.left_out:,} more", style="dim"))
    return tree
