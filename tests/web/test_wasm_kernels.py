"""The exported kernels in WebAssembly return what they return here, compiled and interpreted, bit for bit."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tuplet.games.g2048.rules import rules_for
from tuplet.games.g2048.statistics import make_results
from tuplet.games.registry import game
from tuplet.learn import td
from tuplet.learn.learners import LEARNERS
from tuplet.search import expectimax, g2048 as search_2048, mcts, tree as trees
from tuplet.search.bandits import BANDITS
from tuplet.values.game_network import GameNetwork, valued_game
from tuplet.values.network import Network
from tuplet.web import wasm_exports
from tuplet.web.site import Modules
from tuplet.web.wasm_exports import MODULES
from wasm_calls import Call, call_here, call_in_wasm

pytestmark = pytest.mark.slow

U, F = np.uint64, np.float32


def program(boards: int, deep: int, games: int, simulations: int) -> tuple[dict[str, Any], list[Call]]:
    """Values, and calls of the kernels with them: so many boards, of these some to search, games to learn from."""
    random = np.random.default_rng(7)
    network, rules = Network.load("small"), rules_for(4, 4, 0.1)
    learned = {name: Network("4x5") for name in ("td", "tc")}
    hyper = {"td": (F(0.1), F(0.0)), "tc": (F(1.0), F(0.5))}
    values: dict[str, Any] = {
        "rules": rules,
        "tables": network.tables,
        "leaves": search_2048.leaf_values(network),
        "work": search_2048.make_workspace(network.m),
        "td": learned["td"].tables._replace(memory=np.zeros(1, F)),
        "tc": learned["tc"].tables_with_memory(LEARNERS["tc"].memory, 2),
        "learning": td.make_workspace(learned["td"].m),
        "results": make_results(max(games, 1)),
        "targets": np.zeros(16, np.uint8),
        "moves": np.zeros(wasm_exports.protocol.MOST_MOVES, np.uint8),
        "tree": trees.make_tree(100_000),
    }
    for name, (alpha, lam) in hyper.items():
        values[f"hyper {name}"] = td.Hyperparameters(LEARNERS[name].rule, alpha, F(1), False, lam)
    values |= {f"options {name}": mcts.Options(BANDITS[name]()) for name in wasm_exports.SELECTED}
    calls: list[Call] = []
    for number in range(boards):
        exponents = random.integers(0, 12 if number % 7 else 16, 16)
        exponents[random.random(16) < random.random()] = 0
        board = U(sum(int(e) << 4 * c for c, e in enumerate(exponents)))
        high = U(sum(1 << 4 * c for c in range(16) if random.random() < 0.1)) if number % 5 == 0 else U(0)
        bits = random.integers(0, 1 << 64, dtype=U)
        at = {"board": board, "high": high}
        calls += [Call("slide", {"rules": "rules", **at, "move": move}) for move in range(4)]
        size = {"rows": 4, "columns": 4, "targets": "targets"}
        calls += [Call("motion", {**size, **at, "move": move}, ["targets"]) for move in range(2)]
        calls.append(Call("legal_bits", {"cells": rules.cells, **at}))
        if any(exponents[c] == 0 for c in range(16)) and high == 0:
            calls.append(Call("spawn", {"rules": "rules", **at, "bits": bits}))
        calls += [Call("opening", {"rules": "rules", "state": bits}), Call("draw", {"state": bits})]
        calls.append(Call("stream", {"seed": bits >> U(1), "number": U(number)}))
        calls.append(Call("value", {"tables": "tables", "board": board}))
        for depth in (1, 2) if number < deep else ():
            asked = {"rules": "rules", "leaf_values": "leaves", "work": "work", "seconds": np.inf}
            calls.append(Call("search_root", {**asked, **at, "depth": np.int64(depth)}, ["work.root_values"]))
    for name in ("td", "tc") if games else ():
        given = {"rules": "rules", "tables": name, "hyper": f"hyper {name}", "work": "learning", "results": "results"}
        numbers = {"seed": U(1), "first": 0, "games": games, "at": 0}
        calls.append(Call(f"learn_{name}", {**given, **numbers}, ["results.scores"], [f"{name}.weights"]))
    for number, name in enumerate(["ewn", "ewn-6x7"] if simulations else []):
        values[name] = game(name).start(number).rules
        position = game(name).start(number)
        while position.is_chance:
            position = position.apply_outcome(next(iter(position.chance_outcomes())))
        here = {"game": name, "position": position.words}
        calls += [Call("legal", {**here, "moves": "moves"}, ["moves"]), Call("ending", here), Call("side", here)]
        calls.append(Call("apply", {**here, "move": position.legal_actions()[0]}))
        for bandit in wasm_exports.SELECTED:
            grown = {"tree": "tree", "options": f"options {bandit}"}
            calls.append(Call("reset", {**here, "tree": "tree"}))
            limits = {"simulations": simulations, "seconds": np.inf, "state": U(number)}
            sums = ["tree.visits", "tree.totals", "tree.squares", "tree.priors"]
            calls.append(Call(f"search_{bandit}", {"game": name, **grown, **limits}, ["tree.counters"], sums))
            calls.append(Call(f"choose_{bandit}", {**grown, "final": 0, "k": 5.0, "bits": U(3)}))
    return values, calls


def program_ewn(positions: int, depth: int, simulations: int) -> tuple[dict[str, Any], list[Call]]:
    """The same for the module of EWN's searches, in so many positions."""
    random = np.random.default_rng(5)
    size = wasm_exports.protocol.MOST_MOVES
    values: dict[str, Any] = {
        "work": expectimax.make_workspace(10, True),
        "proofs": expectimax.make_workspace(10),
        "codes": np.zeros(size, np.uint8),
        "values": np.zeros(size),
        "proven": np.zeros(size, np.bool_),
        "tree": trees.make_tree(20_000),
        "options": mcts.Options(BANDITS["tuned"](), batch=1, expand=0, cutoff=0),
    }
    values["proofs"].limits[expectimax.MOST_NODES] = 2000.0
    calls: list[Call] = []
    for name in ("ewn", "ewn-6x7"):
        played = game(name)
        network = GameNetwork(played, "2x2 2x3")
        network.weights[:] = random.normal(size=len(network.weights)).astype(F)
        position = played.start(3)
        values |= {name: position.rules, f"{name} valued": valued_game(position.rules, network)}
        for number in range(positions):
            while position.is_chance:
                position = position.apply_outcome(random.choice([*position.chance_outcomes()]))
            if position.over:
                position = played.start(3)  # with the same known die
                continue
            at, moves = {"position": position.words}, {"moves": "codes", "values": "values", "proven": "proven"}
            moves |= {"depth": depth, "work": "work"}
            valued = f"{name} valued"
            calls.append(
                Call("value", {"rules": name, "tables": f"{valued}.tables", **at, "scratch": f"{valued}.scratch"})
            )
            for kind, rules in {"": name, "_valued": valued}.items():
                limits = {"deepest": depth, "seconds": np.inf, "most_nodes": 1 << 40}
                calls.append(Call(f"deepen{kind}", {"game": rules, **at, **limits, "work": "work"}, ["work.counters"]))
                calls.append(Call(f"move_values{kind}", {"game": rules, **at, **moves}, ["values"]))
            line = {"game": name, **at, "move": position.legal_actions()[0]}
            calls.append(Call("main_line", {**line, "table": "work.table", "line": "codes"}, ["codes"]))
            calls.append(Call("moves_to_win", {**line, "of": np.int64(number % 2), "work": "proofs"}))
            calls.append(Call("baseline_move", {"game": name, **at, "depth": 2}))
            calls.append(Call("meets_chance", {"game": name, **at}))
            if number % 5 == 0:
                grown = {"tree": "tree", "options": "options"}
                calls.append(Call("reset", {"game": name, **at, "tree": "tree"}))
                wanted = {"simulations": simulations, "seconds": np.inf, "state": U(number)}
                calls.append(
                    Call("search_tuned", {"game": valued, **grown, **wanted}, ["tree.counters"], ["tree.totals"])
                )
            position = position.play(str(random.choice(position.legal_moves())))
    return values, calls


def kernels(*modules: str) -> dict[str, Any]:
    return {name: kernel for module in modules for name, (kernel, _) in MODULES[module].exports().items()}


def differing(
    calls: list[Call], here: list[Any], names: tuple[str, ...], kind: str, modules: Modules, values: Any, folder: Path
) -> list[Any]:
    """The calls whose results in modules are others, each in all of these that have its kernel."""
    found = []
    for name in names:
        known = MODULES[name].exports()
        own = [(call, result) for call, result in zip(calls, here, strict=True) if call.kernel in known]
        built = modules[name].get(kind, modules[name]["plain"])
        there = call_in_wasm(built, values, [call for call, _ in own], folder)
        found += [(name, call.kernel, call.arguments) for (call, a), b in zip(own, there, strict=True) if a != b]
    return found


PLAY = ("play", "learn")  # modules whose kernels are tested by one program


@pytest.mark.parametrize("kind", ["simd", "plain"])
def test_kernels_in_webassembly_return_what_compiled_ones_do(kind: str, wasm_modules: Modules, tmp_path: Path) -> None:
    values, calls = program(boards=1000, deep=100, games=60, simulations=20_000)
    packed = copy.deepcopy(values)  # before calls change the arrays
    different = differing(calls, call_here(kernels(*PLAY), values, calls), PLAY, kind, wasm_modules, packed, tmp_path)
    assert not different, f"{len(different)} of {len(calls)} calls: {different[:3]}"
    assert len(calls) > 10_000 and {call.kernel for call in calls} >= {
        "learn_td",
        "learn_tc",
        "search_root",
        "search_puct",
    }


def test_searches_of_ewn_in_webassembly_return_what_compiled_ones_do(wasm_modules: Modules, tmp_path: Path) -> None:
    values, calls = program_ewn(positions=150, depth=4, simulations=300)
    packed = copy.deepcopy(values)
    here = call_here(kernels("ewn"), values, calls)
    different = differing(calls, here, ("ewn",), "plain", wasm_modules, packed, tmp_path)
    assert not different, f"{len(different)} of {len(calls)} calls: {different[:3]}"
    # The others are called with each question that the page asks (test_wasm_answers.py).
    assert {*kernels("ewn")} - {call.kernel for call in calls} == {
        "begin_levels",
        "unpack_levels",
        "fill_arrival",
        "reroot",
        "obvious_move",
        "choose_tuned",
    }


SCRIPT = """
import json, sys
from test_wasm_kernels import kernels, program, program_ewn
from wasm_calls import call_here
play = call_here(kernels("play", "learn"), *program(boards=20, deep=2, games=1, simulations=300))
print(json.dumps([play, call_here(kernels("ewn"), *program_ewn(positions=2, depth=2, simulations=20))]))
"""


def test_kernels_in_webassembly_return_what_interpreted_ones_do(wasm_modules: Modules, tmp_path: Path) -> None:
    here = Path(__file__).parent
    path = os.pathsep.join([str(here), str(here.parent)])
    settings = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=settings)
    assert done.returncode == 0, done.stderr
    play, ewn = json.loads(done.stdout)
    values, calls = program(boards=20, deep=2, games=1, simulations=300)
    assert not differing(calls, play, PLAY, "simd", wasm_modules, values, tmp_path)
    values, calls = program_ewn(positions=2, depth=2, simulations=20)
    assert not differing(calls, ewn, ("ewn",), "plain", wasm_modules, values, tmp_path)
