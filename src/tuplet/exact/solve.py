"""`solve`: forward, layer by layer, to find every state; then back, to value them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from tuplet.exact.layers import (
    OPTIMAL,
    RANDOM,
    REACHES,
    Layer,
    decide,
    expect,
    insert_after_states,
    insert_spawns,
    pack,
    unpack,
)
from tuplet.exact.solution import Solution, solvable
from tuplet.games.g2048.rules import Rules2048, as_share, rules_for
from tuplet.system.blocks import Worker, as_threads, ordered_map
from tuplet.system.progress import COMPILING, Progress, ProgressOption, RateMeter, Watcher, watching
from tuplet.system.stop import Stop, Stopped

Array = np.ndarray[Any, Any]

PART = 1 << 14  # boards for which room is made, or that a thread takes, at a time
FIRST = 4  # the smallest sum of a state: two tiles


class LayerValues(NamedTuple):
    """A layer with its states' values, a column for each player."""

    layer: Layer
    values: Array


def solve(
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
    pace = RateMeter()
    most = (1 << (rows * columns + 2)) // 2 - FIRST // 2  # with every tile from 4 on, each once
    keys: dict[int, Array] = {}
    found, after_states = 0, 0
    for total, layer, after in _found_layers(rules, spawn4):
        keys[total] = np.empty(len(layer), np.uint32)
        pack(rules.cells, layer.boards, keys[total])
        found, after_states = found + len(layer), after_states + after
        _go_on(stop)
        figures = {"states": f"{found:,}"}
        watch(Progress("layers found", len(keys), most, pace.rate(found), "states/s", figures))

    values: dict[int, Array] = {}
    near = far = LayerValues(Layer(), np.empty((0, REACHES + rows * columns)))
    window = {0: near}
    valued = 0
    pace = RateMeter()
    for total in range(max(keys), FIRST - 1, -2):
        own = _valued(rules, spawn4, pool, total, keys.get(total), near, far, stop)
        _go_on(stop)
        if total in keys:
            values[total] = own.values[:, OPTIMAL].copy()
        near, far = own, near
        valued += len(own.layer)
        if total <= 2 * FIRST:
            window[total] = own
        watch(Progress("states valued", valued, found, pace.rate(valued), "states/s"))

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
        after_states=after_states,
    )


def _go_on(stop: Stop) -> None:
    if stop.is_set():
        raise Stopped("stopped before the board was solved")


def _found_layers(rules: Rules2048, spawn4: float) -> Iterator[tuple[int, Layer, int]]:
    """Every layer of states, sorted, with its sum and the number of its after-states."""
    tiles = [e for e, share in ((1, 1 - spawn4), (2, spawn4)) if share > 0]
    ahead: dict[int, Layer] = {}

    def spawn(after: Layer, total: int) -> None:
        for exponent in tiles if len(after) else ():
            layer = ahead.setdefault(total + (1 << exponent), Layer())
            for first in range(0, len(after), PART):
                last = min(first + PART, len(after))
                layer.reserve(9 * (last - first))
                layer.count = insert_spawns(
                    rules, after.boards, first, last, np.uint64(exponent), layer.boards, layer.slots, layer.count
                )

    spawn(Layer.of(np.zeros(1, np.uint64)), 0)
    single, ahead = ahead, {}
    for total, layer in single.items():
        spawn(layer, total)
    while ahead:
        total = min(ahead)
        boards = ahead.pop(total)
        layer = Layer.of(np.sort(boards.boards[: len(boards)]))
        after = _after(rules, layer)[0]
        yield total, layer, len(after)
        spawn(after, total)


def _after(rules: Rules2048, states: Layer) -> tuple[Layer, Array, Array]:
    """The after-states of a layer, and for each state and move its number and the reward."""
    after = Layer()
    links, rewards = np.empty((len(states), 4), np.int32), np.empty((len(states), 4), np.int32)
    for first in range(0, len(states), PART):
        last = min(first + PART, len(states))
        after.reserve(4 * (last - first))
        after.count = insert_after_states(
            rules, states.boards, first, last, after.boards, after.slots, after.count, links, rewards
        )
    return after, links, rewards


def _valued(
    rules: Rules2048,
    spawn4: float,
    pool: Executor,
    total: int,
    keys: Array | None,
    near: LayerValues,
    far: LayerValues,
    stop: Stop,
) -> LayerValues:
    """A layer's values from those of the two layers above it."""
    boards = np.empty(0 if keys is None else len(keys), np.uint64)
    if keys is not None:
        unpack(rules.cells, total, keys, boards)
    states = Layer.of(boards)
    after, links, rewards = _after(rules, states)
    worth = np.empty((len(after), near.values.shape[1]))
    values = np.empty((len(states), near.values.shape[1]))

    def expect_some(first: int, _: Worker) -> bool:
        return expect(
            rules,
            spawn4,
            after.boards,
            first,
            min(first + PART, len(after)),
            near.layer.boards,
            near.layer.slots,
            near.values,
            far.layer.boards,
            far.layer.slots,
            far.values,
            worth,
        )

    def decide_some(first: int, _: Worker) -> None:
        last = min(first + PART, len(states))
        decide(states.boards, first, last, links, rewards, worth, values)

    _check(*ordered_map(expect_some, _parts(len(after)), executor=pool, stop=stop))
    list(ordered_map(decide_some, _parts(len(states)), executor=pool, stop=stop))
    return LayerValues(states, values)


def _parts(count: int) -> Iterator[tuple[int]]:
    return ((first,) for first in range(0, count, PART))


def _check(*found: bool) -> None:
    """Every board that a spawn makes was found on the way up."""
    if not all(found):
        raise RuntimeError("a board is missing from its layer")


def _start(rules: Rules2048, spawn4: float, window: dict[int, LayerValues]) -> Array:
    """The values before the first tile: the mean over two spawns."""
    start = np.zeros(window[0].values.shape[1])
    cells = [c for c in range(16) if int(rules.cells) >> 4 * c & 1]
    for exponent, share in ((1, 1 - spawn4), (2, spawn4)):
        total = 1 << exponent
        near, far = (window.get(total + more, window[0]) for more in (2, 4))
        single = np.array([exponent << 4 * c for c in cells], np.uint64)
        worth = np.empty((len(single), len(start)))
        if share > 0:
            _check(
                expect(
                    rules,
                    spawn4,
                    single,
                    0,
                    len(single),
                    near.layer.boards,
                    near.layer.slots,
                    near.values,
                    far.layer.boards,
                    far.layer.slots,
                    far.values,
                    worth,
                )
            )
            start += share * worth.mean(axis=0)
    return start
