"""What answers look like: types that OpenAPI's schemas are made of. Answers may have more keys."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

Interval = list[float]  # its two ends, of 95 %


class GameRow(TypedDict):
    """A game."""

    game: str
    title: str
    sides: list[str]
    about: str


class Games(TypedDict):
    """The games there are."""

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
    """The agents of a game, and the one that is asked where none is named."""

    default: str
    agents: list[AgentRow]


class RunRow(TypedDict):
    """A training run, with its last figures."""

    run: str
    net: str
    board: str
    learner: str
    games: int
    elapsed_s: float
    mean_score: float | None
    max_score: float | None


class Runs(TypedDict):
    """The runs of the server's folder."""

    folder: str
    runs: list[RunRow]


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


class Dealt(TypedDict):
    """A position, and the stream of luck to go on with."""

    position: State
    luck: str


class Motion(TypedDict("_From", {"from": int})):
    """Where a tile of 2048 goes: cells are numbered row by row."""

    to: int
    merged: bool


class Played(TypedDict):
    """The position after a move; `after` is the one before chance acted."""

    position: State
    after: State | None
    apply_chance: str | None
    reward: int
    luck: str | None
    motion: NotRequired[list[Motion]]


class Move(TypedDict):
    """What a move is worth: points in 2048, else the probability to win."""

    move: str
    value: float | None
    legal: NotRequired[bool]
    reward: NotRequired[float | None]
    visits: NotRequired[int | None]
    ci95: NotRequired[Interval | None]
    proven: NotRequired[bool]


class Node(TypedDict):
    """A node of a search tree."""

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
    """The root of a tree, and what its values mean."""

    values: str
    nodes: int
    shown: int


class Grown(TypedDict):
    """A move as the search went on: lists as long as `simulations`."""

    visits: list[int]
    value: list[float | None]
    ci95: list[Interval | None]
    proven: list[bool]


class Growth(TypedDict):
    """How visits and values grew."""

    simulations: list[int]
    moves: dict[str, Grown]


class Analyzed(TypedDict):
    """What an agent thinks of a position."""

    best: str | None
    moves: list[Move]
    depth: NotRequired[int]
    line: NotRequired[list[str]]
    note: NotRequired[str]
    why: NotRequired[dict[str, dict[str, float]]]
    interrupted: NotRequired[bool]
    settings: NotRequired[dict[str, Any]]
    tree: NotRequired[Tree]
    growth: NotRequired[Growth]
    seconds: float


class Placement(TypedDict):
    """A tuple on a board, and its weight there."""

    cells: list[int]
    weight: float


class Tuple(TypedDict):
    """A tuple in all of its placements."""

    cells: list[int]
    value: float
    placements: list[Placement]


class Explained(TypedDict):
    """The tuples that make a value."""

    move: str
    reward: int
    value: float
    tuples: list[Tuple]


class Evaluated(TypedDict):
    """Some games of a player; `reached` and `ended` are shares of the games, by tile."""

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
    """A move of a game, judged."""

    number: int
    board: list[int]
    played: str
    best: str | None
    loss: float
    luck: float


class Reviewed(TypedDict):
    """A game gone through."""

    player: str
    score: int
    game: str
    judge: str
    moves: list[Judged]


class Read(TypedDict):
    """What was pasted; of a game each step is its move, chance's outcome, reward and notation."""

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
    """The token was right; the cookie is in the headers."""

    ok: bool
