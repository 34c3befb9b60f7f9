"""Games of 2048 as an `Episode` and as a `Record`: the same game, told in two ways.

An episode has every tile from the empty board on. A record, as of any game, begins at a position,
which may be any board with points on it already.
"""

from __future__ import annotations

from tuplet.errors import UserError
from tuplet.games.g2048.board import Board
from tuplet.games.g2048.episode import Episode, Slide
from tuplet.games.g2048.game import Game2048
from tuplet.games.g2048.position import Position2048
from tuplet.games.record import Record


def record_of(episode: Episode, held: Game2048) -> Record:
    """An episode as a record: it begins with the first two tiles placed.

    ValueError if a tile appears that is no 2 or 4, or out of turn.
    """
    steps = list(episode.replay())
    start = steps[2][0] if len(steps) > 2 else episode.board
    record = Record((episode.slider,), held.position(start))
    for _, action in steps[2:]:
        if isinstance(action, Slide):
            record.play(action.move)
        else:
            record.roll(f"{action.tile}@{action.cell}")
    return record


def episode_of(record: Record) -> Episode:
    """A record as an episode; ValueError if it is one of another game."""
    start = record.start
    if not isinstance(start, Position2048):
        raise UserError(f"this is a game of {start.game.name}, not of 2048")
    (name,) = record.names
    if is_first(start):
        episode = Episode(name, "random", Board(rows=start.rows, columns=start.columns))
        for cell, tile in placed(start.board):
            episode.place(cell, tile)
    else:
        episode = Episode(name, "random", Board(start))
        episode.score = start.score
    rolls, position = iter(record.rolls), start
    for move in (*record.moves, None):
        while position.tile_due and (outcome := next(rolls, None)) is not None:
            what, _, where = outcome.partition("@")
            episode.place(int(where), int(what))
            position = position.apply_outcome(outcome)
        if move is not None:
            episode.slide(move)
            position = position.play(move)
    episode.opened_ms = episode.closed_ms = 0  # nobody noted the time
    if episode.actions and isinstance(episode.actions[-1], Slide):
        episode.winner = episode.slider
    return episode


def is_first(start: Position2048) -> bool:
    """Whether a game begins so: with two tiles, and no points."""
    tiles = [tile for _, tile in placed(start.board)]
    return len(tiles) == 2 and not start.score and not start.tile_due and max(tiles) <= 4


def placed(board: Board) -> list[tuple[int, int]]:
    """The cells of a board that are not empty, and their tiles."""
    return [(cell, tile) for cell, tile in enumerate(board.tiles) if tile]
