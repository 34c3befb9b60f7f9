"""`export positions`: positions of games with the values of their moves, as a table to learn from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tuplet.agents.agent import agent_from
from tuplet.agents.registry import default_agent
from tuplet.agents.specs import name_of, trusted
from tuplet.errors import UserError
from tuplet.games import agent_hooks
from tuplet.games.game import Game
from tuplet.games.registry import find_game
from tuplet.kernel import as_seed, draw, stream
from tuplet.system.files import atomic_write
from tuplet.system.progress import Progress, ProgressOption, RateMeter, watching
from tuplet.system.stop import Stop, Stopped
from tuplet.system.tables import Displayable, Table, TextTable, plural, write_csv

MOST_POSITIONS = 10_000_000


class LabelledPosition(NamedTuple):
    """A position, the value of each legal move, and the best move."""

    notation: str
    cells: list[str]  # row by row, "" where a cell is empty
    turn: str
    values: dict[str, float]  # of legal moves, as in `MoveValue`
    best: str

    def as_json(self) -> dict[str, Any]:
        """A line of a file of positions."""
        return self._asdict()


@dataclass(frozen=True, repr=False)
class Positions(Displayable):
    """Positions of games, each with the values of its moves."""

    game: str
    agent: str
    positions: list[LabelledPosition]
    played: int  # games, the last of which may be cut short
    interrupted: bool = False

    def as_json(self) -> dict[str, Any]:
        """What was exported; the positions themselves are in the file."""
        return {"game": self.game, "agent": self.agent, "positions": len(self.positions), "games": self.played}

    def table(self) -> Table:
        """A row for each position: its cells, the best move, and a column of values for each move."""
        size = len(self.positions[0].cells)
        moves = sorted({move for each in self.positions for move in each.values})
        columns = [
            "position",
            "turn",
            *(f"cell_{i}" for i in range(size)),
            "best",
            *(f"value_{move}" for move in moves),
        ]
        rows = [
            [each.notation, each.turn, *each.cells, each.best, *(each.values.get(move) for move in moves)]
            for each in self.positions
        ]
        return Table(columns, rows)

    def write(self, path: str | Path) -> Path:
        """Write a .csv table, or a .jsonl file with a line for each position."""
        path = _check_path(path)
        if path.suffix == ".csv":
            return write_csv(path, *self.table())
        with atomic_write(path) as file:
            file.writelines(json.dumps(each.as_json()).encode() + b"\n" for each in self.positions)
        return path

    def text_tables(self) -> list[TextTable]:
        """How many positions there are, and the first few."""
        count, games = plural(len(self.positions), "position"), plural(self.played, "game")
        title = f"{count} from {games} of {self.game}, valued by {self.agent}"
        rows = [[each.notation, each.best, f"{each.values[each.best]:,.4g}"] for each in self.positions[:5]]
        return [TextTable(title, ["the first", "best", "its value"], rows, words=(0, 1))]

    def __repr__(self) -> str:
        return f"<Positions of {self.game}: {len(self.positions):,}>"


def export_positions(
    game: str | Game = "2048",
    agent: Any = None,
    *,
    positions: int = 10_000,
    explore: float = 0.1,
    seed: int = 0,
    out: str | Path | None = None,
    progress: ProgressOption = None,
    stop: Stop | None = None,
) -> Positions:
    """Positions from games of an agent with itself, each with the value of every move and the best move.

    They are for courses on imitation: learn to choose the best move from the cells. `agent` must value moves: a run,
    `small`, `alphabeta`, `mcts`, ... With the probability `explore` a random move is played instead of the best one, so
    that mistakes and what follows them occur as well. A position is exported once. Positions with a single legal move
    are played, not exported. `out` is a file to write, .csv or .jsonl.
    """
    rules: Any = find_game(game, trusted=trusted(agent))
    if not 1 <= positions <= MOST_POSITIONS:
        raise UserError(f"positions must be 1 to {MOST_POSITIONS:,} (got {positions})")
    if not 0 <= explore <= 1:
        raise UserError(f"explore must be 0 to 1 (got {explore})")
    if out is not None:
        _check_path(out)
    chosen = default_agent(rules) if agent is None else agent
    made: Any = agent_from(chosen, rules, seed)
    name = chosen if isinstance(chosen, str) else name_of(made)
    if not agent_hooks.has(made, "analyze"):
        raise UserError(f"{name} does not value moves: use a run, small, alphabeta or mcts")
    found: dict[str, LabelledPosition] = {}
    played, pace = 0, RateMeter()
    with ExitStack() as stack:
        watch = stack.enter_context(watching(progress))
        stack.enter_context(agent_hooks.listening(stop, made))
        if made is not chosen and agent_hooks.has(made, "close"):
            stack.callback(made.close)
        while len(found) < positions and not agent_hooks.is_stopped(stop):
            for each in _play(rules, made, name, explore, seed, played, stop):
                found.setdefault(each.notation, each)
                rate = pace.rate(len(found))
                watch(Progress("positions", len(found), positions, rate, "positions/s"))
                if len(found) >= positions:
                    break
            played += 1
            if played > 100 and len(found) < played:
                different = f"{played:,} games had only {len(found):,} different positions"
                raise UserError(f"{different}: ask for fewer, or explore more")
    if not found:
        raise Stopped("stopped before the first position was valued")
    result = Positions(rules.name, name, list(found.values()), played, len(found) < positions)
    if out is not None:
        result.write(out)
    return result


def _play(
    game: Any, agent: Any, name: str, explore: float, seed: int, number: int, stop: Stop | None
) -> Iterator[LabelledPosition]:
    """The positions of a game with more than one legal move."""
    state = np.uint64(stream(as_seed(seed), np.uint64(number)))
    state, position = game.initial_position(state)
    agent_hooks.begin(agent, position, game.sides[0], np.uint64(stream(~state, np.uint64(0))))  # it plays all sides
    while not position.over:
        if position.is_chance:
            state, outcome = position.random_outcome(state)
            position = position.apply_outcome(outcome)
            continue
        moves = list(position.legal_moves())
        best = moves[0]
        if len(moves) > 1:
            analysis = agent.analyze(position)
            if agent_hooks.is_stopped(stop):
                return
            values = {each.move: float(each.value) for each in analysis.moves if each.legal and each.value is not None}
            if analysis.best is None or not values:
                raise UserError(f"{name} does not value moves: use a run, small, alphabeta or mcts")
            best = analysis.best
            cells = [str(cell) for row in position.as_json()["cells"] for cell in row]
            yield LabelledPosition(position.notation, cells, str(position.turn), values, best)
        state, bits = draw(np.uint64(state))
        if int(bits) < explore * 2.0**64:
            state, best = position.random_move(state)
        position = position.play(best)


def _check_path(path: str | Path) -> Path:
    path = Path(path)
    if path.suffix not in (".csv", ".jsonl"):
        raise UserError(f"{path}: positions are written to a .csv or .jsonl file")
    return path
