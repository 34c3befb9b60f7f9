"""Sweeps: grids, what can be told apart, and folders that go on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

from tuplet import Run, Stop, Stopped, Sweep, evaluate, sweep_eval, sweep_match, sweep_train, train
from tuplet.arena.differences import compare_to_best, holm, independent_runs, paired_scores, paired_shares
from tuplet.arena.match_file import load
from tuplet.arena.sweep import Axis, SweepFolder, label, points_of, template

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
    [
        ("mcts", "nothing to sweep"),
        ("mcts:c={1}", "nothing to sweep"),
        ("c={1,1}", "twice"),
        ("c={1,1.0}", "twice"),
        ("c={1,}", "empty"),
        ("c={1,{2,3}}", "brace"),
        ("c={1,2", "brace"),
        ("c={1,2},c={3,4}", "varied twice"),
        (f"c={{{','.join(map(str, range(300)))}}}", "256 points"),
    ],
)
def test_what_is_no_grid_is_refused(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        points_of(template(text, "agent").axes)


def test_numbers_are_drawn_as_they_are_spaced() -> None:
    for values, logarithmic in (
        ("0.025 0.05 0.1", True),
        ("0.2 0.6 1.0 1.4", False),
        ("50 100 200 400", True),
        ("1 2", False),
        ("0 1 10", False),
    ):
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
        for name, samples, apart in (
            ("shares", shares, paired_shares),
            ("scores", scores, paired_scores),
            ("runs", runs, independent_runs),
        ):
            values = [float(np.mean(each)) for each in samples]
            found = compare_to_best(values, [""] * 4, lambda i, j, a=apart, s=samples: a(s[i], s[j]))
            wrong[name] += any(each is not None and each.significant for each in found.behind)
    assert all(count / trials <= 0.075 for count in wrong.values()), wrong


def test_holm_asks_less_of_each_next_one() -> None:
    assert holm([0.01, 0.02, 0.04]) == pytest.approx([0.03, 0.04, 0.04])
    # Behind the first that may be chance nothing is told apart any more.
    assert holm([0.012, 0.002, 0.03, 0.011, 0.9]) == pytest.approx([0.044, 0.01, 0.06, 0.044, 0.9])
    assert holm([0.6, 0.7]) == [1.0, 1.0] and holm([]) == []


def test_all_intervals_of_a_sweep_together_hold_the_truth() -> None:
    """Of points that differ clearly: with the levels of Holm's steps they held it in 94.5 %."""
    random, truth, held = np.random.default_rng(5), np.array([0, 3, 4.0]), 0
    for _ in range(2000):
        samples = (random.normal(0, 1, (3, 30)) + truth[:, None]).tolist()
        values = [float(np.mean(each)) for each in samples]
        found = compare_to_best(values, [""] * 3, lambda i, j, s=samples: paired_scores(s[i], s[j]))
        pairs = zip(found.behind, found.best, truth, strict=True)
        held += all(
            each is None or each.joint_ci95[0] <= own - truth[best] <= each.joint_ci95[1] for each, best, own in pairs
        )
    assert held / 2000 >= 0.95


def test_a_difference_that_is_not_significant_has_an_interval_that_contains_0() -> None:
    random = np.random.default_rng(2)
    told = set()
    for trial in range(60):
        shift = np.array([0.0, 0.1, 0.3, 0.6, 1.0])[:, None]
        samples = (random.normal(0, 1, (5, 10 + trial)) + shift).tolist()
        values = [float(np.mean(each)) for each in samples]
        found = compare_to_best(values, [""] * 5, lambda i, j, s=samples: paired_scores(s[i], s[j]))
        assert found.comparisons == 10
        for each, value in zip(found.behind, values, strict=True):
            if each is not None:
                assert each.significant or each.joint_ci95[0] <= 0 <= each.joint_ci95[1]
                assert not each.significant or each.joint_ci95[0] < 0
                assert each.value == pytest.approx(value - max(values))
                told.add(each.significant)
    assert told == {True, False}


def test_a_few_pairs_that_agree_prove_nothing() -> None:
    assert paired_shares([1, 1, 1], [1, 1, 1]).stderr > 0.2
    assert not np.isfinite(paired_scores([5.0], [3.0]).stderr)
    assert not np.isfinite(independent_runs([[1.0, 2.0]], [[3.0, 4.0]]).stderr)
    # Three runs whose means happen to agree are no surer than their games.
    same = independent_runs([[0.0, 10.0]] * 3, [[1.0, 11.0]] * 3)
    assert same.stderr > 3


def told(sweep: Sweep) -> dict[str, object]:
    return {**sweep.as_json(), "folder": None}


def test_a_sweep_of_matches_is_the_same_on_threads_and_executors(tmp_path: Path) -> None:
    one = sweep_match(AGENTS, "normal", "ewn", games=6, threads=1, out=tmp_path / "one")
    two = sweep_match(AGENTS, "normal", "ewn", games=6, threads=2, out=tmp_path / "two")
    assert told(one) == told(two) == told(sweep_match(AGENTS, "normal", "ewn", games=6))
    files = ["easy.jsonl", "normal.jsonl", "sweep.csv", "sweep.json", "sweep.svg"]
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    for point, name in zip(one.as_json()["points"], files, strict=False):
        saved = load(tmp_path / "one" / name)
        assert point["wins"] == saved.as_json()["wins"] and point["share"] == saved.score
    lines = [(tmp_path / "one" / name).read_text().splitlines()[1:] for name in files[:2]]
    starts = [[json.loads(line)["start"] for line in each] for each in lines]
    assert starts[0] == starts[1]  # common luck
    assert "best" in repr(one) and one.verdict.comparisons == 1
    assert one.best == [each["spec"] for each in one.as_json()["points"] if each["best"]]
    title, head, *rows = str(one).splitlines()  # what print shows
    assert "6 games each" in title and head.split()[:2] == ["agent", "share"]
    assert any("best" in row for row in rows[:2]) and rows[2].startswith("Best: ")


def test_a_sweep_continues_grows_and_is_not_mixed_with_another(tmp_path: Path) -> None:
    folder, stop = tmp_path / "s", Stop()

    def watch(event) -> None:
        if event.what == "games" and event.done >= 8:
            stop.set()

    part = sweep_match(AGENTS, "normal", "ewn", games=10, out=folder, progress=watch, stop=stop)
    assert part.interrupted and part.done < part.planned == 20
    whole = sweep_match(AGENTS, "normal", "ewn", games=10, out=folder)
    assert not whole.interrupted and told(whole) == told(sweep_match(AGENTS, "normal", "ewn", games=10))
    before = (folder / "easy.jsonl").read_bytes()
    more = sweep_match("{easy,normal,hard}", "normal", "ewn", games=10, out=folder)
    assert len(more.results) == 3 and (folder / "easy.jsonl").read_bytes() == before
    for other, words in (
        ({"agent": AGENTS}, "its grid has hard"),
        ({"seed": 3}, "its seed is 0, not 3"),
        ({"game": "ewn-6x7"}, "its game is ewn"),
        ({"opponent": "easy"}, "its opponent is normal"),
    ):
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
    table, matrix = found.text_tables()
    assert len(table.rows) == 4 and len(matrix.rows) == 2 and len(matrix.columns) == 3
    assert len(found.best) == 2
    assert len({*found.table().columns}) == len(found.table().columns)  # a column each
    assert [row["opponent"] for row in found.to_dicts()] == ["easy", "normal"] * 2


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
    assert more.results[0].samples[:4] == whole.results[0].samples
    with (folder / "results.jsonl").open("a") as file:
        file.write('{"point": "random", "sco')  # killed while writing
    assert told(sweep_eval(players, games=5, out=folder)) == told(more)
    (folder / "results.jsonl").write_text("nonsense\n")
    with pytest.raises(ValueError, match="line 1 is not a result"):
        sweep_eval(players, games=5, out=folder)


def test_a_full_disk_loses_no_result_of_a_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = SweepFolder(tmp_path / "s", {"kind": "eval", "seed": 0}, ["a"])
    results = tmp_path / "s" / "results.jsonl"
    lines = [{"point": "a", "scores": [n]} for n in range(3)]

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with folder.open():
        folder.add(lines[0])
        with monkeypatch.context() as disk:
            disk.setattr("tuplet.arena.resumable.os.write", full)
            with pytest.warns(UserWarning, match="results cannot be saved in .*No space left"):
                folder.add(lines[1])
        folder.add(lines[2])
    assert [json.loads(line) for line in results.read_text().splitlines()] == lines
    with folder.open() as again:
        assert again.results == lines


def test_half_a_line_that_a_full_disk_left_is_no_part_of_the_next(tmp_path: Path) -> None:
    """The disk takes four bytes more, then none."""
    code = """
        import json, resource, signal, sys, warnings
        from pathlib import Path
        from tuplet.arena.sweep import SweepFolder
        folder = SweepFolder(Path(sys.argv[1]), {"kind": "eval", "seed": 0}, ["a"])
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        with folder.open():
            folder.add({"point": "a", "scores": [1]})
            size = (folder.path / "results.jsonl").stat().st_size
            most = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size + 4, most[1]))
            folder.add({"point": "a", "scores": [2]})
            assert (folder.path / "results.jsonl").stat().st_size == size
            resource.setrlimit(resource.RLIMIT_FSIZE, most)
            folder.add({"point": "a", "scores": [3]})
    """
    done = subprocess.run(
        [sys.executable, "-c", dedent(code), str(tmp_path / "s")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "s" / "results.jsonl").read_text().splitlines()
    assert [json.loads(line)["scores"] for line in lines] == [[1], [2], [3]]


def test_what_goes_wrong_in_drawing_a_sweep_is_not_hidden(tmp_path: Path, monkeypatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError("a slip in drawing")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tuplet.arena.sweep.draw_sweep", broken)
    with pytest.raises(ValueError, match="a slip in drawing"):
        sweep_match(AGENTS, "normal", "ewn", games=2, out=tmp_path / "a")
    monkeypatch.setattr("tuplet.arena.sweep.draw_sweep", full)
    with pytest.warns(UserWarning, match="not written: .*No space left"):
        assert sweep_match(AGENTS, "normal", "ewn", games=2, out=tmp_path / "b").results
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)  # not installed
    assert sweep_match(AGENTS, "normal", "ewn", games=2, out=tmp_path / "c").results


@pytest.mark.slow
def test_a_sweep_of_learners_makes_ordinary_runs_and_continues(tmp_path: Path) -> None:
    settings = {"learner": "td", "net": "5x4", "games": 60, "evaluate_games": 10}
    stop = Stop()

    def watch(event) -> None:
        if event.figures.get("runs", "")[:1] == "1":
            stop.set()

    part = sweep_train(alpha="0.05,0.2", seeds=2, threads=1, out=tmp_path / "s", progress=watch, stop=stop, **settings)
    assert part.interrupted and part.unit == "runs"
    whole = sweep_train(alpha=[0.05, 0.2], seeds=2, out=tmp_path / "s", **settings)
    point = whole.as_json()["points"][1]
    run = Run.load(point["runs"][1]["folder"])
    assert (run.games, run.method.alpha, run.options.seed) == (60, 0.2, 1)
    alone = train("5x4", games=60, learner="td", alpha=0.2, seed=1, progress=False)
    assert np.array_equal(run.network.weights, alone.network.weights)
    fresh = evaluate(run.network, games=10, seed=point["runs"][1]["evaluation_seed"])
    assert fresh.summary.mean_score == point["runs"][1]["mean_score"]
    assert "2 runs" in " ".join(whole.words())
    several = sweep_train(out=tmp_path / "g", **{**settings, "games": "20,30"})
    row = several.to_dicts()[0]
    assert (row["games"], row["measured games"]) == ("20", 30)
    with pytest.raises(ValueError, match=r"nothing to sweep: .* --alpha 0\.05,0\.1"):
        sweep_train(alpha="0.1", out=tmp_path / "v")
    with pytest.raises(ValueError, match="alpha must be a number above 0"):
        sweep_train(alpha="0.1,7", out=tmp_path / "v")
    assert not (tmp_path / "v").exists()


def test_a_sweep_that_was_stopped_at_once_has_no_result(tmp_path: Path) -> None:
    stop = Stop()
    stop.set()
    with pytest.raises(Stopped):
        sweep_match(AGENTS, "normal", games=4, stop=stop, out=tmp_path / "s")


def test_notebooks_show_tables_and_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    from tuplet import match, tournament

    results = [
        match("easy", "normal", "ewn", games=4),
        tournament(["easy", "normal"], "ewn", games=4),
        sweep_match(AGENTS, "normal", "ewn", games=4),
    ]
    for result in results:
        shown = result._repr_html_()
        assert "<table>" in shown and "<svg" in shown and "<?xml" not in shown
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)  # not installed
    for result in results:
        shown = result._repr_html_()
        assert "<table>" in shown and "<svg" not in shown
