"""The page as a folder of files that needs no server: `make site`.

The page is that of `tuplet serve`. A worker has the kernels as WebAssembly and answers what the page asks; what it
must know of games, agents and networks is written here, from the same objects that the server uses.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from tuplet.agents.baselines import Baseline
from tuplet.agents.listing import GAMES, list_agents, list_games
from tuplet.errors import UserError
from tuplet.games.g2048.rules import rules_for
from tuplet.games.protocol import value_range
from tuplet.games.registry import EXAMPLES, find_game
from tuplet.kernel import wasm
from tuplet.learn.game_play import parse_opponent
from tuplet.learn.learners import LEARNERS
from tuplet.learn.self_play import CHUNK, parse_evaluate
from tuplet.learn.settings import split
from tuplet.learn.steps import LAST, LEARNER_NAMES
from tuplet.search import g2048 as search_2048
from tuplet.search.bandits import BANDITS
from tuplet.values.game_network import GameNetwork, images
from tuplet.values.levels import pack_levels
from tuplet.values.network import Network
from tuplet.values.packed import packed_head
from tuplet.values.patterns import format_tuple, placements
from tuplet.values.players import DEFAULT_PLAYER, VALUES, find_player
from tuplet.values.tables import FileOrder, stage_size, table_starts
from tuplet.web import limits
from tuplet.web.homework import list_functions
from tuplet.web.wasm_exports import MODULES, NODES, SELECTED, SHOWN, TABLE_BITS, learned_networks

STATIC = Path(__file__).parent / "static"
FEATURES = {"simd": wasm.SIMD, "plain": wasm.PLAIN}
PAGES = {"home.html": "index.html"}  # what the folder's address shows
PAGES |= {name: name for name in ("2048.html", "ewn.html", "learn.html", "steps.html", "search.html")}
LEFT_OUT = re.compile(r"(api-docs|board|missing)\.(html|js|css)|api\.html|sw\.js")  # what needs the server
EVALUATE_EWN = "400@2000"  # of a network of EWN that the page trains
MARK = '<meta name="tuplet" content="static">'  # tells the page that there is no server
AGENTS = {"2048": (DEFAULT_PLAYER, "random"), "ewn": ("best", "hard", "normal", "alphabeta", "mcts", "mcs", "easy")}


Modules = Mapping[str, Mapping[str, wasm.Build]]  # name -> kind (a key of FEATURES) -> module


def kinds_of(name: str) -> list[str]:
    """The kinds of a module: with vectors and without, or only the latter."""
    return [kind for kind in FEATURES if MODULES[name].vectors or kind == "plain"]


def build_modules() -> dict[str, dict[str, wasm.Build]]:
    """The modules of `wasm_exports.MODULES` in all their kinds, several at a time."""

    def build(name: str) -> dict[str, wasm.Build]:
        exports, kinds = MODULES[name].exports, kinds_of(name)
        made = wasm.build_kinds(f"{exports.__module__}:{exports.__name__}", [FEATURES[kind] for kind in kinds])
        return dict(zip(kinds, made, strict=True))

    with ThreadPoolExecutor(os.cpu_count(), "tuplet") as pool:
        return dict(zip(MODULES, pool.map(build, MODULES), strict=True))


def build_site(folder: str | Path, modules: Modules | None = None) -> Path:
    """Write the page to a folder, which is replaced; `modules` are those of `build_modules`."""
    folder = Path(folder)
    if folder.exists() and not (folder / "sw.js").exists() and any(folder.iterdir()):
        raise UserError(f"{folder} is not empty, and not a site that was built before: name another folder")
    modules = build_modules() if modules is None else modules
    folder.absolute().parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.absolute().parent, prefix=f"{folder.name}.") as made:
        site = Path(made) / "site"
        _write(site, modules)
        shutil.rmtree(folder, ignore_errors=True)
        site.rename(folder)
    return folder


def _write(site: Path, modules: Modules) -> None:
    static, kernels = site / "static", site / "static" / "kernels"
    kernels.mkdir(parents=True)
    for file in STATIC.iterdir():
        if file.name in PAGES:
            page = file.read_text().replace("/static/", "static/").replace("<head>", f"<head>\n{MARK}")
            (site / PAGES[file.name]).write_text(page)
        elif not LEFT_OUT.fullmatch(file.name):
            shutil.copy(file, static)
    networks: dict[str, Any] = {DEFAULT_PLAYER: Network.load(DEFAULT_PLAYER)}
    networks |= {name: GameNetwork.load(name, find_game(name)) for name in VALUES}
    described = {}
    for name, network in networks.items():
        described[name], packed = _packed(name, network)
        (kernels / f"{name}.levels").write_bytes(packed)
    contents = {"facts.json": json.dumps(_facts() | {"networks": described}).encode()}
    for module, kinds in modules.items():
        values, data = wasm.pack(MODULES[module].values())
        layouts = {"layouts": {kind: build.layout for kind, build in kinds.items()}, "values": values}
        contents |= {f"{module}.json": json.dumps(layouts).encode(), f"{module}.bin": data}
        contents |= {f"{module}.{kind}.wasm": build.module for kind, build in kinds.items()}
    for each, content in contents.items():
        (kernels / f"{each}.gz").write_bytes(gzip.compress(content, 9, mtime=0))
    # The service worker keeps all files for use without a network; its name for them changes with their contents.
    files = sorted(str(file.relative_to(site)) for file in site.rglob("*") if file.is_file())
    digest = hashlib.sha256(b"".join((site / file).read_bytes() for file in files)).hexdigest()[:16]
    worker = (STATIC / "sw.js").read_text().replace('"VERSION"', f'"{digest}"')
    (site / "sw.js").write_text(worker.replace('["FILES"]', json.dumps(["./", *files])))


def _packed(name: str, network: Network | GameNetwork) -> tuple[dict[str, Any], bytes]:
    """What the worker knows of a network, and the levels of its weights (`values/levels.py`)."""
    file = find_player(name)
    if file is None:
        raise UserError(f"there is a file or folder called {name} here: build the site in another folder")
    step = np.float32(packed_head(file)["step"])
    levels = np.rint(network.weights / step).astype(np.int16)
    if not np.array_equal(levels * step, network.weights):
        raise UserError(f"the weights of {name} are not multiples of {step}")
    about: dict[str, Any] = {"step": float(step), "gamma": network.gamma}
    if isinstance(network, GameNetwork):
        about |= {"game": network.game.name, "parts": [*_parts(network)]}
        bases = [*(each.base for each in network.tuples), *network.sizes[len(network.tuples) :]]
    else:
        about |= {"spawn4": network.spawn4, "tuples": [_placements(cells, network.size) for cells in network.tuples]}
        bases = [16] * len(network.tuples)
    tables, about["tables"] = [], []
    for number, base in enumerate(bases):
        own, order = network.table_slice(number), network.file_order(number)
        bits = None
        if isinstance(order, FileOrder):  # the map is linear in exclusive-or
            bits = [
                int(order.indices(np.array([1 << bit]))[0]) for bit in range((own.stop - own.start).bit_length() - 1)
            ]
        tables.append((levels[own][np.concatenate([part for _, part in order.parts()])], base))
        about["tables"].append({"size": own.stop - own.start, "base": base, "start": own.start, "bits": bits})
    return about, pack_levels(tables)


def _placements(cells: tuple[int, ...], size: tuple[int, int]) -> dict[str, Any]:
    return {
        "cells": format_tuple(cells, size),
        "placements": [format_tuple(placed, size) for placed in placements(cells, size)],
    }


def _parts(network: GameNetwork) -> Iterator[tuple[str, int]]:
    """The tuples and features in the order of look-ups, with the number of these."""
    for each in network.tuples:
        yield str(each), len(images(network.encoding, each))
    if network.biases:
        yield "bias", network.biases
    for name in network.features:
        yield name, 1


def _facts() -> dict[str, Any]:
    """What the worker knows of games and agents."""
    sizes = [(rows, columns) for rows in (2, 3, 4) for columns in (2, 3, 4)]
    return {
        "games": list_games().as_json()["games"],
        "examples": EXAMPLES,
        "cells": {f"{rows}x{columns}": str(rules_for(rows, columns).cells) for rows, columns in sizes},
        "ewn": [_game(game) for each in GAMES if (game := find_game(each)).family == "ewn"],
        "agents": {
            "2048": _agents("2048", AGENTS["2048"]),
            "small": _agents("2048:board=3x3", AGENTS["2048"]),
            "ewn": _agents("ewn", AGENTS["ewn"]),
        },
        "bandits": {bandit: BANDITS[bandit]()._asdict() for bandit in SELECTED},
        "tree_nodes": NODES,
        "table_entries": 1 << TABLE_BITS,
        "margin": search_2048.MARGIN,
        "steps": _step_facts(),
        "learning": _learning_facts(),
        "homework": list_functions(),
    }


def _step_facts() -> dict[str, Any]:
    """What the worker knows of learning step by step: networks, learners, limits."""
    nets = {name: Network(name) for name in SHOWN}
    return {
        "nets": {
            name: {
                "weights": len(net.weights),
                "tuples": [[list(placed) for placed in placements(cells)] for cells in net.tuples],
            }
            for name, net in nets.items()
        },
        "learners": _learner_facts(),
        "chunk": CHUNK,
        "last": LAST,
        "most": {"games": limits.MAX_LEARNED, "last": limits.MAX_SHOWN},
    }


def _learner_facts() -> dict[str, Any]:
    numbers = ("alpha", "lam", "memory_per_weight")
    return {name: {each: getattr(LEARNERS[name], each) for each in numbers} for name in LEARNER_NAMES}


def _learning_facts() -> dict[str, Any]:
    """The networks that the page can train, with the starts of their tables, and the learners."""
    nets = {
        name: {
            "weights": stage_size(tuples),
            "tables": {format_tuple(cells): start for cells, start in zip(tuples, table_starts(tuples), strict=True)},
        }
        for name, tuples in learned_networks().items()
    }
    return {"nets": nets, "ewn": _learning_ewn_facts(), "learners": _learner_facts()}


def _learning_ewn_facts() -> dict[str, Any]:
    """How the page learns EWN, and evaluates what was learned."""
    usual, options = split({"game": "ewn"})
    plan, opponent = parse_evaluate(EVALUATE_EWN), options.opponent
    assert plan is not None
    assert opponent is not None
    return {
        "game": _game(find_game("ewn")),
        "net": usual.net,
        "weights": len(usual.network().weights),
        "alpha": {name: split({"game": "ewn", "learner": name})[0].alpha for name in LEARNER_NAMES},
        **{name: getattr(usual, name) for name in ("lam", "ahead", "explore", "opening")},
        "games": plan.games,
        "every": int(plan.every),
        "playouts": parse_opponent(opponent),
    }


def _game(game: Any) -> dict[str, Any]:
    """A game of EWN."""
    names = ("name", "rows", "columns", "cubes", "die", "cycle", "first_cube", "red", "blue")
    return {each: getattr(game, each) for each in names} | {
        "value": f"rules {game.name}",
        "range": value_range(game.rules),
        "baselines": {name: Baseline(name).depth(game) for name in ("normal", "hard")},
    }


def _agents(game: str, names: tuple[str, ...]) -> dict[str, Any]:
    """The agents of a game that the worker has; the first is the default."""
    rows = [row for row in list_agents(game).rows if row["agent"] in names]
    rows.sort(key=lambda row: names.index(row["agent"]))
    for setting in (each for row in rows for each in row["settings"] if each["name"] == "ucb"):
        setting["choices"] = list(SELECTED)
    return {"default": rows[0]["agent"], "agents": rows}


if __name__ == "__main__":
    try:
        build_site(sys.argv[1] if len(sys.argv) > 1 else "site")
    except UserError as error:
        sys.exit(str(error))
