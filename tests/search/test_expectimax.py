"""Alpha-beta and expectimax: against searches that prune nothing and remember nothing."""

from __future__ import annotations

import inspect
import random
import time
from typing import Any, NamedTuple

import numpy as np
import pytest

import naive_ewn as naive
from positions import random_positions
from tuplet.agents.searchers import AlphaBeta
from tuplet.games import protocol as generic
from tuplet.games.ewn import EwnGame, EwnPosition
from tuplet.games.ewn.rules import EwnRules
from tuplet.kernel import inlined, kernel, mix
from tuplet.search import expectimax, transpositions

u = np.uint64

KNOWN = ["ewn:board=4x4,cubes=3,cycle=5", "ewn:cycle=7,directions=4,own=no"]
OTHER = ["ewn:board=4x4,cubes=3,die=chosen", "ewn:board=4x4,cubes=3,die=free,own=no"]
ROLLED = ["ewn:board=3x3,cubes=3", "ewn:board=4x4,cubes=3,directions=4,own=no"]
SMALL = [
    "ewn:board=3x3,cubes=1",
    "ewn:board=3x3,cubes=2",
    "ewn:board=3x3,cubes=3",
    "ewn:board=3x3,cubes=3,cycle=4",
    "ewn:board=3x3,cubes=2,die=chosen,own=no",
    "ewn:board=3x3,cubes=3,die=free",
    "ewn:board=4x4,cubes=2",
    "ewn:board=4x4,cubes=3,cycle=5",
    "ewn:board=4x4,cubes=2,die=chosen",
    "ewn:board=4x4,cubes=2,die=free,own=no",
]


@kernel
def plain_value(game, position, depth, moves):  # type: ignore[no-untyped-def]
    """What a position is worth to the side to move, `depth` moves ahead."""
    mover = generic.side(game, position)
    ended = generic.ending(game, position)
    if ended != generic.ONGOING:
        return 1.0 if generic.winner(game, ended) == mover else -1.0
    if depth == 0:
        return generic.estimate(game, position)
    if generic.is_chance(game, position):
        total = 0.0
        for face in range(generic.count_outcomes(game, position)):
            after = generic.apply_outcome(game, position, face)
            total += generic.probability(game, position, face) * plain_value(game, after, depth, moves)
        return total
    best = -1.0
    for i in range(generic.legal(game, position, moves, 48 * depth)):
        child = generic.apply(game, position, np.int64(moves[48 * depth + i]))
        found = plain_value(game, child, depth - 1, moves)
        best = max(best, found if generic.side(game, child) == mover else -found)
    return best


def plain_values(position: EwnPosition, depth: int) -> dict[int, float]:
    """What each move is worth to the side that makes it."""
    moves, values = np.zeros(48 * (depth + 1), np.uint8), {}
    for code in position.legal_actions():
        child = position.after(code)
        found = plain_value(position.rules, child.words, depth - 1, moves)
        same = generic.side(child.rules, child.words) == generic.side(position.rules, position.words)
        values[code] = found if same else -found
    return values


def iterative_deepening(
    position: EwnPosition, depth: int, work: expectimax.Workspace, nodes: int = 1 << 60, time: float = 60.0
) -> tuple[int, float, int]:
    move, value, reached = expectimax.iterative_deepening(position.rules, position.words, depth, time, nodes, work)
    return int(move), float(value), int(reached)


def clear(work: expectimax.Workspace) -> None:
    work.table[:] = np.zeros(1, transpositions.ENTRY)
    work.history[:] = 0


@pytest.mark.parametrize(
    ("name", "depths"), [("ewn-6x7", 6), ("ewn", 3), *((n, 5) for n in KNOWN), *((n, 4) for n in ROLLED + OTHER)]
)
def test_values_and_moves_are_those_of_a_search_that_looks_at_everything(name: str, depths: int) -> None:
    """With a table of a million entries, of four, and one that has seen the position before."""
    large, tiny = expectimax.make_workspace(18), expectimax.make_workspace(2)
    unequal = 0
    for number, (_, _, position) in enumerate(random_positions(name, 40)):
        depth = 1 + number % depths
        values = plain_values(position, depth)
        best = max(values.values())
        unequal += min(values.values()) < best
        clear(large)
        clear(tiny)
        for work in (large, large, tiny):
            move, value, reached = iterative_deepening(position, depth, work)
            if abs(value) == 1.0:  # known for certain, maybe at less depth
                assert reached <= depth and value == pytest.approx(best, abs=1e-12)
                if value == 1.0:
                    assert values[move] == pytest.approx(1.0, abs=1e-12)
            elif len(values) > 1:  # a single move is not thought about
                assert reached == depth
                assert value == pytest.approx(best, abs=1e-9), position.notation
                assert values[move] == pytest.approx(best, abs=1e-9), position.notation
            assert move in values
    assert unequal > 12


class Guesses(NamedTuple):
    """EWN with estimates that say nothing: any number between the two, drawn once for all."""

    rules: EwnRules
    low: float
    high: float


def of_rules(name: str) -> Any:
    """A kernel of a game, of the rules within."""
    code = generic.implementation_of(getattr(generic, name), EwnGame("ewn").rules)
    scope: dict[str, Any] = {"code": code, "__name__": __name__}
    arguments = ", ".join(inspect.signature(code).parameters)
    exec(f"def call({arguments}): return code({arguments.replace('game', 'game.rules', 1)})", scope)
    return inlined(scope["call"])


@inlined
def guess(game, position):  # type: ignore[no-untyped-def]
    bits = mix(position[0] ^ mix(position[1])) >> u(11)
    return game.low + (game.high - game.low) * np.float64(bits) * 2.0**-53


generic.register_game(
    Guesses,
    24,
    estimate=guess,
    **{name: of_rules(name) for name in (*generic.REQUIRED, *generic.DEFAULTS) if name not in ("estimate", "players")},
)


@pytest.mark.parametrize("limits", [(-0.99, 0.99), (-0.1, 0.8)])
@pytest.mark.parametrize("name", ["ewn", *ROLLED])
def test_windows_at_chance_nodes_cut_off_nothing_that_matters(name: str, limits: tuple[float, float]) -> None:
    """By values that no order of moves foresees."""
    work, moves = expectimax.make_workspace(14), np.zeros(48 * 4, np.uint8)
    for number, (_, _, position) in enumerate(random_positions(name, 25)):
        game, depth = Guesses(position.rules, *limits), 2 + number % 2
        values = {}
        for code in position.legal_actions():
            values[code] = -plain_value(game, position.after(code).words, depth - 1, moves)
        clear(work)
        move, value, _ = expectimax.iterative_deepening(game, position.words, depth, 60.0, 1 << 60, work)
        if len(values) > 1:
            assert value == pytest.approx(max(values.values()), abs=1e-9), position.notation
            assert values[move] == pytest.approx(value, abs=1e-9), position.notation


def test_a_chance_node_looks_at_each_position_once_however_many_dice_lead_to_it() -> None:
    work, seen = expectimax.make_workspace(14), 0
    for _, _, position in random_positions("ewn", 30):
        chance = position.after(position.legal_actions()[0])
        if chance.over:
            continue
        rolled = [chance.roll(number) for number in range(1, 7)]
        after = [each.after(code).words for each in rolled for code in each.legal_actions()]
        clear(work)
        work.counters[:] = 0
        work.limits[:] = np.inf, np.inf, 0.0
        expectimax.negamax(chance.rules, chance.words, np.int64(1), -1.0, 1.0, np.int64(1), work)
        assert work.counters[expectimax.NODES] == 1 + len(set(after))
        seen += len(set(after)) < len(after)
    assert seen > 10


@pytest.mark.parametrize("name", SMALL)
def test_small_boards_are_solved(name: str) -> None:
    work, proofs = expectimax.make_workspace(16), 0
    for game, plain, position in random_positions(name, 25):
        exact = naive.Exact(game)
        clear(work)  # it knows nothing of the die
        value, sure = exact(plain)
        move, found, _ = iterative_deepening(position, 40, work)
        mine = value if position.turn == "red" else 1 - value
        after = exact(naive.from_words(game, position.after(move).words))
        if len(position.legal_actions()) > 1:
            assert (found + 1) / 2 == pytest.approx(mine, abs=1e-9), position.notation
        assert after[0] == pytest.approx(value, abs=1e-9), position.notation
        if abs(found) == 1.0:
            proofs += 1
            assert sure == (position.turn if found > 0 else naive.opponent(position.turn))
        elif len(position.legal_actions()) > 1:
            assert sure is None, position.notation
    assert proofs > 5


def test_wins_and_losses_whatever_the_dice_show_are_known_for_certain() -> None:
    """Six sixths are 0.9999999999999999 to a computer."""
    work, won, lost = expectimax.make_workspace(16), 0, 0
    for _, _, position in random_positions("ewn", 400):
        values = plain_values(position, 3)
        best = max(values.values())  # guesses are far from 1
        if abs(best) < 1 - 1e-12 or len(values) == 1:
            continue
        clear(work)
        _, value, reached = iterative_deepening(position, 3, work)
        assert value == round(best), position.notation
        won += value > 0 and reached == 3
        lost += value < 0
    assert won > 5 and lost > 5


@pytest.mark.parametrize("name", ["ewn-6x7", *KNOWN, *OTHER])
def test_the_main_line_is_legal_and_begins_with_the_move(name: str) -> None:
    work, longest = expectimax.make_workspace(16), 0
    for _, _, position in random_positions(name, 20):
        clear(work)
        move, _, _ = iterative_deepening(position, 7, work)
        line = np.zeros(7, np.uint8)
        length = transpositions.main_line(position.rules, position.words, move, work.table, line)
        assert 1 <= length <= 7 and line[0] == move
        at = position
        for code in line[:length].tolist():
            assert code in at.legal_actions(), position.notation
            at = at.after(code)
        longest = max(longest, length)
    assert longest >= 4


@pytest.mark.parametrize("name", ["ewn-6x7", "ewn"])
def test_no_more_positions_are_looked_at_than_allowed(name: str) -> None:
    work = expectimax.make_workspace(16)
    for _, _, position in random_positions(name, 10):
        for nodes in (1, 100, 5_000, 50_000):
            clear(work)
            move, _, _ = iterative_deepening(position, 99, work, nodes=nodes)
            assert work.counters[expectimax.NODES] <= nodes + 100
            assert move in position.legal_actions()


def test_time_is_kept_and_a_move_is_there_even_without_any() -> None:
    work = expectimax.make_workspace(16)
    start = EwnGame("ewn-6x7").initial_position(u(5))[1]
    for seconds in (0.0, 0.05, 0.2):
        clear(work)
        began, used = time.perf_counter(), time.thread_time()
        move, _, reached = iterative_deepening(start, 99, work, time=seconds)
        took, used = time.perf_counter() - began, time.thread_time() - used
        assert move in start.legal_actions() and reached >= 1
        assert seconds <= took and used < seconds + 1.0  # of processor time, on a busy machine


def test_a_position_that_the_table_knows_has_a_move_all_the_same() -> None:
    """Searching the children first puts the position's own neighbours into the table."""
    for name in ("ewn-6x7", *KNOWN):
        work = expectimax.make_workspace(16)
        for _, _, position in random_positions(name, 10):
            clear(work)
            first = iterative_deepening(position, 6, work)
            expectimax.negamax(position.rules, position.words, np.int64(6), -1.0, 1.0, np.int64(1), work)
            for nodes in (1 << 60, 1):
                move, value, _ = iterative_deepening(position, 6, work, nodes=nodes)
                assert move in position.legal_actions()
                if nodes > 1:
                    assert value == first[1]


def test_a_move_found_wanting_is_given_up_before_the_depth_is_over() -> None:
    """As soon as another is known to be better than what is left of it."""
    work, changed, early = expectimax.make_workspace(16), 0, 0
    nodes = work.counters
    for seed in range(200):
        position, source = EwnGame("ewn-6x7").initial_position(u(seed))[1], random.Random(seed)
        for _ in range(12):
            if not position.over:
                position = position.after(source.choice(position.legal_actions()))
        if position.over:
            continue
        clear(work)
        before = iterative_deepening(position, 5, work)
        fewest = int(nodes[expectimax.NODES])
        clear(work)
        after = iterative_deepening(position, 6, work)
        most = int(nodes[expectimax.NODES])
        if after[2] < 6 or after[0] == before[0] or after[1] >= before[1]:
            continue
        changed += 1
        for limit in range(fewest, most, (most - fewest) // 20 + 1):
            clear(work)
            move, value, reached = iterative_deepening(position, 6, work, nodes=limit)
            early += reached == 5 and (move, value) == after[:2]
    assert changed >= 5 and early >= changed


def test_a_move_found_lost_is_not_kept_while_another_may_be_better() -> None:
    """Where the limit comes after the first move of a depth, and before a second."""
    work, seen = expectimax.make_workspace(16), 0
    for plies, seed, nodes in ((6, 2, 3000), (8, 98, 3000), (10, 51, 6000), (12, 51, 1500)):
        position, source = EwnGame("ewn-6x7").initial_position(u(seed))[1], random.Random(seed)
        for _ in range(plies):
            position = position.after(source.choice(position.legal_actions()))
        clear(work)
        move, value, _ = iterative_deepening(position, 99, work, nodes=nodes)
        first, *others = work.root_values[: len(position.legal_actions())]
        if first == -1 and max(others) > -1:
            assert move != work.moves[0] and value > -1
            seen += 1
    assert seen >= 2


def test_moves_are_searched_in_the_same_order_whoever_names_the_die() -> None:
    """The one who moves, not the one who chooses the die next, wants a good position."""
    for seed in range(20):
        state, position = EwnGame("ewn").initial_position(u(seed))
        position = position.apply_outcome(position.random_outcome(state)[1])
        chosen = EwnPosition.parse(position.notation.replace("ewn", "ewn:die=chosen"))
        rolled, other = (
            [
                generic.move_priority(each.rules, each.words, code, each.after(code).words)
                for code in position.legal_actions()
            ]
            for each in (position, chosen)
        )
        assert rolled == other


def test_searches_without_limits_end() -> None:
    with pytest.raises(ValueError, match="1 or more"):
        AlphaBeta(nodes=0)
    with pytest.raises(ValueError, match="depth"):
        AlphaBeta(depth=0)
    with pytest.raises(ValueError, match="table"):
        AlphaBeta(table=1)
