"""The rules of EinStein würfelt nicht! and its relatives, as kernels.

Two sides, Red (0) and Blue (1), move their cubes towards the opposite corner: Red to the bottom
right, Blue to the top left. The die names the cube to move; if it is gone, the nearest lower or
the nearest higher number that is left moves, as the player likes. Whatever stands on the target
square leaves the board. The side that reaches the corner, or leaves its opponent without cubes, wins.
Two variants, played on Little Golem and by Lorentz (2011): a cube that enters the black hole in the middle is lost;
cubes may go backwards to capture.

A position is two words, a byte for each cube: its square, row by row from the top left, or GONE.

    byte        7      6     5  4  3  2  1  0
    red        ply   GONE    cubes of Red
    blue       die   GONE    cubes of Blue

`ply` counts moves, modulo the period after which the die and the side to move repeat; its lowest
bit is the side to move. `die` is a cube's number from 0, ANY, or UNKNOWN before the roll.

A move is `cube << 3 | direction`; directions are numbered horizontal (0), vertical (1), diagonal
forward (2), and the fourth, right-up for Red and left-down for Blue (3). 4 to 7 are the same steps backwards.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from tuplet.games.protocol import MOST_MOVES, NO_STEP, NO_WINNER, ONGOING, Int, Words, register_game
from tuplet.kernel import draw, inlined, kernel, local_array, pext, popcount

Array = np.ndarray[Any, Any]

Side = Literal["red", "blue"]
SIDES: tuple[Side, Side] = ("red", "blue")

RED, BLUE = range(2)
CYCLE, ROLLED, CHOSEN, FREE = range(4)  # kinds of dice
RED_CORNER, RED_ALL, BLUE_CORNER, BLUE_ALL = range(1, 5)  # endings; ALL: by elimination
ANY, UNKNOWN = 6, 7  # dice that are no number
CHOICE = 64  # a move: the die chosen for the opponent is `move - CHOICE`
MOST_CUBES = 6
STRIDE = 9  # distances are 0 to 8

GONE = np.uint64(0x7F)
EMPTY = 0x7F7F7F7F7F7F7F  # a word without cubes
_BYTE = np.uint64(0xFF)
_ONES = np.uint64(0x0000010101010101)
_HIGHS = np.uint64(0x0000808080808080)
_SEVENS = np.uint64(0x00007F7F7F7F7F7F)
_CUBES = np.uint64(0x0000FFFFFFFFFFFF)
_NOBODY = np.uint64(0x007F000000000000)  # byte 6: a seventh cube that is always gone
_REST = np.uint64(0xFFFF000000000000)
_TOP = np.uint64(56)
_ZERO, _ONE, _SEVEN, _EIGHT = np.uint64(0), np.uint64(1), np.uint64(7), np.uint64(8)
_WINS = np.uint64(0x80)  # in `ways`: a step from here reaches the goal
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


class EwnRules(NamedTuple):
    """The parameters of a game and the tables that make it fast.

    Tables over squares have 128 entries a side: Red's squares from 0, Blue's from 128, GONE last.
    """

    rows: int
    columns: int
    cubes: int  # of each side
    die: int  # CYCLE, ROLLED, CHOSEN or FREE
    own_captures: bool
    backward: bool  # whether cubes may capture backwards
    hole: np.uint64  # the square that swallows cubes; GONE if there is none
    red_goal: np.uint64
    blue_goal: np.uint64
    period: np.uint64
    cycle: Array  # uint8[period]: the die at each ply
    targets: Array  # uint8[2 * 128 * 8]: where direction d leads, or GONE
    steps: Array  # uint8[2 * 128 * 8]: the same, without gaps
    ways: Array  # uint8[2 * 128]: how many steps; _WINS if one reaches the goal
    movable: Array  # uint8[64 * 8]: by cubes gone and die: lower cube | higher << 4, 6 for none
    distance: Array  # uint8[2 * 128]: steps to the goal
    arrival: Array  # uint8[64 * turns * 6 * STRIDE]: see `fill_arrival`
    turns: np.uint64


@inlined
def _on(cubes: np.uint64, square: np.uint64) -> np.uint64:
    """The highest bit of the byte of each cube that stands on a square."""
    differ = (cubes & _CUBES) ^ (square * _ONES)
    return ~(differ + _SEVENS) & _HIGHS


@inlined
def without(cubes: np.uint64, square: np.uint64) -> np.uint64:
    """A side's cubes after whatever it has on a square left the board."""
    hit = _on(cubes, square)
    return cubes | (hit - (hit >> _SEVEN))


@inlined
def gone(cubes: np.uint64) -> np.uint64:
    """Six bits: which cubes have left the board."""
    return pext((cubes & _CUBES) + _ONES, _HIGHS)


@inlined
def stands_on(cubes: np.uint64, square: np.uint64) -> bool:
    """Whether one of a side's cubes stands on a square."""
    return bool(_on(cubes, square) != _ZERO)


@inlined
def has_draws(game: EwnRules) -> bool:  # noqa: ARG001
    """Always False: a game ends with a cube in the corner, or a side without cubes."""
    return False


@inlined
def side(game: EwnRules, position: Words) -> Int:
    """The side to move; where the die is chosen, the side that chooses it."""
    ply, die = position[0] >> _TOP, position[1] >> _TOP
    if game.die == CHOSEN and die == np.uint64(UNKNOWN):
        ply += _ONE
    return np.int64(ply & _ONE)


@inlined
def is_chance(game: EwnRules, position: Words) -> bool:
    """Whether the die is to be rolled."""
    return game.die == ROLLED and (position[1] >> _TOP) == np.uint64(UNKNOWN)


@inlined
def legal(game: EwnRules, position: Words, moves: Array, start: Int) -> Int:
    """The legal moves: lower cube first, directions in the order of their numbers."""
    at, die = start, position[1] >> _TOP
    if die == np.uint64(UNKNOWN):  # chosen by the opponent of the side that will move
        for number in range(game.cubes):
            moves[at] = CHOICE + number
            at += 1
        return at - start
    mover = (position[0] >> _TOP) & _ONE
    own, other = (position[0], position[1]) if mover == _ZERO else (position[1], position[0])
    for own_too in (game.own_captures, True):  # if no other move is legal, own cubes may be captured
        if die == np.uint64(ANY):
            for cube in range(game.cubes):
                at = cube_moves(game, own, other, mover, np.uint64(cube), own_too, moves, at)
        else:
            pair = np.uint64(game.movable[(gone(own) << np.uint64(3)) | die])
            at = cube_moves(game, own, other, mover, pair & np.uint64(0xF), own_too, moves, at)
            at = cube_moves(game, own, other, mover, pair >> np.uint64(4), own_too, moves, at)
        if at > start:
            break
    return at - start


@inlined
def cube_moves(
    game: EwnRules,
    own: np.uint64,
    other: np.uint64,
    mover: np.uint64,
    cube: np.uint64,
    own_too: bool,
    moves: Array,
    at: Int,
) -> Int:
    """Write a cube's moves into `moves` from `at` on, captures of own cubes only if `own_too`; returns the end."""
    square = (own >> (cube << np.uint64(3))) & _BYTE
    base = ((mover << _SEVEN) | square) << np.uint64(3)
    for direction in range(4):
        # Every move is written; what is not legal is written over by the next.
        target = np.uint64(game.targets[base | np.uint64(direction)])
        moves[at] = (cube << np.uint64(3)) | np.uint64(direction)
        at += np.int64((target != GONE) & (own_too | (not stands_on(own, target))))
    if game.backward:
        for direction in range(4, 8):
            target = np.uint64(game.targets[base | np.uint64(direction)])
            moves[at] = (cube << np.uint64(3)) | np.uint64(direction)
            at += np.int64((target != GONE) & (stands_on(other, target) | (own_too & stands_on(own, target))))
    return at


@inlined
def apply(game: EwnRules, position: Words, move: Int) -> Words:
    """The position after a legal move."""
    red, blue = position
    if move >= CHOICE:
        die = np.uint64(move - CHOICE)
        return red, (blue & ~(_BYTE << _TOP)) | (die << _TOP)
    ply = red >> _TOP
    mover = ply & _ONE
    shift = np.uint64(move) & ~_SEVEN
    own = red if mover == _ZERO else blue
    square = (own >> shift) & _BYTE
    base = ((mover << _SEVEN) | square) << np.uint64(3)
    target = np.uint64(game.targets[base | (np.uint64(move) & _SEVEN)])
    red, blue = without(red, target), without(blue, target)
    step = (square ^ (GONE if target == game.hole else target)) << shift
    if mover == _ZERO:
        red ^= step
    else:
        blue ^= step
    ply += _ONE
    if ply == game.period:
        ply = _ZERO
    die = np.uint64(game.cycle[ply])
    return (red & (_CUBES | _NOBODY)) | (ply << _TOP), (blue & (_CUBES | _NOBODY)) | (die << _TOP)


@inlined
def count_outcomes(game: EwnRules, position: Words) -> int:  # noqa: ARG001
    """The die has a face for each cube."""
    return game.cubes


@inlined
def probability(game: EwnRules, position: Words, outcome: Int) -> float:  # noqa: ARG001
    """The die is fair."""
    return 1.0 / game.cubes


@inlined
def apply_outcome(game: EwnRules, position: Words, outcome: Int) -> Words:  # noqa: ARG001
    """The position with the die rolled."""
    return position[0], (position[1] & ~(_BYTE << _TOP)) | (np.uint64(outcome) << _TOP)


@inlined
def forgets_outcome(game: EwnRules) -> bool:  # noqa: ARG001
    """Always True: the die says which cubes may move, and is rolled again after the move."""
    return True


@inlined
def ending(game: EwnRules, position: Words) -> int:
    """ONGOING, RED_CORNER, RED_ALL, BLUE_CORNER or BLUE_ALL."""
    red, blue = position
    if stands_on(red, game.red_goal):
        return RED_CORNER
    if stands_on(blue, game.blue_goal):
        return BLUE_CORNER
    if blue & _CUBES == _SEVENS:
        return RED_ALL
    if red & _CUBES == _SEVENS:
        return BLUE_ALL
    return ONGOING


@inlined
def winner(game: EwnRules, ended: Int) -> int:  # noqa: ARG001
    """RED or BLUE; NO_WINNER while the game goes on."""
    if ended == ONGOING:
        return NO_WINNER
    return RED if ended <= RED_ALL else BLUE


@inlined
def payoff(game: EwnRules, position: Words, ended: Int, rich: bool) -> float:  # noqa: ARG001
    """To Red: 1 and 0; "rich" tells a win by elimination (1.0, 0.0) from the corner (0.9, 0.1)."""
    if rich:
        if ended == RED_CORNER:
            return 0.9
        if ended == BLUE_CORNER:
            return 0.1
    return 1.0 if ended <= RED_ALL else 0.0


@inlined
def playout(game: EwnRules, position: Words, state: np.uint64, shortcuts: bool) -> tuple[np.uint64, Words]:
    """The random stream's next state, and the last position of a random game."""
    if has_fast_playout(game):
        return _fast_playout(game, position, state, shortcuts)
    return _plain_playout(game, position, state, shortcuts)


@inlined
def has_fast_playout(game: EwnRules) -> bool:
    """Whether the rules are plain enough: one draw is then both the die and the move."""
    return game.own_captures and game.die <= ROLLED and not game.backward and game.hole == GONE


@kernel
def playout_step(
    game: EwnRules, position: Words, state: np.uint64, shortcuts: bool, moves: Array
) -> tuple[np.uint64, Words, Int, Int]:
    """The next step of `playout`: the state, the position, the number rolled and the move."""
    fast, outcome = has_fast_playout(game), np.int64(NO_STEP)
    state, bits = draw(state)
    if is_chance(game, position):
        outcome = np.int64((((bits & _LOW) if fast else bits >> _HALF) * np.uint64(game.cubes)) >> _HALF)
        position = apply_outcome(game, position, outcome)
        if not fast:
            return state, position, outcome, np.int64(NO_STEP)
    move = _random_move(game, position, bits, shortcuts, moves)
    return state, apply(game, position, move), outcome, move


@inlined
def _random_move(game: EwnRules, position: Words, bits: np.uint64, shortcuts: bool, moves: Array) -> Int:
    """A random move; with `shortcuts`, one that reaches the goal or takes the last cube."""
    count = legal(game, position, moves, 0)
    chosen = np.int64(moves[((bits >> _HALF) * np.uint64(count)) >> _HALF])
    if shortcuts:
        won = RED_CORNER if side(game, position) == RED else BLUE_CORNER
        captured = False
        for i in range(count):
            ended = ending(game, apply(game, position, np.int64(moves[i])))
            if ended == won:
                return np.int64(moves[i])
            if ended == won + 1 and not captured:
                chosen, captured = np.int64(moves[i]), True
    return chosen


@kernel
def _fast_playout(game: EwnRules, position: Words, state: np.uint64, shortcuts: bool) -> tuple[np.uint64, Words]:
    """Random moves without a list of moves or a branch that could go either way.

    The side to move is always `own`, and sides are exchanged after each ply; a cube that is gone
    stands on a square without steps, so that one cube and two are the same code.
    """
    cycle, steps, ways, movable = game.cycle, game.steps, game.ways, game.movable
    period, rolled, faces = game.period, game.die == ROLLED, np.uint64(game.cubes)
    red, blue = position
    ply, die = red >> _TOP, blue >> _TOP
    board = (ply & _ONE) << _SEVEN
    red, blue = red & (_CUBES | _NOBODY), blue & (_CUBES | _NOBODY)
    own, other = (blue, red) if board else (red, blue)
    goal = game.blue_goal if board else game.red_goal
    other_goal = game.red_goal if board else game.blue_goal
    while True:
        state, bits = draw(state)
        if rolled and die == np.uint64(UNKNOWN):
            die = ((bits & _LOW) * faces) >> _HALF
        pair = np.uint64(movable[(gone(own) << np.uint64(3)) | die])
        shift1 = (pair & np.uint64(0xF)) << np.uint64(3)
        shift2 = (pair >> np.uint64(4)) << np.uint64(3)
        square1, square2 = (own >> shift1) & _BYTE, (own >> shift2) & _BYTE
        ways1, ways2 = np.uint64(ways[board | square1]), np.uint64(ways[board | square2])
        count1 = ways1 & _SEVEN
        pick = ((bits >> _HALF) * (count1 + (ways2 & _SEVEN))) >> _HALF
        first = pick < count1
        square = square1 if first else square2
        shift = shift1 if first else shift2
        pick = pick if first else pick - count1
        target = np.uint64(steps[((board | square) << np.uint64(3)) | pick])
        if shortcuts:
            if (ways1 | ways2) & _WINS != _ZERO:
                first = ways1 & _WINS != _ZERO
                square = square1 if first else square2
                shift = shift1 if first else shift2
                target = goal
            elif popcount(gone(other)) == np.uint64(MOST_CUBES - 1):
                square, shift, target = _last_capture(
                    steps, board, other, square1, shift1, ways1, square2, shift2, ways2, square, shift, target
                )
        own, other = without(own, target), without(other, target)
        own ^= (square ^ target) << shift
        ply += _ONE
        ply = _ZERO if ply == period else ply
        die = np.uint64(cycle[ply])
        if target == goal or other & _CUBES == _SEVENS:
            break
        own, other = other, own
        goal, other_goal = other_goal, goal
        board ^= np.uint64(128)
    red, blue = (other, own) if board else (own, other)
    return state, (red | (ply << _TOP), blue | (die << _TOP))


@inlined
def _last_capture(
    steps: Array,
    board: np.uint64,
    other: np.uint64,
    square1: np.uint64,
    shift1: np.uint64,
    ways1: np.uint64,
    square2: np.uint64,
    shift2: np.uint64,
    ways2: np.uint64,
    square: np.uint64,
    shift: np.uint64,
    target: np.uint64,
) -> tuple[np.uint64, np.uint64, np.uint64]:
    """The move that takes the opponent's last cube if there is one, else the move given."""
    for i in range(np.int64(ways1 & _SEVEN)):
        to = np.uint64(steps[((board | square1) << np.uint64(3)) | np.uint64(i)])
        if stands_on(other, to):
            return square1, shift1, to
    for i in range(np.int64(ways2 & _SEVEN)):
        to = np.uint64(steps[((board | square2) << np.uint64(3)) | np.uint64(i)])
        if stands_on(other, to):
            return square2, shift2, to
    return square, shift, target


@kernel
def _plain_playout(game: EwnRules, position: Words, state: np.uint64, shortcuts: bool) -> tuple[np.uint64, Words]:
    """Random moves by the rules above, for every kind of game."""
    moves = local_array(MOST_MOVES, np.uint8)
    while ending(game, position) == ONGOING:
        state, bits = draw(state)
        if is_chance(game, position):
            outcome = ((bits >> _HALF) * np.uint64(game.cubes)) >> _HALF
            position = apply_outcome(game, position, np.int64(outcome))
            continue
        position = apply(game, position, _random_move(game, position, bits, shortcuts, moves))
    return state, position


# The value of a position that is not over: who wins the race to the corner? `arrival` says, for the cubes
# that a side has lost and the die from its next turn on, how many of its own turns a cube needs to reach
# the goal if it is not hindered: turns in which the die lets it move count, the others pass. With a
# known cycle the numbers are exact; with a rolled die they are expectations, in quarters of a turn.

UNREACHABLE = 255
TURNS = 4.0  # a lead of this many turns is halfway to a win


@kernel
def fill_arrival(arrival: Array, movable: Array, cycle: Array, turns: int, faces: int) -> None:
    """Fill the table; `turns` is the length of a known cycle, or 1."""
    arrival[:] = UNREACHABLE
    known, free = cycle[0] < MOST_CUBES, cycle[0] == ANY
    for lost in range(64):
        for turn in range(turns):
            for cube in range(MOST_CUBES):
                if lost >> cube & 1:
                    continue
                at = ((lost * turns + turn) * MOST_CUBES + cube) * STRIDE
                arrival[at] = 0
                if known:
                    steps, ply, waited = 0, turn, 0
                    while steps < STRIDE - 1 and waited < UNREACHABLE - 1:
                        waited += 1
                        if can_move(movable, lost, np.int64(cycle[ply]), cube):
                            steps += 1
                            arrival[at + steps] = waited
                        ply = (ply + 2) % turns
                else:
                    helps = 0
                    for die in range(faces):
                        helps += free or can_move(movable, lost, die, cube)
                    for steps in range(1, STRIDE):
                        arrival[at + steps] = min(4 * steps * faces // max(helps, 1), UNREACHABLE - 1)


@kernel
def can_move(movable: Array, lost: Int, die: Int, cube: int) -> bool:
    """Whether the die lets a cube move, if the cubes of the mask `lost` are gone."""
    pair = np.int64(movable[lost << 3 | die])
    lower, higher = pair & 15, pair >> 4
    return bool(lower == cube or higher == cube)


@inlined
def race(game: EwnRules, position: Words, of: Int) -> Int:
    """The turns that `of` needs to reach its goal if it is the one to move next."""
    cubes = position[0] if of == RED else position[1]
    ply = position[0] >> _TOP
    turn = np.uint64(0)
    if game.die == CYCLE:
        turn = ply + ((ply & _ONE) ^ np.uint64(of))
        turn = turn - game.turns if turn >= game.turns else turn
        turn = turn - game.turns if turn >= game.turns else turn
    base = (gone(cubes) * game.turns + turn) * np.uint64(MOST_CUBES * STRIDE)
    board = np.uint64(of) << _SEVEN
    distance, arrival = game.distance, game.arrival
    best = np.uint64(UNREACHABLE)
    for cube in range(MOST_CUBES):
        square = (cubes >> np.uint64(8 * cube)) & _BYTE
        steps = np.uint64(distance[board | square])
        turns = np.uint64(arrival[base + np.uint64(cube * STRIDE) + steps])
        best = min(best, turns)
    return np.int64(best)


@inlined
def value_range(game: EwnRules) -> tuple[float, float]:  # noqa: ARG001
    """A loss and a win."""
    return -1.0, 1.0


@inlined
def _estimate_for_cubes(game: EwnRules, position: Words) -> float:
    """The opponent's turns to the goal minus the own turns, for the side whose cubes move next.

    Half a turn is added for that side; the lead is brought between -1 and 1.
    """
    mover = np.int64((position[0] >> _TOP) & _ONE)
    mine, theirs = race(game, position, mover), race(game, position, BLUE - mover)
    unit = 1 if game.die == CYCLE else 4
    lead = np.float64(theirs - mine) / unit + 0.5
    return lead / (TURNS + abs(lead))


@inlined
def estimate(game: EwnRules, position: Words) -> float:
    """The lead in the race to the goal, for the side that `side` returns."""
    value = _estimate_for_cubes(game, position)
    mover = np.int64((position[0] >> _TOP) & _ONE)
    return value if side(game, position) == mover else -value  # who chooses the opponent's die


@inlined
def move_priority(game: EwnRules, position: Words, move: Int, child: Words) -> Int:
    """The estimate first; then captures and steps towards the goal, captures of own cubes last."""
    if move >= CHOICE:
        return 0
    mover = (position[0] >> _TOP) & _ONE
    own, other = (position[0], position[1]) if mover == np.uint64(0) else (position[1], position[0])
    board = mover << _SEVEN
    square = (own >> (np.uint64(move) & ~_SEVEN)) & _BYTE
    target = np.uint64(game.targets[((board | square) << np.uint64(3)) | (np.uint64(move) & _SEVEN)])
    gain = np.int64(game.distance[board | square]) - np.int64(game.distance[board | target])
    return (
        np.int64(-300.0 * _estimate_for_cubes(game, child))  # the opponent's cubes move next
        + 8 * gain
        + 2 * np.int64((np.uint64(move) & _SEVEN) == np.uint64(2))
        + 4 * np.int64(stands_on(other, target))
        - 12 * np.int64(stands_on(own, target))
    )


register_game(
    EwnRules,
    MOST_CUBES * 8,
    has_draws=has_draws,
    side=side,
    is_chance=is_chance,
    legal=legal,
    apply=apply,
    count_outcomes=count_outcomes,
    probability=probability,
    apply_outcome=apply_outcome,
    forgets_outcome=forgets_outcome,
    ending=ending,
    winner=winner,
    payoff=payoff,
    playout=playout,
    playout_step=playout_step,
    estimate=estimate,
    value_range=value_range,
    move_priority=move_priority,
)
