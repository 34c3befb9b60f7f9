"""`tuplet review`: where did a game go wrong?"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from rich.console import Console

    from tuplet.arena.review import Judgement, Review
    from tuplet.games.g2048 import Episode

DEPTH = 3  # where neither depth nor time is given


def review(
    record: Annotated[str, Parameter(allow_leading_hyphen=True)],  # -
    /,
    *,
    agent: str | None = None,
    depth: int | None = None,
    time: float | None = None,
    downgrade: int | None = None,
    game: int = 1,
    top: int = 5,
    json_: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> None:
    """Go through a recorded game of 2048: what each move cost, and the moments that cost most.

    A move's loss is the value of the best move by search less that of the one that was played.
    A blunder costs more than 5 % of all that was still to be won.

    Parameters
    ----------
    record
        What tuplet play --save or tuplet eval --episodes has written; - for standard input; or a
        game's line of text itself.
    agent
        Who judges: a run folder or a weight file. [default: small, the player that comes with
        tuplet]
    depth
        How many moves to look ahead. [default: 3]
    time
        Instead (or at most): seconds a move.
    downgrade
        From this tile on, large tiles are seen as half of what they are.
    game
        Which game of the record, counted from 1.
    top
        How many of the costliest moves to show.
    json_
        Print one JSON object, with all moves.

    """
    from tuplet.agents import LearnedPlayer, make_player
    from tuplet.arena import review as reviews
    from tuplet.cli.progress import games_progress, tell_if_compiling
    from tuplet.formats.weights import SHIPPED

    if top < 0:
        raise ValueError(f"the costliest moves to show are 0 or more, not {top}")
    agent = agent or SHIPPED
    episode = _episode(record, game)
    tell_if_compiling()
    depth = DEPTH if depth is None and time is None else depth
    player = make_player(agent, depth=depth, time=time, downgrade=downgrade)
    assert isinstance(player, LearnedPlayer)  # others have no depth
    with games_progress(len(episode.slides), "moves") as watch:
        result = reviews.review(episode, player, watch)
    if json_:
        print(json.dumps(result.as_json()))
    else:
        how = f"{time:g} s a move" if time is not None else f"{depth} moves ahead"
        _show(result, f"{agent}, {'1 move ahead' if depth == 1 else how}", top)


def _episode(record: str, game: int) -> Episode:
    """Game number `game` of a file, of standard input, or of the text itself."""
    from tuplet.games.g2048 import Episode

    where = record
    if record == "-":
        where, text = "standard input", sys.stdin.read()
    elif "|" in record:
        where, text = "the record", record
    else:
        text = Path(record).read_text(encoding="utf-8", errors="replace")
    lines = [line for line in text.splitlines() if line.strip()]
    if not 1 <= game <= len(lines):
        count = f"{len(lines):,} game{'s' if len(lines) != 1 else ''}"
        raise ValueError(f"{where} has {count}: there is no game {game}")
    try:
        return Episode.parse(lines[game - 1])
    except ValueError as error:
        raise ValueError(f"{where}, game {game}: {error}") from None


def _show(result: Review, judge: str, top: int) -> None:
    """Totals, then the costliest moves with boards."""
    from rich.console import Console
    from rich.text import Text

    console, episode = Console(highlight=False), result.episode
    title = Text.assemble((episode.slider, "bold"), f"  score {episode.score:,}   ")
    title.append(f"{len(result.moves):,} moves   largest tile {episode.board.largest}")
    console.print(title, soft_wrap=True)
    console.print(Text(f"judged by {judge}", style="dim"), soft_wrap=True)
    console.print(
        f"best moves [bold]{100 * result.best_share:.1f} %[/]   "
        f"mean loss [bold]{result.mean_loss:,.1f}[/] points a move   "
        f"blunders [bold]{result.blunders:,}[/]"
    )
    for move in result.worst(top):
        console.print()
        _moment(console, move)


def _moment(console: Console, move: Judgement) -> None:
    """The board, and side by side what the best move and the played one make of it."""
    from rich.table import Table
    from rich.text import Text

    from tuplet.cli.draw_2048 import grid

    part = f" ({100 * move.loss / abs(move.value):.1f} %)" if move.value else ""
    word = "  blunder" if move.blunder else ""
    console.print(f"[bold]Move {move.number:,}[/] cost {move.loss:,.1f} points{part}{word}")
    table = Table.grid(padding=(0, 2, 0, 0))
    boards = [move.board, *(move.board.move(name)[0] for name in (move.best, move.played))]
    table.add_row(*(grid(board, 6, edges=False) for board in boards))
    table.add_row(
        "", Text(f"best: {move.best}, {move.value:,.1f}", style="green"),
        Text(f"played: {move.played}, {move.played_value:,.1f}", style="red"),
    )  # fmt: skip
    console.print(table)
