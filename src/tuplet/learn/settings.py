"""The settings of a training run: how values are learned, and for how long.

Each setting is declared once: it is an argument in Python, an option of `tuplet train` with its help,
and a line of `config.toml`. (Slow imports are inside functions: `tuplet --help` imports this.)
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

import tomli_w

from tuplet.errors import UserError
from tuplet.system.files import atomic_write
from tuplet.system.settings import check, setting

if TYPE_CHECKING:
    from tuplet.learn.learners import Learner
    from tuplet.values.patterns import Tuple

_MOST_BYTES = 1 << 16  # of a config.toml
_WHOLE = 0.9  # from this share of a run on, all games are whole ones
# Settings of `Method` that only 2048 has.
ONLY_2048 = ("grow", "board", "stages", "target", "steps", "initial", "delay", "order", "restart", "spawn4")
CHANGES = ("alpha", "spawn4", "net")  # settings that may change during training; of net, tuples may be added
USUAL_GAMES = 100_000  # where neither games nor a budget is named


@dataclass(frozen=True, kw_only=True)
class Method:
    """How a network learns. None means: choose what suits the other settings."""

    game: str = setting("2048", "The game to learn.", hidden=True)
    net: str | None = setting(
        None,
        'The network: 4x6, 5x6, 8x6, 8g, 12g, 16g, 5x4, 4x5, 2x7, 2x8, or tuples ("0123 4567"). For other games than '
        '2048: blocks of cells ("2x3 3x2") and tuples ("0-1-5").',
        usual="4x6; on 2x2, 2x3, 3x2 and 3x3, tuples of all or most cells; for other games, the game's own",
    )
    grow: str = setting(
        "",
        'Tuples to add during training: "0.2:8g 0.5:0156ab" adds those of 8g after a fifth of the '
        "run and one more after half of it.",
        usual="none",
    )
    board: str = setting("4x4", "Rows and columns of the board, 2x2 to 4x4.")
    stages: str = setting(
        "", 'Use separate tables for the stages of a game, by the large tiles on the board: "16384 8192".', usual="none"
    )
    learner: str = setting(
        "tc",
        "The learning rule: tc (temporal coherence: each weight has its own learning rate), td "
        "(plain temporal differences), or your own (file.py:NAME).",
    )
    target: Literal["afterstate", "state"] = setting(
        "afterstate", "Learn the values of after-states, or of states (slower; for comparison)."
    )
    alpha: float | None = setting(
        None,
        "The learning rate, divided among the weights of a board.",
        above=0,
        most=1,
        usual="1.0 for tc, 0.1 for td; half of that for games for two",
    )
    schedule: str = setting(
        "constant",
        "How alpha changes during the run: constant, linear, cosine, or in steps: "
        '"0.5:0.1 0.9:0.01" takes a tenth of alpha after half of the run and a hundredth after '
        "nine tenths.",
    )
    gamma: float = setting(1.0, "The discount factor of later rewards.", least=0, most=1)
    lam: float | None = setting(
        None,
        "TD(lambda): 0 learns from the next move only, 1 from the whole rest of the game.",
        least=0,
        most=1,
        usual="0.5 for tc, 0 for td; 0 for other games with chance",
        option="lambda",
    )
    steps: int = setting(
        1, "n-step TD: how many rewards are summed before the value of a later board is used.", least=1, most=1000
    )
    initial: float = setting(
        0.0, "The value of every board before training (for an optimistic start: 320000).", least=-1e9, most=1e9
    )
    delay: float = setting(0.0, "With tc: the share of the run that is first trained by plain TD.", least=0, most=1)
    delay_alpha: float = setting(0.1, "The learning rate during --delay.", above=0, most=1)
    order: Literal["backward", "forward"] = setting(
        "backward", "Learn from each game after it, from its end (backward), or during it (forward)."
    )
    restart: bool = setting(
        False,
        "After each game, play again from its middle and learn from that too; repeat until the "
        "rest is short. Not done in the last tenth of the run.",
    )
    spawn4: float = setting(0.1, "The probability that a new tile is a 4.")
    ahead: int | None = setting(
        None,
        "For other games than 2048: moves that a target looks ahead, 1 or 2 (better values, several times slower).",
        least=1,
        most=2,
        usual="1",
    )
    explore: float | None = setting(
        None, "For other games than 2048: the probability of a random move in self-play.", least=0, most=1, usual="0.05"
    )
    opening: int | None = setting(
        None,
        "For other games than 2048: self-play begins with up to this many random moves.",
        least=0,
        most=1000,
        usual="6",
    )

    change: str = setting(
        "",
        'Changes during training: "5000:alpha=0.01 8000:net=8g" learns with a smaller alpha from game 5,000 on, and '
        "adds the tuples of 8g at game 8,000. alpha can change, and for 2048 spawn4 and net (more tuples).",
        usual="none",
    )

    def __post_init__(self) -> None:
        if self.game == "2048":
            self._complete_2048()
        else:
            self._complete_game()
        self._check_changes()

    def _complete_game(self) -> None:
        """Check the settings for another game than 2048, and fill in what is left open."""
        from tuplet.games import protocol
        from tuplet.games.registry import find_game
        from tuplet.learn.learners import learner_named
        from tuplet.values.game_network import encoding_of, parse_tuples

        check(self)
        game, learner = find_game(self.game), learner_named(self.learner)
        for each in fields(self):
            if each.name in ONLY_2048 and getattr(self, each.name) != each.default:
                raise UserError(f"--{each.name} is for 2048: leave it out to train {self.game}")
        encoding = encoding_of(game)
        lam = 0.0 if protocol.has_chance(game.rules) else learner.lam
        for name, default in {
            "net": encoding.net,
            "alpha": learner.alpha / game.players,
            "lam": lam if encoding.lam is None else encoding.lam,
            "ahead": encoding.ahead,
            "explore": 0.05,
            "opening": 6,
        }.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, default)
        parse_tuples(encoding, str(self.net))
        object.__setattr__(self, "learner", learner.name)  # a file must not name code
        schedule_of(self.schedule)

    def _complete_2048(self) -> None:
        from tuplet.games.g2048.board import as_size
        from tuplet.games.g2048.rules import as_share
        from tuplet.learn.learners import learner_named
        from tuplet.values.patterns import default_network, parse_stages

        check(self)
        learner = learner_named(self.learner)
        object.__setattr__(self, "learner", learner.name)  # a file must not name code
        defaults = {
            "net": default_network(as_size(self.board)) if self.net is None else self.net,
            "alpha": learner.alpha,
            "lam": learner.lam if self.order == "backward" and self.steps == 1 else 0.0,
        }
        for name, default in defaults.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, default)
        assert self.net is not None
        self.growth()
        parse_stages(self.stages)
        as_share(self.spawn4)
        schedule_of(self.schedule)
        forward = self.order == "forward"
        problems = {
            "--ahead is for other games than 2048": self.ahead is not None,
            "--explore is for other games than 2048": self.explore is not None,
            "--opening is for other games than 2048": self.opening is not None,
            f"delay must be less than 1 (got {self.delay:g})": self.delay == 1,
            "--delay needs TC: use --learner tc": self.delay and not learner.memory_per_weight,
            "--steps and --lambda cannot be combined: leave out one of them": self.steps > 1 and self.lam,
            "--lambda needs backward updates: leave out --order forward, or use --steps": forward and self.lam,
            "--restart needs backward updates: leave out --order forward": forward and self.restart,
        }
        for problem, occurs in problems.items():
            if occurs:
                raise UserError(problem)

    @property
    def name(self) -> str:
        """TD(0), TC(0.5), or 3-step TD."""
        name = self.learner.upper()
        return f"{name}({self.lam:g})" if self.steps == 1 else f"{self.steps}-step {name}"

    @property
    def registered(self) -> Learner:
        """The learner."""
        from tuplet.learn.learners import learner_named

        return learner_named(self.learner)

    def network(self) -> Any:
        """A new network for this method."""
        from tuplet.games.registry import find_game
        from tuplet.values.game_network import GameNetwork
        from tuplet.values.network import Network

        net: Any
        if self.game == "2048":
            net = Network(
                self.net,
                board=self.board,
                stages=self.stages,
                initial=self.initial,
                target=self.target,
                gamma=self.gamma,
                spawn4=self.spawn4,
            )
        else:
            net = GameNetwork(find_game(self.game), self.net, gamma=self.gamma)
        if self.registered.memory_per_weight:
            net.learner_memory(self.registered.memory, self.registered.memory_per_weight)
        return net

    def growth(self) -> list[tuple[float, list[Tuple]]]:
        """The network's tuples, and those that join later: from which share of the run on, which tuples."""
        from tuplet.games.g2048.board import as_size

        if self.game != "2048":
            return [(0.0, [])]
        return growth_of(str(self.net), self.grow, as_size(self.board))

    def count_numbers(self) -> int:
        """How many float32 numbers the network has at its largest, with the learner's memory."""
        from tuplet.games.registry import find_game
        from tuplet.values.game_network import encoding_of, parse_tuples
        from tuplet.values.patterns import parse_stages
        from tuplet.values.tables import stage_size

        floats = 1 + self.registered.memory_per_weight
        if self.game != "2048":
            return floats * sum(each.size for each in parse_tuples(encoding_of(find_game(self.game)), str(self.net)))
        stages = 1 << len(parse_stages(self.stages))
        largest = [self.growth()[-1][1], *self.added_tuples()][-1]
        return floats * stages * stage_size(largest, stages)

    def changes(self) -> list[Change]:
        """The changes during training, in their order."""
        return changes_of(self.change)

    def at(self, games: int) -> Method:
        """The method as it is from this number of games on, with the tuples of its beginning."""
        now = {name: value for each in self.changes() if each.games <= games for name, value in each.settings.items()}
        now.pop("net", None)
        return replace(self, change="", **now) if self.change else self

    def with_change(self, games: int, settings: Mapping[str, Any]) -> Method:
        """The method with other settings from this number of games on; UserError if they cannot change."""
        fixed = sorted(set(settings) - set(CHANGES))
        if fixed:
            raise UserError(f"{fixed[0]} cannot change during training: {', '.join(CHANGES)} can")
        for name, value in settings.items():
            if name == "net" and (not isinstance(value, str) or set(value) & {*":="} or not value.split()):
                raise UserError(f"net must be tuples to add, such as 8g or 0156ab (got {value!r})")
            if name != "net" and (not isinstance(value, int | float) or isinstance(value, bool)):
                raise UserError(f"{name} must be a number (got {value!r})")
        now = self.at(games)
        new = {name: value for name, value in settings.items() if name == "net" or value != getattr(now, name)}
        if not new:
            values = ", ".join(f"{name} {value}" for name, value in settings.items())
            raise UserError(f"nothing changes: the run has {values} already")
        steps = {each.games: dict(each.settings) for each in self.changes()}
        before = steps.get(games, {})
        if {"net"} <= before.keys() & new.keys():
            new["net"] = f"{before['net']} {new['net']}"
        steps[games] = {**before, **new}
        return replace(self, change=" ".join(str(Change(at, steps[at])) for at in sorted(steps)))

    def added_tuples(self) -> list[list[Tuple]]:
        """The network's tuples after each change of `net`."""
        from tuplet.games.g2048.board import as_size
        from tuplet.values.patterns import add_tuples, parse

        names = [each.settings["net"] for each in self.changes() if "net" in each.settings]
        if not names:
            return []
        size = as_size(self.board)
        tuples, added = parse(str(self.net), size), []
        for name in names:
            before = tuples
            for word in name.split():
                tuples = add_tuples(tuples, word, size)
            if tuples == before:
                raise UserError(f"{name} adds no tuple: the network has them already")
            added.append(tuples)
        return added

    def _check_changes(self) -> None:
        """UserError if a change is not possible."""
        changes = self.changes()
        if not changes:
            return
        for each in changes:
            for name in each.settings:
                if self.game != "2048" and name != "alpha":
                    raise UserError(f"{name} cannot change during training of {self.game}: only alpha can")
            if "net" in each.settings and self.grow:
                raise UserError("net cannot change during training with --grow: add its tuples there")
            self.at(each.games)  # checks the values
        self.added_tuples()

    def hyperparameters_at(self, progress: float, begun: bool = False) -> Any:
        """How to learn at this share of the run. A learner that has begun is not delayed any more."""
        import numpy as np

        from tuplet.learn.game_play import GameHyperparameters
        from tuplet.learn.learners import TD
        from tuplet.learn.td import Hyperparameters

        assert self.alpha is not None
        assert self.lam is not None
        progress = max(progress, self.delay) if begun else progress
        delayed = progress < self.delay
        alpha = self.delay_alpha if delayed else self.alpha
        learner = TD if delayed else self.registered
        rate, gamma = np.float32(alpha * schedule_of(self.schedule)(progress)), np.float32(self.gamma)
        if self.game != "2048":
            explore, opening = np.float64(self.explore or 0), np.int64(self.opening or 0)
            ahead = np.int64(self.ahead or 1)
            return GameHyperparameters(learner.rule, rate, gamma, np.float32(self.lam), ahead, explore, opening)
        return Hyperparameters(
            learner.rule,
            rate,
            gamma,
            self.order == "forward",
            np.float32(self.lam),
            self.steps,
            self.restart and progress < _WHOLE,
        )


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How long a run takes (games or time, whichever ends first), and how it is carried out."""

    games: int | None = setting(
        None,
        "Total games, including those before a resume.",
        least=1,
        most=10**12,
        usual=f"{USUAL_GAMES:,}, or no limit with --budget",
    )
    budget: float | None = setting(
        None,
        "Total time, including that before a resume: 60s, 10m, 2h. Also picks the recipe that "
        "learns most in that time, unless --recipe, --net, --grow, --board, --stages, --learner, "
        "--target, --initial, --delay, --order or --steps is given.",
        above=0,
        seconds=True,
        usual="no limit",
    )
    threads: int = setting(
        1,
        "Number of threads that train the same tables. With more than one, a run cannot be repeated exactly.",
        least=1,
        most=256,
        usual="1, or all cores with --budget",
    )
    tasks: int = setting(
        0,
        "Train this many learners separately, each with its own tables, and merge them in rounds. "
        "They run on --threads of this machine, or on a --cluster. The same number gives the same "
        "weights.",
        least=0,
        most=4096,
        usual="none, or one for each thread of the --cluster",
    )
    seed: int = setting(
        0,
        "Random seed. With --games and one thread, the same seed gives the same weight file to the byte.",
        least=0,
        most=2**63 - 1,
    )
    checkpoint: float = setting(300.0, "Time between checkpoints.", above=0, seconds=True, usual="5m")
    keep: int = setting(
        0,
        "How many of the latest checkpoints to keep, as checkpoints/GAMES.safetensors.",
        least=0,
        most=10**6,
        usual="only the last, as weights.safetensors",
    )
    evaluate: str = setting(
        "",
        "Evaluate during training and at its end: 1000@10m plays 1,000 games without learning "
        "every ten minutes, 200@5000 plays 200 every 5,000 games.",
        usual="none; 400@50000 for other games than 2048",
    )
    opponent: str | None = setting(
        None,
        "For games for two: the opponent of evaluations, random or playouts=N, which plays N random games for each "
        "move and takes the best.",
        usual="playouts=50",
    )
    serial: int = setting(1000, "With TC: games before a second thread starts.", least=0, hidden=True)
    block: int = setting(1000, "Games in a line of metrics.", least=1, most=10**7, hidden=True)
    given: bool = setting(False, "The run began with trained weights.", hidden=True)

    def __post_init__(self) -> None:
        from tuplet.learn.game_play import parse_opponent
        from tuplet.learn.self_play import parse_evaluate

        check(self)
        parse_evaluate(self.evaluate)
        if self.opponent is not None:
            parse_opponent(self.opponent)
        if self.games is None and self.budget is None:
            object.__setattr__(self, "games", USUAL_GAMES)

    def progress(self, games: int, elapsed_s: float) -> float:
        """The share of the run that is done: from 0 to 1."""
        shares = [0.0]
        if self.games is not None:
            shares.append(games / self.games)
        if self.budget is not None:
            shares.append(elapsed_s / self.budget)
        return min(max(shares), 1.0)


class MethodSettings(TypedDict, total=False):
    """The settings of `Method` by name, for editors and type checkers (`net` comes first)."""

    game: str
    grow: str
    board: str
    stages: str
    learner: str
    target: Literal["afterstate", "state"]
    alpha: float | None
    schedule: str
    gamma: float
    lam: float | None
    steps: int
    initial: float
    delay: float
    delay_alpha: float
    order: Literal["backward", "forward"]
    restart: bool
    spawn4: float
    ahead: int | None
    explore: float | None
    opening: int | None
    change: str


class ChangeableOptions(TypedDict, total=False):
    """Options that may change when a run is resumed. Times are seconds, or texts such as "10m"."""

    games: int | None
    budget: float | str | None
    threads: int
    tasks: int
    checkpoint: float | str
    keep: int
    evaluate: str
    opponent: str | None


class TrainSettings(MethodSettings, ChangeableOptions, total=False):
    """The keyword arguments of `train`."""

    seed: int
    serial: int
    block: int


class ResumeSettings(ChangeableOptions, total=False):
    """The keyword arguments of `resume`; `learner` and `game` say where the code of your own ones is."""

    learner: str
    game: str
    alpha: float | None
    spawn4: float
    net: str


def check_names(names: Iterable[str]) -> None:
    """UserError for a setting that does not exist, with the closest one that does."""
    known = [each.name for kind in (Method, RunOptions) for each in fields(kind)]
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
            raise UserError(f"unknown setting {name!r}: {hint}")


def split(settings: Mapping[str, Any], *, trusted: bool = False) -> tuple[Method, RunOptions]:
    """Settings as a method and options; UserError names one that does not exist.

    If they are trusted, a learner may be named by its code.
    """
    from tuplet.learn.learners import learner_named

    check_names(settings)
    if "game" in settings:
        settings = _with_game(dict(settings), trusted)
    if trusted and isinstance(settings.get("learner"), str):
        settings = {**settings, "learner": learner_named(settings["learner"], trusted=True).name}
    names = {kind: {each.name for each in fields(kind)} for kind in (Method, RunOptions)}
    return (
        Method(**{name: settings[name] for name in names[Method] & set(settings)}),
        RunOptions(**{name: settings[name] for name in names[RunOptions] & set(settings)}),
    )


def _with_game(settings: dict[str, Any], trusted: bool) -> dict[str, Any]:
    """The same settings with the game's own name; a board of `2048:board=3x3` becomes a setting."""
    from tuplet.games.registry import find_game

    game = find_game(settings["game"], trusted=trusted)
    if game.family != "2048":
        from tuplet.learn.game_play import EVALUATE

        settings.setdefault("evaluate", EVALUATE)
        if game.players == 2 and settings.get("opponent") is None:
            settings["opponent"] = "playouts=50"
        return {**settings, "game": game.name}
    own: Any = game
    board = f"{own.rows}x{own.columns}"
    if board != "4x4":
        settings.setdefault("board", board)
    if own.spawn4 != 0.1:
        settings.setdefault("spawn4", own.spawn4)
    return {**settings, "game": "2048"}


def save_settings(path: Path, method: Method, options: RunOptions) -> None:
    """Write `config.toml`."""
    values = {**asdict(method), **asdict(options)}
    if values["game"] == "2048":
        del values["game"]
    with atomic_write(path) as file:
        tomli_w.dump({name: value for name, value in values.items() if value is not None}, file)


def load_settings(path: Path) -> tuple[Method, RunOptions]:
    """Read `config.toml`."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise UserError(f"the file is larger than {_MOST_BYTES:,} bytes")
        settings = tomllib.loads(path.read_text(encoding="utf-8"))
        return split(settings)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UserError(f"{path} is not valid: {error}") from None
    except ValueError as error:
        raise UserError(f"{path}: {error}") from None


def schedule_of(text: str) -> Callable[[float], float]:
    """The factor of alpha, as a function of the share of the run that is done.

    "constant", "linear" (to 0), "cosine" (to 0, slowly at both ends), or steps "0.5:0.1 0.9:0.01":
    a tenth after half of the run, a hundredth after nine tenths.

    >>> schedule_of("0.5:0.1")(0.7)
    0.1
    """
    if text in _SHAPES:
        return _SHAPES[text]
    steps = steps_of(text)
    return lambda done: next((by for after, by in reversed(steps) if done >= after), 1.0)


_SHAPES: dict[str, Callable[[float], float]] = {
    "constant": lambda _: 1.0,
    "linear": lambda done: max(1 - done, 1e-3),
    "cosine": lambda done: max((1 + math.cos(math.pi * min(done, 1))) / 2, 1e-3),
}


def steps_of(schedule: str) -> list[tuple[float, float]]:
    """The steps of a schedule: from which share of the run on, and the factor of alpha.

    >>> steps_of("0.9:0.01 0.5:0.1"), steps_of("linear")
    ([(0.5, 0.1), (0.9, 0.01)], [])
    """
    if schedule in _SHAPES:
        return []
    try:
        parts = [step.split(":") for step in schedule.replace(",", " ").split()]
        steps = sorted((float(after), float(by)) for after, by in parts)
        valid = bool(steps) and all(0 <= after <= 1 and 0 < by <= 1 for after, by in steps)
    except (AttributeError, ValueError):
        valid = False
    if not valid:
        raise UserError(
            f"schedule must be {', '.join(_SHAPES)}, or steps such as 0.5:0.1 (a tenth of alpha after half of the run) "
            f"(got {schedule!r})"
        )
    return steps


class Change(NamedTuple):
    """Settings that change during training."""

    games: int  # before it
    settings: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.games}:{','.join(f'{name}={value}' for name, value in self.settings.items())}"

    def describe(self) -> str:
        """The settings in words."""
        names = {"alpha": "α", "net": "also"}
        return ", ".join(f"{names.get(name, name)} {value}" for name, value in self.settings.items())


def changes_of(text: str) -> list[Change]:
    """The changes that a text describes: a number of games, and settings from then on.

    >>> changes_of("5000:alpha=0.01 8000:spawn4=0.2,net=0156ab 012356")
    [Change(games=5000, settings={'alpha': 0.01}), Change(games=8000, settings={'spawn4': 0.2, 'net': '0156ab 012356'})]
    """
    changes: list[Change] = []
    try:
        for word in text.replace(",", " ").split():
            games, colon, rest = word.partition(":")
            if colon:
                changes.append(Change(int(games), {}))
            name, equals, value = (rest if colon else word).partition("=")
            settings = changes[-1].settings
            if not equals:  # another tuple
                settings["net"] += f" {name}"
            elif name not in CHANGES or name in settings:
                raise ValueError
            else:
                settings[name] = value if name == "net" else float(value)
        numbers = [each.games for each in changes]
        valid = numbers == sorted(set(numbers)) and all(0 <= number <= 10**12 for number in numbers)
    except (AttributeError, IndexError, KeyError, ValueError):
        valid = False
    if not valid:
        raise UserError(
            "change must be numbers of games in rising order, each with alpha, spawn4 or net, such as 5000:alpha=0.01 "
            f"or 8000:spawn4=0.2,net=8g (got {text!r})"
        )
    return changes


def growth_of(net: str, grow: str, size: tuple[int, int] = (4, 4)) -> list[tuple[float, list[Tuple]]]:
    """Which tuples a network has, from which share of the run on.

    Tuples that join have weights of 0: no board's value changes. `grow` has steps, each a share and
    the tuples that join then: a network's name (its tuples that are missing), or tuples, separated
    by spaces.

    >>> [(after, len(tuples)) for after, tuples in growth_of("4x6", "0.2:8g 0.5:0156ab 012356")]
    [(0.0, 4), (0.2, 8), (0.5, 10)]
    """
    from tuplet.values.patterns import add_tuples, parse

    steps: list[tuple[float, list[str]]] = []
    try:
        for word in grow.replace(",", " ").split():
            share, colon, name = word.partition(":")
            if colon:
                steps.append((float(share), []))
            steps[-1][1].append(name or share)
        shares = [after for after, _ in steps]
        valid = shares == sorted(set(shares)) and all(0 < after < 1 for after in shares)
    except (AttributeError, IndexError, ValueError):
        valid = False
    if not valid:
        raise UserError(
            "grow must be steps in rising order, such as 0.2:8g (after a fifth of the run, the tuples of 8g join) or "
            f"0.5:0156ab (got {grow!r})"
        )
    growth = [(0.0, parse(net, size))]
    for after, names in steps:
        tuples = growth[-1][1]
        for name in names:
            tuples = add_tuples(tuples, name, size)
        if tuples == growth[-1][1]:
            raise UserError(f"--grow {after:g}:{' '.join(names)} adds no tuple: the network has them already")
        growth.append((after, tuples))
    return growth
