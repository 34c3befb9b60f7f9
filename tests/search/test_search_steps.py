"""A search step by step is the search: the same tree, the terms of its bandit, the moves of its random games."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tuplet
from tuplet import UserError
from tuplet.games import protocol as generic
from tuplet.kernel import as_seed, stream
from tuplet.search import mcts, tree as trees
from tuplet.search.bandits import BANDITS
from tuplet.search.steps import COMPARED, record_playout, search_steps

u = np.uint64
START = "ewn r1r2r3../r4r5.../r6...b6/...b5b4/..b3b2b1 red 2"
NEAR_END = "ewn-6x7 ......./b0..b4.../......./..r5...r1/b3...b5../....b1.. red 34:003443532104544020122"  # red wins
CONNECT4 = str(Path(__file__).parents[2] / "examples/connect4.py") + ":CONNECT4"


def position_of(name: str) -> Any:
    if name in ("ewn", "near the end"):
        return tuplet.Position.parse(START if name == "ewn" else NEAR_END)
    return tuplet.game(CONNECT4 if name == "connect4" else name).start(3)


def grown(position: Any, ucb: str, simulations: int, seed: int, **settings: Any) -> trees.Tree:
    """The tree of a search that was not interrupted."""
    tree = trees.make_tree(20_000)
    options = mcts.Options(BANDITS[ucb](), settings.get("batch", 1), settings.get("expand", 4))
    trees.reset(position.rules, tree, position.words)
    mcts.search(position.rules, tree, options, simulations, np.inf, u(stream(as_seed(seed), u(0))))
    return tree


@pytest.mark.parametrize("ucb", COMPARED)
@pytest.mark.parametrize("name", ["ewn", "ewn-6x7", "near the end", "connect4"])
def test_after_each_step_the_tree_is_that_of_the_search(name: str, ucb: str) -> None:
    position, seed = position_of(name), 5
    shown = json.loads(json.dumps(search_steps(position, ucb, last=120, seed=seed).as_json()))
    nodes = {each["node"]: each for each in shown["tree"]}
    for step in shown["steps"]:
        for new in step["expanded"]:
            nodes[new["node"]] = dict(new)
        for change in step["backup"]:
            node = nodes[change["node"]]
            if node not in step["expanded"]:
                assert [node["visits"], node["total"]] == [change["visits"][0], change["total"][0]]
            for key in ("visits", "value", "total"):
                node[key] = change[key][1]
            node["proven"] = change["proven"]
        tree = grown(position, ucb, step["simulations"], seed)
        count = int(tree.counters[trees.USED])
        assert [*nodes] == [*range(count)] and step["simulations"] == tree.counters[trees.SIMULATIONS]
        assert [nodes[n]["visits"] for n in range(count)] == tree.visits[:count].tolist()
        assert [nodes[n]["total"] for n in range(count)] == tree.totals[:count].tolist()
        proven = [2 if nodes[n]["proven"] is None else nodes[n]["proven"] for n in range(count)]
        red = shown["side"] == position.sides[0]
        sure = [2 if p == 2 else 0.5 if p == 3 else float((p == 0) == red) for p in tree.proven[:count].tolist()]
        assert proven == sure
        assert [nodes[n]["parent"] for n in range(1, count)] == tree.parents[1:count].tolist()
    assert shown["done"] == (nodes[0]["proven"] is not None) and (shown["done"] or len(shown["steps"]) == 120)
    assert name != "near the end" or nodes[0]["proven"] == 1


@pytest.mark.parametrize("ucb", COMPARED)
def test_the_child_of_the_largest_worth_is_selected(ucb: str) -> None:
    seen = 0
    for name in ("ewn", "ewn-6x7"):
        for step in search_steps(position_of(name), ucb, last=150, seed=2).steps:
            for choice in step["choices"]:
                children = choice["children"]
                if choice["side"] == "chance":
                    assert choice["selected"] in [child["node"] for child in children]
                    continue
                for child in children:
                    worth = child["bandits"][ucb]
                    assert worth["worth"] == child["mean"] + worth["exploration"]
                best = max((c for c in children if not c["proven"]), key=lambda c: c["bandits"][ucb]["worth"])
                wins = [c["node"] for c in children if c["proven"]]
                assert choice["selected"] in (best["node"], *wins)
                assert choice["would"][ucb] == choice["selected"]
                for other, selected in choice["would"].items():
                    top = max(c["bandits"][other]["worth"] for c in children if c["node"] not in wins)
                    found = next(c for c in children if c["node"] == selected)
                    assert found["bandits"][other]["worth"] == top or selected in wins
                assert sum(child["prior"] for child in children) == pytest.approx(1, abs=1e-6)
                seen += len({*choice["would"].values()}) > 1
    assert seen > 20  # the bandits do not agree


def test_terms_are_those_of_the_formulas() -> None:
    shown = search_steps(position_of("ewn"), "tuned", last=60, c=0.7, c1=1.2, c2=0.3)
    choice = shown.steps[-1]["choices"][0]
    log = np.log(choice["visits"])
    for child in choice["children"]:
        n, variance = child["visits"], child["variance"]
        spread = min(variance + 1.2 * (log / n) ** 0.5, 0.3)
        terms = child["bandits"]
        assert terms["tuned"]["spread"] == pytest.approx(spread)
        assert terms["tuned"]["exploration"] == pytest.approx(0.7 * (log / n * spread) ** 0.5)
        assert terms["ucb1"]["exploration"] == pytest.approx(BANDITS["ucb1"]().c * (log / n) ** 0.5)
        puct: Any = BANDITS["puct"]()
        assert terms["puct"]["exploration"] == pytest.approx(
            puct.c * child["prior"] * choice["visits"] ** 0.5 / (1 + n)
        )


@pytest.mark.parametrize("name", ["ewn", "ewn-6x7", "connect4"])
def test_random_games_can_be_played_again_and_their_results_are_backed_up(name: str) -> None:
    position = position_of(name)
    shown = search_steps(position, last=40, batch=3, expand=9)
    nodes = {each["node"]: each for each in [*shown.tree, *(n for s in shown.steps for n in s["expanded"])]}
    games = 0
    for step in shown.steps:
        totals = {change["node"]: change["total"] for change in step["backup"]}
        for played in step["playouts"]:
            now = position.game.parse(nodes[played["node"]]["position"])
            for each in played["steps"]:
                now = now if each["outcome"] is None else now.apply_outcome(each["outcome"])
                now = now if each["move"] is None else now.play(each["move"])
                assert now.notation == each["position"]
            assert now.over
            first = {shown.side: 1.0, None: 0.5}.get(now.winner, 0.0)
            if not played["known"]:
                assert played["results"][0] == first and len(played["results"]) == played["games"] == 3
                games += 3
            own = sum(played["results"]) if played["results"] else 3 * first
            before, after = totals[played["node"]]
            own = own if shown.side == position.sides[0] else 3 - own
            assert after - before == own
        root = totals[0]
        assert root[1] - root[0] == sum(totals[p["node"]][1] - totals[p["node"]][0] for p in step["playouts"])
    assert games > 60


VARIANTS = ["ewn", "ewn-6x7", "ewn:die=free", "ewn:die=chosen", "ewn:hole=yes", "ewn:backward=yes", "ewn:own=no"]


@pytest.mark.parametrize("name", [*VARIANTS, "connect4"])
def test_steps_of_random_games_are_those_of_playouts(name: str) -> None:
    start = position_of(name)
    moves, played = np.zeros(generic.MOST_MOVES, np.uint8), np.zeros((512, 2), np.int32)
    for number in range(500):
        state = u(stream(u(number), u(1)))
        position = start
        for _ in range(number % 12):
            state, after = position.random_step(state)
            position = position if after.over else after
        shortcuts = number % 2 == 0
        wanted, last = generic.playout(position.rules, position.words, state, shortcuts)
        found, count, result = record_playout(position.rules, position.words, state, shortcuts, moves, played)
        assert u(found) == u(wanted) and count > 0
        assert result == generic.payoff(position.rules, last, generic.ending(position.rules, last), False)


def test_the_agent_with_the_same_settings_has_the_same_visits() -> None:
    shown = search_steps(position_of("ewn"), "puct", c=1.5, batch=5, expand=20, last=100, seed=9)
    sims = shown.steps[-1]["simulations"]
    known = tuplet.analyze("ewn", START, f"mcts:ucb=puct,c=1.5,batch=5,expand=20,sims={sims}", seed=9, progress=False)
    visits = {each["move"]: each["node"] for each in shown.steps[0]["expanded"]}
    after = {change["node"]: change["visits"][1] for step in shown.steps for change in step["backup"]}
    assert {move.move: move.visits for move in known.moves} == {move: after[node] for move, node in visits.items()}


def test_a_part_of_the_steps_begins_with_the_tree_before_it() -> None:
    whole, part = search_steps(position_of("ewn"), last=60), search_steps(position_of("ewn"), first=40, last=60)
    assert part.steps == whole.steps[40:] and whole.tree[0]["visits"] == 0
    assert {each["node"] for each in part.tree} == {
        each["node"] for each in [*whole.tree, *(n for step in whole.steps[:40] for n in step["expanded"])]
    }
    assert part.tree[0]["visits"] == whole.steps[39]["simulations"]
    assert str(whole).startswith("0: expands, then 3 random games")


@pytest.mark.parametrize(
    ("notation", "settings", "says"),
    [
        ("2048 2,0,0,0/0,0,0,0/0,0,0,0/0,2,0,0 0", {}, "games for two"),
        (START.replace("red 2", "red ?"), {}, "rolled first"),
        ("ewn ...../...../...../...../....r1 blue 1", {}, "the game is over"),
        (START, {"ucb": "thompson"}, "ucb must be ucb1, tuned or puct"),
        (START, {"ucb": "ucb1", "c1": 1.0}, "ucb1 has no c1"),
        (START, {"c": -1.0}, "c must be 0 to"),
        (START, {"c": float("nan")}, "c must be 0 to"),
        (START, {"batch": 0}, "batch must be 1 to 100"),
        (START, {"expand": 0}, "expand must be 1 to"),
        (START, {"first": 5, "last": 5}, "less than last"),
        (START, {"last": 10_000}, "last must be at most 1,000"),
    ],
)
def test_what_is_wrong_is_said(notation: str, settings: dict[str, Any], says: str) -> None:
    with pytest.raises(UserError, match=says):
        search_steps(tuplet.Position.parse(notation), **settings)
