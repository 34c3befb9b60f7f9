"""Model folders as model hubs have them, with a model card.

model.safetensors   the weights, in tuplet's usual format, without the learner's memory
config.json         what they mean, for programs without tuplet
README.md           the card: how the model was trained and measured, with the commands
"""

from __future__ import annotations

import copy
import json
import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tuplet.errors import UserError
from tuplet.learn.game_play import evaluate_match
from tuplet.learn.run import CONFIG
from tuplet.learn.self_play import greedy_statistics
from tuplet.learn.settings import Method, RunOptions
from tuplet.system.blocks import cores
from tuplet.system.file_types import describe_file
from tuplet.system.files import atomic_write
from tuplet.system.progress import COMPILING, Progress, Watcher
from tuplet.system.settings import setting_fields
from tuplet.system.stop import Stop, Stopped
from tuplet.system.tables import percent
from tuplet.system.version import __version__
from tuplet.values.game_network import GameNetwork, images
from tuplet.values.network import Network
from tuplet.values.packed import AnyNetwork
from tuplet.values.patterns import format_tuple, placements
from tuplet.values.weights import FORMAT, MODEL, MODEL_CONFIG, WEIGHTS, save_weights

CARD = "README.md"
MOST_CONFIG = 1 << 16  # bytes of `config.json`, or of a run's `config.toml`
OPPONENT = "playouts=50"  # of networks for other games than 2048
GAMES, SEED = 1000, 1  # of the measurement: `tuplet eval` plays the same games with them

# How to read it without tuplet. (docs/tools.md shows it, too.)
READING = """\
import json
import numpy as np
from safetensors.numpy import load_file

config, arrays = json.load(open("config.json")), load_file("model.safetensors")
tiles = [2, 4, 8, 16, 0, 2, 64, 32, 4, 8, 256, 128, 0, 2, 512, 1024]  # row by row
exponents, value = np.array([min(max(tile, 1).bit_length() - 1, 15) for tile in tiles]), 0.0
for table, cells in enumerate(map(np.array, config["placements"])):  # of a tuple: eight
    index = (exponents[cells] << 4 * np.arange(cells.shape[1])).sum(axis=1).astype(np.uint32)
    where, weight = arrays[f"{table}.where"], arrays[f"{table}.weight"]
    at, end = (np.searchsorted(where, index, side) for side in ("left", "right"))
    value += weight[at[at < end]].sum(dtype=float)  # the others are as they were at first:
    value += config["initial"][table] * (at == end).sum()
print(value)
"""


class Provenance(NamedTuple):
    """How weights were trained, as far as known."""

    origin: str  # the file they come from, in words
    settings: dict[str, Any]  # of training; empty if not known
    learned: dict[str, Any]  # from the last line of metrics: games, elapsed_s, mean_score


def write_model(net: AnyNetwork, folder: Path, provenance: Provenance, watch: Watcher) -> dict[str, Any]:
    """Write a model folder; returns the measurement for its card.

    Existing files are replaced when the new ones are complete, the card last.
    """
    watch(Progress(COMPILING))
    how: dict[str, Any] = {"threads": cores(), "stop": Stop(), "watch": watch}
    if isinstance(net, Network):
        measured = greedy_statistics(net, GAMES, np.uint64(SEED), **how)
    else:
        measured = evaluate_match(net, GAMES, OPPONENT, np.uint64(SEED), **how)
    if measured is None:
        raise Stopped("stopped before the last game of the card's measurement")
    config = config_of(net) | {
        "trained": provenance.settings,
        "learned": provenance.learned,
        "measured": {"seed": SEED, **measured},
    }
    card = "\n".join(_card(net, folder.resolve().name, provenance, measured)) + "\n"
    plain = copy.copy(net)
    plain.memory = None
    folder.mkdir(exist_ok=True)
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in config.items())
    save_weights(plain, folder / MODEL)
    for name, text in ((MODEL_CONFIG, f"{{\n{lines}\n}}\n"), (CARD, card)):
        with atomic_write(folder / name) as file:
            file.write(text.encode())
    return measured


def check_model_folder(folder: Path) -> None:
    """UserError if a folder has files that are not a model's and would be replaced."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file: name a folder")
    if (folder / CONFIG).exists() or (folder / WEIGHTS).exists():
        raise UserError(f"{folder} holds a training run: name another folder")
    for name in (CARD, MODEL_CONFIG, MODEL):
        if (folder / name).exists() and "tuplet" not in describe_file(folder):
            raise UserError(f"{folder} has a {name} that does not belong to a tuplet model: name another folder")


def models_in(folder: str | Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The model folders in a folder: their names, and their `config.json`."""
    for each in sorted(Path(folder).iterdir()) if Path(folder).is_dir() else ():
        config = each / MODEL_CONFIG
        with suppress(OSError, ValueError, RecursionError):  # not a model
            if (each / MODEL).is_file() and config.stat().st_size <= MOST_CONFIG:
                content = json.loads(config.read_text(encoding="utf-8"))
                if isinstance(content, dict) and content.get("model_type") == FORMAT:
                    yield each.name, content


def config_of(net: AnyNetwork) -> dict[str, Any]:
    """The `config.json` of a network. Cells are numbered row by row on its board."""
    about = {"model_type": FORMAT, "library_name": "tuplet", "tuplet_version": __version__}
    if not isinstance(net, Network):
        encoding = net.encoding
        return about | {
            "game": net.game.name,
            "board": [encoding.rows, encoding.columns],
            "gamma": net.gamma,
            "tuples": net.name.split(),
            "placements": [[list(image) for image in images(encoding, each)] for each in net.tuples],
            "contents": [list(each.contents) for each in net.tuples],
            "features": net.features,
        }
    columns = net.size[1]
    look_ups = [[_cells(p, columns) for p in placements(t, net.size)] for t in net.tuples]
    return about | {
        "game": "2048",
        "board": list(net.size),
        "spawn4": net.spawn4,
        "target": net.target,
        "gamma": net.gamma,
        "stages": list(net.stages),
        "tuples": [format_tuple(t, net.size) for t in net.tuples],
        "placements": look_ups,
        "initial": [float(net.initial_weight(t)) for t in range(len(net.tuples))],
    }


def _cells(placed: tuple[int, ...], columns: int) -> list[int]:
    return [columns * (cell // 4) + cell % 4 for cell in placed]


def train_command(settings: Mapping[str, Any]) -> str:
    """The command of a run: the learner, the seed, and the settings that are not the default."""
    words = ["tuplet", "train"]
    if settings.get("game", "2048") != "2048":
        words.append(str(settings["game"]))
    for kind in (Method, RunOptions):
        for name, _, each in setting_fields(kind):
            value, hidden = settings.get(name), each.metadata["hidden"]
            same = str(value) == str(each.default) and name not in ("learner", "seed")
            if value is None or value is False or same or hidden:
                continue
            words.append(f"--{(each.metadata['option'] or name).replace('_', '-')}")
            if value is not True:
                words.append(" ".join(str(value).split()))
    return shlex.join(words)


def _card(net: AnyNetwork, name: str, provenance: Provenance, measured: dict[str, Any]) -> Iterator[str]:
    """The model card: a header that hubs read, and a description."""
    if not isinstance(net, Network):
        yield from _game_card(net, name, provenance, measured)
        return
    board = "x".join(map(str, net.size))
    game = "2048" if net.size == (4, 4) else f"2048 on {board}"
    low, high = measured["ci95"]
    mean, half = measured["mean_score"], (high - low) / 2
    yield from _head(name, game, f"{mean:.1f} +/- {half:.1f}")
    values = "after-states" if net.target == "afterstate" else "states"
    shape = "one table each" if not net.stages else f"tables for {1 << len(net.stages)} stages"
    yield f"# {name}\n"
    yield (
        f"An n-tuple network that plays {game}: {len(net.tuples)} tuples "
        f"(`{' '.join(format_tuple(t, net.size) for t in net.tuples)}`), {shape}, "
        f"{len(net.weights):,} weights, those that were visited kept. Its values are of {values}; "
        f"{percent(net.spawn4)} of new tiles are fours. Written by tuplet {__version__}.\n"
    )
    yield from _how_learned(net, provenance)
    yield "## How it was measured\n"
    yield f"```sh\ntuplet eval {shlex.quote(name)} --games {GAMES} --seed {SEED}\n```\n"
    yield (
        f"{GAMES:,} fresh games, the best move of one look ahead, without learning: mean score "
        f"**{mean:,.1f}** (95 %: {low:,.1f} to {high:,.1f}), best {measured['max_score']:,}.\n"
    )
    yield "| tile | reached | ended with |\n|---|---|---|"
    for tile, share in measured["reached"].items():
        yield f"| {tile} | {percent(share)} | {percent(measured['ended'].get(tile, 0.0))} |"
    yield "\n## How it is used\n"
    yield f"```sh\npip install tuplet\ntuplet play 2048 --agent {shlex.quote(name)} --watch\n```\n"
    if not net.stages and net.size == (4, 4):
        yield f"Without tuplet, the value of a board of tiles:\n\n```python\n{READING}```"


def _how_learned(net: AnyNetwork, provenance: Provenance) -> Iterator[str]:
    yield "## How it was learned\n"
    if not provenance.settings:
        yield f"That is not known: the weights come from {provenance.origin}.\n"
        return
    if provenance.settings.get("given"):
        yield "It began with weights that had been learned before, and went on by\n"
    yield f"```sh\n{train_command({'net': net.name, **provenance.settings})}\n```\n"
    if learned := provenance.learned:
        scores = learned.get("mean_score")
        last = "" if scores is None else f"; the last of them, while it learned, had a mean score of {scores:,.1f}"
        yield f"It learned from {learned['games']:,} games in {learned['elapsed_s']:,.0f} s{last}.\n"


def _game_card(net: GameNetwork, name: str, provenance: Provenance, measured: dict[str, Any]) -> Iterator[str]:
    """The card of a network for another game than 2048."""
    low, high = measured["ci95"]
    game, mean, half = net.game.name, measured["mean_score"], (high - low) / 2
    yield from _head(name, game, f"{mean:.4f} +/- {half:.4f}")
    yield f"# {name}\n"
    yield (
        f"An n-tuple network that plays {game}: {len(net.tuples)} tables of tuples (`{net.name}`) and "
        f"{len(net.features)} of features, {len(net.weights):,} weights, those that were visited kept. A position's "
        f"value is what the side to move may expect. Written by tuplet {__version__}.\n"
    )
    yield from _how_learned(net, provenance)
    yield "## How it was measured\n"
    against = f" against {measured['opponent']}" if "opponent" in measured else ""
    score = f"{100 * mean:.1f} % (95 %: {100 * low:.1f} to {100 * high:.1f})" if against else f"{mean:,.1f}"
    yield (
        f"{measured['games']:,} games by the best move of one look ahead{against}, in pairs with sides exchanged: "
        f"**{score}**.\n"
    )
    yield "## How it is used\n"
    yield f"```sh\npip install tuplet\ntuplet play {game} --agent alphabeta:values={shlex.quote(name)}\n```"


def _head(name: str, game: str, mean: str) -> Iterator[str]:
    """The header that hubs read, with results in the form of reinforcement-learning libraries."""
    yield "---\nlibrary_name: tuplet\npipeline_tag: reinforcement-learning\ntags:"
    yield from ("- reinforcement-learning", f'- "{game.partition(" ")[0]}"', "- n-tuple-network")
    yield "- temporal-difference-learning\nmodel-index:"
    yield f"- name: {json.dumps(name)}\n  results:"
    yield "  - task:\n      type: reinforcement-learning\n      name: reinforcement-learning"
    yield f'    dataset:\n      name: "{game}"\n      type: "{game}"'
    yield f"    metrics:\n    - type: mean_reward\n      value: {mean}"
    yield "      name: mean_reward\n      verified: false\n---\n"
