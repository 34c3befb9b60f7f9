"""`check_game`: plays random games and reports what is wrong with a game, with the likely cause."""

from __future__ import annotations

from contextlib import suppress
from typing import Any
from xml.etree import ElementTree

import numpy as np

from tuplet.agents.agent import make_agent
from tuplet.arena.game import play_game
from tuplet.games import protocol as generic
from tuplet.games.game import Game
from tuplet.games.protocol import (
    LONGEST,
    MOST_FORGOTTEN,
    MOST_MOVES,
    NO_WINNER,
    ONGOING,
    Array,
    Int,
    Words,
    apply,
    apply_outcome,
    count_outcomes,
    ending,
    is_chance,
    legal,
    random_outcome,
)
from tuplet.games.record import FORFEITS, Record
from tuplet.games.registry import game as game_of
from tuplet.kernel import draw, implementation_of, kernel, local_array, stream
from tuplet.search.tree import MOST_OUTCOMES
from tuplet.testing.agents import Problems, check_agent

MOST_STEPS = 200  # positions of a game that are checked closely
MANY = 10_000  # random games in compiled code
NO_MOVE = "no move is legal, but the game is not over", "ending() must say so, or a pass must be a move"
_MARK = 251  # a move that no kernel writes
_HALF = np.uint64(32)
_MOVES = 2 * MOST_MOVES  # room for a game that writes too many


def check_game(game: str | Game, *, games: int = 20, seed: int = 0) -> None:
    """Play random games and check every function, text and picture of a game; raises CheckFailed."""
    game = game_of(game)
    problems = Problems(f"game {game.name}")
    require = problems.require
    _check_names(game, problems)
    problems.raise_any()
    before = repr(game.rules)
    with problems.catch("start(seed)", "first() or initial_position() fails"):
        one, two = game.start(seed), game.start(seed)
        require(
            one == two,
            "a seed gives two different starts",
            "initial_position() draws from something else than its state",
        )
        require(not one.over, "a game is over before it begins", "first() or ending()")
    problems.raise_any()
    state, ended = np.uint64(stream(np.uint64(seed), np.uint64(1))), 0
    _check_many(game, state, problems)
    problems.raise_any()
    for _ in range(games):
        state, position = game.opening(state)
        for step in range(LONGEST):
            if step < MOST_STEPS:
                _check_position(game, position, problems)
                problems.raise_any()
            if position.over:
                ended += 1
                break
            state, position = position.random_step(state)
    problems.where = ""
    never = f"none of {games} random games ended within {LONGEST:,} steps"
    require(ended, never, "ending() never says so, or the game can go on for ever: limit it")
    same = repr(game.rules) == before
    require(same, "rules change while games are played", "a kernel writes into an array of the rules")
    _check_searches(game, game.opening(state)[1], problems)
    if game.players == 2:
        _check_record(game, game.opening(state)[1], problems)
    problems.raise_any()


@kernel
def _survey(game: Any, position: Words, state: np.uint64, games: Int, seen: Array) -> tuple[bool, Words]:
    """Play random games until one is stuck: whether one was, and where. Notes a position of each ending."""
    moves = local_array(_MOVES, np.uint8)
    for _ in range(games):
        at = position
        for _ in range(LONGEST):
            ended = ending(game, at)
            if ended != ONGOING:
                if 0 < ended < len(seen):
                    seen[ended, 0], seen[ended, 1] = at
                break
            state, bits = draw(state)
            if is_chance(game, at):
                at = apply_outcome(game, at, random_outcome(game, at, bits))
                continue
            count = legal(game, at, moves, 0)
            if count <= 0:
                return True, at
            pick = ((bits >> _HALF) * np.uint64(count)) >> _HALF
            at = apply(game, at, np.int64(moves[pick]))
    return False, position


def _check_many(game: Game, state: np.uint64, problems: Problems) -> None:
    """Play many games in compiled code, which meet rare positions; check a position of each ending."""
    state, start = game.opening(state)
    seen = np.zeros((256, 2), np.uint64)
    with problems.catch("a random game", "legal(), apply() or ending()"):
        stuck, words = _survey(start.rules, start.words, state, MANY, seen)
        if stuck:
            problems.where = words
            with suppress(Exception):
                problems.where = start.at((np.uint64(words[0]), np.uint64(words[1]))).notation
        problems.require(not stuck, *NO_MOVE)
    for words in seen[seen.any(1)]:
        with problems.catch("a finished position", "see there"):
            _check_position(game, start.at((words[0], words[1])), problems)


def _check_names(game: Game, problems: Problems) -> None:
    require, kind, sides = problems.require, type(game.rules), game.sides
    with problems.catch("players(rules)", f"{kind.__name__} is not registered: register_game"):
        players = game.players
        require(len(sides) == players, f"{players} players, but {sides} as sides", "sides has a name for each player")
    is_named_tuple = isinstance(game.rules, tuple) and hasattr(kind, "_fields")
    require(is_named_tuple, "rules are not a NamedTuple", "kernels take nothing else")
    is_word = game.name and not any(c.isspace() for c in game.name)
    require(is_word, f"the name {game.name!r} is not a word", "it begins a notation")
    require(len(set(sides)) == len(sides), "two sides have the same name", "sides")
    taken = [each for each in game.terminations if each in FORFEITS]
    require(not taken, f"{taken} are names of forfeits", "choose other words for terminations")


def _check_position(game: Game, position: Any, problems: Problems) -> None:
    """Check everything that a position offers."""
    require, rules, words = problems.require, position.rules, position.words
    problems.where = where = position.notation
    require(position.turn in position.sides, "no side is to move", "side() is 0 or 1")
    with problems.catch("the text or picture", "cells() or caption()"):
        str(position)
        ElementTree.fromstring(position._repr_svg_())
    with problems.catch("parse(notation)", "read() does not undo write()"):
        cause = "write() leaves something out, or read() reads it differently"
        require(game.parse(where) == position, "a notation is read as another position", cause)
    if position.ending != ONGOING:
        _check_ending(game, position, position.ending, problems)
        return
    low, high = generic.value_range(rules)
    guess = float(generic.estimate(rules, words))
    cause = f"it is a number between {low:g} and {high:g}, which are proofs"
    require(low < guess < high, f"estimate() is {guess:g}", cause)
    if position.is_chance:
        shares, count = list(position.chance_outcomes().values()), int(generic.count_outcomes(rules, words))
        distinct = len(shares) == count or game.players == 1
        require(distinct, "two of chance's outcomes have the same text", "outcome_text()")
        cause = f"a search can tell {MOST_OUTCOMES:,} apart: let chance act in two steps"
        require(count <= MOST_OUTCOMES, f"chance has {count:,} outcomes", cause)
        sound = shares and abs(sum(shares) - 1) < 1e-9 and min(shares) >= 0
        what = f"the probabilities of chance's outcomes sum to {sum(shares):g}"
        require(sound, what, "probability() or count_outcomes()")
        if generic.forgets_outcome(rules):
            _check_forgetting(position, count, problems)
        return
    _check_moves(position, problems)
    most = max(position.legal_actions(), default=0)
    what = f"a move has the number {most} of {game.actions} actions"
    require(most < game.actions, what, "actions is more than the number of any move")
    with problems.catch("playout()", "a random game fails"):
        after, again = (generic.playout(rules, words, np.uint64(1), True) for _ in range(2))
        last = np.uint64(after[1][0]), np.uint64(after[1][1])
        over = int(generic.ending(rules, last)) != ONGOING
        require(over, "a random game does not end", "playout() stops too early, or the game goes on for ever")
        cause = "playout() draws from something else than its state"
        require(after == again, "a random game differs from itself", cause)


def _check_forgetting(position: Any, count: int, problems: Problems) -> None:
    """Check that a move leads to the same position whatever the outcome of chance before it."""
    require, rules, words = problems.require, position.rules, position.words
    cause = "return False there: a search keeps outcomes apart then"
    fits = count <= MOST_FORGOTTEN
    require(fits, f"forgets_outcome(), but chance has {count} outcomes of {MOST_FORGOTTEN} at most", cause)
    after: dict[int, tuple[int, int]] = {}
    for outcome in range(count if fits else 0):
        rolled = generic.apply_outcome(rules, words, outcome)
        rolled = np.uint64(rolled[0]), np.uint64(rolled[1])
        plain = generic.ending(rules, rolled) == ONGOING and generic.side(rules, rolled) == generic.side(rules, words)
        require(plain, "forgets_outcome(), but chance ends the game or changes whose turn it is", cause)
        moves = np.zeros(2 * MOST_MOVES, np.uint8)
        for code in moves[: int(generic.legal(rules, rolled, moves, 0))].tolist():
            child = generic.apply(rules, rolled, code)
            pair = int(child[0]), int(child[1])
            same = after.setdefault(code, pair) == pair
            require(same, f"forgets_outcome(), but what move {code} leads to depends on the outcome", cause)
    what = f"forgets_outcome(), but the outcomes have {len(after)} moves together, of {MOST_MOVES} at most"
    require(len(after) <= MOST_MOVES, what, cause)


def _check_ending(game: Game, position: Any, ended: int, problems: Problems) -> None:
    require, rules = problems.require, position.rules
    won = int(generic.winner(rules, ended))
    require(not position.legal_moves(), "moves in a finished game", "legal_moves()")
    kind = position.termination
    require(
        kind in game.terminations, f"a game ended by {kind!r}", f"termination_of() must be one of {game.terminations}"
    )
    if game.players == 1:
        return
    require(won in (0, 1, NO_WINNER), f"winner() is {won}", "0, 1 or NO_WINNER")
    drawable = won != NO_WINNER or generic.has_draws(rules)
    require(drawable, "a game was drawn", "has_draws() says that it has none")
    expected = {0: 1.0, 1: 0.0}.get(won, 0.5)
    what = f"payoff() is {position.result} for a result of {expected}"
    require(position.result == expected, what, "it is player 0's result: 1, 1/2 or 0")
    rich = float(generic.payoff(rules, position.words, ended, True))
    sound = 0 <= rich <= 1 and (rich - 0.5) * (expected - 0.5) >= 0 and (rich == 0.5) == (expected == 0.5)
    require(sound, f"payoff() with `rich` is {rich}", "a win is above 1/2, a loss below")


def _check_moves(position: Any, problems: Problems) -> None:
    require, rules, words = problems.require, position.rules, position.words
    moves = np.full(3 * MOST_MOVES, _MARK, np.uint8)
    count = int(generic.legal(rules, words, moves, MOST_MOVES))
    codes = [int(code) for code in moves[MOST_MOVES : MOST_MOVES + max(count, 0)]]
    require(count > 0, *NO_MOVE)
    most = generic.most_moves(rules)
    what = f"{count} moves, but register_game was given {most} as the most"
    require(count <= most, what, "the number there is too small")
    untouched = (moves[:MOST_MOVES] == _MARK).all()
    require(untouched, "legal() writes before `start`", "moves[start + i], not moves[i]")
    sound = len(set(codes)) == len(codes) and max(codes, default=0) < 255
    require(sound, "legal() gives a move twice, or beyond 254", "moves are different small numbers")
    texts = [position.move_text(code) for code in codes]
    require(len(set(texts)) == len(texts), "two moves have the same text", "move_text()")
    words_only = all(text and not any(c.isspace() for c in text) for text in texts)
    require(words_only, "a move's text is not a word", "move_text()")
    same = sorted(codes) == sorted(position.legal_actions())
    require(same, "legal_actions() differ from legal()", "the position class")
    calls: list[tuple[Any, ...]] = [(generic.side,), (generic.ending,), (generic.is_chance,)]
    for function, *arguments in [*calls, *((generic.apply, code) for code in codes)]:
        plain = getattr(implementation_of(function, rules), "py_func", None)
        if plain is None:
            continue
        with problems.catch(f"{function.__name__}() uncompiled", "see there"):
            with np.errstate(over="ignore"):
                here = plain(rules, words, *arguments)
            there = function(rules, words, *arguments)
            same = np.array_equal(np.array(here, np.uint64), np.array(there, np.uint64))
            both = f"{function.__name__}() gives {there} compiled, {here} uncompiled"
            require(same, both, "np.uint64 mixed with Python's numbers becomes signed in compiled code")


@kernel
def perft(game: Any, position: Words, depth: int) -> int:
    """The number of paths of `depth` steps; an outcome of chance is a step.

    Games that end earlier are not counted.
    """
    if depth == 0:
        return 1
    if ending(game, position) != ONGOING:
        return 0
    count = 0
    if is_chance(game, position):
        for outcome in range(count_outcomes(game, position)):
            count += perft(game, apply_outcome(game, position, outcome), depth - 1)
        return count
    moves = local_array(MOST_MOVES, np.uint8)
    for i in range(legal(game, position, moves, 0)):
        count += perft(game, apply(game, position, np.int64(moves[i])), depth - 1)
    return count


def _check_searches(game: Game, start: Any, problems: Problems) -> None:
    """Check that searches find legal moves, and that perft counts what playing on counts."""
    if start.is_chance:
        start = start.apply_outcome(next(iter(start.chance_outcomes())))
    problems.where = start.notation
    with problems.catch("perft", "legal() or apply() fails in compiled code"):
        counted, walked = int(perft(start.rules, start.words, 2)), _walk(start, 2)
        what = f"perft counts {counted} ways to go two steps on, play() finds {walked}"
        problems.require(counted == walked, what, "apply() and the position class disagree")
    problems.where = ""
    full = "alphabeta:depth=3" if game.players == 2 else "expectimax:depth=2"
    for name in ("mcts:sims=200,batch=1,expand=5", full):
        with problems.catch(name, "a kernel fails to compile, or for some position"):
            check_agent(name, game, games=1)


def _check_record(game: Game, start: Any, problems: Problems) -> None:
    """Check that a game between agents can be written and read again."""
    problems.where = start.notation
    with problems.catch("a game's record", "write(), read(), or the texts of moves"):
        record = play_game(make_agent("easy", game), make_agent("easy", game), start)
        what = f"random play forfeits: {record.reason}"
        problems.require(not record.reason, what, "legal() and ending() disagree")
        same = Record.parse(record.line) == record
        problems.require(same, "a record is read as another", "write() and read()")


def _walk(position: Any, steps: int) -> int:
    """Count the ways to go `steps` steps on."""
    if steps == 0 or position.over:
        return int(steps == 0)
    play, choices = position.play, position.legal_moves
    if position.is_chance:
        play, choices = position.apply_outcome, position.chance_outcomes
    return sum(_walk(play(each), steps - 1) for each in choices())
