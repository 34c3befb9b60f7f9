"""A search's tree can be looked at: as text, as a picture, as JSON, and as it grew."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as Xml
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tuplet import TreeNode, analyze, game, make_agent
from tuplet.search import tree as trees

CONNECT4 = str(Path(__file__).parents[2] / "examples" / "connect4.py") + ":CONNECT4"
BOARD = "2,4,8,16, 0,2,64,32, 4,8,256,128, 0,2,512,1024"
NOTATION = "ewn r1r2r3../r4r5.../r6...b6/...b5b4/..b3b2b1 red 2"


def walk(node: TreeNode, deep: int = 0) -> Any:
    """Nodes, and the moves of players before each."""
    yield deep, node
    for child in node.children:
        yield from walk(child, deep + (node.side != "chance"))


@pytest.mark.parametrize("blue", [False, True])
def test_a_tree_view_has_the_values_of_the_search(blue: bool) -> None:
    position = game("ewn-6x7").start(3)
    position = position.play(position.legal_moves()[0]) if blue else position
    agent = make_agent("mcts:sims=3000")
    best, view = agent.choose(position), agent.tree(2)
    found = agent.analyze(position)
    assert view.root.side == position.turn and view.root.move == ""
    assert {n.move: (n.visits, n.value, n.ci95, n.proven) for n in view.root.children} == {
        m.move: (m.visits, m.value, m.ci95, m.proven) for m in found.moves
    }
    assert best in {node.move for node in view.root.children}
    assert max(deep for deep, _ in walk(view.root)) == 2
    for _, node in walk(view.root):
        assert [c.visits for c in node.children] == sorted(c.visits for c in node.children)[::-1]
        assert node.side in ("red", "blue", "")
    # All values are the root's: a mean over children, whoever moves there.
    inner = view.root.children[0]
    mean = sum(c.visits * c.value for c in inner.children) / sum(c.visits for c in inner.children)
    assert abs(mean - inner.value) < 0.1


def test_a_view_goes_to_a_depth_or_to_a_share_and_is_never_too_large() -> None:
    agent = make_agent("mcts:sims=20000")
    with pytest.raises(ValueError, match="choose a move first"):
        agent.tree()
    agent.choose(game("ewn-6x7").start(3))
    wide, deep = agent.tree(3), agent.tree(depth=None, share=0.05)
    assert min(node.visits for _, node in walk(deep.root)) >= 0.05 * deep.simulations
    assert max(d for d, _ in walk(deep.root)) > 3 and deep.shown < wide.shown
    few = agent.tree(3, most=10)
    assert few.shown == 10 and few.full and "most visited" in str(few)
    kept = {node.visits for _, node in walk(few.root)}
    assert min(kept) >= sorted((n.visits for _, n in walk(wide.root)), reverse=True)[9]
    for wrong, why in (({"depth": 0}, "1 or more"), ({"share": 2.0}, "0 to 1")):
        with pytest.raises(ValueError, match=why):
            agent.tree(**wrong)
    with pytest.raises(ValueError, match="grows no tree"):
        make_agent("alphabeta").tree()


def test_outcomes_of_chance_are_shown_with_their_probability() -> None:
    found = analyze("ewn", NOTATION, "mcts:sims=5000", tree=2)
    assert found.tree is not None
    rolls = [node for _, node in walk(found.tree.root) if node.chance is not None]
    assert {node.move for node in rolls} == set("123456")
    assert {round(node.chance, 6) for node in rolls} == {round(1 / 6, 6)}
    assert "[3]" in str(found.tree) and "what chance does" in str(found.tree)
    player = make_agent("mcts:sims=400,expand=5", "2048")
    found = analyze("2048", BOARD, player, tree=2)
    assert found.tree is not None and found.tree.points
    tiles = [node.move for _, node in walk(found.tree.root) if node.chance is not None]
    assert tiles and all(tile[:2] in ("2@", "4@") for tile in tiles)
    assert abs(found.moves[0].value - found.tree.root.children[0].value) < 1e-9


def test_a_proof_is_shown() -> None:
    found = analyze(CONNECT4, "......./......./......./......./.RRR.../.YYY...", "mcts:sims=500", tree=1)
    assert found.tree is not None
    won = next(node for node in found.tree.root.children if node.move == found.best)
    assert won.proven and won.value == 1.0 and won.side == ""
    assert "proven" in str(found.tree) and "proven" in found.tree.svg()


def test_json_text_and_picture_agree(tuplet, tmp_path: Path) -> None:
    picture, grown = tmp_path / "tree.svg", tmp_path / "growth.svg"
    words = ["analyze", "ewn", NOTATION, "--agent", "mcts:sims=2000", "--tree", "2"]
    done = tuplet(*words, "--json", "--out", picture, "--plot", grown)
    report = json.loads(done.stdout)
    assert done.returncode == 0 and "root" in report["tree"]["values"]
    assert set(report["tree"]["children"][0]) == {
        "move",
        "visits",
        "value",
        "ci95",
        "proven",
        "side",
        "chance",
        "left_out",
        "children",
    }
    assert set(report["growth"]["moves"]) == {m["move"] for m in report["moves"]}
    texts = {each.text for each in Xml.parse(picture).iter("{http://www.w3.org/2000/svg}text")}
    text = tuplet(*words).stdout
    for child in report["tree"]["children"]:
        assert child["move"] in texts
        assert f"red {child['move']}" in text and f"{child['visits']:,}" in text
    assert "<svg" in grown.read_text()
    for wrong, why in (
        (["--out", "tree.png"], ".svg"),
        (["--plot", "a.txt"], ".png"),
        (["--agent", "hard"], "grows no tree"),
    ):
        done = (
            tuplet(*words, *wrong)
            if "--agent" not in wrong
            else tuplet("analyze", "ewn", NOTATION, *wrong, "--tree", "2")
        )
        assert done.returncode == 2 and why in done.stderr and done.stderr.count("\n") == 1


def test_growth_ends_with_the_very_same_tree() -> None:
    position = game("ewn-6x7").start(3)
    one, other = (make_agent("mcts:sims=20000,batch=5") for _ in range(2))
    found = analyze("ewn-6x7", position, one, growth=True)
    analyze("ewn-6x7", position, other)
    for name, array in one.search.tree._asdict().items():
        used = len(array) if name == "counters" else int(one.search.tree.counters[trees.USED])
        assert np.array_equal(array[:used], getattr(other.search.tree, name)[:used]), name
    growth = found.growth
    assert growth is not None and growth.simulations[-1] == 20_000
    assert len(growth.simulations) > 30 and growth.simulations == sorted(growth.simulations)
    for move in found.moves:
        assert growth.moves[move.move][-1] == move
        visits = [each.visits for each in growth.moves[move.move]]
        assert visits == sorted(visits)
    shown = found._repr_html_()
    assert shown.startswith("<svg") and "<table>" in shown and shown.count("<svg") == 2


def test_a_terminal_shows_branches(monkeypatch, capsys) -> None:
    from tuplet.cli.play import show_tree

    agent = make_agent("mcts:sims=2000")
    agent.choose(game("ewn-6x7").start(3))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    show_tree(agent.tree(2))
    assert "└──" in capsys.readouterr().out


def test_an_agent_that_was_watched_is_left_as_it_was() -> None:
    agent, seen = make_agent("alphabeta:depth=4", "ewn-6x7"), []
    start = game("ewn-6x7").start(3)
    analyze("ewn-6x7", start, agent, watch=seen.append)
    many = len(seen)
    assert many > 0
    assert not analyze("ewn-6x7", start, agent).depths and len(seen) == many
    tree = make_agent("mcts:sims=200", "ewn-6x7")
    assert analyze("ewn-6x7", start, tree, growth=True).growth is not None
    assert analyze("ewn-6x7", start, tree).growth is None
    analyze("ewn-6x7", start, tree, watch=seen.append)
    assert tree.on_update is None
