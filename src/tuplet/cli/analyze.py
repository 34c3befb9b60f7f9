"""`tuplet analyze`: the value of each move in a position."""

from __future__ import annotations

from typing import Any

from tuplet.agents.lookahead import LookaheadOptions
from tuplet.cli.common import (
    INTERRUPTED,
    LOOKAHEAD,
    Force,
    Json,
    Out,
    Plot,
    check_writable,
    long_call,
    note,
    show_result,
)
from tuplet.cli.options import with_settings


@with_settings(LookaheadOptions, LOOKAHEAD)
def analyze(
    game: str,
    position: str | None = None,
    /,
    *,
    agent: str | None = None,
    tree: int | None = None,
    share: float | None = None,
    out: Out = None,
    plot: Plot = None,
    force: Force = False,
    seed: int = 0,
    json_: Json = False,
    **lookahead: Any,
) -> int:
    """Show the value of each move in a position.

    Intervals of mcts and mcs are ± 1.96 standard errors of the simulations, which the search chose:
    no confidence intervals of a move's true value.

    Parameters
    ----------
    game
        2048, 2048:board=3x3, ewn, ewn-6x7, another variant of EWN, or your own game:
        path/to/file.py:GAME.
    position
        2048: the sixteen tiles row by row, 0 for empty: "2,0,0,4, 0,0,8,2, ..." (fewer on a smaller
        board). Other games: their notation, such as
        "ewn r1r2r3../r4r5.../r6...b6/...b5b4/..b3b2b1 red 2". [default: the first position]
    agent
        The agent to ask. 2048: a run folder, a weight file, the table of an exact solution,
        mcts:sims=1000, ... Other games: mcts:sims=20000, alphabeta:depth=10, hard, ...
        [default: small for 2048, best for EWN, mcts for other games]
    tree
        Show the search tree of mcts or mcs down to this depth (at most the 400 most visited nodes).
    share
        Show only the nodes of the tree with at least this share of the visits, such as 0.01.
    out
        Draw the search tree into this SVG file.
    plot
        Draw how the visits and values of the moves grew during the search: .svg, .png or .pdf.
    seed
        Random seed.

    Examples
    --------
    tuplet analyze 2048 "2,4,8,16, 0,2,64,32, 4,8,256,128, 0,2,512,1024" --depth 2
    tuplet analyze ewn --agent mcts:sims=20000 --tree 3
    tuplet analyze ewn-6x7 --agent mcts:sims=20000 --tree 3 --out tree.svg --plot growth.png

    """
    import tuplet
    from tuplet.games.tree import as_tree_picture
    from tuplet.system.pictures import as_picture

    if out is not None:
        as_tree_picture(out)
    if plot is not None:
        as_picture(plot)
    check_writable(out, plot, force=force)
    kept_tree: Any = True if out is not None and tree is None and share is None else tree
    with long_call(json_) as call:
        result = tuplet.analyze(
            game, position, agent, tree=kept_tree, share=share, growth=plot is not None, seed=seed, **lookahead, **call
        )
    pictures = []
    if out is not None and result.tree is not None:
        pictures.append(result.tree.save(out))
    if plot is not None and result.growth is not None:
        pictures.append(result.growth.plot(plot))
    if not json_:
        print(result.position)
        print()
    show_result(result, json_)
    if not json_ and result.tree is not None and (tree is not None or share is not None):
        from tuplet.cli.draw_tree import show_tree

        print()
        show_tree(result.tree)
    for path in pictures:
        note(f"Drawn: {path}")
    if result.interrupted:
        how_far = result.note.partition(";")[0].partition("\n")[0]
        note(f"Stopped early: what was found by then is kept ({how_far}).")
    return INTERRUPTED if result.interrupted else 0
