"""What came out of a match or a tournament: scores, intervals, Elo, and how games ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

from tuplet.agents.specs import short_names
from tuplet.arena.forfeits import by_agent, of_match
from tuplet.arena.intervals import Z_AFTER_TEST, PairCounts, elo, pair_share
from tuplet.arena.pictures import brief, draw_ratings, draw_shares
from tuplet.arena.played import GameResult, slot_of
from tuplet.arena.ratings import Rating, ratings
from tuplet.arena.spreadsheet import games_table
from tuplet.arena.sprt import Decision, Sprt
from tuplet.arena.wording import elo_text, finite, joined, range_of, score_columns
from tuplet.games.record import FORFEITS
from tuplet.system.intervals import Interval, Z
from tuplet.system.pictures import inline_svg
from tuplet.system.settings import describe_all_settings
from tuplet.system.tables import Displayable, Table, TextTable, percent, plural


@dataclass(frozen=True, repr=False)
class Match(Displayable):
    """Games between A and B, in pairs, seen from A's side."""

    a: str
    b: str
    game: str
    seed: int
    planned: int  # games
    played: list[GameResult]
    sprt: Sprt | None = None
    interrupted: bool = False
    endings: tuple[str, ...] = ("corner", "elimination")  # the game's own, besides forfeits
    settings: Sequence[dict[str, Any]] = ()  # of A and B, all of them; not known of a file

    @property
    def games(self) -> int:
        """How many were played."""
        return len(self.played)

    @property
    def wins(self) -> int:
        """A's."""
        return sum(each.a == 1 for each in self.played)

    @property
    def draws(self) -> int:
        """Games that nobody won; half a point each."""
        return self.games - self.wins - self.losses

    @property
    def losses(self) -> int:
        """A's."""
        return sum(each.a == 0 for each in self.played)

    @cached_property
    def pairs(self) -> PairCounts:
        """In how many pairs A had 0, ½, 1, 1½ and 2 points."""
        return _pairs([each.a for each in self.played])

    @property
    def win_rate(self) -> float:
        """A's share of the points."""
        return pair_share(*self.pairs)[0]

    @property
    def ci95(self) -> Interval:
        """The interval of A's share; pairs, not games, are the independent unit.

        A test that ends a match does so when the share is far out: the interval is wider then.
        """
        z = Z if self.decision is None else Z_AFTER_TEST
        return pair_share(*self.pairs, z=z)[1]

    @property
    def elo(self) -> float:
        """A's Elo minus B's; infinite if one of them won everything."""
        return elo(self.win_rate)

    @property
    def elo_ci95(self) -> Interval:
        """The interval of the difference in Elo."""
        low, high = self.ci95
        return elo(low), elo(high)

    @property
    def first_player(self) -> tuple[float, Interval]:
        """The first player's share of the points, and its interval."""
        return pair_share(*_pairs([each.first for each in self.played]))

    @property
    def mean_length(self) -> float:
        """Plies a game."""
        return sum(each.plies for each in self.played) / self.games

    def kinds(self, score: float) -> dict[str, int]:
        """How A's wins (1), its draws (½), or its losses (0) came about."""
        counts = Counter(each.kind for each in self.played if each.a == score)
        return {kind: counts[kind] for kind in (*self.endings, *FORFEITS)}

    @property
    def forfeits(self) -> list[dict[str, Any]]:
        """Who forfeited games and why; the same reason again and again is counted."""
        found: dict[tuple[bool, str, str], list[int]] = {}
        for number, each in enumerate(self.played, 1):
            if each.kind in FORFEITS:
                found.setdefault((each.a == 1, each.kind, each.reason), []).append(number)
        return [
            {
                "agent": self.b if a_won else self.a,
                "side": "b" if a_won else "a",
                "kind": kind,
                "reason": reason,
                "games": len(numbers),
                "first": numbers[0],
            }
            for (a_won, kind, reason), numbers in found.items()
        ]

    @property
    def llr(self) -> float | None:
        """The sequential test's log likelihood ratio."""
        return self.sprt.llr(*self.pairs) if self.sprt else None

    @property
    def decision(self) -> Decision | None:
        """What the sequential test accepts; None while it is open."""
        return self.sprt.decide(self.sprt.llr(*self.pairs)) if self.sprt else None

    def as_json(self) -> dict[str, Any]:
        """The keys that other tools read; a pair neither won nor lost in both games is split."""
        first, first_ci95 = self.first_player
        lost, *between, won = self.pairs
        report = {
            "game": self.game,
            "a": self.a,
            "b": self.b,
            "seed": self.seed,
            "games": self.games,
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
            "win_rate": self.win_rate,
            "ci95": list(self.ci95),
            "elo": finite(self.elo),
            "elo_ci95": [finite(bound) for bound in self.elo_ci95],
            "first_player_share": first,
            "first_player_ci95": list(first_ci95),
            "mean_length": self.mean_length,
            "pairs": {"both_won": won, "split": sum(between), "both_lost": lost, "pentanomial": list(self.pairs)},
            "kinds": {"wins": self.kinds(1), "draws": self.kinds(0.5), "losses": self.kinds(0)},
            "forfeits": self.forfeits,
        }
        if self.sprt:
            bounds = {"elo0": self.sprt.elo0, "elo1": self.sprt.elo1}
            report |= {"sprt": bounds, "llr": self.llr, "decision": self.decision}
            report["stopped_by_test"] = self.decision is not None
        own = dict(zip("ab", self.settings, strict=False))
        return report | ({"settings": own} if own else {})

    def text_tables(self) -> list[TextTable]:
        """Share, Elo, and how the games went, with intervals."""
        lost, *between, won = self.pairs
        first, first_ci95 = self.first_player
        low, high = self.elo_ci95
        drawn = self.draws > 0
        score = joined(" - ", self.wins, self.draws, self.losses, drawn)
        pairs = f"{won:,} won, {sum(between):,} split, {lost:,} lost"
        if drawn:
            pairs = ", ".join(f"{n:,}" for n in self.pairs)
        rows = [
            [score_columns(drawn), score, ""],
            ["share", percent(self.win_rate), range_of(self.ci95)],
            ["Elo", elo_text(self.elo), f"95 %: {elo_text(low)} to {elo_text(high)}"],
            ["pairs", pairs, "with 0, ½, 1, 1½, 2 points" if drawn else ""],
            ["first player", percent(first), range_of(first_ci95)],
            ["length", f"{self.mean_length:.1f} plies", ""],
        ]
        stopped = describe_all_settings([self.a, self.b], self.settings)
        if self.sprt is not None and self.llr is not None:
            low, high = self.sprt.bounds
            answer = {
                "H0": f"H0 accepted: {self.sprt.elo0:g} Elo",
                "H1": f"H1 accepted: {self.sprt.elo1:g} Elo",
                None: "no answer yet",
            }[self.decision]
            rows.append(["test", answer, f"LLR {self.llr:.2f} ({low:.2f} to {high:.2f})"])
            if self.decision is not None:
                stopped.append("The test ended the match early: the interval is widened to keep 95 % coverage.")
        by_score = [self.kinds(score) for score in ((1, 0.5, 0) if drawn else (1, 0))]
        endings = [
            [kind if kind not in FORFEITS else f"opponent {kind}", *(f"{kinds[kind]:,}" for kinds in by_score)]
            for kind in by_score[0]
            if any(kinds[kind] for kinds in by_score)
        ]
        a, b = short_names([self.a, self.b])  # the title has them in full
        columns = ["ended by", a, "drawn", b] if drawn else ["won by", a, b]
        title = f"{self.a} - {self.b}  {self.game}  {plural(self.games, 'game')}"
        return [
            TextTable(title, (), rows, stopped, words=(0, 1, 2), strong=(1,)),
            TextTable("", columns, endings, of_match(self.forfeits, self.a, self.b)),
        ]

    def table(self) -> Table:
        """A row for each game."""
        return games_table([(self.a, self.b, self.played)])

    def _repr_html_(self) -> str:
        """The tables, and the share as games were played, where it can be drawn."""
        title = f"{brief(self.a)} - {brief(self.b)}, {self.game}"
        scores = [each.a for each in self.played]
        return super()._repr_html_() + inline_svg(lambda: draw_shares(scores, title))

    def __repr__(self) -> str:
        low, high = self.ci95
        draws = f"{self.draws}-" if self.draws else ""
        return (
            f"<Match {self.a} - {self.b}, {self.game}: {self.wins}-{draws}{self.losses}, "
            f"{100 * self.win_rate:.1f} % (95 %: {100 * low:.1f} to {100 * high:.1f})>"
        )


@dataclass(frozen=True, repr=False)
class Tournament(Displayable):
    """Everybody against everybody: a match for each pairing, and ratings."""

    agents: list[str]
    game: str
    seed: int
    planned: int  # games of each pairing
    matches: dict[tuple[int, int], Match]  # by the places of A and B in `agents`
    interrupted: bool = False
    settings: Sequence[dict[str, Any]] = ()  # of each agent, all of them; not known of a file
    skipped: Sequence[tuple[str, str]] = ()  # of a folder of programs: what did not play, and why

    @classmethod
    def of(
        cls,
        agents: list[str],
        game: str,
        seed: int,
        planned: int,
        played: list[GameResult],
        interrupted: bool = False,
        endings: tuple[str, ...] = ("corner", "elimination"),
        settings: Sequence[dict[str, Any]] = (),
    ) -> Tournament:
        """Sort the games of a schedule into matches; a pair's first game alone is left out."""
        pairings = list(combinations(range(len(agents)), 2))
        sorted_: list[list[GameResult]] = [[] for _ in pairings]
        for number, each in enumerate(played[: len(played) // 2 * 2]):
            sorted_[slot_of(number, len(pairings)).pairing].append(each)
        matches = {
            (i, j): Match(agents[i], agents[j], game, seed, planned, games, endings=endings)
            for (i, j), games in zip(pairings, sorted_, strict=True)
            if games
        }
        return cls(agents, game, seed, planned, matches, interrupted, settings)

    @property
    def games(self) -> int:
        """How many were played in all."""
        return sum(match.games for match in self.matches.values())

    @cached_property
    def ratings(self) -> list[Rating]:
        """In the order of agents, relative to their mean."""
        pairs = {places: match.pairs for places, match in self.matches.items()}
        return ratings(len(self.agents), pairs)

    def score(self, i: int, j: int) -> tuple[int, int] | None:
        """Wins and losses of agent i against agent j, if they have met."""
        if (i, j) in self.matches:
            return self.matches[i, j].wins, self.matches[i, j].losses
        if (j, i) in self.matches:
            return self.matches[j, i].losses, self.matches[j, i].wins
        return None

    def draws(self, i: int, j: int) -> int:
        """Games of agents i and j that nobody won."""
        return sum(self.matches[p].draws for p in ((i, j), (j, i)) if p in self.matches)

    def total(self, i: int) -> tuple[int, int]:
        """Wins and losses of agent i."""
        scores = [s for j in range(len(self.agents)) if (s := self.score(i, j)) is not None]
        return sum(wins for wins, _ in scores), sum(losses for _, losses in scores)

    def total_draws(self, i: int) -> int:
        """Games of agent i that nobody won."""
        return sum(self.draws(i, j) for j in range(len(self.agents)))

    def forfeits_of(self, seat: int) -> dict[str, int]:
        """How many games an agent forfeited, by kind."""
        lost = [match.kinds(0 if seat == i else 1) for (i, j), match in self.matches.items() if seat in (i, j)]
        return {kind: sum(kinds[kind] for kinds in lost) for kind in FORFEITS}

    @property
    def ranking(self) -> list[int]:
        """The agents from best to worst."""
        return sorted(range(len(self.agents)), key=lambda i: -self.ratings[i].elo)

    def as_json(self) -> dict[str, Any]:
        """Agents from best to worst, and every match."""
        table = []
        for i in self.ranking:
            (wins, losses), rating = self.total(i), self.ratings[i]
            table.append(
                {
                    "agent": self.agents[i],
                    "rating": rating.elo,
                    "ci95": [finite(bound) for bound in rating.ci95],
                    "wins": wins,
                    "draws": self.total_draws(i),
                    "losses": losses,
                }
            )
            if self.settings:
                table[-1]["settings"] = self.settings[i]
        report = {
            "game": self.game,
            "seed": self.seed,
            "games": self.games,
            "agents": table,
            "matches": [match.as_json() for match in self.matches.values()],
        }
        if self.skipped:
            report["skipped"] = [{"name": name, "why": why} for name, why in self.skipped]
        return report

    def text_tables(self) -> list[TextTable]:
        """Ratings from best to worst, and everybody's score against everybody."""
        order, rows = self.ranking, []
        drawn = any(match.draws for match in self.matches.values())
        names = short_names(self.agents)
        for place, i in enumerate(order, 1):
            rating, (wins, losses) = self.ratings[i], self.total(i)
            low, high = rating.ci95
            scores = [(self.score(i, j), self.draws(i, j)) for j in order]
            rows.append(
                [
                    str(place),
                    names[i],
                    elo_text(rating.elo),
                    f"{elo_text(low)} to {elo_text(high)}",
                    joined(" - ", wins, self.total_draws(i), losses, drawn),
                    *(
                        "·" if score is None else joined("-", score[0], draws, score[1], drawn)
                        for score, draws in scores
                    ),
                ]
            )
        places = [str(place) for place, _ in enumerate(order, 1)]
        title = f"{len(self.agents)} agents  {self.game}  {plural(self.games, 'game')}"
        note = "Elo relative to the mean of all; a column for each opponent, by its place."
        legend = [f"{names[i]} is {self.agents[i]}" for i in order if names[i] != self.agents[i]]
        forfeits = [each for match in self.matches.values() for each in match.forfeits]
        skipped = [f"{name} does not play: {why}" for name, why in self.skipped]
        notes = [note, *legend, *describe_all_settings(self.agents, self.settings)]
        notes += [*by_agent(forfeits), *skipped]
        columns = ["", "agent", "Elo", "95 %", score_columns(drawn), *places]
        return [TextTable(title, columns, rows, notes, words=(1,), strong=(1,))]

    def table(self) -> Table:
        """A row for each agent, from best to worst; its points against each, in that order.

        Columns of points have the agent's name; one that is called like another column has
        "against" before it.
        """
        order = self.ranking
        columns = ["place", "agent", "rating", "ci95_low", "ci95_high", "wins", "draws", "losses", *FORFEITS]
        names = [self.agents[j] for j in order]
        columns += [f"against {name}" if name in columns else name for name in names]
        rows: list[list[object]] = []
        for place, i in enumerate(order, 1):
            rating, (wins, losses) = self.ratings[i], self.total(i)
            low, high = (bound if abs(bound) < 1e6 else None for bound in rating.ci95)
            scores = [(self.score(i, j), self.draws(i, j)) for j in order]
            rows.append(
                [
                    place,
                    self.agents[i],
                    rating.elo,
                    low,
                    high,
                    wins,
                    self.total_draws(i),
                    losses,
                    *self.forfeits_of(i).values(),
                    *(None if score is None else score[0] + draws / 2 for score, draws in scores),
                ]
            )
        return Table(columns, rows)

    def games_table(self) -> Table:
        """A row for each game, match by match."""
        return games_table((each.a, each.b, each.played) for each in self.matches.values())

    def _repr_html_(self) -> str:
        """The table, and the ratings where they can be drawn."""
        order, names = self.ranking, short_names(self.agents)
        found = [self.ratings[i] for i in order]
        return super()._repr_html_() + inline_svg(
            lambda: draw_ratings([brief(names[i]) for i in order], [r.elo for r in found], [r.ci95 for r in found])
        )

    def __repr__(self) -> str:
        order = ", ".join(f"{self.agents[i]} {self.ratings[i].elo:+.0f}" for i in self.ranking)
        return f"<Tournament of {self.game}, {plural(self.games, 'game')}: {order}>"


def _pairs(scores: list[float]) -> PairCounts:
    """How many pairs have 0, ½, 1, 1½ and 2 points."""
    counts = Counter(first + second for first, second in zip(scores[::2], scores[1::2], strict=True))
    return counts[0], counts[0.5], counts[1], counts[1.5], counts[2]
