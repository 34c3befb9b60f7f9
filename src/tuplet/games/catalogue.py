"""Texts to games: `2048:board=3x3`, `ewn-6x7`, `mine.py:GAME`."""

from __future__ import annotations

from copy import copy
from functools import lru_cache
from typing import Any

from tuplet.errors import UserError
from tuplet.games.ewn.game import GameOfEwn
from tuplet.games.g2048.position import GameOf2048
from tuplet.games.game import same_rules
from tuplet.games.position import Game
from tuplet.system import user_code

GAMES = "2048, ewn, ewn-6x7, 2048:board=3x3, ewn:board=4x4,cubes=3, or file.py:GAME"

# Keys of a record's JSON beside the sides; a saved match has three more.
RECORD_KEYS = ("start", "moves", "rolls", "winner", "kind", "reason", "transcript")
RESERVED = (*RECORD_KEYS, "pair", "pairing", "a")

_own: dict[str, Game] = {}  # games of one's own that were asked for, by name


def game(named: str | Game = "2048") -> Game:
    """The game that a text names, or a game itself.

    `2048` and `ewn` may have settings: `2048:board=3x3,spawn4=0.2`, `ewn:board=4x4,cubes=3`.
    `module:NAME` or `path/to/file.py:NAME` is a game of one's own: its code is run.
    """
    return find_game(named, trusted=True)


def find_game(named: str | Game, *, trusted: bool = False) -> Game:
    """The same for a text of whatever origin: from a file, a network, the clipboard.

    Not `trusted`, it cannot name code: it finds a game of one's own only if that was asked for
    before.
    """
    if isinstance(named, Game):
        if not isinstance(named, GameOf2048 | GameOfEwn):
            _enter(named)
        return named
    if (written := named.replace(" ", "%20")) in _own:  # as `_loaded` writes a path
        return _own[written]
    text = "".join(named.split())
    if _is_built_in(text):
        return _built_in(text)
    if not user_code.names_code(named):
        raise UserError(f"{named!r} is not a game: {GAMES}")
    if not (trusted and user_code.may_trust()):
        raise UserError(
            f"{named} is a game of somebody's own, and must be asked for first: with "
            "tuplet.game in Python, with --game in tuplet show"
        )
    return _enter(_loaded(named))


def is_found(name: str) -> bool:
    """Whether another process finds a game by its name alone."""
    return _is_built_in(name) or user_code.names_code(name.replace("%20", " "))


def _is_built_in(text: str) -> bool:
    return text.partition(":")[0] in ("2048", "ewn") or text == "ewn-6x7"


@lru_cache(maxsize=256)
def _built_in(text: str) -> Game:
    return GameOf2048.of(text) if text.startswith("2048") else GameOfEwn(text)


def _enter(game: Game) -> Game:
    """Note a game of one's own, so that records find it."""
    if _is_built_in(game.name) or any(c.isspace() for c in game.name):
        raise UserError(f"{game.name!r} cannot be the name of a game: take another word")
    taken = [side for side in game.sides if side in RESERVED]
    if taken:
        raise UserError(f"{game.name}: a side cannot be called {taken[0]}, which records use")
    known = _own.get(game.name)
    if known is not None and not _may_replace(game, known):
        raise UserError(f"there is another game called {game.name}: give one of them another name")
    _own[game.name] = game
    return game


def _may_replace(game: Game, known: Game) -> bool:
    """Whether it is the same game, or one whose class was defined anew, as in a notebook."""
    kinds = [(type(each), type(each.rules)) for each in (game, known)]
    if kinds[0] == kinds[1]:
        return same_rules(game.rules, known.rules)
    names = [[(kind.__module__, kind.__qualname__) for kind in pair] for pair in kinds]
    return names[0] == names[1]


def _loaded(text: str) -> Game:
    """A game of somebody's own, called as it was asked for, so that files can name it."""
    found = user_code.find(text.replace("%20", " "), "game", trusted=True)  # `find_game` has asked
    if isinstance(found, type):
        raise UserError(f"{text} is a class: name the game that is made of it")
    if not isinstance(found, Game):
        raise UserError(f"{text} is not a tuplet.Game, but a {type(found).__name__}")
    found = copy(found)
    found.name = text.replace(" ", "%20")
    return found


def parse_position(notation: str) -> Any:
    """A position of the game that is its first word; a notation cannot run code."""
    name = notation.split(maxsplit=1)[0] if notation.strip() else ""
    return find_game(name).parse(notation)
