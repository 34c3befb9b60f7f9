from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, strategies as st

from naive import NaiveNetwork
from tuplet import NETWORKS, Board, Network
from tuplet.games.g2048 import rules_for
from tuplet.values.patterns import format_tuple, parse, placements, symmetries
from tuplet.values.tables import expected_value

exponents = st.lists(st.integers(0, 17), min_size=16, max_size=16)
# No board that looks alike from two sides: every look-up finds a weight of its own.
LOPSIDED = Board([2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 2, 32768])


def board_of(cells: list[int]) -> Board:
    return Board([1 << e if e else 0 for e in cells])


def random_network(tuples: str, **options: object) -> Network:
    """A small network with random weights everywhere."""
    net = Network(tuples, **options)  # type: ignore[arg-type]
    net.weights[:] = np.random.default_rng(3).normal(0, 100, len(net.weights))
    return net


def grid(board: Board) -> list[list[int]]:
    return [list(board.exponents[r : r + 4]) for r in range(0, 16, 4)]


@pytest.mark.parametrize("net", ["4x6", "4x5", "5x4", "0123 4567 01 5 0145a"])
def test_learning_random_boards_equals_the_naive_network(net: str) -> None:
    fast, slow = Network(net, initial=40), NaiveNetwork(NETWORKS.get(net, net).split(), 40)
    random = np.random.default_rng(1)
    boards = [board_of(list(random.integers(0, 18, 16))) for _ in range(60)]
    for board in boards * 3:
        target = float(random.integers(0, 5000))
        fast.update(board, target, 0.3)
        slow.learn(grid(board), target, 0.3)
    for board in boards:
        assert fast.value(board) == pytest.approx(slow.value(grid(board)), rel=1e-4, abs=1e-2)


@given(exponents)
def test_symmetric_boards_have_equal_values(cells: list[int]) -> None:
    net = test_symmetric_boards_have_equal_values.net
    values = [net.value(board_of([cells[s[c]] for c in range(16)])) for s in symmetries()]
    assert values == pytest.approx([values[0]] * 8, rel=1e-4, abs=1e-2)


test_symmetric_boards_have_equal_values.net = random_network("0123 0145 569a")  # type: ignore


@given(exponents)
def test_a_grown_network_values_every_board_as_the_smaller_one(cells: list[int]) -> None:
    small, grown, again = test_a_grown_network_values_every_board_as_the_smaller_one.nets
    board = board_of(cells)
    assert small.value(board) == grown.value(board) == again.value(board)


def _grown() -> tuple[Network, Network, Network]:
    """A network, the same after it has grown by shorter and longer tuples, and that one loaded."""
    small = random_network("0123 01245", stages="1024", initial=100)
    rows = random_network("0123 01245", stages="1024", initial=100)
    for net in (small, rows):
        net.weights[net.stride + 5 :: 3] = np.nan  # never read at the later stage
    rows.grow("456789 01245 569")
    with TemporaryDirectory() as folder:
        again = Network.load(rows.save(Path(folder) / "grown.safetensors"))
    assert [format_tuple(t) for t in again.tuples] == ["0123", "01245", "456789", "569"]
    assert again.original_tuples == rows.original_tuples == 2
    return small, rows, again


test_a_grown_network_values_every_board_as_the_smaller_one.nets = _grown()  # type: ignore


@pytest.mark.parametrize("alpha", [0.1, 0.5, 1.0])
def test_an_update_moves_the_value_by_alpha_times_the_error(alpha: float) -> None:
    net = Network("4x6")
    net.update(LOPSIDED, 1000, 1.0)
    before = net.value(LOPSIDED)
    error = net.update(LOPSIDED, 3000, alpha)
    assert error == pytest.approx(3000 - before)
    assert net.value(LOPSIDED) - before == pytest.approx(alpha * error, rel=1e-6)


def test_the_gradient_is_shared_among_isomorphs() -> None:
    net = Network("4x6")
    net.update(LOPSIDED, 320, 0.1)
    touched = net.weights[net.weights != 0]
    assert len(touched) == net.m == 32
    assert touched == pytest.approx([0.1 * 320 / 32] * 32)
    for s in symmetries():
        turned = board_of([LOPSIDED.exponents[s[c]] for c in range(16)])
        assert net.value(turned) == pytest.approx(32)


def test_the_explanation_adds_up_to_the_value() -> None:
    net = random_network("0123 4567 0145")
    parts = net.explain(LOPSIDED)
    assert [part.cells for part in parts] == ["0123", "4567", "0145"]
    assert sum(part.value for part in parts) == pytest.approx(net.value(LOPSIDED), rel=1e-5)
    for part in parts:
        assert sum(weight for _, weight in part.placements) == pytest.approx(part.value)
        assert part.placements[0][0] == part.cells


@pytest.mark.parametrize("spawn4", [0.0, 0.1, 0.2, 1.0])
def test_expected_values_by_differences_equal_brute_force(spawn4: float) -> None:
    net = random_network("0123 01245 569a", target="state", spawn4=spawn4)
    rules = rules_for(4, 4, spawn4)
    random = np.random.default_rng(8)
    found, seen = np.zeros(net.m, np.uint64), np.zeros(net.m, np.float32)
    ended = 0
    for n in range(300):
        top = 17 if n % 3 else 3
        cells = random.integers(0 if n % 2 else 1, top + 1, 16)
        cells[random.integers(0, 16)] = 0
        board = board_of(list(cells))
        exact = 0.0
        for state, chance in board.spawns(spawn4):
            ended += state.over
            exact += 0.0 if state.over else chance * net.value(state)
        fast = expected_value(rules, net.tables, *board.packed, found, seen)
        assert fast == pytest.approx(exact, rel=1e-4, abs=0.05)
    assert ended > 10  # full boards without a move, which count 0, were among them


@pytest.mark.parametrize("target", ["afterstate", "state"])
def test_moves_are_worth_reward_plus_value(target: str) -> None:
    net = random_network("0123 0145", target=target, gamma=0.9)
    board = Board([2, 2, 4, 8, 0, 0, 16, 0, 2, 0, 0, 0, 0, 0, 0, 64])
    moves = {move.move: move for move in net.moves(board)}
    for name, (after, reward) in board.after_states().items():
        value = net.value(after)
        if target == "state":
            value = sum(p * net.value(b) for b, p in after.spawns(0.1))
        assert moves[name].reward == reward
        assert moves[name].value == pytest.approx(reward + 0.9 * value, rel=1e-4)
    best = max((m for m in moves.values() if m.legal), key=lambda m: m.value or 0)
    assert net.best_move(board) == best.move


def test_best_move_is_none_when_the_game_is_over_and_the_first_of_equals() -> None:
    net = Network("5x4")
    assert net.best_move(Board([2, 4, 2, 4, 4, 2, 4, 2] * 2)) is None
    assert net.best_move(Board([0, 0, 0, 0, 0, 2, 0, 0] + [0] * 8)) == "up"


def test_negative_values_are_compared_too() -> None:
    net = Network("5x4", initial=-5000)
    board = Board([2, 2] + [0] * 14)
    assert net.best_move(board) in ("right", "left")  # the only moves with a reward


def test_named_networks_are_those_of_the_literature() -> None:
    assert [format_tuple(t) for t in parse("4x6")] == ["012345", "456789", "012456", "45689a"]
    for name, tuples in NETWORKS.items():
        count, length = name.replace("g", "x6").split("x")
        assert [len(t) for t in parse(name)] == [int(length)] * int(count)
        assert "g" not in name or parse(name)[:4] == parse("4x6")  # 4x6, grown
        assert " ".join(format_tuple(t) for t in parse(name)) == tuples
    assert sorted(map(sorted, placements((0, 1)))) == sorted(
        map(sorted, [(0, 1), (2, 3), (12, 13), (14, 15), (0, 4), (8, 12), (3, 7), (11, 15)])
    )


@pytest.mark.parametrize(
    ("tuples", "complaint"),
    [
        ("0123 cdef", "0123 and cdef are the same up to symmetry"),
        ("0145 4501", "0145 and 4501"),
        ("012g", "012g"),
        ("01123", "twice"),
        ("012345678", "9 cells"),
        ("", "at least one"),
        ([[0, 16]], "outside the board"),
        ("9x9", "9x9"),
    ],
)
def test_wrong_tuples_are_refused_by_name(tuples: object, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Network(tuples)  # type: ignore[arg-type]


def test_only_a_network_that_finds_no_memory_is_told_to_take_shorter_tuples(
    tuplet, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("tuplet.values.network.line_aligned", full)
    done = tuplet("train", "--net", "0123", "--games", 5, "--out", tmp_path / "run")
    why = "there is not enough memory for network 0123: use shorter tuples"
    assert (done.returncode, done.stderr) == (2, f"tuplet: {why}\n")
    monkeypatch.setattr("tuplet.match", full)
    done = tuplet("match", "easy", "normal", "--games", 2)
    assert (done.returncode, done.stderr) == (2, "tuplet: there is not enough memory\n")


def test_networks_larger_than_memory_are_refused(monkeypatch) -> None:
    monkeypatch.setattr("tuplet.values.network.available_memory", lambda: 10**9)
    with pytest.raises(ValueError, match=r"2x8 needs 34.4 GB .* 1.0 GB free"):
        Network("2x8")


def test_other_boards_and_settings_are_refused() -> None:
    net = Network("5x4")
    with pytest.raises(ValueError, match="4x4"):
        net.value(Board([2, 0, 0, 0]))
    for options in ({"initial": float("nan")}, {"gamma": 2.0}, {"target": "both"}):
        with pytest.raises(ValueError, match=r"initial|gamma|target"):
            Network("5x4", **options)  # type: ignore[arg-type]
