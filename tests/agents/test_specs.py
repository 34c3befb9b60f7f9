"""Names of players and agents, and how far they are trusted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tuplet import LearnedAgent, Spec, analyze, evaluate, make_agent, match
from tuplet.agents.specs import short_names


def test_untrusted_text_names_neither_programs_nor_classes(tmp_path: Path) -> None:
    for text in ("exec:/bin/true", "exec[time=1]:/bin/true", "os:abort", "mine:Agent"):
        with pytest.raises(ValueError, match="cannot be named from here"):
            make_agent(Spec(text, folder=tmp_path))
    for text in ("os:abort", "mine:Player"):
        with pytest.raises(ValueError, match="cannot be named from here"):
            make_agent(Spec(text, folder=tmp_path), "2048")


def test_untrusted_text_names_no_file_outside_its_folder(trained_run: Path) -> None:
    folder = trained_run.parent
    inside = Spec("run", folder=folder)
    assert isinstance(make_agent(inside, "2048"), LearnedAgent)
    over = Spec("expectimax:depth=2,values=run", folder=folder)
    assert isinstance(make_agent(over, "2048"), LearnedAgent)
    outside = [f"../{folder.name}/../../x", str(trained_run.parent.parent), "run/../../..", "/etc"]
    for text in outside:
        with pytest.raises(ValueError, match="outside of the folder"):
            make_agent(Spec(text, folder=folder), "2048")
        with pytest.raises(ValueError, match="outside of the folder"):
            make_agent(Spec(f"expectimax:values={text}", folder=folder), "2048")
    link = folder / "link"
    link.symlink_to(folder.parent)
    with pytest.raises(ValueError, match="outside of the folder"):
        make_agent(Spec("link", folder=folder), "2048")
    with pytest.raises(ValueError, match="files cannot be named"):
        make_agent(Spec("run"), "2048")


def test_plain_agent_names_need_no_trust() -> None:
    for text in ("easy", "hard", "mcts:sims=10", "best:nodes=100"):
        assert make_agent(Spec(text))
    for text in ("random", "greedy", "small", "mcts:sims=10", "expectimax:depth=1", "expectimax:values=small"):
        assert make_agent(Spec(text), "2048")


def test_a_spec_is_taken_wherever_a_name_is(trained_run: Path) -> None:
    spec = Spec("run", folder=trained_run.parent)
    assert evaluate(spec, games=3).summary.games == 3
    assert analyze("2048", [2, 2] + [0] * 14, spec).best is not None
    assert match(Spec("easy"), "easy", games=2).a == "easy"


def test_short_names_distinguish_agents() -> None:
    names = ["hard", "mcts:sims=3,c=1", "mcts:sims=3,c=2"]
    assert short_names(names) == ["hard", "mcts:c=1", "mcts:c=2"]
    same = ["mcts:c=1,sims=3", "mcts:sims=3,c=1"]  # the same settings, in another order
    assert short_names(same) == same
