"""Tutorials: whoever types what they say sees what they show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tuplet
from pages import DOCS, follow

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ["2048", "ewn"])
def test_a_tutorial_does_what_it_says(name: str, tuplet, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (DOCS / "tutorials" / f"{name}.md").read_text(encoding="utf-8")
    assert follow(tuplet, text, tmp_path) >= 10


@pytest.mark.parametrize(
    ("picture", "drawn"),
    [
        ("board", tuplet.Board([0, 0, 2, 2, 0, 0, 4, 8, 0, 0, 0, 16, 0, 0, 0, 64])),
        ("position", tuplet.EwnPosition.parse("ewn r1r2r3../r4r5.../r6...b6/...b5b4/..b3b2b1 red 2")),
    ],
)
def test_pictures_of_a_tutorial_are_what_notebooks_show(picture: str, drawn: Any) -> None:
    assert (DOCS / "tutorials" / f"{picture}.svg").read_text() == drawn._repr_svg_()
