"""Sweeps: grids, what can be told apart, and folders that go on."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from tuplet import (
    Run,
    Stop,
    Stopped,
    Sweep,
    evaluate,
    sweep_eval,
    sweep_match,
    sweep_train,
    train,
)  # fmt: skip
from tuplet.arena.differences import (
    holm,
    independent_runs,
    judge,
    paired_scores,
    paired_shares,
)
from tuplet.arena.grids import Axis, label, points_of, template
from tuplet.arena.saved import load

AGENTS = "{easy,normal}"


def test_braces_are_the_axes_of_a_grid() -> None:
    found = template("mcts:ucb={ucb1,tuned},c={0.5, 1},sims=9", "agent")
    assert found.axes == (Axis("ucb", ("ucb1", "tuned")), Axis("c", ("0.5", "1")))
    points = points_of(found.axes)
    assert [found.filled(values) for values in points] == [
        f"mcts:ucb={ucb},c={c},sims=9" for ucb in ("ucb1", "tuned") for c in ("0.5", "1")
    ]
    assert label(found.axes, points[1]) == "ucb=ucb1, c=1"
    assert template("{hard,easy}", "opponent").axes[0].name == "opponent"
    assert template("x=a{1,2}", "agent").filled(["2"]) == "x=a2"


@pytest.mark.parametrize(
    ("text", "words"),
    [("mcts", "nothing to sweep"), ("mcts:c={1}", "nothing to sweep"), ("c={1,1}", "twice"),
     ("c={1,1.0}", "twice"), ("c={1,}", "empty"), ("c={1,{2,3}}", "brace"), ("c={1,2", "brace"),
     ("c={1,2},c={3,4}", "varied twice"),
     (f"c={{{','.join(map(str, range(300)))}}}", "256 points")],
)  # fmt: skip
def test_what_is_no_grid_is_refused(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        points_of(template(text, "agent").axes)


def test_numbers_are_drawn_as_they_are_spaced() -> None:
    for values, logarithmic in (
        ("0.025 0.05 0.1", True), ("0.2 0.6 1.0 1.4", False), ("50 100 200 400", True),
        ("1 2", False), ("0 1 10", False),
    ):  # fmt: skip
        axis = Axis("x", tuple(values.split()))
        assert axis.numbers and axis.logarithmic is logarithmic
    assert Axis("x", ("a", "1")).numbers is None


def test_verdicts_on_noise_are_wrong_at_most_once_in_twenty() -> None:
    """Four points that are equally good, in the same pairs of games."""
    random = np.random.default_rng(1)
    wrong = {"shares": 0, "scores": 0, "runs": 0}
    trials = 120
    for _ in range(trials):
        luck = random.random((1, 40, 2))
        own = random.random((4, 40, 2))
        shares = (np.where(random.random((4, 40, 2)) < 0.5, luck, own) < 0.55).mean(2).tolist()
        scores = (random.exponential(1000, (1, 40)) + random.exponential(1000, (4, 40))).tolist()
        runs = (random.normal(0, 50, (4, 3, 1)) + random.normal(0, 200, (4, 3, 30))).tolist()
        for name, samples, apart in (("shares", shares, paired_shares),
                                     ("scores", scores, paired_scores),
                                     ("runs", runs, independent_runs)):  # fmt: skip
            values = [float(np.mean(each)) for each in samples]
            found = judge(values, [""] * 4, lambda i, j, a=apart, s=samples: a(s[i], s[j]))
            wrong[name] += any(each is not None and not each.noise for each in found.behind)
    assert all(count / trials <= 0.075 for count in wrong.values()), wrong


def test_a_difference_is_noise_just_where_its_interval_holds_0() -> None:
    random = np.random.default_rng(2)
    told = set()
    for trial in range(60):
        shift = np.array([0.0, 0.1, 0.3, 0.6, 1.0])[:, None]
        samples = (random.normal(0, 1, (5, 10 + trial)) + shift).tolist()
        values = [float(np.mean(each)) for each in samples]
        found = judge(values, [""] * 5, lambda i, j, s=samples: paired_scores(s[i], s[j]))
        assert found.comparisons == 10
        for each, value in zip(found.behind, values, strict=True):
            if each is not None:
                assert each.noise == (each.ci95[0] <= 0 <= each.ci95[1])
                assert each.value == pytest.approx(value - max(values))
                told.add(each.noise)
    assert told == {True, False}


def test_a_few_pairs_that_agree_prove_nothing() -> None:
    assert paired_shares([1, 1, 1], [1, 1, 1]).error > 0.2
    assert not np.isfinite(paired_scores([5.0], [3.0]).error)
    assert not np.isfinite(independent_runs([[1.0, 2.0]], [[3.0, 4.0]]).error)
    # Three runs whose means happen to agree are no surer than their games.
    same = independent_runs([[0.0, 10.0]] * 3, [[1.0, 11.0]] * 3)
    assert same.error > 3 and holm([]) == []


def told(sweep: Sweep) -> dict[str, object]:
    return {**sweep.as_json(), "folder": None}


def test_a_sweep_of_matches_is_its_matches_whoever_plays(tmp_path: Path) -> None:
    one = sweep_match(AGENTS, "normal", "ewn", games=6, threads=1, out=tmp_path / "one")
    two = sweep_match(AGENTS, "normal", "ewn", games=6, threads=2, out=tmp_path / "two")
    assert told(one) == told(two) == told(sweep_match(AGENTS, "normal", "ewn", games=6))
    files = ["easy.jsonl", "normal.jsonl", "sweep.csv", "sweep.json", "sweep.svg"]
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    for point, name in zip(one.as_json()["points"], files, strict=False):
        saved = load(tmp_path / "one" / name)
        assert point["wins"] == saved.as_json()["wins"] and point["share"] == saved.win_rate
    lines = [(tmp_path / "one" / name).read_text().splitlines()[1:] for name in files[:2]]
    starts = [[json.loads(line)["start"] for line in each] for each in lines]
    assert starts[0] == starts[1]  # common luck
    assert "best" in repr(one) and one.verdict.comparisons == 1


def test_a_sweep_goes_on_grows_and_is_not_mixed_with_another(tmp_path: Path) -> None:
    folder, stop = tmp_path / "s", Stop()

    def watch(event) -> None:
        if event.what == "games" and event.done >= 8:
            stop.set()

    part = sweep_match(AGENTS, "normal", "ewn", games=10, out=folder, progress=watch, stop=stop)
    assert part.interrupted and part.done < part.asked == 20
    whole = sweep_match(AGENTS, "normal", "ewn", games=10, out=folder)
    assert not whole.interrupted and told(whole) == told(
        sweep_match(AGENTS, "normal", "ewn", games=10)
    )
    before = (folder / "easy.jsonl").read_bytes()
    more = sweep_match("{easy,normal,hard}", "normal", "ewn", games=10, out=folder)
    assert len(more.outcomes) == 3 and (folder / "easy.jsonl").read_bytes() == before
    for other, words in (
        ({"agent": AGENTS}, "its grid has hard"), ({"seed": 3}, "its seed is 0, not 3"),
        ({"game": "ewn-6x7"}, "its game is ewn"), ({"opponent": "easy"}, "its opponent is normal"),
    ):  # fmt: skip
        named = {"agent": "{easy,normal,hard}", "opponent": "normal", "game": "ewn", **other}
        with pytest.raises(ValueError, match=words):
            sweep_match(**named, games=10, out=folder)
    with pytest.raises(ValueError, match="something else"):
        sweep_match(AGENTS, "normal", out=tmp_path)
    with pytest.raises(ValueError, match="nobody"):
        sweep_match("{easy,nobody}", "normal", out=tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_opponents_in_braces_are_groups_of_their_own() -> None:
    found = sweep_match(AGENTS, "{easy,normal}", "ewn", games=4)
    points = found.as_json()["points"]
    assert [point["opponent"] for point in points] == ["easy", "normal"] * 2
    assert sum(point["best"] for point in points) == 2 and found.verdict.comparisons == 2
    assert any(line.startswith("Against easy, best") for line in found.words())
    table, matrix = found.sheets()
    assert len(table.rows) == 4 and len(matrix.rows) == 2 and len(matrix.columns) == 3


def test_a_sweep_of_players_is_compared_game_by_game(tmp_path: Path) -> None:
    folder, stop = tmp_path / "s", Stop()

    def watch(event) -> None:
        if event.done >= 1:
            stop.set()

    players = "{random,greedy}"
    part = sweep_eval(players, games=4, threads=1, out=folder, progress=watch, stop=stop)
    assert part.interrupted
    whole = sweep_eval(players, games=4, out=folder)
    assert told(whole) == told(sweep_eval(players, games=4, threads=1))
    for point, name in zip(whole.as_json()["points"], ("random", "greedy"), strict=True):
        assert point["score"] == evaluate(name, games=4).summary.mean_score
    more = sweep_eval(players, games=5, out=folder)
    assert more.outcomes[0].samples[:4] == whole.outcomes[0].samples
    with (folder / "results.jsonl").open("a") as file:
        file.write('{"point": "random", "sco')  # killed while writing
    assert told(sweep_eval(players, games=5, out=folder)) == told(more)
    (folder / "results.jsonl").write_text("nonsense\n")
    with pytest.raises(ValueError, match="line 1 is not a result"):
        sweep_eval(players, games=5, out=folder)


def test_a_sweep_of_learners_makes_ordinary_runs_and_goes_on(tmp_path: Path) -> None:
    settings = {"learner": "td", "net": "5x4", "games": 60, "evaluate_games": 10}
    stop = Stop()

    def watch(event) -> None:
        if event.figures.get("runs", "")[:1] == "1":
            stop.set()

    part = sweep_train(
        alpha="0.05,0.2", seeds=2, threads=1, out=tmp_path / "s", progress=watch, stop=stop,
        **settings,
    )  # fmt: skip
    assert part.interrupted and part.unit == "runs"
    whole = sweep_train(alpha=[0.05, 0.2], seeds=2, out=tmp_path / "s", **settings)
    point = whole.as_json()["points"][1]
    run = Run.load(point["runs"][1]["folder"])
    assert (run.games, run.method.alpha, run.limits.seed) == (60, 0.2, 1)
    alone = train("5x4", games=60, learner="td", alpha=0.2, seed=1, progress=False)
    assert np.array_equal(run.network.weights, alone.network.weights)
    fresh = evaluate(run.network, games=10, seed=point["runs"][1]["evaluation_seed"])
    assert fresh.summary.mean_score == point["runs"][1]["mean_score"]
    assert "2 runs" in " ".join(whole.words())
    with pytest.raises(ValueError, match="alpha is a number above 0"):
        sweep_train(alpha="0.1,7", out=tmp_path / "v")
    assert not (tmp_path / "v").exists()


def test_a_sweep_that_was_stopped_at_once_has_nothing_to_tell(tmp_path: Path) -> None:
    stop = Stop()
    stop.set()
    with pytest.raises(Stopped):
        sweep_match(AGENTS, "normal", games=4, stop=stop, out=tmp_path / "s")


def test_notebooks_show_tables_and_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    from tuplet import match, tournament

    results = [
        match("easy", "normal", "ewn", games=4), tournament(["easy", "normal"], "ewn", games=4),
        sweep_match(AGENTS, "normal", "ewn", games=4),
    ]  # fmt: skip
    for result in results:
        shown = result._repr_html_()
        assert "<table>" in shown and "<svg" in shown and "<?xml" not in shown
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)  # not installed
    for result in results:
        shown = result._repr_html_()
        assert "<table>" in shown and "<svg" not in shown
