"""Settings are declared once: checked, read from text, offered as options, kept in files."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

import pytest

from tuplet.learn.settings import Limits, Method, load_settings, save_settings
from tuplet.system.settings import check, from_text, setting
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


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"count": 0}, "count is a whole number from 1 to 10, not 0"),
        ({"count": 2.5}, "count is a whole number"),
        ({"count": True}, "count is a whole number"),
        ({"rate": 0}, "rate is a number above 0, at most 1, not 0"),
        ({"rate": float("nan")}, "rate is a number"),
        ({"count": 10**400}, "count is a whole number"),
        ({"time": 10**400}, "time is a number"),
        ({"rate": "much"}, "rate is a number"),
        ({"way": "up"}, "way is one of left, right, not 'up'"),
        ({"loud": 1}, "loud is yes or no"),
        ({"name": 7}, "name is a text"),
        ({"time": "soon"}, "not a time"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_reason(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Some(**wrong)


def test_texts_become_what_their_types_say() -> None:
    some = from_text(Some, "count=3, rate = 0.5,way=right,loud=yes,name=x", "some")
    assert some == Some(count=3, rate=0.5, way="right", loud=True, name="x")
    assert Some(time="2m").time == 120  # type: ignore[arg-type]
    for text, words in (("size=1", "there are count, rate"), ("count=1,count=2", "twice"),
                        ("count=x", "whole number"), ("loud=1", "yes or no")):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            from_text(Some, text, "some")


def test_the_options_of_train_are_the_settings_of_a_run(tuplet) -> None:
    shown = " ".join(tuplet("train", "--help", env={"COLUMNS": "200"}).stdout.split())
    for kind in (Method, Limits):
        for each in fields(kind):
            option = f"--{each.metadata['option'] or each.name.replace('_', '-')} "
            assert (option in shown) != each.metadata["hidden"], option
            assert each.metadata["hidden"] or each.metadata["doc"].split(".")[0][:40] in shown
    assert all(name in shown for name in NETWORKS)


def test_every_setting_goes_through_config_toml(tmp_path: Path) -> None:
    method = Method(
        net="0123 4567", stages="512 64", learner="tc", target="state", alpha=0.5, gamma=0.9,
        schedule="0.5:0.1", lam=0.25, initial=100.0, delay=0.3, delay_alpha=0.2, restart=True,
        spawn4=0.2,
    )  # fmt: skip
    limits = Limits(games=77, budget="1h", threads=3, seed=9, checkpoint=7, serial=5, block=10)
    path = tmp_path / "config.toml"
    save_settings(path, method, limits)
    assert load_settings(path) == (method, limits)
    names = {each.name for kind in (Method, Limits) for each in fields(kind)}
    assert set(tomllib.loads(path.read_text())) == names


def test_a_config_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    """As tuplet wrote it before settings were told apart from limits."""
    path = tmp_path / "config.toml"
    path.write_text(
        'board = "4x4"\nnet = "5x4"\nstages = ""\nlearner = "tc"\ntarget = "afterstate"\n'
        'alpha = 1.0\nschedule = "constant"\ngamma = 1.0\nlam = 0.5\nsteps = 1\ninitial = 0.0\n'
        'delay = 0.0\ndelay_alpha = 0.1\norder = "backward"\nrestart = false\nspawn4 = 0.1\n'
        "games = 3000\nthreads = 1\nserial = 1000\nseed = 1\nblock = 1000\ncheckpoint = 300.0\n"
    )
    method, limits = load_settings(path)
    assert (method.name, method.net, limits.games, limits.seed) == ("TC(0.5)", "5x4", 3000, 1)


@pytest.mark.parametrize(
    "text", ["nonsense", "colour = 3", "games = 1.5", "[" * 5000, "block = 10000000000000"]
)
def test_a_config_that_is_not_sound_is_refused_by_name(text: str, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"config\.toml"):
        load_settings(path)
