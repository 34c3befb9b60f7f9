"""Regret in the endings of EWN: how much win probability does a player lose per move, against perfect play?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tuplet.agents.agent import agent_from
from tuplet.agents.distribution import is_user_code
from tuplet.agents.searchers import Searcher
from tuplet.agents.specs import label_of, name_of
from tuplet.arena.evaluate import ask
from tuplet.errors import UserError
from tuplet.exact.endgames import Block, EndgameTable, solvable_game, solve_endgames
from tuplet.games import agent_hooks
from tuplet.games.analysis import Analysis
from tuplet.games.ewn.game import EwnPosition
from tuplet.games.registry import find_game
from tuplet.kernel import as_seed, stream
from tuplet.system.blocks import Worker, as_threads, ordered_map
from tuplet.system.intervals import finite_interval, mean_interval
from tuplet.system.progress import Progress, ProgressOption, RateMeter, watching
from tuplet.system.stop import Stop, Stopped
from tuplet.system.tables import Displayable, TextTable

AT_A_TIME = 20  # positions of a block of work
WORST = 5  # moves that are shown
EQUAL = 1e-6  # a move that loses less is optimal: values of tables are rounded


class Decision(NamedTuple):
    """What a player chose in a position, and what it lost."""

    position: str
    played: str
    best: str
    loss: float
    error: float | None  # of the player's own value of the position, if it has one


@dataclass(frozen=True)
class EndgameRegret(Displayable):
    """What a player loses against perfect play in endings, over all positions or a sample."""

    player: str
    game: str
    cubes: int
    sampled: bool
    decisions: list[Decision]
    reached: str | None = None  # who played the games that the sample is from; None: all positions are equally likely

    @property
    def mean_loss(self) -> float:
        """Win probability lost per move, where there is a choice."""
        return math.fsum(each.loss for each in self.decisions) / len(self.decisions)

    @property
    def optimal(self) -> float:
        """The share of moves that lost nothing."""
        return sum(each.loss <= EQUAL for each in self.decisions) / len(self.decisions)

    @property
    def value_errors(self) -> list[float]:
        """How far the player's values are from the exact ones, where it says any."""
        return [each.error for each in self.decisions if each.error is not None]

    def worst(self, count: int) -> list[Decision]:
        """The moves that lost most, the costliest first."""
        return sorted((d for d in self.decisions if d.loss > EQUAL), key=lambda d: -d.loss)[:count]

    def as_json(self) -> dict[str, Any]:
        """The keys that other tools read."""
        losses, errors = [each.loss for each in self.decisions], self.value_errors
        return {
            "player": self.player,
            "game": self.game,
            "cubes": self.cubes,
            "positions": len(losses),
            "sampled": self.sampled,
            "reached": self.reached,
            "mean_loss": self.mean_loss,
            "ci95": finite_interval(mean_interval(losses)) if self.sampled else None,
            "largest_loss": max(losses),
            "optimal": self.optimal,
            "value_error": math.fsum(errors) / len(errors) if errors else None,
            "value_error_ci95": finite_interval(mean_interval(errors)) if errors and self.sampled else None,
            "worst": [each._asdict() for each in self.worst(WORST)],
        }

    def text_tables(self) -> list[TextTable]:
        """Mean and largest loss, and the moves that lost most."""
        report = self.as_json()

        def behind(key: str) -> str:
            return "95 %: {:.5f} to {:.5f}".format(*report[key]) if report[key] and None not in report[key] else ""

        how = f"sampled from games of {self.reached}" if self.reached else "sampled" if self.sampled else "all"
        size = f"{report['positions']:,} positions, {how}"
        title = f"{self.player} in endings of {self.game} with up to {self.cubes} cubes  ({size})"
        rows = [
            ["mean loss per move", f"{self.mean_loss:.5f}", behind("ci95")],
            ["largest loss", f"{report['largest_loss']:.5f}", ""],
            ["optimal moves", f"{100 * self.optimal:.2f} %", ""],
        ]
        if report["value_error"] is not None:
            rows.append(["mean error of its values", f"{report['value_error']:.5f}", behind("value_error_ci95")])
        worst = [[f"{d.loss:.4f}", d.played, d.best, d.position] for d in self.worst(WORST)]
        return [
            TextTable(title, (), rows, words=(0, 1, 2), strong=(1,)),
            TextTable("", ["loss", "played", "best", "position"], worst, words=(1, 2, 3)),
        ]

    def __repr__(self) -> str:
        return f"<EndgameRegret of {self.player}: {self.mean_loss:.5f} a move, {100 * self.optimal:.1f} % optimal>"


def endgame_regret(
    player: Any,
    game: Any,
    *,
    cubes: int | None,
    table: str | Path | EndgameTable | None,
    positions: int | None,
    reached: Any,
    seed: int,
    threads: int,
    progress: ProgressOption,
    stop: Stop | None,
) -> EndgameRegret:
    """The regret of a player in the endings of a game; see `regret`."""
    game = solvable_game(find_game(game))
    if positions is not None and positions < 1:
        raise UserError(f"positions must be 1 or more (got {positions})")
    if reached is not None and positions is None:
        raise UserError("positions of games are a sample: say how many with --positions")
    made = agent_from(player, game, seed)
    if positions is None and isinstance(made, Searcher):
        raise UserError("the regret of a search is measured in a sample: say how many positions with --positions")
    if is_user_code(made) or not hasattr(made, "fresh"):
        threads = 1
    with watching(progress) as watch:
        if table is None:
            table = solve_endgames(game, cubes, threads=as_threads(threads), progress=watch, stop=stop)
        elif not isinstance(table, EndgameTable):
            table = EndgameTable.load(table)
        if table.game != game:
            raise UserError(f"the table is of {table.game.name}, not of {game.name}")
        known, blocks = table, table.blocks(cubes)  # checks `cubes`
        found: list[Decision] = []
        meter = RateMeter()

        def judge(chosen: list[EwnPosition], number: int, worker: Worker) -> list[Decision]:
            agent = worker.keep("agent", made.fresh) if threads > 1 else made
            with agent_hooks.listening(worker.stop, agent):
                return list(_decisions(known, agent, chosen, seed, number, worker.stop))

        player_of_games = None if reached is None else agent_from(reached, game, seed)
        if positions is None:
            parts = _all(known, blocks)
        elif player_of_games is None:
            parts = _sampled(_choices(known, cubes, seed), positions)
        else:
            parts = _sampled(_reached(known, cubes or known.cubes, player_of_games, seed, stop), positions)
        for part in ordered_map(judge, parts, threads=threads, stop=stop):
            found += part
            watch(Progress("positions", len(found), positions, meter.rate(len(found))))
    if not found:
        raise Stopped("stopped before the first position was judged")
    name, shown = label_of(player, made), None if player_of_games is None else label_of(reached, player_of_games)
    return EndgameRegret(name, game.name, cubes or known.cubes, positions is not None, found, shown)


def _sampled(source: Iterator[EwnPosition], positions: int) -> Iterator[tuple[list[EwnPosition], int]]:
    """Blocks of the first positions of a source, and the number of the first in each; a stopped source ends."""
    number = 0
    while number < positions and (part := list(islice(source, min(AT_A_TIME, positions - number)))):
        yield part, number
        number += len(part)


def _choices(table: EndgameTable, cubes: int | None, seed: int) -> Iterator[EwnPosition]:
    """Positions of a table, all equally likely, with the die rolled and more than one legal move."""
    first = 0
    while True:
        for number, position in enumerate(table.sample(AT_A_TIME, seed, cubes=cubes, first=first), first):
            _, die = position.random_outcome(np.uint64(stream(~as_seed(seed), np.uint64(number))))
            if len((rolled := position.apply_outcome(die)).legal_moves()) > 1:
                yield rolled
        first += AT_A_TIME


def _reached(table: EndgameTable, cubes: int, agent: Any, seed: int, stop: Stop | None) -> Iterator[EwnPosition]:
    """Such positions from the games that an agent plays against itself, one after another."""
    for number in count():
        state, position = table.game.initial_position(np.uint64(stream(as_seed(seed), np.uint64(number))))
        ask(agent, "open", agent_hooks.begin, agent, position, position.turn, state)
        while not position.over:
            if stop is not None and stop.is_set():
                return
            if position.is_chance:
                state, die = position.random_outcome(np.uint64(state))
                position = position.apply_outcome(die)
            if len(position.cubes) <= cubes and len(position.legal_moves()) > 1:
                yield position
            position = position.play(ask(agent, "choose", agent.choose, position))


def _all(table: EndgameTable, blocks: list[Block]) -> Iterator[tuple[list[EwnPosition], int]]:
    """Blocks of all positions with every roll that leaves a choice, and the first one's number."""
    number, part = 0, list[EwnPosition]()
    for block in blocks:
        for each in range(block.size):
            position = table.position(block, each)
            if position is not None:
                rolled = (position.apply_outcome(die) for die in position.chance_outcomes())
                part += [one for one in rolled if len(one.legal_moves()) > 1]
            if len(part) >= 50 * AT_A_TIME:
                yield part, number
                number, part = number + len(part), []
    yield part, number


def _decisions(
    table: EndgameTable, agent: Any, positions: list[EwnPosition], seed: int, first: int, stop: Stop
) -> Iterator[Decision]:
    """What an agent chooses in positions; it begins a new game at each."""
    for number, position in enumerate(positions, first):
        state = np.uint64(stream(as_seed(seed), np.uint64(number)))
        ask(agent, "open", agent_hooks.begin, agent, position, position.turn, state)
        played = ask(agent, "choose", agent.choose, position)
        if stop.is_set():
            return
        values = {move.move: move.value or 0.0 for move in table.moves(position)}
        if played not in values:
            raise UserError(f"{name_of(agent)} chose {played!r}, which is not legal in {position.notation}")
        best = max(values, key=values.__getitem__)
        yield Decision(
            position.notation, played, best, values[best] - values[played], _error(agent, position, values[best])
        )


def _error(agent: Any, position: EwnPosition, exact: float) -> float | None:
    """How far the agent's value of a position is from the exact one; None if it says none."""
    analysis = ask(agent, "analyze", agent.analyze, position) if agent_hooks.has(agent, "analyze") else None
    if not isinstance(analysis, Analysis):
        return None
    values = [move.value for move in analysis.moves if move.value is not None]
    return abs(max(values) - exact) if values else None
