"""docs/methods: the code on its pages runs, and its diagrams say what tuplet computes."""

from __future__ import annotations

import importlib
import math
import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

import tuplet

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parent.parent / "docs"
METHODS = DOCS / "methods"
PAGES = sorted(path.stem for path in METHODS.glob("*.md"))
PICTURES = sorted(path.stem for path in METHODS.glob("*.svg"))
BOARD = [2048, 2, 0, 0, 512, 4, 2, 0, 256, 16, 8, 0, 256, 4, 2, 2]  # the state in the pictures


@pytest.fixture(scope="module")
def drawn() -> Iterator[Any]:
    sys.path.insert(0, str(DOCS / "_ext"))
    yield importlib.import_module("drawings")
    sys.path.remove(str(DOCS / "_ext"))


def words(picture: str) -> dict[str, list[str]]:
    """What a picture says, by the names of its words."""
    found: dict[str, list[str]] = {}
    for text in ET.parse(METHODS / f"{picture}.svg").iter("{http://www.w3.org/2000/svg}text"):
        found.setdefault(text.get("class", ""), []).append(text.text or "")
    return found


def number(text: str) -> float:
    """The last number of a text."""
    return float(re.findall(r"[−-]?[\d,]*\.?\d+", text)[-1].replace("−", "-").replace(",", ""))


def best(found: dict[str, list[str]], prefix: str = "") -> str:
    """The one that is marked as the best."""
    (name,) = (n for n in found if n.startswith(prefix) and n.endswith(" best"))
    return name.removeprefix(prefix).removesuffix(" best").strip()


@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_a_page_runs(page: str) -> None:
    text = (METHODS / f"{page}.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for piece in re.findall(r"```python\n(.*?)```", text, re.S):
        exec(piece, names)


@pytest.mark.parametrize("page", [page for page in PAGES if page != "index"])
def test_a_page_has_a_picture_a_formula_the_source_and_a_result(page: str) -> None:
    text = (METHODS / f"{page}.md").read_text(encoding="utf-8")
    for picture, alt in re.findall(r'<img src="(.*?)" width="420" alt="(.*?)">', text):
        assert (METHODS / picture).exists() and len(alt) > 20
    assert "<img" in text and "$$" in text and "## What it gives" in text
    for source in re.findall(r"{literalinclude} (\S+)", text):
        assert (METHODS / source).exists()
    assert "{literalinclude} ../../src/tuplet/" in text


@pytest.mark.parametrize("page", PAGES)
def test_formulas_can_be_drawn(page: str) -> None:
    converter = pytest.importorskip("latex2mathml.converter")
    text = (METHODS / f"{page}.md").read_text(encoding="utf-8")
    text = re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.S)
    for formula in re.findall(r"\$\$(.+?)\$\$|\$(.+?)\$", text, re.S):
        assert "\\" not in converter.convert("".join(formula)), formula  # a word it does not know


def test_every_picture_is_on_a_page_and_drawn_as_now(drawn: Any) -> None:
    """If this fails, something that is drawn has changed: `python docs/_ext/drawings.py`."""
    assert sorted(drawn.DRAWINGS) == PICTURES
    pages = "".join((METHODS / f"{page}.md").read_text(encoding="utf-8") for page in PAGES)
    for name, draw in drawn.DRAWINGS.items():
        assert f'"{name}.svg"' in pages
        assert draw().svg() == (METHODS / f"{name}.svg").read_text(encoding="utf-8"), name


@pytest.mark.parametrize("picture", PICTURES)
def test_no_words_of_a_picture_lie_on_others(picture: str) -> None:
    """Measured in DejaVu Sans, which is wider than the fonts that are asked for."""
    boxes = []
    for text in ET.parse(METHODS / f"{picture}.svg").findall("{http://www.w3.org/2000/svg}text"):
        if (text.text or "").strip():  # boards have their own
            font = FontProperties(family="DejaVu Sans", weight=text.get("font-weight", "normal"))
            size = float(text.attrib["font-size"])
            box = TextPath((0, 0), text.text, size=size, prop=font).get_extents()
            before = {"start": 0.0, "middle": 0.5, "end": 1.0}[text.get("text-anchor", "start")]
            x, y = float(text.attrib["x"]) - before * box.width, float(text.attrib["y"])
            boxes.append((x, x + box.width, y - box.y1, y - box.y0, text.text))
    for one, other in combinations(boxes, 2):
        beside = one[1] - 1 <= other[0] or other[1] - 1 <= one[0]
        above = one[3] - 1 <= other[2] or other[3] - 1 <= one[2]
        assert beside or above, (one[4], other[4])


def test_the_move_that_is_marked_is_the_one_we_would_play() -> None:
    found = words("selection-afterstate")
    analysis = tuplet.analyze("2048", BOARD, "small")
    assert best(found) == analysis.best
    for move in analysis.moves:
        name = move.move + (" best" if move.move == analysis.best else "")
        assert number(found[name][0]) == move.value
        assert number(found[f"{move.move} value"][0]) + (move.reward or 0) == move.value


def test_the_expectation_over_tiles_is_the_mean_of_the_states(drawn: Any) -> None:
    found, net = words("selection-state"), drawn.drawn_2048.state_values()
    board = tuplet.Board(BOARD)
    expected = {
        move: reward + sum(share * net.value(state) for state, share in after.spawns(0.1))
        for move, (after, reward) in board.after_states().items()
    }
    assert best(found) == max(expected, key=lambda move: expected[move]) == net.best_move(board)
    for move, value in expected.items():
        shown = found.get(move) or found[f"{move} best"]
        assert number(shown[0]) == pytest.approx(value, abs=0.51)
    after, _ = board.move("up")
    values = [net.value(after.place(cell, tile)) for tile in (2, 4) for cell in after.empty]
    assert [number(text) for text in found["next"]] == pytest.approx(values, abs=0.51)


@pytest.mark.parametrize("picture", ["td-afterstate", "td-state", "td-end"])
def test_a_backup_adds_up(picture: str) -> None:
    found = words(picture)
    old, behind = number(found["value"][0]), number(found["value"][-1])
    reward = 0 if picture == "td-end" else 512
    error = number(found["error"][0])
    assert error == pytest.approx(reward + behind - old, abs=1)
    assert number(found["update"][0]) == pytest.approx(old + 0.1 * error, abs=1)
    if picture != "td-state":
        board = tuplet.Board(BOARD).move("up")[0] if reward else None
        assert board is None or behind == tuplet.Network.load("small").value(board)


def test_the_weights_of_the_placements_sum_to_the_value() -> None:
    found = words("ntuple-isomorphs")
    part, *_ = parts = tuplet.Network.load("small").explain(tuplet.Board(BOARD).move("up")[0])
    weights = [number(text) for text in found["weight"]]
    assert weights == [weight for _, weight in part.placements]
    assert sum(weights) == number(found["part"][0]) == part.value
    assert number(found["value"][0]) == sum(each.value for each in parts)
    assert found["index"][0] in words("ntuple-index")["index"][0]
    assert number(words("ntuple-index")["weight"][0]) == weights[0]


def test_a_rate_is_how_far_on_how_long_a_way() -> None:
    found = words("tc-rate")
    rates = {}
    for name in ("agree", "cancel"):
        far, way, rate = (float(n.replace(",", "")) for n in re.findall(r"[\d,.]+", found[name][0]))
        assert far <= way and rate == pytest.approx(far / way, abs=0.006)
        rates[name] = rate
    assert rates["agree"] > 0.5 > 0.1 > rates["cancel"]


@pytest.fixture(scope="module")
def searched(drawn: Any) -> dict[str, Any]:
    """The moves of the tree, as a search says them that is asked for itself."""
    search = drawn.drawn_search
    found = tuplet.analyze("ewn-6x7", search.POSITION, search.AGENT)
    assert found.best == "10"
    return {move.move: move for move in found.moves}


def test_the_tree_is_that_of_the_search(drawn: Any) -> None:
    found, search = words("mcts-tree"), drawn.drawn_search
    agent = f"{search.AGENT},nodes=1000"  # another agent, another tree, the same numbers
    root = tuplet.analyze("ewn-6x7", search.POSITION, agent, tree=2).tree.root
    nodes = {"root": root, **{child.move: child for child in root.children}}
    for child in root.children:
        nodes.update({f"{child.move} {answer.move}": answer for answer in child.children})
    assert len(nodes) == sum(name.startswith("visits ") for name in found) == 17
    for path, node in nodes.items():
        assert found[f"value {path}"] == [f"{node.value:.3f}"]
        assert found[f"visits {path}"] == [f"{node.visits:,}"]


def test_the_bandits_choose_by_their_formulas(searched: dict[str, Any]) -> None:
    found = words("ucb-bars")
    total = sum(move.visits for move in searched.values())
    formulas = {
        "UCB1": lambda share, _: math.sqrt(share),
        "Tuned": lambda share, v: math.sqrt(share * min(v + 1.414 * math.sqrt(share), 0.25)),
        "Report": lambda share, v: math.sqrt(share) * min(v + 1.414 * math.sqrt(share), 0.25),
    }
    for bandit, formula in formulas.items():
        promise = {}
        for name, move in searched.items():
            variance = move.value * (1 - move.value)  # of results 0 and 1
            promise[name] = move.value + 0.6 * formula(math.log(total) / move.visits, variance)
        assert best(found, bandit) == max(promise, key=lambda name: promise[name])
        for name, worth in promise.items():
            shown = found.get(f"{bandit} {name}") or found[f"{bandit} {name} best"]
            assert number(shown[0]) == pytest.approx(worth, abs=0.0006)


def test_results_are_rich() -> None:
    found = words("rich-results")
    expected = {"red elimination": 1.0, "red corner": 0.9, "blue corner": 0.1, "blue elimination": 0}
    assert {name: number(found[name][0]) for name in expected} == expected


def test_shares_are_those_of_the_temperature(searched: dict[str, Any]) -> None:
    found = words("temperature")
    rates = [move.value for move in searched.values()]
    for k in (0, 2, 5, 10, 20, 40):
        odds = [math.exp(k * rate) for rate in rates]
        assert number(found[f"share {k}"][0][:-2]) == round(100 * max(odds) / sum(odds))
        mean = sum(odd * rate for odd, rate in zip(odds, rates, strict=True)) / sum(odds)
        assert number(found[f"mean {k}"][0]) == pytest.approx(mean, abs=0.0006)
