"""A tournament as a page: one HTML file with everything in it, that asks nobody for anything.

Names and reasons are anybody's texts, and escaped. A game to replay is its first board and what
each move changed on it; `decode` reads that back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from html import escape
from itertools import combinations
from pathlib import Path
from typing import Any

from tuplet.agents.protocol.program import size
from tuplet.arena.forfeits import DISQUALIFIED
from tuplet.arena.match_file import Saved
from tuplet.arena.played import slot_of
from tuplet.arena.results import Tournament
from tuplet.games.drawing import colours_of
from tuplet.games.ewn import Position
from tuplet.games.position import Game
from tuplet.games.record import FORFEITS, Record
from tuplet.system.files import atomic_write
from tuplet.system.page import document
from tuplet.system.tables import plural
from tuplet.system.version import __version__

MOST_BYTES = 4_000_000  # of games to replay
MOST_SHOWN = 3  # forfeits of a program and kind with their transcripts
Coded = list[Any]  # number, first, second, winner, kind, reason, start, plies


def write_page(path: Path, result: Tournament, saved: Saved) -> Path:
    """Write the page beside `path`, and rename it into place."""
    text = page(result, saved)
    with atomic_write(path) as file:
        file.write(text.encode())
    return path


def page(result: Tournament, saved: Saved) -> str:
    """A tournament, and the games of its file, as HTML."""
    forfeits = list(_forfeited(saved))
    data, kept = _data(result, saved, [number for number, _, _ in forfeits])
    title = f"{plural(len(result.agents), 'player')}, {result.game}"
    parts = [
        _head(result),
        "<main>",
        _standings(result),
        _cross_table(result),
        _forfeits(result, forfeits),
        _replay(result, len(kept)),
        "</main>",
        _foot(saved),
        f'<script type="application/json" id="data">{data}</script>',
    ]
    here = Path(__file__)
    return document(
        f"Tournament: {title}",
        parts,
        here.with_suffix(".css").read_text(encoding="utf-8"),
        here.with_suffix(".js").read_text(encoding="utf-8"),
    )


def _head(result: Tournament) -> str:
    facts = [f"{result.games:,} games of {result.game}", f"{result.planned:,} for each pairing", f"seed {result.seed}"]
    if result.interrupted:
        facts.append("not finished")
    return (
        f"<header><h1>A tournament of {plural(len(result.agents), 'player')}</h1>"
        f'<p class="lead">{escape(" · ".join(facts))}</p></header>'
    )


def _standings(result: Tournament) -> str:
    drawn = any(match.draws for match in result.matches.values())
    bounds = [bound for rating in result.ratings for bound in (*rating.ci95, rating.elo)]
    finite = [bound for bound in bounds if abs(bound) < 1e6] or [0.0]
    low, high = min(finite), max(finite)
    rows = []
    for place, i in enumerate(result.ranking, 1):
        rating, (wins, losses) = result.ratings[i], result.total(i)
        lost = sum(result.forfeits_of(i).values())
        badge = f'<span class="badge">{lost:,}</span>' if lost else ""
        interval = " to ".join(_elo(bound) for bound in rating.ci95)
        draws = f"<td>{result.total_draws(i):,}</td>" if drawn else ""
        rows.append(
            f'<tr{" class=first" if place == 1 else ""}><td class="place">{place}</td>'
            f'<td class="name" title="{escape(result.agents[i])}">{escape(result.agents[i])}</td>'
            f'<td class="bars wide">{_bar(rating.elo, rating.ci95, low, high)}</td>'
            f'<td class="elo">{_elo(rating.elo)}</td><td class="wide">{interval}</td>'
            f"<td>{wins:,}</td>{draws}<td>{losses:,}</td><td>{badge}</td></tr>"
        )
    head = (
        '<tr><th></th><th class="name">player</th><th class="wide"></th><th>Elo</th>'
        f'<th class="wide">95 %</th><th>won</th>{"<th>drawn</th>" if drawn else ""}<th>lost</th>'
        "<th>forfeited</th></tr>"
    )
    return (
        f'<section><h2>Standings</h2><div class="scroll"><table><thead>{head}</thead><tbody>'
        f'{"".join(rows)}</tbody></table></div><p class="note">Elo relative to the mean of all, '
        "by Bradley &amp; Terry's model, with 95 % intervals. A forfeited game is a lost game.</p>"
        "</section>"
    )


def _bar(elo: float, ci95: tuple[float, float], low: float, high: float) -> str:
    """An interval and its middle on a scale that all share."""

    def x(value: float) -> str:
        share = (min(max(value, low), high) - low) / ((high - low) or 1)
        return f"{4 + 192 * share:.1f}"

    return (
        '<svg viewBox="0 0 200 22" preserveAspectRatio="none" aria-hidden="true">'
        '<line class="axis" x1="0" x2="200" y1="11" y2="11"/>'
        f'<line class="range" x1="{x(ci95[0])}" x2="{x(ci95[1])}" y1="11" y2="11"/>'
        f'<ellipse class="dot" cx="{x(elo)}" cy="11" rx="4" ry="5"/></svg>'
    )


def _cross_table(result: Tournament) -> str:
    order = result.ranking
    head = "".join(f"<th>{place}</th>" for place, _ in enumerate(order, 1))
    rows = []
    for place, i in enumerate(order, 1):
        cells = []
        for j in order:
            score, draws = result.score(i, j), result.draws(i, j)
            if score is None:
                cells.append(f'<td class="self">{"" if i == j else "·"}</td>')
                continue
            points = score[0] + draws / 2
            shade = round(10 * points / (sum(score) + draws))
            text = "–".join(f"{n:,}" for n in ((score[0], draws, score[1]) if draws else score))
            cells.append(f'<td class="w{shade}"><a href="#replay" data-one="{i}" data-other="{j}">{text}</a></td>')
        name = escape(result.agents[i])
        rows.append(f'<tr><th class="name" title="{name}">{place}. {name}</th>{"".join(cells)}</tr>')
    return (
        '<section><h2>Everybody against everybody</h2><div class="scroll"><table class="cross">'
        f'<thead><tr><th class="name"></th>{head}</tr></thead><tbody>{"".join(rows)}</tbody>'
        '</table></div><p class="note">Won and lost by the player of the row; a column for each '
        "opponent, by its place. A click shows the games.</p></section>"
    )


def _forfeited(saved: Saved) -> Iterator[tuple[int, str, dict[str, Any]]]:
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
        none = '<p class="lead">Nobody forfeited a game.</p>'
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
            unplayed = (
                sum(
                    each["games"]
                    for match in result.matches.values()
                    for each in match.forfeits
                    if each["agent"] == name and each["reason"].endswith(DISQUALIFIED)
                )
                if kind == "late"
                else 0
            )
            if unplayed:
                reason += f"; {unplayed:,} of them were not played: it {DISQUALIFIED}"
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
    told = "\n".join(_said(str(each)) for each in line.get("transcript", []))
    said = f"<pre>{told}</pre>" if told else ""
    return f"<p>{link}, after {plural(moves, 'move')}: {escape(reason)}</p>{said}"


def _said(line: str) -> str:
    kind = "complaint" if line.startswith("!") else "theirs" if " < " in line[:14] else ""
    return f'<span class="{kind}">{escape(line)}</span>' if kind else escape(line)


def _replay(result: Tournament, kept: int) -> str:
    some = ""
    if kept < result.games:
        some = (
            f'<p class="note">{kept:,} of {result.games:,} games are here: the first forfeits, '
            "and the first pairs of every pairing. The saved file has all.</p>"
        )
    chooser = "".join(
        f'<select id="{name}" aria-label="{label}"></select>'
        for name, label in (("one", "player"), ("other", "opponent"), ("how", "how it ended"))
    )
    buttons = "".join(
        f'<button type="button" id="{name}" aria-label="{label}">{sign}</button>'
        for name, label, sign in (
            ("start", "to the start", "|◀"),
            ("back", "a move back", "◀"),
            ("play", "play", "▶ play"),
            ("on", "a move on", "▶"),
            ("end", "to the end", "▶|"),
        )
    )
    return (
        '<section id="replay"><h2>Games to replay</h2><div class="replay"><div>'
        '<div class="players"><span class="side a" id="a"></span>'
        '<span class="side b" id="b"></span></div>'
        f'<div class="board" id="board"></div><div class="steps">{buttons}</div>'
        '<input type="range" id="ply" min="0" value="0" aria-label="move">'
        '<p class="state" id="state" aria-live="polite"></p></div>'
        f'<div><div class="chooser">{chooser}</div><div class="list" id="list"></div>'
        f'<p class="note">Arrow keys step through a game; the winner is printed bold.</p>{some}'
        "<noscript><p>Games are replayed by a script, which is switched off here.</p></noscript>"
        "</div></div></section>"
    )


def _foot(saved: Saved) -> str:
    limits = saved.settings.get("limits")
    told = ""
    if isinstance(limits, dict):
        memory = limits.get("memory")
        room = f", {size(memory)} of resident memory" if isinstance(memory, int) else ""
        told = (
            f"Programs had {limits.get('time')} s a move{room}, and were ended with all that they "
            "started. That is no sandbox: they ran with all rights of whoever started the "
            "tournament. "
        )
    return f"<footer><p>{escape(told)}Made by tuplet {__version__}.</p></footer>"


def _data(result: Tournament, saved: Saved, first: Iterable[int]) -> tuple[str, list[int]]:
    """The games to replay as JSON that is safe within HTML, and their numbers."""
    pairings = list(combinations(range(len(result.agents)), 2))
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
            at = slot_of(number - 1, len(pairings))
            seats = pairings[at.pairing][:: -1 if at.game else 1]
            games[number] = encode(record, number, *seats)
            written += len(json.dumps(games[number]))
            grid = len(record.start.cells), max(map(len, record.start.cells), default=0)
            for text in filter(None, games[number][6]):
                pieces.setdefault(text, _piece(saved.game, record, text))
            for step in games[number][7]:
                for text in filter(None, step[3::2]):
                    pieces.setdefault(text, _piece(saved.game, record, text))
    numbers = sorted(games)
    data = {
        "agents": result.agents,
        "order": result.ranking,
        "sides": list(saved.game.sides),
        "rows": grid[0],
        "columns": grid[1],
        "corners": _is_ewn(saved),
        "pieces": pieces,
        "games": [games[number] for number in numbers],
    }
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text, numbers


def _is_ewn(saved: Saved) -> bool:
    return saved.game.name.startswith("ewn")


def _piece(game: Game, record: Record, text: str) -> list[str]:
    """How a text on the board is drawn: its label, and its side or else its colour."""
    if isinstance(record.start, Position):
        return [text[1:], "red" if text[0] == "r" else "blue", ""]
    return [text, "", colours_of([[text]], game.colours)[text]]


def encode(record: Record, number: int, first: int, second: int) -> Coded:
    """A game as a page has it: [number, first, second, winner, kind, reason, start, plies].

    The winner is 0, 1, or -1 for nobody; a ply is [move, die, cell, text, cell, text, ...].
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
    return [number, first, second, winner, record.kind, record.reason, start, plies]


def decode(game: Coded) -> list[list[str]]:
    """The boards of a game, as its script makes them."""
    boards = [list(game[6])]
    for step in game[7]:
        cells = list(boards[-1])
        for at, text in zip(step[2::2], step[3::2], strict=True):
            cells[at] = text
        boards.append(cells)
    return boards


def _flat(position: Any) -> list[str]:
    return [cell for row in position.cells for cell in row]


def _elo(value: float) -> str:
    if abs(value) > 1e6:
        return "∞" if value > 0 else "−∞"
    return f"{value:+.0f}".replace("-", "−")
