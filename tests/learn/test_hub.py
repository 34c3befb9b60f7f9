"""Model folders: written whole, read by every command, and by programs that lack tuplet."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pages import DOCS, blocks
from tuplet import Network, Spec, convert, evaluate, list_agents, population, train
from tuplet.learn import hub
from tuplet.learn.hub import READING, train_command
from tuplet.learn.settings import Method, RunOptions
from tuplet.values.weights import FORMAT

pytestmark = pytest.mark.slow

BOARD = [2, 4, 8, 16, 0, 2, 64, 32, 4, 8, 256, 128, 0, 2, 512, 1024]
BLOCKED = """
import sys
class Nothing:
    def find_spec(self, name, *_):
        if name.partition(".")[0] in ("tuplet", "numba", "torch"):
            raise ImportError(name)
sys.meta_path.insert(0, Nothing())
"""


@pytest.fixture(scope="module")
def model(trained_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hub") / "first"
    convert(trained_run, folder, to="hub")
    return folder


def test_a_model_folder_has_the_files_of_hubs_and_nothing_else(model: Path) -> None:
    assert sorted(path.name for path in model.iterdir()) == ["README.md", "config.json", "model.safetensors"]


def test_it_holds_the_networks_weights_and_not_what_the_learner_remembers(model: Path, trained: Network) -> None:
    again = Network.load(model)
    assert again.memory is None and (again.weights == trained.weights).all()
    assert trained.memory is not None  # the one it was made from still has it


def test_the_cards_numbers_come_from_the_command_it_prints(model: Path, tuplet: Any) -> None:
    card = (model / "README.md").read_text()
    trained, measured, used = blocks("sh", card)
    assert trained == "tuplet train --net 5x4 --learner tc --alpha 1.0 --lambda 0.5 --games 3000 --seed 1\n"
    words = measured.split()[1:]
    report = json.loads(tuplet(*words, "--json", cwd=model.parent).stdout)
    assert f"**{report['mean_score']:,.1f}**" in card
    low, high = report["ci95"]
    assert f"(95 %: {low:,.1f} to {high:,.1f})" in card
    assert f"| 512 | {100 * report['reached']['512']:.1f} % |" in card
    assert "learned from 3,000 games" in card and "pip install tuplet" in used
    told = json.loads((model / "config.json").read_text())["measured"]
    assert told["mean_score"] == report["mean_score"] and told["games"] == report["games"] == 1000


def test_the_cards_head_is_what_hubs_read(model: Path) -> None:
    yaml = pytest.importorskip("yaml")
    card = (model / "README.md").read_text()
    head = yaml.safe_load(card.split("---\n")[1])
    assert head["library_name"] == "tuplet" and "2048" in head["tags"]
    (result,) = head["model-index"][0]["results"]
    assert result["task"]["type"] == "reinforcement-learning"
    mean, _, half = result["metrics"][0]["value"].partition(" +/- ")
    assert float(mean) > 1000 and 0 < float(half) < float(mean)


@pytest.mark.parametrize(
    "settings",
    [
        {"net": "0123 4567", "learner": "td", "seed": 3, "games": 500},
        {"net": "5x4", "budget": "90s", "threads": 2, "restart": True, "schedule": "0.5:0.1"},
        {"board": "3x3", "target": "state", "lam": 0.25, "spawn4": 0.2, "evaluate": "10@100"},
    ],
)
def test_the_training_command_of_a_card_means_the_same_settings(
    settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Typed again, it asks `train` for what the run was made with."""
    import shlex
    from dataclasses import asdict

    import tuplet
    from tuplet.cli import app
    from tuplet.learn.settings import split

    method, options = split(settings)
    asked: dict[str, Any] = {}

    class Enough(Exception):  # noqa: N818
        pass

    def train(**given: Any) -> None:
        asked.update(given)
        raise Enough

    monkeypatch.setattr(tuplet, "train", train)
    words = shlex.split(train_command({**asdict(method), **asdict(options)}))
    with pytest.raises(Enough):
        app(words[1:], exit_on_error=False)
    known = {each for kind in (Method, RunOptions) for each in kind.__dataclass_fields__}
    again = split({name: value for name, value in asked.items() if name in known})
    assert again == (method, options)


def read_alone(model: Path, code: str, python: str | Path = sys.executable) -> str:
    """What the script prints in the model's folder, run by itself."""
    done = subprocess.run([python, "-I", "-c", code], cwd=model, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_few_lines_of_numpy_and_safetensors_value_a_board_alike(model: Path, tmp_path: Path) -> None:
    assert float(read_alone(model, BLOCKED + READING)) == pytest.approx(Network.load(model).value(BOARD), rel=1e-6)
    # Weights that were never visited, initial values, tuples that joined later.
    net = Network("01234 01", initial=400.0)
    net.grow("456")
    for target in (9.0, -7.0):
        net.update(BOARD, target, alpha=0.3)
        net.update([65536, *BOARD[1:]], target, alpha=0.2)
    net.save(tmp_path / "net.safetensors")
    convert(tmp_path / "net.safetensors", tmp_path / "model", to="hub")
    for tiles in (BOARD, [131072, *BOARD[1:]], [4] * 16):
        code = BLOCKED + READING.replace(str(BOARD), str(tiles))
        assert float(read_alone(tmp_path / "model", code)) == pytest.approx(net.value(tiles), rel=1e-6)


@pytest.mark.long
def test_the_script_runs_where_only_numpy_and_safetensors_are(model: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    pip = [python, "-m", "pip", "install", "-q", "numpy", "safetensors"]
    subprocess.run(pip, check=True, capture_output=True)
    listed = subprocess.run([python, "-m", "pip", "list"], capture_output=True, text=True).stdout
    assert "tuplet" not in listed and "numba" not in listed
    assert float(read_alone(model, READING, python)) == pytest.approx(Network.load(model).value(BOARD), rel=1e-6)


def test_the_docs_and_the_card_show_the_same_script(model: Path) -> None:
    assert READING in blocks("python", (model / "README.md").read_text())
    assert READING in blocks("python", (DOCS / "tools.md").read_text(encoding="utf-8"))
    code = READING.partition("\n\n")[2]
    assert len(code.splitlines()) == 10


@pytest.mark.parametrize(
    "words",
    [
        "eval MODEL --games 20",
        "eval MODEL --games 2 --depth 2",
        "eval expectimax:depth=1,values=MODEL --games 1",
        "analyze 2048 --agent MODEL",
        "compare MODEL small --games 5",
        "convert MODEL again.w",
        "convert MODEL again.xz",
        "play 2048 --agent MODEL --watch",
        "review games.txt --agent MODEL --number 1",
    ],
)
def test_every_command_that_takes_weights_takes_a_model_folder(
    model: Path, tuplet: Any, tmp_path: Path, words: str
) -> None:
    if "games.txt" in words:
        tuplet("eval", "random", "--games", 1, "--out", "games.txt", cwd=tmp_path)
    done = tuplet(*words.replace("MODEL", str(model)).split(), cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_where_somebody_else_asks_a_model_is_found_by_its_name_in_the_folder(model: Path) -> None:
    rows = {row["agent"]: row for row in list_agents("2048", model.parent).rows}
    assert rows["first"]["learned"] and "0123" in rows["first"]["about"]
    assert "first" not in {row["agent"] for row in list_agents("2048:board=3x3", model.parent).rows}
    named = Spec("first", folder=model.parent)
    assert evaluate(named, games=5).summary == evaluate(Network.load(model), games=5).summary


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("convert RUN RUN --to hub", "holds a training run"),
        ("convert RUN . --to hub", "has a README.md that does not belong to a tuplet model"),
        ("convert RUN README.md --to hub", "is a file"),
        ("convert RUN no/where --to hub", "there is no folder no"),
        ("convert RUN model --to hub --size 3M", "--size is for packed files"),
        ("train --resume MODEL", "it is a model folder"),
        ("plot MODEL", "it is a model folder"),
        ("show MODEL", "a model folder"),
    ],
)
def test_what_cannot_be_is_one_line(
    trained_run: Path, model: Path, tuplet: Any, tmp_path: Path, words: str, told: str
) -> None:
    (tmp_path / "README.md").write_text("mine")
    words = words.replace("RUN", str(trained_run)).replace("MODEL", str(model))
    done = tuplet(*words.split(), cwd=tmp_path)
    assert done.returncode == 2 and told in done.stderr and done.stderr.count("\n") == 1
    assert (tmp_path / "README.md").read_text() == "mine" and len([*tmp_path.iterdir()]) == 1


def test_a_folder_of_another_library_is_not_taken_for_a_network(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    save_file({"layer.weight": np.zeros((3, 3), np.float32)}, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(ValueError, match="not one of tuplet's networks"):
        Network.load(tmp_path)
    with pytest.raises(ValueError, match=re.escape("config.json that does not belong")):
        convert("small", tmp_path, to="hub")
    assert [*hub.models_in(tmp_path.parent)] == []


def test_a_model_is_replaced_and_its_story_is_handed_on(model: Path, tmp_path: Path) -> None:
    """From model to model the card still knows how it was learned; a foreign file's does not."""
    convert(model, tmp_path / "second", to="hub")
    cards = [(each / "README.md").read_text() for each in (model, tmp_path / "second")]
    assert re.sub(r"\bfirst\b(?!:)", "second", cards[0]) == cards[1]
    demo = DOCS.parent / "tests" / "data" / "interop" / "demo-4x4.bin"
    convert(demo, tmp_path / "second", to="hub")  # over it
    card = (tmp_path / "second" / "README.md").read_text()
    assert "not known: the weights come from the file demo-4x4.bin" in card
    assert Network.load(tmp_path / "second").name == "0123 4567 0145 1256"


def test_the_command_replaces_a_model_only_with_force(model: Path, tmp_path: Path, tuplet: Any) -> None:
    shutil.copytree(model, tmp_path / "again")
    (tmp_path / "again" / "README.md").write_text("edited")
    words = ["convert", model, tmp_path / "again", "--to", "hub"]
    refused = tuplet(*words)
    assert refused.returncode == 2 and "add --force" in refused.stderr
    assert (tmp_path / "again" / "README.md").read_text() == "edited"
    assert tuplet(*words, "--force").returncode == 0
    assert (tmp_path / "again" / "README.md").read_text() != "edited"


def test_a_card_tells_of_the_best_of_a_population_and_of_weights_that_were_given(tmp_path: Path, tuplet: Any) -> None:
    found = population(seeds=2, net="01 56", games=40, evaluate_games=20, out=tmp_path / "pop")
    convert(tmp_path / "pop", tmp_path / "best", to="hub")
    seed = max(found.members, key=lambda member: member.mean_score).seed
    card = (tmp_path / "best" / "README.md").read_text()
    assert f"--games 40 --seed {seed}" in card and "It learned from 40 games" in card
    told = tuplet("convert", "small", "pop", "--to", "hub", cwd=tmp_path)  # its weights would win
    assert told.returncode == 2 and "holds a training run" in told.stderr
    train(Network.load(tmp_path / "best"), games=30, out=tmp_path / "on", progress=False)
    convert(tmp_path / "on", tmp_path / "later", to="hub")
    assert "weights that had been learned before" in (tmp_path / "later" / "README.md").read_text()


def test_a_model_that_could_not_be_written_is_written_by_the_same_command(
    trained_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("save_weights", "atomic_write"):
        with monkeypatch.context() as patched:

            def full(*_: Any) -> None:
                raise OSError(28, "No space left on device")

            patched.setattr(hub, name, full)
            with pytest.raises(OSError, match="No space left"):
                convert(trained_run, tmp_path / "model", to="hub")
        assert not (tmp_path / "model" / "README.md").exists()
    convert(trained_run, tmp_path / "model", to="hub")
    assert (tmp_path / "model" / "README.md").exists()


def test_settings_that_are_no_settings_are_left_out(trained_run: Path, tmp_path: Path) -> None:
    shutil.copytree(trained_run, tmp_path / "run")
    config = tmp_path / "run" / "config.toml"
    config.write_text("day = 2026-01-01\n" + config.read_text().replace("alpha = 0.1", "alpha = inf"))
    convert(tmp_path / "run", tmp_path / "model", to="hub")
    told = json.loads((tmp_path / "model" / "config.json").read_text(), parse_constant=pytest.fail)
    assert "day" not in told["trained"] and told["trained"]["seed"] == 1


def test_what_a_stranger_wrote_into_a_model_folder_does_no_harm(model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes((model / "model.safetensors").read_bytes())
    hostile = '{"trained": {"net": "a\\n```"}, "learned": {}}'
    many = '{"trained": {"net": "x"}, "learned": {"games": "many"}}'
    odd = f'{{"model_type": "{FORMAT}", "board": [4, 4], "tuples": 5}}'
    for told in ("[]", "{", '{"trained": 3}', hostile, many, odd, "[" * 50_000):
        (folder / "config.json").write_text(told)
        convert(folder, tmp_path / "ours", to="hub")
        assert list_agents("2048", tmp_path).rows
        card = (tmp_path / "ours" / "README.md").read_text()
        fences = [line for line in card.splitlines() if line.startswith("```")]
        assert fences == ["```sh", "```"] * (len(fences) // 2 - 1) + ["```python", "```"]
