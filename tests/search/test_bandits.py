"""Bandits: their formulas against plain ones, what they learn, their names, and anybody's own."""

from __future__ import annotations

import math
import random
import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from both_ways import in_both_ways
from positions import random_positions
from tuplet.agents.searchers import Mcts, search_from
from tuplet.agents.specs import Spec
from tuplet.games import protocol as generic
from tuplet.games.g2048 import Board
from tuplet.games.g2048.game import words_of
from tuplet.games.g2048.rules import rules_for
from tuplet.kernel import stream
from tuplet.search import mcts, tree as trees
from tuplet.search.bandits import BANDITS, UCB1, Arm, KlUcb, Puct, Report, Softmax, Thompson, Tuned, worth

u = np.uint64

BOUNDS = [UCB1, Tuned, Report, KlUcb, Puct]  # the others are random


def arm(mean: float, visits: float = 10.0, of: float = 100.0, **others: Any) -> Arm:
    usual = {"variance": mean * (1 - mean), "prior": 0.5, "bits": u(1)}
    return Arm(**{"mean": mean, "visits": visits, "parent_visits": of, **usual, **others})


# Formulas


@given(
    c=st.floats(0, 10),
    c1=st.floats(0, 10),
    c2=st.floats(0, 2),
    mean=st.floats(0, 1),
    variance=st.floats(0, 0.25),
    visits=st.integers(1, 10**9),
    more=st.integers(0, 10**9),
    prior=st.floats(0, 1),
)
def test_bounds_are_the_formulas_of_the_papers_and_of_the_report(
    c: float, c1: float, c2: float, mean: float, variance: float, visits: int, more: int, prior: float
) -> None:
    n, log = visits, math.log(visits + more)
    at = arm(mean, float(n), float(n + more), variance=variance, prior=prior)
    for bandit, plain in (
        (UCB1(c), c * (log / n) ** 0.5),
        (Tuned(c, c1, c2), c * (log / n * min(variance + c1 * (log / n) ** 0.5, c2)) ** 0.5),
        (Report(c, c1, c2), c * (log / n) ** 0.5 * min(variance + c1 * (log / n) ** 0.5, c2)),
        (Puct(c, 1.0), c * prior * (n + more) ** 0.5 / (1 + n)),
    ):
        assert worth(bandit, at) == pytest.approx(mean + plain, rel=1e-12, abs=1e-12), bandit


def test_the_reports_tuned_bound_was_plain_ucb_with_a_quarter_of_c() -> None:
    for c, quarter in ((1.4, 0.35), (1.0, 0.25), (0.6, 0.15), (0.2, 0.05)):
        for visits in (25.0, 200.0):  # few enough for c2 to be the smaller
            at = arm(0.5, visits, 8000.0)
            assert worth(Report(c), at) == pytest.approx(worth(UCB1(quarter), at))


def kl(p: float, q: float) -> float:
    """Kullback and Leibler's divergence of two coins."""
    parts = ((p, q), (1 - p, 1 - q))
    return sum(a * math.log(a / b) if b else math.inf for a, b in parts if a)


@given(c=st.floats(0, 10), mean=st.floats(0, 1), visits=st.integers(1, 10**9), more=st.integers(0, 10**9))
def test_kl_ucb_is_the_largest_q_that_satisfies_its_equation(c: float, mean: float, visits: int, more: int) -> None:
    far = c * math.log(visits + more) / visits
    q = worth(KlUcb(c), arm(mean, float(visits), float(visits + more)))
    assert mean <= q <= 1.0
    inside, outside = max(q - 1e-9, mean), q + 1e-9
    assert kl(mean, inside) <= far * (1 + 1e-9) + 1e-12
    assert outside >= 1.0 or kl(mean, outside) >= far * (1 - 1e-9) - 1e-12


@pytest.mark.parametrize(("mean", "visits"), [(0.0, 1), (1.0, 7), (0.3, 25), (0.95, 400)])
def test_thompsons_draws_have_the_mean_and_variance_of_the_beta_distribution(mean: float, visits: int) -> None:
    a, b = 1 + visits * mean, 1 + visits * (1 - mean)
    draws = [worth(Thompson(), arm(mean, float(visits), bits=u(stream(u(5), u(n))))) for n in range(20_000)]
    variance = a * b / ((a + b) ** 2 * (a + b + 1))
    assert statistics.fmean(draws) == pytest.approx(a / (a + b), abs=4 * (variance / 20_000) ** 0.5)
    assert statistics.variance(draws) == pytest.approx(variance, rel=0.05)
    assert 0 < min(draws) < max(draws) < 1


def test_what_is_beyond_one_in_units_of_points_keeps_its_order() -> None:
    for bandit in (KlUcb(), Thompson()):
        worths = [worth(bandit, arm(mean, 1e6, 2e6)) for mean in (0.5, 0.9, 1.1, 1.2, 1.5)]
        assert worths == sorted(worths) and worths[-1] == pytest.approx(1.5, abs=1e-3)


@pytest.mark.parametrize("kind", [k for k in BANDITS.values() if k is not Softmax])
def test_what_is_certain_has_no_bonus(kind: type) -> None:
    assert worth(kind(), arm(0.5, math.inf, variance=0.0)) == 0.5


# What they learn


def two_arms(mover: int, prior: float = 0.5) -> trees.Tree:
    tree = trees.make_tree(1000)
    tree.sides[0], tree.first[0], tree.children[0] = mover, 1, 2
    tree.proven[:3] = trees.UNPROVEN
    tree.priors[1], tree.priors[2] = prior, 1 - prior
    return tree


def pulled(bandit: Any, mover: int, seed: int, pulls: int = 2000) -> list[int]:
    """The arms taken; the second wins 65 games of 100 for the mover, the first 35.

    Both are tried 25 times before, as in a search.
    """
    tree, source, taken = two_arms(mover), random.Random(seed), []
    for n in range(-50, pulls):
        child = 1 + n % 2
        if n >= 0:
            child = int(mcts.best_child(tree, mcts.Options(bandit), 0, u(stream(u(seed), u(n)))))
        won = source.random() < (0.35, 0.65)[child - 1]
        result = float(won) if mover == 0 else 1.0 - won
        for node in (0, child):
            tree.visits[node] += 1
            tree.totals[node] += result
            tree.squares[node] += result
        taken.append(child)
    return taken[50:]


@pytest.mark.parametrize("name", BANDITS)
def test_of_two_arms_every_bandit_comes_to_prefer_the_better_one(name: str) -> None:
    for mover in (0, 1):
        taken = pulled(BANDITS[name](), mover, seed=mover)
        assert taken[1000:].count(2) > 900, taken.count(2)
        assert pulled(BANDITS[name](), mover, seed=mover) == taken


def test_a_prior_is_what_puct_follows_first() -> None:
    for prior, first in ((0.9, 1), (0.1, 2)):
        tree = two_arms(0, prior)
        tree.visits[:3], tree.totals[:3] = (20, 10, 10), (10.0, 5.0, 5.0)
        assert mcts.best_child(tree, mcts.Options(Puct()), 0, u(0)) == first


# Priors


def shares(game: Any, position: Any, bandit: Any, unit: float = 1.0) -> tuple[trees.Tree, Any]:
    tree = trees.make_tree(20_000)
    trees.reset(game, tree, position)
    options = mcts.Options(bandit, batch=2, expand=4, unit=unit)
    mcts.search(game, tree, options, 400, 60.0, u(1))
    return tree, [n for n in range(int(tree.counters[trees.USED])) if tree.first[n] > 0]


@pytest.mark.long
@pytest.mark.parametrize("name", ["ewn", "ewn-6x7"])
@pytest.mark.parametrize("k", [0.0, 3.0, 1e18])
def test_priors_are_shares_in_proportion_to_exp_of_k_times_the_estimate(name: str, k: float) -> None:
    looked = 0
    for _, _, position in random_positions(name, 10):
        game = position.rules
        tree, nodes = shares(game, position.words, Puct(0.5, k))
        for node in nodes:
            mover, first = int(tree.sides[node]), int(tree.first[node])
            if mover == trees.CHANCE:
                continue
            values = []
            for child in range(first, first + int(tree.children[node])):
                at, ended = (u(tree.word0[child]), u(tree.word1[child])), int(tree.endings[child])
                if ended != generic.ONGOING:
                    values.append(1.0 if generic.winner(game, ended) == mover else -1.0)
                else:  # this game's values are from -1 to 1
                    sign = 1 if generic.side(game, at) == mover else -1
                    values.append(sign * generic.estimate(game, at))
            weights = [math.exp(k * (value - max(values))) for value in values]
            plain = [weight / sum(weights) for weight in weights]
            found = tree.priors[first : first + len(values)]
            np.testing.assert_allclose(found, plain, rtol=1e-5, atol=1e-30)
            looked += len(set(values)) > 1
    assert looked > 20


@pytest.mark.long
def test_priors_of_a_game_for_one_follow_its_points() -> None:
    game, board = rules_for(2, 3), Board([[2, 2, 16], [4, 8, 16]])
    tree, _ = shares(game, words_of(board), Puct(0.5, 5.0), unit=100.0)
    own = {int(tree.moves[n]): float(tree.priors[n]) for n in range(1, 1 + int(tree.children[0]))}
    assert sum(own.values()) == pytest.approx(1)
    assert max(own, key=own.__getitem__) in (0, 2)  # up or down: 32 points, against 4
    assert not (tree.proven[: int(tree.counters[trees.USED])] != trees.UNPROVEN).any()


@pytest.mark.long
def test_without_a_bandit_that_asks_there_are_no_priors() -> None:
    position = random_positions("ewn-6x7", 1)[0][2]
    for name, kind in BANDITS.items():
        tree, _ = shares(position.rules, position.words, kind())
        assert tree.priors.any() == (name == "puct")


# Names


def test_a_bandit_is_named_or_given() -> None:
    assert Mcts().bandit() == Tuned() and type(Mcts().bandit()) is Tuned
    for name, kind in BANDITS.items():
        for named in (name, kind, kind()):
            assert type(Mcts(ucb=named).bandit()) is kind and Mcts(ucb=named).bandit() == kind()
    assert Mcts(ucb=KlUcb(0.3)).bandit() == KlUcb(0.3)
    assert Mcts(ucb=Tuned(0.3, 2.0), c1=1).bandit() == Tuned(0.3, 1.0)
    assert Mcts(ucb="puct", k=3).bandit() == Puct(k=3.0)
    assert Mcts(ucb="puct", descent_k=3.0).bandit() == Softmax(3.0)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"ucb": "best"}, "ucb must be one of ucb1, tuned, report, thompson, kl, puct, softmax"),
        ({"ucb": "thompson", "c": 1.0}, "thompson has no c: it has no settings"),
        ({"ucb": "ucb1", "c1": 1.0}, "ucb1 has no c1: it has c"),
        ({"ucb": "puct", "c2": 1.0}, "puct has no c2: it has c and k"),
        ({"k": 1.0}, "tuned has no k: it has c and c1 and c2"),
        ({"ucb": "nowhere:Class"}, "cannot import nowhere: ModuleNotFoundError"),
        ({"ucb": "no/where.py:Class"}, "cannot import no/where.py: FileNotFoundError"),
        ({"ucb": "math:Class"}, "math has no class Class"),
        ({"ucb": "math:pi"}, "ucb must be one of"),
        ({"ucb": "decimal:Decimal"}, "or a registered bandit \\(got 'decimal:Decimal'\\)"),
        ({"ucb": 3}, "ucb must be one of .* \\(got '3'\\)"),
        ({"ucb": dict}, "ucb must be one of .* \\(got 'dict'\\)"),
    ],
    ids=str,
)
def test_a_bad_bandit_is_refused_in_one_line(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words) as refused:
        Mcts(**settings)
    assert "\n" not in str(refused.value)


def test_who_is_not_trusted_cannot_name_a_bandits_code() -> None:
    for text in ("mcts:ucb=mine:Class,sims=3", "mcts:ucb = ./mine.py:Class"):
        with pytest.raises(ValueError, match=r"import|no file"):
            search_from(Mcts, Spec(text, trusted=True))
        with pytest.raises(ValueError, match="cannot be named from here"):
            search_from(Mcts, Spec(text))
    for text in ("mcts:ucb=puct,c=3", "mcts"):
        search_from(Mcts, Spec(text))


# Anybody's own

OWN = '''
from typing import NamedTuple
from tuplet.kernel import inlined
from tuplet.search.bandits import register_bandit

class Greedy(NamedTuple):
    """The best so far, but any of them in one descent of 1 / c."""
    c: float = 8.0

@inlined
def greedy(bandit, arm):
    noise = (arm.bits >> 12) * 2.0**-52
    return 1.0 + noise if noise * bandit.c < 1.0 else arm.mean

class Hopeful(NamedTuple):
    """Looks at priors."""
    k: float = 4.0

@inlined
def hopeful(bandit, arm):
    return arm.mean + 10.0 * arm.prior / arm.visits

@inlined
def hope(bandit, value):
    return bandit.k * value * value

register_bandit("greedy", Greedy, greedy)
register_bandit("hopeful", Hopeful, hopeful, hope)
'''

USE = """
import sys
import numpy as np
from tuplet.agents.searchers import Mcts
from tuplet.games.ewn import EwnGame, EwnPosition
from tuplet.search import tree as trees
folder = sys.stdin.read()
sys.path.insert(0, folder)
position = EwnGame("ewn:board=4x4,cubes=3,cycle=5").initial_position(np.uint64(3))[1]
for ucb, settings in (("own_bandits:Greedy", {"c": 3.0}), (folder + "/own_bandits.py:Hopeful", {})):
    search = Mcts(ucb=ucb, sims=60, batch=2, expand=4, nodes=1000, **settings)
    assert type(search.bandit()).__module__.find("own_bandits") >= 0
    search.open(np.uint64(5))
    print(search.think(position.rules, position.words), search.analysis(position).moves)
    used = int(search.tree.counters[trees.USED])
    print([array[:used].tobytes().hex() for array in search.tree[:-1]])
first = Mcts(ucb="own_bandits:Greedy").bandit()  # though the file registered its name again
assert first.c == 8.0 and type(first).__module__ == "own_bandits"
"""


@pytest.mark.long
def test_somebodys_own_bandit_works_compiled_and_interpreted(tmp_path: Path) -> None:
    (tmp_path / "own_bandits.py").write_text(OWN)
    compiled, interpreted = in_both_ways(USE, [str(tmp_path)])
    assert compiled.count("\n") == 4
    assert compiled == interpreted
