"""Results tell all settings of an agent, and these are the agent."""

from __future__ import annotations

import json
from typing import Any

import pytest

import tuplet as package
from tuplet import LearnedAgent, Network, game, make_agent, settings_of
from tuplet.system.settings import describe_settings


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("mcts", {"ucb": "tuned", "c": 0.6, "c1": 1.414, "c2": 0.25, "sims": 20000, "batch": 25}),
        ("mcts:ucb=ucb1,c=1.4,time=0.5", {"ucb": "ucb1", "c": 1.4, "time": 0.5}),
        ("mcts:descent_k=5", {"ucb": "softmax", "k": 5.0}),
        ("mcs:sims=10", {"ucb": "tuned", "c": 0.6, "nodes": 1000, "sims": 10}),
        ("alphabeta", {"depth": 10, "table": 20, "reduce": False}),
        ("alphabeta:time=2", {"time": 2.0, "table": 20, "reduce": False}),
        ("best", {"time": 1.0, "table": 21, "reduce": True, "values": "ewn-6x7"}),
        ("exploit:normal", {"time": 1.0, "opponent": "normal", "values": "ewn-6x7"}),
    ],
)
def test_all_settings_are_reported_and_make_the_same_agent(text: str, told: dict[str, Any]) -> None:
    start = game("ewn-6x7").start(1)
    settings = settings_of(make_agent(text), start)
    assert told.items() <= settings.items()
    assert None not in settings.values()
    (line,) = describe_settings(text, settings)
    again = make_agent(f"{text.partition(':')[0]}:{line.partition(f'{text}: ')[2]}")
    assert settings_of(again, start) == settings


def test_settings_that_depend_on_the_game_are_those_of_the_game() -> None:
    rolled = game("ewn").start(1)
    assert settings_of(make_agent("alphabeta", "ewn"), rolled)["depth"] == 4
    assert settings_of(make_agent("hard", "ewn"), rolled) == {}
    assert settings_of(make_agent("mcts:sims=9", "2048"))["batch"] == 5
    assert settings_of(LearnedAgent(Network("5x4"), depth=2)) == {"depth": 2, "spawn4": 0.1}
    assert settings_of(make_agent("random", "2048")) == {}


def test_every_result_reports_the_settings(tuplet, tmp_path) -> None:
    match = package.match("mcts:sims=50", "easy", games=2, out=tmp_path / "games")
    assert json.loads(tuplet("show", tmp_path / "games", "--json").stdout) == match.as_json()
    assert match.as_json()["settings"]["a"]["ucb"] == "tuned"
    assert match.as_json()["settings"]["b"] == {}
    assert any("All settings of mcts:sims=50: ucb=tuned" in note for note in match.text_tables()[0].notes)
    table = package.tournament(["mcts:sims=50", "easy"], games=2).as_json()["agents"]
    assert {row["agent"]: bool(row["settings"]) for row in table} == {"mcts:sims=50": True, "easy": False}
    evaluation = package.evaluate("mcts:sims=5", games=1)
    assert evaluation.as_json()["settings"]["sims"] == 5
    found = package.analyze("ewn-6x7", None, "mcts:sims=50")
    assert found.as_json()["settings"]["c"] == 0.6
    assert any("All settings of" in note for note in found.text_tables()[0].notes)
