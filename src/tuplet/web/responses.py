"""The types of the answers, from which the OpenAPI schemas are made. Answers may have more keys."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

Interval = list[float]  # the two ends of a 95 % interval


class GameRow(TypedDict):
    """A game."""

    game: str
    title: str
    sides: list[str]
    about: str


class Games(TypedDict):
    """The games."""

    games: list[GameRow]


class Setting(TypedDict):
    """A setting of an agent; `choices` where its type is choice."""

    name: str
    type: str
    choices: NotRequired[list[str]]
    default: Any
    about: str


class AgentRow(TypedDict):
    """An agent."""

    agent: str
    about: str
    learned: bool
    grows_tree: bool
    settings: list[Setting]


class Agents(TypedDict):
    """The agents of a game, and the default one."""

    default: str
    agents: list[AgentRow]


class RunRow(TypedDict):
    """A training run, with its last metrics."""

    run: str
    net: str
    board: str
    learner: str
    games: int
    elapsed_s: float
    mean_score: float | None
    max_score: float | None
    state: str


class Runs(TypedDict):
    """The runs in the server's folder; `train`: clients may start, stop and delete them."""

    folder: str
    train: bool
    runs: list[RunRow]


class Run(TypedDict):
    """A training run. `state` is running, stopped, finished or failed, with its `error`."""

    name: str
    game: str
    state: str
    games: int
    seconds: float
    moves_per_second: float | None
    settings: dict[str, Any]
    changes: list[dict[str, Any]]
    commands: list[str]
    error: str | None


class OneRun(TypedDict):
    """A run."""

    run: Run


class RunGame(TypedDict):
    """A game of a run's player: its record as text, points and largest tile of 2048, or the winner of games for two.

    `learned` is the number of games that the player has learned from.
    """

    record: str
    score: int | None
    tile: int | None
    winner: str | None
    learned: int


class Deleted(TypedDict):
    """The name of the run that was deleted."""

    deleted: str


class Curve(TypedDict):
    """A learning curve: lists of equal length. `low` and `high` are the 95 % interval of the mean, shares of tiles
    are per cent. For games for two, the mean is the score in evaluations, and there are no speeds and tiles.
    """

    games: list[int]
    seconds: list[float]
    mean: list[float]
    low: list[float]
    high: list[float]
    speed: list[int]
    tiles: dict[str, list[float]]


class RunAndCurve(TypedDict):
    """A run, its curve, and its evaluations by fresh games. `poll` is the seconds until the next look."""

    run: Run
    poll: int
    curve: Curve
    evaluations: list[dict[str, Any]]


class State(TypedDict):
    """A position of any game; 2048 also has score and tiles, EWN the die and its cubes."""

    game: str
    notation: str
    cells: list[list[str]]
    sides: list[str]
    turn: str | None
    caption: str
    legal_moves: list[str]
    is_chance: bool
    outcomes: dict[str, float]
    over: bool
    winner: str | None
    kind: str | None
    score: NotRequired[int]
    tiles: NotRequired[list[int]]
    spawn4: NotRequired[float]
    die: NotRequired[int | None]


class NewPosition(TypedDict):
    """A position, and the random state to play on with."""

    position: State
    rng: str


class Motion(TypedDict("_From", {"from": int})):
    """Where a tile of 2048 goes. Cells are numbered row by row."""

    to: int
    merged: bool


class Played(TypedDict):
    """The position after a move and chance; `after` is the one between them."""

    position: State
    after: State | None
    outcome: str | None
    reward: int
    rng: str | None
    motion: NotRequired[list[Motion]]


class Move(TypedDict):
    """The value of a move: points in 2048, else from 0 (lost) to 1 (won).

    ci95 is ± 1.96 standard errors of the simulations, as if these were independent: no interval of the true value.
    """

    move: str
    value: float | None
    legal: NotRequired[bool]
    reward: NotRequired[float | None]
    visits: NotRequired[int | None]
    ci95: NotRequired[Interval | None]
    proven: NotRequired[bool]
    ends_in: NotRequired[int]
    loss: NotRequired[float]
    band: NotRequired[str]


class Node(TypedDict):
    """A node of a search tree; ci95 as in a move."""

    move: str
    visits: int
    value: float | None
    ci95: Interval | None
    proven: bool
    side: str
    chance: float | None
    left_out: int
    children: list[Node]


class Tree(Node):
    """The root of a search tree."""

    values: str
    nodes: int
    shown: int


class SearchNode(TypedDict):
    """A node of a tree that grows step by step; values are those of the side that moves at the root."""

    node: int
    parent: int | None
    move: str
    chance: float | None
    side: str
    position: str
    visits: int
    value: float | None
    total: float
    proven: float | None


class SearchChoice(TypedDict):
    """A node on the path of a simulation: its children with the terms of the bandits, and which one is selected."""

    node: int
    side: str
    visits: int
    selected: int
    children: list[dict[str, Any]]
    would: dict[str, int]


class SearchStep(TypedDict):
    """What a simulation did."""

    number: int
    simulations: int
    path: list[int]
    choices: list[SearchChoice]
    expanded: list[SearchNode]
    playouts: list[dict[str, Any]]
    backup: list[dict[str, Any]]


class SearchSteps(TypedDict):
    """A search step by step: the tree before the first step, and the steps."""

    game: str
    position: str
    side: str
    settings: dict[str, Any]
    seed: int
    first: int
    tree: list[SearchNode]
    steps: list[SearchStep]
    done: bool


class MoveHistory(TypedDict):
    """A move during the search: lists as long as `simulations`."""

    visits: list[int]
    value: list[float | None]
    ci95: list[Interval | None]
    proven: list[bool]


class Growth(TypedDict):
    """How visits and values grew."""

    simulations: list[int]
    moves: dict[str, MoveHistory]


class Analyzed(TypedDict):
    """An agent's analysis of a position."""

    best: str | None
    moves: list[Move]
    depth: NotRequired[int]
    other_depth: NotRequired[int]
    line: NotRequired[list[str]]
    note: NotRequired[str]
    why: NotRequired[dict[str, dict[str, float]]]
    interrupted: NotRequired[bool]
    settings: NotRequired[dict[str, Any]]
    tree: NotRequired[Tree]
    growth: NotRequired[Growth]
    seconds: float


class Placement(TypedDict):
    """A tuple at one place of the board, and its weight there."""

    cells: list[int]
    weight: float


class Tuple(TypedDict):
    """A tuple in all of its placements."""

    cells: list[int]
    value: float
    placements: list[Placement]


class Explained(TypedDict):
    """The tuples whose weights add up to a value."""

    move: str
    reward: int
    value: float
    tuples: list[Tuple]


class NextTile(TypedDict):
    """A tile that may appear after a move, and the value of the state with it."""

    outcome: str
    probability: float
    value: float


class Choice(TypedDict):
    """A move as the player valued it: `value` is V(s'), or the expected V(s'') over `outcomes`."""

    move: str
    legal: bool
    reward: int
    tiles: list[int]
    value: float | None
    sum: float | None
    outcomes: list[NextTile]


class LookUp(TypedDict):
    """A table entry of the board that was learned from; `sums` are TC's E and A before and after."""

    tuple: int
    placement: int
    tiles: list[int]
    index: int
    times: int
    before: float
    after: float
    rate: float
    sums: NotRequired[list[float]]


class LearningStep(TypedDict):
    """A move, and the update of V from `before` to `updated`, towards `target`."""

    number: int
    tiles: list[int]
    move: str
    reward: int
    after: list[int]
    outcome: str
    before: float
    target: float
    following: float
    error: float
    updated: float
    best: NotRequired[str]
    choices: NotRequired[list[Choice]]
    look_ups: NotRequired[list[LookUp]]


class LearningSteps(TypedDict):
    """A game that was played and learned from; `tuples` are the cells of each placement of each tuple."""

    net: str
    tuples: list[list[list[int]]]
    learner: str
    target: str
    order: str
    alpha: float
    lam: float
    spawn4: float
    games: int
    seed: int
    start: list[int]
    end: list[int]
    score: int
    played: str
    steps: list[LearningStep]


class Roll(TypedDict):
    """An outcome of chance, the best move after it, and the probability that its mover wins."""

    outcome: str
    probability: float
    best: str
    value: float
    cells: list[list[str]]
    winner: str | None


class Part(TypedDict):
    """A table entry behind a value; `sums` are TC's E and A before and after."""

    name: str
    cells: list[int]
    before: float
    after: float
    rate: float
    sums: NotRequired[list[float]]


class SelfPlayStep(TypedDict):
    """A move, and the update of V from `before` to `updated`, towards `target`."""

    number: int
    cells: list[list[str]]
    turn: str
    outcome: str
    move: str
    random: bool
    before: float
    expected: float
    rest: float
    target: float
    error: float
    updated: float
    rolls: NotRequired[list[Roll]]
    parts: NotRequired[list[Part]]


class SelfPlaySteps(TypedDict):
    """A game of self-play that was learned from."""

    game: str
    net: str
    learner: str
    alpha: float
    lam: float
    games: int
    seed: int
    end: list[list[str]]
    winner: str | None
    steps: list[SelfPlayStep]


class Function(TypedDict):
    """A function's text, and the number of its first line."""

    line: int
    text: str


class Homework(TypedDict):
    """The functions of a file by name; methods are `Class.method`."""

    file: str
    functions: dict[str, Function]


class Evaluated(TypedDict):
    """Games of an agent; `reached` and `ended` are shares of the games by tile."""

    games: int
    mean_score: float
    ci95: Interval | None
    max_score: float
    mean_moves: float
    moves_per_s: float
    reached: dict[str, float]
    reached_ci95: dict[str, Interval]
    ended: dict[str, float]


class Judged(TypedDict):
    """A move of a reviewed game."""

    number: int
    board: list[int]
    played: str
    best: str | None
    loss: float
    luck: float


class Reviewed(TypedDict):
    """A reviewed game."""

    player: str
    score: int
    game: str
    judge: str
    moves: list[Judged]


class Read(TypedDict):
    """A position or a game. Each step of a game is a move, the outcome of chance, the reward and the notation."""

    kind: str
    game: str
    format: str
    position: State
    players: NotRequired[list[str]]
    start: NotRequired[str]
    steps: NotRequired[list[list[Any]]]
    record: NotRequired[str]


class Written(TypedDict):
    """A game as text."""

    text: str


class LoggedIn(TypedDict):
    """The token is right; the cookie is in the headers."""

    ok: bool
