"""`check_game`: is a game of mine right?"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any
from xml.etree import ElementTree

import numpy as np

from tuplet.agents.agent import make_agent
from tuplet.arena.game import play_game
from tuplet.games import protocol as generic
from tuplet.games.g2048.game import Game2048
from tuplet.games.game import Game
from tuplet.games.perft import perft
from tuplet.games.protocol import (
    LONGEST,
    MOST_MOVES,
    NOBODY,
    ONGOING,
    Int,
    Words,
    apply,
    apply_outcome,
    ending,
    is_chance,
    legal,
    random_outcome,
)
from tuplet.games.record import FORFEITS, Record
from tuplet.games.registry import game as game_of
from tuplet.kernel import draw, implementation_of, kernel, stream
from tuplet.search.tree import MOST_OUTCOMES
from tuplet.testing.agents import check_agent
from tuplet.testing.problems import Problems

MOST_STEPS = 200  # of a game that are looked at closely
MANY = 10_000  # random games that are looked at from afar
_MARK = 251  # what no kernel writes
_HALF = np.uint64(32)

Array = np.ndarray[Any, Any]


def check_game(game: str | Game, *, games: int = 20, seed: int = 0) -> None:
    """Play random games and look at every function, text and picture of a game."""
    held, problems = game_of(game), Problems()
    name = f"game {held.name}"
    _check_names(held, problems)
    problems.tell(name)
    before = repr(held.rules)
    with problems.during("start(seed)", "first() or initial_position() fails"):
        one, two = held.start(seed), held.start(seed)
        problems.unless(
            one == two,
            "a seed gives two different starts",
            "initial_position() draws from something else than its state",
        )
        problems.unless(not one.over, "a game is over before it begins", "first() or ending()")
    problems.tell(name)
    state, ends = np.uint64(stream(np.uint64(seed), np.uint64(1))), 0
    _check_many(held, state, problems)
    problems.tell(name)
    for _ in range(games):
        state, position = held.opening(state)
        for step in range(LONGEST):
            if step < MOST_STEPS:
                _check_position(held, position, problems)
                problems.tell(name)
            if position.over:
                ends += 1
                break
            state, position = _step(position, state)
    problems.unless(
        ends,
        f"none of {games} random games ended within {LONGEST:,} steps",
        "ending() never says so, or the game can go on for ever: limit it",
    )
    problems.unless(
        repr(held.rules) == before, "rules change while games are played", "a kernel writes into an array of the rules"
    )
    _check_searches(held, held.opening(state)[1], problems)
    if held.players == 2:
        _check_record(held, held.opening(state)[1], problems)
    problems.tell(name)


@kernel
def _survey(game: Any, position: Words, state: np.uint64, games: Int, seen: Array) -> tuple[bool, Words]:
    """Random games until one is stuck: whether one was, and where. Notes how games ended."""
    moves = np.zeros(2 * MOST_MOVES, np.uint8)
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
    """Many games in compiled code, which come to what is rare; a game of each ending is kept."""
    state, start = game.opening(state)
    seen = np.zeros((256, 2), np.uint64)
    with problems.during("a random game", "legal(), apply() or ending()"):
        stuck, words = _survey(start.rules, start.words, state, MANY, seen)
        problems.unless(
            not stuck,
            "no move is legal, but the game is not over",
            "ending() must say so, or a pass must be a move",
            _at(start, words) if stuck else "",
        )
    for words in seen[seen.any(1)]:
        with problems.during("a finished position", "see there"):
            _check_position(game, start.at((words[0], words[1])), problems)


def _at(start: Any, words: Words) -> object:
    with suppress(Exception):
        return start.at((np.uint64(words[0]), np.uint64(words[1]))).notation
    return words


def _step(position: Any, state: np.uint64) -> tuple[np.uint64, Any]:
    if position.is_chance:
        state, outcome = position.random_outcome(state)
        return state, position.apply_outcome(outcome)
    state, move = position.random_move(state)
    return state, position.play(move)


def _check_names(game: Game, problems: Problems) -> None:
    kind = type(game.rules)
    with problems.during("players(rules)", f"{kind.__name__} is not registered: register_game"):
        players = game.players
        problems.unless(
            len(game.sides) == players,
            f"{players} players, but {game.sides} as sides",
            "sides has a name for each player",
        )
    problems.unless(
        isinstance(game.rules, tuple) and hasattr(kind, "_fields"),
        "rules are no NamedTuple",
        "kernels can be given nothing else",
    )
    problems.unless(
        game.name and not any(c.isspace() for c in game.name),
        f"the name {game.name!r} is no word",
        "it begins a notation",
    )
    problems.unless(len(set(game.sides)) == len(game.sides), "two sides have one name", "sides")
    own = [kind_ for kind_ in game.terminations if kind_ in FORFEITS]
    problems.unless(not own, f"{own} are kinds of forfeits", "choose other words for kinds")


def _check_position(game: Game, position: Any, problems: Problems) -> None:
    """All that can be asked of a position."""
    rules, where = position.rules, position.notation
    words = position.words
    ended = position.ending
    problems.unless(position.turn in position.sides, "nobody's turn", "side() is 0 or 1", where)
    with problems.during("the text or picture", "cells() or caption()", where):
        str(position)
        ElementTree.fromstring(position._repr_svg_())
    with problems.during("parse(notation)", "read() does not undo write()", where):
        problems.unless(
            game.parse(where) == position,
            "a notation is read as another position",
            "write() leaves something out, or read() reads it otherwise",
            where,
        )
    low, high = generic.value_range(rules)
    if ended != ONGOING:
        _check_ending(game, position, ended, problems)
        return
    guess = float(generic.estimate(rules, words))
    problems.unless(
        low < guess < high,
        f"estimate() is {guess:g}",
        f"it is a number between {low:g} and {high:g}, which are proofs",
        where,
    )
    if position.is_chance:
        shares = list(position.chance_outcomes().values())
        count = int(generic.count_outcomes(rules, words))
        problems.unless(
            len(shares) == count or isinstance(game, Game2048),
            "two of chance's outcomes have one text",
            "outcome_text()",
            where,
        )
        problems.unless(
            count <= MOST_OUTCOMES,
            f"chance can do {count:,} things",
            f"a search can tell {MOST_OUTCOMES:,} apart: let it act in two steps",
            where,
        )
        problems.unless(
            shares and abs(sum(shares) - 1) < 1e-9 and min(shares) >= 0,
            f"what chance can do has probabilities that sum to {sum(shares):g}",
            "probability() or count_outcomes()",
            where,
        )
        return
    _check_moves(position, rules, words, problems)
    most = max(position.legal_actions(), default=0)
    problems.unless(
        most < game.actions,
        f"a move is number {most} of {game.actions} actions",
        "actions is more than the number of any move",
        where,
    )
    with problems.during("playout()", "a random game fails", where):
        after = generic.playout(rules, words, np.uint64(1), True)
        last = np.uint64(after[1][0]), np.uint64(after[1][1])
        problems.unless(
            int(generic.ending(rules, last)) != ONGOING,
            "a random game does not end",
            "playout() stops too early, or the game goes on for ever",
            where,
        )
        again = generic.playout(rules, words, np.uint64(1), True)
        problems.unless(
            after == again,
            "a random game differs from itself",
            "playout() draws from something else than its state",
            where,
        )


def _check_ending(game: Game, position: Any, ended: int, problems: Problems) -> None:
    rules, where = position.rules, position.notation
    won = int(generic.winner(rules, ended))
    problems.unless(not position.legal_moves(), "moves in a finished game", "legal_moves()", where)
    problems.unless(
        position.termination in game.terminations,
        f"a game ended by {position.termination!r}",
        f"termination_of() must be one of {game.terminations}",
        where,
    )
    if game.players == 1:
        return
    problems.unless(won in (0, 1, NOBODY), f"winner() is {won}", "0, 1 or NOBODY", where)
    problems.unless(
        won != NOBODY or generic.has_draws(rules), "a game was drawn", "has_draws() says that it has none", where
    )
    expected = {0: 1.0, 1: 0.0}.get(won, 0.5)
    problems.unless(
        position.result == expected,
        f"payoff() is {position.result} for a result of {expected}",
        "it is what player 0 has: 1, 1/2 or 0",
        where,
    )
    rich = float(generic.payoff(rules, position.words, ended, True))
    problems.unless(
        0 <= rich <= 1 and (rich - 0.5) * (expected - 0.5) >= 0 and (rich == 0.5) == (expected == 0.5),
        f"payoff() with `rich` is {rich}",
        "a win is above 1/2, a loss below",
        where,
    )


def _check_moves(position: Any, rules: Any, words: Any, problems: Problems) -> None:
    where = position.notation
    moves = np.full(3 * MOST_MOVES, _MARK, np.uint8)
    count = int(generic.legal(rules, words, moves, MOST_MOVES))
    codes = [int(code) for code in moves[MOST_MOVES : MOST_MOVES + max(count, 0)]]
    problems.unless(
        count > 0, "no move is legal, but the game is not over", "ending() must say so, or a pass must be a move", where
    )
    most = generic.most_moves(rules)
    problems.unless(
        count <= most,
        f"{count} moves, but register_game was told of {most} at most",
        "the number there is too small",
        where,
    )
    problems.unless(
        (moves[:MOST_MOVES] == _MARK).all(), "legal() writes before `start`", "moves[start + i], not moves[i]", where
    )
    problems.unless(
        len(set(codes)) == len(codes) and max(codes, default=0) < 255,
        "legal() gives a move twice, or beyond 254",
        "moves are different small numbers",
        where,
    )
    texts = [position.move_text(code) for code in codes]
    problems.unless(len(set(texts)) == len(texts), "two moves have one text", "move_text()", where)
    problems.unless(
        all(text and not any(c.isspace() for c in text) for text in texts),
        "a move's text is no word",
        "move_text()",
        where,
    )
    problems.unless(
        sorted(codes) == sorted(position.legal_actions()),
        "legal_actions() differ from legal()",
        "the position class",
        where,
    )
    for function, more in _asked(codes):
        plain = getattr(implementation_of(function, rules), "py_func", None)
        if plain is None:
            continue
        with problems.during(f"{function.__name__}() uncompiled", "see there", where):
            with np.errstate(over="ignore"):
                here = plain(rules, words, *more)
            there = function(rules, words, *more)
            same = np.array_equal(np.array(here, np.uint64), np.array(there, np.uint64))
            both = f"{function.__name__}() gives {there} compiled, {here} uncompiled"
            problems.unless(same, both, "np.uint64 mixed with Python's numbers becomes signed in compiled code", where)


def _asked(codes: list[int]) -> list[tuple[Callable[..., Any], tuple[Any, ...]]]:
    one = [(generic.side, ()), (generic.ending, ()), (generic.is_chance, ())]
    return [*one, *((generic.apply, (code,)) for code in codes)]


def _check_searches(game: Game, start: Any, problems: Problems) -> None:
    """Searches find legal moves, and perft counts what playing on counts."""
    if start.is_chance:
        start = start.apply_outcome(next(iter(start.chance_outcomes())))
    with problems.during("perft", "legal() or apply() fails in compiled code", start.notation):
        counted, walked = int(perft(start.rules, start.words, 2)), _walk(start, 2)
        problems.unless(
            counted == walked,
            f"perft counts {counted} ways to go two steps on, play() finds {walked}",
            "apply() and the position class disagree",
            start.notation,
        )
    full = "expectimax:depth=2" if isinstance(game, Game2048) else "alphabeta:depth=3"
    for name in ("mcts:sims=200,batch=1,expand=5", full):
        with problems.during(name, "a kernel fails to compile, or for some position", ""):
            check_agent(name, game, games=1)


def _check_record(game: Game, start: Any, problems: Problems) -> None:
    """A game between agents is written down, and read again."""
    with problems.during("a game's record", "write(), read(), or the texts of moves"):
        record = play_game(make_agent("easy", game), make_agent("easy", game), start)
        problems.unless(
            not record.reason, f"random play forfeits: {record.reason}", "legal() and ending() disagree", start.notation
        )
        problems.unless(
            Record.parse(record.line) == record, "a record is read as another", "write() and read()", start.notation
        )


def _walk(position: Any, steps: int) -> int:
    if steps == 0:
        return 1
    if position.over:
        return 0
    after = (
        map(position.apply_outcome, position.chance_outcomes())
        if position.is_chance
        else (position.play(move) for move in position.legal_moves())
    )
    return sum(_walk(each, steps - 1) for each in after)
