"""tuplet's games for OpenSpiel: importing this module registers them for `pyspiel.load_game`.

    tuplet_2048(board=3x3,spawn4=0.2)       2048:board=3x3,spawn4=0.2
    tuplet_ewn(board=4x4,cubes=3)           ewn:board=4x4,cubes=3
    tuplet_ewn_6x7                          ewn-6x7
    tuplet_game(game=file.py:NAME)          a user's game

Everything random is a chance node: the die, new tiles, and the initial arrangement. An action is the number of a move
in the kernels; player 0 is the side that is first by the rules. These are games in Python: OpenSpiel's own C++ games
are faster.
"""

from __future__ import annotations

from functools import cache, cached_property
from itertools import permutations
from math import factorial
from typing import Any

import numpy as np

from tuplet.adapters import missing
from tuplet.errors import UserError
from tuplet.games import protocol as generic
from tuplet.games.g2048.board import Board
from tuplet.games.game import Game
from tuplet.games.protocol import LONGEST, has_chance
from tuplet.games.registry import game as game_of

try:
    import pyspiel as pyspiel  # re-exported, so that the message below is seen
    from open_spiel.python.algorithms import mcts as mcts
    from open_spiel.python.observation import IIGObserverForPublicInfoGame
except ModuleNotFoundError as error:
    raise missing(error, "pyspiel", "openspiel") from None

Array = np.ndarray[Any, Any]
CHANCE, TERMINAL = int(pyspiel.PlayerId.CHANCE), int(pyspiel.PlayerId.TERMINAL)
Outcomes = list[tuple[int, float]]  # of chance: numbers and probabilities
EXPONENTS = 18  # an empty cell, and tiles up to 131072


def load(game: str | Game) -> Any:
    """A tuplet game as OpenSpiel's: `load("ewn:board=4x4,cubes=3")`."""
    game = game_of(game)
    return pyspiel.load_game(*_ADAPTERS.get(game.family, GameAdapter)(game).name)


def state_at(game: Any, position: Any) -> TupletState:
    """A state of a position, without a history."""
    state = TupletState(game)
    state._node = _Node((), position)
    return state


def _named(short_name: str, params: dict[str, Any]) -> Game:
    """The tuplet game that parameters name; default values are left out."""
    if short_name == "tuplet_game":
        return game_of(str(params.get("game", "")))
    usual = _PARAMETERS[short_name]
    settings = [f"{name}={value}" for name, value in params.items() if name in usual and value != usual[name]]
    base = {"tuplet_2048": "2048", "tuplet_ewn": "ewn", "tuplet_ewn_6x7": "ewn-6x7"}[short_name]
    return game_of(":".join([base, *filter(None, [",".join(settings)])]))


class GameAdapter:
    """What OpenSpiel asks of a game: names, bounds, chance and observations. This one is for users' games.

    A game may have chance nodes before its first position, its deals; a user's game starts as with seed 0.
    """

    deals: tuple[str, ...] = ()
    most_outcomes = 256
    most_points = 1e9  # of a game for one player
    longest = LONGEST  # moves

    def __init__(self, game: Any) -> None:
        self.game = game

    @property
    def name(self) -> tuple[str, dict[str, Any]] | tuple[str]:
        """The arguments of `pyspiel.load_game`."""
        return "tuplet_game", {"game": self.game.name}

    @property
    def has_chance(self) -> bool:
        """Whether there are chance nodes."""
        return bool(self.deals) or has_chance(self.game.rules)

    def deal_outcomes(self, dealt: tuple[int, ...]) -> Outcomes:
        """The outcomes of the next deal."""
        raise UserError(f"nothing is dealt in {self.game.name} after {dealt}")

    def deal_text(self, dealt: tuple[int, ...], outcome: int) -> str:
        """The outcome of a deal as text."""
        return f"{self.deals[len(dealt)]} {outcome}"

    def initial_position(self, dealt: tuple[int, ...]) -> Any:
        """The position once everything is dealt; None before."""
        return self.game.start() if len(dealt) == len(self.deals) else None

    def outcomes(self, position: Any) -> Outcomes:
        """The outcomes of chance in a position."""
        rules, words = position.rules, position.words
        count = generic.count_outcomes(rules, words)
        shares = ((n, float(generic.probability(rules, words, n))) for n in range(count))
        return [(n, share) for n, share in shares if share > 0]

    def outcome_text(self, position: Any, outcome: int) -> str:
        """An outcome as text."""
        return str(position.game.outcome_text(position.words, outcome))

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The parts of an observation, and their shapes."""
        return {"turn": (self.game.players,), "bits": (128,)}

    def observe(self, position: Any, parts: dict[str, Array]) -> None:
        """Write a position into the parts of an observation, which are zeros."""
        parts["turn"][position.sides.index(position.turn)] = 1
        words = np.array(position.words, "<u8").view(np.uint8)
        parts["bits"][:] = np.unpackbits(words, bitorder="little")


class Adapter2048(GameAdapter):
    """Two tiles before the first move, then one after each move. An outcome is twice the cell, and 1 more for a 4."""

    deals = ("tile", "tile")

    def __init__(self, game: Any) -> None:
        super().__init__(game)
        cells = game.rows * game.columns
        self.most_outcomes, self.longest = 2 * cells, 2 ** (cells + 1)  # each tile that appears adds 2 at least
        self.most_points = 2.0 * cells * self.longest

    @property
    def name(self) -> tuple[str, dict[str, Any]]:  # noqa: D102
        return "tuplet_2048", {"board": f"{self.game.rows}x{self.game.columns}", "spawn4": float(self.game.spawn4)}

    def _dealt(self, dealt: tuple[int, ...]) -> Any:
        board = Board(rows=self.game.rows, columns=self.game.columns)
        for outcome in dealt:
            board = board.place(outcome // 2, 4 if outcome % 2 else 2)
        return self.game.position(board, tile_due=len(dealt) < 2)

    def deal_outcomes(self, dealt: tuple[int, ...]) -> Outcomes:  # noqa: D102
        return self.outcomes(self._dealt(dealt))

    def deal_text(self, dealt: tuple[int, ...], outcome: int) -> str:  # noqa: D102
        return self.outcome_text(dealt, outcome)

    def initial_position(self, dealt: tuple[int, ...]) -> Any:  # noqa: D102
        return self._dealt(dealt) if len(dealt) == 2 else None

    def outcomes(self, position: Any) -> Outcomes:  # noqa: D102
        tiles = (text.split("@") + [share] for text, share in position.chance_outcomes().items())
        return [(2 * int(cell) + (tile == "4"), share) for tile, cell, share in tiles]

    def outcome_text(self, position: Any, outcome: int) -> str:  # noqa: ARG002, D102
        return f"{4 if outcome % 2 else 2}@{outcome // 2}"

    def shapes(self) -> dict[str, tuple[int, ...]]:  # noqa: D102
        return {"tiles": (EXPONENTS, self.game.rows, self.game.columns)}

    def observe(self, position: Any, parts: dict[str, Array]) -> None:  # noqa: D102
        for at, exponent in enumerate(position.exponents):
            parts["tiles"][exponent][divmod(at, position.columns)] = 1


@cache
def orders(cubes: int, first: int) -> list[tuple[int, ...]]:
    """The orders in which cubes can be placed."""
    return list(permutations(range(first, first + cubes)))


class AdapterEwn(GameAdapter):
    """Red's and Blue's arrangement, then the values of a known die; between moves the die."""

    def __init__(self, game: Any) -> None:
        super().__init__(game)
        self.deals = ("red", "blue", *["die"] * game.cycle)
        self.most_outcomes = factorial(game.cubes)
        # Each step adds 1 at least to row + column, or with the fourth direction to row + 2 columns.
        steps = 2 * game.cubes * (game.rows - 1 + (game.directions - 2) * (game.columns - 1))
        self.longest = steps * (2 if game.die == "chosen" else 1)

    @property
    def name(self) -> tuple[str]:  # noqa: D102
        name, _, settings = self.game.name.partition(":")
        return (f"tuplet_{name.replace('-', '_')}({settings})",)

    def deal_outcomes(self, dealt: tuple[int, ...]) -> Outcomes:  # noqa: D102
        count = self.most_outcomes if len(dealt) < 2 else self.game.cubes
        return [(n, 1 / count) for n in range(count)]

    def deal_text(self, dealt: tuple[int, ...], outcome: int) -> str:  # noqa: D102
        if len(dealt) >= 2:
            return f"die {outcome + self.game.first_cube}"
        order = orders(self.game.cubes, self.game.first_cube)[outcome]
        return f"{self.deals[len(dealt)]} {''.join(map(str, order))}"

    def initial_position(self, dealt: tuple[int, ...]) -> Any:  # noqa: D102
        if len(dealt) < len(self.deals):
            return None
        red, blue = (orders(self.game.cubes, self.game.first_cube)[n] for n in dealt[:2])
        return self.game.setup(red=red, blue=blue, die=[value + self.game.first_cube for value in dealt[2:]])

    def shapes(self) -> dict[str, tuple[int, ...]]:  # noqa: D102
        game = self.game
        shapes = {"turn": (2,), "cubes": (2 * game.cubes, game.rows, game.columns), "die": (game.cubes,)}
        return shapes | ({"coming": (game.cycle, game.cubes)} if game.cycle else {})

    def observe(self, position: Any, parts: dict[str, Array]) -> None:  # noqa: D102
        game = self.game
        parts["turn"][position.sides.index(position.turn)] = 1
        for (side, number), square in position.cubes.items():
            parts["cubes"][game.cubes * position.sides.index(side) + number - game.first_cube][square] = 1
        if position.die is not None:
            parts["die"][position.die - game.first_cube] = 1
        for at, number in enumerate(position.coming_die(game.cycle)):
            parts["coming"][at][number - game.first_cube] = 1


_ADAPTERS: dict[str, type[GameAdapter]] = {"2048": Adapter2048, "ewn": AdapterEwn}  # by family


class TupletGame(pyspiel.Game):  # type: ignore[misc]  # it says nothing of its types
    """A tuplet game."""

    short_name = ""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        self.tuplet_game = _named(self.short_name, params or {})
        self.adapter = _ADAPTERS.get(self.tuplet_game.family, GameAdapter)(self.tuplet_game)
        two = self.tuplet_game.players == 2
        info = pyspiel.GameInfo(
            num_distinct_actions=self.tuplet_game.actions,
            max_chance_outcomes=self.adapter.most_outcomes,
            num_players=2 if two else 1,
            min_utility=-1.0 if two else 0.0,
            max_utility=1.0 if two else self.adapter.most_points,
            utility_sum=0.0 if two else None,
            max_game_length=self.adapter.longest,
        )
        super().__init__(_type_of(self.short_name, self.adapter), info, params or {})

    def new_initial_state(self) -> TupletState:
        """The state before the first chance node."""
        return TupletState(self)

    def max_chance_nodes_in_history(self) -> int:
        """Chance may act between any two moves."""
        return len(self.adapter.deals) + int(self.max_game_length())

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Any:
        """What players see: everything."""
        if iig_obs_type is None or (iig_obs_type.public_info and not iig_obs_type.perfect_recall):
            return Observer(self, params)
        return IIGObserverForPublicInfoGame(iig_obs_type, params)


class _Node:
    """What was dealt, and the position once everything is. Immutable, so that a cloned state shares it: rules are
    large.
    """

    def __init__(self, dealt: tuple[int, ...], position: Any) -> None:
        self.dealt, self.position = dealt, position

    def __deepcopy__(self, _: Any) -> _Node:
        return self

    @cached_property
    def is_chance(self) -> bool:
        """True at a chance node."""
        return self.position is None or bool(self.position.is_chance)

    @cached_property
    def codes(self) -> list[int]:
        """The legal moves, in order; none where the game is over."""
        return [] if self.is_chance else sorted(self.position.legal_actions())

    @property
    def player(self) -> int:
        """0, 1, CHANCE or TERMINAL."""
        if self.is_chance:
            return CHANCE
        return int(self.position.sides.index(self.position.turn)) if self.codes else TERMINAL


class TupletState(pyspiel.State):  # type: ignore[misc]
    """A position, or the deals before the first one."""

    def __init__(self, game: TupletGame) -> None:
        super().__init__(game)
        self._node = _Node((), game.adapter.initial_position(()))
        self._reward = 0.0

    @property
    def position(self) -> Any:
        """The position; None until everything is dealt."""
        return self._node.position

    @property
    def _adapter(self) -> GameAdapter:
        return self.get_game().adapter  # type: ignore[no-any-return]

    def current_player(self) -> int:
        """0, 1, CHANCE or TERMINAL."""
        return self._node.player

    def is_terminal(self) -> bool:
        """True when the game is over."""
        return self._node.player == TERMINAL

    def _legal_actions(self, player: int) -> list[int]:  # noqa: ARG002
        return self._node.codes

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """The outcomes of chance, and their probabilities."""
        node, adapter = self._node, self._adapter
        return adapter.deal_outcomes(node.dealt) if node.position is None else adapter.outcomes(node.position)

    def _apply_action(self, action: int) -> None:
        node, adapter = self._node, self._adapter
        if node.position is None:
            dealt = (*node.dealt, action)
            self._node = _Node(dealt, adapter.initial_position(dealt))
        elif node.is_chance:
            self._node = _Node((), node.position.apply_outcome(adapter.outcome_text(node.position, action)))
        else:
            after = node.position.after(action)
            self._reward = float(getattr(after, "score", 0) - getattr(node.position, "score", 0))
            self._node = _Node((), after)

    def _action_to_string(self, player: int, action: int) -> str:
        node = self._node
        if player != CHANCE:
            return str(node.position.move_text(action))
        if node.position is None:
            return self._adapter.deal_text(node.dealt, action)
        return self._adapter.outcome_text(node.position, action)

    def returns(self) -> list[float]:
        """Points so far, or for two 1 won, 0 drawn or not over, -1 lost."""
        position = self.position
        if self.num_players() == 1:
            points = getattr(position, "score", None)
            return [float((position.result or 0) if points is None else points) if position else 0]
        if position is None or position.winner is None:
            return [0.0, 0.0]
        return [1.0, -1.0] if position.winner == position.sides[0] else [-1.0, 1.0]

    def rewards(self) -> list[float]:
        """The reward of the last move."""
        if self.num_players() == 1 and hasattr(self.position, "score"):
            return [self._reward]
        return self.returns()  # the result comes at the end

    def __str__(self) -> str:
        return _written(self)


def _written(state: TupletState) -> str:
    if state.position is None:
        dealt = " ".join(map(str, state._node.dealt))
        return f"{state.get_game().tuplet_game.name} to be dealt: {dealt or 'nothing yet'}"
    return str(state.position.notation)


class Observer:
    """What a player sees, as text and as a tensor: planes of tiles or cubes, the die, the side to move.

    Of a user's game, the bits of its two words.
    """

    def __init__(self, game: TupletGame, params: dict[str, Any] | None) -> None:
        if params:
            raise UserError(f"observations have no parameters (got {params})")
        shapes = game.adapter.shapes()
        sizes = [int(np.prod(shape)) for shape in shapes.values()]
        self.tensor = np.zeros(sum(sizes), np.float32)
        parts = np.split(self.tensor, np.cumsum(sizes)[:-1])
        self.dict = {name: part.reshape(shape) for (name, shape), part in zip(shapes.items(), parts, strict=True)}

    def set_from(self, state: TupletState, player: int) -> None:  # noqa: ARG002  # information is perfect
        """Write a state into the tensor."""
        self.tensor.fill(0)
        if state.position is not None:
            state.get_game().adapter.observe(state.position, self.dict)

    def string_from(self, state: TupletState, player: int) -> str:  # noqa: ARG002
        """A state as a line of text."""
        return _written(state)


_PARAMETERS: dict[str, dict[str, Any]] = {
    "tuplet_2048": {"board": "4x4", "spawn4": 0.1},
    "tuplet_ewn": {"board": "5x5", "cubes": 6, "die": "rolled", "directions": 3, "own": "yes", "cycle": 0},
    "tuplet_ewn_6x7": {},
    "tuplet_game": {"game": ""},
}
_TITLES = {
    "tuplet_2048": "2048 (tuplet)",
    "tuplet_ewn": "EinStein würfelt nicht! and its family (tuplet)",
    "tuplet_ewn_6x7": "EinStein würfelt nicht! on 6x7 with a known die (tuplet)",
    "tuplet_game": "A user's game (tuplet)",
}


def _type_of(short_name: str, adapter: GameAdapter | None) -> Any:
    """OpenSpiel's description of a game, before it is made (None) or after."""
    one = short_name == "tuplet_2048" or (adapter is not None and adapter.game.players == 1)
    dealt = adapter is None or adapter.has_chance
    kind = pyspiel.GameType
    return kind(
        short_name=short_name,
        long_name=_TITLES[short_name],
        dynamics=kind.Dynamics.SEQUENTIAL,
        chance_mode=(kind.ChanceMode.EXPLICIT_STOCHASTIC if dealt else kind.ChanceMode.DETERMINISTIC),
        information=kind.Information.PERFECT_INFORMATION,
        utility=kind.Utility.GENERAL_SUM if one else kind.Utility.ZERO_SUM,
        reward_model=kind.RewardModel.REWARDS if one else kind.RewardModel.TERMINAL,
        max_num_players=1 if one else 2,
        min_num_players=1 if one or short_name == "tuplet_game" else 2,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=_PARAMETERS[short_name],
        default_loadable=short_name != "tuplet_game",
    )


def _register() -> None:
    # Classes, not functions: the registry outlives Python and must not hold a last reference.
    for short_name in _PARAMETERS:
        _CLASSES[short_name] = type(short_name, (TupletGame,), {"short_name": short_name})
        if short_name not in pyspiel.registered_names():
            pyspiel.register_game(_type_of(short_name, None), _CLASSES[short_name])


_CLASSES: dict[str, type[TupletGame]] = {}
_register()
