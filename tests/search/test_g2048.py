"""Search over learned values: against a plain search, whatever the table and the threads."""

from __future__ import annotations

import random
import time
from functools import cache

import numpy as np
import pytest

from both_ways import in_both_ways
from tuplet import Board, LearnedAgent, Network, RandomEnvironment, evaluate, play_episode, solve
from tuplet.exact.regret import exact_regret
from tuplet.games.g2048.board import MOVES
from tuplet.games.g2048.rules import rules_for
from tuplet.search.g2048 import MARGIN, Workspace, _sort, _take_over, leaf_values, make_workspace, search_root
from tuplet.values.downgrade import downgrade_board

CROWDED = [2, 8, 32, 2, 4, 64, 256, 4, 16, 2, 4096, 2048, 0, 4, 8, 0]
# Each a merge away from a tile that four bits cannot hold, or beyond.
WIDE = [
    [32768, 32768, 4, 2, 8, 64, 2, 32, 16, 4, 128, 8, 2, 0, 4, 2],
    [65536, 2, 8, 4, 65536, 64, 2, 32, 16, 4, 128, 8, 2, 8, 0, 2],
    [131072, 65536, 32768, 4, 16384, 64, 32768, 32, 16, 4, 128, 8, 2, 8, 4, 0],
]


def random_network(tuples: str = "0123 0145 569a", **options: object) -> Network:
    net = Network(tuples, **options)  # type: ignore[arg-type]
    net.weights[:] = np.random.default_rng(3).normal(0, 100, len(net.weights))
    return net


def random_board(source: random.Random, highest: int = 6, empty: int = 3) -> Board:
    """A 4x4 board with few empty cells, so that a plain search can be waited for."""
    while True:
        tiles = [1 << source.randint(1, highest) for _ in range(16)]
        for cell in source.sample(range(16), empty):
            tiles[cell] = 0
        if not Board(tiles).over:
            return Board(tiles)


class Plain:
    """Expectimax as the rules say it, one board after the other."""

    def __init__(
        self, net: Network, downgrade: int | None = None, spawn4: float = 0.1, margin: float | None = None
    ) -> None:
        self.net, self.downgrade, self.spawn4, self.margin = net, downgrade, spawn4, margin

    @cache  # noqa: B019  # as long as the test
    def after_value(self, after: Board, left: int) -> float:
        if left:
            mean = 0.0
            for state, share in after.spawns(self.spawn4):
                four = sum(state.tiles) - sum(after.tiles) == 4
                if self.margin is not None and four and left == 1:
                    mean += share * self.after_value(after, 0)
                else:
                    further = left - 1 if self.margin is not None and four else left
                    mean += share * self.best_value(state, further)
            return mean
        after = downgrade_board(after, self.downgrade)
        if self.net.target == "afterstate":
            return self.net.value(after)
        states = after.spawns(self.spawn4)
        return sum(p * self.net.value(state) for state, p in states if not state.over)

    def best_value(self, board: Board, depth: int) -> float:
        values = self.values(board, depth)
        if self.margin is not None and depth > 1:
            static = self.values(board, 1)
            values = {move: values[move] for move in values if static[move] >= max(static.values()) - self.margin}
        return max(values.values(), default=0.0)

    def values(self, board: Board, depth: int) -> dict[str, float]:
        return {
            move: reward + self.net.gamma * self.after_value(after, depth - 1)
            for move, (after, reward) in board.after_states().items()
        }


def assert_is_plain(player: LearnedAgent, plain: Plain, board: Board) -> None:
    exact = plain.values(board, player.depth or 1)
    for move in player.moves(board):
        assert move.legal == (move.move in exact)
        assert move.reward == (board.move(move.move)[1] if move.legal else 0)
        if move.legal:
            assert move.value == pytest.approx(exact[move.move], rel=1e-4, abs=0.05), board
    chosen = player.choose(board)
    assert exact[chosen] == pytest.approx(max(exact.values()), rel=1e-4, abs=0.05)


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize(
    "options",
    [{}, {"gamma": 0.9, "spawn4": 0.3}, {"target": "state"}, {"target": "state", "spawn4": 0.0}, {"spawn4": 1.0}],
)
def test_values_are_those_of_a_plain_search(depth: int, options: dict[str, object]) -> None:
    net, source = random_network(**options), random.Random(depth)
    plain = Plain(net, spawn4=net.spawn4)
    player = LearnedAgent(net, depth=depth)
    for n in range((12, 6, 2)[depth - 1]):
        assert_is_plain(player, plain, random_board(source, 4 + n, 3 if depth < 3 else 2))


@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize("target", ["afterstate", "state"])
def test_a_search_by_the_clock_looks_one_move_less_ahead_behind_a_four(target: str, depth: int) -> None:
    """Two moves ahead it is exact."""
    net, source = random_network(target=target), random.Random(5)
    plain, player = Plain(net, margin=MARGIN if depth > 2 else None), LearnedAgent(net, time=60.0, depth=depth)
    for n in range(3):
        assert_is_plain(player, plain, random_board(source, 4 + n, 2))
        assert player.reached == depth


@pytest.mark.parametrize("target", ["afterstate", "state"])
def test_a_selective_search_skips_moves_that_seem_to_be_bad(target: str) -> None:
    net, source, work, rules = random_network(target=target), random.Random(6), None, rules_for()
    differs = False
    for n in range(3):
        board, values = random_board(source, 4 + n, 2), []
        for margin in (100.0, MARGIN):
            work = make_workspace(net.m)
            search_root(rules, leaf_values(net, margin=margin), *board.packed, np.int64(3), 60.0, work)
            exact = Plain(net, margin=margin).values(board, 3)
            values.append([work.root_values[MOVES.index(move)] for move in exact])
            assert values[-1] == pytest.approx(list(exact.values()), rel=1e-4, abs=0.05)
        differs |= values[0] != values[1]
    assert differs


def test_a_depth_that_was_not_completed_decides_between_the_moves_that_were() -> None:
    values, order = np.array([3.0, np.nan, 9.0, 5.0], np.float32), np.arange(4)
    _sort(order, values)
    assert order.tolist() == [2, 3, 0, 1]
    _take_over(values, np.array([0.0, np.nan, 7.0, 8.0], np.float32), order, 2)
    assert values.tolist() == pytest.approx([1.0, np.nan, 7.0, 8.0], nan_ok=True)


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("target", ["afterstate", "state"])
def test_stages_are_searched_as_they_are_valued(depth: int, target: str) -> None:
    """Tuples of different lengths, weights that no stage has read yet, and spawns between."""
    net = Network("0123 01245 569a", stages="64 16", target=target)  # type: ignore[arg-type]
    stage = int(net.tables.stride)
    net.weights[:stage] = np.random.default_rng(3).normal(0, 100, stage)
    part = net.weights[2 * stage :: 3]  # of the later stages, some were read
    part[:] = np.random.default_rng(4).normal(0, 100, len(part))
    plain, player, source = Plain(net), LearnedAgent(net, depth=depth), random.Random(7)
    for n in range(8):
        assert_is_plain(player, plain, random_board(source, 4 + n % 4, 3))


@pytest.mark.parametrize("size", ["2x2", "2x3", "3x2"])
def test_values_on_small_boards_are_those_of_a_plain_search(size: str) -> None:
    source = random.Random(3)
    for target in ("afterstate", "state"):
        net = Network(board=size, target=target)  # type: ignore[arg-type]
        net.weights[:] = np.random.default_rng(3).normal(0, 100, len(net.weights))
        rows, columns = net.size
        for depth in (1, 2, 3):
            tiles = [[1 << source.randint(1, 4) for _ in range(columns)] for _ in range(rows)]
            tiles[0][0] = tiles[1][1] = 0
            assert_is_plain(LearnedAgent(net, depth=depth), Plain(net), Board(tiles))


@pytest.mark.long
def test_a_search_to_the_end_is_the_exact_solution() -> None:
    """No game on 2x2 is longer than 40 moves: values that are all zero do not matter."""
    solution = solve("2x2")
    player = LearnedAgent(Network(board="2x2"), depth=40)
    for tiles in ([2, 2, 0, 0], [2, 4, 8, 0], [4, 16, 2, 2], [8, 2, 0, 4]):
        exact = solution.moves(tiles)
        for found, sure in zip(player.moves(tiles), exact, strict=True):
            assert found._replace(value=0) == sure._replace(value=0)
            assert found.value == (pytest.approx(sure.value, rel=1e-5) if sure.legal else None)
    assert exact_regret(solution, player).regret == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize("target", ["afterstate", "state"])
@pytest.mark.parametrize("downgrade", [None, 32768])
def test_tiles_beyond_32768_are_exact(target: str, downgrade: int | None) -> None:
    net = random_network(target=target)
    plain = Plain(net, downgrade)
    for tiles in WIDE:
        for depth in (1, 2, 3) if target == "afterstate" else (1, 2):
            assert_is_plain(LearnedAgent(net, depth=depth, downgrade=downgrade), plain, Board(tiles))


def test_downgrading_at_depth_is_of_the_leaves() -> None:
    net = random_network()
    plain, board = Plain(net, 2048), Board(CROWDED)
    for depth in (1, 2):
        player = LearnedAgent(net, depth=depth, downgrade=2048)
        assert_is_plain(player, plain, board)
        assert player.moves(board) != LearnedAgent(net, depth=depth).moves(board)


def looked(net: Network, board: Board, depth: int, work: Workspace) -> list[float]:
    search_root(rules_for(), leaf_values(net), *board.packed, np.int64(depth), np.inf, work)
    return [float(v) for v in work.root_values]


@pytest.mark.parametrize("target", ["afterstate", "state"])
def test_a_table_of_any_size_changes_nothing(target: str) -> None:
    net, source = random_network(target=target), random.Random(1)
    usual, one_entry = make_workspace(net.m), make_workspace(net.m, 0, 0)
    boards = [random_board(source, 9, 4) for _ in range(10)] + [Board(tiles) for tiles in WIDE]
    for depth in (2, 3, 1, 2):  # what one depth left in the table is not taken for another's
        for board in boards if target == "afterstate" else boards[8:]:
            expected = looked(net, board, depth, one_entry)
            np.testing.assert_array_equal(looked(net, board, depth, usual), expected)
            np.testing.assert_array_equal(looked(net, board, depth, usual), expected)


def test_games_are_the_same_for_any_number_of_threads_and_in_python(trained: Network) -> None:
    player = LearnedAgent(trained, depth=2)
    one, two = (evaluate(player, games=5, seed=3, threads=n).results for n in (1, 2))
    for a, b in zip(one, two, strict=True):
        assert (a == b).all()
    environment = RandomEnvironment(3)
    for n in range(2):
        episode = play_episode(player, environment)
        assert (episode.score, len(episode.moves)) == (one.scores[n], one.lengths[n])


@pytest.mark.parametrize("target", ["afterstate", "state"])
def test_depth_one_is_greedy_play(trained: Network, target: str) -> None:
    net = trained if target == "afterstate" else random_network(target="state", spawn4=0.3)
    greedy = evaluate(net, games=20, seed=3).results
    # Lowered from a tile on that does not appear: the same, played by the search.
    searched = evaluate(LearnedAgent(net, downgrade=131072), games=20, seed=3).results
    for a, b in zip(greedy, searched, strict=True):
        assert (a == b).all()


@pytest.mark.slow
def test_looking_ahead_plays_better(trained: Network) -> None:
    scores = [evaluate(LearnedAgent(trained, depth=d), games=40, seed=2).results.scores for d in (1, 2)]
    assert scores[1].mean() > 1.2 * scores[0].mean()


def test_a_depth_beyond_the_longest_game_is_the_exact_solution() -> None:
    """Values of 0 add nothing: all points are won on the way. (2x2, the best possible play.)"""
    net, rules = Network("0145"), rules_for(2, 2, 0.1)
    work = make_workspace(net.m, 10, 20)
    expected = 0.0
    for first, share in Board(rows=2, columns=2).spawns():
        for board, likely in first.spawns():
            search_root(rules, leaf_values(net), *board.packed, np.int64(32), np.inf, work)
            expected += share * likely * float(np.nanmax(work.root_values))
    assert expected == pytest.approx(66.964149, abs=2e-5)


def test_a_move_by_time_takes_its_time_and_looks_further(trained: Network) -> None:
    board = Board(CROWDED)
    player = LearnedAgent(trained, time=0.3)
    player.choose(board)  # compiles
    began = time.perf_counter()
    moves = player.moves(board)
    assert 0.25 < time.perf_counter() - began < 60
    assert player.reached >= 3
    # The values of the last depth, or of some moves one deeper.
    last, next_values = (LearnedAgent(trained, depth=player.reached + n, time=600).moves(board) for n in range(2))
    assert moves == last or sum(move == other for move, other in zip(moves, next_values, strict=True)) > 1
    hurried = LearnedAgent(trained, time=1e-6)
    assert hurried.choose(board) in MOVES and 1 <= hurried.reached <= 2
    shallow = LearnedAgent(trained, depth=2, time=60)
    assert shallow.moves(board) == LearnedAgent(trained, depth=2, time=600).moves(board)


def test_what_a_network_learns_between_two_looks_counts() -> None:
    net, board = random_network(), Board(CROWDED)
    player = LearnedAgent(net, depth=2)
    before = player.moves(board)
    net.weights += 10
    assert all(
        now.value == pytest.approx(then.value + 240, rel=1e-4)
        for then, now in zip(before, player.moves(board), strict=True)
        if then.value is not None
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"depth": 0}, "depth"),
        ({"depth": 64}, "1 to 63"),
        ({"time": 0.0}, "0 seconds"),
        ({"time": float("nan")}, "seconds"),
        ({"downgrade": 5000}, "5000"),
        ({"downgrade": 0}, "8"),
        ({"spawn4": 2.0}, "spawn4 must be 0 to 1"),
    ],
)
def test_settings_without_sense_are_refused(options: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        LearnedAgent(Network("01"), **options)  # type: ignore[arg-type]


SCRIPT = """
import sys
import numpy as np
from tuplet import Board, LearnedAgent, Network
for target in ("afterstate", "state"):
    net = Network("01 569", target=target, spawn4=0.2)
    net.weights[:] = np.random.default_rng(1).normal(0, 100, len(net.weights))
    player = LearnedAgent(net, depth=2, downgrade=32768)
    for line in sys.stdin if target == "afterstate" else []:
        print(player.moves(Board(line)))
    print(player.moves(Board([2, 4, 8, 2, 4, 8, 2, 4, 8, 2, 4, 8, 2, 4, 8, 0])))
"""


def test_compiled_and_interpreted_are_the_same() -> None:
    boards = [",".join(map(str, tiles)) for tiles in [CROWDED, *WIDE]]
    compiled, interpreted = in_both_ways(SCRIPT, boards)
    assert compiled.count("MoveValue") == 4 * 6 and compiled == interpreted
