"""2048 learned as the reports' programs did it: one game after another, with the errors that reports made.

`LearnerVariant` describes how a program learns. Without flags it is TD(0) from the end of each game, as in `train`:
the same games, the same weights. Each flag is an error, or a choice, of some report:

    states           s0 --r0--> s1 --r1--> s2 ... s(n-1) --r(n-1)--> end     V(s0) towards r0 + V(s1)
    swapped_reward   the same, with the reward of the next move              V(s0) towards r1 + V(s1)
    after-states     s'0 --r1--> s'1 --r2--> s'2 ... s'(n-1) --0--> end      V(s'0) towards r1 + V(s'1)
    swapped_reward   the same, with the reward of the move that led to it    V(s'0) towards r0 + V(s'1)

Look-ups are counted: the weights that a plain program reads. To choose a move by after-states it reads m for each
legal move; by states, m for each of the 2 x empty cells boards that a spawn can make of it (`expected_value` adds
differences and reads fewer). To update a board it reads m twice: once for the error and once to add to the weights.

`run_program` is one run, a part of a study. A stopped run leaves a checkpoint and continues from it to the same end;
only `seconds` depends on the machine. The result of a finished run is a small JSON:

    settings    all of them
    blocks      lists with an entry for each block of games: games so far, mean_score, deviation of the scores,
                max_score, look_ups so far, processor seconds so far
    last        statistics of the last block, whose games were learned from
    fresh       statistics of games played at the end without learning
    finite      whether all weights are finite numbers
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tuplet.errors import UserError
from tuplet.games.g2048.rules import (
    LONGEST_GAME,
    WIDE,
    Rules2048,
    empty_cells,
    largest,
    opening,
    rules_for,
    slides,
    spawn,
    stuck,
    view,
    wide_slides,
)
from tuplet.games.g2048.statistics import Results, account, make_results
from tuplet.kernel import as_seed, draw, kernel, line_aligned, popcount, stream
from tuplet.system.blocks import Worker
from tuplet.system.files import atomic_write
from tuplet.values.network import check_memory
from tuplet.values.patterns import Tuple, parse, placements, storage_order
from tuplet.values.tables import Tables, expected_value, fetch, locate, table_starts, tables_for, total, value

Array = np.ndarray[Any, Any]

CHUNK = 25  # games between two checks of the stop flag
SAVE = 120.0  # seconds between two checkpoints


class LearnerVariant(NamedTuple):
    """How a program learns; without flags it is correct."""

    states: bool = False  # values of states, not of after-states
    shared: bool = False  # one table for all tuples
    table_per_placement: bool = False  # a table for each placement of each tuple
    no_symmetry: bool = False  # a tuple is looked up where it is, not in its eight placements
    undivided_alpha: bool = False  # each placement gets the whole of its tuple's part of an update
    swapped_reward: bool = False  # targets have the reward that belongs to the other kind of values
    no_terminal_update: bool = False  # the last board of a game is not updated
    skip_first: int = 0  # boards at the beginning of a game that are not learned from
    summed_expectation: bool = False  # expectations are summed over empty cells, not divided by their number
    no_terminal_check: bool = False  # a state without moves is worth what the tables say, not 0


class Program(NamedTuple):
    """A program that learns: its tables, how it uses them, and its working memory."""

    rules: Rules2048
    tables: Tables
    variant: LearnerVariant
    look_ups: np.uint64  # that make up a value; the tables' plan has more where eight do not fit
    share: np.float32  # of an error, for each weight
    path: Array  # uint64[LONGEST_GAME]: the boards to learn from
    gains: Array  # uint32[LONGEST_GAME]: the reward of each move
    after: Array  # uint64[4]: after-states under consideration
    after_high: Array  # uint64[4]
    rewards: Array  # uint64[4]
    indices: Array  # uint64[4 * m]: where their weights are
    seen: Array  # float32[m]


def tuples_of(net: str, variant: LearnerVariant) -> list[Tuple]:
    """A network's tuples; ValueError if it has none, or they cannot share a table."""
    tuples = parse(net)
    if variant.shared and len({len(cells) for cells in tuples}) > 1:
        raise UserError(f"tuples that share a table are equally long, those of {net!r} are not")
    return tuples


def make_program(rules: Rules2048, net: str, variant: LearnerVariant, alpha: float) -> Program:
    """A program that has learned nothing yet."""
    tuples = tuples_of(net, variant)
    read = [  # each look-up's cells, and those that its table was made for
        (placed, tuples[0] if variant.shared else placed if variant.table_per_placement else cells)
        for cells in tuples
        for placed in ([cells] if variant.no_symmetry else placements(cells))
    ]
    owners = list(dict.fromkeys(owner for _, owner in read))
    starts = dict(zip(owners, table_starts(owners), strict=True))
    # In a table the n-th cells of all that share it stand at the same place.
    look_ups = [(placed, storage_order(owner), starts[owner]) for placed, owner in read]
    count, size = len(read), sum(16 ** len(owner) for owner in owners)
    check_memory(net, size)
    look_ups += [((), [], size)] * (-count % 8)  # of a weight that stays 0: kernels take eights
    tables = tables_for(look_ups, line_aligned(size + 1, np.float32))
    share = np.float32(alpha) / np.float32(len(tuples) if variant.undivided_alpha else count)
    return Program(
        rules,
        tables,
        variant,
        np.uint64(count),
        share,
        np.zeros(LONGEST_GAME, np.uint64),
        np.zeros(LONGEST_GAME, np.uint32),
        np.zeros(4, np.uint64),
        np.zeros(4, np.uint64),
        np.zeros(4, np.uint64),
        line_aligned(4 * len(look_ups), np.uint64),
        np.zeros(len(look_ups), np.float32),
    )


@kernel
def spawned_value(program: Program, board: np.uint64, high: np.uint64) -> np.float32:
    """The value of an after-state for a program that learns states: the expectation over the spawn."""
    rules, tables, variant = program.rules, program.tables, program.variant
    v = expected_value(rules, tables, board, high, program.indices, program.seen)
    empty = empty_cells(rules.cells, board, high)
    if variant.no_terminal_check and popcount(empty) == np.uint64(1):
        fours = np.float32(rules.fours) / np.float32(1 << 32)
        for tile in range(2):
            full = board | (empty << np.uint64(tile))
            if stuck(rules, full, high):
                share = fours if tile == 1 else np.float32(1) - fours
                v += share * value(tables, view(full, high))
    return v * np.float32(popcount(empty)) if variant.summed_expectation else v


@kernel
def walk_back(program: Program, count: np.uint64) -> np.uint64:
    """Learn from the game of `count` moves in `path` and `gains`, from its end.

    Returns the number of look-ups.
    """
    variant, weights, plan = program.variant, program.tables.weights, program.tables.plan
    marks, stride, indices = program.tables.marks, program.tables.stride, program.indices
    path, gains = program.path, program.gains
    m, zero, one = np.uint64(plan.shape[1]), np.uint64(0), np.uint64(1)
    own = variant.states != variant.swapped_reward  # the reward of the board's own move
    behind, read = np.float32(0), zero  # V of the board after this one
    k = count
    while k > np.uint64(variant.skip_first):
        k -= one
        if own:
            target = np.float32(gains[k]) + behind
        else:
            target = (np.float32(gains[k + one]) if k + one < count else np.float32(0)) + behind
        locate(path[k], plan, marks, stride, indices, zero)
        behind = total(weights, indices, zero, m)
        read += program.look_ups
        if not (variant.no_terminal_update and k + one == count):
            amount = program.share * (target - behind)
            for i in range(program.look_ups):
                weights[indices[i]] += amount
            behind = total(weights, indices, zero, m)
            read += program.look_ups
    return read


@kernel
def play(
    program: Program, learns: bool, seed: np.uint64, first: int, games: int, results: Results, look_ups: Array, at: int
) -> None:
    """Play games number `first` to `first + games` of a seed, and learn from them.

    Their results and look-ups are written from index `at` on.
    """
    rules, tables, states = program.rules, program.tables, program.variant.states
    after, after_high, rewards = program.after, program.after_high, program.rewards
    weights, plan, indices = tables.weights, tables.plan, program.indices
    zero, one, m = np.uint64(0), np.uint64(1), np.uint64(plan.shape[1])
    for place in range(at, at + games):
        state, board = opening(rules, stream(seed, np.uint64(first + place - at)))
        high, k, score, read = zero, zero, np.int64(0), zero
        while True:
            legal = WIDE
            if high == zero:
                legal = slides(rules.across, rules.down, board, after, rewards, zero)
                after_high[:] = zero
            if legal == WIDE:
                legal = wide_slides(rules, board, high, after, after_high, rewards, zero)
            if legal == zero:
                break
            if not states:
                for n in range(legal):
                    locate(view(after[n], after_high[n]), plan, tables.marks, tables.stride, indices, n * m)
                fetch(weights, indices, zero, legal * m)
            best, best_value = zero, np.float32(-np.inf)
            for n in range(legal):
                if states:
                    v = spawned_value(program, after[n], after_high[n])
                    spawns = popcount(empty_cells(rules.cells, after[n], after_high[n]))
                    read += (spawns + spawns) * program.look_ups
                else:
                    v = total(weights, indices, n * m, m)
                    read += program.look_ups
                v += np.float32(rewards[n])
                best = np.uint64(n) if v > best_value else best
                best_value = max(v, best_value)
            program.path[k] = view(board, high) if states else view(after[best], after_high[best])
            program.gains[k] = rewards[best]
            k += one
            score += np.int64(rewards[best])
            state, bits = draw(state)
            high = after_high[best]
            board = spawn(rules, after[best], high, bits)
        if learns:
            read += walk_back(program, k)
        results.scores[place] = score
        results.tiles[place] = largest(board, high)
        results.lengths[place] = np.int64(k)
        look_ups[place] = np.int64(read)


def settings_of(
    variant: LearnerVariant,
    games: int,
    seed: int,
    *,
    net: str = "4x6",
    alpha: float = 0.1,
    spawn4: float = 0.1,
    fresh: int = 1000,
) -> dict[str, Any]:
    """All settings of a run, as files have them."""
    return {
        "net": net,
        "alpha": alpha,
        "spawn4": spawn4,
        "games": games,
        "seed": seed,
        "block": block_of(games),
        "fresh": fresh,
        **variant._asdict(),
    }


def block_of(games: int) -> int:
    """Games of which a curve has one point: 1,000, less in a short run."""
    return max(1, min(1000, games // 20))


def name_of(settings: Mapping[str, Any]) -> str:
    """A file's name for a run: its flags, its games, and its seed."""
    flags = [name for name in LearnerVariant._fields if settings[name] and name != "states"]
    kind = "state" if settings["states"] else "afterstate"
    return "-".join([kind, *flags, f"{settings['games']}", f"seed{settings['seed']}"])


def run_program(settings: dict[str, Any], checkpoint: str, worker: Worker) -> dict[str, Any] | None:
    """Learn, from the checkpoint if there is one; None if it was stopped, with a checkpoint left."""
    games, block, path = settings["games"], settings["block"], Path(checkpoint)
    variant = LearnerVariant(*(settings[name] for name in LearnerVariant._fields))
    rules, seed = rules_for(4, 4, settings["spawn4"]), as_seed(settings["seed"])
    program = make_program(rules, settings["net"], variant, settings["alpha"])
    results, look_ups, seconds = make_results(games), np.zeros(games, np.int64), np.zeros(-(-games // block))
    done = np.zeros(1, np.int64)  # games
    state = {"done": done, **results._asdict(), "look_ups": look_ups, "seconds": seconds}
    if path.exists():
        _load(path, settings, program.tables.weights, state)
    play(program, False, seed, 0, 0, results, look_ups, 0)  # compiled before the clock runs
    save_at = time.monotonic() + SAVE
    with worker.showing(done):
        while done[0] < games:
            first = int(done[0])
            if worker.stop.is_set() or time.monotonic() >= save_at:
                _save(path, settings, program.tables.weights, state)
                if worker.stop.is_set():
                    return None
                save_at = time.monotonic() + SAVE
            count = min(CHUNK, block - first % block, games - first)
            began = time.thread_time()
            play(program, True, seed, first, count, results, look_ups, first)
            seconds[first // block] += time.thread_time() - began
            done[0] += count
        fresh = _fresh(program, seed, settings, worker)
    if fresh is None:
        _save(path, settings, program.tables.weights, state)
        return None
    weights, starts = program.tables.weights, range(0, games, block)
    ends = [min(start + block, games) for start in starts]
    scores = [results.scores[start : start + block] for start in starts]
    with suppress(FileNotFoundError):
        path.unlink()
    return {
        "settings": settings,
        "blocks": {
            "games": ends,
            "mean_score": [float(part.mean()) for part in scores],
            "deviation": [float(part.std(ddof=1)) if len(part) > 1 else 0.0 for part in scores],
            "max_score": [int(part.max()) for part in scores],
            "look_ups": [int(n) for n in np.cumsum(look_ups)[np.array(ends) - 1]],
            "seconds": [round(float(s), 3) for s in np.cumsum(seconds)],
        },
        "last": _statistics(Results(*(part[-block:] for part in results))),
        "fresh": _statistics(fresh),
        # Neither the smallest nor the largest weight is finite if some weight is not.
        "finite": bool(np.isfinite([weights.min(), weights.max()]).all()),
    }


def _fresh(program: Program, seed: np.uint64, settings: Mapping[str, Any], worker: Worker) -> Results | None:
    """Games without learning, with random numbers that training did not use; None if it was stopped."""
    fresh_seed, count = np.uint64(stream(~seed, np.uint64(settings["games"]))), settings["fresh"]
    results, look_ups = make_results(count), np.zeros(count, np.int64)
    for first in range(0, count, CHUNK):
        if worker.stop.is_set():
            return None
        play(program, False, fresh_seed, first, min(CHUNK, count - first), results, look_ups, first)
    return results


def _statistics(results: Results) -> dict[str, Any]:
    """Statistics of games, with each game's score and largest tile."""
    tiles = [1 << int(exponent) for exponent in results.tiles]
    return {**account(results), "scores": results.scores.tolist(), "tiles": tiles}


def _save(path: Path, settings: Mapping[str, Any], weights: Array, state: Mapping[str, Array]) -> None:
    """Write a checkpoint: the progress, and the weights that are not 0."""
    from safetensors.numpy import save

    where = np.flatnonzero(weights).astype(np.uint32)
    with atomic_write(path) as file:
        file.write(save({**state, "where": where, "weight": weights[where]}, {"settings": json.dumps(settings)}))


def _load(path: Path, settings: Mapping[str, Any], weights: Array, state: Mapping[str, Array]) -> None:
    """Continue from a checkpoint; UserError if it is damaged or has other settings."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            if json.loads((file.metadata() or {}).get("settings", "null")) != settings:
                raise UserError("it is of other settings")
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        for name, room in state.items():
            if arrays[name].shape != room.shape or arrays[name].dtype != room.dtype:
                raise UserError(f"its {name} are of another size")
            room[:] = arrays[name]
        where = arrays["where"]
        if len(where) and int(where.max()) >= len(weights) - 1:
            raise UserError("it has more weights than the network")
        if not 0 <= state["done"][0] <= len(state["look_ups"]):
            raise UserError("it has more games than the run")
        weights[where] = arrays["weight"]
    except (SafetensorError, ValueError, KeyError) as error:
        raise UserError(f"{path} is not a sound checkpoint ({error}): delete it") from None
