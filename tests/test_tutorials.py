"""Tutorials: whoever types what they say sees what they show."""

from __future__ import annotations

from pathlib import Path

import pytest

from pages import DOCS, follow


@pytest.mark.parametrize("name", ["2048", "ewn"])
def test_a_tutorial_does_what_it_says(name: str, tuplet, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (DOCS / "tutorials" / f"{name}.md").read_text(encoding="utf-8")
    assert follow(tuplet, text, tmp_path) >= 10
