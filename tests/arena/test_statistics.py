"""What is said of strength: intervals, Elo, the sequential test, ratings."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from tuplet.arena.intervals import effective_games, elo, pair_share, share_at, wilson
from tuplet.arena.ratings import ratings
from tuplet.arena.results import Match, Played
from tuplet.arena.sprt import Sprt


def pair_results(share: float, split: float) -> list[float]:
    """Chances that a pair is lost, split, won; `split` 0: both games end alike, 1: the opposite.

    At `split` 0.5 and an even share the games of a pair are independent.
    """
    chance = split * 2 * min(share, 1 - share)
    return [max(1 - share - chance / 2, 0.0), chance, max(share - chance / 2, 0.0)]


@pytest.mark.parametrize("split", [0.0, 0.5, 0.95])
@pytest.mark.parametrize("share", [0.5, 0.6, 0.8, 0.95])
@pytest.mark.parametrize("pairs", [10, 50, 500])
def test_the_interval_of_a_share_holds_the_truth(share: float, split: float, pairs: int) -> None:
    random = np.random.default_rng(1)
    counts = random.multinomial(pairs, pair_results(share, split), 1000)
    inside = 0
    for lost, also, won in counts.tolist():
        low, high = pair_share(lost, also, won)[1]
        inside += low <= share <= high
    assert inside / 1000 > (0.93 if pairs > 10 else 0.9)


def test_games_of_a_pair_that_end_alike_count_as_one() -> None:
    assert effective_games(50, 0, 50) == pytest.approx(100)
    assert effective_games(0, 0, 7) == pytest.approx(7)
    assert effective_games(500, 1000, 500) == pytest.approx(4000, rel=0.01)
    # Pairs that are always split tell more, but a few of them are no proof.
    assert effective_games(0, 1000, 0) > 10_000
    assert effective_games(0, 2, 0) < 4
    assert pair_share(50, 0, 50)[1] == pytest.approx(wilson(50, 100))


def test_elo_of_a_share_and_back() -> None:
    assert elo(0.5) == 0
    assert elo(10 / 11) == pytest.approx(400)
    assert (elo(0.0), elo(1.0)) == (-math.inf, math.inf)
    for difference in (-321.0, -1.0, 0.0, 50.0):
        assert elo(share_at(difference)) == pytest.approx(difference)


def test_a_match_that_was_won_outright_is_json_without_infinity() -> None:
    won = [Played(True, n % 2 == 0, "corner", 30, "") for n in range(10)]
    report = Match("a", "b", "ewn", 0, 10, won).as_json()
    text = json.dumps(report, allow_nan=False)
    assert json.loads(text)["elo"] is None
    low, high = report["elo_ci95"]
    assert low > 0 and high is None
    assert report["ci95"][1] == 1.0 and report["pairs"]["both_won"] == 5


def errors(test: Sprt, true: float, split: float, matches: int = 2000) -> tuple[float, float]:
    """The shares of simulated matches that accept H0 and H1."""
    random = np.random.default_rng(11)
    low, high = test.bounds
    chances = np.cumsum(pair_results(share_at(true), split))
    counts = np.zeros((matches, 3))
    accepted = {"H0": 0, "H1": 0}
    for _ in range(200):
        results = np.searchsorted(chances[:2], random.random((len(counts), 64)), side="right")
        path = counts[:, None] + np.cumsum(results[..., None] == np.arange(3), axis=1)
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
def test_the_sequential_test_errs_at_most_once_in_twenty(
    elo0: float, elo1: float, split: float
) -> None:
    test = Sprt(elo0, elo1)
    right, wrong = errors(test, elo0, split)
    assert wrong <= 0.05 and right > 0.94
    wrong, right = errors(test, elo1, split)
    assert wrong <= 0.05 and right > 0.94


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


@pytest.mark.parametrize("text", ["", "5", "20,0", "3,3", "a,b", "0,20,40", "nan,3", "0,inf"])
def test_a_sequential_test_that_asks_nothing_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="sequential test"):
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


def test_who_wins_or_loses_everything_has_a_rating() -> None:
    best, middle, worst = ratings(3, {(0, 1): (0, 0, 20), (0, 2): (0, 0, 20), (1, 2): (0, 0, 20)})
    assert best.elo > middle.elo > worst.elo
    assert all(math.isfinite(bound) for r in (best, middle, worst) for bound in r.ci95)
    assert middle.elo == pytest.approx(0, abs=1e-6)
    # Two agents: the rating is the Elo of the score, but for the prior.
    one, other = ratings(2, {(0, 1): (100, 200, 300)})
    assert one.elo - other.elo == pytest.approx(elo(800 / 1200), abs=1)
