"""A run of a program that learns 2048, as a part of a study: from settings to what became of it.

A run that is told to stop leaves a checkpoint, and goes on from it to the very same end; nothing
but `seconds` depends on where and when it ran. What remains of a finished one is a small JSON:

    settings    all of them
    blocks      lists with an entry for each block of games: games so far, mean_score, the scores'
                deviation, max_score, look_ups so far, seconds so far (on the processor)
    last        what became of the last block, whose games were learned from
    fresh       what became of games that were played at the end, and not learned from
    finite      whether the weights are still numbers
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
from tuplet.games.g2048.rules import rules_for
from tuplet.games.g2048.statistics import Results, account, make_results
from tuplet.kernel import as_seed, stream
from tuplet.studies.report_learner import LearnerVariant, Program, make_program, play
from tuplet.system.blocks import Worker
from tuplet.system.files import atomic_write
from tuplet.system.tensors import write_header

Array = np.ndarray[Any, Any]

CHUNK = 25  # games between two looks at whether to stop
SAVE = 120.0  # seconds between two checkpoints


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
    """A file's name for a run: what is special about it, its games, and its seed."""
    flags = [name for name in LearnerVariant._fields if settings[name] and name != "states"]
    kind = "state" if settings["states"] else "afterstate"
    return "-".join([kind, *flags, f"{settings['games']}", f"seed{settings['seed']}"])


class _Course(NamedTuple):
    """How far a run is; the arrays have an entry for each game, or block."""

    results: Results
    look_ups: Array  # int64[games]
    seconds: Array  # float64[blocks]
    done: Array  # int64[1]: games

    @property
    def arrays(self) -> dict[str, Array]:
        """What a checkpoint holds, the widest first."""
        scores, tiles, lengths = self.results
        return {
            "done": self.done,
            "scores": scores,
            "lengths": lengths,
            "look_ups": self.look_ups,
            "seconds": self.seconds,
            "tiles": tiles,
        }


def learned(settings: dict[str, Any], checkpoint: str, worker: Worker) -> dict[str, Any] | None:
    """Learn, from the checkpoint if there is one; None if told to stop: then it leaves one."""
    games, block, path = settings["games"], settings["block"], Path(checkpoint)
    variant = LearnerVariant(*(settings[name] for name in LearnerVariant._fields))
    rules, seed = rules_for(4, 4, settings["spawn4"]), as_seed(settings["seed"])
    program = make_program(rules, settings["net"], variant, settings["alpha"])
    blocks = -(-games // block)
    run = _Course(make_results(games), np.zeros(games, np.int64), np.zeros(blocks), np.zeros(1, np.int64))
    if path.exists():
        _load(path, settings, program, run)
    play(program, False, seed, 0, 0, run.results, run.look_ups, 0)  # compiled before the clock runs
    save_at = time.monotonic() + SAVE
    with worker.showing(run.done):
        while run.done[0] < games:
            first = int(run.done[0])
            if worker.stop.is_set() or time.monotonic() >= save_at:
                _save(path, settings, program, run)
                if worker.stop.is_set():
                    return None
                save_at = time.monotonic() + SAVE
            count = min(CHUNK, block - first % block, games - first)
            began = time.thread_time()
            play(program, True, seed, first, count, run.results, run.look_ups, first)
            run.seconds[first // block] += time.thread_time() - began
            run.done[0] += count
        fresh = _fresh(program, seed, settings, worker)
    if fresh is None:
        _save(path, settings, program, run)
        return None
    weights = program.tables.weights
    ends = np.array([weights.min(), weights.max()])  # neither is finite if some weight is not
    found = {
        "settings": settings,
        "blocks": _curve(run, block),
        "last": _told(Results(*(part[-block:] for part in run.results))),
        "fresh": _told(fresh),
        "finite": bool(np.isfinite(ends).all()),
    }
    with suppress(FileNotFoundError):
        path.unlink()
    return found


def _fresh(program: Program, seed: np.uint64, settings: Mapping[str, Any], worker: Worker) -> Results | None:
    """Games that are not learned from, of a luck that training had not; None if told to stop."""
    luck, count = np.uint64(stream(~seed, np.uint64(settings["games"]))), settings["fresh"]
    results, look_ups = make_results(count), np.zeros(count, np.int64)
    for first in range(0, count, CHUNK):
        if worker.stop.is_set():
            return None
        some = min(CHUNK, count - first)
        play(program, False, luck, first, some, results, look_ups, first)
    return results


def _curve(run: _Course, block: int) -> dict[str, list[int] | list[float]]:
    """What became of each block."""
    games, scores = len(run.look_ups), run.results.scores
    ends = [min(start + block, games) for start in range(0, games, block)]
    parts = [scores[start : start + block] for start in range(0, games, block)]
    return {
        "games": ends,
        "mean_score": [float(part.mean()) for part in parts],
        "deviation": [float(part.std(ddof=1)) if len(part) > 1 else 0.0 for part in parts],
        "max_score": [int(part.max()) for part in parts],
        "look_ups": [int(n) for n in np.cumsum(run.look_ups)[np.array(ends) - 1]],
        "seconds": [round(float(s), 3) for s in np.cumsum(run.seconds)],
    }


def _told(results: Results) -> dict[str, Any]:
    """What became of some games, and each one's score and largest tile."""
    tiles = [1 << int(exponent) for exponent in results.tiles]
    return {**account(results), "scores": results.scores.tolist(), "tiles": tiles}


def _save(path: Path, settings: Mapping[str, Any], program: Program, run: _Course) -> None:
    """Write a checkpoint: how far it is, and the weights that are not 0."""
    weights = program.tables.weights
    where = np.flatnonzero(weights).astype(np.uint32)
    arrays = {**run.arrays, "where": where, "weight": weights[where]}
    arrays["tiles"] = arrays.pop("tiles")  # bytes last, so that all others begin at whole words
    kinds = {name: (array.dtype.str[1:], len(array)) for name, array in arrays.items()}
    with atomic_write(path) as file:
        starts, _ = write_header(file, {"settings": json.dumps(settings)}, kinds)
        for name, array in arrays.items():
            file.seek(starts[name])
            file.write(array.data)


def _load(path: Path, settings: Mapping[str, Any], program: Program, run: _Course) -> None:
    """Take over a checkpoint; ValueError if it is none of these settings."""
    from safetensors import SafetensorError, safe_open

    weights = program.tables.weights
    try:
        with safe_open(path, framework="numpy") as file:
            if json.loads((file.metadata() or {}).get("settings", "null")) != settings:
                raise UserError("it is of other settings")
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        for name, room in run.arrays.items():
            if arrays[name].shape != room.shape or arrays[name].dtype != room.dtype:
                raise UserError(f"its {name} are of another size")
            room[:] = arrays[name]
        where = arrays["where"]
        if len(where) and int(where.max()) >= len(weights) - 1:
            raise UserError("it has more weights than the network")
        if not 0 <= run.done[0] <= len(run.look_ups):
            raise UserError("it has more games than the run")
        weights[where] = arrays["weight"]
    except (SafetensorError, ValueError, KeyError) as error:
        raise UserError(f"{path} is not a sound checkpoint ({error}): delete it") from None
