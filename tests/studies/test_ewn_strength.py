"""The study of the strength of EWN's agents, at a thousandth of its size."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tuplet import reproduce
from tuplet.errors import UserError
from tuplet.studies.ewn_strength import AGENTS


@pytest.mark.slow
def test_every_agent_is_measured_by_matches_and_by_a_judge(tmp_path: Path) -> None:
    report = reproduce("ewn-strength", scale=0.05, times="1ms", out=tmp_path / "s", threads=1, progress=False)
    rows = report.as_json()["rows"]
    assert [(row["game"], row["agent"]) for row in rows] == [
        *(("ewn", name) for name in AGENTS if name != "exploit:hard"),
        *(("ewn-6x7", name) for name in AGENTS),
    ]
    lost = {(row["game"], row["agent"]): float(row["note"].split()[3]) for row in rows}
    for game in ("ewn", "ewn-6x7"):  # whatever the time, learned values lose less than random moves
        assert 0 <= lost[game, "best"] < lost[game, "easy"]
    assert all(0 <= row["ours"] <= 1 and row["wins"] + row["losses"] == 20 for row in rows)
    more = reproduce("ewn-strength", scale=0.06, times="1ms", out=tmp_path / "s", threads=1, progress=False)
    assert "in 12 positions" in more.as_json()["notes"][1]  # and none of the ten before are counted as twelve
    assert {len(json.loads(file.read_bytes())) for file in (tmp_path / "s" / "parts").glob("*-12.json")} == {12}


def test_a_time_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="such as"):
        reproduce("ewn-strength", times="fast", out=tmp_path / "s", progress=False)
