"""The players that come with tuplet, by name: where the file of each is, or what makes it.

`small` is in the wheel. `strong` is too large for that: the repository has it, `make strong` makes
it again, and whoever has only a wheel may put its file into a folder of their own.
"""

from __future__ import annotations

import warnings
from pathlib import Path

from platformdirs import user_data_path

from tuplet.values.packed import packed_notes

PACKAGE = Path(__file__).resolve().parent.parent
PLAYERS = PACKAGE / "players"  # shipped with the package, packed
DEFAULT_PLAYER = "small"  # the one to take where none is named: `make player` trains it
STRONG = "strong"  # `make strong` does
MINUTES = 30  # that it learns, on two cores

ABOUT = {
    DEFAULT_PLAYER: "The player that comes with tuplet: learned values.",
    STRONG: "The strong player that comes with tuplet's repository: learned values.",
}


def user_players_folder() -> Path:
    """The folder of one's own where the players are looked for that the package lacks."""
    return user_data_path("tuplet", appauthor=False) / "players"


def is_bundled(name: str | Path) -> bool:
    """Whether a player of this name comes with tuplet (and no file of that name is here)."""
    return str(name) in ABOUT and not Path(name).exists()


def installed_players() -> dict[str, str]:
    """The players whose files are here, and what they are."""
    here = {}
    for name, about in ABOUT.items():
        file = _file_of(name)
        if file is not None:
            games = packed_notes(file).get("games", "")
            here[name] = f"{about[:-1]}, of {int(games):,} games." if games.isdecimal() else about
    return here


def find_player(name: str | Path) -> Path | None:
    """The packed file of a player that comes with tuplet; None if the name means something else.

    Raises FileNotFoundError, with what makes it, if it is not here.
    """
    if str(name) not in ABOUT:
        return None
    path, found = Path(name), _file_of(str(name))
    if path.exists():
        if found is not None:
            what = "folder" if path.is_dir() else "file"
            warnings.warn(
                f"there is a {what} {path} here: it is taken, not the player that comes with tuplet", stacklevel=3
            )
        return None
    if found is None:
        raise FileNotFoundError(f"the player {path} is not here: {_remedy(str(name))}")
    return found


def _file_of(name: str) -> Path | None:
    places = (folder / f"{name}.xz" for folder in (PLAYERS, user_players_folder()))
    return next((path for path in places if path.is_file()), None)


def _remedy(name: str) -> str:
    if name != STRONG:
        return "install tuplet again"
    if (PACKAGE.parent.parent / "Makefile").is_file():  # a clone of the repository
        return f"`make strong` makes it ({MINUTES} minutes)"
    return (
        f"`tuplet train --recipe strong --budget {MINUTES}m --out strong` makes it ({MINUTES} "
        f"minutes), or put the repository's src/tuplet/players/strong.xz into {user_players_folder()}"
    )
