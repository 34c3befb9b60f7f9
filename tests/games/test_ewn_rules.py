"""The rules of EWN: against a plain version, against OpenSpiel, and against themselves.

`tests/data/ewn/perft.json` was counted by the plain version alone; to count again, run
`python tests/naive_ewn.py`.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter

import numpy as np
import pytest

import naive_ewn as naive
from both_ways import in_both_ways
from tuplet.games import protocol as generic
from tuplet.games.ewn import EwnPosition
from tuplet.games.ewn.game import DICE, EwnGame
from tuplet.games.ewn.rules import BLUE_ALL, CHOICE, MOST_MOVES, RED_ALL, RED_CORNER, _fast_playout, _plain_playout
from tuplet.games.protocol import call_apply, call_ending, call_legal
from tuplet.kernel import draw, kernel, stream
from tuplet.testing.games import perft

u = np.uint64


def in_both(name: str, plain: naive.Position) -> EwnPosition:
    """The position as tuplet reads it, once both say the same of it."""
    game = naive.MEMBERS[name]
    text = naive.notation(name, plain)
    position = EwnPosition.parse(text)
    assert position.notation == text
    result = naive.result(game, plain)
    assert (position.winner, position.termination) == (result or (None, None)), text
    if result is None:
        assert position.turn == naive.to_act(game, plain)
        assert position.is_chance == naive.must_roll(game, plain)
    return position


@pytest.mark.parametrize("name", naive.MEMBERS)
def test_moves_positions_and_endings_equal_the_plain_ones(name: str) -> None:
    game, source, first = naive.MEMBERS[name], random.Random(name), EwnGame(name).first_cube
    forced, endings = 0, Counter[object]()
    for _ in range(1000):
        plain = naive.random_position(game, source)
        position = in_both(name, plain)
        if naive.must_roll(game, plain):
            assert position.legal_moves() == []
            face = source.randrange(game["cubes"])
            plain, position = naive.roll(plain, face), position.roll(face + first)
        moves = naive.legal(game, plain)
        texts = [naive.text(game, move) for move in moves]
        assert position.legal_moves() == texts, position.notation
        for move, text in zip(moves, texts, strict=True):
            after = naive.play(game, plain, move)
            assert position.play(text) == in_both(name, after), (position.notation, text)
            endings[naive.result(game, after)] += 1
            if move[0] != "die":
                target = naive.square_after(plain, *move)
                assert position.target(text) == target
                own = {q for (side, _), q in plain["cubes"].items() if side == naive.mover(plain)}
                forced += not game["own"] and target in own
    # A test that never met an ending, or a forced capture, would keep no move_priority.
    kinds = {("red", "corner"), ("blue", "corner"), ("red", "elimination"), ("blue", "elimination")}
    assert kinds <= set(endings)
    # Where any cube may move, the foremost always can.
    assert (forced > 0) == (not game["own"] and game["die"] != "free")


@pytest.mark.parametrize("name", naive.MEMBERS)
def test_random_games_go_as_in_the_plain_version(name: str) -> None:
    game, source, kind = naive.MEMBERS[name], random.Random(name), EwnGame(name)
    numbers = list(range(kind.cubes))
    for number in range(25):
        red, blue = source.sample(numbers, kind.cubes), source.sample(numbers, kind.cubes)
        first = "blue" if number % 2 and not kind.cycle else "red"
        plain = naive.first_position(game, red, blue, first)
        position = kind.setup(
            red=[n + kind.first_cube for n in red],
            blue=[n + kind.first_cube for n in blue],
            die=[v + kind.first_cube for v in game["values"]],
            first=first,
        )
        while naive.result(game, plain) is None:
            if naive.must_roll(game, plain):
                face = source.randrange(kind.cubes)
                plain, position = naive.roll(plain, face), position.roll(face + kind.first_cube)
            moves = naive.legal(game, plain)
            assert position.legal_moves() == [naive.text(game, move) for move in moves]
            move = source.choice(moves)
            plain, position = (naive.play(game, plain, move), position.play(naive.text(game, move)))
            assert position.notation == naive.notation(name, plain)
        assert (position.winner, position.termination) == naive.result(game, plain)
        assert position.legal_moves() == []


@pytest.mark.parametrize("entry", json.loads(naive.PERFT.read_text()), ids=str)
def test_games_go_on_in_as_many_ways_as_the_plain_version_counted(entry: dict) -> None:
    """A roll is a step, a move is a step, and so is a choice of the die."""
    position = EwnPosition.parse(entry["position"])
    for depth, count in enumerate(entry["counts"], start=1):
        assert perft(position.rules, position.words, depth) == count


@pytest.mark.long
def test_a_hundred_thousand_positions_are_as_openspiel_has_them() -> None:
    """Its Black starts top left, as our Red; its White, bottom right, always moves first."""
    pyspiel = pytest.importorskip("pyspiel")
    spiel, source = pyspiel.load_game("einstein_wurfelt_nicht"), random.Random(5)
    directions = {"right": 0, "left": 0, "down": 1, "up": 1, "diag": 2}
    rules, moves, seen = EwnGame("ewn").rules, np.zeros(MOST_MOVES, np.uint8), 0

    def words(state: object) -> list[int]:
        out = [0x7F7F7F7F7F7F7F, 0x7F7F7F7F7F7F7F]
        for square, cell in enumerate(re.findall(r"\|(..)\|", str(state))):
            if cell != "__":
                out["bw".index(cell[0])] ^= (0x7F ^ square) << 8 * (int(cell[1]) - 1)
        return out

    while seen < 100_000:
        state = spiel.new_initial_state()
        for _ in range(2):
            state.apply_action(source.choice(state.legal_actions()))
        red, blue = words(state)
        ours = u(red | 1 << 56), u(blue | 7 << 56)  # blue to move, die unknown
        while not state.is_terminal():
            face = source.randrange(6)
            state.apply_action(face)
            ours = ours[0], ours[1] ^ u((7 ^ face) << 56)
            actions = {}
            for action in state.legal_actions():
                cube, to = state.action_to_string(action).strip("*").split("-")
                actions[int(cube[1]) - 1 << 3 | directions[to]] = action
            count = call_legal(rules, ours, moves)
            assert moves[:count].tolist() == sorted(actions)
            move = source.choice(list(actions))
            state.apply_action(actions[move])
            ours = tuple(map(u, call_apply(rules, ours, move)))
            assert [int(w) & (1 << 56) - 1 for w in ours] == words(state)
            seen += 1
            result = call_ending(rules, ours)
            assert (result != generic.ONGOING) == state.is_terminal()
        assert state.returns() == ([1.0, -1.0] if result <= RED_ALL else [-1.0, 1.0])


BOTH_WAYS = """
import sys
import numpy as np
from tuplet.games import protocol as generic
from tuplet.games.ewn import EwnPosition
from tuplet.testing.games import perft
u, moves = np.uint64, np.zeros(48, np.uint8)
for number, line in enumerate(sys.stdin):
    position = EwnPosition.parse(line)
    rules, words = position.rules, position.words
    ending = int(generic.ending(rules, words))
    say = [ending, int(generic.winner(rules, ending)), int(generic.side(rules, words))]
    say += [generic.payoff(rules, words, ending, rich) for rich in (False, True)]
    if ending == generic.ONGOING:
        say.append(float(generic.estimate(rules, words)).hex())
        for shortcuts in (False, True):
            state, last = generic.playout(rules, words, u(number), shortcuts)
            say += [int(state), int(last[0]), int(last[1]), int(generic.ending(rules, last))]
        if generic.is_chance(rules, words):
            for face in range(generic.count_outcomes(rules, words)):
                say += map(int, generic.apply_outcome(rules, words, face))
                say.append(generic.probability(rules, words, face))
        else:
            for move in moves[: generic.legal(rules, words, moves, 0)].tolist():
                after = tuple(u(word) for word in generic.apply(rules, words, move))
                say += [move, *map(int, after)]
                if generic.ending(rules, after) == generic.ONGOING:
                    say.append(int(generic.move_priority(rules, words, move, after)))
    if number % 10 == 0:
        say.append(perft(rules, words, 2))
    print(*say)
"""


def test_compiled_and_interpreted_kernels_agree() -> None:
    """On positions all over the board; a warning, as of an overflow, would be an error."""
    texts = []
    for name, game in naive.MEMBERS.items():
        source = random.Random(name)
        for _ in range(12):
            plain = naive.random_position(game, source)
            texts.append(naive.notation(name, plain))
            if not naive.must_roll(game, plain):  # may be a game that is over
                plain = naive.play(game, plain, source.choice(naive.legal(game, plain)))
                texts.append(naive.notation(name, plain))
    compiled, interpreted = in_both_ways(BOTH_WAYS, texts)
    assert compiled.count("\n") == len(texts) > 250
    assert compiled == interpreted


@kernel
def random_games(game, position, state, games, tally):  # type: ignore[no-untyped-def]
    """Adds plies, moves to choose from, and endings to the tally; returns the stream's state."""
    moves = np.zeros(MOST_MOVES, np.uint8)
    for _ in range(games):
        at = position
        while generic.ending(game, at) == generic.ONGOING:
            count = generic.legal(game, at, moves, 0)
            state, bits = draw(state)
            pick = ((bits >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32)
            at = generic.apply(game, at, np.int64(moves[pick]))
            tally[0] += 1
            tally[5] += count
        tally[generic.ending(game, at)] += 1
    return state


def test_random_games_of_6x7_are_as_long_and_as_fair_as_the_original_ones() -> None:
    """The figures are of 4,000 games: four standard errors of theirs, ours being far smaller."""
    tally, starts, games = np.zeros(6, np.int64), 4000, 10
    state = stream(u(1), u(1))
    known = EwnGame("ewn-6x7").initial_position(state)[1].rules
    for _ in range(starts):
        state, position = EwnGame("ewn:board=6x7,directions=4").initial_position(state)
        values = []
        for _ in range(21):
            state, bits = draw(u(state))
            values.append((int(bits) >> 32) * 6 >> 32)
        # The tables of a known die are for estimates alone: no need to make them each time.
        rules = known._replace(cycle=np.array(2 * values, np.uint8))
        words = position.words[0], position.words[1] ^ u((7 ^ values[0]) << 56)
        state = u(random_games(rules, words, u(state), games, tally))
    total = starts * games
    assert tally[1:5].sum() == total
    assert tally[0] / total == pytest.approx(37.3, abs=0.6)
    assert tally[5] / tally[0] == pytest.approx(4.0, abs=0.05)
    assert tally[RED_CORNER : RED_ALL + 1].sum() / total == pytest.approx(0.518, abs=0.032)
    assert (tally[RED_ALL] + tally[BLUE_ALL]) / total == pytest.approx(0.02, abs=0.009)


@kernel
def tally_playouts(game, position, state, games, fast, shortcuts, tally):  # type: ignore[no-untyped-def]
    """How often playouts end in which way, at which ply, with how many cubes left."""
    for _ in range(games):
        if fast:
            state, last = _fast_playout(game, position, state, shortcuts)
        else:
            state, last = _plain_playout(game, position, state, shortcuts)
        left = 0
        for cube in range(6):
            left += (last[0] >> np.uint64(8 * cube)) & np.uint64(0xFF) != np.uint64(0x7F)
            left += (last[1] >> np.uint64(8 * cube)) & np.uint64(0xFF) != np.uint64(0x7F)
        tally[generic.ending(game, last), last[0] >> np.uint64(56), left] += 1


@pytest.mark.parametrize("shortcuts", [False, True])
@pytest.mark.parametrize("name", ["ewn", "ewn-6x7", "ewn:board=3x3,cubes=3"])
def test_fast_and_plain_playouts_have_one_distribution(name: str, shortcuts: bool) -> None:
    game, source = naive.MEMBERS[name], random.Random(3)
    numbers = list(range(game["cubes"]))
    positions = [naive.random_position(game, source) for _ in range(4)]
    for plain in (naive.first_position(game, numbers, numbers[::-1]), *positions):
        position = in_both(name, plain)
        fast, slow = np.zeros((5, 256, 13), np.int64), np.zeros((5, 256, 13), np.int64)
        for tally, is_fast in ((fast, True), (slow, False)):
            tally_playouts(position.rules, position.words, u(7 + is_fast), 20_000, is_fast, shortcuts, tally)
        common = fast + slow >= 20
        a = np.append(fast[common], fast[~common].sum())
        b = np.append(slow[common], slow[~common].sum())
        assert a.sum() == b.sum() == 20_000
        difference = float(((a - b) ** 2 / np.maximum(a + b, 1)).sum())
        freedom = max(len(a) - 1, 1)  # chi-square: this mean, and a variance of twice that
        assert difference < freedom + 5 * (2 * freedom) ** 0.5, position.notation


@pytest.mark.parametrize("name", naive.MEMBERS)
def test_shortcuts_never_miss_a_winning_move(name: str) -> None:
    game, source, found = naive.MEMBERS[name], random.Random(name), Counter[str]()
    for number in range(1500):
        plain = naive.random_position(game, source)
        if naive.must_roll(game, plain) or naive.to_act(game, plain) != naive.mover(plain):
            continue
        results = {m: naive.result(game, naive.play(game, plain, m)) for m in naive.legal(game, plain)}
        results = {m: result for m, result in results.items() if result and result[0] == naive.mover(plain)}
        kinds = {result[1] for result in results.values()}
        if not kinds:
            continue
        found.update(kinds)
        position = in_both(name, plain)
        wins = [position.play(naive.text(game, move)).words for move in results]
        _, last = generic.playout(position.rules, position.words, u(number), True)
        assert tuple(map(u, last)) in wins, position.notation
    assert min(found["corner"], found["elimination"]) >= 10


def turns_to_the_goal(game: naive.Game, plain: naive.Position, side: str, cube: int) -> float:
    """How many of its side's turns a cube needs, from the next on, if nothing else moves.

    Rolled dice are counted by what can be expected, in quarters of a turn.
    """
    goal = (game["rows"] - 1, game["columns"] - 1) if side == "red" else (0, 0)
    row, column = plain["cubes"][side, cube]
    steps = max(abs(goal[0] - row), abs(goal[1] - column))
    ply = plain["ply"] + (naive.mover(plain) != side)
    if game["die"] == "cycle":
        turns = 0
        while steps and turns < 254:
            at = naive.with_known_die(game, {**plain, "ply": ply + 2 * turns})
            steps -= cube in naive.movable(game, at)
            turns += 1
        return turns if steps == 0 else 255
    helps = 0
    for face in range(game["cubes"]):
        helps += cube in naive.movable(game, {**plain, "ply": ply, "die": face})
    return min(4 * steps * game["cubes"] // max(helps, 1), 254) / 4


@pytest.mark.parametrize("name", naive.MEMBERS)
def test_estimates_show_how_many_turns_a_side_is_ahead(name: str) -> None:
    game, source = naive.MEMBERS[name], random.Random(name)
    for _ in range(300):
        plain = naive.random_position(game, source)
        position = in_both(name, plain)
        turns = {
            side: min(turns_to_the_goal(game, plain, side, n) for s, n in plain["cubes"] if s == side)
            for side in ("red", "blue")
        }
        mover = naive.mover(plain)
        lead = turns[naive.opponent(mover)] - turns[mover] + 0.5
        value = generic.estimate(position.rules, position.words)
        assert -1 < value < 1
        sign = 1 if position.turn == mover else -1
        assert value == sign * lead / (4 + abs(lead)), position.notation


def test_numbers_of_moves_and_dice_are_apart() -> None:
    assert CHOICE > (5 << 3 | 7) and MOST_MOVES >= 6 * 4 and len(DICE) == 4
