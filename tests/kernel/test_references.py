"""Kernels that count references to arrays: few, and each for a reason."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numba.core.registry import CPUDispatcher

import tuplet
from tuplet.games.protocol import ONGOING, register_game
from tuplet.kernel import inlined, kernel, local_array
from tuplet.kernel.compile import counts_references
from tuplet.search import expectimax, mcts
from tuplet.search.tree import make_tree, reset

NEEDS_AN_EXTRA = ("tuplet.adapters.",)
N_LOCAL = 20
COUNTING = {
    "adapters.gym_policy.after_values": "buffers of a network's size, once for many boards",
    "learn.parallel.merge.mean_of": "sums of a block, once for a whole table",
    "learn.step_kernels._update_forward": "td_update does",
    "learn.step_kernels._walk_back": "learn_backward does",
    "learn.step_kernels.record_game": "learning does",
    "learn.td.learn_backward": "values of the last n boards, once for a game",
    "learn.td.td_update": "weight_indices returns an array",
    "search.tree.reroot": "a number for each node, once for a move",
    "values.tables.move_values": "buffers of a network's size",
    "values.tables.update": "weight_indices returns an array",
    "values.tables.value": "weight_indices returns an array",
    "values.tables.weight_indices": "returns its array",
}


def kernels() -> Iterator[tuple[str, Any]]:
    """Every kernel of tuplet's modules, by its module and name."""
    for module in pkgutil.walk_packages(tuplet.__path__, "tuplet."):
        if ".templates" in module.name or module.name.endswith("__main__"):
            continue
        try:
            loaded = importlib.import_module(module.name)
        except ImportError:
            assert module.name.startswith(NEEDS_AN_EXTRA)
            continue
        for name, thing in vars(loaded).items():
            if isinstance(thing, CPUDispatcher) and thing.py_func.__module__ == module.name:
                yield f"{module.name}.{name}", thing


def test_the_kernels_that_count_references_are_known() -> None:
    counting = {name.removeprefix("tuplet.") for name, kernel in kernels() if counts_references(kernel)}
    assert counting == COUNTING.keys()


def test_only_kernels_that_count_references_return_arrays() -> None:
    returning = {name for name, kernel in kernels() if "Array" in str(kernel.py_func.__annotations__["return"])}
    assert {name.removeprefix("tuplet.") for name in returning} == {"values.tables.weight_indices"} <= COUNTING.keys()


@kernel
def fill_local_arrays(n):
    small, wide = local_array(N_LOCAL, np.uint8), local_array(4, np.float32)
    for i in range(n):
        small[i] += i + 1
        wide[i % 4] += i
    deeper = fill_local_arrays(n - 1) if n > 1 else 0
    return deeper + int(small.sum()) + int(10 * wide[3])


def test_arrays_on_the_stack_begin_as_zeros_and_belong_to_one_call() -> None:
    assert fill_local_arrays(N_LOCAL) == fill_local_arrays(N_LOCAL) == fill_local_arrays.py_func(N_LOCAL)


class Nim(NamedTuple):
    """Take one to `most` matches; the last one wins. Its kernels make arrays."""

    most: int


@kernel
def nim_side(game, position):  # noqa: ARG001
    return np.int64(position[1])


@inlined
def nim_legal(game, position, moves, start):
    numbers = np.arange(1, 1 + min(game.most, np.int64(position[0])))
    moves[start : start + len(numbers)] = numbers
    return len(numbers)


def nim_apply(game, position, move):  # noqa: ARG001
    left = np.array([position[0] - np.uint64(move)])
    return left[0], np.uint64(1) - position[1]


@kernel
def nim_ending(game, position):  # noqa: ARG001
    return ONGOING if position[0] > np.uint64(0) else 2 - np.int64(position[1])


@kernel
def nim_winner(game, ended):  # noqa: ARG001
    return ended - 1


register_game(Nim, 3, side=nim_side, legal=nim_legal, apply=nim_apply, ending=nim_ending, winner=nim_winner)


def test_searches_take_a_users_kernels_that_allocate() -> None:
    game, position = Nim(3), (np.uint64(7), np.uint64(0))
    move, _, _ = expectimax.iterative_deepening(game, position, 20, np.inf, 100_000, expectimax.make_workspace(10))
    assert move == 3  # leaves a multiple of four
    tree = make_tree(1000)
    reset(game, tree, position)
    mcts.search(game, tree, mcts.Options(expand=1), 10_000, np.inf, np.uint64(0))
    assert tree.moves[mcts.choose(tree, mcts.Options(), mcts.RATE, -1.0, np.uint64(0))] == 3
