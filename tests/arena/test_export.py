"""`tuplet export positions`: what others learn from is what the agent thinks."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import tuplet as package
from tuplet.errors import UserError


@pytest.mark.parametrize(
    ("game", "agent"), [("2048", "small"), ("ewn", "alphabeta:depth=2"), ("ewn-6x7", "mcts:sims=50")]
)
def test_each_position_has_the_values_that_the_agent_gives_it(game: str, agent: str, tmp_path: Path) -> None:
    found = package.export_positions(game, agent, positions=30, seed=4, out=tmp_path / "p.jsonl", progress=False)
    lines = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    assert len(lines) == len({line["notation"] for line in lines}) == 30
    assert lines == [each.as_json() for each in found.positions]
    for line in lines:
        position = package.game(game).parse(line["notation"])
        assert line["cells"] == [cell for row in position.as_json()["cells"] for cell in row]
        assert set(line["values"]) == set(position.legal_moves()) and len(line["values"]) > 1
        if not agent.startswith("mcts"):  # whose simulations depend on what came before
            analysis = package.analyze(game, position, agent, progress=False)
            values = {each.move: each.value for each in analysis.moves if each.legal}
            assert line["values"] == values and line["values"][line["best"]] == max(values.values())


def test_the_same_seed_writes_the_same_table(tuplet, tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        out = tmp_path / f"{name}.csv"
        done = tuplet("export", "positions", "--agent", "small", "--positions", 40, "--seed", seed, "--out", out)
        assert done.returncode == 0 and "40 positions" in done.stdout, done.stderr
    a, b, c = ((tmp_path / f"{name}.csv").read_bytes() for name in "abc")
    assert a == b != c
    with (tmp_path / "a.csv").open() as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        values = {move: float(row[f"value_{move}"]) for move in ("up", "right", "down", "left") if row[f"value_{move}"]}
        assert values[row["best"]] == max(values.values())
        tiles = [int(row[f"cell_{i}"] or 0) for i in range(16)]
        assert tiles == list(package.game("2048").parse(row["position"]).tiles)


def test_random_moves_lead_elsewhere() -> None:
    best, mixed = (package.export_positions(positions=60, explore=e, seed=1, progress=False) for e in (0, 0.5))
    assert best.positions != mixed.positions
    board = [package.game("2048").parse(each.notation) for each in best.positions[:2]]
    assert board[0].play(best.positions[0].best).score == board[1].score  # the best move was played


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--agent", "random"], "does not value moves"),
        (["--out", "p.txt"], "a .csv or .jsonl file"),
        (["--positions", "0"], "positions must be 1 to"),
        (["--explore", "2"], "explore must be 0 to 1"),
        (["--game", "chess"], "chess"),
    ],
)
def test_what_cannot_be_exported_is_refused_in_one_line(
    words: list[str], complaint: str, tuplet, tmp_path: Path
) -> None:
    done = tuplet("export", "positions", *words, cwd=tmp_path)
    assert done.returncode == 2 and complaint in done.stderr.splitlines()[-1]
    assert not [*tmp_path.iterdir()]


def test_positions_that_do_not_exist_are_not_sought_for_ever() -> None:
    with pytest.raises(UserError, match="ask for fewer"):
        package.export_positions("2048:board=2x2", "mcts:sims=2", positions=10**6, progress=False)
