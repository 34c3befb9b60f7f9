"""Players that come with tuplet: found by name, and where one is missing, told what makes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tuplet import Network, Spec, evaluate, list_agents, make_agent
from tuplet.cli import run
from tuplet.values import players
from tuplet.values.packed import packed_notes, write_packed
from tuplet.values.players import DEFAULT_PLAYER, PLACE, PLAYERS, STRONG, find_player, installed_players

pytestmark = pytest.mark.slow


def test_learned_values_of_games_are_found_by_the_name_of_the_game() -> None:
    import tuplet
    from tuplet.values.players import VALUES, bundled_values
    from tuplet.values.weights import load_game_network

    for name in VALUES:
        path = bundled_values(name)
        assert path is not None
        assert path.stat().st_size < 2_000_000
        game = tuplet.game(name)
        assert load_game_network(name, game).trained
    assert bundled_values("ewn:board=4x4,cubes=3") is None


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without a strong player; returns the folder of one's own, which is empty."""
    package, folder = tmp_path / "clone" / "src" / "tuplet", tmp_path / "own"
    for each in (package / "players", folder, tmp_path / "here"):
        each.mkdir(parents=True)
    (package / "players" / "small.xz").symlink_to(PLAYERS / "small.xz")
    (tmp_path / "clone" / "Makefile").touch()
    monkeypatch.setattr(players, "PACKAGE", package)
    monkeypatch.setattr(players, "PLAYERS", package / "players")
    monkeypatch.setattr(players, "user_players_folder", lambda: folder)
    monkeypatch.chdir(tmp_path / "here")
    return folder


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize(
    "arguments",
    [
        ["eval", "strong", "--games", "1"],
        ["analyze", "2048", "--agent", "expectimax:depth=1,values=strong"],
        ["convert", "strong", "net.safetensors"],
        ["compare", "small", "strong", "--games", "1"],
    ],
)
def test_a_missing_player_is_answered_in_one_line_with_what_makes_it(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    said = capsys.readouterr().err
    assert said == "tuplet: the player strong is not installed: `make strong` trains it (30 minutes)\n"


def test_a_wheel_has_no_makefile_and_is_told_another_way(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (own.parent / "clone" / "Makefile").unlink()
    monkeypatch.delenv(PLACE, raising=False)
    with pytest.raises(FileNotFoundError) as raised:
        Network.load(STRONG)
    said = str(raised.value)
    assert (
        "tuplet train --recipe strong --budget 30m --out strong" in said
        and "set TUPLET_PLAYERS, and run `tuplet fetch strong`" in said
    )
    assert "make strong" not in said and "\n" not in said
    Network("01").save("strong")  # what that command would leave here
    assert Network.load(STRONG).name == "01"


def test_players_are_listed_where_they_are(own: Path) -> None:
    assert [*installed_players()] == [DEFAULT_PLAYER]
    write_packed(Network("01"), own / "strong.xz", size=10_000, notes={"games": "123456"})
    assert [*installed_players()] == [DEFAULT_PLAYER, STRONG]
    assert installed_players()[STRONG].endswith("learned values, of 123,456 games.")
    listed = [row["agent"] for row in list_agents("2048").rows if row["learned"]]
    assert listed == [DEFAULT_PLAYER, STRONG] and list_agents("2048").more["default"] == DEFAULT_PLAYER
    assert not [row for row in list_agents("2048:board=3x3").rows if row["learned"]]
    assert find_player(STRONG) == own / "strong.xz"
    write_packed(Network("012"), players.PLAYERS / "strong.xz")  # the package's comes first
    assert Network.load(STRONG).name == "012"
    assert find_player("another") is find_player("here/strong") is None


@pytest.mark.usefixtures("own")
def test_from_the_page_a_run_comes_before_a_player_of_its_name(tmp_path: Path) -> None:
    """But for the one who plays where nobody is named."""
    runs = tmp_path / "runs"
    runs.mkdir()
    for name in (DEFAULT_PLAYER, STRONG):
        stranger = Spec(name, folder=runs)
        assert stranger.path(name) == Path(name)
        (runs / name).mkdir()
        assert stranger.path(name) == (Path(name) if name == DEFAULT_PLAYER else runs / name)
    with pytest.raises(FileNotFoundError, match="`make strong` trains it"):
        make_agent(Spec(STRONG), "2048")


def test_the_strong_player_is_small_enough_and_strong() -> None:
    file = PLAYERS / "strong.xz"
    assert file.stat().st_size <= 36_700_000
    net = Network.load(file)
    assert net.name == "12g" and packed_notes(file)["games"].isdecimal()
    # Of 40 games the mean is off by 33,000 points in one of twenty cases, and by 66,000 in none.
    assert evaluate(net, games=40, threads=2, seed=1).summary.mean_score > 190_000
