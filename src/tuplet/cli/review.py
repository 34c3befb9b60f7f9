"""`tuplet review`: where a game went wrong."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from tuplet.agents.lookahead import LookaheadOptions
from tuplet.cli.common import LOOKAHEAD, Json, long_call, show_result, show_tables
from tuplet.cli.options import with_settings
from tuplet.errors import UserError

if TYPE_CHECKING:
    from rich.console import Console

    from tuplet.arena.review import MoveReview, Review
    from tuplet.games.g2048 import Episode
    from tuplet.games.record import Record


@with_settings(LookaheadOptions, LOOKAHEAD, defaults={"depth": "3, unless --time is given"})
def review(
    record: Annotated[str, Parameter(allow_leading_hyphen=True)],  # -
    /,
    *,
    agent: str | None = None,
    number: int = 1,
    top: int = 5,
    json_: Json = False,
    **lookahead: Any,
) -> None:
    """Review a recorded game of 2048: what each move cost, and the costliest moves.

    A move's loss is the value of the best move, found by search, minus the value of the move that
    was played. A move is best (loss 0), good (under 1 % of the score still expected), inaccurate
    (up to 5 %) or a blunder. Accuracy is 100 % if every move was as good as the best, and 0 % if
    the moves gave up as much as random moves would. Luck is what a new tile changed, compared with
    the average over all tiles that could have come. A re-estimate is the judge valuing a board
    differently once the move is made. The score expected at the start, luck, mistakes and
    re-estimates add up to the final score.

    Parameters
    ----------
    record
        A file that tuplet play --out or tuplet eval --out wrote, or a game of 2048verse; a
        single hyphen for standard input; or the text of one game.
    agent
        The judge: a run folder, a weight file, a table of tuplet solve, or a search. [default:
        small, the player that comes with tuplet; on boards of up to six cells, the exact solution]
    number
        The number of the game in the file, counted from 1.
    top
        How many of the costliest moves to show.

    Examples
    --------
    tuplet review games.txt
    tuplet review games.txt --number 2 --agent runs/first --depth 2
    tuplet review games.txt --time 100ms --top 3 --json

    """
    import tuplet

    if top < 0:
        raise UserError(f"--top must be 0 or more (got {top})")
    played = _read(record, number)
    with long_call(json_) as call:
        result = tuplet.review(played, agent, **lookahead, **call)
    if json_:
        show_result(result, True)
    else:
        _show(result, top)


def _read(record: str, number: int) -> Episode | Record:
    """A game of a file, of standard input, or of the text itself."""
    from tuplet.games.formats import read_game

    if record != "-":
        return read_game(record, number)
    try:
        return read_game(sys.stdin.read(), number)
    except UserError as error:
        raise UserError(f"standard input: {error}") from None


def _show(result: Review, top: int) -> None:
    """Totals, what the score is made of, then the costliest moves with boards."""
    from rich.console import Console

    console = Console(highlight=False)
    show_tables(result.text_tables()[:2])
    for move in result.worst(top):
        console.print()
        _moment(console, move)


def _moment(console: Console, move: MoveReview) -> None:
    """The board, and side by side what the best move and the played one make of it."""
    from rich.table import Table
    from rich.text import Text

    from tuplet.cli.draw_2048 import grid

    part = f" ({100 * move.lost_share:.1f} %)"
    word = "  blunder" if move.blunder else ""
    console.print(f"[bold]Move {move.number:,}[/] cost {move.loss:,.1f} points{part}{word}")
    table = Table.grid(padding=(0, 2, 0, 0))
    boards = [move.board, *(move.board.move(name)[0] for name in (move.best, move.played))]
    table.add_row(*(grid(board, 6, edges=False) for board in boards))
    table.add_row(
        "",
        Text(f"best: {move.best}, {move.value:,.1f}", style="green"),
        Text(f"played: {move.played}, {move.played_value:,.1f}", style="red"),
    )
    console.print(table)
