"""The learner of the studies: right where nothing is set, and each slip as it is described."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from both_ways import in_both_ways
from tuplet import Board, Network, train
from tuplet.games.g2048.rules import opening, rules_for, spawn
from tuplet.games.g2048.statistics import make_results
from tuplet.kernel import draw, stream
from tuplet.learn.learners import TD
from tuplet.learn.td import Hyperparameters, make_workspace, play_afterstates
from tuplet.studies.report_learner import (
    LearnerVariant,
    Program,
    make_program,
    play,
    spawned_value,
    tuples_of,
    walk_back,
)
from tuplet.values.tables import value, weight_indices

NET = "0123 4567 0145"
RULES = rules_for()
HALF = 0.5  # alpha
EACH = 0x1111111111111111  # times an exponent: a board of one tile
ALL = 0xFEDCBA9876543210  # every exponent once


def played(way: LearnerVariant, games: int, seed: int = 3) -> tuple[Program, Any, Any]:
    program, results = make_program(RULES, NET, way, 0.1), make_results(games)
    look_ups = np.zeros(games, np.int64)
    play(program, True, np.uint64(seed), 0, games, results, look_ups, 0)
    return program, results, look_ups


def test_without_flags_states_are_learned_as_train_learns_them() -> None:
    program, results, _ = played(LearnerVariant(states=True), 60)
    run = train(NET, games=60, learner="td", target="state", seed=3, threads=1, progress=False)
    assert run.metrics[-1]["mean_score"] == results.scores.mean()
    assert run.metrics[-1]["mean_moves"] == results.lengths.mean()
    assert np.array_equal(program.tables.weights[:-1], run.network.weights)


def test_without_flags_afterstates_are_learned_as_the_fast_learner_does_it() -> None:
    """One game at a time: `train` plays two in turns, which learn from each other's games."""
    program, results, _ = played(LearnerVariant(), 60)
    net, theirs = Network(NET), make_results(60)
    rule, work = Hyperparameters(TD.rule, np.float32(0.1), np.float32(1)), make_workspace(net.m)
    for game in range(60):
        play_afterstates(RULES, net.tables, rule, work, np.uint64(3), game, 1, theirs, game)
    for own, other in zip(results, theirs, strict=True):
        assert np.array_equal(own, other)
    assert np.array_equal(program.tables.weights[:-1], net.weights)


SCRIPT = """
import numpy as np
from tuplet.games.g2048.rules import rules_for
from tuplet.games.g2048.statistics import make_results
from tuplet.studies.report_learner import LearnerVariant, make_program, play
for line in open(0).read().splitlines():
    way = LearnerVariant(**eval(line))
    program = make_program(rules_for(), "01 56", way, 0.1)
    results, look_ups = make_results(1), np.zeros(1, np.int64)
    play(program, True, np.uint64(1), 0, 1, results, look_ups, 0)
    print(results.scores, results.tiles, results.lengths, look_ups)
    print(program.tables.weights[program.tables.weights != 0].tolist())
"""


@pytest.mark.slow
def test_compiled_and_plain_learner_agree() -> None:
    ways = [
        {"table_per_placement": True, "swapped_reward": True, "skip_first": 2},
        {"no_symmetry": True, "shared": True, "no_terminal_update": True},
        {
            "states": True,
            "no_symmetry": True,
            "undivided_alpha": True,
            "summed_expectation": True,
            "no_terminal_check": True,
        },
    ]
    compiled, plain = in_both_ways(SCRIPT, [repr(way) for way in ways])
    assert compiled == plain
    assert compiled.count("\n") == 2 * len(ways)


# Three moves, with rewards 4, 8 and 16, and V all 0 but for the last board's, 2, where it is said;
# alpha is a half.
@pytest.mark.parametrize(
    ("way", "last", "values"),
    [
        (LearnerVariant(states=True), 0, [6, 8, 8]),  # 16/2; (8 + 8)/2; (4 + 8)/2
        (LearnerVariant(), 0, [8, 8, 0]),  # 0; (16 + 0)/2; (8 + 8)/2
        (LearnerVariant(states=True, swapped_reward=True), 0, [8, 8, 0]),
        (LearnerVariant(swapped_reward=True), 0, [6, 8, 8]),
        (LearnerVariant(states=True), 2, [6.25, 8.5, 9]),  # 2 + (16 - 2)/2; (8 + 9)/2; (4 + 8.5)/2
        (LearnerVariant(states=True, no_terminal_update=True), 2, [4.5, 5, 2]),  # 2 stays; (8 + 2)/2; (4 + 5)/2
        (LearnerVariant(no_terminal_update=True), 2, [8.5, 9, 2]),  # 2 stays; (16 + 2)/2; (8 + 9)/2
        (LearnerVariant(states=True, skip_first=2), 0, [0, 0, 8]),
        (LearnerVariant(skip_first=1), 0, [0, 8, 0]),
    ],
    ids=str,
)
def test_a_game_of_three_moves_moves_values_as_computed_by_hand(
    way: LearnerVariant, last: float, values: list[float]
) -> None:
    program = make_program(RULES, "0", way._replace(no_symmetry=True), HALF)
    boards = [np.uint64(EACH * (k + 1)) for k in range(3)]
    program.tables.weights[weight_indices(program.tables, boards[2])[0]] = last
    for k, reward in enumerate((4, 8, 16)):
        program.path[k], program.gains[k] = boards[k], reward
    look_ups = walk_back(program, np.uint64(3))
    assert [value(program.tables, board) for board in boards] == values
    updated = 3 - way.skip_first - way.no_terminal_update
    assert look_ups == 2 * updated + way.no_terminal_update  # of one look-up a board
    assert program.tables.weights[-1] == 0  # what makes the one look-up eight


def moved(net: str, way: LearnerVariant, board: int) -> tuple[float, int]:
    """V after a game of one move, of reward 16, from 0; and how many weights that moved."""
    program = make_program(RULES, net, way._replace(states=True), HALF)
    program.path[0], program.gains[0] = np.uint64(board), 16
    walk_back(program, np.uint64(1))
    moved = np.count_nonzero(program.tables.weights)
    return float(value(program.tables, np.uint64(board))), int(moved)


def test_how_weights_share_an_update() -> None:
    assert moved("01", LearnerVariant(), ALL) == (8, 8)  # half of 16, by eight weights
    assert moved("01", LearnerVariant(undivided_alpha=True), ALL) == (64, 8)  # eight times as far
    assert moved("01", LearnerVariant(no_symmetry=True), ALL) == (8, 1)
    assert moved("01 56", LearnerVariant(no_symmetry=True, undivided_alpha=True), ALL) == (8, 2)
    board = EACH * 3  # both tuples see the same tiles
    assert moved("01 56", LearnerVariant(no_symmetry=True), board) == (8, 2)
    assert moved("01 56", LearnerVariant(no_symmetry=True, shared=True), board) == (16, 1)  # found and moved twice
    assert moved("01", LearnerVariant(), board) == (64, 1)  # eight times, each of them eight times
    assert moved("01", LearnerVariant(table_per_placement=True), board) == (8, 8)


def test_tuples_that_share_a_table_share_it_cell_by_cell() -> None:
    """Reading a board's cells 5 and 6 as cells 0 and 1 of another: in their order."""
    program = make_program(RULES, "01 56", LearnerVariant(shared=True, no_symmetry=True), HALF)
    first, second = (np.uint64(3 | 7 << 4), np.uint64(3 << 20 | 7 << 24))
    at = [set(weight_indices(program.tables, board)[:2]) for board in (first, second)]
    assert at[0] == at[1] and len(at[0]) == 2
    with pytest.raises(ValueError, match="equally long"):
        tuples_of("01 234", LearnerVariant(shared=True))


def test_expectations_that_are_not_divided_or_look_dead_states_up() -> None:
    def worth(board: Board, **flags: bool) -> float:
        program = make_program(RULES, "01", LearnerVariant(states=True, **flags), HALF)
        program.tables.weights[:-1] = 1.0  # every board is worth 8
        return float(spawned_value(program, *board.packed))

    three = Board([2, 4, 8, 16, 32, 64, 128, 256, 2, 4, 8, 16, 32, 0, 0, 0])
    assert (worth(three), worth(three, summed_expectation=True)) == pytest.approx((8, 24))
    # The empty cell's neighbours are a 4 and a 16: a 2 ends the game, a 4 does not.
    last = Board([2, 4, 2, 4, 4, 2, 4, 2, 2, 4, 2, 16, 4, 8, 4, 0])
    assert worth(last) == pytest.approx(0.8) == worth(last, summed_expectation=True)
    assert worth(last, no_terminal_check=True) == pytest.approx(8)


@pytest.mark.parametrize("states", [True, False])
def test_look_ups_are_those_of_a_plain_program(states: bool) -> None:
    program, results, look_ups = played(LearnerVariant(states=states), 1)
    m, n, chosen = 24, int(results.lengths[0]), 0
    state, board = opening(RULES, np.uint64(stream(np.uint64(3), np.uint64(0))))
    for k in range(n):
        before = Board.from_packed(int(program.path[k] if states else board))
        slid = [before.move(move)[0] for move in before.legal_moves()]
        chosen += sum(2 * list(after).count(0) if states else 1 for after in slid)
        state, bits = draw(np.uint64(state))
        board = spawn(RULES, program.path[k], np.uint64(0), np.uint64(bits))
    assert look_ups[0] == m * (chosen + 2 * n)
