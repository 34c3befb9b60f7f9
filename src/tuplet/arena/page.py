"""A tournament as a self-contained HTML page, and as tables.

Names and reasons come from outside and are escaped. A game to replay is its first board and the cells that each
move changed.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from tuplet.agents.protocol.program import size
from tuplet.arena.match_file import SavedMatch
from tuplet.arena.results import Match, Tournament, disqualified_text, elo_text, slot_of
from tuplet.errors import UserError
from tuplet.games.drawing import colours_of
from tuplet.games.game import Game
from tuplet.games.record import FORFEITS, Record
from tuplet.system.files import atomic_write
from tuplet.system.page import document, interval_bars
from tuplet.system.tables import plural, write_csv
from tuplet.system.version import __version__

MOST_BYTES = 4_000_000  # of games to replay
MOST_SHOWN = 3  # forfeits of a program and kind with their transcripts
Coded = list[Any]  # number, first, second, winner, kind, reason, start, plies


class Reports:
    """The page and the tables to write of a tournament; paths that cannot be written are refused at once."""

    def __init__(self, page: str | Path | None, csv: str | Path | None) -> None:
        self.page = _as_file(page, ".html", "a page")
        self.csv = _as_file(csv, ".csv", "a table")

    @contextmanager
    def games(self, save: str | Path | None) -> Iterator[Path | None]:
        """Where games are saved: in `save`, in a temporary file if a report needs them, or nowhere."""
        if save is not None or self.page is None:
            yield None if save is None else Path(save)
            return
        with tempfile.TemporaryDirectory(prefix="tuplet-") as folder:
            yield Path(folder) / "games.jsonl"

    def write(self, result: Match | Tournament, file: Path | None) -> None:
        """Write the page and the tables."""
        if self.csv is not None:
            result.csv(self.csv)
            if isinstance(result, Tournament):
                write_csv(self.csv.with_name(f"{self.csv.stem}-games.csv"), *result.games_table())
        if self.page is not None and file is not None:
            if isinstance(result, Match):
                result = Tournament(
                    [result.a, result.b], result.game, result.seed, result.planned, {(0, 1): result}, result.interrupted
                )
            text = page(result, SavedMatch.open(file))
            with atomic_write(self.page) as written:
                written.write(text.encode())


def _as_file(path: str | Path | None, suffix: str, what: str) -> Path | None:
    if path is None:
        return None
    path = Path(path)
    if path.suffix.lower() != suffix:
        raise UserError(f"{path}: the name of {what} ends in {suffix}")
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} in")
    return path


def page(result: Tournament, saved: SavedMatch) -> str:
    """A tournament, and the games of its file, as HTML."""
    forfeits = list(_forfeited(saved))
    data, kept = _data(result, saved, [number for number, _, _ in forfeits])
    players = plural(len(result.agents), "player")
    facts = [f"{result.games:,} games of {result.game}", f"{result.planned:,} for each pairing", f"seed {result.seed}"]
    some = (
        f'<p class="note">{kept:,} of {result.games:,} games can be replayed here: the first forfeits, and the first '
        "pairs of every pairing. The saved file has all.</p>"
    )
    html, style, script = (Path(__file__).with_suffix(kind).read_text("utf-8") for kind in (".html", ".css", ".js"))
    body = Template(html).substitute(
        players=players,
        facts=escape(" · ".join([*facts, "not finished"] if result.interrupted else facts)),
        drawn="<th>drawn</th>" if _has_draws(result) else "",
        standings=_standings(result),
        places="".join(f"<th>{each.place}</th>" for each in result.standings),
        cross=_cross_table(result),
        forfeits=_forfeits(result, forfeits),
        some=some if kept < result.games else "",
        limits=escape(_limits(saved)),
        version=__version__,
        data=data,
    )
    return document(f"Tournament: {players}, {result.game}", [body], style, script)


def _has_draws(result: Tournament) -> bool:
    return any(match.draws for match in result.matches.values())


def _standings(result: Tournament) -> str:
    bounds = [bound for rating in result.ratings for bound in (*rating.ci95, rating.elo)]
    scale = [bound for bound in bounds if math.isfinite(bound)]
    rows = []
    for each in result.standings:
        forfeits, name = sum(result.forfeits_of(each.number).values()), escape(each.agent)
        wins, draws, losses = each.total
        bar = interval_bars([("mine", each.rating.elo, each.rating.ci95)], min(scale), max(scale))
        rows.append(
            f'<tr{" class=first" if each.place == 1 else ""}><td class="place">{each.place}</td>'
            f'<td class="name" title="{name}">{name}</td><td class="bars wide">{bar}</td>'
            f'<td class="elo">{elo_text(each.rating.elo)}</td>'
            f'<td class="wide">{" to ".join(map(elo_text, each.rating.ci95))}</td>'
            f"<td>{wins:,}</td>{f'<td>{draws:,}</td>' if _has_draws(result) else ''}<td>{losses:,}</td>"
            f"<td>{f'<span class=badge>{forfeits:,}</span>' if forfeits else ''}</td></tr>"
        )
    return "".join(rows)


def _cross_table(result: Tournament) -> str:
    rows = []
    for each in result.standings:
        name = escape(each.agent)
        cells = [f'<th class="name" title="{name}">{each.place}. {name}</th>']
        for other, score in zip(result.standings, each.against, strict=True):
            if score is None:
                cells.append(f'<td class="self">{"" if other.number == each.number else "·"}</td>')
                continue
            wins, draws, losses = score
            shade = round(10 * (wins + draws / 2) / sum(score))
            text = "–".join(f"{n:,}" for n in (score if draws else (wins, losses)))
            link = f'<a href="#replay" data-one="{each.number}" data-other="{other.number}">{text}</a>'
            cells.append(f'<td class="w{shade}">{link}</td>')
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return "".join(rows)


def _forfeited(saved: SavedMatch) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """The first forfeits of each player and kind: their number, who forfeited, and the line."""
    seen: dict[tuple[str, str], int] = {}
    for number, line in enumerate(saved.lines(), 1):
        if line["kind"] in FORFEITS:
            loser = next(side for side in saved.game.sides if side != line["winner"])
            key = line[loser], line["kind"]
            seen[key] = seen.get(key, 0) + 1
            if seen[key] <= MOST_SHOWN:
                yield number, line[loser], line


def _forfeits(result: Tournament, shown: list[tuple[int, str, dict[str, Any]]]) -> str:
    skipped = "".join(
        f'<p class="note"><b>{escape(name)}</b> did not play: {escape(why)}</p>' for name, why in result.skipped
    )
    if not shown:
        none = '<p class="lead">No game was forfeited.</p>'
        return f"<section><h2>Forfeits</h2>{none}{skipped}</section>" if skipped else ""
    parts = []
    for i in result.ranking:
        name = result.agents[i]
        for kind, count in result.forfeits_of(i).items():
            own = [each for each in shown if each[1] == name and each[2]["kind"] == kind]
            if not count or not own:
                continue
            inner = "".join(_one_forfeit(name, number, line) for number, _, line in own)
            reason = str(own[0][2].get("reason", "")).removeprefix(f"{name}: ")
            reason += disqualified_text(
                [each for each in result.forfeits if (each["agent"], each["kind"]) == (name, kind)]
            )
            parts.append(
                f"<details><summary><b>{escape(name)}</b> "
                f'<span class="badge">{kind}</span> {plural(count, "game")}: '
                f'<span class="reason">{escape(reason)}</span></summary>{inner}</details>'
            )
    legend = (
        '<p class="note">What was sent to a program (&gt;), what it answered (&lt;), and the end '
        f"of its standard error (!), after seconds; the first {MOST_SHOWN} of each kind.</p>"
    )
    return f"<section><h2>Forfeits</h2>{''.join(parts)}{legend}{skipped}</section>"


def _one_forfeit(name: str, number: int, line: dict[str, Any]) -> str:
    reason = str(line.get("reason", "")).removeprefix(f"{name}: ")
    moves = len(line.get("moves", []))
    link = f'<a href="#replay" data-game="{number}">game {number:,}</a>'
    transcript = "\n".join(_transcript_line(str(each)) for each in line.get("transcript", []))
    shown = f"<pre>{transcript}</pre>" if transcript else ""
    return f"<p>{link}, after {plural(moves, 'move')}: {escape(reason)}</p>{shown}"


def _transcript_line(line: str) -> str:
    kind = "complaint" if line.startswith("!") else "theirs" if " < " in line[:14] else ""
    return f'<span class="{kind}">{escape(line)}</span>' if kind else escape(line)


def _limits(saved: SavedMatch) -> str:
    limits = saved.settings.get("limits")
    if not isinstance(limits, dict):
        return ""
    memory = limits.get("memory")
    resident = f" and {size(memory)} of resident memory" if isinstance(memory, int) else ""
    return (
        f"Each program had {limits.get('time')} s per move{resident}. This was no sandbox: programs ran with the "
        "rights of the user who started the tournament. "
    )


def _data(result: Tournament, saved: SavedMatch, first: Iterable[int]) -> tuple[str, int]:
    """The games to replay as JSON that is safe within HTML, and their number."""
    games: dict[int, Coded] = {}
    pieces: dict[str, list[str]] = {}
    written, wanted, grid = 0, set(first), (0, 0)
    for important in (True, False):
        for number, line in enumerate(saved.lines(), 1):
            if (number in wanted) != important:
                continue
            if written > MOST_BYTES:
                break
            record = Record.parse(json.dumps(line))
            slot = slot_of(number - 1, len(result.agents), result.baselines)
            games[number] = encode(record, number, slot.first, slot.second)
            written += len(json.dumps(games[number]))
            grid = len(record.start.cells), max(map(len, record.start.cells), default=0)
            texts = [*games[number][6], *(text for step in games[number][7] for text in step[3::2])]
            for text in filter(None, texts):
                pieces.setdefault(text, _piece(saved.game, text))
    data = {
        "agents": result.agents,
        "order": result.ranking,
        "sides": list(saved.game.sides),
        "rows": grid[0],
        "columns": grid[1],
        "corners": saved.game.family == "ewn",
        "pieces": pieces,
        "games": [games[number] for number in sorted(games)],
    }
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text, len(games)


def _piece(game: Game, text: str) -> list[str]:
    """How a text on the board is drawn: its label, and its side or else its colour."""
    if game.family == "ewn":
        return [text[1:], "red" if text[0] == "r" else "blue", ""]
    return [text, "", colours_of([[text]], game.colours)[text]]


def encode(record: Record, number: int, first: int, second: int) -> Coded:
    """A game as a page has it: [number, first, second, winner, kind, reason, start, plies].

    The winner is 0, 1, or -1 for a draw; a ply is [move, die, cell, text, cell, text, ...].
    """
    before = start = _flat(record.start)
    plies: list[list[Any]] = []
    steps = list(record.replay())
    after = [_flat(position) for position, _ in steps[1:]] + [_flat(record.position)]
    for (position, move), cells in zip(steps, after, strict=False):
        die = getattr(position, "die", None)
        step: list[Any] = [move, "" if die is None else str(die)]
        for at, (old, new) in enumerate(zip(before, cells, strict=True)):
            if old != new:
                step += [at, new]
        plies.append(step)
        before = cells
    winner = -1 if record.winner is None else record.sides.index(record.winner)
    return [number, first, second, winner, record.termination, record.reason, start, plies]


def _flat(position: Any) -> list[str]:
    return [cell for row in position.cells for cell in row]
