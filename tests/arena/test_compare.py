"""Comparisons: who is better, by how much, and how sure."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from holds import SCORES
from tuplet import Board, Network, Stop, Stopped, compare, evaluate
from tuplet.arena.compare import Comparison
from tuplet.arena.differences import holm, independent_scores, welch
from tuplet.arena.evaluate import summarise_games
from tuplet.games.g2048.statistics import Results


def played(scores: np.ndarray, name: str) -> object:
    tiles = np.where(scores > 10_000, 11, 10).astype(np.uint8)
    return summarise_games(name, len(scores), Results(scores.astype(np.int64), tiles, scores // 10), 1.0)


def test_welch_is_what_textbooks_say() -> None:
    # A published example: t = -2.46 at 25.0 degrees of freedom, p = 0.0214.
    a = np.array([27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4])
    b = np.array([27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 20.5, 24.4])
    apart = welch(a.mean() - b.mean(), *((each.var(ddof=1) / len(each), 14) for each in (a, b)))
    assert apart.value == pytest.approx(-2.1667, abs=1e-3) and apart.dof in (24, 25)
    assert apart.value / apart.stderr == pytest.approx(-2.46, abs=0.005)
    assert apart.p_value == pytest.approx(0.0214, abs=5e-4)


def test_intervals_of_a_difference_cover_it_and_verdicts_seldom_mislead() -> None:
    rng = np.random.default_rng(1)
    covered = misled = 0
    for _ in range(400):
        a, b, c = (rng.gamma(2, scale, size) for scale, size in ((3, 30), (3, 60), (3, 40)))
        chances = [independent_scores(x, y).p_value for x, y in ((a, b), (a, c), (b, c))]
        covered += chances[0] >= 0.05
        misled += min(holm(chances)) < 0.05
    assert 365 <= covered <= 395 and misled <= 32


def test_what_is_said_of_players() -> None:
    rng = np.random.default_rng(2)
    far = [rng.normal(mean, 3000, 400).round() for mean in (20_000, 15_000)]
    result = Comparison(["a", "b"], [played(s, n) for s, n in zip(far, "ab", strict=True)], {})
    (difference,) = result.differences
    assert difference.better == "a" and "a is better than b by " in difference.verdict
    low, high = difference.difference.ci95
    assert 4000 < low < difference.difference.value < high < 6000
    near = [rng.normal(20_000, 3000, 400).round() for _ in range(3)]
    result = Comparison([*"abc"], [played(s, n) for s, n in zip(near, "abc", strict=True)], {})
    assert all(each.better is None for each in result.differences)
    assert len(result.differences) == 3 and "Holm" in result.text_tables()[1].columns[3]
    first = result.differences[0]
    assert "do not differ significantly" in first.verdict and "would detect 400 points" in first.verdict
    # With that many games of each, four of five such differences are found, as one of three.
    assert first.points == 400
    means = (20_400, 20_000)
    chances = [independent_scores(*(rng.normal(m, 3000, first.games) for m in means)).p_value for _ in range(200)]
    found = sum(chance < 0.05 / 3 for chance in chances)
    assert 140 <= found <= 180


def test_the_interval_of_a_difference_has_its_coverage_with_few_games() -> None:
    """Beside a weak player all that deviates is the strong one: Student's t alone held in 90 %."""
    scores = np.array(SCORES["small"], float)
    truth = 0.95 * scores.mean()
    for games in (2, 3, 5):
        drawn = np.random.default_rng(games).choice(scores, (4000, 2, games))
        apart = [independent_scores(a, 0.05 * b) for a, b in drawn]
        held = sum(each._replace(value=each.value - truth).p_value >= 0.05 for each in apart)
        assert held / 4000 > 0.945


def test_players_of_any_kind_are_compared_by_the_games_of_eval(trained_run: Path, tuplet) -> None:
    result = compare(trained_run, "greedy", "random", games=20, seed=3, progress=False)
    alone = evaluate(str(trained_run), games=20, seed=3, progress=False)
    assert result.evaluations[0].summary == alone.summary
    report = result.as_json()
    assert [each["player"] for each in report["players"]] == [str(trained_run), "greedy", "random"]
    assert [each["better"] for each in report["pairs"]][:2] == [trained_run.name] * 2
    assert result.settings == {} and "<Comparison" in repr(result)
    done = tuplet("compare", trained_run, trained_run, "--games", 5)
    assert done.returncode == 0 and "run (1) and run (2) do not differ significantly" in done.stdout
    done = tuplet("compare", trained_run, "greedy", "--games", 20, "--seed", 3, "--json")
    assert json.loads(done.stdout)["pairs"][0]["difference"] == report["pairs"][0]["difference"]
    for words in ([trained_run], [trained_run, "nobody"], []):
        done = tuplet("compare", *words, "--games", 5)
        assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr


def test_settings_that_differ_are_listed(tmp_path: Path) -> None:
    from tuplet import train

    for name, alpha in (("one", 0.5), ("two", 1.0)):
        train("0123 4567", games=25, alpha=alpha, out=tmp_path / name, progress=False)
    result = compare(tmp_path / "one", tmp_path / "two", games=5, progress=False)
    assert result.settings == {"alpha": ["0.5", "1.0"]}


def test_runs_that_differ_in_their_seeds_are_compared_as_methods(tmp_path: Path) -> None:
    from tuplet import train

    for name, alpha in (("low", 0.1), ("high", 1.0)):
        for seed in (1, 2):
            out = tmp_path / f"{name}-{seed}"
            train("0123 4567", games=200, alpha=alpha, seed=seed, out=out, progress=False)
    runs = [tmp_path / name for name in ("low-1", "high-1", "low-2", "high-2")]
    result = compare(*runs, games=20, progress=False)
    low, high = result.methods
    assert low.runs == ["low-1", "low-2"] and (low.method, high.method) == ("low", "high")
    means = [each.summary.mean_score for each in result.evaluations]
    assert low.iqm == pytest.approx((means[0] + means[2]) / 2)
    (better,) = result.improvements
    assert better.probability == np.mean([(a > b) + (a == b) / 2 for a in means[::2] for b in means[1::2]])
    assert result.as_json()["improvements"][0]["ci95"] == better.ci95
    assert "A run of low is better than one of high with probability" in str(result)
    assert not compare(runs[0], runs[0], runs[1], games=5, progress=False).methods  # one seed twice


def test_a_comparison_ends_early_with_what_it_has(trained_run: Path) -> None:
    stop = Stop()

    def look(event: object) -> None:
        if event.done > 250:  # type: ignore[attr-defined]
            stop.set()

    class First:  # plays in Python, some games a second
        def choose(self, board: Board) -> str:
            return board.legal_moves()[0]

    result = compare(trained_run, First, games=200, stop=stop, progress=look)
    assert result.interrupted and result.evaluations[1].summary.games < 200
    stop = Stop()
    stop.set()
    with pytest.raises(Stopped):
        compare(trained_run, "random", games=200, stop=stop, progress=False)


def test_games_become_a_table(trained_run: Path, tuplet, tmp_path: Path) -> None:
    result = evaluate(str(trained_run), games=6, progress=False)
    tuplet("eval", trained_run, "--games", 6, "--csv", tmp_path / "games.csv")
    with (tmp_path / "games.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["score"]) for row in rows] == result.results.scores.tolist()
    assert list(rows[0]) == ["game", "score", "tile", "moves"]
    saved = tmp_path / "m.jsonl"
    done = tuplet("match", "easy", "normal", "--games", 4, "--out", saved, "--csv", tmp_path / "m.csv", "--json")
    assert tuplet("show", saved, "--csv", tmp_path / "s.csv").returncode == 0
    assert (tmp_path / "m.csv").read_bytes() == (tmp_path / "s.csv").read_bytes()
    with (tmp_path / "m.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["first"] for row in rows] == ["easy", "normal"] * 2
    assert [row["pair"] for row in rows] == ["1", "1", "2", "2"]
    assert sum(row["winner"] == "easy" for row in rows) == json.loads(done.stdout)["wins"]
    # Before the work, not after it.
    done = tuplet("eval", trained_run, "--games", 10**7, "--csv", tmp_path / "no" / "e.csv")
    assert done.returncode == 2 and "no folder" in done.stderr


def test_the_players_of_a_folder_are_compared_and_the_rest_is_named(tuplet, tmp_path: Path) -> None:
    folder = tmp_path / "players"
    folder.mkdir()
    Network("5x4").save(folder / "untrained.safetensors")
    (folder / "corner.py").write_text(
        "class Corner:\n    def choose(self, position):\n        return position.legal_moves()[0]\n"
    )
    (folder / "broken.py").write_text("class Broken(\n")
    (folder / "empty.py").write_text("x = 1\n")
    (folder / "notes.txt").write_text("not a player")
    (folder / "_draft.py").write_text("1 / 0\n")
    done = tuplet("compare", "greedy", "--folder", folder, "--games", 4, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert {each["name"] for each in report["players"]} >= {"greedy", "untrained.safetensors"}
    assert len(report["players"]) == 3 and any("Corner" in each["name"] for each in report["players"])
    assert {each["name"] for each in report["skipped"]} == {"broken.py", "empty.py", "notes.txt"}
    wrong = tuplet("compare", "greedy", "--folder", tmp_path / "nowhere")
    assert wrong.returncode == 2 and "is not a folder of players" in wrong.stderr
