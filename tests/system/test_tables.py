"""Results as rows: for data frames, what `--csv` writes, value by value."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

import tuplet as package
from tuplet import Run
from tuplet.studies.reproduce import Listed
from tuplet.system.tables import Displayable, Tabular, table_of

NOTATION = "ewn r1r2r3../r4r5.../r6...b6/...b5b4/..b3b2b1 red 2"


def as_written(rows: list[dict[str, Any]]) -> list[dict[str, str]]:
    return [{k: "" if v is None else str(v) for k, v in row.items()} for row in rows]


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return [*csv.DictReader(file)]


def test_rows_are_what_csv_writes(tuplet: Any, trained_run: Path, tmp_path: Path) -> None:
    run = str(trained_run)
    for result, words in (
        (package.evaluate(run, games=5), ["eval", run, "--games", "5"]),
        (package.match("easy", "normal", games=4), ["match", "easy", "normal", "--games", "4"]),
        (package.tournament(["easy", "normal"], games=4), ["tournament", "easy", "normal", "--games", "4"]),
        (package.sweep_eval("{random,greedy}", games=3), ["sweep", "eval", "{random,greedy}", "--games", "3"]),
        (package.plot(run), ["plot", run, "-o", str(tmp_path / "p.png")]),
    ):
        path = tmp_path / f"{words[0]}.csv"
        done = tuplet(*words, "--csv", path)
        assert done.returncode == 0, done.stderr
        assert as_written(result.to_dicts()) == read(path)
        assert read(result.csv(tmp_path / "own.csv")) == read(path)


def test_rows_of_a_run_are_its_blocks_in_numbers(trained_run: Path) -> None:
    run = Run.load(trained_run)
    rows = run.to_dicts()
    assert [row["games"] for row in rows] == [m["games"] for m in run.metrics] == [1000, 2000, 3000]
    assert rows[-1]["mean_score"] == run.metrics[-1]["mean_score"]
    assert rows[-1]["reached_512"] == run.metrics[-1]["reached"]["512"]
    assert Run(run.method, run.options).to_dicts() == []


def test_rows_of_reviews_analyses_trees_and_growth(trained_run: Path) -> None:
    player, nature = package.GreedyAgent(), package.RandomEnvironment(1)
    review = package.review(package.play_episode(player, nature), str(trained_run), depth=1)
    assert [row["number"] for row in review.to_dicts()] == [move.number for move in review.moves]
    assert sum(row["loss"] for row in review.to_dicts()) == pytest.approx(review.losses)
    found = package.analyze("ewn", NOTATION, "mcts:sims=300", tree=2, growth=True)
    moves, tree, growth = found.to_dicts(), found.tree.to_dicts(), found.growth.to_dicts()
    assert moves[0]["move"] == found.best and moves[0]["ci95_low"] < moves[0]["value"]
    assert len(tree) == found.tree.shown and tree[0]["depth"] == 0
    assert {row["move"] for row in growth} == {row["move"] for row in moves}
    last = [row for row in growth if row["simulations"] == found.growth.simulations[-1]]
    assert {row["move"]: row["visits"] for row in last} == {row["move"]: row["visits"] for row in moves}


def test_an_empty_result_has_no_rows(tmp_path: Path) -> None:
    assert package.list_runs(tmp_path).to_dicts() == []
    over = "ewn b1..../...../...../...../.....  red 1"
    assert package.analyze("ewn", over, "easy").to_dicts() == []


def test_rows_of_players_have_the_same_tiles(trained_run: Path) -> None:
    rows = package.compare(str(trained_run), "greedy", games=20).to_dicts()
    shares = [name for name in rows[0] if name.startswith("reached_")]
    assert shares and all(0 <= row[name] <= 1 for row in rows for name in shares)
    assert all(row["ci95_low"] < row["mean_score"] < row["ci95_high"] for row in rows)


def test_rows_of_a_population_are_its_runs(tmp_path: Path) -> None:
    found = package.population(seeds=2, net="01", games=20, evaluate_games=9, out=tmp_path / "pop")
    assert [row["seed"] for row in found.to_dicts()] == [0, 1]
    assert [row["mean_score"] for row in found.to_dicts()] == [m.mean_score for m in found.members]


def test_missing_values_are_none_and_nested_ones_have_columns() -> None:
    table = table_of([{"a": {"b": {"c": 1}}, "x_ci95": None}, {"list": [1, 2, 3]}])
    assert table.columns == ["a_b_c", "x_ci95_low", "x_ci95_high", "list"]
    assert table.rows == [[1, None, None, None], [None, None, None, [1, 2, 3]]]


def test_every_displayable_result_has_rows() -> None:
    """Also what will be added: a result with sheets has JSON, and so rows, or says so itself."""

    def kinds(kind: type) -> set[type]:
        return {kind}.union(*map(kinds, kind.__subclasses__()))

    for name in package.__all__:
        getattr(package, name)
    for kind in kinds(Displayable) - {Displayable}:
        if kind.__module__.startswith("tuplet."):
            own = kind.as_json is not Tabular.as_json or kind.table is not Tabular.table
            assert own, kind
    assert {row["study"] for row in Listed().to_dicts()} >= {"leaderboard"}
