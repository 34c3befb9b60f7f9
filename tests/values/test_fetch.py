"""`fetch`: a player from a server is kept only if it is the very file that this version knows."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tuplet import Network, Stop, Stopped, UserError, fetch
from tuplet.cli import run
from tuplet.values import fetch as fetching, players
from tuplet.values.packed import write_packed
from tuplet.values.players import PLACE, PLAYERS, STRONG, find_player, user_players_folder


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


class Breaking(BaseHTTPRequestHandler):
    """Announces more than it sends."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"the beginning")

    def log_message(self, *_: Any) -> None:
        pass


def serving(handler: Any) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A machine without a strong player, and the address of a folder that has it."""
    served, package = tmp_path / "served", tmp_path / "package"
    served.mkdir()
    package.mkdir()
    write_packed(Network("01"), served / "strong.xz")
    digest = hashlib.sha256((served / "strong.xz").read_bytes()).hexdigest()
    (package / "strong.sha256").write_text(f"{digest}  strong.xz\n")
    monkeypatch.setattr(players, "PLAYERS", package)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv(PLACE, raising=False)
    assert user_players_folder().is_relative_to(tmp_path)
    yield from serving(partial(Quiet, directory=served))


@pytest.fixture
def broken() -> Iterator[str]:
    yield from serving(Breaking)


def nothing_is_left() -> bool:
    return not user_players_folder().exists() or not [*user_players_folder().iterdir()]


def test_the_repository_names_the_digest_of_its_strong_player() -> None:
    assert players.strong_digest() == hashlib.sha256((PLAYERS / "strong.xz").read_bytes()).hexdigest()


def test_a_fetched_player_plays(place: str, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setenv(PLACE, f"{place}/")
    assert run(["fetch", "strong", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    file = user_players_folder() / "strong.xz"
    assert report["file"] == str(file) and report["downloaded"] == file.stat().st_size
    assert find_player(STRONG) == file and Network.load(STRONG).name == "01"
    assert [each.name for each in file.parent.iterdir()] == ["strong.xz"]
    assert fetch().downloaded == 0  # it is there, whatever the place


def test_another_file_is_not_kept(place: str, tmp_path: Path) -> None:
    (tmp_path / "served" / "strong.xz").write_bytes(b"not a player")
    with pytest.raises(UserError, match=r"is not the strong of tuplet .* nothing was kept"):
        fetch(source=place)
    assert nothing_is_left()


def test_a_file_without_end_is_given_up(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "MOST_BYTES", 10)
    with pytest.raises(UserError, match="larger than 10 bytes"):
        fetch(source=place)
    assert nothing_is_left()


def test_a_stopped_or_broken_download_leaves_nothing(place: str, broken: str) -> None:
    stop = Stop()
    stop.set()
    with pytest.raises(Stopped):
        fetch(source=place, stop=stop)
    with pytest.raises(UserError, match="could not be read"):
        fetch(source=broken)
    assert nothing_is_left()


def test_a_file_of_the_users_is_replaced_only_if_asked(place: str) -> None:
    file = user_players_folder() / "strong.xz"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"mine")
    with pytest.raises(UserError, match="--force"):
        fetch(source=place)
    assert file.read_bytes() == b"mine"
    fetch(source=place, force=True)
    assert Network.load(STRONG).name == "01"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (None, "set TUPLET_PLAYERS"),
        ("file:///etc", "--source must be the address of a folder"),
        ("ftp://host/folder", "--source must be"),
        ("https://", "--source must be"),
        ("https://host/a?b", "--source must be"),
        ("https://[x", "--source must be"),
        ("http://127.0.0.1:1", "could not be read"),
        ("http://127.0.0.1:99999", "could not be read"),
        ("{place}/other", "not found"),
    ],
)
def test_a_bad_place_is_answered_in_one_line(place: str, source: str | None, words: str, capsys) -> None:
    assert run(["fetch", "strong", *(["--source", source.format(place=place)] if source else [])]) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1
    assert nothing_is_left()


def test_only_the_strong_player_is_fetched() -> None:
    with pytest.raises(UserError, match="must be strong"):
        fetch("small")
