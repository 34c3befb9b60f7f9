"""Agents of EWN: names and settings, the baselines' own games, the same game again, foreseen lines."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tuplet.agents import best as opponent_model
from tuplet.agents.agent import Searcher, make_agent
from tuplet.agents.baselines import baseline_move
from tuplet.agents.best import MODELS, Best, Exploit, OpponentModel
from tuplet.agents.searchers import AlphaBeta, Mcs, Mcts
from tuplet.arena.analyze import analyze
from tuplet.arena.game import play_game
from tuplet.arena.match import match
from tuplet.games.ewn import EwnGame, EwnPosition
from tuplet.search import expectimax, mcts, tree as trees
from tuplet.search.bandits import Report, Softmax

u = np.uint64

DATA = Path(__file__).parent.parent / "data" / "ewn"
BUDGETED = [
    "mcts:sims=300,expand=50",
    "mcts:sims=300,expand=50,results=rich,final_k=20,descent_k=20",
    "mcs:sims=300",
    "mcts:sims=300,cutoff=0",
    "alphabeta:nodes=2000",
    "alphabeta:depth=3",
    "best:nodes=2000,time=60",
    "exploit:hard,nodes=2000",
]


def start(name: str = "ewn-6x7", seed: int = 3) -> EwnPosition:
    state, position = EwnGame(name).initial_position(u(seed))
    return position.apply_outcome(position.random_outcome(state)[1]) if position.is_chance else position


# Names and settings


def search_of(spec: str, game: str = "ewn-6x7") -> Any:
    agent = make_agent(spec, game)
    assert isinstance(agent, Searcher) and agent.name == spec
    return agent.search


def test_agents_are_named_by_their_settings() -> None:
    search = search_of("mcts:ucb=tuned,c=0.6,results=rich,sims=20000")
    assert isinstance(search, Mcts)
    assert (search.ucb, search.c, search.results) == ("tuned", 0.6, "rich")
    assert search.sims == 20_000 and search.time is None and search.settings.rich
    assert (search_of("mcts:time=1.8").time, search_of("mcts:time=1.8").sims) == (1.8, None)
    assert search_of("mcts").sims is None
    search = search_of("mcs:sims=20000")
    assert isinstance(search, Mcs) and search.expand == mcts.NEVER
    search = search_of("alphabeta:depth=10")
    assert isinstance(search, AlphaBeta) and not isinstance(search, Best)
    assert search.depth == 10 and not search.reduce
    search = search_of("best")
    assert isinstance(search, Best) and not isinstance(search, Exploit) and search.reduce
    assert search.values == "ewn-6x7" and search.network.game.name == "ewn-6x7"
    assert search_of("best", "ewn").network.game.name == "ewn"
    assert search_of("best", "ewn:board=4x4,cubes=3").network is None
    for spec, opponent in (("exploit", "hard"), ("exploit:normal,time=2", "normal"), ("exploit:opponent=hard", "hard")):
        search = search_of(spec)
        assert isinstance(search, Exploit) and search.opponent == opponent


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("mcts", {"ucb": "ucb1"}),
        ("mcts", {"ucb": "report"}),
        ("mcts", {"c": 1.5}),
        ("mcts", {"c1": 2.0}),
        ("mcts", {"c2": 0.5}),
        ("mcts", {"results": "rich"}),
        ("mcts", {"batch": 3}),
        ("mcts", {"expand": 9}),
        ("mcts", {"shortcuts": False}),
        ("mcts", {"solver": False}),
        ("mcts", {"reuse": False}),
        ("mcts", {"final": "lower"}),
        ("mcts", {"cutoff": 4}),
        ("mcts", {"mix": 0.5}),
        ("mcts", {"final": "visits"}),
        ("mcts", {"descent_k": 20.0}),
        ("mcts", {"final_k": 0.0}),
        ("mcts", {"nodes": 5000}),
        ("mcts", {"sims": 77}),
        ("mcts", {"time": 0.25}),
        ("alphabeta", {"depth": 7}),
        ("alphabeta", {"time": 0.25}),
        ("alphabeta", {"nodes": 99}),
        ("alphabeta", {"table": 12}),
        ("alphabeta", {"reduce": True}),
        ("best", {"time": 0.5}),
        ("best", {"reduce": False}),
        ("best", {"depth": 6}),
    ],
    ids=str,
)
def test_every_setting_has_its_text(name: str, settings: dict[str, Any]) -> None:
    (key, value), *_ = settings.items()
    text = ("no", "yes")[value] if isinstance(value, bool) else value
    search = search_of(f"{name}: {key} = {text} ")
    kinds = {"mcts": Mcts, "alphabeta": AlphaBeta, "best": Best}
    values = {"values": "ewn-6x7"} if name == "best" else {}
    assert search == kinds[name](**settings, **values) and getattr(search, key) == value


def test_settings_reach_the_kernel() -> None:
    search = Mcts(ucb="report", c=1.0, c1=2.0, c2=3.0, batch=4, expand=5, results="rich", shortcuts=False, solver=False)
    assert search.settings[:7] == (Report(1.0, 2.0, 3.0), 4, 5, True, False, False, 1.0)
    assert not search.settings.stop[0] and (search.settings.cutoff, search.settings.mix) == (mcts.NEVER, 0.0)
    values = Mcts(cutoff=0).settings
    assert (values.batch, values.expand, values.cutoff) == (1, 0, 0) and Mcts(cutoff=0, batch=3).settings.batch == 3
    assert (Mcts(mix=0.5).settings.mix, Mcts(cutoff=4).settings.batch) == (0.5, 25)
    assert type(search.settings.bandit) is Report
    assert Mcts(descent_k=7.0).settings.bandit == Softmax(7.0)
    assert Mcts().settings[:7] == mcts.Options()[:7]  # the report's


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("mcts:simz=3", "'simz=3' is not a setting; there are ucb, c, c1, c2, results, batch"),
        ("alphabeta:sims=3", "there are depth, time, nodes, table, reduce"),
        ("best:sims=3", "there are depth, time, nodes, table, reduce, values"),
        ("exploit:easy", "'easy' is not a setting"),
        ("exploit:opponent=easy", "opponent must be normal or hard \\(got 'easy'\\)"),
        ("mcts:state=3", "not a setting"),
        ("mcts:sims", "not a setting"),
        ("mcts:sims=", "whole number"),
        ("mcts:sims=1e4", "whole number"),
        ("mcts:sims=-3", "0 or more"),
        ("mcts:sims=" + "9" * 400, "0 or more"),
        ("mcts:sims=" + "9" * 30, "0 or more"),
        ("mcts:c=nan", "a number"),
        ("mcts:c=inf", "a number"),
        ("mcts:time=fast", "time must be a number \\(got 'fast'\\)"),
        ("mcts:ucb=best", "ucb must be one of ucb1, tuned, report"),
        ("mcts:results=poor", "results must be plain or rich"),
        ("mcts:mix=2", "mix must be 0 to 1 \\(got 2\\)"),
        ("mcts:final=first", "final must be rate, visits or lower"),
        ("mcts:solver=true", "yes or no"),
        ("mcts:c=1,c=2", "c is set twice"),
        ("mcts:batch=0", "1 to 1,000,000 simulations"),
        ("mcts:nodes=10", "1,000 to"),
        ("alphabeta:depth=0", "alphabeta:depth=0: depth must be 1 to 99 \\(got 0\\)"),
        ("alphabeta:depth=100", "depth must be 1 to 99 \\(got 100\\)"),
        ("alphabeta:nodes=0", "1 or more"),
        ("alphabeta:table=40", "2 to 28"),
        ("easy:sims=3", "easy has no settings"),
        ("hard:depth=3", "hard has no settings"),
        ("hardest", "not an agent; agents are best, hard"),
        ("", "not an agent"),
        ("no_such_module:Agent", "cannot import no_such_module"),
        ("json:Agent", "module json has no class Agent"),
        ("json:JSONDecoder", r"has no method choose\(position\)"),
    ],
    ids=lambda text: text[:30],
)
def test_a_bad_name_is_refused_in_one_line_that_says_what_there_is(spec: str, words: str) -> None:
    with pytest.raises(ValueError, match=words) as refused:
        make_agent(spec)
    assert "\n" not in str(refused.value)


def test_any_class_with_choose_is_an_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_agent_of_a_test.py").write_text(
        "class Last:\n    def choose(self, position):\n        return position.legal_moves()[-1]\n"
    )
    monkeypatch.chdir(tmp_path)
    agent = make_agent("own_agent_of_a_test:Last")
    assert agent.choose(start()) == start().legal_moves()[-1]


# The baselines


@pytest.mark.parametrize("name", ["normal", "hard"])
def test_baselines_make_every_move_of_the_original_programs(name: str) -> None:
    agent, moves = make_agent(name), 0
    for line in (DATA / f"{name}.jsonl").read_text().splitlines():
        game = json.loads(line)
        init = game["init"]
        position = EwnGame("ewn-6x7").setup(red=init[:6], blue=init[6:12], die=init[12:33])
        for move in game["moves"]:
            if position.turn == game["program"]:
                assert agent.choose(position) == move, position.notation
                moves += 1
            position = position.play(move)
        assert position.winner == game["winner"]
    assert moves > 350


# The same game again


@pytest.mark.parametrize("game", [pytest.param("ewn-6x7", marks=pytest.mark.long), "ewn"])
@pytest.mark.parametrize("spec", [pytest.param(each, marks=[pytest.mark.long] * ("rich" in each)) for each in BUDGETED])
def test_the_same_stream_gives_the_same_game(spec: str, game: str) -> None:
    """Also for an agent that has played another game before."""
    rolls, opening = EwnGame(game).initial_position(u(8))
    used = make_agent(spec, game)
    other_rolls, other = EwnGame(game).initial_position(u(9))
    play_game(used, make_agent("easy"), other, rolls=other_rolls, streams=(u(5), u(6)))
    lines = set()
    for agent in (make_agent(spec, game), used, used):
        record = play_game(agent, make_agent("easy"), opening, rolls=rolls, streams=(u(1), u(2)))
        assert record.termination in ("corner", "elimination")
        lines.add(record.line)
    assert len(lines) == 1


def test_a_new_game_begins_with_a_new_tree() -> None:
    """Even if its first position is one that the last game's tree has."""
    position = start()
    agent = make_agent("mcts:sims=3000")
    assert isinstance(agent, Searcher)
    following = position.play(agent.choose(position))
    for game, kept in (("the same", True), ("another", False)):
        if game == "another":
            agent.open(position, "red", u(1))
            agent.choose(position)
            agent.open(following, "blue", u(1))
        agent.choose(following)
        tree = agent.search.tree  # type: ignore[union-attr]
        assert (tree.visits[trees.ROOT] > tree.counters[trees.SIMULATIONS]) == kept


def test_random_searches_depend_on_the_stream() -> None:
    for spec in ("mcts:sims=100", "mcs:sims=100"):
        totals = set()
        for seed in range(4):
            search = search_of(spec)
            search.open(u(seed))
            search.think(start().rules, start().words)
            totals.add(float(search.tree.totals[trees.ROOT]))
        assert len(totals) > 1


@pytest.mark.parametrize("spec", ["mcts:sims=150", "mcs:sims=150", "alphabeta:nodes=500"])
def test_a_match_is_the_same_with_agents_that_are_fresh_for_each_game(spec: str, tmp_path: Path) -> None:
    class Fresh:
        """Forgets everything before each game."""

        name = spec

        def open(self, *arguments: Any) -> None:
            self.agent: Any = make_agent(spec)
            self.agent.open(*arguments)

        def choose(self, position: EwnPosition) -> str:
            return str(self.agent.choose(position))

    files = [tmp_path / "kept", tmp_path / "fresh"]
    for one, file in zip((spec, Fresh), files, strict=True):
        match(one, "normal", games=6, seed=2, out=file)
    kept, fresh = ([json.loads(text)["moves"] for text in records(file)] for file in files)
    assert kept == fresh and len(kept) == 6


def records(file: Path) -> list[str]:
    return file.read_text().splitlines()[1:]


def test_another_known_die_is_another_game() -> None:
    """The same squares, but nothing remembered of them holds."""
    one, two = start(seed=1), start(seed=2)
    for spec in ("alphabeta:depth=5", "mcts:sims=500"):
        agent, fresh = make_agent(spec), make_agent(spec)
        agent.choose(one)
        same_squares = EwnGame("ewn-6x7").setup(red="012345", blue="012345", die=two.known_die)
        before = EwnGame("ewn-6x7").setup(red="012345", blue="012345", die=one.known_die)
        agent.choose(before)
        agent.search.state = fresh.search.state
        assert agent.choose(same_squares) == fresh.choose(same_squares)


def test_time_may_be_set_before_each_move() -> None:
    position = start()
    for spec in ("mcts:time=5", "alphabeta:time=5", "best:time=5", "alphabeta:depth=99"):
        agent: Any = make_agent(spec)
        agent.time = 0.0
        agent.choose(position)  # touches its memory
        for seconds in (0.05, 0.15):
            agent.time = seconds
            agent.open(position, "red", u(1))
            began = time.perf_counter()
            assert agent.choose(position) in position.legal_moves()
            assert time.perf_counter() - began < seconds + 30


def test_the_analysis_is_of_the_last_move() -> None:
    position = start()
    for spec in ("mcts:sims=2000", "mcs:sims=2000", "alphabeta:depth=4", "best:nodes=3000"):
        agent: Any = make_agent(spec)
        move = agent.choose(position)
        thoughts = agent.analyze(position)
        assert agent.analyze(position) == thoughts  # it does not look again
        assert thoughts.moves[0].move == move == thoughts.line[0]
        at = position
        for each in thoughts.line:
            at = at.play(each)
        assert all(0 <= thought.value <= 1 for thought in thoughts.moves)
        agent.open(position, "red", u(1))
        assert agent.analyze(position).best in position.legal_moves()


def test_values_are_those_of_the_side_that_moves() -> None:
    """A position turned round, with the colours exchanged, is worth the same."""
    red = EwnPosition.parse("ewn ...../...../..r1../...../b1.... red 1")
    blue = EwnPosition.parse("ewn ....r1/...../..b1../...../..... blue 1")
    for spec in ("mcts:sims=20000", "alphabeta:depth=3"):
        values = []
        for position in (red, blue):
            agent: Any = make_agent(spec, "ewn")
            agent.choose(position)
            values.append(agent.analyze(position).moves[0].value)
        assert values[0] == pytest.approx(values[1], abs=0.02) and values[0] > 0.6


# Lines that are foreseen


def found_line(position: EwnPosition, model: OpponentModel, until: float = np.inf) -> bool:
    work = expectimax.make_workspace(16)
    return model.find(position.rules, position.rules, position.words, work, until)


def test_a_line_that_is_followed_beats_the_model() -> None:
    """Whatever the position is worth, against an opponent who plays as expected."""
    won = 0
    for seed in range(4):
        first = start(seed=seed)
        model, position = OpponentModel(MODELS["hard"]), first
        if not found_line(first, model):
            continue
        while not position.over:
            if position.turn == first.turn:
                move = model.plan[position.words]  # the plan goes on to the end
            else:
                move = int(baseline_move(position.rules, position.words, MODELS["hard"]))
            position = position.after(move)
        assert position.winner == first.turn
        won += 1
    assert won >= 3


def test_a_line_is_left_when_the_opponent_leaves_it() -> None:
    agent, hard = make_agent("exploit:hard,nodes=2000"), make_agent("hard")
    position = start(seed=1)
    agent.open(position, "red", u(1))
    for _ in range(2):
        position = position.play(agent.choose(position))
        other = [move for move in position.legal_moves() if move != hard.choose(position)]
        position = position.play(other[0])
        assert position.words not in agent.search._model.plan
        assert agent.choose(position) in position.legal_moves()


@pytest.mark.parametrize("seconds", [0.0, 0.02, 0.2])
def test_no_step_of_a_line_begins_that_could_end_too_late(seconds: float) -> None:
    for seed in range(3):
        position, model = start(seed=seed), OpponentModel(MODELS["hard"])
        found_line(position, model, time.monotonic() + 0.01)  # compiled, if it was not
        model.forget()
        began, used = time.monotonic(), time.thread_time()
        found = found_line(position, model, began + seconds)
        used = time.thread_time() - used
        assert used < seconds + 1.0  # of processor time, on a busy machine
        assert not found or seconds


def test_a_line_is_given_up_when_the_time_is_over() -> None:
    position, work = start(seed=1), expectimax.make_workspace(12)
    line, state = np.zeros((opponent_model.LONGEST, 3), np.uint64), np.uint64(7)
    rules, words = position.rules, position.words
    found = opponent_model._play_line(rules, rules, words, np.int64(8), u(0), state, work, line, 0.0)
    assert found == (state, 0) and not line.any()


def test_only_exploit_looks_for_lines_and_only_where_the_die_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OpponentModel, "find", lambda *_: 1 / 0)
    known, rolled = start(), start("ewn")
    for search, position in ((Best(depth=3), known), (AlphaBeta(depth=3), known), (Exploit(depth=3), rolled)):
        assert search.think(position.rules, position.words) in position.legal_actions()
    with pytest.raises(ZeroDivisionError):
        Exploit(depth=3).think(known.rules, known.words)


def test_warming_up_leaves_the_time_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = make_agent("alphabeta:time=5", "ewn-6x7")
    monkeypatch.setattr(agent.search, "think", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        agent.warm_up(start())
    assert agent.time == 5


def test_a_time_that_is_set_later_is_used() -> None:
    """As `tuplet agent` sets it before each move."""
    large = "ewn:board=9x9,die=cycle"  # proven by alpha-beta in a third of a second, not earlier
    position = start(large)
    for spec in ("mcts", "mcs", "alphabeta", "best"):
        agent: Any = make_agent(spec, large)
        agent.choose(position)  # compiled, and usual limits
        agent.open(position, "red", u(1))
        agent.time = 0.05
        began = time.monotonic()
        agent.choose(position)
        assert time.monotonic() - began > 0.04, spec


@pytest.mark.parametrize("spec", ["easy", "normal", "hard", "best", "exploit", "alphabeta", "mcts", "mcs"])
def test_a_position_without_a_choice_is_refused(spec: str) -> None:
    over = EwnPosition.parse("ewn b1..../...../...../...../...r1. red 2")
    for position, words in ((EwnGame("ewn").setup(), "rolled first"), (over, "over")):
        with pytest.raises(ValueError, match=words):
            make_agent(spec, "ewn").choose(position)


def test_a_watched_alpha_beta_reports_each_depth_as_if_it_were_the_last() -> None:
    start = EwnGame("ewn-6x7").setup(die="442244101345413510354")
    seen: list[Any] = []
    found = analyze("ewn-6x7", start, "alphabeta:depth=6", watch=seen.append)
    assert seen
    assert [each.depth for each in found.depths] == [1, 2, 3, 4, 5]
    for told in found.depths:
        alone = analyze("ewn-6x7", start, f"alphabeta:depth={told.depth}")
        assert not alone.depths  # nobody watched
        assert (told.value, told.line[0]) == (alone.moves[0].value, alone.best)
    assert found.as_json()["depths"][0].keys() == {"depth", "value", "proven", "line"}


def test_the_nodes_of_a_watched_search_are_limited_as_well() -> None:
    position, counts = start(), []
    for look in (None, lambda: None):
        search = AlphaBeta(nodes=20_000)
        search.on_update = look
        search.think(position.rules, position.words)
        note = search.analysis(position).note
        counts.append(int(re.search(r"([\d,]+) nodes", note)[1].replace(",", "")))
    assert all(20_000 <= count <= 20_100 for count in counts)
