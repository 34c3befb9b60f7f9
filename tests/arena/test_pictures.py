"""Evaluations and reviews in notebooks: tables, and pictures where there is matplotlib."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tuplet import Evaluation, Review, evaluate, play_episode, review


@pytest.fixture(scope="module")
def shown() -> list[Evaluation | Review]:
    record = play_episode("greedy", seed=1)
    return [
        evaluate("random", games=1),
        evaluate("random", games=5),
        evaluate("greedy", games=300),
        review(record, depth=1),
    ]


def test_they_show_tables_and_pictures(shown: list[Evaluation | Review], tmp_path: Path) -> None:
    for number, result in enumerate(shown):
        html = result._repr_html_()
        assert html.startswith("<p><b>") and "<table>" in html
        for part in html.split("<svg")[1:]:
            ElementTree.fromstring(f"<svg{part.split('</svg>')[0]}</svg>")
        assert html.count("<svg") == (4 if isinstance(result, Review) else 1)
        assert "<?xml" not in html and len(repr(result)) < 120
        result.plot(tmp_path / f"{number}.png")
        assert (tmp_path / f"{number}.png").read_bytes().startswith(b"\x89PNG")
    worst = shown[-1].worst(1)[0]  # type: ignore[union-attr]
    assert f"{worst.played}, as played" in html and f"{worst.best}, the best" in html
    assert f"move {worst.number}: {worst.played}, not {worst.best}" in html


def test_without_matplotlib_the_tables_are_shown(
    shown: list[Evaluation | Review], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    for result in shown:
        html = result._repr_html_()
        assert "<table>" in html
        assert html.count("<svg") == (3 if isinstance(result, Review) else 0)  # boards need nothing
        with pytest.raises(ValueError, match="pictures need matplotlib"):
            result.plot()
