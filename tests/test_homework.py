"""examples/homework.py: it runs, and learns exactly what the fast learner learns."""

from __future__ import annotations

import random
import subprocess
import sys
from array import array
from collections.abc import Iterator
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tuplet as package
from tuplet.games.g2048.statistics import Results, printout, summarise
from tuplet.kernel import stream
from tuplet.values.patterns import placements
from tuplet.values.tables import FileOrder

PROGRAM = Path(__file__).parent.parent / "examples" / "homework.py"
TARGETS = ("state", "afterstate")
NET = "5x4"  # small tables, compared as a whole


@pytest.fixture
def homework() -> SimpleNamespace:
    return SimpleNamespace(**run_path(str(PROGRAM)))


def learner_of(homework: SimpleNamespace, net: package.Network) -> Any:
    """The homework's learner with the weights of a network."""
    kind = homework.StateLearner if net.target == "state" else homework.AfterstateLearner
    learner = kind(package.NETWORKS[NET].split(), net.spawn4)
    for pattern, table in zip(learner.patterns, tables_of(net), strict=True):
        pattern.weights = array("f", table.tobytes())
    return learner


def tables_of(net: package.Network) -> list[np.ndarray]:
    """Each tuple's weights, by the index of weight files: four bits a cell, the first lowest."""
    orders = [FileOrder(cells).indices(np.arange(16 ** len(cells))) for cells in net.tuples]
    return [net.table(t)[order] for t, order in enumerate(orders)]


def network(trained: package.Network, target: Any) -> package.Network:
    net = package.Network(NET, target=target)
    net.weights[:] = trained.weights
    return net


def boards() -> Iterator[list[int]]:
    source = random.Random(7)
    for _ in range(300):
        most = source.randint(2, 12)
        yield [source.choice((0, source.randint(1, most))) for _ in range(16)]


def as_board(exponents: list[int]) -> package.Board:
    return package.Board([2**e if e else 0 for e in exponents])


def assert_same_weights(learner: Any, net: package.Network, before: package.Network) -> None:
    moved = 0
    pairs = zip(learner.patterns, tables_of(net), tables_of(before), strict=True)
    for pattern, table, old in pairs:
        assert np.allclose(np.array(pattern.weights), table, rtol=1e-6, atol=1e-3)
        moved += np.count_nonzero(np.abs(table - old) > 0.1)
    assert moved > 100  # much more than the difference that is allowed


@pytest.mark.parametrize("target", TARGETS)
def test_it_runs_as_a_program(target: str) -> None:
    done = subprocess.run(
        [sys.executable, "-I", PROGRAM, "--games", "1", "--target", target], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0 and done.stderr == ""
    first, *tiles = done.stdout.splitlines()
    assert first.startswith("1\tavg = ") and "\tmax = " in first
    assert tiles and tiles[0].startswith("\t") and "\t100%\t(" in tiles[0]


def test_it_needs_nothing_but_python() -> None:
    text = PROGRAM.read_text(encoding="utf-8")
    imported = {line.split()[1] for line in text.splitlines() if line.startswith(("import", "from"))}
    assert imported <= sys.stdlib_module_names
    assert len(text.splitlines()) < 240


@pytest.mark.parametrize("wrong", [["--games", "0"], ["--alpha", "2"], ["--target", "moon"]])
def test_it_refuses_what_makes_no_sense(wrong: list[str]) -> None:
    done = subprocess.run([sys.executable, PROGRAM, *wrong], capture_output=True, text=True)
    assert done.returncode == 2 and "Traceback" not in done.stderr


def test_moves_and_rewards_are_those_of_the_rules(homework: SimpleNamespace) -> None:
    for exponents in boards():
        board = as_board(exponents)
        expected = {m: (list(a.exponents), r) for m, (a, r) in board.after_states().items()}
        assert {m: (a, r) for m, a, r in homework.legal_moves(exponents)} == expected
        assert homework.empty_cells(exponents) == board.empty


def test_an_index_is_that_of_weight_files(homework: SimpleNamespace) -> None:
    assert homework.indexof([1, 5, 9, 13], [0, 0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0]) == 0x310
    net = package.Network("012345")
    net.weights[:] = np.arange(16**6)
    (table,) = tables_of(net)
    for exponents in boards():
        (part,) = net.explain(as_board(exponents))
        placed = homework.isomorphs([0, 1, 2, 3, 4, 5])
        found = [float(table[homework.indexof(cells, exponents)]) for cells in placed]
        assert found == [weight for _, weight in part.placements]


def test_placements_are_ours(homework: SimpleNamespace) -> None:
    for spelled in homework.TUPLES:
        cells = tuple(int(digit, 16) for digit in spelled)
        assert [tuple(p) for p in homework.isomorphs(list(cells))] == placements(cells)


@pytest.mark.parametrize("target", TARGETS)
def test_values_and_best_moves_are_ours(homework: SimpleNamespace, trained: package.Network, target: str) -> None:
    net = network(trained, target)
    learner = learner_of(homework, net)
    compared = 0
    for exponents in boards():
        board = as_board(exponents)
        assert learner.estimate(exponents) == pytest.approx(net.value(board), rel=1e-5, abs=1e-3)
        values = sorted((m.value for m in net.moves(board) if m.legal), reverse=True)
        if len(values) > 1 and values[0] - values[1] > 0.01:  # else rounding may decide
            assert learner.best_move(exponents)[0] == net.best_move(board)
            compared += 1
        elif not values:
            assert learner.best_move(exponents) is None
    assert compared > 200


def test_where_the_game_is_over_nothing_is_expected(homework: SimpleNamespace) -> None:
    """All states are worth the same, but for those without moves: only they can decide."""
    net = package.Network(NET, target="state", initial=10_000)
    learner, source, decided = learner_of(homework, net), random.Random(3), 0
    for _ in range(2000):
        exponents = [source.randint(1, 9) for _ in range(15)]
        exponents.insert(source.randint(0, 15), 0)
        values = {move.move: move for move in net.moves(as_board(exponents)) if move.legal}
        if len(values) < 2 or len({move.reward for move in values.values()}) > 1:
            continue
        if len({round(move.value or 0.0) for move in values.values()}) == len(values):
            assert learner.best_move(exponents)[0] == net.best_move(as_board(exponents))
            decided += 1
    assert decided > 20


@pytest.mark.parametrize("target", TARGETS)
def test_an_episode_teaches_what_the_fast_learner_learns(
    homework: SimpleNamespace, trained: package.Network, target: str
) -> None:
    episode = package.play_episode(trained, package.RandomEnvironment(seed=4))
    net = network(trained, target)
    learner = learner_of(homework, net)
    package.learn_from(net, episode, alpha=0.1)
    path = []
    for position, move in episode.replay():
        state = list(position.exponents)
        path.append((state, *homework.slide(state, move)))
    assert len(path) > 300
    learner.update_episode(path, 0.1)
    assert_same_weights(learner, net, trained)


@pytest.mark.parametrize("target", TARGETS)
def test_the_first_game_of_a_training_is_the_same(homework: SimpleNamespace, target: str) -> None:
    """The same luck, the same moves, the same score, the same weights."""
    net = package.Network(NET, target=target)
    run = package.train(net, games=1, learner="td", alpha=0.1, target=target, seed=5, progress=False)
    learner = learner_of(homework, package.Network(NET, target=target))
    luck = stream(np.uint64(5), np.uint64(0))

    def spawn(board: list[int], spawn4: float) -> list[int]:
        nonlocal luck
        luck, spawned = as_board(board).spawn(luck, spawn4)
        return list(spawned.exponents)

    homework.play.__globals__["spawn"] = spawn
    path, _ = homework.play(learner)
    learner.update_episode(path, 0.1)
    assert run.metrics[-1]["mean_score"] == sum(reward for _, _, reward in path)
    assert_same_weights(learner, net, package.Network(NET))


def test_the_print_out_is_the_courses(homework: SimpleNamespace, capsys: pytest.CaptureFixture[str]) -> None:
    scores, largest = [1000, 3000, 2000, 5004], [7, 9, 7, 10]
    homework.show(4000, scores, largest)
    results = Results(np.array(scores), np.array(largest, np.uint8), np.array(scores))
    assert capsys.readouterr().out == printout(4000, summarise(results)) + "\n"


def test_ctrl_c_ends_it_quietly(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: list[int]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(random, "choice", interrupted)
    monkeypatch.setattr(sys, "argv", ["homework.py"])
    with pytest.raises(SystemExit) as ended:
        run_path(str(PROGRAM), run_name="__main__")
    assert ended.value.code == 130
