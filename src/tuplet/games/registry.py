"""Names of games: `2048:board=3x3`, `ewn-6x7`, `mine.py:GAME`."""

from __future__ import annotations

from copy import copy
from functools import lru_cache
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from tuplet.errors import UserError
from tuplet.games.protocol import same_rules
from tuplet.system import user_code

if TYPE_CHECKING:
    from tuplet.games.game import Game

# Where the game of each name is made; settings follow a colon. They are imported when they are needed.
BUILT_IN = {
    "2048": ("tuplet.games.g2048.game", "Game2048.from_spec"),
    "ewn": ("tuplet.games.ewn.game", "EwnGame"),
    "ewn-6x7": ("tuplet.games.ewn.game", "EwnGame"),
}
EXAMPLES = "2048, ewn, ewn-6x7, 2048:board=3x3, ewn:board=4x4,cubes=3, or file.py:GAME"

# Keys of a record's JSON beside the sides; a saved match has three more.
RECORD_KEYS = ("start", "moves", "rolls", "winner", "kind", "reason", "transcript")
RESERVED = (*RECORD_KEYS, "pair", "pairing", "a")

_own: dict[str, Game] = {}  # the user's games that were loaded or passed in, by name


def game(name: str | Game = "2048") -> Game:
    """The game that a text names, or a game itself.

    `2048` and `ewn` may have settings: `2048:board=3x3,spawn4=0.2`, `ewn:board=4x4,cubes=3`.
    `module:NAME` or `path/to/file.py:NAME` is your own game: its code is run.
    """
    return find_game(name, trusted=True)


def find_game(name: str | Game, *, trusted: bool = False) -> Game:
    """The game that a text names; the text may come from a file, a network or the clipboard.

    A text that is not `trusted` cannot load code: it finds the user's own game only if that was loaded before.
    """
    if not isinstance(name, str):
        is_ours = _is_built_in(name.name) and type(name).__module__.startswith(
            ("tuplet.games.g2048.", "tuplet.games.ewn.")
        )
        return name if is_ours else _enter(name)
    if (written := name.replace(" ", "%20")) in _own:  # as `_load` writes a path
        return _own[written]
    text = "".join(name.split())
    if _is_built_in(text):
        return _built_in(text)
    if not user_code.names_code(name):
        raise UserError(f"{name!r} is not a game: {EXAMPLES}")
    if not (trusted and user_code.may_trust()):
        raise UserError(
            f"{name} is a user's own game and is not loaded: load it with tuplet.game in Python, "
            "or with --game in tuplet show"
        )
    return _enter(_load(name))


def is_found(name: str) -> bool:
    """Whether another process finds a game by its name alone."""
    return _is_built_in(name) or user_code.names_code(name.replace("%20", " "))


def _is_built_in(text: str) -> bool:
    return text.partition(":")[0] in BUILT_IN


@lru_cache(maxsize=256)
def _built_in(text: str) -> Game:
    module, name = BUILT_IN[text.partition(":")[0]]
    return attrgetter(name)(import_module(module))(text)  # type: ignore[no-any-return]


def _enter(game: Game) -> Game:
    """Add a user's own game, so that records find it."""
    if _is_built_in(game.name) or any(c.isspace() for c in game.name):
        raise UserError(f"{game.name!r} cannot be the name of a game: choose another name")
    taken = [side for side in game.sides if side in RESERVED]
    if taken:
        raise UserError(f"{game.name}: a side cannot be called {taken[0]}, because records use that word")
    known = _own.get(game.name)
    if known is not None and not _may_replace(game, known):
        raise UserError(f"there is another game called {game.name}: give one of them another name")
    _own[game.name] = game
    return game


def _may_replace(game: Game, known: Game) -> bool:
    """Whether it is the same game, or its class was defined again, as in a notebook."""
    types = [(type(each), type(each.rules)) for each in (game, known)]
    if types[0] == types[1]:
        return same_rules(game.rules, known.rules)
    names = [[(each.__module__, each.__qualname__) for each in pair] for pair in types]
    return names[0] == names[1]


def _load(text: str) -> Game:
    """A user's own game; its name is the text, so that files can name it."""
    loaded: Any = user_code.find(text.replace("%20", " "), "game", trusted=True)  # `find_game` has checked that
    if isinstance(loaded, type):
        raise UserError(f"{text} is a class: name the game that is made of it")
    if not hasattr(loaded, "initial_position"):
        raise UserError(f"{text} is not a tuplet.Game, but a {type(loaded).__name__}")
    loaded = copy(loaded)
    loaded.name = text.replace(" ", "%20")
    return loaded  # type: ignore[no-any-return]


def parse_position(notation: str) -> Any:
    """A position of the game that is its first word; a notation cannot run code."""
    name = notation.split(maxsplit=1)[0] if notation.strip() else ""
    return find_game(name).parse(notation)
