"""`self_play_steps`: one game of EWN and what is learned from it, with win probabilities and the die."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np

from tuplet.errors import UserError
from tuplet.games.game import Game
from tuplet.games.registry import find_game
from tuplet.kernel import as_seed, stream
from tuplet.learn import game_play
from tuplet.learn.learners import LEARNERS
from tuplet.learn.self_play_kernels import (
    EXPECTED,
    REST,
    TARGET,
    V_AFTER,
    V_BEFORE,
    SelfPlayRecording,
    make_self_play_recording,
    record_self_play,
)
from tuplet.learn.settings import Method
from tuplet.learn.step_kernels import AFTER, BEFORE, WEIGHT, A, E
from tuplet.learn.steps import LEARNER_NAMES, MOST_GAMES, MOST_REMEMBERED
from tuplet.system.tables import Displayable, TextTable, plural
from tuplet.system.worker import Worker
from tuplet.values.game_network import GameNetwork, images, make_scratch
from tuplet.values.network import Memory


@dataclass(frozen=True)
class Roll:
    """An outcome of chance, and the best move after it."""

    outcome: str
    probability: float
    best: str
    value: float  # the probability that the mover wins by it
    after: Any  # the position after the best move


@dataclass(frozen=True)
class Part:
    """A table entry behind a position's value, and how it was updated."""

    name: str  # the tuple, the feature, or bias
    cells: Sequence[int]  # of this placement of the tuple on the board; none of a feature
    before: float  # its weight
    after: float
    rate: float  # the share of the update that it took: |E|/A for TC, 1 for TD
    sums: Sequence[float] | None  # TC: E and A before, E and A after


@dataclass(frozen=True)
class SelfPlayStep:
    """A move, and the update of V, the probability that the side to move wins before chance has acted."""

    number: int  # from 0
    position: Any
    outcome: str
    move: str
    random: bool  # whether it was another move than the best one, to explore
    before: float  # V before the update
    expected: float  # the mean over chance of the best move's value
    rest: float  # what came of the game after it
    target: float  # both, mixed by lambda; after a random move, the first
    updated: float  # V after the update

    @property
    def error(self) -> float:
        """The TD error: the target minus V."""
        return float(np.float32(self.target) - np.float32(self.before))

    def as_json(self) -> dict[str, Any]:
        """The move and its update as JSON."""
        return {
            "number": self.number,
            "cells": self.position.cells,
            "turn": self.position.turn,
            "outcome": self.outcome,
            "move": self.move,
            "random": self.random,
            "before": self.before,
            "expected": self.expected,
            "rest": self.rest,
            "target": self.target,
            "error": self.error,
            "updated": self.updated,
        }


@dataclass(frozen=True)
class SelfPlaySteps(Displayable):
    """A game of self-play that was learned from."""

    network: GameNetwork  # after learning
    method: Method
    games: int
    seed: int
    path: Sequence[Any]  # the positions before each move
    end: Any
    record: SelfPlayRecording
    follows: Sequence[bool]

    @cached_property
    def steps(self) -> list[SelfPlayStep]:
        """The moves, in the order in which they were played."""
        return [self._step(k, position) for k, position in enumerate(self.path)]

    def _step(self, k: int, position: Any) -> SelfPlayStep:
        outcome, changes = int(self.record.outcomes[k]), self.record.changes[k]
        text = list(position.chance_outcomes())[outcome]
        return SelfPlayStep(
            k,
            position,
            text,
            position.apply_outcome(text).move_text(int(self.record.moves[k])),
            not self.follows[k],
            before=float(changes[V_BEFORE]),
            expected=float(changes[EXPECTED]),
            rest=float(changes[REST]),
            target=float(changes[TARGET]),
            updated=float(changes[V_AFTER]),
        )

    def rolls(self, step: SelfPlayStep) -> list[Roll]:
        """Each outcome of chance before a step, with the best move after it."""
        found = []
        for n, (outcome, probability) in enumerate(step.position.chance_outcomes().items()):
            rolled = step.position.apply_outcome(outcome)
            best = rolled.move_text(int(self.record.best[step.number, n]))
            v = float(self.record.values[step.number, n])
            found.append(Roll(outcome, probability, best, v, rolled.play(best)))
        return found

    def parts(self, step: SelfPlayStep) -> list[Part]:
        """The table entries of the position that a step learned from."""
        net, k = self.network, step.number
        last = net.encoding.cells - 1
        turned = step.position.turn == net.game.sides[1]  # the network sees the board from the side to move
        names: list[tuple[str, Sequence[int]]] = [
            (str(each), image) for each in net.tuples for image in images(net.encoding, each)
        ]
        names += [("bias", ())] * net.biases + [(name, ()) for name in net.features]
        return [
            Part(
                name,
                [last - cell if turned else cell for cell in cells],
                float(self.record.entries[k, j, BEFORE, WEIGHT]),
                float(self.record.entries[k, j, AFTER, WEIGHT]),
                float(self.record.rates[k, j]),
                [float(self.record.entries[k, j, when, part]) for when in (BEFORE, AFTER) for part in (E, A)]
                if self.method.learner == "tc"
                else None,
            )
            for j, (name, cells) in enumerate(names)
        ]

    def as_json(self, at: int | None = None) -> dict[str, Any]:
        """The game as JSON: each step with its rolls and parts, or only step number `at` (-1: the last)."""
        count = len(self.path)
        if at is not None and at >= count:
            raise UserError(f"at must be the number of a move, 0 to {count - 1} (got {at})")
        detailed = range(count) if at is None else (max(at + count, 0) if at < 0 else at,)
        return {
            "game": self.network.game.name,
            "net": self.network.name,
            "learner": self.method.learner,
            "alpha": self.method.alpha,
            "lam": self.method.lam,
            "games": self.games,
            "seed": self.seed,
            "end": self.end.cells,
            "winner": self.end.winner,
            "steps": [step.as_json() | (self._detail(step) if step.number in detailed else {}) for step in self.steps],
        }

    def _detail(self, step: SelfPlayStep) -> dict[str, Any]:
        return {
            "rolls": [
                {
                    "outcome": roll.outcome,
                    "probability": roll.probability,
                    "best": roll.best,
                    "value": roll.value,
                    "cells": roll.after.cells,
                    "winner": roll.after.winner,
                }
                for roll in self.rolls(step)
            ],
            "parts": [
                {
                    "name": part.name,
                    "cells": part.cells,
                    "before": part.before,
                    "after": part.after,
                    "rate": part.rate,
                    **({"sums": part.sums} if part.sums else {}),
                }
                for part in self.parts(step)
            ],
        }

    def text_tables(self) -> list[TextTable]:
        """The updates, in the order in which they were made."""
        rows = [
            [
                str(s.number),
                s.position.turn,
                s.outcome,
                s.move,
                *(f"{v:.4f}" for v in (s.before, s.target)),
                f"{s.error:+.4f}",
                f"{s.updated:.4f}",
            ]
            for s in reversed(self.steps)
        ]
        columns = ["move", "side", "die", "", "V", "target", "error", "new V"]
        title = f"{self.method.name} on {self.network.name}, {plural(len(self.path), 'move')}, {self.end.winner} wins"
        return [TextTable(title, columns, rows, words=(1, 3))]


def self_play_steps(
    game: Game | str = "ewn",
    net: str = "2x2",
    *,
    games: int = 0,
    seed: int = 0,
    learner: Literal["td", "tc"] = "td",
    alpha: float | None = None,
    lam: float | None = None,
) -> SelfPlaySteps:
    """Let a network play EWN against itself, and return every number of the game and of what is learned from it.

    The network has learned from `games` games before, as `train(net, game=game, games=games)` does with seed 0 and the
    learner's usual alpha and lambda. `net` is a text of tuples, such as 2x2 or 2x3.
    """
    played = find_game(game)
    if learner not in LEARNER_NAMES:
        raise UserError(f"learner must be td or tc (got {learner!r})")
    if not 0 <= games <= MOST_GAMES:
        raise UserError(f"games must be 0 to {MOST_GAMES:,} (got {games:,})")
    if played.family != "ewn" or not played.start(0).is_chance:
        raise UserError(f"the game must be ewn or a variant with a rolled die (got {played.name})")
    number, known = as_seed(seed), LEARNERS[learner]
    network = _copy(prepare(played, net, learner, games))
    method = Method(game=played.name, net=net, learner=learner, alpha=alpha, lam=lam)
    record, work = make_self_play_recording(network.m), game_play.make_workspace()
    rules, start = played.self_play_start(np.uint64(stream(~number, np.uint64(games))))
    tables = network.tables_with_memory(known.memory, known.memory_per_weight)
    hyper, scratch = method.hyperparameters_at(0.0), make_scratch(network.m)
    length = int(
        record_self_play(
            rules, start, tables, hyper, network.rewarded, known.memory_per_weight, work, scratch, number, games, record
        )
    )
    first = played.start(0)
    path = [first.at((np.uint64(low), np.uint64(high))) for low, high in work.path[:length]]
    end = first.at((record.end[0], record.end[1]))
    follows = [bool(each) for each in work.follows[:length]]
    return SelfPlaySteps(network, method, games, seed, path, end, record, follows)


def prepare(game: Game, net: str, learner: str, games: int) -> GameNetwork:
    """A network after its first `games` games of a run with seed 0."""
    size = sum(GameNetwork(game, net).sizes)
    return (_remembered if size <= MOST_REMEMBERED else _learn)(game, net, learner, games)


def _learn(game: Game, net: str, learner: str, games: int) -> GameNetwork:
    method = Method(game=game.name, net=net, learner=learner)
    network: GameNetwork = method.network()
    known, worker, hyper = LEARNERS[learner], Worker(), method.hyperparameters_at(0.0)
    tables = network.tables_with_memory(known.memory, known.memory_per_weight)
    for first in range(0, games, game_play.CHUNK):
        game_play.learn_chunk(network, tables, hyper, 0, first, min(game_play.CHUNK, games - first), worker)
    return network


_remembered = lru_cache(maxsize=8)(_learn)  # never learn any more: they are copied


def _copy(net: GameNetwork) -> GameNetwork:
    copy = net.empty_copy()
    copy.weights[:] = net.weights
    if net.memory is not None:
        copy.memory = Memory(net.memory.name, net.memory.values.copy())
    return copy
