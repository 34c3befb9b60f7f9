"""The results of matches and tournaments: scores, intervals, Elo, and how games ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations, product
from typing import Any, NamedTuple

from tuplet.agents.specs import short_names
from tuplet.arena.pictures import draw_ratings, draw_shares, shorten
from tuplet.arena.statistics import Z_AFTER_TEST, Decision, PairCounts, Rating, Sprt, elo, pair_share, ratings
from tuplet.games.record import FORFEITS
from tuplet.system.intervals import Interval, Z, finite, finite_interval
from tuplet.system.pictures import inline_svg
from tuplet.system.settings import describe_all_settings
from tuplet.system.tables import Displayable, Table, TextTable, percent, plural

_MOST_FORFEITS = 5  # shown of a match
_GAME_COLUMNS = ("game", "pair", "a", "b", "first", "winner", "points_a", "points_b", "ended_by", "plies", "reason")


DISQUALIFIED = "timed out in its first four games and was disqualified"

Score = tuple[int, int, int]  # wins, draws, losses
Forfeit = dict[str, Any]  # agent, side, kind, reason, games, first: as `Match.forfeits` has them


class ScheduleSlot(NamedTuple):
    """A game of the schedule: a pair of every pairing is played, then the next pair of every pairing."""

    pairing: int  # its index
    pair: int  # of this pairing
    game: int  # of the pair: in game 0 A moves first, in game 1 B
    first: int  # participant who moves first
    second: int


@cache
def pairings(agents: int, baselines: int = 0) -> list[tuple[int, int]]:
    """The pairs of participants who meet, in order: all pairs, or each of the first `baselines` and each other one."""
    if baselines:
        return list(product(range(baselines), range(baselines, agents)))
    return list(combinations(range(agents), 2))


def slot_of(number: int, agents: int = 2, baselines: int = 0) -> ScheduleSlot:
    """The slot of game `number` (from 0) in a schedule of these pairings."""
    all_pairings = pairings(agents, baselines)
    pair, rest = divmod(number, 2 * len(all_pairings))
    pairing, game = divmod(rest, 2)
    return ScheduleSlot(pairing, pair, game, *all_pairings[pairing][:: -1 if game else 1])


class GameResult(NamedTuple):
    """What a result keeps of a finished game; scores are 0 (lost), ½ (drawn) or 1 (won)."""

    a: float  # A's score
    first: float  # the score of the side that moved first
    kind: str  # how the game ended
    plies: int
    reason: str  # of a forfeit

    @classmethod
    def of(
        cls, winner: str | None, sides: Sequence[str], game: int, kind: str, plies: int, reason: str = ""
    ) -> GameResult:
        """The result of the first (0: A moved first) or second (1) game of a pair; a draw has no winner."""
        first = 0.5 if winner is None else float(winner == sides[0])
        return cls(1 - first if game else first, first, kind, plies, reason)


@dataclass(frozen=True, repr=False)
class Match(Displayable):
    """Games between A and B, in pairs, seen from A's side."""

    a: str
    b: str
    game: str
    seed: int
    planned: int  # games
    results: list[GameResult]
    sprt: Sprt | None = None
    interrupted: bool = False
    endings: tuple[str, ...] = ("corner", "elimination")  # of the game, besides forfeits
    settings: Sequence[dict[str, Any]] = ()  # all settings of A and B; not known for every file

    @property
    def games(self) -> int:
        """Number of games played."""
        return len(self.results)

    @cached_property
    def wdl(self) -> Score:
        """A's wins, draws and losses."""
        scores = Counter(each.a for each in self.results)
        return scores[1], scores[0.5], scores[0]

    @property
    def wins(self) -> int:
        """A's wins."""
        return self.wdl[0]

    @property
    def draws(self) -> int:
        """Drawn games; half a point each."""
        return self.wdl[1]

    @property
    def losses(self) -> int:
        """A's losses."""
        return self.wdl[2]

    @property
    def pair_points(self) -> list[float]:
        """A's points in each pair: 0, ½, 1, 1½ or 2."""
        return _pair_points([each.a for each in self.results])

    @cached_property
    def pairs(self) -> PairCounts:
        """The number of pairs in which A had 0, ½, 1, 1½ and 2 points."""
        return count_pairs(self.pair_points)

    @property
    def score(self) -> float:
        """A's share of the points, 0 to 1."""
        return pair_share(*self.pairs)[0]

    @property
    def ci95(self) -> Interval:
        """The interval of A's score; pairs, not games, are the independent unit.

        A test ends a match when the score is far from even: the interval is wider then.
        """
        z = Z if self.decision is None else Z_AFTER_TEST
        return pair_share(*self.pairs, z=z)[1]

    @property
    def elo(self) -> float:
        """A's Elo minus B's; infinite if one of them won everything."""
        return elo(self.score)

    @property
    def elo_ci95(self) -> Interval:
        """The interval of the difference in Elo."""
        low, high = self.ci95
        return elo(low), elo(high)

    @property
    def first_player(self) -> tuple[float, Interval]:
        """The first player's share of the points, and its interval."""
        return pair_share(*count_pairs(_pair_points([each.first for each in self.results])))

    @property
    def mean_length(self) -> float:
        """Plies per game."""
        return sum(each.plies for each in self.results) / self.games

    def kinds(self, score: float) -> dict[str, int]:
        """How A's wins (1), its draws (½), or its losses (0) came about."""
        counts = Counter(each.kind for each in self.results if each.a == score)
        return {kind: counts[kind] for kind in (*self.endings, *FORFEITS)}

    @property
    def forfeits(self) -> list[Forfeit]:
        """Forfeited games, grouped by agent, kind and reason."""
        groups: dict[tuple[bool, str, str], list[int]] = {}
        for number, each in enumerate(self.results, 1):
            if each.kind in FORFEITS:
                groups.setdefault((each.a == 1, each.kind, each.reason), []).append(number)
        return [
            {
                "agent": self.b if a_won else self.a,
                "side": "b" if a_won else "a",
                "kind": kind,
                "reason": reason,
                "games": len(numbers),
                "first": numbers[0],
            }
            for (a_won, kind, reason), numbers in groups.items()
        ]

    @property
    def llr(self) -> float | None:
        """The sequential test's log-likelihood ratio."""
        return self.sprt.llr(*self.pairs) if self.sprt else None

    @property
    def decision(self) -> Decision | None:
        """The hypothesis that the sequential test accepts; None while it is undecided."""
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
            "win_rate": self.score,
            "ci95": list(self.ci95),
            "elo": finite(self.elo),
            "elo_ci95": finite_interval(self.elo_ci95),
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
        """Score, Elo, and how the games went, with intervals."""
        lost, *between, won = self.pairs
        first, first_ci95 = self.first_player
        drawn = self.draws > 0
        pairs = f"{won:,} won, {sum(between):,} split, {lost:,} lost"
        if drawn:
            pairs = ", ".join(f"{n:,}" for n in self.pairs)
        rows = [
            [_wdl_columns(drawn), _wdl_text(self.wdl, drawn, " - "), ""],
            ["share", percent(self.score), _share_range(self.ci95)],
            ["Elo", elo_text(self.elo), f"95 %: {' to '.join(map(elo_text, self.elo_ci95))}"],
            ["pairs", pairs, "with 0, ½, 1, 1½, 2 points" if drawn else ""],
            ["first player", percent(first), _share_range(first_ci95)],
            ["length", f"{self.mean_length:.1f} plies", ""],
        ]
        notes = describe_all_settings([self.a, self.b], self.settings)
        if self.sprt is not None and self.llr is not None:
            low, high = self.sprt.bounds
            answer = {
                "H0": f"H0 accepted: {self.sprt.elo0:g} Elo",
                "H1": f"H1 accepted: {self.sprt.elo1:g} Elo",
                None: "no answer yet",
            }[self.decision]
            rows.append(["test", answer, f"LLR {self.llr:.2f} ({low:.2f} to {high:.2f})"])
            if self.decision is not None:
                notes.append("The test ended the match early: the interval is widened to keep 95 % coverage.")
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
            TextTable(title, (), rows, notes, words=(0, 1, 2), strong=(1,)),
            TextTable("", columns, endings, self._forfeit_lines()),
        ]

    def _forfeit_lines(self) -> list[str]:
        """Who forfeited games and why, a line for each reason."""
        lines = []
        for each in self.forfeits[:_MOST_FORFEITS]:
            opponent = self.b if each["side"] == "a" else self.a
            games = plural(each["games"], "game") if each["games"] > 1 else "a game"
            lines.append(f"{each['agent']} forfeited {games} against {opponent} ({each['kind']}): {each['reason']}")
        more = len(self.forfeits) - _MOST_FORFEITS
        return [*lines, f"... and for {more:,} other reasons: see --json"] if more > 0 else lines

    def table(self) -> Table:
        """A row for each game."""
        return Table(_GAME_COLUMNS, list(self._game_rows()))

    def _game_rows(self) -> Iterator[tuple[object, ...]]:
        for number, each in enumerate(self.results):
            first = self.b if number % 2 else self.a  # sides are exchanged in a pair
            winner = {1.0: self.a, 0.0: self.b}.get(each.a)
            who = (self.a, self.b, first, winner)
            yield number + 1, number // 2 + 1, *who, each.a, 1 - each.a, each.kind, each.plies, each.reason

    def _repr_html_(self) -> str:
        """The tables, and the score as games were played."""
        title = f"{shorten(self.a)} - {shorten(self.b)}, {self.game}"
        return super()._repr_html_() + inline_svg(lambda: draw_shares(self.pair_points, title))

    def __repr__(self) -> str:
        score = _wdl_text(self.wdl, self.draws > 0)
        percents = f"{100 * self.score:.1f} % ({_share_range(self.ci95)})"
        return f"<Match {self.a} - {self.b}, {self.game}: {score}, {percents}>"


class Standing(NamedTuple):
    """An agent in the table of a tournament."""

    place: int  # from 1
    number: int  # in `Tournament.agents`
    agent: str
    rating: Rating
    total: Score
    against: list[Score | None]  # each agent, from best to worst; None where they have not met


@dataclass(frozen=True, repr=False)
class Tournament(Displayable):
    """A match for each pairing, and ratings."""

    agents: list[str]
    game: str
    seed: int
    planned: int  # games of each pairing
    matches: dict[tuple[int, int], Match]  # by the indices of A and B in `agents`
    interrupted: bool = False
    settings: Sequence[dict[str, Any]] = ()  # all settings of each agent; not known for every file
    skipped: Sequence[tuple[str, str]] = ()  # of a folder of programs: what did not play, and why
    baselines: int = 0  # the first agents, if only games against them are played

    @classmethod
    def of(
        cls,
        agents: list[str],
        game: str,
        seed: int,
        planned: int,
        results: list[GameResult],
        interrupted: bool = False,
        endings: tuple[str, ...] = ("corner", "elimination"),
        settings: Sequence[dict[str, Any]] = (),
        baselines: int = 0,
    ) -> Tournament:
        """Sort the games of a schedule into matches; an unfinished pair is left out."""
        by_pairing: dict[tuple[int, int], list[GameResult]] = {}
        for number, each in enumerate(results[: len(results) // 2 * 2]):
            slot = slot_of(number, len(agents), baselines)
            a, b = sorted((slot.first, slot.second))
            by_pairing.setdefault((a, b), []).append(each)
        matches = {
            (i, j): Match(agents[i], agents[j], game, seed, planned, games, endings=endings)
            for (i, j), games in by_pairing.items()
        }
        return cls(agents, game, seed, planned, matches, interrupted, settings, baselines=baselines)

    @property
    def games(self) -> int:
        """Number of games played in all."""
        return sum(match.games for match in self.matches.values())

    @cached_property
    def ratings(self) -> list[Rating]:
        """In the order of agents, relative to their mean."""
        pairs = {pairing: match.pairs for pairing, match in self.matches.items()}
        return ratings(len(self.agents), pairs)

    @property
    def ranking(self) -> list[int]:
        """The agents from best to worst."""
        return sorted(range(len(self.agents)), key=lambda i: -self.ratings[i].elo)

    def score(self, i: int, j: int) -> Score | None:
        """Wins, draws and losses of agent i against agent j; None if they have not met."""
        if (i, j) in self.matches:
            return self.matches[i, j].wdl
        if (j, i) in self.matches:
            wins, draws, losses = self.matches[j, i].wdl
            return losses, draws, wins
        return None

    @cached_property
    def standings(self) -> list[Standing]:
        """The agents from best to worst."""
        standings = []
        for place, i in enumerate(self.ranking, 1):
            against = [self.score(i, j) for j in self.ranking]
            wins, draws, losses = (sum(score[k] for score in against if score) for k in range(3))
            standings.append(Standing(place, i, self.agents[i], self.ratings[i], (wins, draws, losses), against))
        return standings

    def forfeits_of(self, agent: int) -> dict[str, int]:
        """How many games an agent forfeited, by kind."""
        lost = [match.kinds(0 if agent == i else 1) for (i, j), match in self.matches.items() if agent in (i, j)]
        return {kind: sum(kinds[kind] for kinds in lost) for kind in FORFEITS}

    @property
    def forfeits(self) -> list[Forfeit]:
        """The forfeits of all matches."""
        return [each for match in self.matches.values() for each in match.forfeits]

    def as_json(self) -> dict[str, Any]:
        """Agents from best to worst, and every match."""
        table = []
        for each in self.standings:
            wins, draws, losses = each.total
            row = {"agent": each.agent, "rating": each.rating.elo, "ci95": finite_interval(each.rating.ci95)}
            row |= {"wins": wins, "draws": draws, "losses": losses}
            table.append(row | ({"settings": self.settings[each.number]} if self.settings else {}))
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
        """Ratings from best to worst, and a cross table."""
        names, standings = short_names(self.agents), self.standings
        drawn = any(match.draws for match in self.matches.values())
        rows = [
            [
                str(each.place),
                names[each.number],
                elo_text(each.rating.elo),
                " to ".join(map(elo_text, each.rating.ci95)),
                _wdl_text(each.total, drawn, " - "),
                *("·" if score is None else _wdl_text(score, drawn) for score in each.against),
            ]
            for each in standings
        ]
        title = f"{len(self.agents)} agents  {self.game}  {plural(self.games, 'game')}"
        notes = ["Elo relative to the mean of all; a column for each opponent, by its place."]
        notes += [f"{names[each.number]} is {each.agent}" for each in standings if names[each.number] != each.agent]
        notes += describe_all_settings(self.agents, self.settings)
        notes += self.forfeit_lines()
        notes += [f"{name} does not play: {why}" for name, why in self.skipped]
        columns = ["", "agent", "Elo", "95 %", _wdl_columns(drawn), *(str(each.place) for each in standings)]
        return [TextTable(title, columns, rows, notes, words=(1,), strong=(1,))]

    def forfeit_lines(self) -> list[str]:
        """How many games each agent forfeited, and the reason of the first, a line for each kind."""
        groups: dict[tuple[str, str], list[Forfeit]] = {}
        for each in self.forfeits:
            groups.setdefault((each["agent"], each["kind"]), []).append(each)
        lines = []
        for (agent, kind), own in groups.items():
            games = plural(sum(each["games"] for each in own), "game")
            reason = own[0]["reason"].removeprefix(f"{agent}: ") + disqualified_text(own)
            lines.append(f"{agent} forfeited {games} ({kind}): {reason}")
        return lines

    def table(self) -> Table:
        """A row for each agent, from best to worst; its points against each, in that order.

        Columns of points have the agent's name, with "against" before it where another column has that name.
        """
        columns = ["place", "agent", "rating", "ci95_low", "ci95_high", "wins", "draws", "losses", *FORFEITS]
        names = [self.agents[i] for i in self.ranking]
        columns += [f"against {name}" if name in columns else name for name in names]
        rows = [
            [
                each.place,
                each.agent,
                each.rating.elo,
                *finite_interval(each.rating.ci95),
                *each.total,
                *self.forfeits_of(each.number).values(),
                *(None if score is None else score[0] + score[1] / 2 for score in each.against),
            ]
            for each in self.standings
        ]
        return Table(columns, rows)

    def games_table(self) -> Table:
        """A row for each game, match by match."""
        return Table(_GAME_COLUMNS, [row for match in self.matches.values() for row in match._game_rows()])

    def _repr_html_(self) -> str:
        """The table and the ratings."""
        names = short_names(self.agents)
        rows = [(shorten(names[each.number]), each.rating.elo, each.rating.ci95) for each in self.standings]
        return super()._repr_html_() + inline_svg(lambda: draw_ratings(rows))

    def __repr__(self) -> str:
        order = ", ".join(f"{each.agent} {each.rating.elo:+.0f}" for each in self.standings)
        return f"<Tournament of {self.game}, {plural(self.games, 'game')}: {order}>"


def _pair_points(scores: list[float]) -> list[float]:
    return [first + second for first, second in zip(scores[::2], scores[1::2], strict=True)]


def count_pairs(points: Sequence[float]) -> PairCounts:
    """The number of pairs with 0, ½, 1, 1½ and 2 points."""
    counts = Counter(points)
    return counts[0], counts[0.5], counts[1], counts[1.5], counts[2]


def disqualified_text(forfeits: Sequence[Forfeit]) -> str:
    """How many of an agent's forfeits were not played; empty if all were."""
    unplayed = sum(each["games"] for each in forfeits if each["reason"].endswith(DISQUALIFIED))
    return f"; {unplayed:,} of them were not played: it {DISQUALIFIED}" if unplayed else ""


def _wdl_columns(drawn: bool) -> str:
    return "wins - draws - losses" if drawn else "wins - losses"


def _wdl_text(score: Score, drawn: bool, separator: str = "-") -> str:
    """A score as text; draws only where some games are drawn."""
    wins, draws, losses = score
    return separator.join(f"{n:,}" for n in ((wins, draws, losses) if drawn else (wins, losses)))


def _share_range(interval: Interval) -> str:
    low, high = interval
    return f"95 %: {100 * low:.1f} to {100 * high:.1f}"


def elo_text(elo: float) -> str:
    """A difference in Elo as text."""
    if finite(elo) is None:
        return "∞" if elo > 0 else "-∞"
    return f"{round(elo):+d}"
