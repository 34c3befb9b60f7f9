"""`compare`: which player of 2048 is better, by how much, and how certain is that?"""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from itertools import combinations
from pathlib import Path
from statistics import NormalDist, fmean
from typing import Any, NamedTuple

from tuplet.agents.agent import Agent, agent_from
from tuplet.agents.specs import Spec, name_of
from tuplet.arena.differences import ERROR, POWER, Difference, corrected, independent_scores
from tuplet.arena.evaluate import Evaluation, evaluate
from tuplet.errors import UserError
from tuplet.games.g2048.statistics import score_variance
from tuplet.learn.curves import common_name, group_by_method
from tuplet.learn.run import CONFIG, Run
from tuplet.system.bootstrap import improvement_interval, improvement_probability, interquartile_mean, iqm_interval
from tuplet.system.intervals import Interval, share_interval
from tuplet.system.progress import Progress, ProgressOption, watching
from tuplet.system.stop import Stop, Stopped
from tuplet.system.tables import Displayable, Table, TextTable, percent, plural, table_of
from tuplet.system.text import in_one_line
from tuplet.values.network import Network

MOST_TILES = 5  # the largest, in tables
_LENGTH_OPTIONS = ("games", "budget", "threads", "checkpoint", "keep", "evaluate")


class PlayerDifference(NamedTuple):
    """A's mean score minus B's."""

    a: str
    b: str
    difference: Difference
    points: float  # a difference that would matter
    games: int  # of each, that would detect it among all pairs

    @property
    def better(self) -> str | None:
        """The better player; None if the difference is not significant."""
        if not self.difference.significant:
            return None
        return self.a if self.difference.value > 0 else self.b

    @property
    def verdict(self) -> str:
        """In words."""
        if self.better is None:
            most = max(map(abs, self.difference.ci95))
            return (
                f"{self.a} and {self.b} do not differ significantly: at most {most:,.0f} points lie between them; "
                f"about {self.games:,} games of each would detect {self.points:,.0f} points"
            )
        worse = self.b if self.better == self.a else self.a
        sign, value = (1 if self.better == self.a else -1), abs(self.difference.value)
        low, high = sorted(sign * end for end in self.difference.ci95)
        return f"{self.better} is better than {worse} by {value:,.0f} points ({low:,.0f} to {high:,.0f})"

    def as_json(self) -> dict[str, Any]:
        """What `--json` says of the pair."""
        value, ci95, _, p, p_holm = self.difference
        return {
            "a": self.a,
            "b": self.b,
            "difference": value,
            "ci95": list(ci95),
            "p": p,
            "p_holm": p_holm,
            "better": self.better,
            "verdict": self.verdict,
            "games_to_tell": {"points": self.points, "games": self.games},
        }


class MethodScore(NamedTuple):
    """Runs of one method that differ in their seeds: the interquartile mean of their mean scores."""

    method: str
    runs: list[str]
    iqm: float
    ci95: Interval  # by bootstrap


class Improvement(NamedTuple):
    """The probability that a run of method A scores more than a run of method B."""

    a: str
    b: str
    probability: float
    ci95: Interval  # by bootstrap


@dataclass(frozen=True, repr=False)
class Comparison(Displayable):
    """Players, their evaluations, and the difference of every two."""

    names: list[str]  # short and distinct
    evaluations: list[Evaluation]
    settings: dict[str, list[str]]  # those that differ, with a value for each player
    seeds: dict[str, list[int]] = field(default_factory=dict)  # methods, with the numbers of two or more players
    skipped: Sequence[tuple[str, str]] = ()  # of a folder: what does not play, and why

    @property
    def interrupted(self) -> bool:
        """Whether it ended early."""
        return any(each.interrupted for each in self.evaluations)

    @property
    def differences(self) -> list[PlayerDifference]:
        """Of every two players, in the order they were named."""
        scores: list[list[float]] = [each.results.scores.tolist() for each in self.evaluations]
        pairs = list(combinations(range(len(scores)), 2))
        points = _round(0.02 * max(map(fmean, scores)))
        # As strict as Holm is to the smallest p-value, which has all others against it.
        quantiles = NormalDist().inv_cdf(1 - ERROR / len(pairs) / 2) + NormalDist().inv_cdf(POWER)
        differences = []
        known = corrected([independent_scores(scores[i], scores[j]) for i, j in pairs])
        for (i, j), each in zip(pairs, known, strict=True):
            variance = score_variance(scores[i]) + score_variance(scores[j])
            games = max(int(_round(quantiles**2 * variance / points**2, 2)), 2)
            differences.append(PlayerDifference(self.names[i], self.names[j], each, points, games))
        return differences

    @property
    def methods(self) -> list[MethodScore]:
        """Of runs that differ only in their seeds, two or more."""
        return [
            MethodScore(
                method,
                [self.names[i] for i in numbers],
                float(interquartile_mean(self._means(numbers))),
                iqm_interval([self._means(numbers)]),
            )
            for method, numbers in self.seeds.items()
        ]

    @property
    def improvements(self) -> list[Improvement]:
        """Of every two methods."""
        known = {method: [self._means(numbers)] for method, numbers in self.seeds.items()}
        return [
            Improvement(a, b, improvement_probability(known[a], known[b]), improvement_interval(known[a], known[b]))
            for a, b in combinations(known, 2)
        ]

    def _means(self, numbers: list[int]) -> list[float]:
        return [self.evaluations[i].summary.mean_score for i in numbers]

    @property
    def _order(self) -> list[int]:
        """The players from best to worst."""
        means = [each.summary.mean_score for each in self.evaluations]
        return sorted(range(len(means)), key=lambda i: -means[i])

    def as_json(self) -> dict[str, Any]:
        """Players from best to worst, and every pair."""
        return {
            "players": [
                {"player": self.evaluations[i].player, "name": self.names[i], **self.evaluations[i].as_json()}
                for i in self._order
            ],
            "pairs": [each.as_json() for each in self.differences],
            "methods": [each._asdict() for each in self.methods],
            "improvements": [each._asdict() for each in self.improvements],
            "settings": {name: dict(zip(self.names, values, strict=True)) for name, values in self.settings.items()},
            **({"skipped": [{"name": name, "why": why} for name, why in self.skipped]} if self.skipped else {}),
        }

    def table(self) -> Table:
        """A row for each player, with the shares of the same tiles."""
        keys = ("player", "name", "games", "mean_score", "ci95", "max_score")
        rows = [
            {key: player[key] for key in keys}
            | {"reached": {str(tile): self._share(i, tile) for tile in self._tiles()}}
            for i, player in zip(self._order, self.as_json()["players"], strict=True)
        ]
        return table_of(rows)

    def text_tables(self) -> list[TextTable]:
        """Means and tiles, differences with intervals, verdicts, and settings that differ."""
        tiles, differences = self._tiles(), self.differences
        several = len(differences) > 1
        rows = []
        for i in self._order:
            mean, (low, high) = self.evaluations[i].summary.mean_score, self.evaluations[i].ci95
            shares = [percent(self._share(i, tile)) for tile in tiles]
            rows.append([self.names[i], f"{mean:,.0f}", f"{low:,.0f} to {high:,.0f}", *shares])
        games = max(each.summary.games for each in self.evaluations)
        title = f"{len(self.names)} players  {plural(games, 'game')} each"
        text_tables = [TextTable(title, ["player", "mean score", "95 %", *map(str, tiles)], rows, strong=(1,))]
        rows = []
        for a, b, (value, (low, high), _, _, p), *_ in differences:
            p_text = "< 0.001" if p < 0.001 else f"{p:.3f}"
            rows.append([f"{a} - {b}", f"{value:+,.0f}", f"{low:+,.0f} to {high:+,.0f}", p_text])
        columns = ["difference", "points", "95 %", "p (Holm)" if several else "p"]
        rows += [] if several else self._share_differences(tiles)
        notes = [each.verdict + "." for each in differences]
        if several:
            notes.append("Each interval is of its pair alone; p takes the number of pairs into account.")
        notes += [f"{name} does not play: {why}" for name, why in self.skipped]
        text_tables.append(TextTable("", columns, rows, notes, strong=(1,)))
        if self.seeds:
            text_tables += self._seed_tables()
        if self.settings:
            rows = [[name, *values] for name, values in self.settings.items()]
            words = range(len(self.names) + 1)
            text_tables.append(TextTable("", ["settings", *self.names], rows, words=words))
        return text_tables

    def _seed_tables(self) -> list[TextTable]:
        """Methods over seeds, and the probability that one is better than another."""
        rows = [
            [method, str(len(runs)), f"{iqm:,.0f}", f"{low:,.0f} to {high:,.0f}"]
            for method, runs, iqm, (low, high) in self.methods
        ]
        columns = ["over seeds", "runs", "interquartile mean", "95 %"]
        notes = [
            f"A run of {a} is better than one of {b} with probability {percent(p)} "
            f"({100 * low:.0f} to {100 * high:.0f} %)."
            for a, b, p, (low, high) in self.improvements
        ]
        return [TextTable("", columns, rows, notes, strong=(2,))]

    def _share(self, i: int, tile: int) -> float:
        """The share of a player's games with a tile. (A summary leaves out tiles that all games have.)"""
        reached = self.evaluations[i].summary.reached
        return reached.get(tile, float(tile < min(reached)))

    def _tiles(self) -> list[int]:
        """The largest tiles that some games have, and not nearly all."""
        tiles = sorted({tile for each in self.evaluations for tile in each.summary.reached})
        players = range(len(self.names))
        return [t for t in tiles if min(self._share(i, t) for i in players) < 0.995][-MOST_TILES:]

    def _share_differences(self, tiles: list[int]) -> list[list[str]]:
        """Differences of two players' shares, by tile, from the intervals of both (Newcombe 1998)."""
        rows = []
        for tile in tiles:
            parts = []
            for i in (0, 1):
                share, games = self._share(i, tile), self.evaluations[i].summary.games
                parts.append((share, *share_interval(round(share * games), games)))
            (p, low_p, high_p), (q, low_q, high_q) = parts
            low = p - q - math.hypot(p - low_p, high_q - q)
            high = p - q + math.hypot(high_p - p, q - low_q)
            interval = f"{100 * low:+.1f} to {100 * high:+.1f}"
            rows.append([f"games with {tile}", f"{100 * (p - q):+.1f} %", interval, ""])
        return rows

    def __repr__(self) -> str:
        return f"<Comparison: {'; '.join(each.verdict for each in self.differences)}>"


def compare(
    *players: Network | Run | Agent | str | Path | Spec | type,
    folder: str | Path | None = None,
    games: int = 1000,
    threads: int = 1,
    seed: int = 0,
    spawn4: float | None = None,
    depth: int | None = None,
    time: float | None = None,
    downgrade: int | None = None,
    executor: Executor | None = None,
    progress: ProgressOption = None,
    stop: Stop | None = None,
) -> Comparison:
    """Evaluate players, and say which is better, by how much, and how certain that is.

    Players are what `evaluate` takes, and runs. Each plays the games of `evaluate` with the same seed. After a few
    moves these have nothing in common: they are compared as independent samples (Welch), and with a correction if
    there are more than two players (Holm). `folder` adds all players of a folder (see `players_in`); this runs the code
    of its Python files.
    """
    skipped: list[tuple[str, str]] = []
    if folder is not None:
        more, skipped = players_in(folder)
        players += tuple(more)
    if len(players) < 2:
        raise UserError(f"compare needs two or more players (got {len(players)})")
    texts = [_player(each) for each in players]
    for each in texts:  # refuses them now, not after hours
        agent_from(each, "2048", seed, depth=depth, time=time, downgrade=downgrade, spawn4=spawn4)
    names = _names(texts)
    done: list[Evaluation] = []
    options: dict[str, Any] = {"games": games, "threads": threads, "seed": seed, "spawn4": spawn4, "depth": depth}
    options |= {"time": time, "downgrade": downgrade, "executor": executor, "stop": stop or Stop()}
    with watching(progress) as watch, suppress(Stopped):
        for player in texts:

            def report(event: Progress, before: int = len(done) * games, now: str = names[len(done)]) -> None:
                watch(event.within(before, len(texts) * games, now=now))

            done.append(evaluate(player, progress=report, **options))
    compared = [i for i, each in enumerate(done) if each.summary.games > 1]
    if len(compared) < 2:
        raise Stopped("stopped before two players had played games to compare")
    runs = [_run(players[i]) for i in compared]
    evaluations = [done[i] for i in compared]
    return Comparison([names[i] for i in compared], evaluations, _settings(runs), _seeds(runs), skipped)


def players_in(folder: str | Path) -> tuple[list[str], list[tuple[str, str]]]:
    """The players of 2048 in a folder, and what was skipped, with the reason.

    Run folders, model folders and weight files are players, and classes with `choose` in Python files. Names that begin
    with a dot or an underscore are left out.
    """
    if not Path(folder).is_dir():
        raise UserError(f"{folder} is not a folder of players")
    players: list[str] = []
    skipped: list[tuple[str, str]] = []
    for path in sorted(Path(folder).iterdir(), key=lambda each: each.name):
        if path.name.startswith((".", "_")):
            continue
        found = [str(path)]
        try:
            if path.suffix == ".py":
                found = [f"{path}:{name}" for name in _player_classes(path)]
                if not found:
                    raise UserError("it has no class with a method choose")
            for text in found:
                agent_from(text, "2048")
        except (OSError, ValueError, SyntaxError) as error:
            skipped.append((path.name, in_one_line(str(error))))
        else:
            players += found
    return players, skipped


def _player_classes(file: Path) -> list[str]:
    """The names of the classes in a Python file that choose moves; the file is read, not run."""
    nodes = [node for node in ast.parse(file.read_bytes()).body if isinstance(node, ast.ClassDef)]
    return [
        node.name
        for node in nodes
        if any(isinstance(each, ast.FunctionDef) and each.name == "choose" for each in node.body)
    ]


def _player(player: Any) -> Any:
    if isinstance(player, Run):
        return player.network if player.folder is None else str(player.folder)
    return str(player) if isinstance(player, Path) else player


def _names(players: Sequence[Any]) -> list[str]:
    """Short names: the last part of a path, where these are distinct."""
    full = [each if isinstance(each, str) else name_of(each) for each in players]
    short = [Path(name).name if Path(name).exists() else name for name in full]
    if len(set(full)) < len(full):
        return [f"{name} ({number})" for number, name in enumerate(short, 1)]
    return short if len(set(short)) == len(short) else full


def _run(player: Any) -> Run | None:
    """The run that a player is, or that a folder has."""
    if isinstance(player, str | Path) and (Path(player) / CONFIG).is_file():
        return Run.load(player)
    return player if isinstance(player, Run) else None


def _seeds(players: Sequence[Run | None]) -> dict[str, list[int]]:
    """The methods of two or more runs that differ only in their seeds, with the numbers of the players."""
    runs = {id(run): number for number, run in enumerate(players) if run is not None}
    groups = [
        group
        for group in group_by_method([run for run in players if run is not None])
        if len(group) == len({run.options.seed for run in group}) > 1  # a run twice is one run
    ]
    names = [common_name(group) for group in groups]
    return {
        name if names.count(name) == 1 else f"{name} ({place})": [runs[id(run)] for run in group]
        for place, (name, group) in enumerate(zip(names, groups, strict=True), 1)
    }


def _settings(players: Sequence[Run | None]) -> dict[str, list[str]]:
    """The training settings in which the players that are runs differ."""
    known: list[dict[str, Any]] = []
    for run in players:
        if run is None:
            known.append({})
            continue
        options = {k: v for k, v in asdict(run.options).items() if k not in _LENGTH_OPTIONS}
        known.append({**asdict(run.method), **options, "games trained": f"{run.games:,}"})
    names = dict.fromkeys(name for each in known for name in each)
    values = {name: [str(each.get(name, "-")) for each in known] for name in names}
    return {name: each for name, each in values.items() if len({*each} - {"-"}) > 1}


def _round(value: float, digits: int = 1) -> float:
    """A number rounded to `digits` significant digits: 1,400 to 1,000."""
    if value <= 1:
        return 1.0
    scale = 10.0 ** (math.floor(math.log10(value)) + 1 - digits)
    return round(value / scale) * scale
