"""What is said of strength: intervals, Elo, the sequential test, ratings."""

from __future__ import annotations

import json
import math
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from holds import drawn_pairs, means, pair_results, rated, shares, shares_after_test
from tuplet.arena.match import _Schedule
from tuplet.arena.match_file import _result
from tuplet.arena.results import GameResult, Match, Tournament
from tuplet.arena.statistics import Sprt, Z, _of_five, _of_three, effective_games, elo, pair_share, ratings, share_at
from tuplet.games.record import FORFEITS
from tuplet.system.intervals import mean_interval, share_interval


@pytest.mark.parametrize("split", [0.0, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("pairs", [10, 12, 20, 50])
def test_the_interval_of_a_share_has_its_coverage_for_every_true_share(pairs: int, split: float) -> None:
    """Near 1 as well, where Wilson's fell to 83.5 %."""
    held = shares(pairs, lambda share: pair_results(share, split))
    assert held > (0.92 if split == 0 else 0.935)


@pytest.mark.parametrize("drawn", [0.1, 0.9])  # of the games that could be
@pytest.mark.parametrize("alike", [-1.0, 0.0, 1.0])
def test_the_interval_of_a_share_has_its_coverage_for_every_true_share_with_draws(alike: float, drawn: float) -> None:
    assert shares(10, lambda share: drawn_pairs(share, drawn * 2 * (1 - share), alike)) > 0.92


def test_a_share_is_certain_only_if_nothing_speaks_against_it() -> None:
    for total in (2, 10, 1000):
        low, high = share_interval(1, total)
        assert 0 < low < 1 / total < high < 1
        assert share_interval(0, total)[0] == 0 and share_interval(total, total)[1] == 1
        assert share_interval(total - 1, total) == pytest.approx((1 - high, 1 - low))


def held(share: float, chances: list[float], pairs: int, matches: int) -> float:
    """The share of simulated matches whose interval holds the truth."""
    counts = np.random.default_rng(1).multinomial(pairs, chances, matches)
    inside = 0
    for seen, times in zip(*np.unique(counts, axis=0, return_counts=True), strict=True):
        low, high = pair_share(*seen.tolist())[1]
        inside += times * (low <= share <= high)
    return inside / matches


@pytest.mark.parametrize("alike", [-1.0, -0.5, 0.0, 0.5, 1.0])
@pytest.mark.parametrize("draws", [0.1, 0.5, 0.9])
def test_the_interval_of_a_share_has_its_coverage_with_draws(draws: float, alike: float) -> None:
    for edge in (0.0, 0.3, 0.9):  # of the games not drawn
        share = 0.5 + edge * (1 - draws) / 2
        for pairs in (10, 50, 500):
            assert held(share, drawn_pairs(share, draws, alike), pairs, 500) > 0.92


@pytest.mark.long
@pytest.mark.parametrize("pairs", [5, 10, 25, 50, 500, 5000])
def test_the_interval_of_a_share_has_its_coverage_with_any_draws(pairs: int) -> None:
    for draws in (0.01, 0.1, 0.5, 0.9, 0.99):
        for edge in (0.0, 0.2, 0.6, 0.9, 0.98):
            share = 0.5 + edge * (1 - draws) / 2
            for alike in (-1.0, -0.5, 0.0, 0.5, 1.0):
                inside = held(share, drawn_pairs(share, draws, alike), pairs, 5000)
                assert inside > (0.93 if pairs > 10 else 0.9)


def test_games_of_a_pair_that_end_alike_count_as_one() -> None:
    assert effective_games(50, 0, 50) == pytest.approx(100)
    assert effective_games(0, 0, 7) == pytest.approx(7)
    assert effective_games(500, 1000, 500) == pytest.approx(4000, rel=0.01)
    # Pairs that are always split tell more, but a few of them are no proof.
    assert effective_games(0, 1000, 0) > 10_000
    assert effective_games(0, 2, 0) < 4
    assert pair_share(50, 0, 50)[1] == pytest.approx(share_interval(50, 100))


def test_pairs_with_a_draw_vary_as_their_points_say() -> None:
    """Against the variance of pairs written out one by one, and the same from the other side."""
    for counts in np.random.default_rng(4).integers(0, 30, (100, 5)).tolist():
        pairs = np.repeat(np.arange(5) / 4, [counts[0], *counts[1:4], counts[4] + 1])
        added = np.concatenate([pairs, [0, 1]])
        weights = np.concatenate([np.ones(len(pairs)), [Z * Z / 2] * 2])
        share = np.average(added, weights=weights)
        variance = np.average((added - share) ** 2, weights=weights)
        five = (*counts[:4], counts[4] + 1)
        expected = len(pairs) * share * (1 - share) / variance
        assert effective_games(*five) == pytest.approx(expected)
        assert effective_games(*five) == pytest.approx(effective_games(*five[::-1]))


def test_three_counts_are_five_without_draws() -> None:
    for lost, split, won in np.random.default_rng(2).integers(0, 40, (200, 3)).tolist():
        three, five = (lost, split, won + 1), (lost, 0, split, 0, won + 1)
        assert effective_games(*three) == effective_games(*five)
        assert pair_share(*three) == pair_share(*five)
        assert Sprt(0, 30).llr(*three) == Sprt(0, 30).llr(*five)
        assert ratings(2, {(0, 1): three}) == ratings(2, {(0, 1): five})


def test_draws_are_half_a_win_and_make_a_share_more_certain() -> None:
    # Independent games, half of them drawn: their variance is half of that without draws.
    share, (low, high) = pair_share(625, 2500, 3750, 2500, 625)
    assert share == 0.5
    assert effective_games(625, 2500, 3750, 2500, 625) == pytest.approx(40_000, rel=0.01)
    assert high - low < 0.8 * np.diff(pair_share(2500, 5000, 2500)[1])
    assert pair_share(0, 10, 0, 30, 0)[0] == 0.625
    assert effective_games(0, 0, 3, 0, 0) < 6  # a few draws are no proof
    one, other = ratings(2, {(0, 1): (0, 300, 500, 900, 0)})
    assert one.elo - other.elo == pytest.approx(elo((150 + 500 + 1350) / 3400), abs=1)


def test_elo_of_a_share_and_back() -> None:
    assert elo(0.5) == 0
    assert elo(10 / 11) == pytest.approx(400)
    assert (elo(0.0), elo(1.0)) == (-math.inf, math.inf)
    for difference in (-321.0, -1.0, 0.0, 50.0):
        assert elo(share_at(difference)) == pytest.approx(difference)


def test_a_match_that_was_won_outright_is_json_without_infinity() -> None:
    won = [GameResult(1, float(n % 2 == 0), "corner", 30, "") for n in range(10)]
    report = Match("a", "b", "ewn", 0, 10, won).as_json()
    text = json.dumps(report, allow_nan=False)
    assert json.loads(text)["elo"] is None
    low, high = report["elo_ci95"]
    assert low > 0 and high is None
    assert report["ci95"][1] == 1.0 and report["pairs"]["both_won"] == 5


# Pairs of a game with draws: A is Black, then White.
DRAWN = [
    GameResult.of(winner, ("black", "white"), n % 2, kind, 9, "")
    for n, (winner, kind) in enumerate(
        [
            ("black", "row"),
            (None, "full"),
            ("white", "row"),
            ("white", "late"),
            (None, "full"),
            (None, "full"),
            ("black", "row"),
            ("white", "row"),
        ]
    )
]


def test_draws_are_counted_apart_from_wins_and_losses() -> None:
    assert [each.a for each in DRAWN] == [1, 0.5, 0, 1, 0.5, 0.5, 1, 1]
    assert [each.first for each in DRAWN] == [1, 0.5, 0, 0, 0.5, 0.5, 1, 0]
    match = Match("a", "b", "rows", 0, 8, DRAWN, endings=("row", "full"))
    assert (match.wins, match.draws, match.losses) == (4, 3, 1)
    assert match.pairs == (0, 0, 2, 1, 1) and match.score == 5.5 / 8
    assert match.first_player[0] == 3.5 / 8
    assert match.kinds(0.5) == {"row": 0, "full": 3, **dict.fromkeys(FORFEITS, 0)}
    report = match.as_json()
    assert (report["wins"], report["draws"], report["losses"]) == (4, 3, 1)
    assert report["pairs"] == {"both_won": 1, "split": 3, "both_lost": 0, "pentanomial": [0, 0, 2, 1, 1]}
    assert report["kinds"]["wins"]["late"] == 1 and report["kinds"]["draws"]["full"] == 3
    assert [f["agent"] for f in report["forfeits"]] == ["b"]
    whole, endings = match.text_tables()
    assert list(whole.rows[0]) == ["wins - draws - losses", "4 - 3 - 1", ""]
    assert list(endings.columns) == ["ended by", "a", "drawn", "b"]
    assert ["full", "0", "3", "0"] in endings.rows and "4-3-1" in repr(match)
    schedule = _Schedule(["easy", "easy"], "ewn", 8, 0, 1, Sprt(0, 50))
    assert not any(schedule._add(each) for each in DRAWN)
    assert tuple(schedule.pairs) == match.pairs and schedule._progress().figures["score"] == "4-3-1"


def test_nothing_is_said_of_draws_where_there_are_none() -> None:
    won = [GameResult(1, float(n % 2 == 0), "corner", 30, "") for n in range(4)]
    match = Match("a", "b", "ewn", 0, 4, won)
    assert list(match.kinds(1)) == ["corner", "elimination", "late", "illegal", "crashed", "memory"]
    whole, endings = match.text_tables()
    assert list(whole.rows[0]) == ["wins - losses", "4 - 0", ""]
    assert list(whole.rows[3]) == ["pairs", "2 won, 0 split, 0 lost", ""]
    assert list(endings.columns) == ["won by", "a", "b"] and "4-0" in repr(match)
    table = Tournament.of(["a", "b"], "ewn", 0, 4, won).text_tables()[0]
    assert "wins - losses" in table.columns and "4-0" in table.rows[0]


def test_players_may_be_called_like_columns_of_the_table() -> None:
    names = ["agent", "wins", "late"]
    won = {pair: [GameResult(1.0, 0.0, "corner", 9, "")] * 2 for pair in ((0, 1), (0, 2), (1, 2))}
    whole = Tournament.of(names, "ewn", 0, 6, [each for some in won.values() for each in some])
    columns, _ = whole.table()
    assert len({*columns}) == len(columns)
    for row in whole.to_dicts():
        assert row["agent"] in names and row["wins"] == whole.standings[row["place"] - 1].total[0]
        assert row[f"against {row['agent']}"] is None and row["late"] == 0


def test_a_tournament_counts_draws() -> None:
    whole = Tournament.of(["a", "b"], "rows", 0, 8, DRAWN, endings=("row", "full"))
    assert whole.score(1, 0) == (1, 3, 4) and whole.score(0, 1) == (4, 3, 1)
    assert [agent["draws"] for agent in whole.as_json()["agents"]] == [3, 3]
    table = whole.text_tables()[0]
    assert "wins - draws - losses" in table.columns
    assert "4 - 3 - 1" in table.rows[0] and "1-3-4" in table.rows[1]


def test_a_line_without_a_winner_is_a_draw() -> None:
    rows = Mock(sides=("black", "white"), terminations=("row", "full"), has_draws=True)

    def read(**line: object) -> GameResult:
        text = json.dumps({"pair": 0, "a": "white", "moves": ["1", "2"], **line})
        return _result(Path("m"), 1, text.encode(), {"agents": ["a", "b"]}, rows)

    assert read(kind="full") == GameResult(0.5, 0.5, "full", 2, "")
    assert read(kind="row", winner="white") == GameResult(1, 0, "row", 2, "")
    for wrong in ({"kind": "late"}, {}, {"kind": "corner"}, {"kind": "row", "winner": "red"}):
        with pytest.raises(ValueError, match="line 3 is not game 2"):
            read(**wrong)


def errors(test: Sprt, chances: list[float], matches: int = 2000) -> tuple[float, float]:
    """The shares of simulated matches that accept H0 and H1."""
    random = np.random.default_rng(11)
    low, high = test.bounds
    kinds = len(chances)
    ends = np.cumsum(chances)[:-1]
    counts = np.zeros((matches, kinds))
    accepted = {"H0": 0, "H1": 0}
    for _ in range(200):
        results = np.searchsorted(ends, random.random((len(counts), 64)), side="right")
        path = counts[:, None] + np.cumsum(results[..., None] == np.arange(kinds), axis=1)
        llrs = test.llrs(path)
        outside = (llrs <= low) | (llrs >= high)
        ended = outside.any(1)
        last = llrs[np.arange(len(counts)), outside.argmax(1)][ended]
        accepted["H0"] += int((last <= low).sum())
        accepted["H1"] += int((last >= high).sum())
        counts = path[~ended, -1]
        if not len(counts):
            break
    return accepted["H0"] / matches, accepted["H1"] / matches


@pytest.mark.parametrize("split", [0.0, 0.5, 0.95])
@pytest.mark.parametrize(("elo0", "elo1"), [(0, 50), (-30, 30), (200, 300), (-400, -300)])
def test_the_sequential_test_errs_at_most_once_in_twenty(elo0: float, elo1: float, split: float) -> None:
    test = Sprt(elo0, elo1)
    right, wrong = errors(test, pair_results(share_at(elo0), split))
    assert wrong <= 0.05 and right > 0.94
    wrong, right = errors(test, pair_results(share_at(elo1), split))
    assert wrong <= 0.05 and right > 0.94


def errs_at_most_once_in_twenty(test: Sprt, draws: float, alike: float, matches: int) -> None:
    right, wrong = errors(test, drawn_pairs(share_at(test.elo0), draws, alike), matches)
    assert wrong <= 0.05 and right > 0.94
    wrong, right = errors(test, drawn_pairs(share_at(test.elo1), draws, alike), matches)
    assert wrong <= 0.05 and right > 0.94


@pytest.mark.parametrize(
    ("elo0", "elo1", "draws", "alike"),
    [(0, 100, 0.1, 0.0), (0, 100, 0.5, 0.9), (0, 30, 0.9, 0.0), (200, 300, 0.3, -0.9)],
)
def test_the_sequential_test_errs_at_most_once_in_twenty_with_draws(
    elo0: float, elo1: float, draws: float, alike: float
) -> None:
    errs_at_most_once_in_twenty(Sprt(elo0, elo1), draws, alike, 500)


@pytest.mark.long
@pytest.mark.parametrize("alike", [-0.9, 0.0, 0.9])
@pytest.mark.parametrize(
    ("elo0", "elo1", "draws"),
    [
        (0, 50, 0.02),
        (0, 50, 0.1),
        (0, 50, 0.5),
        (0, 50, 0.8),
        (-30, 30, 0.1),
        (-30, 30, 0.5),
        (-30, 30, 0.9),
        (0, 20, 0.9),
        (200, 300, 0.15),
        (200, 300, 0.3),
        (-400, -300, 0.15),
    ],
)
def test_the_sequential_test_errs_at_most_once_in_twenty_with_any_draws(
    elo0: float, elo1: float, draws: float, alike: float
) -> None:
    errs_at_most_once_in_twenty(Sprt(elo0, elo1), draws, alike, 4000)


def test_the_log_likelihood_ratio_is_that_of_the_best_distributions() -> None:
    """Against a search over all distributions with the mean of each hypothesis."""
    counts, test = np.array([17.0, 41.0, 30.0]), Sprt(0, 100)
    best = []
    for mean in (share_at(0), share_at(100)):
        splits = np.linspace(1e-6, 2 * min(mean, 1 - mean) - 1e-6, 200_001)
        chances = np.array([1 - mean - splits / 2, splits, mean - splits / 2])
        best.append((counts[:, None] * np.log(chances)).sum(0).max())
    assert test.llr(17, 41, 30) == pytest.approx(best[1] - best[0], abs=1e-6)
    assert test.llr(0, 0, 0) == pytest.approx(0, abs=1e-3)
    many = test.llrs(np.array([[17, 41, 30], [0, 5, 0], [0, 0, 9]]))
    assert many[0] == test.llr(17, 41, 30) and many[1] < 0 < many[2]


def test_the_most_likely_distributions_with_draws_are_those_of_a_search() -> None:
    """All five results: three shares are free, as the mean and the sum are given."""
    counts, test = np.array([6.0, 9.0, 20.0, 17.0, 8.0]), Sprt(0, 100)
    best = []
    for mean in (share_at(0), share_at(100)):
        inner = np.full(3, 0.2)
        found, width = -np.inf, 0.2
        while width > 1e-7:  # the likelihood is concave: closer and closer around the best
            steps = np.stack(np.meshgrid(*[np.linspace(-width, width, 13)] * 3), -1).reshape(-1, 3)
            tried = inner + steps
            won = mean - tried @ [0.25, 0.5, 0.75]
            chances = np.column_stack([1 - tried.sum(1) - won, tried, won])
            chances = np.where((chances > 0).all(1, keepdims=True), chances, 1e-300)
            likely = np.log(chances) @ counts
            found = max(found, float(likely.max()))
            inner, width = tried[likely.argmax()], width * 0.6
        best.append(found)
    assert test.llr(6, 9, 20, 17, 8) == pytest.approx(best[1] - best[0], abs=1e-6)


def test_the_search_for_a_root_finds_the_closed_form_without_draws() -> None:
    random = np.random.default_rng(4)
    counts = np.concatenate([random.integers(0, top, (500, 3)) for top in (2, 5, 40, 3000)])
    shares = np.maximum(counts, 1e-3) / np.maximum(counts, 1e-3).sum(1, keepdims=True)
    for mean in (share_at(-900), 0.3, 0.5, share_at(400)):
        away = np.linspace(0, 1, 5) - mean
        exact = _of_three(shares, away[::2])
        found = _of_five(np.insert(shares, [1, 2], 0, axis=1), away, np.zeros(len(shares)))
        assert found == pytest.approx(exact, abs=1e-9, rel=1e-9)


@pytest.mark.parametrize("text", ["", "5", "20,0", "3,3", "a,b", "0,20,40", "nan,3", "0,inf"])
def test_a_sequential_test_that_asks_nothing_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="sprt must be elo0,elo1"):
        Sprt.parse(text)


def test_ratings_recover_known_strengths() -> None:
    random = np.random.default_rng(5)
    truth = np.array([-200.0, -50.0, 0.0, 60.0, 190.0])
    inside = total = 0
    for trial in range(100):
        pairings = {}
        for i in range(5):
            for j in range(i + 1, 5):
                chances = pair_results(share_at(truth[i] - truth[j]), (0.0, 0.5, 0.9)[trial % 3])
                lost, split, won = random.multinomial(50, chances).tolist()
                pairings[i, j] = (lost, split, won)
        found = ratings(5, pairings)
        assert sum(rating.elo for rating in found) == pytest.approx(0, abs=1e-6)
        for rating, true in zip(found, truth, strict=True):
            total += 1
            inside += rating.ci95[0] <= true <= rating.ci95[1]
    assert inside / total > 0.92


def test_an_agent_that_wins_or_loses_everything_has_a_rating() -> None:
    best, middle, worst = ratings(3, {(0, 1): (0, 0, 20), (0, 2): (0, 0, 20), (1, 2): (0, 0, 20)})
    assert best.elo > middle.elo > worst.elo
    assert all(math.isfinite(bound) for r in (best, middle, worst) for bound in r.ci95)
    assert middle.elo == pytest.approx(0, abs=1e-6)
    # Two agents: the rating is the Elo of the score, but for the prior.
    one, other = ratings(2, {(0, 1): (100, 200, 300)})
    assert one.elo - other.elo == pytest.approx(elo(800 / 1200), abs=1)


@pytest.mark.parametrize("games", [2, 3, 5, 10, 20])
def test_the_interval_of_a_mean_covers_it_however_few_games_there_are(games: int) -> None:
    random = np.random.default_rng(games)
    trials = 4000
    covered = 0
    for values in random.normal(100, 15, (trials, games)):
        low, high = mean_interval([*map(float, values)])
        covered += low <= 100 <= high
    assert 0.94 <= covered / trials <= 0.96


@pytest.mark.parametrize("player", ["small", "homework"])
def test_the_interval_of_a_mean_score_has_its_coverage_for_real_games(player: str) -> None:
    for games in (2, 3, 5, 10, 20):
        assert means(player, games, 2000) > 0.935


def test_a_match_that_the_test_ended_says_so_and_has_a_wider_interval() -> None:
    won = [GameResult(1, float(n % 2 == 0), "corner", 9, "") for n in range(40)]
    ended, free = (Match("a", "b", "ewn", 0, 40, won, Sprt(0, 200)), Match("a", "b", "ewn", 0, 40, won))
    assert "ended the match" in ended.text_tables()[0].notes[0] and not free.text_tables()[0].notes
    assert ended.ci95[0] < free.ci95[0] and ended.elo_ci95[0] < free.elo_ci95[0]
    assert ended.as_json()["stopped_by_test"] and "stopped_by_test" not in free.as_json()
    open_ = Match("a", "b", "ewn", 0, 40, won[:4], Sprt(0, 20))
    assert open_.as_json()["stopped_by_test"] is False
    assert open_.ci95 == Match("a", "b", "ewn", 0, 40, won[:4]).ci95


@pytest.mark.parametrize(("elo0", "elo1", "elo"), [(0, 100, 0), (300, 500, 450)])
def test_the_interval_has_its_coverage_if_a_test_ended_the_match(elo0: float, elo1: float, elo: float) -> None:
    test = Sprt(elo0, elo1)
    assert shares_after_test(test, elo, 0.1, 500) > 0.94 > shares_after_test(test, elo, 0.1, 500, Z)


def test_ratings_have_their_coverage_if_strengths_are_far_apart() -> None:
    for agents, pairs in ((2, 5), (2, 10), (3, 5), (3, 20)):
        assert rated(700, agents, pairs, 0.1, 100) > 0.9
    # One that won everything may be stronger still, by more than it may be weaker.
    best = ratings(2, {(0, 1): (0, 0, 10)})[0]
    assert best.ci95[1] - best.elo > best.elo - best.ci95[0]
