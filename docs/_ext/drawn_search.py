"""Diagrams of search: a tree of EWN that our search grew, and what follows from its numbers."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from pencil import ACCENT, COOL, FAINT, GOOD, INK, PALE, Drawing

import tuplet
from tuplet.games.drawing import CELL
from tuplet.games.ewn.rules import payoff
from tuplet.games.protocol import ending
from tuplet.games.tree import EVEN, LOST, WON, TreeNode
from tuplet.search.bandits import UCB1, Arm, Report, Tuned, worth

# The report's settings, and a position six moves into a random game.
AGENT = "mcts:ucb=tuned,c=0.6,sims=4000,batch=25,expand=200,solver=no,reuse=no"
POSITION = "ewn-6x7 .r4...../r2r1r5..../.r3...../......b1/.....b5./....b2.. red 6:435334012132403124521"
COLOURS = (ACCENT, COOL, GOOD, "#7a4fa3")  # of moves
RED = "#c8402f"
PUBLISHED_K = (0, 2, 5, 10, 20, 40)


@cache
def searched() -> Any:
    """What the search found: moves, and its tree."""
    return tuplet.analyze("ewn-6x7", POSITION, AGENT, tree=2)


def arms() -> dict[str, Arm]:
    """The moves of the position as a bandit sees them, the most visited first."""
    total, found = searched().tree.simulations, {}
    for move in searched().moves:
        variance = move.value * (1 - move.value)  # of results that are 0 or 1
        found[move.move] = Arm(move.value, variance, move.visits, total, 0.0, np.uint64(0))
    return found


def tree() -> Drawing:
    """Two moves of a search tree."""
    view = searched().tree
    rows = [len(child.children) or 1 for child in view.root.children]
    drawing = Drawing(246 + 33 * sum(rows), "A search tree, two moves deep")
    position = tuplet.EwnPosition.parse(POSITION)
    _board(drawing, 10, 8, 0.5, position)
    cubes = " or ".join(sorted({move[0] for move in position.legal_moves()}))
    drawing.text(14, 202, f"die {position.die}: cube {cubes} moves", 13, PALE)
    drawing.text(226, 32, "the root: red to move", 15, bold=True)
    drawing.text(226, 56, f"{view.simulations:,} simulations,", 14, PALE)
    drawing.text(226, 76, f"{view.nodes:,} nodes", 14, PALE)
    drawing.text(226, 112, "colour and number: what", 13, PALE)
    drawing.text(226, 130, "red may expect,", 13, PALE)
    drawing.text(226, 148, "from 0 lost to 1 won", 13, PALE)
    drawing.text(226, 172, "size: visits", 13, PALE)
    top = 222.0
    drawing.text(118, top, "red's moves", 13, RED, bold=True)
    drawing.text(262, top, "blue's answers", 13, COOL, bold=True)
    y, middles = top + 12, []
    for count in rows:
        middles.append(y + 33 * count / 2)
        y += 33 * count
    middle = sum(middles) / len(middles)
    children = [*zip(view.root.children, rows, middles, strict=True)]
    for child, _, at in children:
        _edge(drawing, 34, middle, 130, at, child, view.simulations)
    for child, count, at in children:
        places = [at + 33 * (n - (count - 1) / 2) for n in range(count)]
        answers = [*zip(child.children, places, strict=False)]
        for answer, place in answers:
            _edge(drawing, 130, at, 282, place, answer, view.simulations)
        for answer, place in answers:
            path = f"{child.move} {answer.move}"
            _node(drawing, 282, place, answer, view.simulations, path, leaf=True)
        _node(drawing, 130, at, child, view.simulations, child.move, leaf=not child.children)
    _node(drawing, 34, middle, view.root, view.simulations, "root", leaf=False)
    return drawing


def _board(drawing: Drawing, x: float, y: float, scale: float, position: Any) -> None:
    """A position without its caption, which would be too small to read."""
    rows, columns = position.game.rows, position.game.columns
    size = columns * CELL + 16.0, rows * CELL + 16.0
    drawing.inset(x, y, scale, position._repr_svg_(), size)


def _edge(drawing: Drawing, x: float, y: float, to_x: float, to_y: float, node: TreeNode, all_: int) -> None:
    bend = x + 0.55 * (to_x - x)
    drawing.path(f"M{x} {y}C{bend} {y} {bend - 20} {to_y} {to_x} {to_y}", "#cfc6b6", 1 + 9 * node.visits / all_)


def _node(drawing: Drawing, x: float, y: float, node: TreeNode, all_: int, path: str, *, leaf: bool) -> None:
    r = 4 + 13 * math.sqrt(node.visits / all_)
    value = node.value or 0.0
    drawing.circle(x, y, r, _colour(value))
    if node.move:
        drawing.box(x - r - 31, y - 9, 24, 18, fill="#ffffff", line=FAINT, thick=1, round_=4)
        drawing.text(x - r - 19, y + 5, node.move, 13, anchor="middle", bold=True)
    if leaf:
        drawing.text(x + r + 6, y + 5, f"{value:.3f}", 13, name=f"value {path}")
        drawing.text(x + r + 50, y + 5, f"{node.visits:,}", 12, PALE, name=f"visits {path}")
    else:
        drawing.text(x, y + r + 15, f"{value:.3f}", 13, anchor="middle", name=f"value {path}")
        drawing.text(x, y + r + 30, f"{node.visits:,}", 12, PALE, anchor="middle", name=f"visits {path}")


def _colour(value: float) -> str:
    one, other = (LOST, EVEN) if value < 0.5 else (EVEN, WON)
    part = 2 * value if value < 0.5 else 2 * value - 1
    return "#{:02x}{:02x}{:02x}".format(*(round(a + (b - a) * part) for a, b in zip(one, other, strict=True)))


BANDITS = {"UCB1, c = 0.6": UCB1(0.6), "UCB1-Tuned, c = 0.6": Tuned(0.6), "the report's program, c = 0.6": Report(0.6)}


CURVES = (
    (UCB1(1.0), 0.25, ACCENT, "UCB1"),
    (Tuned(1.0), 0.02, "#7a4fa3", "Tuned, σ² = 0.02"),
    (Report(1.0), 0.16, GOOD, "the report's, σ² = 0.16"),
    (UCB1(0.25), 0.25, INK, "UCB1 with c/4"),
)


def ucb() -> Drawing:
    """Mean and exploration term of four moves, by three bandits."""
    drawing = Drawing(466, "Where the next simulation goes, by three formulas")
    drawing.text(12, 24, "mean + exploration term of red's moves", 15, bold=True)
    found = arms()
    low, high, left, right = 0.2, 0.68, 108.0, 404.0

    def at(value: float) -> float:
        return left + (right - left) * (value - low) / (high - low)

    y = 46.0
    for title, bandit in BANDITS.items():
        drawing.text(12, y + 6, title, 14, ACCENT, bold=True)
        promises = {move: float(worth(bandit, arm)) for move, arm in found.items()}
        best = max(promises, key=lambda move: promises[move])
        for i, (move, arm) in enumerate(found.items()):
            line, chosen = y + 18 + 26 * i, move == best
            drawing.text(12, line + 14, move, 14, bold=True)
            drawing.text(100, line + 14, f"n = {arm.visits:,.0f}", 12, PALE, anchor="end")
            drawing.box(left, line, at(arm.mean) - left, 19, fill=COOL, round_=2)
            end = at(min(promises[move], high))
            drawing.box(
                at(arm.mean), line, max(end - at(arm.mean), 1.5), 19, round_=2, fill=GOOD if chosen else "#c9b79c"
            )
            drawing.text(left + 6, line + 14, f"{arm.mean:.3f}", 12.5, "#ffffff")
            name = f"{type(bandit).__name__} {move}" + (" best" if chosen else "")
            x, anchor, colour = (end - 5, "end", "#ffffff") if end > 350 else (end + 6, "start", INK)
            drawing.text(x, line + 14, f"{promises[move]:.3f}", 12.5, colour, anchor=anchor, bold=chosen, name=name)
        y += 132
    drawing.box(12, y + 2, 14, 14, fill=COOL, round_=2)
    drawing.text(32, y + 14, "mean", 13)
    drawing.box(84, y + 2, 14, 14, fill="#c9b79c", round_=2)
    drawing.text(104, y + 14, "exploration", 13)
    drawing.box(196, y + 2, 14, 14, fill=GOOD, round_=2)
    drawing.text(216, y + 14, "the largest: descend here", 13)
    return drawing


def ucb_curves() -> Drawing:
    """The exploration term against the visits of a move."""
    drawing = Drawing(404, "How the exploration term falls with the visits of a move")
    parent, least = 290_000.0, 0.0025
    left, right, top, low = 52.0, 404.0, 44.0, 300.0

    def at(n: float, term: float) -> tuple[float, float]:
        across, up = math.log10(n / 10) / 4, math.log10(term / least) / math.log10(1.2 / least)
        return left + (right - left) * across, low - (low - top) * up

    drawing.text(12, 24, "exploration term, N = 290,000, c = 1", 15, bold=True)
    for term in (0.01, 0.1, 1.0):
        drawing.line([at(10, term), at(100_000, term)], "#ece7df", 1)
        drawing.text(left - 8, at(10, term)[1] + 4, f"{term:g}", 12, PALE, anchor="end")
    for n in (10, 100, 1000, 10_000, 100_000):
        anchor = "end" if n == 100_000 else "middle"
        drawing.text(at(n, least)[0], low + 18, f"{n:,}", 12, PALE, anchor=anchor)
    drawing.text((left + right) / 2, low + 37, "visits n of the move", 13, PALE, anchor="middle")
    grid = [10 ** (1 + 4 * i / 80) for i in range(81)]
    for i, (bandit, variance, colour, name) in enumerate(CURVES):
        arms_ = [Arm(0.0, variance, n, parent, 0.0, np.uint64(0)) for n in grid]
        way = [at(arm.visits, float(worth(bandit, arm))) for arm in arms_]
        if i == len(CURVES) - 1:  # lies on another: dashes
            points = "L".join(f"{x:.1f} {y:.1f}" for x, y in way)
            drawing.path(f"M{points}", colour, 1.6, dashed=True)
        else:
            drawing.line(way, colour, 2.8)
        x, y = 12 + 202.0 * (i % 2), 362 + 24.0 * (i // 2)
        drawing.path(f"M{x} {y - 5}L{x + 22} {y - 5}", colour, 3, dashed=i == len(CURVES) - 1)
        drawing.text(x + 28, y, name, 13.5)
    return drawing


ENDED = (127, 2, 1, 26)  # seeds of random games that end in the four ways


@cache
def endings() -> dict[float, Any]:
    """A rich result, as Red has it, and the last position of a game that ended so."""
    game, found = tuplet.game("ewn-6x7"), {}
    for seed in ENDED:
        position = tuplet.play_game("easy", "easy", game.start(seed)).position
        words = position.words
        ended = int(ending(position.rules, words))
        found[float(payoff(position.rules, words, ended, True))] = position
    return found


def rich() -> Drawing:
    """Four ways for a game to end, and what each counts."""
    drawing = Drawing(520, "Rich results: four endings, four numbers")
    for i, (result, position) in enumerate(sorted(endings().items(), reverse=True)):
        x, y = 10 + i % 2 * 204, 10 + i // 2 * 256
        _board(drawing, x, y, 0.48, position)
        colour = COOL if result < 0.5 else RED
        how = f"{position.winner}, by {'the ' if position.termination == 'corner' else ''}{position.termination}"
        drawing.text(x + 98, y + 186, how, 14, colour, anchor="middle", bold=True)
        drawing.text(
            x + 98,
            y + 214,
            f"{result:.1f}",
            24,
            colour,
            anchor="middle",
            bold=True,
            name=f"{position.winner} {position.termination}",
        )
        plain = f"to red; plain results: {round(result)}"
        drawing.text(x + 98, y + 235, plain, 12.5, PALE, anchor="middle")
    return drawing


def shares(rates: list[float], k: float) -> list[float]:
    """The share of each move, in proportion to exp(K rate)."""
    odds = [math.exp(k * rate) for rate in rates]
    return [odd / sum(odds) for odd in odds]


def temperature() -> Drawing:
    """Shares of the moves against K."""
    drawing = Drawing(440, "Temperature: the share of each move, and what it costs")
    found = arms()
    rates = [arm.mean for arm in found.values()]
    left, right, top, low = 46.0, 404.0, 46.0, 254.0

    def at(k: float, share: float) -> tuple[float, float]:
        return left + (right - left) * k / 40, low - (low - top) * share

    drawing.text(12, 24, "share of each move, and its rate, by K", 15, bold=True)
    below = [0.0] * 81
    ks = [i / 2 for i in range(81)]
    for i, (move, rate) in enumerate(zip(found, rates, strict=True)):
        upper = [b + shares(rates, k)[i] for b, k in zip(below, ks, strict=True)]
        way = [at(k, u) for k, u in zip(ks, upper, strict=True)]
        way += [at(k, b) for k, b in zip(reversed(ks), reversed(below), strict=True)]
        points = "L".join(f"{x:.1f} {y:.1f}" for x, y in way)
        drawing.path(f"M{points}Z", "#ffffff", 1, fill=COLOURS[i])
        x, y = at(1.2, upper[3])
        drawing.text(x, y + 17, f"{move}: {rate:.3f}", 13, "#ffffff", bold=True)
        below = upper
    for share in (0.0, 0.5, 1.0):
        drawing.text(left - 7, at(0, share)[1] + 4, f"{100 * share:.0f} %", 12, PALE, anchor="end")
    for k in PUBLISHED_K:
        drawing.text(at(k, 0)[0], low + 18, k, 13, PALE, anchor="middle")
    drawing.text(12, 304, "K", 14, PALE)
    drawing.text(12, 332, f"share of {next(iter(found))}", 14, COLOURS[0], bold=True)
    drawing.text(12, 360, "mean rate", 14)
    for i, k in enumerate(PUBLISHED_K):
        x, part = 138 + 50 * i, shares(rates, k)
        mean = sum(p * rate for p, rate in zip(part, rates, strict=True))
        drawing.text(x, 304, k, 14, PALE, anchor="middle")
        drawing.text(x, 332, f"{100 * part[0]:.0f} %", 14, COLOURS[0], anchor="middle", bold=True, name=f"share {k}")
        drawing.text(x, 360, f"{mean:.3f}", 13, anchor="middle", name=f"mean {k}")
    drawing.line([(12, 312), (408, 312)], FAINT)
    drawing.text(12, 396, f"The best move has a rate of {max(rates):.3f}. Even at K = 40, another", 13.5, PALE)
    other = 100 * (1 - shares(rates, 40)[0])
    drawing.text(12, 416, f"is played {other:.0f} times in a hundred.", 13.5, PALE)
    return drawing
