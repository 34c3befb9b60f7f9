"""Games of the tests' own, with chance that passes the turn, ends games, and draws them."""

from typing import NamedTuple

import numpy as np

from tuplet import Game, register_game
from tuplet.games.protocol import NO_WINNER, ONGOING
from tuplet.kernel import inlined

U = np.uint64
ZERO, ONE, BYTE = U(0), U(1), U(255)


class Race(NamedTuple):
    """Who has `goal` points first wins; where both lack one point, it is a draw.

    A player takes a die: the steady one gives 1 or 2 points, then the other side moves; the wild
    one gives 2 points and another move, or 1 point to the other side, who moves.
    """

    goal: int


@inlined
def side(game, position):
    return np.int64(position[1] & ONE)


@inlined
def is_chance(game, position):
    return (position[1] >> U(1)) != ZERO


@inlined
def legal(game, position, moves, start):
    moves[start], moves[start + 1] = 1, 2
    return 2


@inlined
def apply(game, position, move):
    return position[0], position[1] | (U(move) << ONE)


@inlined
def count_outcomes(game, position):
    return 2


@inlined
def probability(game, position, n):
    return 0.75 if n == 0 else 0.25


@inlined
def apply_outcome(game, position, n):
    own, wild = position[1] & ONE, (position[1] >> ONE) == U(2)
    if not wild:
        return position[0] + (U(n + 1) << (U(8) * own)), own ^ ONE
    if n == 1:
        return position[0] + (U(2) << (U(8) * own)), own
    return position[0] + (ONE << (U(8) * (own ^ ONE))), own ^ ONE


@inlined
def ending(game, position):
    first, second = position[0] & BYTE, (position[0] >> U(8)) & BYTE
    if first == second and first == U(game.goal - 1):
        return 3
    if max(first, second) < U(game.goal):
        return ONGOING
    return 1 if first > second else 2


@inlined
def winner(game, ended):
    return NO_WINNER if ended in (ONGOING, 3) else ended - 1


register_game(
    Race,
    2,
    side=side,
    is_chance=is_chance,
    legal=legal,
    apply=apply,
    count_outcomes=count_outcomes,
    probability=probability,
    apply_outcome=apply_outcome,
    ending=ending,
    winner=winner,
)


class RaceGame(Game):
    """With outcomes that are written as numbers are not."""

    def outcome_text(self, words, outcome):
        return f"0{outcome}"


RACE = RaceGame(Race(5), "race")


class Solo(NamedTuple):
    """For one: roll a die, then take what it shows, or roll once more, up to three times."""

    faces: int


@inlined
def solo_side(game, position):
    return 0


@inlined
def solo_chance(game, position):
    return position[0] == ZERO


@inlined
def solo_legal(game, position, moves, start):
    moves[start], moves[start + 1] = 0, 1
    return 1 if position[1] == U(2) else 2


@inlined
def solo_apply(game, position, move):
    return (position[0], U(9)) if move == 0 else (ZERO, position[1] + ONE)


@inlined
def solo_outcomes(game, position):
    return game.faces


@inlined
def solo_probability(game, position, n):
    return 1.0 / game.faces


@inlined
def solo_roll(game, position, n):
    return U(n + 1), position[1]


@inlined
def solo_ending(game, position):
    return 1 if position[1] == U(9) else ONGOING


@inlined
def solo_winner(game, ended):
    return NO_WINNER


@inlined
def solo_payoff(game, position, ended, rich):
    return np.float64(position[0])


@inlined
def solo_players(game):
    return 1


@inlined
def solo_range(game):
    return 0.0, game.faces + 1.0


register_game(
    Solo,
    2,
    players=solo_players,
    side=solo_side,
    is_chance=solo_chance,
    legal=solo_legal,
    apply=solo_apply,
    count_outcomes=solo_outcomes,
    probability=solo_probability,
    apply_outcome=solo_roll,
    ending=solo_ending,
    winner=solo_winner,
    payoff=solo_payoff,
    value_range=solo_range,
)


class SoloGame(Game):
    sides = ("me",)

    def move_text(self, words, code):
        return ("stop", "again")[code]


SOLO = SoloGame(Solo(6), "solo")
