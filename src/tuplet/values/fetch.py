"""`fetch`: download a player that the wheel leaves out.

The package knows the SHA-256 of the file, so that the place it comes from need not be trusted. It is data, and no
code is run from it.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from tuplet.errors import UserError
from tuplet.system.files import atomic_write
from tuplet.system.progress import Progress, ProgressOption, watching
from tuplet.system.stop import Stop, Stopped
from tuplet.system.tables import Displayable, TextTable
from tuplet.system.version import __version__
from tuplet.values.players import PLACE, STRONG, TRAINING, player_file, strong_digest, user_players_folder

MOST_BYTES = 1 << 27  # of a player's file
TIMEOUT = 30.0  # seconds without an answer
_CHUNK = 1 << 18


@dataclass(frozen=True)
class FetchedPlayer(Displayable):
    """A player's file, downloaded or already there."""

    player: str
    file: Path
    sha256: str
    downloaded: int  # bytes; 0 if the file was there

    def as_json(self) -> dict[str, Any]:
        """The keys that other tools read."""
        fields = {"player": self.player, "file": str(self.file), "sha256": self.sha256}
        return {**fields, "downloaded": self.downloaded}

    def text_tables(self) -> list[TextTable]:
        """Where the file is."""
        how = f"{self.downloaded:,} bytes downloaded" if self.downloaded else "it was there already"
        return [TextTable(f"{self.player} is installed: {self.file} ({how})")]


def fetch(
    player: str = STRONG,
    source: str | None = None,
    *,
    force: bool = False,
    progress: ProgressOption = None,
    stop: Stop | None = None,
) -> FetchedPlayer:
    """Download the file of a player into the user's folder of players, and check its SHA-256.

    `source` is the address of a folder that has the file: https://host/folder has strong.xz. By default it is the
    environment variable TUPLET_PLAYERS. A file that is not the one of this version of tuplet is not kept. With
    `force`, another file of that player is replaced.
    """
    if player != STRONG:
        raise UserError(f"player must be {STRONG}, which the wheel leaves out (got {player!r})")
    digest, file = strong_digest(), player_file(player)
    if file is not None:
        if digest == _digest(file):
            return FetchedPlayer(player, file, digest, 0)
        if not force or file.parent != user_players_folder():
            raise UserError(
                f"{file} is not the {player} of tuplet {__version__}: remove it"
                + (", or add --force to replace it" if file.parent == user_players_folder() else "")
            )
    target = user_players_folder() / f"{player}.xz"
    address = f"{_checked(source or os.environ.get(PLACE), player)}/{target.name}"
    target.parent.mkdir(parents=True, exist_ok=True)
    with watching(progress) as watch, atomic_write(target) as part:
        received, count = hashlib.sha256(), 0
        try:
            with closing(_open(address)) as answer:
                total = answer.length  # None if the server does not say
                while chunk := answer.read(_CHUNK):
                    if stop is not None and stop.is_set():
                        raise Stopped("nothing was kept")
                    count += len(chunk)
                    if count > MOST_BYTES:
                        raise UserError(f"{address} is larger than {MOST_BYTES:,} bytes: it is no player of tuplet")
                    received.update(chunk)
                    part.write(chunk)
                    watch(Progress("bytes", count, total))
            if total is not None and count < total:
                raise ConnectionError(f"the connection ended after {count:,} of {total:,} bytes")
        except (HTTPException, ConnectionError, TimeoutError) as error:
            raise UserError(f"{address} could not be read: {error}; try again") from None
        if received.hexdigest() != digest:
            raise UserError(
                f"{address} is not the {player} of tuplet {__version__} (its SHA-256 is {received.hexdigest()}, not "
                f"{digest}): nothing was kept; fetch it from another place"
            )
    return FetchedPlayer(player, target, digest, count)


def _checked(source: str | None, player: str) -> str:
    """The address of a folder, without a slash at its end."""
    if not source:
        raise UserError(
            f"there is no place to fetch {player} from: give --source, or set {PLACE}, to the address of a folder "
            f"that has {player}.xz; or {TRAINING}"
        )
    try:
        parts = urlsplit(source)
    except ValueError:  # https://[x
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise UserError(f"source must be the address of a folder, such as https://example.org/players (got {source!r})")
    return source.rstrip("/")


def _open(address: str) -> HTTPResponse:
    """The answer of a server; UserError if there is none."""
    try:
        request = Request(address, headers={"User-Agent": f"tuplet/{__version__}"})
        answer: HTTPResponse = urlopen(request, timeout=TIMEOUT)
    except (OSError, ValueError) as error:  # HTTPError and URLError are OSErrors
        raise UserError(f"{address} could not be read: {getattr(error, 'reason', None) or error}") from None
    return answer


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
