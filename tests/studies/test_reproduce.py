"""Studies: listed, run by name, stopped and continued, on threads and on processes."""

from __future__ import annotations

import inspect
import json
import re
import shutil
import subprocess
from base64 import b64decode
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tuplet import evaluate, reproduce
from tuplet.cli import run
from tuplet.cli.measure import reproduce as command
from tuplet.studies.context import StudyContext
from tuplet.studies.reproduce import STUDIES, study_function
from tuplet.system import files
from tuplet.system.blocks import Worker
from tuplet.system.progress import Progress
from tuplet.system.stop import Stop, Stopped

TINY: dict[str, dict[str, Any]] = {
    "ewn": {"scale": 0.002, "sims": 60},
    "ewn-variance": {"scale": 0.001, "sims": 60},
    "regret": {"scale": 0.001, "board": "2x2"},
    "td": {"scale": 0.002, "net": "012 456"},
    "td-state-80-20": {"scale": 0.0002, "net": "012 456"},
    "state": {"scale": 0.002, "net": "012 456"},
    "isomorphism": {"scale": 0.005, "net": "012 456"},
    "tuples": {"scale": 0.001, "net": "0123 4567"},
}
BY_THE_CLOCK = ("leaderboard", "looking-ahead", "rounds", "ewn-strength")  # nothing of them is the same twice
ONE_OF_EACH = ("td-afterstate", "ewn-c", "regret")
TIMED = "state-or-afterstate"  # what is learned in equal time depends on the machine


def tiny(name: str) -> dict[str, Any]:
    return TINY.get(name) or TINY[name.split("-")[0]]


@pytest.fixture(scope="module")
def pool() -> Iterator[Executor]:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as made:
        yield made


def interrupted(name: str, out: Path, **more: Any) -> None:
    """Run a study until some of it is done."""
    stop = Stop()

    def look(seen: Progress) -> None:
        if seen.done - seen.before >= 1:
            stop.set()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tuplet.system.blocks._TICK", 0.001)  # before all of it is done
        with pytest.raises(Stopped, match="the same command continues"):
            reproduce(name, out=out, progress=look, stop=stop, **tiny(name), **more)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [  # one of each kind; the others in `make test-long`
        pytest.param(name, marks=[] if name in ONE_OF_EACH else [pytest.mark.long])
        for name in STUDIES
        if name not in BY_THE_CLOCK
    ],
)
def test_a_study_stopped_and_continued_elsewhere_is_the_same(name: str, tmp_path: Path, pool: Executor) -> None:
    whole = reproduce(name, out=tmp_path / "whole", threads=2, progress=False, **tiny(name))
    interrupted(name, tmp_path / "parts", threads=1)
    assert not (tmp_path / "parts" / "report.json").exists()
    reproduce(name, out=tmp_path / "parts", executor=pool, progress=False, **tiny(name))
    names = ["report.json", "report.html", *(f"{name}.svg" for name in whole.result.pictures)]
    assert len(names) > 2
    for each in names:
        written = [(tmp_path / way / each).read_bytes() for way in ("whole", "parts")]
        assert (written[0] == written[1] or name == TIMED) and written[0]
    found = json.loads((tmp_path / "whole" / "report.json").read_bytes())
    assert found == json.loads(json.dumps(whole.as_json()))
    assert found["study"] == name and found["scale"] == tiny(name)["scale"]
    rows = json.loads((tmp_path / "parts" / "report.json").read_bytes())["rows"]
    for row, other in zip(found["rows"], rows, strict=True):
        assert row == other or row["equal"] == "seconds"
        assert {"ours", "ours_ci95", "published", "published_ci95", "verdict"} <= set(row)
        assert row["verdict"] in ("agrees", "differs", "too few games", "not comparable")
        assert row["verdict"] == "not comparable" or row["published_ci95"]
    html = (tmp_path / "whole" / "report.html").read_text()
    assert "<script" not in html and "http" not in html.replace("http-equiv", "")
    pictures = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', html)
    assert len(pictures) == len(whole.result.pictures)
    for picture in pictures:
        assert ElementTree.fromstring(b64decode(picture)).tag.endswith("svg")


@pytest.mark.long
def test_the_leaderboard_trains_for_equal_times_and_continues_after_a_stop(tmp_path: Path) -> None:
    options = {"times": "0.6s 1.2s", "recipes": "small quick@0.6s", "out": tmp_path / "a", "threads": 2}
    stop = Stop()
    with pytest.raises(Stopped, match="the same command continues"):
        reproduce(
            "leaderboard", scale=0.5, stop=stop, **options, progress=lambda seen: stop.set() if seen.done else None
        )
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "a" / "parts").iterdir()}
    assert len(kept) < 6
    found = reproduce("leaderboard", scale=0.5, **options).as_json()
    assert all(path.stat().st_mtime_ns == before for path, before in kept.items())
    rows = found["rows"]
    assert [(r["recipe"], r["minutes"], r["seeds"]) for r in rows] == [
        ("small", 0.01, 2),
        ("quick", 0.01, 2),
        ("small", 0.02, 2),
    ]
    for row in rows:
        low, high = row["ours_ci95"]
        assert low < row["ours"] < high and len(row["means"]) == 2
    leader = max(rows[:2], key=lambda row: row["ours"])["recipe"]
    assert found["best"] == {"0.01": leader, "0.02": "small"}
    for folder in (tmp_path / "a" / "runs").iterdir():
        last = json.loads((folder / "metrics.jsonl").read_text().splitlines()[-1])
        assert 0.3 <= last["elapsed_s"] <= 5 and not (folder / "weights.safetensors").exists()
    for wrong in ({"times": "soon"}, {"times": "0"}, {"recipes": "nope"}):
        with pytest.raises(ValueError, match=r"--times must|recipe must be one of"):
            reproduce("leaderboard", out=tmp_path / "b", **wrong)


@pytest.mark.long
def test_looking_ahead_plays_by_depth_and_by_time_and_continues_after_a_stop(tmp_path: Path) -> None:
    out, options = tmp_path / "a", {"player": "small", "times": "0.02ms 0.05ms"}
    stop = Stop()
    with pytest.raises(Stopped, match="the same command continues"):
        reproduce(
            "looking-ahead",
            scale=0.022,
            out=out,
            threads=2,
            stop=stop,
            **options,
            progress=lambda seen: stop.set() if seen.done >= 5 else None,  # per cent
        )
    kept = {path: path.read_bytes() for path in (out / "parts").iterdir()}
    assert "depth-1-0.json" in {path.name for path in kept} and len(kept) < 6
    found = reproduce("looking-ahead", scale=0.022, out=out, threads=2, **options).as_json()
    assert all(path.read_bytes() == before for path, before in kept.items())
    rows = found["rows"]
    assert [(row["looks"], row["games"]) for row in rows] == [
        ("depth 1", 22),
        ("depth 2", 8),
        ("depth 3", 2),
        ("0.02 ms", 4),
        ("0.05 ms", 4),
    ]
    greedy = evaluate("small", games=22, seed=0)  # the parts of a row are one row of games
    assert rows[0]["ours"] == pytest.approx(greedy.summary.mean_score)
    assert rows[0]["reached"]["8192"][0] == pytest.approx(greedy.summary.reached.get(8192, 0))
    # A move takes what it may: the clock is looked at between two steps of the search.
    assert rows[0]["milliseconds"] < rows[1]["milliseconds"] < rows[2]["milliseconds"]
    assert rows[3]["milliseconds"] > 0.01 and rows[4]["milliseconds"] < 1
    for wrong in ({"times": "soon"}, {"times": "0"}, {"player": "random"}):
        with pytest.raises(ValueError, match=r"--times must|no learned values"):
            reproduce("looking-ahead", out=tmp_path / "b", **{**options, **wrong})


def test_a_larger_scale_continues_from_the_games_of_a_smaller_one(tmp_path: Path) -> None:
    small, more = {"scale": 0.004, "sims": 60}, {"scale": 0.008, "sims": 60}
    reproduce("ewn-shortcuts", out=tmp_path / "a", **small)
    before = {path.name: path.read_bytes() for path in (tmp_path / "a" / "games").iterdir()}
    grown = reproduce("ewn-shortcuts", out=tmp_path / "a", **more)
    assert grown.as_json() == reproduce("ewn-shortcuts", out=tmp_path / "b", **more).as_json()
    for name, games in before.items():
        assert (tmp_path / "a" / "games" / name).read_bytes().startswith(games)


def test_studies_are_listed_and_bad_calls_are_refused_in_one_line(capsys, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["reproduce"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed and about.duration in listed for name, about in STUDIES.items())
    other = ["--scale", "0.001", "--board", "2x2", "--out", "there", "--json"]
    assert run(["reproduce", "regret", *other]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {(row["board"], row["games"]) for row in rows} == {("2x2", 100), ("2x2", 200)}
    assert all(row["score"] + row["regret"] == pytest.approx(66.964149) for row in rows)
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "mine").write_text("")
    for arguments, word in (
        (["nothing"], "no study"),
        (["regret", "--board", "5x5"], "5x5"),
        (["regret", "--scale", "5"], "--scale must be above 0 and at most 1 (got 5)"),
        (["regret", "--scale", "0"], "--scale must be above 0"),
        (["regret", "--sims", "9"], "--sims"),
        (["ewn-c", "--out", "there"], "another study"),
        (["regret", "--out", "there", "--seed", "1"], "its seed is 0, not 1"),
        (["regret", "--out", "there", "--board", "2x3"], "its board is 2x2, not 2x3"),
        (["regret", "--out", "there"], "its board is 2x2, not the default"),
        (["regret", "--out", "file"], "is a file"),
        (["regret", "--out", "folder"], "something"),
        (["ewn-c", "--sims", "0"], "sims must be 1 or more (got 0)"),
        (["regret", "--threads", "0"], "threads"),
    ):
        assert run(["reproduce", *arguments]) == 2, arguments
        told = capsys.readouterr().err
        assert told.count("\n") == 1 and word in told, told


def test_a_default_that_is_named_is_the_same_study(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("tuplet.studies.ewn_report.ewn_shortcuts.__defaults__", (60,))
    options = {"scale": 0.004, "out": tmp_path / "a"}
    assert reproduce("ewn-shortcuts", **options).command.endswith("--scale 0.004")
    named = reproduce("ewn-shortcuts", sims=60, **options)
    assert named.command.endswith("--scale 0.004")
    with pytest.raises(ValueError, match="its sims is the default, not 61"):
        reproduce("ewn-shortcuts", sims=61, **options)


def test_every_option_of_a_study_is_one_of_the_command() -> None:
    offered = set(inspect.signature(command).parameters)
    for name in STUDIES:
        study = study_function(name)
        assert {*inspect.signature(study).parameters} - {"context"} <= offered, name


@pytest.mark.parametrize("freed", [True, False])
def test_a_full_disk_loses_no_part_of_a_study(tmp_path: Path, monkeypatch, freed: bool) -> None:
    tried = []

    @contextmanager
    def atomic_write(path: Path) -> Iterator[Any]:
        tried.append(path)
        if not freed or len(tried) < 3:
            raise OSError(28, "No space left on device", str(path))
        with files.atomic_write(path) as file:
            yield file

    def do(number: int, _: Worker) -> int:
        return 2 * number

    monkeypatch.setattr("tuplet.studies.context.atomic_write", atomic_write)
    work = StudyContext("regret", tmp_path, 1.0, 0, 1, None, lambda _: None, Stop())
    with pytest.warns(UserWarning, match="cannot be saved|could not be saved") as told:
        assert work.parts(do, {str(n): (n,) for n in (1, 2, 3)}) == {"1": 2, "2": 4, "3": 6}
    texts = [str(each.message) for each in told]
    assert "parts cannot be saved in" in texts[0] and "(No space left on device)" in texts[0]
    kept = {path.name: path.read_text() for path in (tmp_path / "parts").iterdir()}
    if freed:
        assert kept == {"1.json": "2\n", "2.json": "4\n", "3.json": "6\n"} and len(texts) == 1
    else:
        assert kept == {} and "3 parts could not be saved in" in texts[1]


def test_a_report_that_cannot_be_written_is_returned(tmp_path: Path, monkeypatch) -> None:
    def write(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tuplet.studies.reproduce.write", write)
    with pytest.warns(UserWarning, match="the report was not written: .*No space left"):
        assert reproduce("regret", out=tmp_path / "a", **tiny("regret")).rows


def test_a_part_that_is_not_json_is_refused(tmp_path: Path) -> None:
    options = {"scale": 0.0005, "board": "2x2", "out": tmp_path / "a"}
    reproduce("regret", **options)
    part = sorted((tmp_path / "a" / "parts").iterdir())[0]
    part.write_text("{")
    with pytest.raises(ValueError, match="delete it"):
        reproduce("regret", **options)


def test_a_report_opens_in_a_browser_without_network_or_complaint(tmp_path: Path) -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("there is no chromium to open the report in")
    reproduce("regret", out=tmp_path / "a", **tiny("regret"))
    page = tmp_path / "a" / "report.html"
    done = subprocess.run(
        [
            chromium,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
            "--v=0",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--virtual-time-budget=2000",
            "--dump-dom",
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert "<h1>regret</h1>" in done.stdout and "CONSOLE" not in done.stderr


@pytest.mark.slow
def test_rounds_count_the_time_that_learners_side_by_side_would_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tuplet.learn.parallel.rounds.ALONE", 100)
    options = {"net": "0123 4567", "learners": "1 3"}
    report = reproduce("rounds", scale=0.01, out=tmp_path / "a", threads=2, **options).as_json()
    one, three = report["rows"]
    assert (one["learners"], three["learners"]) == (1, 3)
    assert one["games"] == three["games"] == 1200
    assert one["ours"] != three["ours"]
    assert three["round_MB"] > 0
    for curve in report["curves"].values():
        assert [point["learned"] for point in curve] == [200, 400, 600, 800, 1000, 1200]
        assert [point["seconds"] for point in curve] == sorted(point["seconds"] for point in curve)
    for wrong in ("", "0", "many"):
        with pytest.raises(ValueError, match="--learners must be numbers"):
            reproduce("rounds", out=tmp_path / "b", learners=wrong)
