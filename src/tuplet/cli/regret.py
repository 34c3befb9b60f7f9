"""`tuplet regret`: how far a player is from perfect play."""

from __future__ import annotations

from pathlib import Path

from tuplet.cli.common import Json, Threads, default_threads, long_call, report_stopped, show_result


def regret(
    player: str,
    /,
    *,
    board: str | None = None,
    table: Path | None = None,
    spawn4: float | None = None,
    games: int | None = None,
    seed: int = 0,
    threads: Threads = None,
    json_: Json = False,
) -> int:
    """Compare a player with perfect play on a small board, move by move.

    The result is exact: it follows every board with its probability. With --games it plays games
    instead and gives 95 % intervals: for players that are slow or random.

    Parameters
    ----------
    player
        A run folder or weight file of a small board, random, greedy, mcts:sims=100, or
        module:Class.
    board
        2x2, 2x3, 3x2, 2x4, 4x2 or 3x3. [default: the network's or the table's, otherwise 2x3]
    table
        The solution saved by tuplet solve --out. [default: solve the board now]
    spawn4
        The probability that a new tile is a 4. [default: the table's, otherwise as trained,
        otherwise 0.1]
    games
        Play this many games instead of computing the exact result.
    seed
        Random seed of these games. The same seed gives the same games.

    Examples
    --------
    tuplet regret greedy
    tuplet regret runs/small-board --table 2x3.table
    tuplet regret mcts:sims=100 --board 2x2 --games 200

    """
    import tuplet

    if threads is None:
        threads = 1 if games is None else default_threads(threads, player)
    with long_call(json_) as call:
        result = tuplet.regret(
            player, board=board, table=table, spawn4=spawn4, games=games, seed=seed, threads=threads, **call
        )
    show_result(result, json_)
    done = result.as_json().get("games", games)
    return report_stopped(done != games, done or 0, games or 0, "games")
