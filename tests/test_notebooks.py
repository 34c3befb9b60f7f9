"""The notebooks of examples/: they run, cells show pictures and tables, and trainings progress."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

import nbformat
from nbclient import NotebookClient

from tuplet import GreedyAgent, Progress, RandomEnvironment, play_episode, play_game, train
from tuplet.games.ewn import EwnGame
from tuplet.system import progress

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parent.parent / "examples"


def executed(cells: list[str] | Path, folder: Path) -> Any:
    """A notebook after all of its cells were run, in a kernel of its own."""
    if isinstance(cells, Path):
        book = nbformat.read(cells, as_version=4)
        nbformat.validate(book)
    else:
        book = nbformat.v4.new_notebook(cells=[*map(nbformat.v4.new_code_cell, cells)])
    client = NotebookClient(book, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}})
    return client.execute()


def shown(cell: Any) -> str:
    """All that a cell shows: text, HTML, SVG."""
    parts = []
    for output in cell.outputs:
        parts.append(output.get("text", ""))
        parts += [str(value) for value in output.get("data", {}).values()]
    return "".join(parts)


@pytest.mark.parametrize("name", ["2048", "ewn"])
def test_a_notebook_runs_and_its_cells_show_something(name: str, tmp_path: Path) -> None:
    book = executed(EXAMPLES / f"{name}.ipynb", tmp_path)
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    for cell in cells:
        text = shown(cell)
        assert text, cell.source
        last = cell.source.splitlines()[-1]
        if not last.startswith((" ", "record.to")):  # the last line is something to look at
            assert "<svg" in text or "<table" in text, cell.source
        assert not [o for o in cell.outputs if o.get("name") == "stderr"], cell.source
    everything = "".join(map(shown, cells))
    wanted = {"2048": ["reached", "mean score", "re-estimates"], "ewn": ["visits", "share", "Elo", "simulations"]}[name]
    assert all(word in everything for word in wanted)


def test_the_notebooks_are_kept_without_what_they_showed() -> None:
    for path in EXAMPLES.glob("*.ipynb"):
        book = nbformat.read(path, as_version=4)
        assert not any(cell.get("outputs") for cell in book.cells)


def test_a_training_shows_how_far_it_is_below_its_cell(tmp_path: Path) -> None:
    """The bar is drawn again and again in its place; what was learned stays, other bars leave."""
    book = executed(
        [
            "import tuplet\nfrom IPython import get_ipython\n"
            "session, sent = get_ipython().kernel.session, []\n"
            "send = session.send\n"
            "def note(*told, **more):\n"
            "    sent.append(str(told[1] if len(told) > 1 else more.get('msg_or_type')))\n"
            "    return send(*told, **more)\n"
            "session.send = note",
            "run = tuplet.train('4x5', budget=2, threads=1, learner='tc')",
            "session.send = send\nprint(len([each for each in sent if 'update_display' in each]))",
            "done = tuplet.evaluate('random', games=2000)",
            "quiet = tuplet.train('5x4', games=100, progress=False)",
        ],
        tmp_path,
    )
    train_cell, count, evaluate_cell, quiet = book.cells[1:]
    assert len(train_cell.outputs) == 1
    html = shown(train_cell)
    assert "<progress" in html and "0:02 of 0:02" in html and "mean" in html
    assert re.search(r"<b>\d+</b>", html)  # tiles
    assert int(shown(count)) >= 3
    assert "<progress" not in shown(evaluate_cell) and not quiet.outputs


def test_a_cell_escapes_what_agents_are_called() -> None:
    html = progress.cell_html(Progress("games", 1, 2, shares={"<b>": 0.5}), ["<script>"])
    assert "<script>" not in html and "&lt;script&gt;" in html and "&lt;b&gt;" in html
    assert '<progress value="1" max="2">' in html


def test_games_as_they_were_played_show_themselves_and_have_rows() -> None:
    episode = play_episode(GreedyAgent(), RandomEnvironment(1))
    html = episode._repr_html_()
    assert html.startswith("<p><b>") and f"{episode.score:,} points" in html and "<svg" in html
    rows = episode.to_dicts()
    assert len(rows) == len(episode.moves) and rows[-1]["score"] == episode.score

    class Bold:
        name = "<i>me"

        def choose(self, position: Any) -> str:
            return position.legal_moves()[0]

    record = play_game(Bold(), "easy", EwnGame("ewn").setup())
    html = record._repr_html_()
    assert "<svg" in html and "&lt;i&gt;me (red) - easy (blue)" in html and "<i>" not in html
    assert [row["move"] for row in record.to_dicts()] == record.moves
    assert record.to_dicts()[0]["name"] == "<i>me"


def test_outside_of_a_notebook_nothing_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """This module has imported IPython: that is no notebook."""
    assert "ipykernel" in sys.modules and not progress.has_screen()
    train("01", games=20)
    assert capsys.readouterr() == ("", "")
