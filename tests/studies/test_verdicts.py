"""Estimates, and verdicts on whether ours agree with the published: against hand-made cases."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tuplet.arena.results import GameResult, Match
from tuplet.studies.page import page
from tuplet.studies.report import Report, StudyResult
from tuplet.studies.verdicts import Cell, Estimate, judge, match_share, mean_over_runs, share


def won(wins: int, losses: int) -> Estimate:
    return share(wins, wins + losses)


def cell(ours: Estimate, published: Estimate | None, note: str = "") -> Cell:
    return Cell({"agent": "x"}, ours, published, "share", note)


def test_a_published_share_has_the_interval_of_its_counts() -> None:
    """Of 793-207 with 1.92 more of each: 0.79187 ± 1.96 · √(0.79187 · 0.20813 / 1003.84)."""
    found = won(793, 207)
    assert found.value == 0.793
    assert found.ci95 == pytest.approx((0.7668, 0.8170), abs=5e-5)
    assert found.stderr == pytest.approx(math.sqrt(794 / 1002 * 208 / 1002 / 1002))


def test_pairs_that_always_end_alike_count_once() -> None:
    """Hundred games of which a pair is won or lost together tell what fifty would."""
    scores = [1.0, 1.0] * 40 + [0.0, 0.0] * 10
    played = [GameResult(a, 1 - n % 2 if a else n % 2, "corner", 20, "") for n, a in enumerate(scores)]
    found = match_share(Match("a", "b", "ewn", 0, 100, played))
    assert found.value == 0.8
    assert found.dof in (48, 49)
    assert found.ci95 is not None and found.ci95[0] == pytest.approx(share(40, 50).ci95[0], abs=0.01)


def test_equal_shares_agree_and_distant_ones_differ() -> None:
    same, far = judge([cell(won(793, 207), won(790, 210)), cell(won(700, 300), won(790, 210))])
    assert (same.verdict, far.verdict) == ("agrees", "differs")
    # (0.7 - 0.79) / √(0.0145² + 0.0129²) = -4.64: 3.5e-6, twice that for two cells
    assert far.p == pytest.approx(2 * 3.7e-6, rel=0.1)


def test_many_cells_ask_for_more_than_one_does() -> None:
    """z = 2.2 is p = 0.028: enough alone, not among twenty."""
    close = cell(won(790, 210), won(749, 251))
    assert judge([close])[0].verdict == "differs"
    others = [cell(won(500, 500), won(500, 500))] * 19
    rows = judge([close, *others])
    assert rows[0].verdict == "agrees"
    assert rows[0].p == pytest.approx(20 * judge([close])[0].p)


def test_what_has_no_interval_is_not_compared_and_says_where_it_lies() -> None:
    ours = mean_over_runs([[50_000, 70_000], [52_000, 74_000], [51_000, 72_000]])
    assert ours.value == 61_500 and ours.ci95 is not None
    bare, alone, single = judge(
        [
            Cell({}, ours, Estimate(158_973), "points"),
            Cell({}, ours, None, "points", "our own"),
            Cell({}, mean_over_runs([[1.0, 2.0]]), share(1, 2)),
        ]
    )
    assert bare.verdict == alone.verdict == single.verdict == "not comparable"
    assert bare.note == "published without an interval; it lies above ours"
    assert (alone.note, single.note) == ("our own", "one run of ours has no interval")
    assert bare.as_json()["published_ci95"] is None and bare.p is None


def test_runs_deviate_more_than_their_games() -> None:
    """Means 10 and 30 of runs whose games hardly deviate: 20 ± 12.706 · 10."""
    found = mean_over_runs([[9.0, 11.0], [29.0, 31.0]])
    assert found.value == 20 and found.ci95 == pytest.approx((20 - 127.06, 20 + 127.06), abs=0.1)


def test_what_could_have_been_seen_decides_between_agreement_and_too_few_games() -> None:
    """Two shares of a half in 1,000 games: (1.96 + 0.84) · √(2 / 4 / 1002) is 6.3 points."""
    alike = cell(won(500, 500), won(500, 500))
    (row,) = judge([alike])
    assert row.verdict == "agrees" and row.detectable == pytest.approx(0.0626, abs=2e-4)
    assert row.as_json()["ours_games"] == 1000
    # More is asked for among four, and what is not published counts for none.
    rows = judge([alike] * 4 + [cell(won(1, 1), None)])
    assert rows[0].detectable == pytest.approx(0.0747, abs=2e-4) and rows[4].detectable is None
    few, fewest = judge([cell(won(5, 15), won(143, 57)), cell(won(0, 2), won(143, 57))])
    assert few.verdict == "differs" and fewest.verdict == "too few games"
    assert fewest.detectable is None  # no two shares are so far apart
    assert judge([cell(won(20, 20), won(20, 20))])[0].verdict == "too few games"


def test_a_difference_as_large_as_said_is_detected_four_times_in_five() -> None:
    random, found = np.random.default_rng(1), 0
    asked = judge([cell(won(80, 80), won(50, 50))])[0].detectable
    assert asked is not None
    for _ in range(1000):
        ours, theirs = (int(random.binomial(160, 0.5 + asked / 2)), int(random.binomial(100, 0.5 - asked / 2)))
        row = judge([cell(won(ours, 160 - ours), won(theirs, 100 - theirs))])[0]
        found += row.verdict == "differs"
    assert 770 <= found <= 840


def test_a_report_says_what_its_verdicts_mean() -> None:
    alike, few = cell(won(500, 500), won(500, 500)), cell(won(1, 3), won(143, 57))
    found = Report("s", "a", "c", "x", 1.0, 0, StudyResult([alike, few], {}, {}))
    table = found.text_tables()[1]
    assert "our games" in table.columns and [row[1] for row in table.rows] == ["1,000", "4"]
    assert [row[-1] for row in table.rows] == ["agrees", "too few games"]
    assert "a difference of 6.9 percentage points would have been" in found.seen
    assert "a difference of 20 percentage points would often have gone undetected" in found.seen
    assert "too few games</span>" in page(found) and "<td>1,000</td>" in page(found)
    none = Report("s", "a", "c", "x", 1.0, 0, StudyResult([few], {}, {}))
    assert "no difference was detected" not in none.seen  # there was nothing to detect it with
