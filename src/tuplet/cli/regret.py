"""`tuplet regret`: how far is a player from perfect play?"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter


def regret(
    player: str,
    /,
    *,
    board: str | None = None,
    table: Path | None = None,
    spawn4: float | None = None,
    games: int | None = None,
    seed: int = 0,
    json_: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> None:
    """Compare a player with perfect play on a small board, move by move.

    Exact: follows the chance of every board. With --games it plays instead, and gives 95 %
    intervals: for players that think long, or decide by chance.

    Parameters
    ----------
    player
        As for eval: a run folder or weight file of a small board, random, greedy, mcts:sims=100,
        or module:Class.
    board
        2x2, 2x3, 3x2, 2x4, 4x2 or 3x3. [default: the network's or the table's, else 2x3]
    table
        The solution that `tuplet solve --out` has kept. [default: solve the board now]
    spawn4
        The share of new tiles that are fours. [default: the table's, else as trained, else 0.1]
    games
        Play this many games instead of computing.
    seed
        The same seed gives the same games.
    json_
        Print one JSON object.

    """
    from tuplet.agents import RandomPlayer, make_player
    from tuplet.agents.g2048 import LearnedPlayer, SearchPlayer
    from tuplet.cli.progress import tell_if_compiling
    from tuplet.cli.solve import solve_progress
    from tuplet.exact import Solution
    from tuplet.exact import solve as solve_exactly
    from tuplet.exact.regret import follow, random_policy, sample

    tell_if_compiling()
    if games is not None and games < 1:
        raise ValueError(f"games must be positive, not {games}")
    side = make_player(player, seed)
    network = side.network if isinstance(side, LearnedPlayer) else None
    if games is None and isinstance(side, SearchPlayer):
        raise ValueError("a search is judged by the games it plays: say how many with --games")
    if table is not None:
        solution = Solution.load(table)
        wrong = board not in (None, solution.size) or spawn4 not in (None, solution.spawn4)
        if wrong:
            raise ValueError(
                f"{table} is the solution of {solution.size} with a share of {solution.spawn4:g} "
                "fours: leave out --board and --spawn4"
            )
    else:
        size = board or ("x".join(map(str, network.size)) if network else "2x3")
        share = spawn4 if spawn4 is not None else network.spawn4 if network else 0.1
        with solve_progress() as watch:
            solution = solve_exactly(size, spawn4=share, watch=watch)
    if isinstance(side, SearchPlayer):
        side.spawn4 = solution.spawn4
    elif isinstance(side, LearnedPlayer):
        side = replace(side, spawn4=solution.spawn4)
    report: dict[str, Any] = {"board": solution.size, "spawn4": solution.spawn4}
    if games is None:
        tell = _teller("states followed")
        if isinstance(side, LearnedPlayer) and side.greedy:
            found = follow(solution, side.network, tell)
        elif isinstance(side, RandomPlayer):
            found = follow(solution, random_policy(solution.rules), tell)
        else:
            found = follow(solution, side, tell)
        report |= {"optimal_score": solution.expected_score, **found.as_json()}
    else:
        report |= {"optimal_score": solution.expected_score}
        report |= _judge(sample(solution, side, games=games, seed=seed, watch=_teller("games")))
    if json_:
        print(json.dumps(report))
    else:
        _table(player, report)


def _teller(what: str) -> Callable[[int], None]:
    """Says every ten seconds, on standard error, how many there are."""
    due = time.perf_counter() + 5

    def tell(count: int) -> None:
        nonlocal due
        if time.perf_counter() > due:
            due = time.perf_counter() + 10
            print(f"{count:,} {what}", file=sys.stderr, flush=True)

    return tell


def _judge(played: Any) -> dict[str, Any]:
    """Means of games that were played, with intervals."""
    from statistics import fmean

    from tuplet.arena.intervals import mean_interval

    def interval(values: list[float]) -> list[float] | None:
        return list(mean_interval(values)) if len(values) > 1 else None

    return {
        "games": len(played.scores),
        "score": fmean(played.scores),
        "ci95": interval(played.scores),
        "regret": fmean(played.regrets),
        "regret_ci95": interval(played.regrets),
        "optimal": sum(played.optimal) / max(sum(played.moves), 1),
        "moves": fmean(played.moves),
    }


def _table(player: str, report: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.markup import escape

    def behind(key: str) -> str:
        return "" if not report.get(key) else "  (95 %: {:,.3f} to {:,.3f})".format(*report[key])

    console = Console(highlight=False)
    how = (
        f"{report['games']:,} games" if "games" in report else f"exact, {report['states']:,} states"
    )
    console.print(
        f"[bold]{escape(player)}[/] on {report['board']}, fours {100 * report['spawn4']:g} %"
        f"  ({how})",
        soft_wrap=True,
    )
    console.print(f"score          [bold]{report['score']:,.6f}[/]{behind('ci95')}")
    console.print(f"optimal play   {report['optimal_score']:,.6f}")
    console.print(f"regret a game  {report['regret']:,.6f}{behind('regret_ci95')}")
    console.print(
        f"optimal moves  {100 * report['optimal']:.3f} % of {report['moves']:,.1f} a game"
    )
