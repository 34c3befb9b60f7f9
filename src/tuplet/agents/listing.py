"""What there is to choose from: games, agents and their settings, and runs of a folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from tuplet.agents.agent import SEARCHES
from tuplet.agents.alphabeta import AlphaBeta
from tuplet.agents.best import Best
from tuplet.agents.g2048 import Expectimax2048, Mcts2048
from tuplet.agents.searches import Mcts
from tuplet.games.ewn.game import EwnGame
from tuplet.games.g2048.game import Game2048
from tuplet.games.game import Game
from tuplet.games.registry import game as game_of
from tuplet.learn.hub import models_in
from tuplet.learn.run import Run, as_run_folder
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

SETTINGS = {  # what they mean, where a search has them
    "ucb": "the bandit of the descent: which move a simulation looks at next",
    "c": "how much it explores: larger looks more often at what seems worse",
    "c1": "report: the weight of the square root's term",
    "c2": "report: the weight of the variance term",
    "results": "rich tells kinds of wins apart",
    "batch": "random games a visit of a leaf",
    "expand": "simulations before a leaf gets children",
    "shortcuts": "play at once what is forced, or wins",
    "solver": "prove wins and losses, and stop there",
    "reuse": "keep the part of the tree that still holds after a move",
    "final": "the move that is played: by win rate, by visits, or by the interval's lower end",
    "k": "softmax: how sharply better moves are preferred",
    "descent_k": "temperature in the descent, in place of the bandit",
    "final_k": "temperature at the final move",
    "nodes": "the size of the tree, or the positions looked at",
    "sims": "simulations a move",
    "time": "seconds a move",
    "depth": "moves looked ahead",
    "table": "the transposition table has 2^N entries",
    "reduce": "look less deeply at late moves: further, but not at everything",
    "traps": "where the game is bad, lay a trap for a simple opponent",
}


@dataclass(frozen=True)
class Listing(Displayable):
    """A list of what there is, a dictionary each."""

    what: str  # games, agents, runs
    rows: list[dict[str, Any]]
    more: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        """The list, under its name."""
        return {**self.more, self.what: self.rows}

    def text_tables(self) -> list[TextTable]:
        """A line for each."""
        names = [n for n in (self.rows[0] if self.rows else {}) if n not in ("settings", "sides")]
        rows = [["" if row[n] is None else _told(row[n]) for n in names] for row in self.rows]
        notes = [f"{name}: {value}" for name, value in self.more.items()]
        return [TextTable("", names, rows, notes if rows else [*notes, "none yet"], words=range(9))]


def _told(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,.1f}" if isinstance(value, float) else str(value)


def list_games(own: Sequence[Game] = ()) -> Listing:
    """The games that come with tuplet, and `own`; some of EWN's family stand for all of it."""
    rows = [
        {"game": name, "title": name, "sides": list(game_of(name).sides), "about": about}
        for name, about in GAMES.items()
    ]
    for game in own:
        title, about = game.name.rpartition(":")[2], (type(game).__doc__ or "").partition("\n")[0]
        rows.append({"game": game.name, "title": title, "sides": [*game.sides], "about": about})
    return Listing("games", rows, {})


def list_agents(game: str | Game = "2048", folder: str | Path | None = None) -> Listing:
    """Who plays a game, with what can be set; of 2048 also the runs of a folder."""
    held = game_of(game)
    return Listing("agents", list(_agents(held, folder)), {"default": default_agent(held)})


def default_agent(game: Game) -> str:
    """Who is asked where nobody is named."""
    if isinstance(game, Game2048):
        return DEFAULT_PLAYER if (game.rows, game.columns) == (4, 4) else "expectimax:depth=3"
    return "best" if isinstance(game, EwnGame) else "mcts"


def _agents(held: Game, folder: str | Path | None) -> Iterator[dict[str, Any]]:
    if isinstance(held, Game2048):
        runs = list_runs(folder).rows if folder is not None else []
        models = dict(models_in(folder)) if folder is not None else {}
        taken = ({run["run"] for run in runs} | {*models}) - {DEFAULT_PLAYER}  # names that mean a folder
        for name, about in installed_players().items() if (held.rows, held.columns) == (4, 4) else ():
            if name not in taken:
                yield _row(name, about, learned=True)
        for run in runs:
            about = f"A run of {run['games']:,} games with {run['net']}."
            if run["board"] == f"{held.rows}x{held.columns}":
                yield _row(run["run"], about, learned=True)
        for name, config in models.items():
            if config.get("board") == [held.rows, held.columns] and name != DEFAULT_PLAYER:
                tuples = config.get("tuples")
                about = " ".join(map(str, tuples)) if isinstance(tuples, list) else "2048"
                yield _row(name, f"A model folder: {about}.", learned=True)
        yield _row("expectimax", "Looks ahead, and knows points and empty cells.", Expectimax2048)
        yield _row("mcts", "Monte-Carlo tree search: random games tell.", Mcts2048)
        yield _row("greedy", "Takes the largest reward.")
        yield _row("random", "Any legal move.")
        return
    if isinstance(held, EwnGame):
        yield _row("best", "Alpha-beta that reduces late moves; on ewn-6x7 the strongest.", Best)
        yield _row("hard", "The course's strong opponent: alpha-beta, eight moves deep.")
        yield _row("normal", "The course's middle opponent: two moves deep.")
    abouts = {
        "alphabeta": "Alpha-beta, expectimax where there is chance; deeper and deeper.",
        "mcs": "Monte-Carlo search: a bandit over the moves, no tree.",
        "mcts": "Monte-Carlo tree search with a bandit of your choice.",
    }
    for name, search in SEARCHES.items():
        yield _row(name, abouts[name], search)
    yield _row("easy", "Any legal move.")


def _row(
    agent: str, about: str, search: type[Mcts | AlphaBeta] | None = None, *, learned: bool = False
) -> dict[str, Any]:
    grows = search is not None and issubclass(search, Mcts)
    settings = [] if search is None else list(_settings(search))
    return {"agent": agent, "about": about, "learned": learned, "grows_tree": grows, "settings": settings}


def _settings(search: type) -> Iterator[dict[str, Any]]:
    for name, hint, each in setting_fields(search):
        kinds = [hint] if get_origin(hint) in (None, Literal) else list(get_args(hint))
        kinds = [kind for kind in kinds if kind is not NoneType]
        choices = [choice for kind in kinds for choice in get_args(kind)]
        kind = next((k for k in (bool, float, int) if k in kinds), str)
        if name == "ucb":
            choices = sorted(BANDITS)
        told = {"type": "choice", "choices": choices} if choices else {"type": kind.__name__}
        yield {"name": name, **told, "default": each.default, "about": SETTINGS.get(name, "")}


def list_runs(folder: str | Path = "runs") -> Listing:
    """The training runs in a folder, the newest first, each with its last line of metrics."""
    found = []
    home = Path(folder)
    for each in home.iterdir() if home.is_dir() else ():
        try:
            run = Run.load(as_run_folder(each))
            when = (each / "config.toml").stat().st_mtime
        except (OSError, ValueError):
            continue  # something else
        last = run.metrics[-1] if run.metrics else {}
        row = {
            "run": each.name,
            "net": run.method.net,
            "board": run.method.board,
            "learner": run.method.name,
            "games": run.games,
            "elapsed_s": run.elapsed_s,
            "mean_score": last.get("mean_score"),
            "max_score": last.get("max_score"),
        }
        found.append((when, each.name, row))
    rows = [row for _, _, row in sorted(found, key=lambda f: (-f[0], f[1]))]
    return Listing("runs", rows, {"folder": str(folder)})
