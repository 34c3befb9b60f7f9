"""Pictures of results of 2048: scores and tiles of many games, luck and skill in one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from tuplet.games.g2048.board import Board
from tuplet.games.g2048.drawing import DARK, TILES, board_svg, colours
from tuplet.system.pictures import new_figure, style_axes
from tuplet.system.tables import percent

SCORES, FEW = "#8fa9c4", 30  # games of which each is shown by itself
LOSS, BLUNDER = "#8fa9c4", TILES[64]
LUCK, JUDGE, DASHED = "#3f78b5", "#8a857d", (0, (4, 3))
MANY = 2000  # moves, beyond which a picture of lines is made of points
LABELLED = 3  # moves that cost most


def draw_evaluation(evaluation: Any) -> Any:  # an `Evaluation`: it draws itself with this
    """How scores are spread, with the mean and its interval, and how often tiles were reached."""
    figure = new_figure(8.6, 3.2)
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    left, right = figure.subplots(1, 2, gridspec_kw={"width_ratios": (1.25, 1)})
    scores, mean = evaluation.results.scores, evaluation.summary.mean_score
    bins = int(min(60, max(8, 2 * len(scores) ** 0.5)))
    left.hist(scores, bins=bins, color=SCORES, edgecolor="white", linewidth=0.4)
    if len(scores) <= FEW:  # a mark for each game
        left.plot(scores, np.zeros(len(scores)), "|", color=DARK, markersize=9, clip_on=False)
    low, high = evaluation.ci95
    if math.isfinite(low):
        left.axvspan(max(low, 0), high, color=BLUNDER, alpha=0.18, linewidth=0)
    left.axvline(mean, color=BLUNDER, linewidth=1.4)
    beyond = mean > (scores.min() + scores.max()) / 2
    left.annotate(
        f" mean {mean:,.0f} ",
        (mean, 1.01),
        xycoords=("data", "axes fraction"),
        va="bottom",
        ha="right" if beyond else "left",
        color=BLUNDER,
        fontsize=9,
    )
    if scores.min() == scores.max():
        left.set_xlim(0, 2 * mean or 1)
    left.set_xlabel("score")
    left.set_ylabel("games")
    left.xaxis.set_major_locator(MaxNLocator(5))
    left.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    left.xaxis.set_major_formatter(lambda score, _: f"{score:,.0f}")

    shown = _tiles(evaluation.summary.reached)
    for place, tile in enumerate(shown):
        share, (low, high) = evaluation.summary.reached[tile], evaluation.reached_ci95[tile]
        right.bar(place, share, color=colours(tile)[0], edgecolor=DARK, linewidth=0.5, width=0.78)
        right.errorbar(
            place, share, [[max(share - low, 0)], [max(high - share, 0)]], color=DARK, capsize=2.5, linewidth=0.9
        )
        label = percent(share).replace(".0 ", " ") if share >= 0.0005 else "< 0.1 %"
        right.annotate(
            label, (place, high), xytext=(0, 3), textcoords="offset points", ha="center", fontsize=7.5, color=DARK
        )
    size = 9 if len(shown) < 8 else 7.5
    right.set_xticks(range(len(shown)), [str(tile) for tile in shown], fontsize=size)
    right.set_xlim(-0.6, max(len(shown), 4) - 0.4)
    right.set_xlabel("tile")
    right.set_ylabel("games that reached it")
    right.set_ylim(0, 1.1)
    right.yaxis.set_major_formatter(PercentFormatter(1, decimals=0, symbol=" %"))
    right.set_yticks([0, 0.25, 0.5, 0.75, 1])
    for axes in (left, right):
        style_axes(axes)
        axes.set_axisbelow(True)
    right.grid(False, axis="x")
    return figure


def _tiles(reached: dict[int, float]) -> list[int]:
    """The tiles that say something: of those that all games reached, the largest."""
    sure = [tile for tile, share in reached.items() if share == 1]
    return [tile for tile in reached if tile not in sure[:-1]]


def draw_review(review: Any) -> Any:  # a `Review`
    """The expected score; what luck, moves and the judge changed in it; and what each move cost."""
    figure = new_figure(8.6, 6.2)
    top, middle, bottom = figure.subplots(3, 1, sharex=True, gridspec_kw={"height_ratios": (1.2, 1.1, 1)})
    _draw_expected(top, review)
    _draw_parts(middle, review)
    _draw_losses(bottom, review)
    for axes in (top, middle, bottom):
        style_axes(axes)
    return figure


def _draw_expected(axes: Any, review: Any) -> None:
    """The score that the judge expects in the end, before each move and after the last."""
    last = review.record.score + review.left
    line = [*(move.expected for move in review.moves), last]
    many = len(line) > MANY
    axes.axhline(review.first_value, color=JUDGE, linewidth=1, linestyle=DASHED)
    axes.plot(line, color=DARK, linewidth=1.5, rasterized=many)
    axes.set_ylabel("expected score")
    axes.set_ylim(0, 1.1 * max(max(line), 1))
    _in_points(axes)
    axes.set_title(f"accuracy {review.accuracy:.1f} %", fontsize=9.5, color=DARK, loc="right", pad=4)


def _draw_parts(axes: Any, review: Any) -> None:
    """What luck, moves and the judge have changed so far: together, all that was changed."""
    losses = [-move.loss for move in review.moves]
    for name, changes, colour, style in (
        ("luck", [move.luck for move in review.moves], LUCK, "-"),
        ("mistakes", losses, BLUNDER, "-"),
        ("re-estimates", [move.drift for move in review.moves], JUDGE, DASHED),
    ):
        total = np.cumsum([0.0, *changes])
        axes.plot(
            total,
            color=colour,
            linestyle=style,
            linewidth=1.3,
            rasterized=len(total) > MANY,
            label=f"{name} {total[-1] + 0:+,.0f}",
        )
    axes.axhline(0, color=JUDGE, linewidth=0.6)
    axes.set_ylabel("changed so far")
    _in_points(axes)
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0, 0.97),
        ncols=3,
        frameon=False,
        fontsize=8.5,
        handlelength=1.6,
        columnspacing=1.6,
        borderaxespad=0.2,
    )


def _in_points(axes: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_formatter(lambda points, _: f"{points:,.0f}")


def _draw_losses(axes: Any, review: Any) -> None:
    """What each move cost, blunders marked and the worst named."""
    from matplotlib.ticker import MaxNLocator

    costly = [move for move in review.moves if move.loss > 0]
    axes.vlines(
        [m.number for m in costly],
        0,
        [m.loss for m in costly],
        color=LOSS,
        linewidth=1.1,
        rasterized=len(costly) > MANY,
    )
    blunders = [move for move in costly if move.blunder]
    axes.plot(
        [m.number for m in blunders],
        [m.loss for m in blunders],
        "o",
        color=BLUNDER,
        markersize=3.5,
        rasterized=len(blunders) > MANY,
    )
    last, taken = len(review.moves), list[int]()
    for move in review.worst(LABELLED):
        if any(abs(move.number - other) < 0.2 * last for other in taken):
            continue  # labels would stand on each other
        taken.append(move.number)
        right = move.number > 0.7 * last
        axes.annotate(
            f"move {move.number:,}: {move.played}, not {move.best}",
            (move.number, move.loss),
            xytext=(-6 if right else 6, 2),
            textcoords="offset points",
            fontsize=8.5,
            color=DARK,
            ha="right" if right else "left",
        )
    axes.set_xlim(0, last + 1)
    axes.set_ylim(0, 1.12 * max((move.loss for move in costly), default=1))
    axes.set_xlabel("move")
    axes.set_ylabel("points lost")
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    axes.xaxis.set_major_formatter(lambda number, _: f"{number:,.0f}")
    _in_points(axes)
    count = f"{len(blunders):,} blunder{'' if len(blunders) == 1 else 's'}"
    axes.set_title(f"● {count}", fontsize=9.5, color=BLUNDER if blunders else DARK, loc="right", pad=2)


def worst_boards(worst: Any) -> str:  # a `MoveReview`
    """The costliest move as HTML: the board, what was played, and what was better."""
    titles = (
        f"move {worst.number:,}",
        f"{worst.played}, as played: {worst.played_value:,.0f}",
        f"{worst.best}, the best: {worst.value:,.0f}",
    )
    after = (worst.board.move(move)[0] for move in (worst.played, worst.best))
    return _row([worst.board, *after], titles)


def _row(boards: Sequence[Board], titles: Sequence[str]) -> str:
    parts = [
        f'<figure style="margin:0 24px 8px 0">{board_svg(board.tiles, board.columns, 36, 5)}'
        f'<figcaption style="font-size:90%;text-align:center">{escape(title)}</figcaption></figure>'
        for board, title in zip(boards, titles, strict=True)
    ]
    return f'<div style="display:flex;flex-wrap:wrap;margin:8px 0">{"".join(parts)}</div>'
