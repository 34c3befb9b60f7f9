"""`grade`: the programs of a class against baselines, and the points that each has earned."""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from tuplet.arena.match import tournament
from tuplet.arena.results import Tournament
from tuplet.errors import UserError
from tuplet.games.record import FORFEITS
from tuplet.system.intervals import Interval
from tuplet.system.progress import ProgressOption
from tuplet.system.stop import Stop
from tuplet.system.tables import Displayable, Table, TextTable, plural

BARS = "easy>=50:40 normal>=50:30 hard>=50:30"


class Bar(NamedTuple):
    """The share of the games that must be won against a baseline, and the points for it."""

    agent: str
    share: float
    points: float

    @classmethod
    def read(cls, text: str) -> Bar:
        """A bar as it is typed: easy>=50:40."""
        found = re.fullmatch(r"(.+)>=([\d.]+)%?:([\d.]+)", text)
        try:
            agent, share, points = found.groups() if found else ("", "", "")
            bar = cls(agent, float(share) / 100, float(points))
        except ValueError:
            raise UserError(f"a bar is agent>=percent:points, such as easy>=50:40 (got {text!r})") from None
        if not 0 <= bar.share <= 1:
            raise UserError(f"{text}: the share of games to win must be 0 to 100 % (got {share})")
        return bar


class Mark(NamedTuple):
    """What a program has won against a baseline."""

    bar: Bar
    share: float  # of the points of its games
    ci95: Interval

    @property
    def points(self) -> float:
        """The bar's points, if the program has reached it."""
        return self.bar.points if self.share >= self.bar.share else 0.0

    @property
    def text(self) -> str:
        """The share with its interval, and a star if more games might change the verdict."""
        low, high = self.ci95
        return f"{100 * self.share:.1f} % ({100 * low:.0f} to {100 * high:.0f}){'*' if self.is_close else ' '}"

    @property
    def is_close(self) -> bool:
        """Whether more games might change the verdict: the bar is inside the interval."""
        low, high = self.ci95
        return low < self.bar.share <= high


class Grade(NamedTuple):
    """A program and its marks, in the order of the bars."""

    program: str
    marks: list[Mark]
    forfeits: dict[str, int]  # games by kind

    @property
    def points(self) -> float:
        """All its points."""
        return sum(mark.points for mark in self.marks)


@dataclass(frozen=True, repr=False)
class Grades(Displayable):
    """The grades of a folder of programs, and the tournament that they come from."""

    bars: list[Bar]
    tournament: Tournament

    @property
    def games(self) -> int:
        """Number of games played in all."""
        return self.tournament.games

    @property
    def interrupted(self) -> bool:
        """Whether games are missing."""
        return self.tournament.interrupted

    @cached_property
    def grades(self) -> list[Grade]:
        """The programs, from the most points to the fewest."""
        first, names = len(self.bars), self.tournament.agents
        found = []
        for j in range(first, len(names)):
            marks = []
            for i, bar in enumerate(self.bars):
                match = self.tournament.matches.get((i, j))  # its A is the baseline
                if match is not None:
                    (lost, drawn, won), (low, high) = match.wdl, match.ci95
                    marks.append(Mark(bar, (won + drawn / 2) / (won + drawn + lost), (1 - high, 1 - low)))
            found.append(Grade(names[j], marks, self.tournament.forfeits_of(j)))
        return sorted(found, key=lambda grade: (-grade.points, -sum(mark.share for mark in grade.marks)))

    def as_json(self) -> dict[str, Any]:
        """The grades, and the tournament that they come from."""
        return {
            "bars": [bar._asdict() for bar in self.bars],
            "grades": [
                {
                    "program": grade.program,
                    "points": grade.points,
                    "marks": [
                        {
                            "against": mark.bar.agent,
                            "win_rate": mark.share,
                            "ci95": list(mark.ci95),
                            "points": mark.points,
                            "close": mark.is_close,
                        }
                        for mark in grade.marks
                    ],
                    "forfeits": grade.forfeits,
                }
                for grade in self.grades
            ],
            "tournament": self.tournament.as_json(),
        }

    def table(self) -> Table:
        """A row for each program: its points, and for each bar the share with its interval and the points."""
        columns = ["program", "points"]
        for bar in self.bars:
            columns += [f"{bar.agent} {each}" for each in ("win_rate", "ci95_low", "ci95_high", "points")]
        rows = [
            [
                grade.program,
                grade.points,
                *(each for mark in grade.marks for each in (mark.share, *mark.ci95, mark.points)),
                *[None] * (4 * (len(self.bars) - len(grade.marks))),  # an interrupted tournament
                *grade.forfeits.values(),
            ]
            for grade in self.grades
        ]
        return Table([*columns, *FORFEITS], rows)

    def text_tables(self) -> list[TextTable]:
        """The programs with their points; a star stands where more games might change the verdict."""
        most = sum(bar.points for bar in self.bars)
        columns = ["program", f"points of {most:g}", *(f"{bar.agent} ({100 * bar.share:g} %)" for bar in self.bars)]
        rows = []
        for grade in self.grades:
            cells = [mark.text for mark in grade.marks]
            cells += [""] * (len(self.bars) - len(cells))
            rows.append([grade.program, f"{grade.points:g}", *cells])
        games = plural(self.games, "game")
        notes = []
        if any(mark.is_close for grade in self.grades for mark in grade.marks):
            notes.append("* the bar is inside the 95 % interval: more games might change the verdict")
        notes += self.tournament.forfeit_lines()
        notes += [f"{name} does not play: {why}" for name, why in self.tournament.skipped]
        title = f"{plural(len(rows), 'program')}  {self.tournament.game}  {games}"
        return [TextTable(title, columns, rows, notes, words=(0,), strong=(0,))]

    def __repr__(self) -> str:
        return f"<Grades of {plural(len(self.grades), 'program')}, {plural(self.games, 'game')}>"


def grade(
    folder: str | Path,
    bars: str | Sequence[Bar] = BARS,
    *,
    game: str = "ewn-6x7",
    time: float | None = None,
    memory: str | int | None = None,
    games: int = 100,
    seed: int = 0,
    threads: int = 1,
    out: str | Path | None = None,
    html: str | Path | None = None,
    csv: str | Path | None = None,
    executor: Executor | None = None,
    progress: ProgressOption = None,
    stop: Stop | None = None,
) -> Grades:
    """Let each program of a folder play against baselines only, and give points for the bars that it reaches.

    `bars` are "easy>=50:40 normal>=50:30": 40 points for a share of 50 % against easy, and 30 more for 50 % against
    normal. Any agent can be a baseline. `games` are those of each program against each baseline. All other
    arguments are those of `tournament`.
    """
    read = [Bar.read(each) for each in bars.split()] if isinstance(bars, str) else list(bars)
    if not read:
        raise UserError(f"there is no bar: such as {BARS!r}")
    played = tournament(
        [bar.agent for bar in read],
        game,
        folder=folder,
        time=time,
        memory=memory,
        games=games,
        seed=seed,
        threads=threads,
        out=out,
        html=html,
        executor=executor,
        progress=progress,
        stop=stop,
        against_agents_only=True,
    )
    result = Grades(read, played)
    if csv is not None:
        result.csv(csv)
    return result
