"""Classes of one's own, their objects and what makes them: taken everywhere, with settings."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import tuplet
from tuplet import Spec, analyze, evaluate, match, play_episode, play_game, regret, review
from tuplet.agents.specs import make_from_class, short_names
from tuplet.testing import check_agent

OWN = """
    import random
    from typing import Literal

    import tuplet

    class Snake:
        def __init__(self, depth: "int" = 1, bold=False, k: float | None = None, way="up",
                     mood: Literal["calm", "wild"] = "calm", *, seed=0):
            self.settings = depth, bold, k, way, mood, seed

        def open(self, start, side, state):
            self.luck = random.Random(int(state) + self.settings[0])

        def choose(self, board):
            return self.luck.choice(board.legal_moves())

        def analyze(self, board):
            after = board.after_states()
            moves = [tuplet.MoveValue(move, 10.0 + after[move][1]) for move in after]
            return tuplet.Analysis(moves, max(after, key=lambda move: after[move][1]))

    class Any:
        def __init__(self, **settings):
            self.settings = settings

        def choose(self, board):
            return board.legal_moves()[0]

    class Spiteful:
        def __init__(self, tile=2):
            self.tile = tile

        def open(self, start, side, state):
            self.luck = random.Random(int(state))

        def place(self, board):
            return self.luck.choice(board.empty), self.tile

    class Way:
        def __init__(self, way="2"):
            self.way = way

        def choose(self, position):
            moves = position.legal_moves()
            return next((m for m in moves if m.endswith(self.way)), moves[0])

    def snake(depth=3):
        return Snake(depth)

    READY = Snake(depth=5)
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A module of somebody's own; a file with a comma in its name has the same."""
    for name in ("mine_own.py", "mine, too.py"):
        (tmp_path / name).write_text(textwrap.dedent(OWN))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    import mine_own  # type: ignore[import-not-found]

    yield mine_own
    for name in ("mine_own", "mine, too"):
        sys.modules.pop(name, None)


def made(text: str) -> Any:
    return tuplet.make_agent(text, "2048", 7).settings  # type: ignore[attr-defined]


def test_settings_are_read_by_the_types_of_the_constructor(own: Any) -> None:
    assert made("mine_own:Snake") == (1, False, None, "up", "calm", 7)
    text = "mine_own.py:Snake,depth=-2,bold=yes,k=1e-3,way=a b,mood=wild,seed=4"
    assert made(text) == (-2, True, 0.001, "a b", "wild", 4)
    assert made("mine, too.py:Snake,depth=3,k=2")[:3] == (3, False, 2.0)
    assert isinstance(made("mine_own:Snake,k=2")[2], float)
    assert made("mine_own:Any,a=1,b=0.5,c=yes,d=x") == {"a": 1, "b": 0.5, "c": True, "d": "x"}
    assert made("mine_own:snake,depth=4")[0] == 4  # a function that makes one
    assert made("mine_own:READY")[0] == 5  # an object
    assert make_from_class(partial(own.Snake, seed=3), "x", "choose", "board", 9).settings[-1] == 3
    for text, complaint in (
        ("mine_own:Snake,dpth=2", "'dpth=2' is not a setting; there are depth, bold, k, way, mood"),
        ("mine_own:Snake,depth", "'depth' is not a setting"),
        ("mine_own:Snake,depth=2.5", "depth must be a whole number \\(got '2.5'\\)"),
        ("mine_own:Snake,k=nan", "k must be a number"),
        ("mine_own:Snake,bold=1", "bold must be yes or no"),
        ("mine_own:Snake,mood=sad", "mood must be calm or wild"),
        ("mine_own:Snake,depth=1,depth=2", "depth is set twice"),
        ("mine_own:Way,x=1", "there are way"),
        ("mine_own:READY,depth=1", "an object takes no settings"),
        ("mine_own:OWN", "has no class OWN"),
    ):
        with pytest.raises(ValueError, match=complaint):
            tuplet.make_agent(text, "2048")
    with pytest.raises(ValueError, match="'x=1' is not a setting; there are none"):
        make_from_class(type("None_", (), {"choose": 1}), "n", "choose", "board", 0, "x=1")


def test_other_names_are_not_taken_for_classes() -> None:
    for text in (
        "mine:Snake",
        "a.b:Snake,x=1",
        "f.py:Snake",
        "a,b.py:Snake,x=1,y=c:d",
        "/x y/f.py:S,z=1",
        "m:S,net=n.py:T",
    ):
        assert Spec(text).is_class, text
    for text in (
        "exec:./a.py",
        "exec:a",
        "exec[time=1]:x.py:A",
        "mcts:ucb=b.py:Curious,c=1",
        "runs/first",
        "mcts:sims=5,ucb=b.py:Curious",
        "small",
        "mcts:c=1,sims=5",
        "x.py",
        "m:1",
        "expectimax:values=a.py:B",
    ):
        assert not Spec(text).is_class, text
    with pytest.raises(ValueError, match="cannot be named from here"):
        tuplet.make_agent(Spec("os:system,command=x"))
    names = ["m:Way,way=1,k=2", "m:Way,way=2,k=2", "m:Other,way=1", "easy"]
    assert short_names(names) == ["m:Way,way=1", "m:Way,way=2", "m:Other,way=1", "easy"]


def test_everything_takes_classes_objects_and_what_makes_them(own: Any) -> None:
    start = tuplet.game("ewn-6x7").start()
    record = play_episode("greedy", seed=3).text("episode")
    for snake in (own.Snake, own.Snake(), partial(own.Snake, depth=2), "mine_own:Snake,depth=2"):
        assert evaluate(snake, partial(own.Spiteful, tile=4), games=1).summary.games == 1
        assert len(play_episode(snake, own.Spiteful).moves) > 20
        assert analyze("2048", None, snake).best
        assert review(record, snake).best_share == 1  # it judges as greedy plays
        assert regret(snake, board="2x2", games=2).as_json()["games"] == 2
    check_agent(partial(own.Snake, depth=2), "2048", games=1)
    check_agent("mine_own:Snake,depth=2", "2048", games=1)
    with pytest.raises(ValueError, match="different moves on the same board"):
        regret(own.Snake, board="2x2")
    for way in (own.Way, own.Way(), partial(own.Way, way="1"), "mine_own:Way,way=1"):
        assert match(way, "easy", games=2).games == 2
        assert analyze("ewn-6x7", None, way).best
        assert play_game(way, "easy", start).over
        check_agent(way, "ewn", games=1)
    for wrong in (7, own.Spiteful, own.Spiteful(), print):
        with pytest.raises(ValueError, match=r"choose\(position\)|cannot make"):
            evaluate(wrong, games=1)
    with pytest.raises(ValueError, match=r"place\(board\)"):
        evaluate("greedy", own.Way, games=1)
    with pytest.raises(ValueError, match="has no values to judge by"):
        review(record, own.Any)


def test_a_tournament_distinguishes_objects_of_one_class(own: Any) -> None:
    everybody = [own.Way, own.Way(), partial(own.Way, way="1"), "mine_own:Way,way=0"]
    played = tuplet.tournament(everybody, games=2)
    assert played.agents == ["Way", "Way-2", "Way,way=1", "mine_own:Way,way=0"]


@pytest.mark.long
def test_agents_that_draw_from_their_stream_play_the_same_games_on_any_number_of_cores(
    own: Any, recwarn: Any, tmp_path: Path
) -> None:
    """Classes, objects and partials, in processes: settings get there."""
    alone = evaluate("mine_own:Snake,depth=2", "mine_own:Spiteful,tile=4", games=12, seed=5)
    others = [(partial(own.Snake, depth=2), own.Spiteful(tile=4)), (own.Snake(depth=2), "mine_own:Spiteful,tile=4")]
    for snake, spiteful in others:
        two = evaluate(snake, spiteful, games=12, seed=5, threads=2)
        assert (two.results.scores == alone.results.scores).all()
    assert evaluate(own.Snake(1), games=3, seed=5).summary != alone.summary
    files = []
    for threads, agent in ((1, own.Way("1")), (2, own.Way("1"))):
        path = tmp_path / f"{threads}.jsonl"
        match(agent, "easy", games=6, threads=threads, out=path)
        files.append(path.read_bytes())
    assert files[0] == files[1]
    assert not recwarn.list
