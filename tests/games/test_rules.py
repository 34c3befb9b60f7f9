from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, strategies as st

from naive import slide as naive_slide, slide_left
from tuplet.games.g2048 import MOVES, Board, rules_for
from tuplet.games.g2048.rules import TOO_WIDE, WIDE, legal_bits, opening, quick_slide, slide, slides, spawn, wide_slides
from tuplet.kernel import draw, kernel, stream

u = np.uint64
exponents = st.lists(st.integers(0, 17), min_size=16, max_size=16)
small_exponents = st.lists(st.integers(0, 15), min_size=16, max_size=16)


def grid(board: Board) -> list[list[int]]:
    e, w = board.exponents, board.columns
    return [list(e[r : r + w]) for r in range(0, len(e), w)]


def flat(rows: list[list[int]]) -> tuple[int, ...]:
    return tuple(e for row in rows for e in row)


def test_all_rows_in_all_four_directions_equal_a_naive_slide() -> None:
    rules = rules_for()
    after, rewards = np.zeros(4, u), np.zeros(4, u)
    for row in range(65536):
        line = [row >> 4 * i & 15 for i in range(4)]
        left, reward = slide_left(line)
        right = slide_left(line[::-1])[0][::-1]
        # The row stands in the second row, and as a column in the third column.
        across = row << 16
        down = sum(e << 4 * (4 * r + 2) for r, e in enumerate(line))

        def packed(cells: list[int], column: bool) -> tuple[int, int]:
            at = [4 * (4 * r + 2) if column else 16 + 4 * r for r in range(4)]
            low = sum((e & 15) << a for e, a in zip(cells, at, strict=True))
            high = sum((e >> 4) << a for e, a in zip(cells, at, strict=True))
            return low, high

        for board, column, backward, forward in ((across, False, 1, 3), (down, True, 2, 0)):
            for move, cells in ((forward, left), (backward, right)):
                out = tuple(int(x) for x in slide(rules, u(board), u(0), move))
                assert out == (*packed(cells, column), reward), (row, move)
        for board, column in ((across, False), (down, True)):
            n = int(slides(rules.across, rules.down, u(board), after, rewards, u(0)))
            if 16 in left:
                assert n == WIDE
                continue
            kept = {int(a): int(r) for a, r in zip(after[:n], rewards[:n], strict=True)}
            for cells in (left, right):
                if cells != line:
                    assert kept[packed(cells, column)[0]] == reward


@given(exponents)
def test_every_move_equals_the_naive_one_up_to_131072(cells: list[int]) -> None:
    board = Board([1 << e if e else 0 for e in cells])
    for number, move in enumerate(MOVES):
        rows, reward = naive_slide(grid(board), move)
        if max(flat(rows)) > 17:
            continue  # two 131072 side by side cannot come about
        after, gained = board.move(move)
        assert (after.exponents, gained) == (flat(rows), reward)
        low, high, kernel_reward = slide(rules_for(), *board.packed, number)
        assert Board.from_packed(low, high) == after
        assert int(kernel_reward) == reward


@given(small_exponents)
def test_fast_and_exact_slides_agree(cells: list[int]) -> None:
    rules = rules_for()
    low, high = Board([1 << e if e else 0 for e in cells]).packed
    fast, fast_rewards = np.zeros(4, u), np.zeros(4, u)
    exact, exact_high, exact_rewards = np.zeros(4, u), np.zeros(4, u), np.zeros(4, u)
    n = int(slides(rules.across, rules.down, low, fast, fast_rewards, u(0)))
    count = int(wide_slides(rules, low, high, exact, exact_high, exact_rewards, u(0)))
    if n == WIDE:
        assert exact_high[:count].any()
    else:
        assert n == count
        assert (fast[:n] == exact[:n]).all()
        assert (fast_rewards[:n] == exact_rewards[:n]).all()
        assert not exact_high[:n].any()


@pytest.mark.parametrize(("rows", "columns"), [(r, c) for r in (2, 3, 4) for c in (2, 3, 4)])
def test_one_move_by_table_and_the_legal_moves_by_bits_are_the_exact_ones(rows, columns) -> None:
    rules, source = rules_for(rows, columns), np.random.default_rng(rows * 5 + columns)
    for _ in range(400):
        cells = source.integers(0, source.choice([3, 6, 16, 18]), rows * columns)
        cells *= source.random(rows * columns) < source.choice([0.2, 0.6, 1.0])
        board = Board([1 << e if e else 0 for e in cells.tolist()], rows=rows, columns=columns)
        low, high = board.packed
        bits = int(legal_bits(rules.cells, low, high))
        assert [m for i, m in enumerate(MOVES) if bits >> i & 1] == board.legal_moves(), board
        for move in range(4):
            slid, slid_high, reward = slide(rules, low, high, move)
            quick, gained = quick_slide(rules.across, rules.down, low, move)
            if high == 0 and gained < TOO_WIDE:
                assert (quick, gained, 0) == (slid, reward, slid_high)
            elif high == 0:
                either = [slide(rules, low, high, each)[1] for each in (move, move ^ 2)]
                assert any(either)  # a tile beyond 32768, this way or the other


BOARDS = """
import random
import numpy as np
from tuplet.games.g2048 import rules_for
from tuplet.games.g2048.rules import (
    largest, legal_bits, opening, quick_slide, slide, slides, spawn, view, wide_slides
)
from tuplet.kernel import stream
u, rules = np.uint64, rules_for(4, 4, 0.3)
random.seed(6)
after, high, rewards = (np.zeros(4, u) for _ in range(3))
for n in range(300):
    board, bits = u(random.getrandbits(64)), u(random.getrandbits(64))
    holes = u(0)
    for c in range(16):  # some empty cells, some tiles beyond 32768
        if random.random() < 0.3:
            board = board & ~(u(15) << u(4 * c))
            holes |= u(random.random() < 0.2) << u(4 * c)
    for fifth in (u(0), holes):
        print(*(int(x) for m in range(4) for x in slide(rules, board, fifth, m)), end=" ")
        print(int(legal_bits(rules.cells, board, fifth)), end=" ")
        print(int(largest(board, fifth)), int(spawn(rules, board, fifth, bits)), end=" ")
        count = int(wide_slides(rules, board, fifth, after, high, rewards, u(0)))
        print(count, after[:count], high[:count], rewards[:count], int(view(board, fifth)))
    print(*(int(x) for m in range(4) for x in quick_slide(rules.across, rules.down, board, m)))
    count = int(slides(rules.across, rules.down, board, after, rewards, u(0)))
    print(count, *(after[:count] if count < 5 else ()), *(rewards[:count] if count < 5 else ()))
    print(*(int(x) for x in opening(rules, u(stream(bits, u(n))))))
"""


def test_compiled_and_interpreted_rules_agree_on_full_range_boards() -> None:
    outputs = []
    for disabled in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", BOARDS],
            capture_output=True,
            text=True,
            timeout=300,
            env={**os.environ, "NUMBA_DISABLE_JIT": disabled},
        )
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
    assert outputs[0].count("\n") >= 1500
    assert outputs[0] == outputs[1]


def test_65536_leaves_its_neighbours_alone() -> None:
    board = Board([32768, 32768, 2, 4] + [0] * 12)
    after, reward = board.move("left")
    assert after.tiles[:4] == [65536, 2, 4, 0] and reward == 65536
    after, reward = Board([65536, 65536, 32768, 32768] + [0] * 12).move("right")
    assert after.tiles[:4] == [0, 0, 131072, 65536] and reward == 131072 + 65536


@kernel
def random_games(rules, seed, games):  # type: ignore[no-untyped-def]
    total = 0
    after, rewards = np.zeros(4, np.uint64), np.zeros(4, np.uint64)
    for game in range(games):
        state, board = opening(rules, stream(np.uint64(seed), np.uint64(game)))
        while True:
            n = slides(rules.across, rules.down, board, after, rewards, np.uint64(0))
            if n == np.uint64(0):
                break
            state, bits = draw(state)
            k = ((bits >> np.uint64(32)) * n) >> np.uint64(32)
            total += np.int64(rewards[k])
            state, bits = draw(state)
            board = spawn(rules, after[k], np.uint64(0), bits)
    return total / games


@pytest.mark.parametrize(
    ("rows", "columns", "spawn4", "exact", "margin"),
    [
        # Four and more standard errors of the mean (sd 12, 12, 40).
        (2, 2, 0.1, 19.656540, 0.05),
        (2, 2, 0.2, 20.613494, 0.05),
        (2, 3, 0.1, 61.168880, 0.20),
        (3, 2, 0.1, 61.168880, 0.20),
        (2, 3, 0.2, 60.999949, 0.20),
    ],
)
def test_random_play_has_the_exact_mean(rows, columns, spawn4, exact, margin) -> None:
    mean = random_games(rules_for(rows, columns, spawn4), 3, 1_000_000)
    assert mean == pytest.approx(exact, abs=margin)


def test_spawns_are_uniform_with_the_given_share_of_fours() -> None:
    rules = rules_for(4, 4, 0.25)
    board, _ = Board([2, 0, 0, 8] * 4).packed
    counts = np.zeros((16, 3), int)
    state = stream(u(1), u(1))
    for _ in range(40_000):
        state, bits = draw(u(state))
        new = int(spawn(rules, board, u(0), u(bits))) ^ int(board)
        cell = (new.bit_length() - 1) // 4
        counts[cell, new >> 4 * cell] += 1
    empty = [c for c in range(16) if c % 4 in (1, 2)]
    assert counts[[c for c in range(16) if c not in empty]].sum() == 0
    assert counts.sum(axis=1)[empty] == pytest.approx(5000, abs=350)
    assert counts[:, 2].sum() / 40_000 == pytest.approx(0.25, abs=0.01)


@pytest.mark.parametrize("size", [(1, 4), (5, 4), (4, 0)])
def test_impossible_sizes_and_shares_are_refused(size: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="2 to 4"):
        rules_for(*size)
    with pytest.raises(ValueError, match="spawn4 must be 0 to 1"):
        rules_for(4, 4, 1.5)
