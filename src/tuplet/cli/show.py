"""`tuplet show`: a saved match, or one of its games."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tuplet.cli.common import Csv, Force, Html, Json, Out, check_writable, show_result
from tuplet.errors import UserError
from tuplet.system.text import sanitize

if TYPE_CHECKING:
    from tuplet.games.record import Record


def show(
    file: Path,
    /,
    *,
    number: int | None = None,
    ply: int | None = None,
    game: str | None = None,
    out: Out = None,
    html: Html = None,
    csv: Csv = None,
    force: Force = False,
    json_: Json = False,
) -> None:
    """Show a saved match or tournament, or replay one of its games.

    Parameters
    ----------
    file
        A file that --out of tuplet match, tournament or play wrote.
    number
        Replay the game with this number, plural from 1.
    ply
        Only show the position after this many moves of the game.
    game
        The game, if it is your own, as the file names it: path/to/file.py:GAME. (A saved file alone
        never runs code.)
    out
        Draw that position (without --ply, the last one) to this SVG file instead.
    csv
        Write a table to this file. For a match: its games. For a tournament: ratings and scores,
        and beside it the games (table.csv and table-games.csv).

    Examples
    --------
    tuplet show games.jsonl
    tuplet show games.jsonl --number 1 --ply 12 --out position.svg
    tuplet show games.jsonl --html table.html --csv table.csv

    """
    from tuplet.arena.match_file import load, load_game
    from tuplet.arena.page import Reports
    from tuplet.games.registry import game as game_of

    if game is not None:
        game_of(game)
    if number is None and (ply is not None or out is not None):
        raise UserError("--ply and --out need a game of the file: add --number")
    if number is not None and (html is not None or csv is not None):
        raise UserError("--html and --csv are for the whole file: leave out --number")
    check_writable(out, html, csv, force=force)
    if number is not None:
        record = load_game(file, number)
        if out is not None:
            out.write_text(_svg(record, ply), encoding="utf-8")
        elif json_:
            print(json.dumps(record.as_json()))
        elif ply is not None:
            print(sanitize(str(_after(record, ply)[0])))
        else:
            _replay(record, number)
        return
    reports = Reports(html, csv)
    result = load(file)
    reports.write(result, file)
    show_result(result, json_)
    if result.interrupted and not json_:
        print(f"The {type(result).__name__.lower()} is not finished.")


def _replay(record: Record, number: int) -> None:
    """Print every position with the move made on it."""
    players = " - ".join(f"{record.name(side)} ({side})" for side in record.sides)
    print(sanitize(f"Game {number:,}: {players}, {record.start.game.name}"))
    for count, (position, move) in enumerate(record.replay(), 1):
        target = position.target(move) if hasattr(position, "target") else None
        to = f" to row {target[0] + 1}, column {target[1] + 1}" if target is not None else ""
        print(sanitize(f"\n{position}\n{count:>3}. {position.turn} plays {move}{to}"))
    print(sanitize(f"\n{record.position}"))
    if record.reason:
        loser = next(side for side in record.sides if side != record.winner)
        print(sanitize(f"{record.winner} has won: {loser} forfeits ({record.termination}): {record.reason}"))


def _after(record: Record, ply: int | None) -> tuple[Any, Any, str]:
    """The position after `ply` moves (None: all), the one before, and the move between them."""
    from tuplet.system.tables import plural

    ply = len(record.moves) if ply is None else ply
    if not 0 <= ply <= len(record.moves):
        raise UserError(f"this game has {plural(len(record.moves), 'move')}, not {ply}")
    steps = list(record.replay())
    position = steps[ply][0] if ply < len(steps) else record.position
    return (position, *steps[ply - 1]) if ply else (position, None, "")


def _svg(record: Record, ply: int | None) -> str:
    from tuplet.games.ewn import EwnPosition
    from tuplet.games.ewn.drawing import position_svg

    position, before, move = _after(record, ply)
    if not isinstance(position, EwnPosition):
        return str(position._repr_svg_())
    cube = before.cubes.get((before.turn, int(move[0]))) if move[:1].isdigit() else None
    return position_svg(position, cube)
