"""`tuplet analyze`: what is each move worth on my board, and why?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

if TYPE_CHECKING:
    from tuplet.games.g2048 import Board
    from tuplet.values.network import Network


def analyze(
    game: Literal["2048"],
    board: str,
    /,
    *,
    agent: str | None = None,
    depth: int | None = None,
    time: float | None = None,
    downgrade: int | None = None,
    json_: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> None:
    """Show the value of all four moves on a board, and which tuples it comes from.

    Parameters
    ----------
    game
        2048.
    board
        Sixteen tiles row by row, 0 for empty: "2,0,0,4, 0,0,8,2, ..." (fewer on the smaller board
        of the agent).
    agent
        A run folder, a weight file, or the table of an exact solution. [default: small, the player
        that comes with tuplet]
    depth
        How many moves to look ahead. [default: 1]
    time
        Instead (or at most): seconds to think.
    downgrade
        From this tile on, large tiles are seen as half of what they are.
    json_
        Print one JSON object.

    """
    from tuplet.agents import LearnedPlayer
    from tuplet.cli.progress import tell_if_compiling
    from tuplet.exact.solution import Solution, is_solution
    from tuplet.formats.weights import SHIPPED
    from tuplet.values.network import Network, best_of

    tell_if_compiling()
    agent = agent or SHIPPED
    source: Solution | Network
    player: Solution | LearnedPlayer
    if Path(agent).is_file() and is_solution(agent):
        if not depth is time is downgrade is None:
            raise ValueError("an exact value needs no --depth, --time or --downgrade: leave it out")
        player = source = Solution.load(agent)
    else:
        source = Network.load(agent)
        player = LearnedPlayer(source, depth=depth, time=time, downgrade=downgrade)
    position = source.as_board(board)
    moves = player.moves(position)
    best = best_of(moves)
    if json_:
        report: dict[str, object] = {"best": best, "moves": [move._asdict() for move in moves]}
        if isinstance(player, LearnedPlayer):
            report["depth"] = player.reached
        print(json.dumps(report))
        return

    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    console.print(str(position))
    if best is None:
        console.print("No move is legal: the game is over.")
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2))
    table.add_column("move")
    for name in ("reward", "value", "behind"):
        table.add_column(name, justify="right")
    top = max(move.value for move in moves if move.value is not None)
    for move in moves:
        style = "bold green" if move.move == best else "" if move.legal else "dim"
        if move.value is None:
            table.add_row(move.move, "-", "illegal", "", style=style)
        else:
            behind = "best" if move.move == best else f"{move.value - top:,.1f}"
            table.add_row(move.move, str(move.reward), f"{move.value:,.1f}", behind, style=style)
    console.print()
    console.print(table)
    if isinstance(source, Solution):
        console.print("\nExact: reward + what optimal play will score.")
    elif isinstance(player, LearnedPlayer) and player.depth != 1:
        ahead = "1 move" if player.reached == 1 else f"{player.reached} moves"
        console.print(f"\n{ahead} ahead, over every tile that may appear.")
    else:
        console.print(f"\nWhy: value = reward + what each tuple says of the {_kind(source)}")
        _why(console, source, position, best, downgrade)


def _kind(net: Network) -> str:
    return "after-state" if net.target == "afterstate" else "states the spawn can make"


def _why(console: object, net: Network, board: Board, best: str, downgrade: int | None) -> None:
    """A table of tuples by legal moves: what each tuple adds, summed over its placements."""
    from rich.console import Console
    from rich.table import Table

    from tuplet.values.downgrade import downgraded

    assert isinstance(console, Console)
    after = board.after_states()
    table = Table(box=None, pad_edge=False, padding=(0, 2))
    table.add_column("tuple")
    for move in after:
        table.add_column(move, justify="right", style="bold green" if move == best else "")
    shares = {
        move: _contributions(net, downgraded(slid, downgrade)) for move, (slid, _) in after.items()
    }
    for name in next(iter(shares.values())):
        table.add_row(name, *(f"{net.gamma * shares[move][name]:,.1f}" for move in after))
    table.add_row("reward", *(f"{reward:,}" for _, reward in after.values()))
    console.print(table)


def _contributions(net: Network, after: Board) -> dict[str, float]:
    """What each tuple adds to the value of an after-state."""
    if net.target == "afterstate":
        return {part.cells: part.value for part in net.explain(after)}
    expected: dict[str, float] = {}
    for state, chance in after.spawns(net.spawn4):
        for part in net.explain(state):
            worth = 0.0 if state.over else chance * part.value
            expected[part.cells] = expected.get(part.cells, 0.0) + worth
    return expected
