"""The players that come with tuplet, by name.

`small` plays 2048 and is in the wheel, as are learned values for EWN, called by the names of their
games. `strong` is too large for that: the repository has it, `make strong` trains it again, and `tuplet
fetch strong` downloads it into the user's folder of players.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

from platformdirs import user_data_path

from tuplet.values.packed import packed_notes

PACKAGE = Path(__file__).resolve().parent.parent
PLAYERS = PACKAGE / "players"  # packed files
DEFAULT_PLAYER = "small"  # trained by `make player`
STRONG = "strong"  # trained by `make strong`
MINUTES = 30  # of training `strong`, on two cores
TRAINING = f"train it by `tuplet train --recipe strong --budget {MINUTES}m --out strong` ({MINUTES} minutes)"
PLACE = "TUPLET_PLAYERS"  # an environment variable: the address of a folder that has strong.xz

ABOUT = {
    DEFAULT_PLAYER: "The player that comes with tuplet: learned values.",
    STRONG: "The strong player that comes with tuplet's repository: learned values.",
}

VALUES = {  # trained by `make players`
    "ewn": "Learned values for ewn, which come with tuplet.",
    "ewn-6x7": "Learned values for ewn-6x7, which come with tuplet.",
}


def user_players_folder() -> Path:
    """The user's folder of players that the package lacks."""
    return user_data_path("tuplet", appauthor=False) / "players"


def is_bundled(name: str | Path) -> bool:
    """Whether tuplet has a player of this name, and no file of that name is in the way."""
    return str(name) in ABOUT | VALUES and not Path(name).exists()


def installed_players() -> dict[str, str]:
    """The players of 2048 whose files exist, and a sentence about each."""
    players = {}
    for name, about in ABOUT.items():
        file = player_file(name)
        if file is not None:
            games = packed_notes(file).get("games", "")
            players[name] = f"{about[:-1]}, of {int(games):,} games." if games.isdecimal() else about
    return players


def find_player(name: str | Path) -> Path | None:
    """The packed file of a player of tuplet's; None if the name means something else.

    Raises FileNotFoundError, with the command that trains it, if the file is missing.
    """
    if str(name) not in ABOUT | VALUES:
        return None
    path, file = Path(name), player_file(str(name))
    if path.exists():
        if file is not None:
            what = "folder" if path.is_dir() else "file"
            warnings.warn(f"using the {what} {path} here, not the player that comes with tuplet", stacklevel=3)
        return None
    if file is None:
        raise FileNotFoundError(f"the player {path} is not installed: {remedy(str(name))}")
    return file


def bundled_values(game: str) -> Path | None:
    """The file of the learned values that come with tuplet for a game; None if there are none."""
    return player_file(game) if game in VALUES else None


def player_file(name: str) -> Path | None:
    """The packed file of a player, in the package or in the user's folder; None if there is none."""
    places = (folder / f"{name}.xz" for folder in (PLAYERS, user_players_folder()))
    return next((path for path in places if path.is_file()), None)


def strong_digest() -> str:
    """The SHA-256 of this version's `strong`, which `make strong` writes beside it."""
    return (PLAYERS / "strong.sha256").read_text(encoding="ascii").split()[0]


def remedy(name: str) -> str:
    """What installs a player."""
    if name != STRONG:
        return "install tuplet again"
    if (PACKAGE.parent.parent / "Makefile").is_file():  # a clone of the repository
        return f"`make strong` trains it ({MINUTES} minutes)"
    how = (
        "`tuplet fetch strong` downloads it" if os.environ.get(PLACE) else f"set {PLACE}, and run `tuplet fetch strong`"
    )
    return f"{how}, or {TRAINING}"
