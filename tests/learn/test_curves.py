"""Learning curves: what is drawn is what was measured."""

from __future__ import annotations

import csv
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tuplet import Run, plot
from tuplet.learn.curves import curve_of, describe_method, group_by_method, points_of
from tuplet.learn.settings import Method, RunOptions, save_settings
from tuplet.system.intervals import mean_interval
from tuplet.system.pictures import line_style


def a_run(folder: Path, lines: list[tuple[int, float]], seed: int = 0, **method: Any) -> Run:
    folder.mkdir(parents=True)
    save_settings(folder / "config.toml", Method(net="5x4", **method), RunOptions(seed=seed))
    metrics = [
        {
            "games": games,
            "elapsed_s": games / 100,
            "mean_score": mean,
            "max_score": 9,
            "reached": {"64": 1.0, "128": 0.5},
            "ended": {"64": 0.5, "128": 0.5},
        }
        for games, mean in lines
    ]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(m) + "\n" for m in metrics))
    return Run.load(folder)


def labels(run: Any, **how: Any) -> list[Any]:
    return plot(*run, **how).figure.axes[0].texts


def test_short_blocks_are_drawn_as_part_of_whole_ones(tmp_path: Path) -> None:
    run = a_run(tmp_path / "a", [(1000, 10.0), (1775, 20.0), (2000, 60.0), (3000, 30.0)])
    assert [(p.games, p.mean, p.played) for p in points_of(run)] == [
        (1000, 10.0, 1000),
        (2000, 29.0, 1000),
        (3000, 30.0, 1000),
    ]
    run = a_run(tmp_path / "b", [(1000, 10.0), (2000, 20.0), (2250, 60.0)])
    assert [(p.games, p.mean) for p in points_of(run)] == [(1000, 10.0), (2250, 28.0)]
    assert "of the last 250 games" in run.text_tables()[0].notes[0]
    run = a_run(tmp_path / "c", [(250, 60.0)])
    assert [(p.games, p.mean) for p in points_of(run)] == [(250, 60.0)]


def test_runs_that_differ_in_their_seed_only_are_one_band(tmp_path: Path) -> None:
    values = {
        0: [(1000, 10.0), (2000, 30.0)],
        1: [(1000, 14.0), (2000, 36.0)],
        2: [(1000, 12.0), (2000, 30.0), (3000, 99.0)],
    }
    runs = [a_run(tmp_path / f"a-{s}", lines, s) for s, lines in values.items()]
    other = a_run(tmp_path / "b", values[0], 5, alpha=0.5)
    assert [len(group) for group in group_by_method([*runs, other])] == [3, 1]
    curve = curve_of(runs, "games")
    assert curve.x == [1000, 2000] and curve.means == [12.0, 32.0]
    for place, seen in enumerate(([10.0, 14.0, 12.0], [30.0, 36.0, 30.0])):
        low, high = mean_interval(seen)
        assert (curve.low[place], curve.high[place]) == pytest.approx((low, high))
    shown = plot(*runs, other, band=True).figure.axes[0].get_legend().get_texts()
    assert [text.get_text() for text in shown] == [
        "a, α = 1, 3 seeds",
        "b, α = 0.5",
        "95 % interval of the mean over seeds",
    ]
    curve = curve_of(runs, "games", iqm=True)
    assert curve.means == [12.0, 32.0]  # of three runs no quarter can be left out
    assert (curve.low, curve.high) == ([10.0, 30.0], [14.0, 36.0])
    shown = plot(*runs, other, iqm=True).figure.axes[0].get_legend().get_texts()
    assert shown[-1].get_text() == "95 % interval of the interquartile mean over seeds"


def test_titles_say_how_it_was_learned() -> None:
    method = Method(net="4x6", schedule="0.9:0.1", spawn4=0.2)
    assert " · ".join(describe_method(method)) == (
        "4x6 · TC(0.5) · after-state values · α = 1, 0.1 from 90 % on · 20 % fours"
    )
    assert describe_method(Method(net="4x6", stages="8192", restart=True))[-2:] == ["stages 8192", "restart"]


def test_forty_lines_look_different() -> None:
    looks = {str(line_style(number)) for number in range(40)}
    assert len(looks) == 40


def test_labels_at_the_ends_of_lines_do_not_meet(tmp_path: Path) -> None:
    runs = [a_run(tmp_path / f"r{n}", [(1000, 5000.0), (2000, 9000.0 + 5 * n)], alpha=(n + 1) / 20) for n in range(14)]
    figure = plot(*runs).figure
    figure.draw_without_rendering()
    texts = figure.axes[0].texts
    assert [text.get_text() for text in texts] == [f"{9000 + 5 * n:,}" for n in range(14)]
    places = sorted(text.get_window_extent().y0 for text in texts)
    height = texts[0].get_window_extent().height
    assert min(b - a for a, b in pairwise(places)) > 0.8 * height


def test_numbers_in_a_picture_are_rounded_once(tmp_path: Path) -> None:
    (label,) = labels([a_run(tmp_path / "a", [(1000, 10.0), (2000, 64903.468)])])
    assert label.get_text() == "64,903"


def test_metrics_become_a_table(tuplet, tmp_path: Path) -> None:
    a_run(tmp_path / "a", [(1000, 10.0), (1500, 20.0)])
    b = a_run(tmp_path / "b", [(1000, 12.0)], seed=7)
    told = {
        "learned": 500,
        "elapsed_s": 5.0,
        "games": 20,
        "mean_score": 11.0,
        "ci95": [9.0, 13.0],
        "reached": {"128": 1.0, "256": 0.5},
        "ended": {"128": 0.5, "256": 0.5},
    }
    b.metrics[0]["evaluations"] = [told]
    (tmp_path / "b" / "metrics.jsonl").write_text(json.dumps(b.metrics[0]) + "\n")
    done = tuplet(
        "plot", tmp_path / "a", tmp_path / "b", "-o", tmp_path / "p.png", "--csv", tmp_path / "t.csv", "--json"
    )
    assert json.loads(done.stdout)["evaluations"]["b"] == [told]
    with (tmp_path / "t.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(r["run"], r["seed"], r["kind"], r["games"], r["played"]) for r in rows] == [
        ("a", "0", "training", "1000", "1000"),
        ("a", "0", "training", "1500", "500"),
        ("b", "7", "fresh", "500", "20"),
        ("b", "7", "training", "1000", "1000"),
    ]
    assert (rows[2]["ci95_low"], rows[2]["reached_64"], rows[2]["reached_256"]) == ("9.0", "1.0", "0.5")
    assert (rows[0]["ci95_low"], rows[0]["reached_256"]) == ("", "0.0")
    assert Run.load(tmp_path / "b").csv(tmp_path / "one.csv").read_text().count("\n") == 3
    done = tuplet("plot", tmp_path / "a", "--csv", tmp_path / "no" / "t.csv")
    assert done.returncode == 2 and "no folder" in done.stderr


def test_a_notebook_shows_the_table_and_the_curve_of_a_run(tmp_path: Path) -> None:
    shown = a_run(tmp_path / "a", [(1000, 10.0), (2000, 20.0)])._repr_html_()
    assert "<table>" in shown and "<svg" in shown
    assert "<svg" not in a_run(tmp_path / "b", [])._repr_html_()


def test_a_run_that_was_killed_while_its_curve_was_drawn_is_drawn_when_resumed(tuplet, tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert tuplet("train", "--net", "0123", "--games", 30, "--out", out).returncode == 0
    for left in (".curve.png.4711.part", ".rounds.jsonl.12.part"):
        (out / left).touch()
    (out / "curve.png").unlink()
    done = tuplet("train", "--resume", out)
    assert done.returncode == 0 and f"The curve: {out / 'curve.png'}" in done.stderr
    assert (out / "curve.png").stat().st_size > 1000 and not [*out.glob(".*.part")]
    done = tuplet("train", "--resume", out)
    assert done.returncode == 2 and "is finished (30 games)" in done.stderr


RUBBISH = [0, 5, "x", None, True, [], {}, [1], {"x": 1}, {"2": "x"}, float("nan"), 1e300, "\u0663"]


@pytest.mark.parametrize("where", ["a block", "fresh games"])
def test_metrics_are_refused_or_can_be_shown_whatever_stands_in_them(where: str, tmp_path: Path) -> None:
    run = a_run(tmp_path / "run", [(1000, 10.0)])
    file, (line,) = tmp_path / "run" / "metrics.jsonl", run.metrics
    fresh = {**line, "learned": 1000, "games": 9, "ci95": [8.0, 12.0], "mean_moves": 3.0}
    line = {**line, "mean_moves": 3.0, "moves_per_s": 7, "evaluations": [fresh]}
    place, refused = line if where == "a block" else fresh, dict[tuple[str, str], str]()
    for key, good in [*place.items()]:
        for rubbish in RUBBISH:
            place[key] = rubbish
            file.write_text(json.dumps(line) + "\n")
            try:
                found = Run.load(tmp_path / "run")
            except ValueError as error:
                refused[key, str(rubbish)] = str(error)
                continue
            found.csv(tmp_path / "table.csv")
            assert found.text_tables() and repr(found) and found.as_json()
        place[key] = good
    assert {("ended", "0"), ("reached", "{'x': 1}"), ("mean_score", "nan")} <= refused.keys()
    assert all("metrics.jsonl: line 1 is not a line of metrics" in e for e in refused.values())
    line["evaluations"] = [{**fresh, "ci95": [11.0, 9.0]}]  # an interval that is none
    file.write_text(json.dumps(line) + "\n")
    assert plot(Run.load(tmp_path / "run")).as_json()
