"""`tuplet solve`: the exact solution of 2048 on a small board."""

from __future__ import annotations

from tuplet.cli.common import Force, Json, Out, Threads, check_writable, default_threads, long_call, note, show_result


def solve(
    game: str,
    /,
    *,
    board: str | None = None,
    spawn4: float | None = None,
    threads: Threads = None,
    out: Out = None,
    force: Force = False,
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
        Number of threads. It does not change the result. [default: all cores]
    out
        Save the table of all values to this file, for tuplet analyze and regret (3x3: 585 MB).

    Examples
    --------
    tuplet solve 2048
    tuplet solve 2048 --board 2x2 --spawn4 0.5
    tuplet solve 2048 --board 3x3 --out 3x3.table

    """
    import tuplet
    from tuplet.games.g2048.game import Game2048

    solved = Game2048.from_spec(game, board or (None if "board=" in game else "2x3"), spawn4)
    check_writable(out, force=force)
    with long_call(json_) as call:
        solution = tuplet.solve(
            (solved.rows, solved.columns), spawn4=solved.spawn4, threads=default_threads(threads), **call
        )
    show_result(solution, json_)
    if out is not None:
        solution.save(out)
        note(f"Saved in {out}.")
