"""Which tuples should join a network? Those that lower its error most, one after another.

A network learns for a while. Then it plays, and some of the after-states it meets are looked at
again, one move further ahead: the difference to their value is an error that the network has
because it looks at too few cells, or has learned too little. To each candidate, every tuple of
connected cells up to symmetry, a table is fitted that should say that difference, from three
quarters of the games; what it takes off the squared errors in the last quarter, which it has not
seen, is what it is worth. The best one joins, its table is subtracted from the errors, and the
others are tried again.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tuplet.games.g2048.rules import Rules2048, opening, rules_for, slides, spawn
from tuplet.kernel import draw, kernel, local_array, stream
from tuplet.learn.train import train
from tuplet.search.g2048 import LeafValues, Workspace, frontier_value, leaf_values, make_workspace
from tuplet.studies.context import StudyContext
from tuplet.studies.report import StudyResult
from tuplet.studies.verdicts import Cell, Estimate
from tuplet.system.blocks import Worker
from tuplet.system.pictures import new_figure, style_axes
from tuplet.system.progress import Progress
from tuplet.values.network import Network
from tuplet.values.patterns import Tuple, format_tuple, parse, placements
from tuplet.values.tables import locate, make_tables, total, value

Array = np.ndarray[Any, Any]

GAMES = 20_000  # that the network learns from
BOARDS = 1_000_000  # that errors are measured on
EVERY = 4  # one after-state in this many is examined
CHOSEN = 8  # tuples
GROUPS = 4  # that candidates are tried in, each a part of the work
MOST_ERROR = 1000  # points: larger ones are of games about to end, and would drown the others
FIRM = 16  # boards after which a weight has half of its evidence from them
_ZERO, _EIGHT = np.uint64(0), np.uint64(8)


class Errors(NamedTuple):
    """After-states that a network met, and by how much looking further ahead changes each."""

    boards: Array  # uint64
    errors: Array  # float32, no larger than MOST_ERROR
    seen: int  # of the first games: the others are to test with


def tuples(context: StudyContext, net: str = "8g") -> StudyResult:
    """No report has this: networks of the literature were chosen by their authors, or by weeks of trials. Here tuples
    are chosen by what each takes off the error of those that are there.
    """
    games, boards = context.games(GAMES, least=20), context.games(BOARDS, least=200)
    have = parse(net)
    chosen: list[Tuple] = []
    tables: list[dict[str, float]] = []
    context.parts(_train, {"network": (net, games, context.seed, context.shared("network"))})
    for step in range(CHOSEN):
        shares = _step(context, [*have, *chosen], [format_tuple(t) for t in chosen], boards, step)
        best = max(shares, key=lambda name: shares[name])
        tables.append(dict(sorted(shares.items(), key=lambda each: -each[1])))
        chosen += parse(best)
    cells = [
        Cell(
            {"tuple": number, "joins": format_tuple(cells), "next best": _next(shares)},
            Estimate(next(iter(shares.values()))),
            None,
            "share",
            " ",
        )
        for number, (cells, shares) in enumerate(zip(chosen, tables, strict=True), len(have) + 1)
    ]
    settings = {
        "network": f"{net}, TC(0.5), {games:,} games, seed {context.seed}",
        "errors": f"{boards:,} after-states of its games, one in {EVERY}, against the best moves "
        "over every next tile; three quarters to fit, the rest to test",
        "candidates": f"{len(tables[0])} tuples of {len(have[0])} connected cells",
    }
    notes = ["Ours is the share of the squared error that the tuple takes off, in games not seen."]
    more = {"chosen": [format_tuple(t) for t in chosen], "tried": tables}
    return StudyResult(cells, settings, {"shares": lambda: picture(chosen, tables)}, notes, more)


def _next(shares: dict[str, float]) -> str:
    return ", ".join(list(shares)[1:4])


def _step(context: StudyContext, have: list[Tuple], chosen: list[str], boards: int, step: int) -> dict[str, float]:
    """What each candidate would take off."""
    names = candidates(len(have[0]), have)
    folder = context.shared("network")
    parts = {f"{step}-{group}": (folder, boards, context.seed, chosen, names[group::GROUPS]) for group in range(GROUPS)}

    def look(done: int, _: Worker) -> None:
        total = CHOSEN * GROUPS
        context.watch(Progress("parts", step * GROUPS + done, total, figures={"chosen": str(step)}))

    results = context.parts(tried, parts, look)
    return {name: share for part in results.values() for name, share in part}


def candidates(length: int, have: list[Tuple]) -> list[str]:
    """Every tuple of `length` connected cells, up to symmetry, except those in `have`.

    >>> len(candidates(4, [])), candidates(4, parse("0123 4567 0145"))[0]
    (19, '0124')
    """
    known = {frozenset(placed) for cells in have for placed in placements(cells)}
    names = []
    for cells in combinations(range(16), length):
        if _connected(cells) and frozenset(cells) not in known:
            known |= {frozenset(placed) for placed in placements(cells)}
            names.append(format_tuple(cells))
    return names


def _connected(cells: Tuple) -> bool:
    """Whether one can walk from any of the cells to any other, side by side."""
    reached, left = {cells[0]}, set(cells[1:])
    while near := {c for c in left for r in reached if _beside(c, r)}:
        reached |= near
        left -= near
    return not left


def _beside(a: int, b: int) -> bool:
    return abs(a // 4 - b // 4) + abs(a % 4 - b % 4) == 1


def _train(net: str, games: int, seed: int, folder: str, worker: Worker) -> int | None:
    """Train the network and save it; returns the number of games."""
    run = train(net, learner="tc", games=games, seed=seed, progress=False, stop=worker.stop)
    if run.interrupted:
        return None
    Path(folder).mkdir(exist_ok=True)
    run.network.save(Path(folder) / "weights.safetensors")
    return run.games


def tried(
    folder: str, count: int, seed: int, chosen: list[str], names: list[str], worker: Worker
) -> list[tuple[str, float]] | None:
    """Each candidate, and the share of the error that it takes off once `chosen` have theirs."""
    boards, errors, seen = worker.share(("errors", folder, count), lambda: measured(Network.load(folder), count, seed))
    errors = errors.copy()
    for name in chosen:
        fit(*_table(name), boards, errors, seen, True)
    shares = []
    for name in names:
        if worker.stop.is_set():
            return None
        left, before = fit(*_table(name), boards, errors, seen, False)
        shares.append((name, float(1 - left / before)))
    return shares


def _table(name: str) -> tuple[Array, Array, Array]:
    """The look-ups of one tuple, room for its weights, and how often each was seen."""
    weights = np.zeros(16 ** len(name), np.float32)
    return make_tables(parse(name), weights).plan, weights, np.zeros_like(weights)


def measured(net: Network, count: int, seed: int) -> Errors:
    """After-states of games, and their errors; those to fit with in no order, the others last."""
    boards, errors = np.zeros(count, np.uint64), np.zeros(count, np.float32)
    games = np.zeros(count, np.int64)
    collect(
        rules_for(4, 4, net.spawn4), leaf_values(net), make_workspace(net.m), np.uint64(seed), boards, errors, games
    )
    seen = int(np.searchsorted(games, games[3 * count // 4]))
    order = np.random.default_rng(seed).permutation(seen)
    boards[:seen], errors[:seen] = boards[order], errors[order]
    return Errors(boards, np.clip(errors, -MOST_ERROR, MOST_ERROR), seen)


@kernel
def collect(
    rules: Rules2048, leaves: LeafValues, work: Workspace, seed: np.uint64, boards: Array, errors: Array, games: Array
) -> None:
    """Play, and look one move further ahead from some of the after-states, until there are enough.

    A game that has a tile beyond 32768 is left.
    """
    after, rewards = local_array(4, np.uint64), local_array(4, np.uint64)
    n = game = 0
    while n < len(boards):
        state, board = opening(rules, stream(~seed, np.uint64(game)))
        while n < len(boards):
            legal = slides(rules.across, rules.down, board, after, rewards, _ZERO)
            if legal == _ZERO or legal > np.uint64(4):
                break
            best, best_value = 0, np.float32(-np.inf)
            for i in range(np.int64(legal)):
                v = np.float32(rewards[i]) + value(leaves.tables, after[i])
                if v > best_value:
                    best, best_value = i, v
            state, bits = draw(state)
            if bits % np.uint64(EVERY) == _ZERO:
                ahead = frontier_value(rules, leaves, after[best], _ZERO, work)
                boards[n], games[n] = after[best], game
                errors[n] = ahead - value(leaves.tables, after[best])
                n += 1
            state, bits = draw(state)
            board = spawn(rules, after[best], _ZERO, bits)
        game += 1


@kernel
def fit(
    plan: Array, weights: Array, counts: Array, boards: Array, errors: Array, seen: int, take: bool
) -> tuple[float, float]:
    """Fit one tuple's table to the first errors, in two rounds: a weight's steps fall with what it
    has seen. Returns the squares of the other errors with it and without; `take` takes it off all.
    """
    indices, marks = local_array(8, np.uint32), local_array(0, np.uint64)
    for _ in range(2):
        for i in range(seen):
            locate(boards[i], plan, marks, _ZERO, indices, _ZERO)
            error = errors[i] - total(weights, indices, _ZERO, _EIGHT)
            for at in indices:
                weights[at] += error / (np.float32(2) * (np.float32(FIRM) + counts[at]))
                counts[at] += np.float32(1)
    left, before = 0.0, 0.0
    for i in range(0 if take else seen, len(boards)):
        locate(boards[i], plan, marks, _ZERO, indices, _ZERO)
        error = errors[i] - total(weights, indices, _ZERO, _EIGHT)
        left, before = left + np.float64(error) ** 2, before + np.float64(errors[i]) ** 2
        if take:
            errors[i] = error
    return left, before


def draw_cells(cells: Tuple) -> str:
    """A tuple as four rows of dots."""
    marks = ["■" if c in cells else "·" for c in range(16)]
    return "\n".join("".join(marks[r : r + 4]) for r in range(0, 16, 4))


def picture(chosen: list[Tuple], tables: list[dict[str, float]]) -> Any:
    """What each candidate takes off at each step; the chosen ones drawn as cells."""
    figure = new_figure(7, 3.6)
    axes = figure.subplots()
    for step, shares in enumerate(tables, 1):
        axes.plot([step] * len(shares), [100 * x for x in shares.values()], ".", color="0.75")
    axes.plot(range(1, len(chosen) + 1), [100 * max(t.values()) for t in tables], "o-", color="C0")
    ticks = [f"{format_tuple(cells)}\n{draw_cells(cells)}" for cells in chosen]
    axes.set_xticks(range(1, len(chosen) + 1), ticks, fontsize=7, fontfamily="monospace")
    axes.set_ylabel("% of the squared error taken off")
    style_axes(axes)
    return figure
