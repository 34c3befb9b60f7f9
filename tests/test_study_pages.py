"""The pages of studies say what their reports say."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[1] / "docs"
sys.path.insert(0, str(DOCS / "_ext"))

import study_pages  # noqa: E402

from tuplet import NETWORKS  # noqa: E402
from tuplet.learn.recipes import for_budget  # noqa: E402
from tuplet.studies.reproduce import STUDIES  # noqa: E402

PAGES = sorted({*(DOCS / "studies").glob("*.md")} - {DOCS / "studies" / "index.md"})
PARTS = ["What was claimed", "What we ran", "What came out", "What it means", "What we got wrong on the way"]


def test_every_published_study_has_a_page() -> None:
    assert {page.stem for page in PAGES} == set(STUDIES) - {"regret"}  # see docs/exact.md


def test_large_networks_have_the_tuples_that_were_chosen_for_them() -> None:
    report = json.loads((DOCS / "studies" / "tuples.json").read_bytes())
    assert report["settings"]["network"].startswith("8g,")
    for name, count in (("12g", 4), ("16g", 8)):
        assert NETWORKS[name].split() == [*NETWORKS["8g"].split(), *report["chosen"][:count]]


def test_a_budget_takes_the_recipe_that_leads_the_leaderboard() -> None:
    report = json.loads((DOCS / "studies" / "leaderboard.json").read_bytes())
    assert {time: for_budget(60 * float(time)) for time in report["best"]} == report["best"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_its_report_and_no_other_number(page: Path) -> None:
    text, report = page.read_text(), json.loads(page.with_suffix(".json").read_bytes())
    assert study_pages.with_table(text, report) == text
    assert study_pages.strangers(text, report) == []
    assert [line[3:] for line in text.splitlines() if line.startswith("## ")] == PARTS
    assert report["command"] in text
    assert shown_on(page)
    assert all((page.parent / picture).exists() for picture in shown_on(page))


def shown_on(page: Path) -> list[str]:
    """The pictures of a page."""
    return re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page.read_text())


def test_every_picture_is_on_a_page() -> None:
    there = {path.name for path in (DOCS / "studies").glob("*.svg")}
    assert there == {picture for page in PAGES for picture in shown_on(page)}


def test_a_number_that_is_not_in_the_report_is_found() -> None:
    report = {"rows": [{"ours": 0.8123, "games": 1000}], "notes": ["c is 0.6, of 290,000"]}
    text = "It won 81.2 % of 1,000 games with c = 0.6 and 290,000 simulations, +0.6 `77`."
    assert study_pages.strangers(text, report) == []
    assert study_pages.strangers("81.3 % of 1,001 games, −0.7", report) == ["81.3", "1,001", "-0.7"]


def test_all_of_it_is_small() -> None:
    assert sum(path.stat().st_size for path in (DOCS / "studies").iterdir()) < 10_000_000
