"""Monte-Carlo tree search: its formulas, its books, its proofs, and the trees it grows.

`tests/data/ewn/trees.json` keeps some trees; after a change that is meant to change them, run
`python tests/search/test_mcts.py`.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import random
import sys
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import naive_ewn as naive
from both_ways import in_both_ways
from positions import random_positions
from tuplet.agents.searchers import Mcs, Mcts
from tuplet.games import protocol as generic
from tuplet.games.ewn import EwnGame, EwnPosition
from tuplet.games.ewn.rules import BLUE_ALL, BLUE_CORNER, RED_ALL, RED_CORNER
from tuplet.games.g2048 import Board
from tuplet.games.g2048.game import words_of
from tuplet.games.g2048.rules import rules_for
from tuplet.kernel import stream
from tuplet.search import mcts, tree as trees
from tuplet.search.bandits import BANDITS, UCB1, Arm, Report, Softmax, Tuned, worth
from tuplet.search.transpositions import NO_MOVE

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
import connect4  # a game with draws, from outside the package

u = np.uint64

TREES = Path(__file__).parent.parent / "data" / "ewn" / "trees.json"

VARIANTS: dict[str, dict[str, Any]] = {
    "ucb1": {"bandit": UCB1(0.4)},
    "tuned": {},
    "report": {"bandit": Report()},
    "rich": {"rich": True},
    "one by one": {"batch": 1, "expand": 10},
    "descent_k": {"bandit": Softmax(20.0)},
    "no solver, no shortcuts": {"solver": False, "shortcuts": False},
}

SMALL = [
    "ewn:board=3x3,cubes=1",
    "ewn:board=3x3,cubes=2",
    "ewn:board=3x3,cubes=3",
    "ewn:board=3x3,cubes=3,own=no",
    "ewn:board=3x3,cubes=2,cycle=3",
    "ewn:board=3x3,cubes=3,cycle=4,own=no",
    "ewn:board=3x3,cubes=2,die=chosen",
    "ewn:board=3x3,cubes=3,die=chosen,own=no",
    "ewn:board=3x3,cubes=3,die=free",
    "ewn:board=4x4,cubes=2,directions=4",
    "ewn:board=4x4,cubes=3",
    "ewn:board=4x4,cubes=3,cycle=5,own=no",
    "ewn:board=4x4,cubes=2,die=chosen,own=no",
    "ewn:board=4x4,cubes=2,die=free,own=no",
    "ewn:board=4x4,cubes=3,die=free",
]


def grown(position: EwnPosition, settings: mcts.Options, sims: int, nodes: int = 50_000, seed: int = 1) -> trees.Tree:
    tree = trees.make_tree(nodes)
    trees.reset(position.rules, tree, position.words)
    mcts.search(position.rules, tree, settings, sims, 60.0, u(seed))
    return tree


def start(name: str, seed: int = 3) -> EwnPosition:
    state, position = EwnGame(name).initial_position(u(seed))
    return position.apply_outcome(position.random_outcome(state)[1]) if position.is_chance else position


def later(name: str, plies: int, seed: int = 3) -> EwnPosition:
    """A position that random moves lead to."""
    position, source = start(name, seed), random.Random(seed)
    for _ in range(plies):
        position = position.after(source.choice(position.legal_actions()))
        if position.is_chance:
            position = position.roll(source.randrange(position.game.cubes) + 1)
    return position


def simulate_and_backup(game: Any, tree: trees.Tree, settings: mcts.Options, node: int, state: np.uint64) -> Any:
    state, *results = mcts.simulate(game, tree, settings, node, state, np.zeros(48, np.uint8))
    mcts.backup(tree, node, *results)
    return state


def children(tree: trees.Tree, node: int) -> range:
    first = int(tree.first[node])
    return range(first, first + int(tree.children[node])) if first >= 0 else range(0)


def words(tree: trees.Tree, node: int) -> tuple[np.uint64, np.uint64]:
    return u(tree.word0[node]), u(tree.word1[node])


class Lottery(NamedTuple):
    """One of 300 numbers is drawn, and nothing else happens."""


generic.register_game(
    Lottery,
    1,
    side=lambda *_: 0,
    legal=lambda *_: 0,
    apply=lambda *given: given[1],
    ending=lambda *_: generic.ONGOING,
    winner=lambda *_: 0,
    is_chance=lambda *_: True,
    count_outcomes=lambda *_: 300,
    probability=lambda *_: 1 / 300,
    apply_outcome=lambda *given: (u(given[2]), u(0)),
)


def test_nature_may_do_more_than_a_byte_can_count() -> None:
    tree, game = trees.make_tree(1000), Lottery()
    trees.reset.py_func(game, tree, (u(0), u(0)))
    assert mcts.expand.py_func(game, tree, mcts.Options(), 0, np.zeros(48, np.uint8))
    assert tree.moves[1:301].tolist() == list(range(300)) and len(children(tree, 0)) == 300


# The descent

SOME = [("ewn", "ucb1"), ("ewn", "tuned"), ("ewn-6x7", "tuned")]


@pytest.mark.parametrize(
    ("name", "variant"),
    [  # each is compiled anew
        pytest.param(name, variant, marks=[] if (name, variant) in SOME else [pytest.mark.long])
        for name in ("ewn", "ewn-6x7")
        for variant in ("ucb1", "tuned", "report", "rich", "one by one")
    ],
)
def test_the_descent_takes_the_child_of_the_largest_bound(name: str, variant: str) -> None:
    settings = mcts.Options(**{"batch": 5, "expand": 20, **VARIANTS[variant]})
    looked = lost = 0
    for _, _, position in random_positions(name, 20):
        tree = grown(position, settings, 5_000)
        for node in range(int(tree.counters[trees.USED])):
            mover = int(tree.sides[node])
            own = children(tree, node)
            if not own or mover == trees.CHANCE or tree.proven[node] != trees.UNPROVEN:
                continue
            bounds: dict[int, float] = {}
            for child in own:
                if tree.proven[child] == 1 - mover:
                    lost += 1
                    continue
                n = float(tree.visits[child])
                if not n:  # an outcome's children while their first batches are made
                    bounds[child] = math.inf
                    continue
                mean = tree.totals[child] / n
                variance = max(tree.squares[child] / n - mean**2, 0.0)
                seen = mean if mover == 0 else 1 - mean
                arm = Arm(seen, variance, n, float(tree.visits[node]), 0.0, u(0))
                bounds[child] = worth(settings.bandit, arm)
            chosen = int(mcts.best_child(tree, settings, node, u(0)))
            best = max(bounds.values())
            assert bounds[chosen] == best or bounds[chosen] == pytest.approx(best, abs=1e-12)
            looked += len(bounds) > 1
    assert looked > 100
    assert lost > 10 or name == "ewn"  # where losses whatever the dice show are rare


@pytest.mark.slow
def test_the_descent_never_takes_a_lost_child_while_another_is_open() -> None:
    for settings in (mcts.Options(), mcts.Options(Softmax(0.0)), mcts.Options(Softmax(5.0))):
        tree = grown(start("ewn-6x7", 4), settings, 2000)
        own = list(children(tree, trees.ROOT))
        assert len(own) >= 3
        tree.proven[own] = 1  # Blue's
        for open_child in own:
            tree.proven[open_child] = trees.UNPROVEN
            for bits in range(20):
                assert mcts.best_child(tree, settings, trees.ROOT, u(bits)) == open_child
            tree.proven[open_child] = 1


# Books


def test_payoffs_are_rich_or_plain() -> None:
    rules, at = start("ewn").rules, start("ewn").words
    for ended, plain, rich in (
        (RED_ALL, 1.0, 1.0),
        (RED_CORNER, 1.0, 0.9),
        (BLUE_CORNER, 0.0, 0.1),
        (BLUE_ALL, 0.0, 0.0),
    ):
        assert generic.payoff(rules, at, ended, False) == plain
        assert generic.payoff(rules, at, ended, True) == rich


def test_blue_sees_one_minus_what_red_sees() -> None:
    for mean in (0.0, 0.1, 0.5, 0.9, 1.0):
        assert mcts.mover_value(mcts.Options(), mean, 0) == mean
        assert mcts.mover_value(mcts.Options(), mean, 1) == 1.0 - mean
    assert mcts.mover_value(mcts.Options(unit=500.0), 250.0, 0) == 0.5


@pytest.mark.parametrize("rich", [False, True])
@pytest.mark.parametrize("name", ["ewn", "ewn-6x7"])
def test_a_batch_is_added_to_its_leaf_and_to_every_node_above(name: str, rich: bool) -> None:
    settings = mcts.Options(rich=rich, batch=7, expand=20)
    for _, _, position in random_positions(name, 40):
        tree = grown(position, settings, 3000)
        used, source = int(tree.counters[trees.USED]), random.Random(name)
        ended = [n for n in range(used) if tree.endings[n] != generic.ONGOING]
        if len(ended) >= 10:
            break
    nodes = [source.randrange(used) for _ in range(40)] + ended[:10]
    assert len(nodes) == 50
    for number, node in enumerate(nodes):
        before = trees.Tree(*(array.copy() for array in tree))
        simulate_and_backup(position.rules, tree, settings, node, u(number))
        state, results = u(number), []
        for _ in range(settings.batch):
            last = words(tree, node)
            if tree.endings[node] == generic.ONGOING:
                state, last = generic.playout(position.rules, last, u(state), True)
                last = (u(last[0]), u(last[1]))
            ending = generic.ending(position.rules, last)
            result = float(generic.payoff(position.rules, last, ending, rich))
            proven = tree.proven[node]
            if proven not in (trees.UNPROVEN, generic.winner(position.rules, ending)):
                result = 1.0 - result
            results.append(result)
        assert {round(r, 9) for r in results} <= ({0.0, 0.1, 0.9, 1.0} if rich else {0.0, 1.0})
        path, at = set(), node
        while at != trees.NO_NODE:
            path.add(at)
            at = int(tree.parents[at])
        on_path = np.array([n in path for n in range(used)])
        for array, old, added in (
            (tree.visits, before.visits, settings.batch),
            (tree.totals, before.totals, sum(results)),
            (tree.squares, before.squares, sum(r * r for r in results)),
        ):
            change = (array - old)[:used]
            np.testing.assert_allclose(change[on_path], added, atol=1e-9)
            assert not change[~on_path].any()


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", ["ewn", "ewn-6x7", "ewn:board=4x4,cubes=3,die=chosen"])
def test_the_books_of_a_tree_balance(name: str, variant: str) -> None:
    """What went through a node went through its children, or was simulated before it had any."""
    settings = mcts.Options(**VARIANTS[variant])
    position = later(name, 3)
    tree = grown(position, settings, 20_000)
    used = int(tree.counters[trees.USED])
    assert tree.visits[trees.ROOT] == tree.counters[trees.SIMULATIONS]
    for node in range(used):
        own, n = children(tree, node), int(tree.visits[node])
        total, squares = float(tree.totals[node]), float(tree.squares[node])
        assert n % settings.batch == 0
        assert -1e-6 <= squares <= total + 1e-6 <= n + 2e-6
        if tree.endings[node] != generic.ONGOING:
            worth = generic.payoff(position.rules, words(tree, node), int(tree.endings[node]), settings.rich)
            assert total == pytest.approx(n * worth)
        if not own:
            continue
        before = n - sum(int(tree.visits[c]) for c in own)
        gained = total - sum(float(tree.totals[c]) for c in own)
        if node == trees.ROOT:
            assert before == 0
        elif tree.proven[node] == trees.UNPROVEN:
            # Its own simulations: as many as it took to be expanded.
            assert settings.expand <= before < settings.expand + settings.batch
        assert -1e-6 <= gained <= before + 1e-6
        natural = tree.sides[node] == trees.CHANCE
        for child in own:
            move, at = int(tree.moves[child]), words(tree, node)
            made = (generic.apply_outcome if natural else generic.apply)(position.rules, at, move)
            assert tuple(map(int, made)) == tuple(map(int, words(tree, child)))
            assert tree.parents[child] == node


def test_outcomes_are_drawn_as_often_as_they_are_likely() -> None:
    rolled = EwnGame("ewn").setup()
    board = Board([[0, 2, 0, 4], [8, 16, 32, 64], [2, 0, 8, 16], [32, 64, 128, 256]])
    slid = generic.apply(rules_for(4, 4), words_of(board), 3)
    cases: list[tuple[Any, Any]] = [(rolled.rules, rolled.words)]
    cases.append((rules_for(4, 4), (u(slid[0]), u(slid[1]))))
    draws = 20_000
    for game, at in cases:
        counts = Counter(int(generic.random_outcome(game, at, u(stream(u(1), u(n))))) for n in range(draws))
        expected = {n: draws * generic.probability(game, at, n) for n in range(generic.count_outcomes(game, at))}
        assert sum(expected.values()) == pytest.approx(draws)
        difference = sum((counts[n] - e) ** 2 / e for n, e in expected.items())
        assert len(expected) >= 6 and difference < 25  # p < 0.001


# Proofs


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_the_solver_never_claims_what_looking_at_everything_denies(name: str) -> None:
    sides = ("red", "blue")
    settings = mcts.Options(batch=2, expand=4)
    tree, proofs, roots, solvable = trees.make_tree(20_000), Counter[str](), 0, 0
    many = 8 if name == "ewn:board=4x4,cubes=3" else 25  # there is much to look at
    for number, (game, plain, position) in enumerate(random_positions(name, many)):
        exact = naive.Exact(game)
        trees.reset(position.rules, tree, position.words)
        mcts.search(position.rules, tree, settings, 3000, 60.0, u(number))
        for node in range(int(tree.counters[trees.USED])):
            at = naive.from_words(game, words(tree, node))
            over = naive.result(game, at)
            assert (tree.endings[node] != generic.ONGOING) == (over is not None)
            if tree.proven[node] != trees.UNPROVEN:
                side = sides[tree.proven[node]]
                assert exact(at)[1] == side, (position.notation, node)
                proofs[side] += over is None
        sure = exact(plain)[1]
        solvable += sure is not None
        roots += tree.proven[trees.ROOT] != trees.UNPROVEN
    assert roots == solvable > 1  # so many simulations are enough to see everything
    assert min(proofs["red"], proofs["blue"]) > 0


@pytest.mark.long
@pytest.mark.parametrize("size", [(5, 4), (7, 6)])
def test_wins_draws_and_losses_are_proven_as_looking_at_everything_says(size: tuple[int, int]) -> None:
    """Of Connect Four, from random positions with ten empty cells at most."""
    game, plain = connect4.rules(*size), PlainConnectFour(*size)
    settings = mcts.Options(UCB1(5.0), batch=1, expand=1)
    tree, roots, proofs = trees.make_tree(200_000), Counter[float](), Counter[float]()
    for number in range(30):
        position = late(game, size, number)
        trees.reset(game, tree, position)
        mcts.search(game, tree, settings, 400_000, 60.0, u(number))
        assert tree.proven[trees.ROOT] != trees.UNPROVEN and not tree.counters[trees.FULL]
        used = int(tree.counters[trees.USED])
        for node in random.Random(number).sample(range(used), min(used, 300)):
            if tree.proven[node] == trees.UNPROVEN:
                continue
            at = words(tree, node)
            mover = int(generic.side(game, at))
            found = {mover: 1, 1 - mover: -1, trees.DRAWN: 0}[int(tree.proven[node])]
            assert found == plain.value(*map(int, at)), (number, node)
            proofs[found] += tree.endings[node] == generic.ONGOING
        search = Mcts(ucb="ucb1", c=5.0, sims=400_000, batch=1, expand=1, nodes=200_000)
        search.open(u(number))
        value, after = plain.value(*map(int, position)), generic.apply(game, position, search.think(game, position))
        assert -plain.value(*map(int, after)) == value
        roots[value] += 1
        best = search.analysis(SimpleNamespace(move_text=str, all_moves=list)).moves[0]
        if mcts.obvious_move(game, position) == NO_MOVE:
            assert (best.value, best.proven) == ((value + 1) / 2, True)
    assert min(roots[value] for value in (-1, 0, 1)) > 0, roots
    assert min(proofs[value] for value in (-1, 0, 1)) > 0, proofs


def late(game: Any, size: tuple[int, int], seed: int) -> generic.Words:
    """A position that is not over, with ten empty cells at most, after random moves."""
    source, moves = random.Random(seed), np.zeros(generic.MOST_MOVES, np.uint8)
    while True:
        position = (u(0), u(0))
        for _ in range(size[0] * size[1] - source.randint(4, 10)):
            count = generic.legal(game, position, moves, 0)
            position = generic.apply(game, position, int(moves[source.randrange(count)]))
            if generic.ending(game, position) != generic.ONGOING:
                break
        else:
            return position


class PlainConnectFour:
    """Connect Four by looking at everything, in plain Python."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self.known: dict[tuple[int, int], int] = {}

    def has_four(self, discs: set[tuple[int, int]]) -> bool:
        return any(
            all((x + n * dx, y + n * dy) in discs for n in range(4))
            for x, y in discs
            for dx, dy in ((1, 0), (0, 1), (1, 1), (1, -1))
        )

    def discs(self, bits: int) -> set[tuple[int, int]]:
        cells = ((x, y) for x in range(self.columns) for y in range(self.rows))
        return {(x, y) for x, y in cells if bits >> (x * (self.rows + 1) + y) & 1}

    def value(self, own: int, every: int) -> int:
        """1 won, 0 drawn, -1 lost, to the side to move."""
        if (own, every) not in self.known:
            self.known[own, every] = self._value(own, every)
        return self.known[own, every]

    def _value(self, own: int, every: int) -> int:
        if self.has_four(self.discs(own ^ every)):
            return -1
        found = []
        for x in range(self.columns):
            free = [y for y in range(self.rows) if not every >> (x * (self.rows + 1) + y) & 1]
            if free:
                disc = 1 << (x * (self.rows + 1) + free[0])
                found.append(-self.value(own ^ every, every | disc))
        return max(found, default=0)


def test_a_node_is_proven_by_its_children() -> None:
    open_, drawn = trees.UNPROVEN, trees.DRAWN
    for mover in (0, 1, trees.CHANCE):
        for kids in itertools.product((0, 1, open_, drawn), repeat=3):
            tree = made_up(*((1, 0.5, 0.5, proven) for proven in kids), mover=mover)
            tree.parents[0] = trees.NO_NODE
            mcts.prove(tree, trees.ROOT)
            if mover == trees.CHANCE:
                expected = kids[0] if len(set(kids)) == 1 else open_
            elif mover in kids:
                expected = mover
            elif open_ in kids:
                expected = open_
            else:
                expected = drawn if drawn in kids else 1 - mover
            assert tree.proven[0] == expected, (mover, kids)


def test_what_is_proven_is_added_whatever_random_games_say() -> None:
    game = connect4.rules(4, 4)
    settings, drawn_games = mcts.Options(batch=50), 0
    for number in range(10):
        position = late(game, (4, 4), number)
        for proven, result in ((trees.DRAWN, 0.5), (0, 1.0), (1, 0.0)):
            tree = trees.make_tree(1000)
            trees.reset(game, tree, position)
            tree.proven[0] = proven
            state = simulate_and_backup(game, tree, settings, 0, u(number))
            assert state == number  # what is known is not played
            assert (tree.totals[0], tree.squares[0]) == (50 * result, 50 * result**2)
            tree.totals[0] = 0.0
            state = simulate_and_backup(game, tree, settings._replace(rich=True), 0, u(number))
            assert (state == number) == (proven == trees.DRAWN)  # wins of several kinds are
            assert tree.totals[0] == 50 * result
        tree.proven[0] = trees.UNPROVEN
        tree.totals[0] = 0.0
        simulate_and_backup(game, tree, settings, 0, u(number))
        drawn_games += tree.totals[0] % 1 == 0.5
    assert drawn_games  # an odd number of random games were


@pytest.mark.parametrize("name", BANDITS)
def test_a_proven_draw_is_worth_a_half_in_the_descent(name: str) -> None:
    drawn, open_ = trees.DRAWN, trees.UNPROVEN
    settings = mcts.Options(BANDITS[name]())
    for mover in (0, 1):
        for mean, expected in ((0.8, 2), (0.2, 1)):
            seen = mean if mover == 0 else 1 - mean
            tree = made_up((10, 0.9 - 0.8 * mover, 0.9, drawn), (10_000, seen, seen, open_), mover=mover)
            tree.priors[1:3] = 0.5
            taken = [mcts.best_child(tree, settings, 0, u(stream(u(1), u(n)))) for n in range(200)]
            # One descent in four looks at another move than the drawn one.
            assert taken.count(expected) >= (190 if expected == 2 else 130), (mover, mean)
            assert taken.count(expected) <= (200 if expected == 2 else 170), (mover, mean)
        tree.proven[2] = 1 - mover
        assert mcts.best_child(tree, settings, 0, u(1)) == 1


@pytest.mark.parametrize("final", [mcts.RATE, mcts.LOWER])
@pytest.mark.parametrize("mover", [0, 1])
def test_a_proven_draw_is_worth_a_half_at_the_final_move(final: int, mover: int) -> None:
    def chosen(*kids: tuple[float, int]) -> int:
        seen = ((mean if mover == 0 else 1 - mean, proven) for mean, proven in kids)
        tree = made_up(*((1000, mean, mean, proven) for mean, proven in seen), mover=mover)
        return int(mcts.choose(tree, mcts.Options(), final, -1.0, u(0)))

    drawn, open_, lost = trees.DRAWN, trees.UNPROVEN, 1 - mover
    assert chosen((0.6, open_), (0.1, drawn), (0.9, lost)) == 1
    assert chosen((0.45, open_), (0.1, drawn), (0.9, lost)) == 2
    assert chosen((0.9, lost), (0.1, drawn)) == 2
    assert chosen((0.9, drawn), (0.1, mover)) == 2


# Values


@pytest.mark.parametrize(
    "name",
    [
        "ewn:board=3x3,cubes=3",
        "ewn:board=3x3,cubes=2,cycle=5",
        "ewn:board=4x4,cubes=2",
        "ewn:board=3x3,cubes=3,die=chosen",
    ],
)
def test_values_approach_the_exact_ones_with_more_simulations(name: str) -> None:
    settings = mcts.Options(Tuned(1.0), batch=1, expand=1, solver=False)
    errors: list[list[float]] = [[], [], []]
    for number, (game, _, position) in enumerate(random_positions(name, 12)):
        exact = naive.Exact(game)
        if len(position.legal_actions()) == 1:
            continue
        sign = 1 if position.turn == "red" else -1
        for stage, sims in enumerate((30, 1000, 60_000)):
            tree = grown(position, settings, sims, 400_000, seed=number)
            own = children(tree, trees.ROOT)
            best = max(own, key=lambda n: tree.visits[n])
            values = {n: exact(naive.from_words(game, words(tree, n)))[0] for n in own}
            errors[stage].append(abs(tree.totals[best] / tree.visits[best] - values[best]))
            if stage == 2:
                optimal = max(sign * value for value in values.values())
                assert sign * values[best] == pytest.approx(optimal, abs=0.02), position.notation
    means = [sum(e) / len(e) for e in errors]
    assert len(errors[2]) >= 6
    assert means[0] > means[1] > means[2] and means[2] < 0.02, means


def test_the_move_chosen_is_an_optimal_one() -> None:
    name = "ewn:board=4x4,cubes=3"
    for number, (game, plain, position) in enumerate(random_positions(name, 12)):
        exact = naive.Exact(game)
        search = Mcts(sims=50_000, batch=1, expand=2, final="visits")
        search.open(u(number))
        after = position.after(search.think(position.rules, position.words))
        value = exact(naive.from_words(game, after.words))[0]
        assert value == pytest.approx(exact(plain)[0], abs=0.03), position.notation


# The same tree again


def tree_hash(tree: trees.Tree) -> str:
    used = int(tree.counters[trees.USED])
    digest = hashlib.sha256()
    for name, array in tree._asdict().items():
        if name in ("children", "moves"):  # of these games, as few as a byte can count
            assert array[:used].max() < 256
            array = array.astype(np.uint8)
        if name not in ("priors", "counters"):
            digest.update(array[:used].tobytes())
    digest.update(tree.counters.tobytes())
    return digest.hexdigest()[:32]


def golden_trees() -> dict[str, Any]:
    """Root moves with visits and totals, and a hash of everything, by game and settings."""
    found = {}
    for name in ("ewn", "ewn-6x7"):
        for variant, settings in VARIANTS.items():
            position = start(name, 7)
            tree = grown(position, mcts.Options(**settings), 30_000, seed=11)
            found[f"{name}, {variant}"] = {
                "position": position.notation,
                "moves": {
                    position.move_text(int(tree.moves[c])): [int(tree.visits[c]), round(float(tree.totals[c]), 6)]
                    for c in children(tree, trees.ROOT)
                },
                "hash": tree_hash(tree),
            }
    return found


def test_a_seed_gives_the_tree_that_it_always_gave() -> None:
    kept, found = json.loads(TREES.read_text()), golden_trees()
    assert kept.keys() == found.keys()
    for name, tree in kept.items():
        assert found[name]["position"] == tree["position"]
        assert found[name]["moves"] == tree["moves"], name
        assert found[name]["hash"] == tree["hash"], name


BOTH_WAYS = """
import sys
import numpy as np
from tuplet.agents.searchers import AlphaBeta
from tuplet.agents.searchers import Mcts
from tuplet.games.ewn import EwnPosition
from tuplet.games.g2048 import Board
from tuplet.games.g2048.rules import rules_for
from tuplet.search import tree as trees
from tuplet.games.g2048.rules import Game2048
from tuplet.games.g2048.game import words_of
u = np.uint64
def show(tree):
    used = int(tree.counters[trees.USED])
    print(tree.counters.tolist(), [array[:used].tobytes().hex() for array in tree[:-1]])
game = Game2048(rules_for(2, 3))
boards = [Board([[2, 4, 2], [0, 2, 8]]), Board([[4, 2, 4], [0, 4, 2]])]
names = sys.stdin.read().splitlines()
for settings in ({}, {"ucb": "ucb1", "results": "rich"}, {"ucb": "report", "batch": 1},
                 {"ucb": "thompson"}, {"ucb": "kl"}, {"ucb": "puct"},
                 {"descent_k": 20.0, "final_k": 5.0}, {"descent_k": 1e6, "final_k": 1e6},
                 {"final": "lower", "shortcuts": False, "solver": False}):
    search = Mcts(**{"batch": 2, "expand": 4, "sims": 30, "nodes": 1000, **settings})
    for name in names:
        position = EwnPosition.parse(name)
        search.open(u(5))
        for _ in range(3):
            if position.over or position.is_chance:
                break
            move = search.think(position.rules, position.words)
            thoughts = search.analysis(position)
            print(name, move, thoughts.moves, thoughts.line)
            position = position.after(move)
            if position.is_chance:
                position = position.roll(1)
        show(search.tree)
    for board in boards:
        search.open(u(5))
        print(search.think(game, words_of(board)))
        show(search.tree)
search = AlphaBeta(depth=3, table=8)
for name in names:
    position = EwnPosition.parse(name)
    for again in range(2):
        print(name, search.think(position.rules, position.words), search.value.hex())
        print(search.work.counters.tolist(), search.analysis(position).line)
for board in boards:
    search.depth = 2
    print(search.think(game, words_of(board)), search.value.hex())
"""


@pytest.mark.long
def test_compiled_and_interpreted_searches_do_the_same() -> None:
    """A warning, as of an overflow, would be an error."""
    texts = [later("ewn", 8).notation, later("ewn-6x7", 12).notation]
    texts += [random_positions("ewn:board=3x3,cubes=3,die=chosen,own=no", 1)[0][2].notation]
    compiled, interpreted = in_both_ways(BOTH_WAYS, texts)
    assert compiled.count("\n") > 80
    assert compiled == interpreted


# A tree that is kept, and a tree that is full


def subtree(tree: trees.Tree, node: int) -> Any:
    """Everything below a node, as nested tuples."""
    own = tuple(
        array[node].item() for name, array in tree._asdict().items() if name not in ("parents", "first", "counters")
    )
    return own, tuple(subtree(tree, child) for child in children(tree, node))


@pytest.mark.parametrize("name", ["ewn", "ewn-6x7", "ewn:board=4x4,cubes=3,die=chosen"])
def test_a_tree_kept_after_two_moves_is_exactly_what_was_below_them(name: str) -> None:
    settings, kept = mcts.Options(expand=50), 0
    position = start(name)
    for seed in range(6):
        tree = grown(position, settings, 20_000, seed=seed)
        source, node = random.Random(seed), trees.ROOT
        for _ in range(1 + source.randrange(4)):
            if children(tree, node):
                node = max(
                    source.sample(list(children(tree, node)), 2 if tree.children[node] > 1 else 1),
                    key=lambda n: tree.visits[n],
                )
        below = subtree(tree, node)
        sought = words(tree, node)
        assert trees.reroot(tree, sought)
        assert subtree(tree, trees.ROOT) == below
        used = int(tree.counters[trees.USED])
        seen = {trees.ROOT} | {c for n in range(used) for c in children(tree, n)}
        assert seen == set(range(used))
        assert tree.parents[trees.ROOT] == trees.NO_NODE and tree.counters[trees.SIMULATIONS] == 0
        for n in range(used):
            assert all(tree.parents[c] == n for c in children(tree, n))
        if tree.endings[trees.ROOT] == generic.ONGOING:  # and it goes on growing
            mcts.search(position.rules, tree, settings, 5000, 60.0, u(seed))
            assert 5000 <= tree.counters[trees.SIMULATIONS] <= 5400
            before = below[0][7]
            assert tree.visits[trees.ROOT] == before + tree.counters[trees.SIMULATIONS]
        kept += used > 1
    assert kept >= 3
    assert not trees.reroot(tree, start(name, 99).words)


def test_a_game_is_played_with_the_tree_of_the_move_before() -> None:
    position = start("ewn-6x7")
    search = Mcts(sims=20_000)
    search.open(u(1))
    position = position.after(search.think(position.rules, position.words))
    reply = max(children(search.tree, search._chosen), key=lambda n: int(search.tree.visits[n]))
    known = int(search.tree.visits[reply])
    position = position.after(int(search.tree.moves[reply]))
    search.think(position.rules, position.words)
    assert search.tree.visits[trees.ROOT] == known + search.tree.counters[trees.SIMULATIONS]
    assert 20_000 <= search.tree.counters[trees.SIMULATIONS] < 20_000 + 25 * 24
    search = Mcts(sims=20_000, reuse=False)
    for at in (start("ewn-6x7"), position):
        search.think(at.rules, at.words)
        assert search.tree.visits[trees.ROOT] == search.tree.counters[trees.SIMULATIONS]


@pytest.mark.parametrize("name", ["ewn", "ewn-6x7"])
def test_a_full_tree_goes_on_simulating_says_so_and_stays_within_its_arrays(name: str) -> None:
    position = start(name)
    search = Mcts(sims=60_000, nodes=1000, expand=25)
    search.open(u(1))
    search.think(position.rules, position.words)
    assert "tree full" in search.analysis(position).note
    assert "tree full" not in Mcts(sims=200).analysis(position).note
    # The same in arrays with room behind: nothing is written there.
    wide = trees.make_tree(2000)
    for array in wide[:-1]:
        array[1000:] = 77
    narrow = trees.Tree(*(array[:1000] for array in wide[:-1]), wide.counters)
    settings = search.settings
    trees.reset(position.rules, narrow, position.words)
    mcts.search(position.rules, narrow, settings, 60_000, 60.0, u(1))
    assert narrow.counters[trees.FULL] == 1
    assert 970 < narrow.counters[trees.USED] <= 1000
    assert narrow.visits[trees.ROOT] == narrow.counters[trees.SIMULATIONS] >= 60_000
    for array in wide[:-1]:
        assert (array[1000:] == 77).all()
    # Where it was kept, there is room again.
    child = int(np.argmax(narrow.visits[1:20])) + 1
    assert trees.reroot(narrow, words(narrow, child))
    assert narrow.counters[trees.FULL] == 0
    mcts.search(position.rules, narrow, settings, 5_000, 60.0, u(1))
    assert narrow.visits[trees.ROOT] >= 5_000


def test_a_million_nodes_take_less_than_200_megabytes() -> None:
    tree = trees.make_tree(1_000_000)
    assert sum(array.nbytes for array in tree) < 200e6
    assert sum(array.nbytes for array in tree[:-1]) == 59 * 1_000_000  # as its docstring says


# Budgets and shortcuts


@pytest.mark.parametrize("sims", [1, 1000, 30_000])
@pytest.mark.parametrize("kind", [Mcts, Mcs])
def test_so_many_simulations_are_made(kind: type[Mcts], sims: int) -> None:
    for name in ("ewn", "ewn-6x7"):
        position = start(name)
        search = kind(sims=sims)
        search.open(u(1))
        assert search.think(position.rules, position.words) in position.legal_actions()
        made = int(search.tree.counters[trees.SIMULATIONS])
        # A batch for each move of a position is the least; expanding a leaf is one step.
        assert sims <= made < sims + 25 * 24
        if kind is Mcs:
            assert made < max(sims + 25, 25 * len(position.legal_actions()) + 1)
            assert search.tree.counters[trees.USED] == 1 + len(position.legal_actions())


def test_time_is_kept_and_may_be_set_before_each_move() -> None:
    position = start("ewn-6x7")
    search = Mcts(time=0.3)
    search.open(u(1))
    search.think(position.rules, position.words)  # touches the tree's memory
    for seconds in (0.3, 0.05, 0.0):
        search.time = seconds
        search.open(u(1))
        began, used = time.perf_counter(), time.thread_time()
        search.think(position.rules, position.words)
        took, used = time.perf_counter() - began, time.thread_time() - used
        assert seconds <= took and used < seconds + 1.0  # of processor time, on a busy machine
    search.time = None
    search.open(u(1))
    search.think(position.rules, position.words)
    assert search.tree.counters[trees.SIMULATIONS] >= 20_000


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"solver": False},
        {"final_k": 0.0},
        {"solver": False, "final_k": 0.0},
        {"results": "rich", "solver": False, "final": "visits"},
        {"final": "lower"},
    ],
)
def test_a_move_that_wins_is_always_played_and_at_once(settings: dict[str, Any]) -> None:
    won = 0
    for name in ("ewn:board=4x4,cubes=3", "ewn:board=4x4,cubes=3,cycle=5"):
        for number, (game, plain, position) in enumerate(random_positions(name, 150)):
            wins = [move for move in naive.legal(game, plain) if naive.result(game, naive.play(game, plain, move))]
            if not wins:
                continue
            search = Mcts(sims=1_000_000, nodes=1000, **settings)
            search.open(u(number))
            move = search.think(position.rules, position.words)
            assert position.after(move).winner == position.turn, position.notation
            assert search.tree.counters[trees.SIMULATIONS] <= 25 * len(position.legal_actions())
            assert search.analysis(position).moves[0].move == position.move_text(move)
            won += 1
    assert won > 50


def test_a_single_move_is_played_at_once_if_shortcuts_are_taken() -> None:
    position = EwnPosition.parse("ewn:board=3x8,cubes=1 r1......./......../.......b1 red 1")
    single = EwnPosition.parse("ewn:board=3x8,cubes=1 ......../......../r1.....b1. red 1")
    for at, shortcuts, quick in ((position, True, False), (single, True, True), (single, False, False)):
        search = Mcts(sims=5000, shortcuts=shortcuts, solver=False)
        search.open(u(1))
        assert search.think(at.rules, at.words) in at.legal_actions()
        assert (search.tree.counters[trees.SIMULATIONS] < 100) == quick


# Estimates in place of random games


def estimate_of_red(position: EwnPosition) -> float:
    """From 0 to 1."""
    if position.over:
        return float(position.result)
    value = (1 + generic.estimate(position.rules, position.words)) / 2
    return float(value if generic.side(position.rules, position.words) == 0 else 1 - value)


@pytest.mark.parametrize("name", ["ewn", "ewn-6x7"])
def test_a_cut_off_game_is_worth_the_estimate_of_its_last_position(name: str) -> None:
    for _, _, position in random_positions(name, 10):
        after = {round(estimate_of_red(position.after(code)), 9) for code in position.legal_actions()}
        seen = set()
        for seed in range(30):
            tree = trees.make_tree(1000)
            trees.reset(position.rules, tree, position.words)
            simulate_and_backup(position.rules, tree, mcts.Options(batch=1, cutoff=1), 0, u(seed))
            seen.add(round(float(tree.totals[0]), 9))
        assert seen <= after and (len(seen) > 1 or len(after) == 1 or {0.0, 1.0} & after)
        for mix, cutoff in ((1.0, mcts.NEVER), (1.0, 3), (0.0, 0)):
            tree.totals[0] = 0.0
            simulate_and_backup(position.rules, tree, mcts.Options(batch=10, cutoff=cutoff, mix=mix), 0, u(1))
            assert tree.totals[0] == pytest.approx(10 * estimate_of_red(position))


@pytest.mark.parametrize("name", ["ewn", "ewn-6x7"])
def test_without_random_games_an_expanded_node_is_worth_its_best_child(name: str) -> None:
    for _, _, position in random_positions(name, 20):
        tree = grown(position, mcts.Options(batch=1, expand=0, cutoff=0), 1)
        values = [estimate_of_red(position.after(int(tree.moves[child]))) for child in children(tree, 0)]
        best = (max if tree.sides[0] == 0 else min)(values)
        assert tree.visits[0] == 1 and tree.totals[0] == pytest.approx(best)
        np.testing.assert_allclose(tree.totals[list(children(tree, 0))], values)


@pytest.mark.parametrize(
    "name", ["ewn:board=3x3,cubes=2", "ewn:board=3x3,cubes=3,cycle=4,own=no", "ewn:board=4x4,cubes=2"]
)
def test_proofs_without_random_games_are_those_of_looking_at_everything(name: str) -> None:
    sides, tree = ("red", "blue"), trees.make_tree(20_000)
    settings, solved = mcts.Options(UCB1(1.0), batch=1, expand=0, cutoff=0), 0
    for number, (game, plain, position) in enumerate(random_positions(name, 15)):
        exact = naive.Exact(game)
        trees.reset(position.rules, tree, position.words)
        mcts.search(position.rules, tree, settings, 3000, 60.0, u(number))
        for node in range(int(tree.counters[trees.USED])):
            if tree.proven[node] != trees.UNPROVEN:
                at = naive.from_words(game, words(tree, node))
                assert exact(at)[1] == sides[tree.proven[node]], (position.notation, node)
        value, sure = exact(plain)
        solved += sure is not None
        assert (sure is None) == (tree.proven[0] == trees.UNPROVEN), position.notation
        if sure is None:
            assert tree.totals[0] / tree.visits[0] == pytest.approx(value, abs=0.12)
    assert solved > 1


# The final move, and temperatures


def made_up(*kids: tuple[int, float, float, int], mover: int = 0) -> trees.Tree:
    """A root with children: visits, mean, mean of squares, proven."""
    tree = trees.make_tree(1000)
    tree.sides[0], tree.first[0], tree.children[0] = mover, 1, len(kids)
    tree.proven[0] = trees.UNPROVEN
    for node, (visits, mean, square, proven) in enumerate(kids, start=1):
        tree.visits[node], tree.proven[node] = visits, proven
        tree.totals[node], tree.squares[node] = visits * mean, visits * square
    tree.visits[0] = sum(k[0] for k in kids)
    return tree


def test_the_final_move_is_that_of_the_best_rate_or_most_visits_or_best_lower_bound() -> None:
    settings, open_ = mcts.Options(), trees.UNPROVEN
    tree = made_up((100, 0.6, 0.6, open_), (20, 0.7, 0.7, open_), (90, 0.65, 0.44, open_))
    # Lower bounds: 0.6 - 0.096, 0.7 - 0.2, 0.65 - 0.027.
    assert mcts.choose(tree, settings, mcts.RATE, -1.0, u(0)) == 2
    assert mcts.choose(tree, settings, mcts.VISITS, -1.0, u(0)) == 1
    assert mcts.choose(tree, settings, mcts.LOWER, -1.0, u(0)) == 3
    tree.sides[0] = 1  # Blue has rates of 0.4, 0.3, 0.35
    assert mcts.choose(tree, settings, mcts.RATE, -1.0, u(0)) == 1
    assert mcts.choose(tree, settings, mcts.LOWER, -1.0, u(0)) == 3


@pytest.mark.parametrize("final", [mcts.RATE, mcts.VISITS, mcts.LOWER])
@pytest.mark.parametrize("mover", [0, 1])
def test_a_proven_win_is_played_and_a_lost_move_only_if_all_are(final: int, mover: int) -> None:
    settings, other, open_ = mcts.Options(), 1 - mover, trees.UNPROVEN
    bad, good = (0.2, 0.9) if mover == 0 else (0.9, 0.2)
    won = made_up((90, good, 0.8, open_), (5, bad, 0.2, mover), mover=mover)
    assert mcts.choose(won, settings, final, -1.0, u(0)) == 2
    assert mcts.choose(won, settings, final, 5.0, u(0)) == 2
    lost = made_up((90, good, 0.9, other), (5, bad, 0.3, open_), (0, 0.0, 0.0, open_), mover=mover)
    assert mcts.choose(lost, settings, final, -1.0, u(0)) == 2
    # Where all are lost: the one that looked best.
    lost = made_up((50, bad, bad, other), (90, good, good, other), (60, bad, bad, other), mover=mover)
    assert mcts.choose(lost, settings, final, -1.0, u(0)) == 2


def frequencies(counts: Counter[int], total: int) -> list[float]:
    return [counts[n] / total for n in sorted(counts)]


@pytest.mark.parametrize("k", [0.0, 2.0, 10.0])
def test_temperatures_choose_in_proportion_to_exp_of_k_times_the_rate(k: float) -> None:
    """At the final move and in the descent, of either side."""
    means, games = (0.3, 0.5, 0.6), 20_000
    for mover in (0, 1):
        tree = made_up(*((100, m, m, trees.UNPROVEN) for m in means), mover=mover)
        weights = [math.exp(k * (m if mover == 0 else 1 - m)) for m in means]
        settings = mcts.Options(Softmax(k))
        final, descent = Counter[int](), Counter[int]()
        for n in range(games):
            bits = u(stream(u(3), u(n)))
            final[int(mcts.choose(tree, settings, mcts.RATE, k, bits))] += 1
            descent[int(mcts.best_child(tree, settings, trees.ROOT, bits))] += 1
        for counts in (final, descent):
            for child, weight in enumerate(weights, start=1):
                share = weight / sum(weights)
                spread = (share * (1 - share) / games) ** 0.5
                assert counts[child] / games == pytest.approx(share, abs=4.5 * spread + 1e-9)


@pytest.mark.parametrize("k", [500.0, 1000.0, 1e6, 1e300])
def test_a_large_k_is_greedy(k: float) -> None:
    tree = made_up(*((100, m, m, trees.UNPROVEN) for m in (0.3, 0.5, 0.9, 0.6)))
    for n in range(200):
        bits = u(stream(u(3), u(n)))
        assert mcts.choose(tree, mcts.Options(), mcts.RATE, k, bits) == 3
        assert mcts.best_child(tree, mcts.Options(Softmax(k)), trees.ROOT, bits) == 3


def test_a_descent_without_preference_visits_all_moves_alike() -> None:
    position = start("ewn-6x7", 4)
    visits = {}
    for k in (0.0, 40.0):
        tree = grown(position, mcts.Options(Softmax(k), expand=mcts.NEVER), 50_000)
        visits[k] = np.array([tree.visits[c] for c in children(tree, trees.ROOT)])
    assert visits[0.0].min() > 0.85 * visits[0.0].max()
    assert visits[40.0].min() < 0.5 * visits[40.0].max()


if __name__ == "__main__":
    TREES.write_text(json.dumps(golden_trees(), indent=1) + "\n", encoding="utf-8")
