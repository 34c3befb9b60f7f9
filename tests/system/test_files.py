"""Files that are replaced are whole, whoever else writes them."""

from __future__ import annotations

from pathlib import Path

from tuplet.system.files import atomic_write, remove_partial_files


def test_two_writers_of_a_file_do_not_mix_their_content(tmp_path: Path) -> None:
    """Threads of one process, or processes of two machines that have the same number."""
    path = tmp_path / "file"
    with atomic_write(path) as one:
        one.write(b"one ")
        with atomic_write(path) as other:
            other.write(b"the other")
        assert path.read_bytes() == b"the other"
        one.write(b"whole")
    assert path.read_bytes() == b"one whole"
    assert [*tmp_path.iterdir()] == [path]


def test_partial_files_of_killed_writers_are_removed(tmp_path: Path) -> None:
    writer = atomic_write(tmp_path / "file")
    writer.__enter__()
    assert len([*tmp_path.iterdir()]) == 1
    remove_partial_files(tmp_path / "file")
    assert not [*tmp_path.iterdir()]
