"""Exact solutions: the oracles' values, look-up, files, and what the command says."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tuplet import Board, Progress, Solution, Stop, Stopped, solve
from tuplet.cli import run
from tuplet.exact.layers import Layer, pack, unpack
from tuplet.exact.solution import canonical_all, is_solution
from tuplet.exact.solve import find_layers
from tuplet.games.g2048.rules import rules_for

# From 2048.md: the expected score, random play's, and the chance of reaching tiles.
ORACLES = {
    ("2x2", 0.1): ("66.964149", "19.656540", {16: "0.9625112537", 32: "0.0828872891"}),
    ("2x2", 0.2): ("64.685194", "20.613494", {16: "0.9251609600", 32: "0.1378959262"}),
    ("2x3", 0.1): ("480.258272", "61.168880", {32: "0.9998967634", 64: "0.9392636924", 128: "0.0569921605"}),
    ("2x3", 0.2): ("436.794168", "60.999949", {64: "0.8720607080", 128: "0.0712474889"}),
}


@pytest.fixture(scope="module")
def small() -> Solution:
    return solve("2x2")


@pytest.fixture(scope="module")
def larger() -> Solution:
    return solve("2x3")


@pytest.mark.parametrize(("size", "spawn4"), ORACLES)
def test_the_oracles_values_come_out_to_all_digits(size: str, spawn4: float) -> None:
    score, random, reached = ORACLES[size, spawn4]
    solution = solve(size, spawn4=spawn4, threads=2)
    assert f"{solution.expected_score:.6f}" == score
    assert f"{solution.random_score:.6f}" == random
    for tile, chance in reached.items():
        # 16 on 2x2 is reached with 0.96251125375 sharp: half a digit either way.
        assert abs(solution.reached[tile] - float(chance)) < 0.50001e-10


def test_a_turned_board_has_the_same_solution(larger: Solution) -> None:
    turned = solve("3x2")
    assert turned.states == larger.states == 21_752
    assert turned.after_states == larger.after_states == 14_883
    assert turned.expected_score == pytest.approx(larger.expected_score, rel=1e-14)
    assert turned.value([[2, 4], [0, 8], [16, 2]]) == pytest.approx(larger.value([[2, 0, 16], [4, 8, 2]]), rel=1e-14)


@pytest.mark.parametrize("spawn4", [0, 0.1, 0.5, 1])
def test_every_value_equals_that_of_a_plain_recursion(spawn4: float) -> None:
    @cache
    def value(board: Board) -> float:
        moves = board.after_states().values()
        return max((reward + mean(after) for after, reward in moves), default=0.0)

    def mean(after: Board) -> float:
        return sum(share * value(board) for board, share in after.spawns(spawn4))

    solution = solve("2x2", spawn4=spawn4)
    start = [b for first, p in Board(rows=2).spawns(spawn4) for b in [(mean(first), p)]]
    assert solution.expected_score == pytest.approx(sum(v * p for v, p in start), rel=1e-12)
    boards = {min(b.packed[0] for b in turned(board)) for board in value_keys(value, solution)}
    assert len(boards) == solution.states


def turned(board: Board) -> list[Board]:
    (a, b), (c, d) = board.tiles[:2], board.tiles[2:]
    grids = [(a, b, c, d), (b, a, d, c), (c, d, a, b), (d, c, b, a)]
    return [Board(g) for g in grids] + [Board([g[0], g[2], g[1], g[3]]) for g in grids]


def value_keys(value, solution: Solution) -> list[Board]:
    """Every state, found by walking; its value is compared on the way."""
    seen: set[Board] = set()
    ahead = [b for first, _ in Board(rows=2).spawns(solution.spawn4) for b, _ in first.spawns(solution.spawn4)]
    while ahead:
        board = ahead.pop()
        if board not in seen:
            seen.add(board)
            assert solution.value(board) == pytest.approx(value(board), rel=1e-12)
            for after, _ in board.after_states().values():
                ahead += [b for b, _ in after.spawns(solution.spawn4)]
    return list(seen)


def test_the_first_layers_of_3x3_are_those_of_a_plain_search() -> None:
    """Counted with sets of Python's own boards, mirror images apart."""
    rules = rules_for(3, 3)
    plain: dict[int, set[Board]] = {}
    for first, _ in Board(rows=3).spawns():
        for board, _ in first.spawns():
            plain.setdefault(sum(board), set()).add(board)
    for total, layer, _ in find_layers(rules, 0.1):
        boards = np.array([b.packed[0] for b in plain[total]], np.uint64)
        canonical_all(rules, boards)
        assert np.array_equal(np.unique(boards), layer.boards)
        if total == 12:
            break
        for board in plain[total]:
            for after, _ in board.after_states().values():
                for state, _ in after.spawns():
                    plain.setdefault(sum(state), set()).add(state)


def test_moves_are_worth_what_the_best_of_them_makes_of_the_state(larger: Solution) -> None:
    for board in ("2,0,0, 0,2,0", "2,4,8, 16,16,2", "0,2,4, 8,8,64"):
        moves = larger.moves(board)
        assert [m.move for m in moves] == ["up", "right", "down", "left"]
        legal = [m for m in moves if m.value is not None]
        assert max(m.value for m in legal) == pytest.approx(larger.value(board), rel=1e-12)
        best = max(legal, key=lambda m: m.value)
        assert larger.best_move(board) == larger.choose(Board(board, rows=2, columns=3))
        assert larger.best_move(board) == best.move


def test_boards_that_occur_in_no_game_are_refused(larger: Solution) -> None:
    for board in ([[2048] * 3] * 2, [[2, 0, 0], [0, 0, 0]]):
        with pytest.raises(ValueError, match="does not occur in any game"):
            larger.value(board)
    with pytest.raises(ValueError, match="solution is for 2x3 boards"):
        larger.value([[2, 2], [0, 0]])
    finished = [[2, 4, 8], [8, 16, 2]]
    assert larger.best_move(finished) is None and larger.value(finished) == 0


def test_a_tables_key_leaves_out_what_the_sum_tells() -> None:
    rules = rules_for(3, 3)
    boards = [Board([2, 4, 0, 8, 0, 1024, 16, 32, 2]), Board([512, 0, 0, 0, 4, 0, 0, 0, 2])]
    for board in boards:
        words = np.array([board.packed[0]], np.uint64)
        keys, back = np.empty(1, np.uint32), np.empty(1, np.uint64)
        pack(rules.cells, words, keys)
        unpack(rules.cells, sum(board), keys, back)
        assert back[0] == words[0]


def test_a_layer_finds_its_boards_again_as_it_grows() -> None:
    boards = np.arange(5000, dtype=np.uint64) * np.uint64(977)
    layer = Layer.of(boards)
    layer.reserve(100_000)
    assert len(layer) == 5000 and (layer.slots >= 0).sum() == 5000
    assert np.array_equal(layer.boards[:5000], boards)


def test_a_saved_table_is_the_same_when_loaded(larger: Solution, tmp_path: Path) -> None:
    path = larger.save(tmp_path / "table")
    assert path.stat().st_size < 12 * larger.states + 4096
    again = Solution.load(path)
    assert again.as_json() == larger.as_json()
    assert np.array_equal(again.keys, larger.keys)
    assert np.array_equal(again.values, larger.values)
    assert again.moves("0,2,4, 8,8,64") == larger.moves("0,2,4, 8,8,64")
    assert is_solution(path)
    assert [p.name for p in tmp_path.iterdir()] == ["table"]


def test_invalid_tables_are_refused(small: Solution, tmp_path: Path) -> None:
    data = small.save(tmp_path / "good").read_bytes()
    path = tmp_path / "bad"
    rng = np.random.default_rng(1)
    cut = [data[:n] for n in (0, 4, 8, 100, len(data) // 2, len(data) - 1)]
    for bad in [*cut, data + b"x", b"\xff" * 64, data.replace(b'"2x2', b'"4x4')]:
        path.write_bytes(bad)
        with pytest.raises(ValueError, match="table"):
            Solution.load(path)
    for _ in range(300):
        mangled = bytearray(data)
        for at in rng.integers(0, len(data), 3):
            mangled[at] = rng.integers(256)
        path.write_bytes(mangled)
        try:
            solution = Solution.load(path)
            solution.moves("2,2,4,0")
        except ValueError:
            pass
    with pytest.raises(FileNotFoundError):
        Solution.load(tmp_path / "none")
    assert not is_solution(tmp_path / "none") and not is_solution(tmp_path)


@given(st.text(max_size=6))
def test_other_sizes_are_refused_by_name(text: str) -> None:
    if text not in ("2x2", "2x3", "3x2", "2x4", "4x2", "3x3"):
        with pytest.raises(ValueError, match="3x3 can be solved"):
            solve(text)


def test_the_command_reports_what_other_tools_read(capsys, tmp_path: Path) -> None:
    table = tmp_path / "table"
    assert run(["solve", "2048", "--board", "2x3", "--json", "--out", str(table)]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["states"] == 21_752
    assert f"{report['expected_score']:.6f}" == "480.258272"
    assert f"{report['reached']['64']:.10f}" == "0.9392636924"
    assert Solution.load(table).expected_score == report["expected_score"]
    assert run(["solve", "2048", "--board", "2x3"]) == 0
    assert "480.258272" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--board", "4x4"), "2x2, 2x3, 3x2, 2x4, 4x2, 3x3 can be solved"),
        (("--board", "3x4"), "cannot be solved"),
        (("--board", "ewn"), "board must be 2x2 to 4x4"),
        (("--spawn4", "1.5"), "spawn4 must be 0 to 1"),
        (("--threads", "0"), "threads"),
        (("--out", "no/such/folder/table"), "no folder"),
    ],
)
def test_bad_input_is_one_line(capsys, arguments: tuple[str, ...], word: str) -> None:
    assert run(["solve", "2048", *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == "" and word in said.err
    assert said.err.startswith("tuplet: ") and said.err.count("\n") == 1


def test_ctrl_c_leaves_no_file(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tuplet", "solve", "2048", "--board", "3x3"]
    process = subprocess.Popen([*command, "--out", str(tmp_path / "table")], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert "layers found" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "tuplet: interrupted" in said and "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_3x3_has_the_known_values() -> None:
    """Half a minute, and 1.4 GB."""
    solution = solve("3x3", threads=2)
    assert f"{solution.expected_score:.2f}" == "5468.49"
    known = {128: "0.99999981", 256: "0.99570964", 512: "0.73677418"}
    assert {tile: f"{solution.reached[tile]:.8f}" for tile in known} == known
    assert solution.states == 48_713_519


def test_a_solution_that_was_stopped_is_no_solution() -> None:
    stop = Stop()
    stop.set()
    with pytest.raises(Stopped):
        solve("2x2", stop=stop)
    stop = Stop()

    def halfway(event: Progress) -> None:
        if event.what == "states valued" and event.done > 50:
            stop.set()

    with pytest.raises(Stopped):
        solve("2x3", stop=stop, progress=halfway)
