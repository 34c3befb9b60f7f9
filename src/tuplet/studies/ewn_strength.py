"""How strong are the agents of EWN at equal time? Matches against one yardstick, and what moves lose by a judge.

Both depend on the machine, and on how busy it is: all agents have the same seconds, on one core each.
"""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np

from tuplet.agents.agent import make_agent
from tuplet.arena.results import Match
from tuplet.games.protocol import MOST_MOVES
from tuplet.games.registry import find_game
from tuplet.kernel import stream
from tuplet.search import expectimax, transpositions
from tuplet.studies.context import StudyContext, list_of
from tuplet.studies.ewn_report import draw_shares, match_cell
from tuplet.studies.report import StudyResult
from tuplet.studies.verdicts import Cell
from tuplet.system.blocks import Worker
from tuplet.system.intervals import mean_interval
from tuplet.system.settings import parse_duration
from tuplet.values.game_network import GameNetwork, valued_game
from tuplet.values.players import bundled_values

GAMES, POSITIONS = 400, 200
YARDSTICK = "alphabeta:time={},reduce=yes"
AGENTS = {
    "easy": "easy",
    "normal": "normal",
    "hard": "hard",
    "mcts": "mcts:time={}",
    "mcts with values": "mcts:values={game},time={}",
    "best": "best:time={}",
    "exploit:hard": "exploit:hard,time={}",
}
JUDGES = {"ewn": 6, "ewn-6x7": 12}  # moves that the judge looks ahead
MOST_PLIES = 14  # random moves before a position that is judged


def ewn_strength(context: StudyContext, times: str = "0.1s") -> StudyResult:
    """No report has this: which agent of EWN is the strongest at equal time, with dice and with a known die, and how
    much win probability its moves lose.
    """
    seconds = list_of(times, parse_duration, "--times must be times such as 0.02s 0.1s")
    games, positions = context.games(GAMES), context.games(POSITIONS, least=4)
    plan = {
        f"{game}-{name.replace(':', '-').replace(' ', '-')}-{time:g}": (game, name, time)
        for game in JUDGES
        for time in seconds
        for name in AGENTS
        if not (game == "ewn" and name.startswith("exploit"))  # which foresees known dice only
    }
    cells: list[Cell] = []
    panels: dict[str, list[tuple[str, Cell]]] = {}
    parts = {
        f"{key}-{positions}": (game, AGENTS[name].format(time, game=game), positions, context.seed)
        for key, (game, name, time) in plan.items()
    }
    losses = context.parts(judged, parts)
    matches: dict[str, Match] = {}
    for game in JUDGES:
        pairings = {
            key: (AGENTS[name].format(time, game=game), YARDSTICK.format(time), games)
            for key, (own, name, time) in plan.items()
            if own == game
        }
        matches |= context.matches(pairings, game=game)
    for key, (game, name, time) in plan.items():
        lost = [float(each) for each in losses[f"{key}-{positions}"]]
        low, high = mean_interval(lost)
        mean = math.fsum(lost) / len(lost)
        note = f"a move loses {100 * mean:.2f} % ({100 * low:.2f} to {100 * high:.2f} %)"
        cells.append(match_cell({"game": game, "agent": name, "seconds": time}, matches[key], None, note))
        panels.setdefault(f"{game}, {time:g} s", []).append((name, cells[-1]))
    settings = {name: text.format("SECONDS", game="GAME") for name, text in AGENTS.items()}
    settings["yardstick"] = YARDSTICK.format("SECONDS")
    depths = " and ".join(f"{depth} moves on {game}" for game, depth in JUDGES.items())
    notes = [
        f"{games:,} games against the yardstick, alpha-beta without learned values at the same time, in pairs from the "
        "same start and dice, with sides exchanged.",
        f"What a move loses of the probability of winning, in {positions:,} positions of random play, by a judge that "
        f"looks ahead {depths} with the values that come with tuplet. Agents with the same values are favoured by it.",
    ]
    return StudyResult(cells, settings, {"strength": lambda: draw_shares(panels)}, notes)


def judged(game: str, spec: str, positions: int, seed: int, worker: Worker) -> list[float] | None:
    """What an agent's moves lose by a judge that looks far ahead; None if it was stopped."""
    agent, held = make_agent(spec, game), find_game(game)
    file = bundled_values(game)
    assert file is not None
    network = worker.share(game, lambda: GameNetwork.load(file, held))
    work, source = expectimax.make_workspace(18), random.Random(seed)
    state = np.uint64(stream(np.uint64(seed), np.uint64(1)))
    losses: list[float] = []
    while len(losses) < positions:
        state, position = held.opening(state)
        for _ in range(source.randrange(MOST_PLIES)):
            if not position.over:
                state, position = position.random_step(state)
        if not position.over and position.is_chance:
            state, position = position.random_step(state)
        if position.over or len(position.legal_moves()) < 2:
            continue
        if worker.stop.is_set():
            return None
        losses.append(_loss(agent, position, network, JUDGES[game], work, state))
    return losses


def _loss(
    agent: Any, position: Any, network: GameNetwork, depth: int, work: expectimax.Workspace, state: np.uint64
) -> float:
    """The value of the best move less that of the agent's, as a probability of winning."""
    if hasattr(agent, "open"):
        agent.open(position, position.turn, state)
    chosen = position.action_of(agent.choose(position))
    codes, values, proven = np.zeros(MOST_MOVES, np.uint8), np.zeros(MOST_MOVES), np.zeros(MOST_MOVES, np.bool_)
    work.table[:] = np.zeros(1, transpositions.ENTRY)  # positions of another known die are others
    game = valued_game(position.rules, network)
    count = int(expectimax.move_values(game, position.words, np.int64(depth), work, codes, values, proven))
    found = dict(zip(codes[:count].tolist(), values[:count].tolist(), strict=True))
    return float(max(found.values()) - found[chosen]) / 2.0
