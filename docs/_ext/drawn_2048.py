"""Diagrams of learning: a step of a real game, with what really trained networks say of it."""

from __future__ import annotations

from functools import cache

import numpy as np
from pencil import ACCENT, COOL, FAINT, GOOD, INK, PALE, Drawing, whole

import tuplet
from tuplet import Board, Network
from tuplet.values.patterns import format_tuple, placements

# Move 1,413 of `play_episode("small", RandomEnvironment(seed=1))`, and its last. (The boards that
# are updated find each weight once, so that V moves by just the learning rate's share.)
BEFORE = Board([2048, 2, 0, 0, 512, 4, 2, 0, 256, 16, 8, 0, 256, 4, 2, 0])  # an after-state
STATE = BEFORE.place(15, 2)
AFTER, REWARD = STATE.move("up")
NEXT_STATE = AFTER.place(12, 2)
LAST = Board([2048, 8, 4, 2, 1024, 32, 16, 4, 128, 64, 8, 2, 64, 8, 0, 4096])  # an after-state
OVER = LAST.place(14, 4)
ALPHA = 0.1


@cache
def small() -> Network:
    """The player that comes along: values of after-states."""
    return Network.load("small")


@cache
def state_values() -> Network:
    """A network that learned values of states for some seconds: 2,000 games, seed 1."""
    settings = {"games": 2000, "target": "state", "learner": "tc", "seed": 1}
    return tuplet.train("4x5", progress=False, **settings).network


def updated(net: Network, board: Board, target: float) -> float:
    """V after an update towards a target; the network stays as it was."""
    old = net.weights.copy()
    net.update(board, target, ALPHA)
    value = net.value(board)
    net.weights[:] = old
    return value


def index() -> Drawing:
    """Which weight a tuple finds on a board."""
    net, drawing = small(), Drawing(366, "How the tiles on a tuple's cells spell an index")
    cells, side = net.tuples[0], 150.0
    drawing.text(12, 24, f"the tuple {format_tuple(cells)} on an after-state", 15, bold=True)
    drawing.board(12, 40, side, AFTER.tiles, only=cells, mark=cells)
    exponents = [AFTER.exponents[cell] for cell in cells]
    index_ = sum(e << 4 * i for i, e in enumerate(exponents))
    columns = [258 + 34 * i for i in range(len(cells))]
    for y, name in ((70, "cell"), (100, "tile"), (130, "exponent"), (164, "bits")):
        drawing.text(238, y, name, 13, PALE, anchor="end")
    for x, cell, exponent in zip(columns, cells, exponents, strict=True):
        drawing.text(x, 70, f"{cell:x}", 14, ACCENT, anchor="middle", bold=True)
        drawing.text(x, 100, AFTER.tiles[cell] or "–", 14, anchor="middle")
        drawing.text(x, 130, exponent, 14, COOL, anchor="middle", bold=True)
        drawing.text(x, 164, f"{exponent:04b}", 12, PALE, anchor="middle")
    drawing.line([(244, 112), (412, 112)], FAINT)
    for cell in range(16):
        x, y, mine = 296 + 28 * (cell % 4), 236 + 28 * (cell // 4), cell in cells
        drawing.box(x, y, 26, 26, fill="#f6e7d8" if mine else "#f1eeea", round_=3)
        drawing.text(x + 13, y + 18, f"{cell:x}", 13, ACCENT if mine else PALE, anchor="middle", bold=mine)
    drawing.text(12, 222, "index: four bits a cell, the first cell lowest", 13, PALE)
    terms = [f"{e}·16{_raised(i)}" for i, e in enumerate(exponents)]
    drawing.text(12, 250, " + ".join(terms[:3]), 14)
    drawing.text(12, 272, " + " + " + ".join(terms[3:]), 14)
    drawing.text(12, 298, f"= {whole(index_)} = 0x{index_:05x}", 15, COOL, bold=True, name="index")
    weight = net.explain(AFTER)[0].placements[0][1]
    drawing.text(12, 334, f"weight[0x{index_:05x}] = {whole(weight)}", 16, bold=True, name="weight")
    drawing.text(12, 354, "in the table of the player small", 12.5, PALE)
    return drawing


def _raised(power: int) -> str:
    return "⁰¹²³⁴⁵⁶⁷"[power]


def isomorphs() -> Drawing:
    """The eight placements of a tuple, and what each finds."""
    net, drawing = small(), Drawing(412, "Eight placements of one tuple, and the weight of each")
    cells, (part, *others) = net.tuples[0], net.explain(AFTER)
    drawing.text(12, 24, f"{format_tuple(cells)} in its eight placements, one table", 15, bold=True)
    for i, placed in enumerate(placements(cells)):
        x, y = 12 + i % 4 * 102, 42 + i // 4 * 138
        drawing.board(x, y, 90, AFTER.tiles, only=placed, mark=placed[:1])
        found = sum(AFTER.exponents[cell] << 4 * n for n, cell in enumerate(placed))
        drawing.text(x + 45, y + 106, f"0x{found:05x}", 12, PALE, anchor="middle", name="index")
        weight = whole(part.placements[i][1])
        drawing.text(x + 45, y + 123, weight, 14, COOL, anchor="middle", bold=True, name="weight")
    drawing.line([(12, 318), (408, 318)], FAINT)
    drawing.text(12, 342, "sum of the eight", 14)
    drawing.text(408, 342, whole(part.value), 14, COOL, anchor="end", bold=True, name="part")
    rest = " + ".join(whole(other.value) for other in others).replace("+ −", "− ")
    drawing.text(12, 368, "the other tuples", 14)
    drawing.text(408, 368, rest, 14, COOL, anchor="end", bold=True)
    drawing.text(12, 394, "all together", 14)
    total = f"V = {whole(net.value(AFTER))}"
    drawing.text(408, 394, total, 15, ACCENT, anchor="end", bold=True, name="value")
    return drawing


def td_afterstate() -> Drawing:
    """V(after-state) is moved towards the next reward and the value behind it."""
    net = small()
    old, behind = net.value(BEFORE), net.value(AFTER)
    new = updated(net, BEFORE, REWARD + behind)
    drawing = Drawing(592, "TD backup of the value of an after-state")
    _step(drawing, 12, BEFORE, "after-state s′", f"V(s′) = {whole(old)}", learned=True)
    _down(drawing, 140, "a 2 appears", PALE)
    _step(drawing, 176, STATE, "state s", "", mark=(15,))
    _down(drawing, 304, f"up, reward r = {REWARD}", INK)
    _step(drawing, 340, AFTER, "next after-state", f"V(s′next) = {whole(behind)}", mark=(8,))
    _back(drawing, 404, 76)
    return _sum(drawing, 484, "r + V(s′next) − V(s′)", REWARD, behind, old, new, "V(s′)")


def td_state() -> Drawing:
    """V(state) is moved towards the reward of its own move and the value of the next state."""
    net = state_values()
    old, behind = net.value(STATE), net.value(NEXT_STATE)
    new = updated(net, STATE, REWARD + behind)
    drawing = Drawing(592, "TD backup of the value of a state")
    _step(drawing, 12, STATE, "state s", f"V(s) = {whole(old)}", learned=True)
    _down(drawing, 140, f"up, reward r = {REWARD}", INK)
    _step(drawing, 176, AFTER, "after-state s′", "", mark=(8,))
    _down(drawing, 304, "a 2 appears", PALE)
    _step(drawing, 340, NEXT_STATE, "next state s″", f"V(s″) = {whole(behind)}", mark=(12,))
    _back(drawing, 404, 76)
    return _sum(drawing, 484, "r + V(s″) − V(s)", REWARD, behind, old, new, "V(s)")


def td_end() -> Drawing:
    """The last after-state of a game is moved towards 0."""
    net = small()
    old, new = net.value(LAST), updated(net, LAST, 0.0)
    drawing = Drawing(428, "The end of a game: the last after-state is moved towards 0")
    _step(drawing, 12, LAST, "the last after-state", f"V(s′) = {whole(old)}", learned=True)
    _down(drawing, 140, "a 4 appears", PALE)
    _step(drawing, 176, OVER, "no move is left", "nothing more to earn: 0", mark=(14,))
    _back(drawing, 240, 76)
    return _sum(drawing, 320, "0 − V(s′)", None, 0.0, old, new, "V(s′)")


def _step(
    drawing: Drawing,
    y: float,
    board: Board,
    name: str,
    value: str,
    *,
    mark: tuple[int, ...] = (),
    learned: bool = False,
) -> None:
    drawing.board(56, y, 124, board.tiles, mark=mark, colour=GOOD)
    drawing.text(200, y + 54, name, 15, bold=True)
    drawing.text(200, y + 80, value, 15, COOL, name="value")
    if learned:
        drawing.box(50, y - 6, 136, 136, line=ACCENT, thick=3, round_=9)


def _down(drawing: Drawing, y: float, words: str, colour: str) -> None:
    drawing.arrow(f"M118 {y}L118 {y + 28}", (118, y + 33), "down", colour)
    drawing.text(136, y + 22, words, 14, colour)


def _back(drawing: Drawing, low: float, high: float) -> None:
    """The arrow along which news goes back."""
    drawing.arrow(f"M52 {low}C6 {low - 20} 6 {high + 20} 40 {high}", (46, high - 2), "right", ACCENT, 3)


def _sum(
    drawing: Drawing, y: float, formula: str, reward: int | None, behind: float, old: float, new: float, what: str
) -> Drawing:
    error = (reward or 0) + behind - old
    drawing.box(10, y, 400, 96, fill="#faf5ef", line=FAINT)
    drawing.text(24, y + 27, f"δ = {formula}", 14, name="formula")
    first = "" if reward is None else f"{whole(reward)} + "
    worked = f"= {first}{whole(behind)} − {whole(old)} = {whole(error)}"
    drawing.text(24, y + 51, worked, 14, name="error")
    arrow = f"{what} ← {whole(old)} + {ALPHA:g} δ = {whole(new)}"
    drawing.text(24, y + 79, arrow, 16, ACCENT, bold=True, name="update")
    return drawing


def select_afterstate() -> Drawing:
    """Four moves, r + V(s')."""
    net, drawing = small(), Drawing(424, "Choosing a move by the values of after-states")
    drawing.board(150, 12, 120, STATE.tiles)
    drawing.text(138, 64, "state s", 15, anchor="end", bold=True)
    drawing.text(282, 58, "which move?", 14, PALE)
    best = net.best_move(STATE)
    for i, move in enumerate(net.moves(STATE)):
        x, chosen = 12 + i * 102, move.move == best
        colour = GOOD if chosen else PALE
        drawing.arrow(
            f"M{180 + 20 * i} 136C{180 + 20 * i} 160 {x + 45} 148 {x + 45} 172",
            (x + 45, 180),
            "down",
            colour if move.legal else FAINT,
            3 if chosen else 1.6,
        )
        after, _ = STATE.move(move.move)
        drawing.board(x, 184, 90, after.tiles, only=None if move.legal else ())
        name = move.move + (" best" if chosen else "")
        drawing.text(x + 45, 296, move.move, 15, anchor="middle", bold=True, colour=INK if move.legal else PALE)
        if not move.legal or move.value is None:
            drawing.text(x + 45, 326, "nothing", 13, PALE, anchor="middle", slanted=True)
            drawing.text(x + 45, 344, "moves", 13, PALE, anchor="middle", slanted=True)
            continue
        drawing.text(x + 45, 322, f"r = {move.reward}", 14, anchor="middle")
        worth = f"V = {whole(net.value(after))}"
        drawing.text(x + 45, 346, worth, 13, COOL, anchor="middle", name=f"{move.move} value")
        drawing.text(x + 45, 378, whole(move.value), 16, colour, anchor="middle", bold=True, name=name)
        if chosen:
            drawing.box(x - 6, 178, 102, 236, line=GOOD, thick=3, round_=9)
            drawing.text(x + 45, 402, "the largest", 13, GOOD, anchor="middle")
    return drawing


def select_state() -> Drawing:
    """An after-state, everything that may appear on it, and the mean of that."""
    net, drawing = state_values(), Drawing(556, "Choosing a move by the values of states")
    moves, best = net.moves(STATE), net.best_move(STATE)
    assert best == "up"
    drawing.board(12, 12, 104, STATE.tiles)
    drawing.text(64, 134, "state s", 14, anchor="middle", bold=True)
    drawing.arrow("M124 64L218 64", (226, 64), "right", INK)
    drawing.text(174, 54, "up", 15, anchor="middle", bold=True)
    drawing.text(174, 84, f"r = {REWARD}", 14, anchor="middle")
    drawing.board(234, 12, 104, AFTER.tiles)
    drawing.text(286, 134, "after-state s′", 14, anchor="middle", bold=True)
    drawing.text(350, 60, "then a", 13, PALE)
    drawing.text(350, 78, "tile", 13, PALE)
    empty, expected = AFTER.empty, 0.0
    for row, (tile, share) in enumerate(((2, 0.9), (4, 0.1))):
        y = 184 + row * 124
        words = f"a {tile}: {share:g} · ⅕ each" if len(empty) == 5 else f"a {tile}: {share:g}"
        drawing.text(12, y - 8, words, 13, ACCENT, bold=True)
        for i, cell in enumerate(empty):
            x, state = 12 + i * 81, AFTER.place(cell, tile)
            drawing.board(x, y, 72, state.tiles, mark=(cell,), colour=GOOD)
            value = net.value(state)
            expected += share / len(empty) * value
            drawing.text(x + 36, y + 88, whole(value), 13, COOL, anchor="middle", name="next")
    drawing.text(12, 432, "their mean", 14)
    drawing.text(408, 432, f"E V(s″) = {whole(expected)}", 15, COOL, anchor="end", bold=True)
    drawing.box(10, 446, 400, 100, fill="#faf5ef", line=FAINT)
    drawing.text(24, 470, "r + E V(s″) of each move", 14)
    for i, move in enumerate(moves):
        x, chosen = 60 + 100 * i, move.move == best
        colour = GOOD if chosen else INK if move.legal else PALE
        value = "–" if move.value is None else whole(move.value)
        name = move.move + (" best" if chosen else "")
        drawing.text(x, 502, move.move, 14, colour, anchor="middle", bold=chosen)
        drawing.text(x, 526, value, 15, colour, anchor="middle", bold=chosen, name=name)
        if chosen:
            drawing.box(x - 44, 482, 88, 54, line=GOOD, thick=3)
    return drawing


GAMES, EACH = 400, 4


@cache
def walks() -> dict[str, list[tuple[float, float]]]:
    """(A, E) after every few games, of two weights that were updated often: TC on 5x4.

    Of those whose way was about as long as usual: the one whose updates agreed most, and the one
    whose updates cancelled out.
    """
    net, seen = Network("5x4"), []
    for number in range(GAMES // EACH):
        tuplet.train(net, learner="tc", games=EACH, seed=1 + number, progress=False)
        assert net.memory is not None
        seen.append(net.memory.values.copy())
    e, a = seen[-1].T
    steps = np.count_nonzero(np.diff([s[:, 1] for s in seen], axis=0) > 0, axis=0)
    usual = np.median(a[steps > 40])
    alike = (steps > 40) & (np.abs(a / usual - 1) < 0.25)
    rate = np.abs(e[alike]) / a[alike]
    chosen = {"agree": rate.argmax(), "cancel": rate.argmin()}
    at = {name: np.flatnonzero(alike)[number] for name, number in chosen.items()}
    return {name: [(0.0, 0.0), *((float(s[w, 1]), float(s[w, 0])) for s in seen)] for name, w in at.items()}


def tc() -> Drawing:
    """A weight's walk: E against A."""
    drawing = Drawing(426, "Temporal coherence: how far a weight has come on how long a way")
    far = 1.06 * max(a for walk in walks().values() for a, _ in walk)
    left, right, middle, half = 30.0, 400.0, 212.0, 170.0

    def at(a: float, e: float) -> tuple[float, float]:
        return left + (right - left) * a / far, middle - half * e / far

    corner, top, low = at(0, 0), at(far, far), at(far, -far)
    drawing.path(f"M{corner[0]} {corner[1]}L{top[0]} {top[1]}L{low[0]} {low[1]}Z", FAINT, 1, fill="#faf5ef")
    drawing.line([corner, at(far, 0)], FAINT)
    drawing.line([(left, 36), (left, middle + half)], PALE, 1)
    drawing.text(12, 24, "↑ E: sum of its updates", 14, PALE)
    drawing.text(right, 408, "A: distance walked →", 14, PALE, anchor="end")
    drawing.text(186, 126, "rate 1", 13, PALE, anchor="end", slanted=True)
    drawing.text(right - 6, middle + 18, "rate 0", 13, PALE, anchor="end", slanted=True)
    drawing.text(186, middle + 96, "rate 1", 13, PALE, anchor="end", slanted=True)
    for name, colour, below in (("agree", GOOD, -14.0), ("cancel", ACCENT, 44.0)):
        walk = walks()[name]
        drawing.line([at(a, e) for a, e in walk], colour, 2.4)
        a, e = walk[-1]
        x, y = at(a, e)
        drawing.circle(x, y, 4.5, colour, colour)
        words = f"|E| / A = {whole(abs(e))} / {whole(a)} = {abs(e) / a:.2f}"
        drawing.text(right - 6, y + below, words, 14, colour, anchor="end", bold=True, name=name)
    return drawing
