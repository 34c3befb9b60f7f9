"""`regret`: how far is a player of 2048 from perfect play, on a board that is solved?"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from tuplet.agents.agent import Agent, RandomAgent, agent_from
from tuplet.agents.distribution import AgentSource, agent_source, choose_executor
from tuplet.agents.learned import LearnedAgent
from tuplet.agents.searchers import Searcher
from tuplet.agents.specs import Spec, label_of, trusted
from tuplet.arena.evaluate import ask, streams_of
from tuplet.arena.regret_endgames import EndgameRegret, endgame_regret
from tuplet.errors import UserError
from tuplet.exact.endgames import EndgameTable
from tuplet.exact.regret import SampledRegret, exact_regret, random_policy, sampled_regret
from tuplet.exact.solution import Solution
from tuplet.exact.solve import solve_board
from tuplet.games import agent_hooks
from tuplet.games.g2048 import Board
from tuplet.games.g2048.game import Game2048
from tuplet.games.g2048.statistics import score_interval
from tuplet.games.game import Game
from tuplet.games.registry import find_game
from tuplet.system.blocks import Worker, as_threads, is_local, ordered_map
from tuplet.system.progress import Progress, ProgressOption, watching
from tuplet.system.stop import Stop, Stopped
from tuplet.system.tables import Displayable, TextTable, percent, plural
from tuplet.values.network import Network

Source = tuple[str, str, float]  # of a solution: its file, or its board and probability of fours
DEFAULT_BOARD = "2x3"
GAMES = 10  # per block
_DEVIATION = 0.7  # of scores, relative to the mean: on small boards one half and more


@dataclass(frozen=True)
class Regret(Displayable):
    """What a player loses against perfect play, exactly or in a sample of games."""

    player: str
    report: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        """The keys that other tools read."""
        return self.report

    def text_tables(self) -> list[TextTable]:
        """Score and regret, with intervals where games were played."""
        report = self.report

        def behind(key: str) -> str:
            return "95 %: {:,.3f} to {:,.3f}".format(*report[key]) if report.get(key) else ""

        games = report.get("games")
        how = f"exact, {report['states']:,} states" if games is None else plural(games, "game")
        title = f"{self.player} on {report['board']}, fours {100 * report['spawn4']:g} %  ({how})"
        rows = [
            ["score", f"{report['score']:,.6f}", behind("ci95")],
            ["optimal play", f"{report['optimal_score']:,.6f}", ""],
            ["regret per game", f"{report['regret']:,.6f}", behind("regret_ci95")],
            ["optimal moves", f"{100 * report['optimal']:.3f} %", f"of {report['moves']:,.1f} per game"],
        ]
        return [TextTable(title, (), rows, words=(0, 1, 2), strong=(1,))]

    def __repr__(self) -> str:
        share = percent(self.report["optimal"])
        return f"<Regret of {self.player}: {self.report['regret']:,.3f} a game, {share} optimal>"


def regret(
    player: Network | Agent | str | Spec | Callable[..., Agent],
    *,
    game: str | Game = "2048",
    board: str | None = None,
    table: str | Path | Solution | EndgameTable | None = None,
    spawn4: float | None = None,
    games: int | None = None,
    cubes: int | None = None,
    positions: int | None = None,
    reached: Agent | str | Spec | Callable[..., Agent] | None = None,
    seed: int = 0,
    threads: int = 1,
    executor: Executor | None = None,
    progress: ProgressOption = None,
    stop: Stop | None = None,
) -> Regret | EndgameRegret:
    """Compare a player with perfect play, move by move: on a small board of 2048, or in endings of EWN.

    The regret is exact: it follows the probability of every board. With `games` it plays games instead, and gives
    95 % intervals, for players that are slow or random. `table` is a solution, or the file of one; without it the
    board is solved first (that of the network, otherwise 2x3).

    With `game="ewn"`, or another game of its family with a rolled die, it is the win probability that the player loses
    per move in endings of up to `cubes` cubes: over all positions and rolls that leave a choice, or over `positions` of
    them: all equally likely, or with `reached` those of games that this agent plays against itself. `table` is an
    `EndgameTable`, or the file of one; without it the endings are solved first.
    """
    if find_game(game, trusted=trusted(player)).family != "2048":
        if board is not None or spawn4 is not None or games is not None:
            raise UserError("board, spawn4 and games are of 2048: endings of EWN have cubes and positions")
        endings = table if not isinstance(table, Solution) else None
        return endgame_regret(
            player,
            game,
            cubes=cubes,
            table=endings,
            positions=positions,
            reached=reached,
            seed=seed,
            threads=threads,
            progress=progress,
            stop=stop,
        )
    if cubes is not None or positions is not None or reached is not None:
        raise UserError("cubes, positions and reached are of endings of EWN: add --game ewn")
    if isinstance(table, EndgameTable):
        raise UserError(f"the table is of {table.game.name}: add --game {table.game.name}")
    if games is not None and games < 1:
        raise UserError(f"games must be positive (got {games})")
    as_threads(threads)
    made = agent_from(player, "2048", seed)
    name = label_of(player, made)
    if games is None and isinstance(made, Searcher):
        raise UserError("the regret of a search is measured in games: say how many with --games")
    if games is None and threads > 1:
        raise UserError("exact regret uses one thread: --threads goes with --games")
    with watching(progress) as watch:
        solution = _solution(made, board, table, spawn4, watch, stop)
        made = agent_from(made, "2048", spawn4=solution.spawn4)
        report = {"board": solution.size, "spawn4": solution.spawn4, "optimal_score": solution.expected_score}
        if games is not None:
            with (
                choose_executor([player], threads, executor, copies=True) as (pool, threads),
                agent_source(player, made, seed, pool, threads > 1) as source,
            ):
                where: Solution | Source = solution
                if not is_local(pool):  # workers solve it, or open its file
                    path = "" if table is None or isinstance(table, Solution) else str(table)
                    where = (path, solution.size, solution.spawn4)
                played = _played(source, where, games, seed, threads, pool, stop, watch)
            return Regret(name, report | _summarise(played))
        if isinstance(made, LearnedAgent) and made.greedy:
            found = exact_regret(solution, made.network, watch, stop)
        elif type(made) is RandomAgent:
            found = exact_regret(solution, random_policy(solution.rules), watch, stop)
        else:
            agent, rules = _Agent(made), Game2048((solution.rows, solution.columns), solution.spawn4)
            empty = rules.position(Board(rows=solution.rows, columns=solution.columns))
            agent.open(empty, "player", streams_of(seed, 0)[0])
            found = exact_regret(solution, agent, watch, stop)
    return Regret(name, report | found.as_json())


class _Agent:
    """An agent whose errors are reported in one line."""

    def __init__(self, agent: Any) -> None:
        self.agent = agent

    def open(self, *game: Any) -> None:
        """Begin a game."""
        ask(self.agent, "open", agent_hooks.begin, self.agent, *game)

    def choose(self, position: Any) -> object:
        """The agent's move."""
        return ask(self.agent, "choose", self.agent.choose, position)


def _solution(
    player: Agent,
    board: str | None,
    table: str | Path | Solution | None,
    spawn4: float | None,
    watch: Any,
    stop: Stop | None,
) -> Solution:
    """The solution of a table, of a board, or of the player's own board."""
    if table is not None:
        solution = table if isinstance(table, Solution) else Solution.load(table)
        if board not in (None, solution.size) or spawn4 not in (None, solution.spawn4):
            raise UserError(
                f"{table} is the solution of {solution.size} with {100 * solution.spawn4:g} % fours: leave out --board "
                "and --spawn4"
            )
        return solution
    network = player.network if isinstance(player, LearnedAgent) else None
    size = board or ("x".join(map(str, network.size)) if network else DEFAULT_BOARD)
    share = spawn4 if spawn4 is not None else network.spawn4 if network else 0.1
    return solve_board(size, spawn4=share, progress=watch, stop=stop)


def _sample(
    source: AgentSource, where: Solution | Source, seed: int, first: int, games: int, worker: Worker
) -> SampledRegret:
    """A block of games; fewer if it was stopped."""
    agent = source.agent(worker, first)
    solution = where if isinstance(where, Solution) else worker.share(where, lambda: _open(*where))
    return sampled_regret(solution, _Agent(agent), games=games, seed=seed, first=first, stop=worker.stop)


def _open(table: str, size: str, spawn4: float) -> Solution:
    return Solution.load(table) if table else solve_board(size, spawn4=spawn4, progress=False)


def _played(
    source: AgentSource,
    where: Solution | Source,
    games: int,
    seed: int,
    threads: int,
    pool: Executor | None,
    stop: Stop | None,
    watch: Any,
) -> SampledRegret:
    blocks = ((source, where, seed, n, min(GAMES, games - n)) for n in range(0, games, GAMES))
    played = SampledRegret([], [], [], [])

    def look(_: Worker) -> None:
        watch(Progress("games", len(played.scores), games))

    for part in ordered_map(_sample, blocks, threads=threads, executor=pool, stop=stop, on_tick=look):
        planned = min(GAMES, games - len(played.scores))
        pairs: Any = zip(played, part, strict=True)
        played = SampledRegret(*(a + b for a, b in pairs))
        if len(part.scores) < planned:
            break
    if not played.scores:
        raise Stopped("stopped before the first game was finished")
    return played


def _summarise(played: SampledRegret) -> dict[str, Any]:
    """Means over games, with intervals."""

    def interval(values: list[float]) -> list[float] | None:
        return list(score_interval(values, _DEVIATION)) if len(values) > 1 else None

    return {
        "games": len(played.scores),
        "score": fmean(played.scores),
        "ci95": interval(played.scores),
        "regret": fmean(played.regrets),
        "regret_ci95": interval(played.regrets),
        "optimal": sum(played.optimal) / max(sum(played.moves), 1),
        "moves": fmean(played.moves),
    }
