"""`tuplet sweep` as users meet it, and tables on narrow terminals."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from tuplet.cli.common import _in_lines, _width
from tuplet.system.tables import TextTable

PAGE = (Path(__file__).parents[2] / "docs" / "sweep.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_pages_commands_and_code_run(tuplet, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    fewer = {"--games": "2", "--seeds": "1"}
    for line in "".join(re.findall(r"```sh\n(.*?)```", PAGE, re.S)).splitlines():
        line = line.replace("{0.2,0.6,1.0,1.4},sims=2000", "{0.2,0.6},sims=50")
        line = line.replace("{50,100,200}", "{5,9}").replace("0.025,0.05,0.1", "0.025,0.1")
        words = [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', line)][1:]
        words = [fewer.get(before, word) for before, word in zip(["", *words], words, strict=False)]
        if words[:2] == ["sweep", "train"]:
            words += ["--net", "5x4", "--evaluate-games", "2"]
        done = tuplet(*words, cwd=tmp_path)
        assert done.returncode == 0, (line, done.stderr)
        if "sims={5,9}" in line:
            assert "game by game" in done.stdout and "mcts:sims={5,9}  2048" in done.stdout
        if "alpha" in line and words[0] == "sweep":
            assert "More --seeds show that" in done.stdout
    assert (tmp_path / "runs" / "c" / "sweep.png").stat().st_size > 5000
    with (tmp_path / "runs" / "c" / "sweep.csv").open() as file:
        rows = [*csv.DictReader(file)]
    assert [row["c"] for row in rows] == ["0.2", "0.6"] and "best" in {r["verdict"] for r in rows}
    for piece in re.findall(r"```python\n(.*?)```", PAGE, re.S):
        exec(piece.replace("games=20", "games=2"), {})


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["match", "mcts:c=1", "mcts:c=2", "hard"], "in quotes"),
        (["match", "mcts", "hard"], "nothing to sweep"),
        (["match", "mcts:c={1,x}", "hard"], "c must be a number"),
        (["match", "mcts:c={1,2}", "hard", "--game", "2048"], "sweep eval"),
        (["match", "{easy,hard}", "hard", "--plot", "x.jpg"], "picture"),
        (["match", "{easy,hard}", "hard", "--csv", "no/x.csv"], "no folder no"),
        (["match", "{easy,hard}", "hard", "--threads", "0"], "--threads must be 1 to 256 (got 0)"),
        (["eval", "mcts:sims=1", "mcts:sims=2"], "in quotes"),
        (["eval", "{small,nobody}"], "nobody"),
        (["train", "--alpha", "0.1"], "nothing to sweep"),
        (["train", "--alpha", "0.1,9"], "--alpha must be a number above 0"),
        (["train", "--net", "4x6,zz"], "zz"),
        (["train", "--alpha", "0.1,0.2", "--seeds", "0"], "--seeds must be 1"),
        (["nonsense"], "nonsense"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(tuplet, tmp_path: Path, words: list[str], complaint: str) -> None:
    done = tuplet("sweep", *words, cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == "", (done.stdout, done.stderr)
    assert done.stderr.count("\n") == 1 and complaint in done.stderr, done.stderr
    assert not any(tmp_path.iterdir())


def test_a_table_that_is_too_wide_is_printed_in_lines() -> None:
    columns = ["", "agent", "Elo", "95 %", "wins - losses", "1", "2"]
    rows = [["1", "mcts:c=0.5", "+62", "-190 to +351", "4 - 2", "·", "2-0"]]
    sheet = TextTable("", columns, rows, words=(1,))
    assert _width(sheet) == 55
    lines = [*_in_lines(sheet, 40)]
    assert all(len(line) <= 40 for line in lines)
    assert lines[0] == "1  mcts:c=0.5  Elo: +62" and "95 %: -190 to +351" in lines[1]
    for cell in rows[0]:
        assert any(cell in line for line in lines)
