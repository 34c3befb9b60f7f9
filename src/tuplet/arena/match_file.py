"""Matches in files: a line of settings, then a line for each game, in order.

    {"tuplet": "0.1.0", "kind": "match", "game": "ewn", "agents": ["hard", "easy"], ...}
    {"pair": 0, "a": "red", "red": "hard", "blue": "easy", "start": "ewn r3r1...", ...}

A game is its `Record` with the number of its pair (and of its pairing, in a tournament) and the side of A. Lines
are only ever appended: whatever ends a match early, every line but the last is whole, and the match continues
from there. A line {"games": N} says that the match was continued up to N games.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from tuplet.agents.agent import settings_by_name
from tuplet.arena.results import GameResult, Match, Tournament, pairings, slot_of
from tuplet.arena.resumable import LineFile, check_same_settings
from tuplet.arena.statistics import Sprt
from tuplet.errors import UserError
from tuplet.games.game import Game
from tuplet.games.record import FORFEITS, Record
from tuplet.games.registry import find_game
from tuplet.system.file_types import describe_file
from tuplet.system.files import MOST_LINE, read_lines
from tuplet.system.version import __version__

MOST_AGENTS = 64  # of a tournament
_DAMAGE = (ValueError, TypeError, KeyError, AttributeError, RecursionError)  # of a line that is not what it should be

Header = dict[str, Any]  # the first line


class MatchFile:
    """The file of a match under way; `results` are those of the games it had before."""

    def __init__(self, path: Path, settings: Header, game: Game) -> None:
        self.settings, self.game = settings, game
        self.results: list[GameResult] = []
        self.file = LineFile(path, "game")
        try:
            self._read()
        except BaseException:
            self.file.handle.close()
            raise

    def __enter__(self) -> MatchFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def add(self, number: int, record: Record) -> None:
        """Write a finished game."""
        agents = len(self.settings["agents"])
        slot = slot_of(number, agents, self.settings.get("baselines", 0))
        line: Header = {"pairing": slot.pairing} if agents > 2 else {}
        self.file.add(line | {"pair": slot.pair, "a": self.game.sides[slot.game], **record.as_json()})

    def _read(self) -> None:
        path, first = self.file.path, self.file.first_line()
        if not first.endswith(b"\n") and not json.dumps(self.settings).encode().startswith(first):
            raise UserError(f"{path} is not a saved match, but {describe_file(path)}: choose another")
        lines = self.file.read()
        header = next(lines, None)
        if header is None:
            self.file.write(self.settings)
            return
        old = _header(path, header)
        check_same_settings(path, old["kind"], old, self.settings, ("games",), "choose another file")
        for line in _games(lines, old):
            self.results.append(_result(path, len(self.results), line, old, self.game))
        if self.settings["games"] > old["games"]:
            self.file.write({"games": self.settings["games"]})


class SavedMatch(NamedTuple):
    """A saved match or tournament: its settings, its game, and its games."""

    path: Path
    settings: Header
    game: Game
    games: list[bytes]  # a line each
    results: list[GameResult]

    @classmethod
    def open(cls, path: Path) -> SavedMatch:
        """Read a file; UserError if it is not a saved match or tournament."""
        with _opened(path) as file:
            first = file.readline(MOST_LINE)
            if _is_record(first):
                raise UserError(f"{path} holds single games: --number 1 replays the first")
            settings = _header(path, first)
            games = [*_games(read_lines(file, path), settings)]
        game = find_game(settings["game"])
        if game.players != 2:
            raise UserError(f"{path} is not a saved match or tournament: {game.name} is for one player")
        results = [_result(path, n, line, settings, game) for n, line in enumerate(games)]
        return cls(path, settings, game, games, results)

    def lines(self) -> Iterator[Header]:
        """The games of whole pairs as JSON objects."""
        return map(json.loads, self.games[: len(self.games) // 2 * 2])


def load(path: str | Path) -> Match | Tournament:
    """The result of a saved match or tournament."""
    path, settings, game, _, results = SavedMatch.open(Path(path))
    agents, seed, planned = settings["agents"], settings["seed"], settings["games"] + settings["games"] % 2
    # Settings that the file does not name are the defaults of the version that played.
    known = settings["tuplet"] == __version__
    full = [settings_by_name(agent, game) for agent in agents] if known else []
    if settings["kind"] == "tournament":
        baselines = settings.get("baselines", 0)
        tournament = Tournament.of(agents, game.name, seed, planned, results, False, game.terminations, full, baselines)
        if tournament.matches:
            return replace(tournament, interrupted=len(results) < planned * len(pairings(len(agents), baselines)))
    elif len(results) > 1:
        test = Sprt(*settings["sprt"]) if settings.get("sprt") else None
        results = results[: len(results) // 2 * 2]
        a, b = agents
        match = Match(a, b, game.name, seed, planned, results, test, endings=game.terminations, settings=full)
        return replace(match, interrupted=match.games < planned and match.decision is None)
    raise UserError(f"{path} has no finished pair of games yet")


def load_game(path: str | Path, number: int) -> Record:
    """Game `number` (from 1) of a saved match, or of a file that `tuplet play` saved."""
    path = Path(path)
    with _opened(path) as file:
        first = file.readline(MOST_LINE)
        settings: Header = {}
        if _is_record(first):
            file.seek(0)
        else:
            settings = _header(path, first)
        count = 0
        for count, line in enumerate(_games(read_lines(file, path), settings), 1):
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
    except _DAMAGE:
        return False


def _games(lines: Iterator[bytes], settings: Header) -> Iterator[bytes]:
    """The whole lines that are games; those that ask for more games are noted in the settings."""
    for line in lines:
        try:
            more = json.loads(line)["games"] if line.startswith(b'{"games":') else None
        except _DAMAGE:
            more = None
        if isinstance(more, int):
            settings["games"] = more
        elif line.endswith(b"\n"):
            yield line


def _header(path: Path, line: bytes) -> Header:
    try:
        settings: Header = json.loads(line)
        good = (
            settings["kind"] in ("match", "tournament")
            and isinstance(settings["tuplet"], str)
            and isinstance(settings["game"], str)
            and isinstance(settings["seed"], int)
            and isinstance(settings["games"], int)
            and isinstance(settings["agents"], list)
            and 2 <= len(settings["agents"]) <= (MOST_AGENTS if settings["kind"] == "tournament" else 2)
            and all(isinstance(agent, str) for agent in settings["agents"])
            and 0 <= int(settings.get("baselines", 0)) < len(settings["agents"])
            and (not settings.get("sprt") or [*map(type, settings["sprt"])] == [float, float])
        )
    except _DAMAGE:
        good = False
    if not good:
        what = describe_file(path)
        why = "its settings are not sound" if what.startswith("a saved") else f"it is {what}"
        raise UserError(f"{path} is not a saved match or tournament: {why}")
    return settings


def _result(path: Path, number: int, line: bytes, settings: Header, game: Game) -> GameResult:
    """The result of a game in its line; the moves are not replayed. A game without a winner is a draw."""
    slot, sides = slot_of(number, len(settings["agents"]), settings.get("baselines", 0)), game.sides
    try:
        saved = json.loads(line)
        winner, kind = saved.get("winner"), saved["kind"]
        moves, reason = saved.get("moves", []), saved.get("reason", "")
        good = (
            (saved.get("pairing", 0), saved["pair"], saved["a"]) == (slot.pairing, slot.pair, sides[slot.game])
            and (winner in sides or (winner is None and game.has_draws and kind not in FORFEITS))
            and kind in (*game.terminations, *FORFEITS)
            and isinstance(moves, list)
            and isinstance(reason, str)
        )
    except _DAMAGE:
        good = False
    if not good:
        raise UserError(f"{path}: line {number + 2} is not game {number + 1} of the match")
    return GameResult.of(winner, sides, slot.game, kind, len(moves), reason)
