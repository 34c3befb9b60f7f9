"""`tuplet bench ewn`: random games, simulations and nodes a second."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from tuplet.games.ewn import Position
from tuplet.kernel import as_seed, stream
from tuplet.search import expectimax, mcts

PLAYOUTS, ROUNDS = 100_000, 10
SIMULATIONS = 290_000  # a move's, in the course report
SECONDS = 2.0
OPEN_SPIEL_SIMULATIONS = 100_000
REPORT = mcts.Settings(ucb=mcts.REPORT, rich=True)
# Near to what OpenSpiel's bot does: one random game a simulation, a leaf expanded at its second.
ONE_BY_ONE = mcts.Settings(
    ucb=mcts.UCB1, c=2.0, batch=1, threshold=1, shortcuts=False, solver=False
)


def bench_ewn(threads: int, seed: int, as_json: bool) -> None:
    """Measure and print; the sum over all threads."""
    from tuplet.cli.progress import tell_if_compiling

    if not 1 <= threads <= 256:
        raise ValueError(f"threads are 1 to 256, not {threads}")
    tell_if_compiling()
    starts = {game: _start(game, seed) for game in ("ewn", "ewn-6x7")}
    known = starts["ewn-6x7"]
    report: dict[str, float | int | None] = {
        "playouts_per_s": _measure("random games", partial(_playouts, known), threads),
        "sims_per_s": _measure("tree search", partial(_simulations, known, REPORT), threads),
        "nodes_per_s": _measure("alpha-beta", partial(_nodes, known), threads),
        "ewn_sims_per_s": _measure(
            "tree search of ewn", partial(_simulations, starts["ewn"], ONE_BY_ONE), threads
        ),
        "open_spiel_sims_per_s": _open_spiel(),
        "threads": threads,
    }  # fmt: skip
    if as_json:
        print(json.dumps(report))
        return
    print(f"EWN, {threads} thread{'s' if threads > 1 else ''}")
    for name, key, unit in (
        ("ewn-6x7, random games", "playouts_per_s", "games/s"),
        ("ewn-6x7, tree search", "sims_per_s", "simulations/s"),
        ("ewn-6x7, alpha-beta", "nodes_per_s", "nodes/s"),
        ("ewn, search one by one", "ewn_sims_per_s", "simulations/s"),
        ("ewn, OpenSpiel (C++)", "open_spiel_sims_per_s", "simulations/s, one thread"),
    ):
        value = report[key]
        text = f"{value:>12,}" if value is not None else "not installed"
        print(f"{name:24}{text}  {unit if value is not None else ''}".rstrip())


def _start(game: str, seed: int) -> Position:
    state, position = Position.random(game, stream(as_seed(seed), np.uint64(0)))
    return position.random_roll(state)[1] if position.needs_roll else position


def _measure(what: str, work: Callable[[], tuple[int, float]], threads: int) -> int:
    """What `work` does in a second, in all threads together. It returns count and seconds."""
    if sys.stderr.isatty():
        print(f"\r{what} ...\x1b[K", end="\r", file=sys.stderr, flush=True)
    with ThreadPoolExecutor(threads) as pool:
        done = list(pool.map(lambda _: work(), range(threads)))
    if sys.stderr.isatty():
        print("\x1b[K", end="", file=sys.stderr, flush=True)
    return round(sum(count / seconds for count, seconds in done))


def _playouts(position: Position) -> tuple[int, float]:
    mcts.mean_result(position.rules, position.words, 100, np.uint64(1))  # compiled, and warm
    began = time.perf_counter()
    for n in range(ROUNDS):
        mcts.mean_result(position.rules, position.words, PLAYOUTS, np.uint64(n))
    return ROUNDS * PLAYOUTS, time.perf_counter() - began


def _simulations(position: Position, settings: mcts.Settings) -> tuple[int, float]:
    """Searches of 290,000 simulations, each from an empty tree, as for a first move."""
    game, tree, done = position.rules, mcts.make_tree(), 0
    mcts.plant(game, tree, position.words)
    mcts.grow(game, tree, settings, 1000, np.inf, np.uint64(0))  # compiled, and warm
    began = time.perf_counter()
    for n in range(ROUNDS):
        mcts.plant(game, tree, position.words)
        mcts.grow(game, tree, settings, SIMULATIONS, np.inf, np.uint64(n))
        done += int(tree.counters[mcts.SIMULATIONS])
    return done, time.perf_counter() - began


def _nodes(position: Position) -> tuple[int, float]:
    desk = expectimax.make_desk()
    for seconds in (0.01, SECONDS):
        began = time.perf_counter()
        expectimax.deepen(
            position.rules, position.words, expectimax.DEEPEST - 1, seconds, 1 << 62, desk
        )
    return int(desk.counters[expectimax.NODES]), time.perf_counter() - began


def _open_spiel() -> int | None:
    """OpenSpiel's MCTS bot (C++) on its 5x5 game, one thread; None where it is not installed."""
    try:
        import pyspiel
    except ImportError:
        return None
    game = pyspiel.load_game("einstein_wurfelt_nicht")
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    bot = pyspiel.MCTSBot(
        game, pyspiel.RandomRolloutEvaluator(1, 0), 2.0, OPEN_SPIEL_SIMULATIONS, 1000, False, 0,
        False,
    )  # fmt: skip
    began = time.perf_counter()
    bot.step(state)
    return round(OPEN_SPIEL_SIMULATIONS / (time.perf_counter() - began))
