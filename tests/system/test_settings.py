"""Settings are declared once: checked, read from text, offered as options, kept in files."""

from __future__ import annotations

import inspect
import re
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_type_hints

import numpy as np
import pytest

from tuplet.learn.recipes import choose
from tuplet.learn.settings import Method, ResumeSettings, RunOptions, TrainSettings, load_settings, save_settings
from tuplet.learn.train import resume, train
from tuplet.system.settings import check, from_text, setting, setting_fields
from tuplet.values.patterns import NETWORKS


@dataclass
class Some:
    count: int = setting(1, least=1, most=10)
    rate: float | None = setting(None, above=0, most=1)
    way: Literal["left", "right"] = "left"
    loud: bool = False
    name: str = ""
    time: float = setting(1.0, seconds=True)

    def __post_init__(self) -> None:
        check(self)


def test_numpy_numbers_become_python_numbers() -> None:
    some = Some(count=np.int64(3), rate=np.float32(0.5), loud=np.bool_(True), time=np.array(2.5), name="x")
    assert some == Some(count=3, rate=0.5, loud=True, time=2.5, name="x")
    assert [type(v) for v in (some.count, some.rate, some.loud)] == [int, float, bool]
    for wrong in ({"count": np.int64(11)}, {"count": np.float64(2)}, {"count": np.array([2])}):
        with pytest.raises(ValueError, match="count must be a whole number from 1 to 10"):
            Some(**wrong)


def test_the_help_of_a_budget_names_all_that_keeps_it_from_picking_a_recipe() -> None:
    (text,) = (each.metadata["doc"] for each in fields(RunOptions) if each.name == "budget")
    keep = set()
    for name in [each.name for each in fields(Method) if each.init]:
        given = {"budget": 60.0, name: None}
        if choose(None, given).keys() == {*given, "threads"}:
            keep.add(name)
    assert keep | {"recipe"} == set(re.findall(r"--(\w+)", text.partition("unless")[2]))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"count": 0}, "count must be a whole number from 1 to 10 \\(got 0\\)"),
        ({"count": 2.5}, "count must be a whole number"),
        ({"count": True}, "count must be a whole number"),
        ({"rate": 0}, "rate must be a number above 0, at most 1 \\(got 0\\)"),
        ({"rate": float("nan")}, "rate must be a number"),
        ({"count": 10**400}, "count must be a whole number"),
        ({"time": 10**400}, "time must be a number"),
        ({"rate": "much"}, "rate must be a number"),
        ({"way": "up"}, "way must be left or right \\(got 'up'\\)"),
        ({"loud": 1}, "loud must be true or false"),
        ({"name": 7}, "name must be a text"),
        ({"time": "soon"}, "time must be a time such as 5ms"),
    ],
)
def test_a_bad_setting_is_refused_with_the_reason(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Some(**wrong)


def test_texts_are_converted_by_the_type_of_the_setting() -> None:
    some = from_text(Some, "count=3, rate = 0.5,way=right,loud=yes,name=x", "some")
    assert some == Some(count=3, rate=0.5, way="right", loud=True, name="x")
    assert Some(time="2m").time == 120  # type: ignore[arg-type]
    for text, words in (
        ("size=1", "there are count, rate"),
        ("count=1,count=2", "twice"),
        ("count=x", "whole number"),
        ("loud=1", "yes or no"),
    ):
        with pytest.raises(ValueError, match=words):
            from_text(Some, text, "some")


def test_editors_know_the_settings_of_train_and_resume() -> None:
    known = {
        name: hint | str if each.metadata["seconds"] else hint
        for kind in (Method, RunOptions)
        for name, hint, each in setting_fields(kind)
        if name not in ("net", "given")  # the first argument, and what a run notes of itself
    }
    typed = get_type_hints(TrainSettings)
    assert typed == known
    resumed = get_type_hints(ResumeSettings)
    assert resumed.pop("net") is str  # tuples may be added
    assert resumed.items() <= typed.items()
    for function, settings in ((train, "TrainSettings"), (resume, "ResumeSettings")):
        *_, last = inspect.signature(function).parameters.values()
        assert last.kind is last.VAR_KEYWORD and last.annotation == f"Unpack[{settings}]"


def test_a_misspelt_setting_gets_a_suggestion(trained_run: Path) -> None:
    with pytest.raises(ValueError, match=r"unknown setting 'lerner': did you mean learner\?"):
        train("5x4", lerner="td")  # type: ignore[call-arg]
    with pytest.raises(ValueError, match=r"unknown setting 'quux': there are game, net, grow, "):
        train("5x4", quux=1)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match=r"unknown setting 'bugdet': did you mean budget\?"):
        resume(trained_run, bugdet=1)  # type: ignore[call-arg]


def test_the_options_of_train_are_the_settings_of_a_run(tuplet) -> None:
    shown = " ".join(tuplet("train", "--help", env={"COLUMNS": "200"}).stdout.split())
    for kind in (Method, RunOptions):
        for each in fields(kind):
            option = f"--{each.metadata['option'] or each.name.replace('_', '-')} "
            assert (option in shown) != each.metadata["hidden"], option
            assert each.metadata["hidden"] or each.metadata["doc"].split(".")[0][:40] in shown
    assert all(name in shown for name in NETWORKS)


def test_every_setting_goes_through_config_toml(tmp_path: Path) -> None:
    method = Method(
        net="0123 4567",
        stages="512 64",
        learner="tc",
        target="state",
        alpha=0.5,
        gamma=0.9,
        schedule="0.5:0.1",
        lam=0.25,
        initial=100.0,
        delay=0.3,
        delay_alpha=0.2,
        restart=True,
        spawn4=0.2,
    )
    options = RunOptions(games=77, budget="1h", threads=3, seed=9, checkpoint=7, serial=5, block=10)
    path = tmp_path / "config.toml"
    save_settings(path, method, options)
    assert load_settings(path) == (method, options)
    names = {each.name for kind in (Method, RunOptions) for each in fields(kind)}
    others = {"game", "ahead", "explore", "opening", "opponent"}  # of other games than 2048
    assert set(tomllib.loads(path.read_text())) == names - others


def test_a_config_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    """As tuplet wrote it before settings were told apart from limits."""
    path = tmp_path / "config.toml"
    path.write_text(
        'board = "4x4"\nnet = "5x4"\nstages = ""\nlearner = "tc"\ntarget = "afterstate"\n'
        'alpha = 1.0\nschedule = "constant"\ngamma = 1.0\nlam = 0.5\nsteps = 1\ninitial = 0.0\n'
        'delay = 0.0\ndelay_alpha = 0.1\norder = "backward"\nrestart = false\nspawn4 = 0.1\n'
        "games = 3000\nthreads = 1\nserial = 1000\nseed = 1\nblock = 1000\ncheckpoint = 300.0\n"
    )
    method, options = load_settings(path)
    assert (method.name, method.net, options.games, options.seed) == ("TC(0.5)", "5x4", 3000, 1)


@pytest.mark.parametrize("text", ["nonsense", "colour = 3", "games = 1.5", "[" * 5000, "block = 10000000000000"])
def test_a_config_that_is_not_sound_is_refused_by_name(text: str, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"config\.toml"):
        load_settings(path)
