"""Checkpoints: equal files of equal runs, disks that are full, and those that are kept."""

from __future__ import annotations

import json
import shutil
import time
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

from tuplet import Network, Run, evaluate, resume, train
from tuplet.learn.training import Training
from tuplet.values.weights import read_weights, save_weights

NET = "0123 4567"


@pytest.fixture(autouse=True)
def no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Run, "draw", lambda _: None)


def learn(out: Path, games: int = 120, **more: object) -> Run:
    return train(NET, games=games, out=out, progress=False, **{"block": 50, **more})


def weights(run: Path) -> bytes:
    return (run / "weights.safetensors").read_bytes()


@pytest.mark.parametrize("more", [{}, {"stages": "256", "lam": 0.0}])
def test_equal_runs_have_equal_weight_files_also_with_fresh_games(more: dict[str, object], tmp_path: Path) -> None:
    learn(tmp_path / "a", **more)
    learn(tmp_path / "b", **more)
    learn(tmp_path / "c", **more, evaluate="20@30", keep=2)
    learn(tmp_path / "d", 75, **more)
    assert weights(tmp_path / "a") == weights(tmp_path / "b") == weights(tmp_path / "c")
    # The unfinished block is in the file: an interrupted run's, too.
    learn(tmp_path / "e", 75, **more)
    assert weights(tmp_path / "d") == weights(tmp_path / "e") != weights(tmp_path / "a")


def test_a_run_of_an_older_tuplet_is_resumed(tmp_path: Path) -> None:
    learn(tmp_path / "run", 75)
    learn(tmp_path / "whole", 130)
    parameters, notes, extra = read_weights(tmp_path / "run")
    (tmp_path / "run" / "state.json").unlink()
    save_weights(parameters, tmp_path / "run" / "weights.safetensors", {**notes, "elapsed_s": "123.5"}, extra)
    config = tmp_path / "run" / "config.toml"
    new = ("keep", "evaluate")
    lines = config.read_text().splitlines()
    config.write_text("\n".join(x for x in lines if not x.startswith(new)))
    assert Training.load(tmp_path / "run", options={"games": 130}).run.elapsed_s == 123.5
    resume(tmp_path / "run", games=130, progress=False)
    assert weights(tmp_path / "run") == weights(tmp_path / "whole")


def test_a_kill_between_the_two_files_of_a_checkpoint_loses_nothing(tmp_path: Path) -> None:
    learn(tmp_path / "run", 50, evaluate="10@20")
    shutil.copytree(tmp_path / "run", tmp_path / "before")
    resume(tmp_path / "run", games=110, progress=False)
    after = Training.load(tmp_path / "run", options={"games": 200}).run
    state = json.loads((tmp_path / "run" / "state.json").read_text())
    assert len(state["checkpoints"]) == 2  # of the weights that were there, and of the new ones
    # The state is written first: here the weights are still those before.
    shutil.copy(tmp_path / "run" / "state.json", tmp_path / "before" / "state.json")
    found = Training.load(tmp_path / "before", options={"games": 200}).run
    assert found.games == 50 and after.games == 110
    assert found.elapsed_s == state["checkpoints"][0]["elapsed_s"] < after.elapsed_s
    resume(tmp_path / "before", games=110, progress=False)
    assert weights(tmp_path / "before") == weights(tmp_path / "run")
    told = [m["evaluations"] for m in Run.load(tmp_path / "before").metrics]
    assert [e["learned"] for each in told for e in each] == [25, 50, 75, 100, 110]


@pytest.mark.parametrize("text", ["", "{", "[" * 5000, '{"checkpoints": [{"games": 75}]}', "[]"])
def test_a_damaged_state_costs_no_run(text: str, tmp_path: Path) -> None:
    run = learn(tmp_path / "run", 75)
    (tmp_path / "run" / "state.json").write_text(text)
    # The last line of metrics knows the time, to a thousandth of a second.
    assert Training.load(tmp_path / "run", options={"games": 100}).run.elapsed_s == run.metrics[-1]["elapsed_s"]


def block(path: Path) -> None:
    """Let a file be written no more, even by root."""
    path.unlink()
    (path / "in the way").mkdir(parents=True)


def test_a_checkpoint_that_fails_is_tried_again_and_training_goes_on(tmp_path: Path) -> None:
    out = tmp_path / "run"

    def on_block(games: int, _: object) -> None:
        if games == 50:
            block(out / "weights.safetensors")
        if games == 150:
            shutil.rmtree(out / "weights.safetensors")
        time.sleep(0.02)  # the next checkpoint is due

    with pytest.warns(UserWarning, match="checkpoint of run") as told:
        run = learn(out, 200, checkpoint=0.01, loggers=[SimpleNamespace(on_block=on_block)])
    texts = [str(each.message) for each in told]
    assert len(texts) == 2  # not one for each attempt
    assert "training continues, and tries again" in texts[0] and "written again" in texts[1]
    assert not run.save_error and run.games == 200
    learn(tmp_path / "whole", 200)
    assert weights(out) == weights(tmp_path / "whole")


def test_lines_of_metrics_that_could_not_be_written_come_later(tmp_path: Path) -> None:
    out = tmp_path / "run"

    def on_block(games: int, _: object) -> None:
        if games == 50:
            block(out / "metrics.jsonl")
        if games == 150:
            shutil.rmtree(out / "metrics.jsonl")

    with pytest.warns(UserWarning, match=r"metrics.jsonl of run cannot be written at game 100"):
        learn(out, 250, loggers=[SimpleNamespace(on_block=on_block)])
    assert [m["games"] for m in Run.load(out).metrics] == [50, 100, 150, 200, 250]


def test_a_run_that_cannot_be_saved_at_its_end_is_saved_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    out = tmp_path / "runs" / "first"
    with pytest.warns(UserWarning, match=r"the run, 125 games, is saved in .* instead"):
        run = learn(out, 125, loggers=[SimpleNamespace(on_block=lambda games, _: games < 100 and shutil.rmtree(out))])
    assert run.folder is not None and run.folder.parent == tmp_path / "here"
    assert "No such file" in run.save_error and str(out) in run.save_error
    learn(tmp_path / "whole", 200)
    resume(run.folder, games=200, progress=False)
    assert weights(run.folder) == weights(tmp_path / "whole")
    assert [m["games"] for m in Run.load(run.folder).metrics] == [50, 100, 125, 150, 200]


def test_what_cannot_be_saved_anywhere_is_said_and_the_command_fails(
    tuplet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tuplet.learn import checkpoints

    save, saves = checkpoints.save_weights, []

    def full(*arguments: object) -> Path:
        saves.append(arguments)
        if len(saves) > 1:
            raise OSError(28, "No space left on device")
        return save(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(checkpoints, "save_weights", full)
    done = tuplet("train", "--net", NET, "--games", 60, "--out", tmp_path / "run", cwd=tmp_path)
    assert done.returncode == 2
    assert "No space left on device" in done.stderr and "memory only" in done.stderr
    assert "keeps the checkpoint of game 0" in done.stderr and "Saved in" not in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run"]


def test_the_last_checkpoints_are_kept_by_choice(tmp_path: Path) -> None:
    out = tmp_path / "run"
    for games in (50, 75, 100, 125):
        if games == 50:
            learn(out, games, keep=3)
        else:
            resume(out, games=games, progress=False)
    kept = sorted(path.name for path in (out / "checkpoints").iterdir())
    assert kept == ["100.safetensors", "125.safetensors", "75.safetensors"]
    learn(tmp_path / "short", 75)
    short = Network.load(out / "checkpoints" / "75.safetensors")
    assert short.weights.tobytes() == Network.load(tmp_path / "short").weights.tobytes()
    assert evaluate(str(out / "checkpoints" / "75.safetensors"), games=2, progress=False)
    assert tomllib.loads((out / "config.toml").read_text())["keep"] == 3
    # One that is put in place of the last goes on from there.
    shutil.copy(out / "checkpoints" / "75.safetensors", out / "weights.safetensors")
    resume(out, games=125, keep=0, progress=False)
    assert weights(out) == (out / "checkpoints" / "125.safetensors").read_bytes()
