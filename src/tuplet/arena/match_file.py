"""Matches in files: a line of settings, then a line for each game, in order.

    {"tuplet": "0.1.0", "kind": "match", "game": "ewn", "agents": ["hard", "easy"], ...}
    {"pair": 0, "a": "red", "red": "hard", "blue": "easy", "start": "ewn r3r1...", ...}

A game is its `Record` with the number of its pair (and of its pairing, in a tournament) and the
side of A. Lines are only ever added: whatever ends a match early, every line but the last is
whole, and the match goes on from there.
"""

from __future__ import annotations

import json
import os
import shutil
import warnings
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, NamedTuple

from tuplet.agents.settings import settings_by_name
from tuplet.arena.played import GameResult, slot_of
from tuplet.arena.results import Match, Tournament
from tuplet.arena.sprt import Sprt
from tuplet.errors import UserError
from tuplet.games.catalogue import find_game
from tuplet.games.position import Game
from tuplet.games.record import FORFEITS, Record
from tuplet.system.file_types import describe_file
from tuplet.system.files import MOST_LINE, atomic_write, hold, read_lines
from tuplet.system.tables import plural
from tuplet.system.version import __version__

MOST_AGENTS = 64  # of a tournament

Header = dict[str, Any]  # the first line


class GameFile:
    """The file of a match under way, held so that no other process adds to it.

    `played` are the games it had before. A disk that is full, or a file that somebody deletes, does
    not end the match: what cannot be written waits, and a warning says so.
    """

    def __init__(self, path: Path, settings: Header, game: Game) -> None:
        self.path, self.settings, self.game = path, settings, game
        self.pairings = _pairings(settings)
        self.played: list[GameResult] = []
        self._waiting: deque[bytes] = deque()  # lines to be written
        self._begun = 0  # bytes of the first of them that are in the file
        self._trouble: OSError | None = None

    def __enter__(self) -> GameFile:
        if self.path.exists() and not self.path.is_file():
            raise UserError(f"{self.path} is not a file that games can be saved in")
        self._file = self._opened(self.path)
        try:
            self._read()
            if self._trouble is not None:
                raise self._trouble
        except BaseException:
            self._file.close()
            raise
        return self

    def _opened(self, path: Path) -> BinaryIO:
        file = path.open("a+b")
        try:
            where = f"{path}: wait for it, or choose another file"
            hold(file, f"another process is saving games in {where}")
        except BaseException:
            file.close()
            raise
        return file

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pour()
        if self._waiting:
            with suppress(OSError):  # half a line is none
                self._file.truncate(os.fstat(self._file.fileno()).st_size - self._begun)
            many = plural(len(self._waiting), "game")
            _warn(f"{many} could not be saved in {self.path}: {_why(self._trouble)}")
        self._file.close()

    def add(self, number: int, record: Record) -> None:
        """Write a finished game."""
        at = slot_of(number, self.pairings)
        line: Header = {"pairing": at.pairing} if self.pairings > 1 else {}
        line |= {"pair": at.pair, "a": self.game.sides[at.game], **record.as_json()}
        known = self._trouble is not None
        self._write(line)
        if self._trouble is not None and not known:
            _warn(
                f"games cannot be saved in {self.path} now ({_why(self._trouble)}): they are kept "
                "in memory, and written as soon as that is possible"
            )

    def _write(self, line: Header) -> None:
        self._waiting.append(json.dumps(line).encode() + b"\n")
        self._pour()

    def _pour(self) -> None:
        """Write what waits, as far as that is possible."""
        try:
            if not self._is_in_place():
                self._write_again()
            while self._waiting:
                rest = self._waiting[0][self._begun :]
                self._begun += os.write(self._file.fileno(), rest)
                if self._begun == len(self._waiting[0]):
                    self._waiting.popleft()
                    self._begun = 0
            self._trouble = None
        except OSError as error:
            self._trouble = error

    def _is_in_place(self) -> bool:
        """Whether the file is still the one that its name names."""
        try:
            return os.path.samestat(self.path.stat(), os.fstat(self._file.fileno()))
        except FileNotFoundError:
            return False

    def _write_again(self) -> None:
        """Write all games once more: the file was deleted, moved, or replaced in the middle."""
        path, number = self.path, 1
        while path.exists():  # somebody else's now
            number += 1
            path = self.path.with_stem(f"{self.path.stem}-{number}")
        path.parent.mkdir(parents=True, exist_ok=True)
        os.lseek(self._file.fileno(), 0, os.SEEK_SET)  # it is there as long as it is open
        with open(self._file.fileno(), "rb", closefd=False) as old, atomic_write(path) as new:
            shutil.copyfileobj(old, new)
        file = self._opened(path)
        self._file.close()
        gone = "is gone" if path == self.path else "was replaced by another file"
        _warn(f"{self.path} {gone}: the games so far were written again, to {path}")
        self._file, self.path = file, path

    def _read(self) -> None:
        self._file.seek(0)
        first = self._file.readline(MOST_LINE)
        if not first.endswith(b"\n"):
            # Nothing, or settings that were cut off while they were written.
            if not (json.dumps(self.settings).encode() + b"\n").startswith(first):
                what = describe_file(self.path)
                raise UserError(f"{self.path} is not a saved match, but {what}: choose another")
            self._file.truncate(0)
            self._write(self.settings)
            return
        saved = _settings(self.path, first)
        _check_same(self.path, saved, self.settings)
        end = len(first)
        for line in _lines(self._file, self.path):
            if not _asks_for_more(line, saved):
                number = len(self.played)
                self.played.append(_played(self.path, number, line, self.pairings, self.game))
            end += len(line)
        self._file.truncate(end)
        if self.settings["games"] > saved["games"]:
            self._write({"games": self.settings["games"]})


class Saved(NamedTuple):
    """A file of games: its settings, its game, and its lines, read as they are asked for."""

    path: Path
    settings: Header
    game: Game

    @classmethod
    def open(cls, path: Path) -> Saved:
        """Read the settings; ValueError if it is no saved match or tournament."""
        with path.open("rb") as file:
            settings = _settings(path, file.readline())
        return cls(path, settings, _game(path, settings))

    def lines(self) -> Iterator[Header]:
        """Each game as JSON; a last pair that is not finished is left out."""
        pairings, held = _pairings(self.settings), None
        with self.path.open("rb") as file:
            file.readline()
            lines, settings = _lines(file, self.path), dict(self.settings)
            games = (line for line in lines if not _asks_for_more(line, settings))
            for number, line in enumerate(games):
                _played(self.path, number, line, pairings, self.game)
                if number % 2:
                    assert held is not None
                    yield held
                    yield json.loads(line)
                held = json.loads(line)


def load(path: str | Path) -> Match | Tournament:
    """The result of a saved match or tournament."""
    path = Path(path)
    with _opened(path) as file:
        first = file.readline(MOST_LINE)
        if _is_record(first):
            raise UserError(f"{path} holds single games: --game 1 replays the first")
        settings = _settings(path, first)
        pairings = _pairings(settings)
        lines = [line for line in _lines(file, path) if not _asks_for_more(line, settings)]
    held = _game(path, settings)
    played = [_played(path, n, line, pairings, held) for n, line in enumerate(lines)]
    agents, game, seed = settings["agents"], settings["game"], settings["seed"]
    planned = settings["games"] + settings["games"] % 2
    # What is not named there are the defaults of the version that played.
    known = settings.get("tuplet") == __version__
    full = [settings_by_name(agent, held) for agent in agents] if known else []
    if settings["kind"] == "tournament":
        interrupted = len(played) < planned * pairings
        tournament = Tournament.of(agents, game, seed, planned, played, interrupted, held.kinds, full)
        if tournament.matches:
            return tournament
    elif len(played) > 1:
        test = Sprt(*settings["sprt"]) if settings.get("sprt") else None
        played = played[: len(played) // 2 * 2]
        match = Match(agents[0], agents[1], game, seed, planned, played, test, endings=held.kinds, settings=full)
        return replace(match, interrupted=match.games < planned and match.decision is None)
    raise UserError(f"{path} has no finished pair of games yet")


def load_game(path: str | Path, number: int) -> Record:
    """Game `number` of a file, counted from 1: a saved match, or what `tuplet play` saves."""
    path = Path(path)
    with _opened(path) as file:
        first = file.readline(MOST_LINE)
        if _is_record(first):
            settings: Header = {}
            file.seek(0)
        else:
            settings = _settings(path, first)
        games = (line for line in _lines(file, path) if not _asks_for_more(line, settings))
        count = 0
        for count, line in enumerate(games, 1):
            if count == number:
                try:
                    return Record.parse(line.decode())
                except (ValueError, TypeError) as error:
                    raise UserError(f"{path}: game {count}: {error}") from None
    if not count:
        raise UserError(f"{path} has no games yet")
    raise UserError(f"{path} has games 1 to {count:,}, not {number:,}")


def _opened(path: Path) -> BinaryIO:
    if path.is_dir():
        raise UserError(f"{path} is {describe_file(path)}, and not a saved match")
    return path.open("rb")


def _is_record(line: bytes) -> bool:
    """Whether a line is a game, and not the settings of a match."""
    try:
        return "start" in json.loads(line)
    except (ValueError, TypeError, RecursionError):
        return False


def _lines(file: BinaryIO, path: Path) -> Iterator[bytes]:
    """The whole lines that are left; one that was cut off is dropped."""
    return (line for line in read_lines(file, path) if line.endswith(b"\n"))


def _warn(text: str) -> None:
    warnings.warn(text, stacklevel=2)


def _why(trouble: OSError | None) -> str:
    return str(trouble and (trouble.strerror or trouble))


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
            and isinstance(settings["agents"], list)
            and 2 <= len(settings["agents"]) <= MOST_AGENTS
            and (settings["kind"] == "tournament" or len(settings["agents"]) == 2)
            and all(isinstance(agent, str) for agent in settings["agents"])
            and (not settings.get("sprt") or [*map(type, settings["sprt"])] == [float, float])
        )
    except (ValueError, TypeError, KeyError, RecursionError):
        good = False
    if not good:
        what = describe_file(path)
        why = "its settings are not sound" if what.startswith("a saved") else f"it is {what}"
        raise UserError(f"{path} is not a saved match or tournament: {why}")
    return settings


def _game(path: Path, settings: Header) -> Game:
    """The game of a file, which must be one for two players."""
    held = find_game(settings["game"])
    if held.players != 2:
        why = f"{held.name} is for one player"
        raise UserError(f"{path} is not a saved match or tournament: {why}")
    return held


def _check_same(path: Path, old: Header, new: Header) -> None:
    for name in [*new, *old]:
        if name != "games" and old.get(name) != new.get(name):
            if name == "programs" and isinstance(old.get(name), dict) and new.get(name):
                other = [each for each in new[name] if old[name].get(each) != new[name][each]]
                raise UserError(
                    f"{path} has games of other programs: {', '.join(other[:3])} changed since; choose another file"
                )
            what = {"tuplet": "tuplet's version", "sprt": "test", "rules": "game's code"}.get(name, name)
            was, now = _shown(old.get(name)), _shown(new.get(name))
            verb = "are" if what == "agents" else "is"
            raise UserError(
                f"{path} holds another {old['kind']}: its {what} {verb} {was}, not {now}; choose another file"
            )


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "none" if value is None else str(value)


def _played(path: Path, number: int, line: bytes, pairings: int, held: Game) -> GameResult:
    """What is counted of a line; the moves are not played again. Without a winner, it is a draw."""
    at, sides = slot_of(number, pairings), (held.sides[0], held.sides[1])
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
        raise UserError(f"{path}: line {number + 2} is not game {number + 1} of the match")
    return GameResult.won_by(winner, sides, at.game, kind, len(moves), reason)
