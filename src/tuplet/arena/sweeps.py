"""`sweep_match` and `sweep_eval`: an agent, or a player of 2048, over a grid of its settings.

Points share their luck: with one seed they see the same starts and dice, or the same numbers of
games, so that they are compared game by game.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tuplet.agents.agent import agent_from
from tuplet.agents.g2048 import make_player
from tuplet.agents.specs import Spec, as_spec, trusted
from tuplet.arena.differences import paired_scores, paired_shares
from tuplet.arena.evaluate import GAMES, evaluate
from tuplet.arena.grids import Axis, label, points_of, template
from tuplet.arena.match import match
from tuplet.arena.results import Match
from tuplet.arena.sweep import GridPoint, PointResult, Sweep, kept_in_folder
from tuplet.arena.sweep_folder import SweepFolder
from tuplet.errors import UserError
from tuplet.games.g2048.statistics import score_interval
from tuplet.games.game import Game
from tuplet.games.registry import find_game
from tuplet.system.blocks import as_threads, cores
from tuplet.system.progress import Progress, ProgressOption, Watcher, watching
from tuplet.system.stop import Stop, Stopped
from tuplet.system.tables import plural


def sweep_match(
    agent: str | Spec,
    opponent: str | Spec,
    game: str | Game = "ewn-6x7",
    *,
    games: int = 1000,
    seed: int = 0,
    threads: int | None = None,
    out: str | Path | None = None,
    executor: Executor | None = None,
    progress: ProgressOption = None,
    stop: Stop | None = None,
) -> Sweep:
    """Let an agent play a match at every point of a grid, and tell which settings are better.

    Braces in the text of the agent, or of its opponent, hold the values: `mcts:c={0.2,0.6}`. All
    matches have the same starts and dice. With `out` the games are kept in that folder, a saved
    match for each point, and the same call goes on where it ended; values may be added to the
    grid. Games are played by all cores (`threads`), or by `executor`; everything else is as in
    `match`.
    """
    own, other = as_spec(agent), as_spec(opponent)
    ours, theirs = template(own.text, "agent"), template(other.text, "opponent", "opponent ")
    axes = (*ours.axes, *theirs.axes)
    held = find_game(game, trusted=trusted(own, other))
    if held.players != 2:
        raise UserError(f"{held.name} is for one player: tuplet sweep eval is for such")
    points = [
        (
            values,
            own._replace(text=ours.filled(values[: len(ours.axes)])),
            other._replace(text=theirs.filled(values[len(ours.axes) :])),
        )
        for values in points_of(axes)
    ]
    for each in {spec for _, *both in points for spec in both}:
        made = agent_from(each, held)  # refuses it now, not after hours
        getattr(made, "close", lambda: None)()
    grid = _Grid(
        axes, [GridPoint(values, a.text, b.text if theirs.axes else "") for values, a, b in points], games + games % 2
    )
    settings = {"game": held.name, "opponent": other.text, "seed": seed, "games": grid.games}
    threads = cores() if threads is None else as_threads(threads)

    def play(number: int, folder: SweepFolder | None, watch: Watcher) -> PointResult | None:
        _, a, b = points[number]
        save = None if folder is None else folder.place(label(axes, grid.points[number].values), ".jsonl")
        try:
            found = match(
                a,
                b,
                held,
                games=games,
                seed=seed,
                threads=threads,
                save=save,
                executor=executor,
                progress=watch,
                stop=stop,
            )
        except Stopped:
            return None
        return _of_match(found)

    kept = {"kind": "match", **settings}
    results = grid.play(play, out, kept, [f"{a.text} - {b.text}" for _, a, b in points], progress)
    pairs = plural(min(each.games for each in results) // 2, "pair")
    return kept_in_folder(
        Sweep(
            "match",
            f"{own.text} - {other.text}  {held.name}  {grid.games:,} games each",
            axes,
            grid.points,
            results,
            "share",
            paired_shares,
            {**settings, "agent": own.text},
            f"All points played the same {pairs} of games, and are compared pair by pair.",
            sum(each.games for each in results),
            grid.games * len(points),
            folder=None if out is None else Path(out),
        )
    )


def _of_match(found: Match) -> PointResult:
    report = found.as_json()
    keys = ("wins", "draws", "losses", "elo", "elo_ci95", "pairs", "forfeits")
    shares = [points / 2 for points in found.pair_points]
    facts = {"opponent": found.b, **{key: report[key] for key in keys}}
    return PointResult(found.score, found.ci95, found.games, shares, facts)


def sweep_eval(
    player: str | Spec,
    *,
    games: int = 1000,
    seed: int = 0,
    threads: int | None = None,
    spawn4: float | None = None,
    out: str | Path | None = None,
    executor: Executor | None = None,
    progress: ProgressOption = None,
    stop: Stop | None = None,
) -> Sweep:
    """Let a player of 2048 play at every point of a grid, and tell which settings are better.

    Braces in its text hold the values: `expectimax:depth={1,2},values=small`. With `out` the scores
    are kept in that folder, and the same call goes on where it ended; values may be added to the
    grid. Everything else is as in `evaluate`.
    """
    own = as_spec(player)
    form = template(own.text, "player")
    specs = [own._replace(text=form.filled(values)) for values in points_of(form.axes)]
    for each in specs:
        make_player(each, spawn4=spawn4)  # refuses it now
    pairs = zip(points_of(form.axes), specs, strict=True)
    grid = _Grid(form.axes, [GridPoint(values, spec.text) for values, spec in pairs], games)
    settings = {"seed": seed, "games": games, "spawn4": spawn4}
    threads = cores() if threads is None else as_threads(threads)

    def play(number: int, folder: SweepFolder | None, watch: Watcher) -> PointResult | None:
        spec = specs[number]
        lines = [] if folder is None else folder.results
        scores = [score for line in lines if line["point"] == spec.text for score in line["scores"]]
        known = len(scores)
        if known < games:

            def shifted(event: Progress) -> None:
                watch(event._replace(done=event.done + known, before=known))

            try:
                found = evaluate(
                    spec,
                    games=games - known,
                    first=known,
                    seed=seed,
                    threads=threads,
                    spawn4=spawn4,
                    executor=executor,
                    progress=shifted,
                    stop=stop,
                )
            except Stopped:
                found = None
            if found is not None:
                fresh = found.results.scores.tolist()
                if found.interrupted and spec.is_class:  # it is made anew for every ten games
                    fresh = fresh[: len(fresh) // GAMES * GAMES]
                scores += fresh
                if folder is not None and fresh:
                    folder.add({"point": spec.text, "scores": fresh})
        return _of_scores(scores[:games]) if scores else None

    kept = {"kind": "eval", **settings}
    results = grid.play(play, out, kept, [spec.text for spec in specs], progress)
    many = plural(min(each.games for each in results), "game")
    return kept_in_folder(
        Sweep(
            "eval",
            f"{own.text}  2048  {plural(games, 'game')} each",
            form.axes,
            grid.points,
            results,
            "score",
            paired_scores,
            {**settings, "player": own.text},
            f"All points played {many} with the same numbers, and are compared game by game.",
            sum(each.games for each in results),
            games * len(specs),
            folder=None if out is None else Path(out),
        )
    )


def _of_scores(scores: list[int]) -> PointResult:
    values = [float(score) for score in scores]
    facts = {"max_score": max(scores)}
    return PointResult(sum(values) / len(values), score_interval(values), len(scores), values, facts)


Play = Callable[[int, SweepFolder | None, Watcher], PointResult | None]


class _Grid:
    """The points of a grid, played one after the other, each on all cores."""

    def __init__(self, axes: tuple[Axis, ...], points: list[GridPoint], games: int) -> None:
        self.axes, self.points, self.games = axes, points, games

    def play(
        self,
        play: Play,
        out: str | Path | None,
        settings: dict[str, Any],
        specs: Sequence[str],
        progress: ProgressOption,
    ) -> list[PointResult]:
        """What came out of the points; of the first ones if it was stopped."""
        results: list[PointResult] = []
        with ExitStack() as stack:
            watch = stack.enter_context(watching(progress))
            folder = None
            if out is not None:
                folder = stack.enter_context(SweepFolder(Path(out), settings, specs).held())
            total = self.games * len(self.points)
            for number in range(len(self.points)):
                began = self.games * number
                now = label(self.axes, self.points[number].values)

                def tell(event: Progress, began: int = began, now: str = now) -> None:
                    if event.what != "games":
                        watch(event)
                        return
                    figures = {"now": now, **event.figures}
                    watch(
                        event._replace(
                            done=began + event.done, total=total, figures=figures, before=began + event.before
                        )
                    )

                outcome = play(number, folder, tell)
                if outcome is not None:
                    results.append(outcome)
                if outcome is None or outcome.games < self.games:
                    break
        if not results:
            raise Stopped("stopped before the first result")
        return results
