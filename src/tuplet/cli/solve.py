"""`tuplet solve`: the exact solution of 2048 on a small board."""

from __future__ import annotations

import sys
from pathlib import Path

from tuplet.cli.common import Json, show_result, working
from tuplet.errors import UserError


def solve(
    game: str,
    /,
    *,
    board: str | None = None,
    spawn4: float | None = None,
    threads: int = 1,
    out: Path | None = None,
    json_: Json = False,
) -> None:
    """Solve 2048 on a small board exactly: the expected score of perfect and of random play.

    3x3 needs 1.4 GB of memory and half a minute on two threads; the other boards take seconds.

    Parameters
    ----------
    game
        2048, or 2048:board=2x3,spawn4=0.2.
    board
        2x2, 2x3, 3x2, 2x4, 4x2 or 3x3. [default: 2x3]
    spawn4
        The probability that a new tile is a 4. [default: 0.1]
    threads
        Number of threads. It does not change the result.
    out
        Save the table of all values to this file, for tuplet analyze and regret (3x3: 585 MB).

    """
    import tuplet
    from tuplet.games.g2048.position import GameOf2048

    held = GameOf2048.of(game, board or (None if "board=" in game else "2x3"), spawn4)
    if out is not None and (out.is_dir() or not out.parent.is_dir()):
        what = "it is a folder" if out.is_dir() else f"there is no folder {out.parent}"
        raise UserError(f"cannot write {out}: {what}; name a file with --out")
    with working(quiet=json_) as work:
        solution = tuplet.solve((held.rows, held.columns), spawn4=held.spawn4, threads=threads, **work._asdict())
    show_result(solution, json_)
    if out is not None:
        solution.save(out)
        print(f"Saved in {out}.", file=sys.stderr)
