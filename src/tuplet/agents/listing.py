"""Lists of games, agents with their settings, and the runs of a folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from tuplet.agents.registry import agents_of, default_agent
from tuplet.agents.searchers import Mcts
from tuplet.games.game import Game
from tuplet.games.registry import game as game_of
from tuplet.learn.curves import Metrics
from tuplet.learn.hub import models_in
from tuplet.learn.run import Run, as_run_folder
from tuplet.learn.settings import Method
from tuplet.search.bandits import BANDITS
from tuplet.system.settings import setting_fields
from tuplet.system.tables import Displayable, TextTable
from tuplet.values.players import DEFAULT_PLAYER, installed_players

GAMES = {
    "2048": "Slide tiles, merge equal ones; a 2 or a 4 appears. Boards from 2x2 to 4x4.",
    "ewn": "EinStein würfelt nicht! on 5x5: the die names the cube that moves.",
    "ewn-6x7": "The course's game on 6x7: a fourth direction, and a die whose sequence is known.",
    "ewn:board=4x4,cubes=3": "A small board with three cubes each.",
    "ewn:die=chosen": "The opponent chooses the number.",
    "ewn:die=free": "No die: any cube may move.",
}

SETTINGS = {  # of searches
    "ucb": "the bandit that selects moves in the tree",
    "c": "how much it explores",
    "c1": "report: the weight of the square root's term",
    "c2": "report: the weight of the variance term",
    "results": "rich distinguishes kinds of wins",
    "batch": "random games per visit of a leaf",
    "expand": "simulations before a leaf gets children",
    "shortcuts": "play forced and winning moves at once",
    "solver": "prove wins and losses, and stop there",
    "reuse": "keep the subtree of the position after a move",
    "final": "how the move is chosen: by win rate, by visits, or by the interval's lower end",
    "k": "softmax: how sharply better moves are preferred",
    "descent_k": "temperature in the descent, in place of the bandit",
    "final_k": "temperature at the final move",
    "nodes": "the size of the tree, or the most positions to search",
    "sims": "simulations per move",
    "time": "seconds per move",
    "depth": "moves to look ahead",
    "table": "the transposition table has 2^N entries",
    "reduce": "search late moves less deeply",
    "values": "learned values as estimates: a run folder, a weight file or a bundled player",
    "cutoff": "moves of a random game before the estimate ends it; 0 for no random games",
    "mix": "the weight of a leaf's own estimate beside its random games, 0 to 1",
    "opponent": "the model whose moves are foreseen: hard or normal",
}


@dataclass(frozen=True)
class Listing(Displayable):
    """A list of games, agents or runs, a dictionary each."""

    what: str  # games, agents, runs
    rows: list[dict[str, Any]]
    more: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        """The list, under its name."""
        return {**self.more, self.what: self.rows}

    def text_tables(self) -> list[TextTable]:
        """A line for each."""
        names = [n for n in (self.rows[0] if self.rows else {}) if n not in ("settings", "sides")]
        rows = [["" if row[n] is None else _text(row[n]) for n in names] for row in self.rows]
        notes = [f"{name}: {value}" for name, value in self.more.items()]
        return [TextTable("", names, rows, notes if rows else [*notes, "none yet"], words=range(9))]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,.1f}" if isinstance(value, float) else str(value)


def list_games(own: Sequence[Game] = ()) -> Listing:
    """The games that come with tuplet, some of EWN's family as examples, and `own`."""
    rows = [
        {"game": name, "title": name, "sides": list(game_of(name).sides), "about": about}
        for name, about in GAMES.items()
    ]
    for game in own:
        title, about = game.name.rpartition(":")[2], (type(game).__doc__ or "").partition("\n")[0]
        rows.append({"game": game.name, "title": title, "sides": [*game.sides], "about": about})
    return Listing("games", rows, {})


def list_agents(game: str | Game = "2048", folder: str | Path | None = None) -> Listing:
    """The agents of a game with their settings; for 2048 also the runs of a folder."""
    game = game_of(game)
    rows = list(_learned_agents(game, folder)) if game.family == "2048" else []
    rows += [
        _row(entry.name, entry.about, entry.settings_class())
        for entry in agents_of(game.family).values()
        if entry.about
    ]
    return Listing("agents", rows, {"default": default_agent(game)})


def _learned_agents(game: Any, folder: str | Path | None) -> Iterator[dict[str, Any]]:
    """Shipped players, runs and model folders that play on a board of 2048."""
    board = f"{game.rows}x{game.columns}"
    runs = list_runs(folder).rows if folder is not None else []
    models = dict(models_in(folder)) if folder is not None else {}
    shadowed = ({run["run"] for run in runs} | {*models}) - {DEFAULT_PLAYER}  # names that mean a folder
    for name, about in installed_players().items() if board == "4x4" else ():
        if name not in shadowed:
            yield _row(name, about, learned=True)
    for run in runs:
        if run["game"] == "2048" and run["board"] == board:
            yield _row(run["run"], f"A run of {run['games']:,} games with {run['net']}.", learned=True)
    for name, config in models.items():
        if config.get("board") == [game.rows, game.columns] and name != DEFAULT_PLAYER:
            tuples = config.get("tuples")
            about = " ".join(map(str, tuples)) if isinstance(tuples, list) else "2048"
            yield _row(name, f"A model folder: {about}.", learned=True)


def _row(agent: str, about: str, settings: Any = None, *, learned: bool = False) -> dict[str, Any]:
    fields = [] if settings is None else [_setting(*each) for each in setting_fields(settings)]
    grows = settings is not None and issubclass(settings, Mcts)
    return {"agent": agent, "about": about, "learned": learned, "grows_tree": grows, "settings": fields}


def _setting(name: str, hint: Any, each: Any) -> dict[str, Any]:
    kinds = [hint] if get_origin(hint) in (None, Literal) else list(get_args(hint))
    kinds = [kind for kind in kinds if kind is not NoneType]
    choices = sorted(BANDITS) if name == "ucb" else [choice for kind in kinds for choice in get_args(kind)]
    kind = next((k for k in (bool, float, int) if k in kinds), str)
    values = {"type": "choice", "choices": choices} if choices else {"type": kind.__name__}
    return {"name": name, **values, "default": each.default, "about": SETTINGS.get(name, "")}


def list_runs(folder: str | Path = "runs") -> Listing:
    """The training runs in a folder, the newest first, each with its last line of metrics."""
    runs, home = [], Path(folder)
    for each in home.iterdir() if home.is_dir() else ():
        try:
            run = Run.load(as_run_folder(each))
            written = (each / "config.toml").stat().st_mtime
        except (OSError, ValueError):
            continue  # not a run
        last, evaluated = (run.metrics or [{}])[-1], (run.evaluations or [{}])[-1]
        row = run_row(each.name, run.method, run.games, run.elapsed_s, last, evaluated)
        runs.append((-written, each.name, row))
    return Listing("runs", [row for _, _, row in sorted(runs, key=lambda r: r[:2])], {"folder": str(folder)})


def run_row(
    name: str, method: Method, games: int, elapsed_s: float, last: Metrics, evaluated: Metrics
) -> dict[str, Any]:
    """A run in a list, with its last line of metrics and its last evaluation, if there are any."""
    return {
        "run": name,
        "game": method.game,
        "net": method.net,
        "board": method.board if method.game == "2048" else None,
        "learner": method.name,
        "games": games,
        "elapsed_s": elapsed_s,
        "mean_score": last.get("mean_score", evaluated.get("mean_score")),
        "max_score": last.get("max_score"),
    }
