"""`tuplet eval`: how well does a player play?"""

from __future__ import annotations

import json
import math
import sys
from contextlib import ExitStack, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from tuplet.arena.g2048 import Evaluation
    from tuplet.games.g2048 import Episode


def eval_(
    player: str,
    /,
    *,
    games: int = 1000,
    threads: int = 1,
    seed: int = 0,
    spawn4: float | None = None,
    depth: int | None = None,
    time: float | None = None,
    downgrade: int | None = None,
    environment: str = "random",
    episodes: Path | None = None,
    json_: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Let a player play many games and report its mean score and tiles, with 95 % intervals.

    Parameters
    ----------
    player
        A run folder, a weight file, small (the player that comes with tuplet), random, greedy,
        mcts:sims=100, expectimax:depth=2,values=RUN, or module:Class for a player of your own.
    games
        How many games.
    threads
        Threads to use; the result is the same for any number.
    seed
        The same seed gives the same games.
    spawn4
        The share of new tiles that are fours. [default: as trained, else 0.1]
    depth
        How many of its moves a learned player looks ahead. [default: 1]
    time
        Instead (or at most): seconds a move. The result then depends on the machine.
    downgrade
        From this tile on, large tiles are seen as half of what they are: 32768 for a player that
        was not trained with it.
    environment
        random, or module:Class for an environment of your own.
    episodes
        Append every game, as a line of text, to this file (plays in Python: slower).
    json_
        Print one JSON object.

    """
    from tuplet.agents import LearnedPlayer, make_environment, make_player
    from tuplet.arena.g2048 import evaluate
    from tuplet.cli.progress import games_progress, tell_if_compiling
    from tuplet.games.g2048 import Board

    tell_if_compiling()
    side = make_player(
        player, seed, depth=depth, time=time, downgrade=downgrade, spawn4=spawn4
    )  # fmt: skip
    own = make_environment(environment, seed) if environment != "random" else None
    if isinstance(side, LearnedPlayer) and (own is not None or episodes is not None):
        side.network.as_board(Board())  # games that are recorded are of 4x4
    with ExitStack() as stack:
        write = None
        if episodes is not None:
            file = stack.enter_context(episodes.open("a", encoding="utf-8"))

            def write(episode: Episode) -> None:
                print(episode, file=file, flush=True)

        watch = stack.enter_context(games_progress(games))
        if json_:  # what a player prints is not the result
            stack.enter_context(redirect_stdout(sys.stderr))
        result = evaluate(
            side, own, games=games, threads=threads, seed=seed, spawn4=spawn4, watch=watch,
            on_episode=write,
        )  # fmt: skip
    early = result.summary.games < games
    if json_:
        print(json.dumps(result.as_json()))
    else:
        _table(player, result)
    if early:
        print(f"Stopped after {result.summary.games:,} of {games:,} games.", file=sys.stderr)
    return 130 if early else 0


def _table(player: str, result: Evaluation) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    summary, (low, high) = result.summary, result.ci95
    console = Console(highlight=False)
    console.print(f"[bold]{escape(player)}[/]  {summary.games:,} games", soft_wrap=True)
    interval = f"  (95 %: {low:,.0f} to {high:,.0f})" if math.isfinite(low) else ""
    console.print(f"mean score  [bold]{summary.mean_score:,.1f}[/]{interval}")
    console.print(
        f"best score  {summary.max_score:,}    {result.mean_moves:,.0f} moves a game    "
        f"{result.moves_per_s:,.0f} moves/s"
    )
    table = Table(box=None, pad_edge=False, padding=(0, 2))
    for name in ("tile", "reached", "95 %", "ended with"):
        table.add_column(name, justify="right")
    for tile, share in summary.reached.items():
        low, high = result.reached_ci95[tile]
        table.add_row(
            str(tile), f"{100 * share:.1f} %", f"{100 * low:.1f} - {100 * high:.1f}",
            f"{100 * summary.ended.get(tile, 0):.1f} %",
        )  # fmt: skip
    console.print(table)
