"""Estimates, and verdicts on whether ours agree with the published: against hand-made cases."""

from __future__ import annotations

import math

import pytest

from tuplet.arena.played import Played
from tuplet.arena.results import Match
from tuplet.studies.finding import (
    Cell,
    Estimate,
    judged,
    least_seen,
    mean_of_runs,
    share,
    won,
    won_in,
)


def cell(ours: Estimate, published: Estimate | None, note: str = "") -> Cell:
    return Cell({"agent": "x"}, ours, published, "share", note)


def test_a_published_share_has_the_interval_of_its_counts() -> None:
    """Wilson's, for 793-207: (0.793 + 0.00192 ± 1.96·√(0.793·0.207/1000 + 9.6e-7)) / 1.00384."""
    found = won(793, 207)
    assert found.value == 0.793
    assert found.ci95 == pytest.approx((0.7668, 0.8170), abs=5e-5)
    assert found.error == pytest.approx(math.sqrt(794 / 1002 * 208 / 1002 / 1002))


def test_pairs_that_always_end_alike_count_once() -> None:
    """Hundred games of which a pair is won or lost together tell what fifty would."""
    scores = [1.0, 1.0] * 40 + [0.0, 0.0] * 10
    played = [Played(a, 1 - n % 2 if a else n % 2, "corner", 20, "") for n, a in enumerate(scores)]
    found = won_in(Match("a", "b", "ewn", 0, 100, played))
    assert found.value == 0.8
    assert found.freedom in (48, 49)
    assert found.ci95 is not None and found.ci95[0] == pytest.approx(
        share(40, 50).ci95[0], abs=0.01
    )


def test_equal_shares_agree_and_distant_ones_differ() -> None:
    same, far = judged([cell(won(793, 207), won(790, 210)), cell(won(700, 300), won(790, 210))])
    assert (same.verdict, far.verdict) == ("agrees", "differs")
    # (0.7 - 0.79) / √(0.0145² + 0.0129²) = -4.64: 3.5e-6, twice that for two cells
    assert far.p == pytest.approx(2 * 3.7e-6, rel=0.1)


def test_many_cells_ask_for_more_than_one_does() -> None:
    """z = 2.2 is p = 0.028: enough alone, not among twenty."""
    close = cell(won(790, 210), won(749, 251))
    assert judged([close])[0].verdict == "differs"
    others = [cell(won(500, 500), won(500, 500))] * 19
    rows = judged([close, *others])
    assert rows[0].verdict == "agrees"
    assert rows[0].p == pytest.approx(20 * judged([close])[0].p)


def test_what_has_no_interval_is_not_compared_and_says_where_it_lies() -> None:
    ours = mean_of_runs([[50_000, 70_000], [52_000, 74_000], [51_000, 72_000]])
    assert ours.value == 61_500 and ours.ci95 is not None
    bare, alone, single = judged([
        Cell({}, ours, Estimate(158_973), "points"), Cell({}, ours, None, "points", "our own"),
        Cell({}, mean_of_runs([[1.0, 2.0]]), share(1, 2)),
    ])  # fmt: skip
    assert bare.verdict == alone.verdict == single.verdict == "not comparable"
    assert bare.note == "published without an interval; it lies above ours"
    assert (alone.note, single.note) == ("our own", "one run of ours has no interval")
    assert bare.as_json()["published_ci95"] is None and bare.p is None


def test_runs_deviate_more_than_their_games() -> None:
    """Means 10 and 30 of runs whose games hardly deviate: 20 ± 12.706 · 10."""
    found = mean_of_runs([[9.0, 11.0], [29.0, 31.0]])
    assert found.value == 20 and found.ci95 == pytest.approx((20 - 127.06, 20 + 127.06), abs=0.1)


def test_a_report_says_how_large_a_difference_must_be() -> None:
    """Two shares of a half in 1,000 games: 1.96 · √(2 / 4 / 1002) is 4.4 points; more with four."""
    alike = cell(won(500, 500), won(500, 500))
    assert least_seen([alike]) == pytest.approx([0.0438], abs=1e-4)
    assert least_seen([alike] * 4 + [cell(won(1, 1), None)]) == pytest.approx(
        [0.0558] * 4, abs=1e-4
    )
    assert least_seen([]) == []
