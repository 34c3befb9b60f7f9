"""Where the nanoseconds of a move of 2048 go: `python docs/_ext/profile_2048.py`.

A network is trained for 10,000 games by TC and plays some more. Their after-states are then gone
through again, each time doing one step more of what `play_afterstates` and `learn_backward` do:
first with all look-ups led to a few cache lines (what the steps themselves take), then with those
of the network (the difference is waiting for memory). What is left to the true kernels' time is
what only a true game has: random numbers, spawns, bookkeeping, and a move that cannot begin before
the last one is chosen. Each figure is the least of several rounds, made in turns, of the time that
the processor gave. Updates are by 0, so that nothing changes meanwhile.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tuplet import train
from tuplet.games.g2048.rules import Rules2048, rules_for, slides, spawn
from tuplet.games.g2048.statistics import make_results
from tuplet.kernel import draw, kernel
from tuplet.learn.learners import TC, TD, prefetch_memory, update_weights
from tuplet.learn.td import AHEAD, Hyperparameters, Workspace, learn_backward, make_workspace, play_afterstates
from tuplet.values.layout import ABSENT
from tuplet.values.network import Network
from tuplet.values.tables import Tables, fetch, locate, total

Array = np.ndarray[Any, Any]
WARM_UP, PLAYED, ROUNDS = 10_000, 60, 15
LAY_OUT, FIND, ASK, SUM, UPDATE, SUM_AGAIN = range(1, 7)


@kernel
def play_again(rules: Rules2048, tables: Tables, work: Workspace, boards: Array, steps: int) -> float:
    """The first steps of a move, for each board, two games in turns."""
    weights, plan, after, rewards, indices = (tables.weights, tables.plan, work.after, work.after_rewards, work.indices)
    across, down, legal = rules.across, rules.down, work.legal
    m, four = np.uint64(plan.shape[1]), np.uint64(4)
    legal[:], sums = np.uint64(0), np.float32(0)
    for k in range(boards.shape[1]):
        for slot in range(np.uint64(2)):
            mine = four * slot
            if steps >= SUM:
                best = np.float32(-np.inf)
                for n in range(mine, mine + legal[slot]):
                    v = np.float32(rewards[n]) + total(weights, indices, n * m, m)
                    best = max(v, best)
                sums += best
            legal[slot] = slides(across, down, boards[slot, k], after, rewards, mine)
            if steps >= FIND:
                for n in range(mine, mine + legal[slot]):
                    locate(after[n], plan, tables.marks, tables.stride, indices, n * m)
            if steps >= ASK:
                fetch(weights, indices, mine * m, legal[slot] * m)
    return sums


@kernel
def walk_again(tables: Tables, rule: Any, path: Array, ring: Array, steps: int) -> float:
    """The first steps of learning, for each after-state, from the last."""
    weights, memory, plan, marks = tables.weights, tables.memory, tables.plan, tables.marks
    m, ahead, target = np.uint64(plan.shape[1]), np.uint64(AHEAD), np.float32(0)
    k = np.uint64(len(path))
    while k > np.uint64(0):
        k -= np.uint64(1)
        start = (k % ahead) * m
        if steps >= SUM and k + ahead < np.uint64(len(path)):
            v = total(weights, ring, start, m)
            if steps >= UPDATE:
                amount = np.float32(0) * (target - v)
                update_weights(rule, weights, memory, ring, start, m, amount)
            target = v
            if steps >= SUM_AGAIN:
                target = total(weights, ring, start, m)
        locate(path[k], plan, marks, tables.stride, ring, start)
        if steps >= ASK:
            fetch(weights, ring, start, m)
            prefetch_memory(rule, memory, ring, start, m)
    return target


@kernel
def spawned(rules: Rules2048, path: Array) -> Array:
    """The boards that a new tile makes of these after-states."""
    boards, state = np.empty_like(path), np.uint64(1)
    for k in range(len(path)):
        state, bits = draw(state)
        boards[k] = spawn(rules, path[k], np.uint64(0), bits)
    return boards


def games_of(net: Network, rules: Rules2048, work: Workspace, rule: Hyperparameters) -> Array:
    """The after-states of some games, one game after another."""
    paths = []
    for game in range(PLAYED):
        result = make_results(1)
        play_afterstates(rules, net.tables, rule, work, np.uint64(7), game, 1, result, 0)
        paths.append(work.path[0, : result.lengths[0]].copy())
    return np.concatenate(paths)


def at_hand(tables: Tables) -> Tables:
    """The same look-ups, each of which finds one and the same weight."""
    plan = tables.plan.copy()
    plan[:2] = ABSENT * 0x01010101
    plan[2:] = 0
    plan[2] = 16 * np.arange(plan.shape[1])  # a cache line each
    return tables._replace(plan=plan)


def least(works: dict[str, Callable[[], object]], moves: int) -> dict[str, float]:
    """Nanoseconds a move of each."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(ROUNDS):
        for name, work in works.items():
            began = time.thread_time()
            work()
            times[name].append(time.thread_time() - began)
    return {name: min(each[1:]) / moves * 1e9 for name, each in times.items()}


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--net", default="4x6")
    net = Network(parser.parse_args().net)
    train(net, games=WARM_UP, learner="tc", lam=0.5, seed=0, threads=1, progress=False)
    rules, zero = rules_for(), np.float32(0)
    tables = net.tables_with_memory(TC.memory, TC.memory_per_weight)
    near, work = at_hand(tables), make_workspace(net.m)
    rule = Hyperparameters(TD.rule, zero, np.float32(1))
    path = games_of(net, rules, work, rule)
    path = path[: len(path) // 2 * 2]
    boards, gains = spawned(rules, path).reshape(2, -1), np.zeros(len(path), np.uint32)
    results, count = make_results(PLAYED), len(path)

    works: dict[str, Callable[[], object]] = {
        f"play {name} {steps}": lambda t=t, steps=steps: play_again(rules, t, work, boards, steps)
        for name, t in (("near", near), ("far", tables))
        for steps in range(LAY_OUT, SUM + 1)
    }
    works["play whole"] = lambda: play_afterstates(rules, net.tables, rule, work, np.uint64(7), 0, PLAYED, results, 0)
    for learner in (TD, TC):
        own = rule._replace(rule=learner.rule)
        for name, t in (("near", near), ("far", tables)):
            for steps in range(FIND, SUM_AGAIN + 1):
                works[f"{learner.name} {name} {steps}"] = lambda t=t, steps=steps, rule=own.rule: walk_again(
                    t, rule, path, work.ring, steps
                )
        works[f"{learner.name} whole"] = lambda own=own: learn_backward(
            tables, own, False, path, gains, count, work.ring
        )
    took = least(works, count)

    titles = {
        LAY_OUT: "compute the after-states",
        FIND: "compute the indices of their weights",
        ASK: "prefetch the weights",
        SUM: "add them up",
        UPDATE: "update them",
        SUM_AGAIN: "add them up again",
    }
    lines: list[tuple[str, dict[str, float]]] = []
    for step, title in titles.items():
        cells = {}
        for kind in ("play", "td", "tc"):
            now, before = took.get(f"{kind} near {step}"), took.get(f"{kind} near {step - 1}", 0.0)
            if now is not None:
                cells[kind] = now - before
        lines.append((title, cells))
    last = {"play": SUM, "td": SUM_AGAIN, "tc": SUM_AGAIN}
    far = {kind: took[f"{kind} far {last[kind]}"] for kind in last}
    near_ns = {kind: took[f"{kind} near {last[kind]}"] for kind in last}
    lines.append(("wait for memory", {kind: far[kind] - near_ns[kind] for kind in last}))
    lines.append(("the rest", {kind: took[f"{kind} whole"] - far[kind] for kind in last}))
    lines.append(("**all**", {kind: took[f"{kind} whole"] for kind in last}))

    legal = after_states_of(rules, boards, work)
    print(f"{net.name}: {count:,} moves, {legal / count:.2f} after-states each\n")
    print("| ns a move | play | learn, TD | learn, TC |\n|---|---:|---:|---:|")
    for title, cells in lines:
        shown = [f"{cells[kind]:.0f}" if kind in cells else "" for kind in last]
        print(f"| {title} | {' | '.join(shown)} |")


@kernel
def after_states_of(rules: Rules2048, boards: Array, work: Workspace) -> int:
    """How many after-states the boards have in all."""
    count = np.uint64(0)
    for board in boards.ravel():
        count += slides(rules.across, rules.down, board, work.after, work.after_rewards, np.uint64(0))
    return int(count)


if __name__ == "__main__":
    main()
