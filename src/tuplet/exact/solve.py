"""`solve`, and how 2048 is solved: forward, layer by layer, to find every state; then backward, for their values."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

import numpy as np

from tuplet.errors import UserError
from tuplet.exact.endgames import solve_endgames
from tuplet.exact.layers import (
    OPTIMAL,
    PART,
    RANDOM,
    REACHES,
    Layer,
    LayerValues,
    add_spawns,
    after_states,
    decide,
    expect,
    first_layers,
    pack,
    unpacked_layer,
)
from tuplet.exact.solution import Solution, solvable
from tuplet.games.g2048.rules import Rules2048, as_share, rules_for
from tuplet.games.game import Game
from tuplet.games.protocol import Array
from tuplet.system.blocks import Worker, as_threads, ordered_map
from tuplet.system.progress import COMPILING, Progress, ProgressOption, RateMeter, Watcher, watching
from tuplet.system.stop import Stop, Stopped

FIRST = 4  # the smallest sum of a state: two tiles


def solve(
    game: str | tuple[int, int] | Game = "3x3",
    *,
    spawn4: float | None = None,
    cubes: int | None = None,
    threads: int = 1,
    progress: ProgressOption = None,
    stop: Stop | None = None,
) -> Any:
    """Solve 2048 on a small board, or the endings of EWN.

    A board of 2048 ("2x2", "2x3", "3x2", "2x4", "4x2", "3x3") gives a `Solution`; `spawn4` is the probability of fours
    (0.1 by default). "ewn", or another game of its family with a rolled die, gives an `EndgameTable` of all positions
    with up to `cubes` cubes.
    """
    if isinstance(game, Game) or (isinstance(game, str) and game.startswith("ewn")):
        if spawn4 is not None:
            raise UserError(f"spawn4 is of 2048 (got {spawn4:g})")
        return solve_endgames(game, cubes, threads=threads, progress=progress, stop=stop)
    if cubes is not None:
        raise UserError(f"cubes are of ewn and its family (got {cubes})")
    return solve_board(game, spawn4=0.1 if spawn4 is None else spawn4, threads=threads, progress=progress, stop=stop)


def solve_board(
    board: str | tuple[int, int] = "3x3",
    *,
    spawn4: float = 0.1,
    threads: int = 1,
    progress: ProgressOption = None,
    stop: Stop | None = None,
) -> Solution:
    """The exact solution of 2048 on a small board: "2x2", "2x3", "3x2", "2x4", "4x2", "3x3".

    3x3 takes half a minute or more and 1.4 GB of memory, the others seconds.
    """
    rows, columns = solvable(board)
    rules, spawn4 = rules_for(rows, columns), as_share(spawn4)
    with watching(progress) as watch, ThreadPoolExecutor(as_threads(threads)) as pool:
        return _solve(rules, spawn4, pool, stop or Stop(), watch)


def _solve(rules: Rules2048, spawn4: float, pool: Executor, stop: Stop, watch: Watcher) -> Solution:
    rows, columns = rules.rows, rules.columns
    watch(Progress(COMPILING))
    meter = RateMeter()
    most = (1 << (rows * columns + 2)) // 2 - FIRST // 2  # with every tile from 4 on, each once
    keys: dict[int, Array] = {}
    states, after_count = 0, 0
    for total, layer, after in find_layers(rules, spawn4):
        keys[total] = np.empty(len(layer), np.uint32)
        pack(rules.cells, layer.boards, keys[total])
        states, after_count = states + len(layer), after_count + after
        _check(stop)
        figures = {"states": f"{states:,}"}
        watch(Progress("layers found", len(keys), most, meter.rate(states), "states/s", figures))

    values: dict[int, Array] = {}
    near = far = LayerValues(Layer(), np.empty((0, REACHES + rows * columns)))
    window = {0: near}
    valued = 0
    meter = RateMeter()
    for total in range(max(keys), FIRST - 1, -2):
        own = _value_layer(rules, spawn4, pool, total, keys.get(total), near, far, stop)
        _check(stop)
        if total in keys:
            values[total] = own.values[:, OPTIMAL].copy()
        near, far = own, near
        valued += len(own.layer)
        if total <= 2 * FIRST:
            window[total] = own
        watch(Progress("states valued", valued, states, meter.rate(valued), "states/s"))

    start = _start(rules, spawn4, window)
    reached = {1 << e: float(start[e]) for e in range(REACHES, len(start)) if start[e] > 0}
    totals = sorted(keys)
    return Solution(
        rows,
        columns,
        spawn4,
        sums=np.array(totals, np.int64),
        counts=np.array([len(keys[total]) for total in totals], np.int64),
        keys=np.concatenate([keys.pop(total) for total in totals]),
        values=np.concatenate([values.pop(total) for total in totals]),
        expected_score=float(start[OPTIMAL]),
        random_score=float(start[RANDOM]),
        reached=reached,
        after_states=after_count,
    )


def _check(stop: Stop) -> None:
    if stop.is_set():
        raise Stopped("stopped before the board was solved")


def find_layers(rules: Rules2048, spawn4: float) -> Iterator[tuple[int, Layer, int]]:
    """Every layer of states, sorted, with its sum and the number of its after-states."""
    ahead = first_layers(rules, spawn4, True)
    while ahead:
        total = min(ahead)
        states = ahead.pop(total)
        layer = Layer.of(np.sort(states.boards[: len(states)]))
        after, _, _ = after_states(rules, True, layer)
        yield total, layer, len(after)
        add_spawns(rules, spawn4, True, after, total, ahead)


def _value_layer(
    rules: Rules2048,
    spawn4: float,
    pool: Executor,
    total: int,
    keys: Array | None,
    near: LayerValues,
    far: LayerValues,
    stop: Stop,
) -> LayerValues:
    """A layer's values, from those of the next two layers."""
    states = unpacked_layer(rules, total, np.empty(0, np.uint32) if keys is None else keys)
    after, links, rewards = after_states(rules, True, states)
    after_values = np.empty((len(after), near.values.shape[1]))
    values = np.empty((len(states), near.values.shape[1]))

    def expect_part(first: int, _: Worker) -> bool:
        part = slice(first, min(first + PART, len(after)))
        return expect(rules, spawn4, after.boards[part], near, far, after_values[part])

    def decide_part(first: int, _: Worker) -> None:
        part = slice(first, first + PART)
        decide(states.boards[part], links[part], rewards[part], after_values, values[part])

    def parts(count: int) -> Iterator[tuple[int]]:
        return ((first,) for first in range(0, count, PART))

    _all_known(*ordered_map(expect_part, parts(len(after)), executor=pool, stop=stop))
    list(ordered_map(decide_part, parts(len(states)), executor=pool, stop=stop))
    return LayerValues(states, values)


def _all_known(*known: bool) -> None:
    """Raise an error if a board after a spawn was not visited on the way forward."""
    if not all(known):
        raise RuntimeError("a board is missing from its layer")


def _start(rules: Rules2048, spawn4: float, window: dict[int, LayerValues]) -> Array:
    """The values before the first tile: the mean over two spawns."""
    start = np.zeros(window[0].values.shape[1])
    cells = [c for c in range(16) if int(rules.cells) >> 4 * c & 1]
    for exponent, share in ((1, 1 - spawn4), (2, spawn4)):
        near, far = (window.get((1 << exponent) + more, window[0]) for more in (2, 4))
        single = np.array([exponent << 4 * c for c in cells], np.uint64)
        values = np.empty((len(single), len(start)))
        if share > 0:
            _all_known(expect(rules, spawn4, single, near, far, values))
            start += share * values.mean(axis=0)
    return start
