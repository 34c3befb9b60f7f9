"""Damaged compiled code is found before it runs, compiled and written again, and told of once."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tuplet.kernel import cache_folder, cache_folders, compile as kept, kernel


def doubled(number: int) -> int:
    return number * 2


@pytest.fixture
def files() -> Iterator[dict[str, Path]]:
    """The index and the code that are kept of `doubled`."""
    if cache_folder() is None:
        pytest.skip("no cache folder can be written")
    compiled: Any = kernel(doubled)
    assert compiled(4) == 8
    index = Path(compiled._cache._cache_file._index_path)
    yield {"index": index, "code": index.with_name(index.stem + ".1.nbc")}
    shutil.rmtree(index.parent, ignore_errors=True)
    cache_folders._OWN.clear()


def hits() -> int:
    """How often a fresh process would find the code, of one call."""
    compiled: Any = kernel(doubled)
    assert compiled(21) == 42
    return int(sum(compiled.stats.cache_hits.values()))


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def become_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "more").write_text("in it")


DAMAGE: dict[str, Callable[[Path], Any]] = {
    "emptied": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-20]),
    "one bit": flip,
    "other bytes": lambda path: path.write_bytes(bytes(range(256)) * 9),
    "a folder": become_a_folder,
}


@pytest.mark.parametrize("part", ["index", "code"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_code_heals(files: dict[str, Path], part: str, damage: str) -> None:
    assert hits() == 1
    DAMAGE[damage](files[part])
    kept._tell_of_damage.cache_clear()
    with pytest.warns(UserWarning, match="was damaged: it is compiled again") as told:
        assert hits() == 0
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert hits() == 1


def test_what_was_removed_is_no_damage(files: dict[str, Path]) -> None:
    for path in files.values():
        path.unlink()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert hits() == 0
            assert hits() == 1


def test_of_much_damage_one_line_is_told(files: dict[str, Path]) -> None:
    kept._tell_of_damage.cache_clear()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for path in files.values():
            flip(path)
            assert hits() == 0
    assert len(told) == 1


def test_code_that_is_used_is_not_taken_for_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    folder = cache_folder.__wrapped__()
    assert folder is not None
    os.utime(folder, (0, 0))
    cache_folder.__wrapped__()  # a month later, somebody else begins
    cache_folders._remove_old(folder.parent, "kernels-*")
    assert folder.exists()
    os.utime(folder, (0, 0))  # and nobody again
    cache_folders._remove_old(folder.parent, "kernels-*")
    assert not folder.exists()
