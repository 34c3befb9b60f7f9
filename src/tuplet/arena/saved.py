"""Matches in files: a line of settings, then a line for each game, in order.

    {"tuplet": "0.1.0", "kind": "match", "game": "ewn", "agents": ["hard", "easy"], ...}
    {"pair": 0, "a": "red", "red": "hard", "blue": "easy", "start": "ewn r3r1...", ...}

A game is its `Record` with the number of its pair (and of its pairing, in a tournament) and the
side of A. Lines are only ever added: whatever ends a match early, every line but the last is
whole, and the match goes on from there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from tuplet.agents.settings import settings_by_name
from tuplet.arena.results import Match, Played, Tournament, place_of
from tuplet.arena.sprt import Sprt
from tuplet.games.catalogue import game as game_of
from tuplet.games.position import Game
from tuplet.games.record import FORFEITS, Record
from tuplet.system.files import hold
from tuplet.system.version import __version__

Header = dict[str, Any]  # the first line


class GameFile:
    """The file of a match under way, held so that no other process adds to it.

    `played` are the games it had before.
    """

    def __init__(self, path: Path, settings: Header, game: Game) -> None:
        self.path, self.settings, self.game = path, settings, game
        self.pairings = _pairings(settings)
        self.played: list[Played] = []

    def __enter__(self) -> GameFile:
        if self.path.exists() and not self.path.is_file():
            raise ValueError(f"{self.path} is not a file that games can be saved in")
        self._file = self.path.open("a+b")
        try:
            where = f"{self.path}: wait for it, or choose another file"
            hold(self._file, f"another process is saving games in {where}")
            self._read()
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._file.close()

    def add(self, number: int, record: Record) -> None:
        """Write a finished game."""
        at = place_of(number, self.pairings)
        line: Header = {"pairing": at.pairing} if self.pairings > 1 else {}
        line |= {"pair": at.pair, "a": self.game.sides[at.game], **record.as_json()}
        self._write(line)

    def _write(self, line: Header) -> None:
        self._file.write(json.dumps(line).encode() + b"\n")
        self._file.flush()

    def _read(self) -> None:
        self._file.seek(0)
        first = self._file.readline()
        if not first.endswith(b"\n"):
            # Nothing, or settings that were cut off while they were written.
            if not (json.dumps(self.settings).encode() + b"\n").startswith(first):
                raise ValueError(f"{self.path} is not a saved match: choose another file")
            self._file.truncate(0)
            self._write(self.settings)
            return
        saved = _settings(self.path, first)
        _check_same(self.path, saved, self.settings)
        end = len(first)
        for line in _lines(self._file):
            if not _asks_for_more(line, saved):
                number = len(self.played)
                self.played.append(_played(self.path, number, line, self.pairings, self.game))
            end += len(line)
        self._file.truncate(end)
        self._file.seek(end)
        if self.settings["games"] > saved["games"]:
            self._write({"games": self.settings["games"]})


def load(path: str | Path) -> Match | Tournament:
    """The result of a saved match or tournament."""
    path = Path(path)
    with path.open("rb") as file:
        first = file.readline()
        if _is_record(first):
            raise ValueError(f"{path} holds single games: --game 1 replays the first")
        settings = _settings(path, first)
        pairings = _pairings(settings)
        lines = [line for line in _lines(file) if not _asks_for_more(line, settings)]
    held = game_of(settings["game"], trusted=False)
    played = [_played(path, n, line, pairings, held) for n, line in enumerate(lines)]
    agents, game, seed = settings["agents"], settings["game"], settings["seed"]
    asked = settings["games"] + settings["games"] % 2
    # What is not named there are the defaults of the version that played.
    known = settings.get("tuplet") == __version__
    full = [settings_by_name(agent, held) for agent in agents] if known else []
    if settings["kind"] == "tournament":
        interrupted = len(played) < asked * pairings
        tournament = Tournament.of(agents, game, seed, asked, played, interrupted, held.kinds, full)
        if tournament.matches:
            return tournament
    elif len(played) > 1:
        test = Sprt(*settings["sprt"]) if settings.get("sprt") else None
        played = played[: len(played) // 2 * 2]
        match = Match(
            agents[0], agents[1], game, seed, asked, played, test, endings=held.kinds, settings=full
        )
        return replace(match, interrupted=match.games < asked and match.decision is None)
    raise ValueError(f"{path} has no finished pair of games yet")


def load_game(path: str | Path, number: int) -> Record:
    """Game `number` of a file, counted from 1: a saved match, or what `tuplet play` saves."""
    path = Path(path)
    with path.open("rb") as file:
        first = file.readline()
        if _is_record(first):
            settings: Header = {}
            file.seek(0)
        else:
            settings = _settings(path, first)
        games = (line for line in _lines(file) if not _asks_for_more(line, settings))
        count = 0
        for count, line in enumerate(games, 1):
            if count == number:
                try:
                    return Record.parse(line.decode())
                except (ValueError, TypeError) as error:
                    raise ValueError(f"{path}: game {count}: {error}") from None
    if not count:
        raise ValueError(f"{path} has no games yet")
    raise ValueError(f"{path} has games 1 to {count:,}, not {number:,}")


def _is_record(line: bytes) -> bool:
    """Whether a line is a game, and not the settings of a match."""
    try:
        return "start" in json.loads(line)
    except (ValueError, TypeError, RecursionError):
        return False


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """The whole lines that are left; one that was cut off is dropped."""
    return (line for line in file if line.endswith(b"\n"))


def _asks_for_more(line: bytes, settings: Header) -> bool:
    """Whether a line says that a match is to have more games; notes it in the settings."""
    try:
        more = json.loads(line)
    except (ValueError, RecursionError):
        return False
    if not isinstance(more, dict) or list(more) != ["games"] or not isinstance(more["games"], int):
        return False
    settings["games"] = more["games"]
    return True


def _pairings(settings: Header) -> int:
    agents = len(settings["agents"])
    return agents * (agents - 1) // 2


def _settings(path: Path, line: bytes) -> Header:
    try:
        settings: Header = json.loads(line)
        good = (
            settings["kind"] in ("match", "tournament")
            and isinstance(settings["tuplet"], str)
            and isinstance(settings["game"], str)
            and isinstance(settings["seed"], int)
            and isinstance(settings["games"], int)
            and len(settings["agents"]) >= 2
            and (settings["kind"] == "tournament" or len(settings["agents"]) == 2)
            and all(isinstance(agent, str) for agent in settings["agents"])
            and (not settings.get("sprt") or [*map(type, settings["sprt"])] == [float, float])
        )
    except (ValueError, TypeError, KeyError, RecursionError):
        good = False
    if not good:
        raise ValueError(f"{path} is not a saved match or tournament")
    return settings


def _check_same(path: Path, old: Header, new: Header) -> None:
    for name in [*new, *old]:
        if name != "games" and old.get(name) != new.get(name):
            what = {"tuplet": "tuplet's version", "sprt": "test", "rules": "game's code"}.get(
                name, name
            )
            raise ValueError(
                f"{path} holds another {old['kind']}: its {what} is {_shown(old.get(name))}, not "
                f"{_shown(new.get(name))}; choose another file"
            )


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "none" if value is None else str(value)


def _played(path: Path, number: int, line: bytes, pairings: int, held: Game) -> Played:
    """What is counted of a line; the moves are not played again. Without a winner, it is a draw."""
    at, sides = place_of(number, pairings), (held.sides[0], held.sides[1])
    try:
        game = json.loads(line)
        place = (game.get("pairing", 0), game["pair"], game["a"])
        winner, kind = game.get("winner"), game["kind"]
        moves, reason = game.get("moves", []), game.get("reason", "")
        good = (
            place == (at.pairing, at.pair, sides[at.game])
            and (winner in sides or (winner is None and held.has_draws and kind not in FORFEITS))
            and kind in (*held.kinds, *FORFEITS)
            and isinstance(moves, list)
            and isinstance(reason, str)
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        good = False
    if not good:
        raise ValueError(f"{path}: line {number + 2} is not game {number + 1} of the match")
    return Played.won_by(winner, sides, at.game, kind, len(moves), reason)
