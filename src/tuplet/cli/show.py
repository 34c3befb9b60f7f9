"""`tuplet show`: a saved match once more, or one of its games."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tuplet.cli.working import Json, show_result

if TYPE_CHECKING:
    from tuplet.games.ewn import Position, Record


def show(
    file: Path,
    /,
    *,
    game: int | None = None,
    ply: int | None = None,
    svg: Path | None = None,
    json_: Json = False,
) -> None:
    """Show a saved match or tournament, or replay one of its games move by move.

    Parameters
    ----------
    file
        What --save of tuplet match, tournament or play has written.
    game
        Replay the game of this number, counted from 1.
    ply
        Only the position after so many moves of that game.
    svg
        Draw that position (the last, without --ply) to this file instead.

    """
    from tuplet.arena.saved import load, load_game

    if game is None and (ply is not None or svg is not None):
        raise ValueError("which game? --ply and --svg need --game")
    if game is not None:
        record = load_game(file, game)
        if svg is not None:
            svg.write_text(_svg(record, ply), encoding="utf-8")
        elif json_:
            print(record.line)
        elif ply is not None:
            print(_after(record, ply)[0])
        else:
            _replay(record, game)
        return
    result = load(file)
    show_result(result, json_)
    if result.interrupted and not json_:
        print(f"The {type(result).__name__.lower()} is not finished.")


def _replay(record: Record, number: int) -> None:
    """Every position with the move made on it."""
    print(f"Game {number:,}: {record.red} (red) - {record.blue} (blue), {record.start.game}")
    for count, (position, move) in enumerate(record.replay(), 1):
        target = position.target(move)
        to = f" to row {target[0] + 1}, column {target[1] + 1}" if target is not None else ""
        print(f"\n{position}\n{count:>3}. {position.turn} plays {move}{to}")
    print(f"\n{record.position}")
    if record.reason:
        loser = "blue" if record.winner == "red" else "red"
        print(f"{record.winner} has won: {loser} forfeits ({record.kind}): {record.reason}")


def _after(record: Record, ply: int | None) -> tuple[Position, tuple[int, int] | None]:
    """The position after so many moves (None: all), and where the last cube came from."""
    ply = len(record.moves) if ply is None else ply
    if not 0 <= ply <= len(record.moves):
        raise ValueError(f"this game has {len(record.moves)} moves, not {ply}")
    steps = list(record.replay())
    position = steps[ply][0] if ply < len(steps) else record.position
    if ply == 0:
        return position, None
    before, move = steps[ply - 1]
    number = move[0]
    return position, before.cubes.get((before.turn, int(number))) if number.isdigit() else None


def _svg(record: Record, ply: int | None) -> str:
    from tuplet.games.ewn.drawing import position_svg

    return position_svg(*_after(record, ply))
