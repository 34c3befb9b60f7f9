"""The cache of compiled code: unreadable files are replaced, unused folders removed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tuplet.kernel import cache_folder, cache_folders, kernel


def doubled(number: int) -> int:
    return number * 2


@pytest.fixture
def files() -> Iterator[dict[str, Path]]:
    """The cached index and code of `doubled`."""
    if cache_folder() is None:
        pytest.skip("no cache folder can be written")
    compiled: Any = kernel(doubled)
    assert compiled(4) == 8
    index = Path(compiled._cache._cache_file._index_path)
    yield {"index": index, "code": index.with_name(index.stem + ".1.nbc")}
    shutil.rmtree(index.parent, ignore_errors=True)
    cache_folders._USER_FOLDERS.clear()


def hits() -> int:
    """Cache hits of one call, as in a fresh process."""
    compiled: Any = kernel(doubled)
    assert compiled(21) == 42
    return int(sum(compiled.stats.cache_hits.values()))


DAMAGE: dict[str, Callable[[Path], Any]] = {
    "emptied": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-20]),
    "other bytes": lambda path: path.write_bytes(bytes(range(256)) * 9),
}


@pytest.mark.parametrize("part", ["index", "code"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_an_unreadable_cache_file_is_compiled_and_written_again(files: dict[str, Path], part: str, damage: str) -> None:
    assert hits() == 1
    DAMAGE[damage](files[part])
    assert hits() == 0
    assert hits() == 1


def test_a_removed_cache_file_is_written_again(files: dict[str, Path]) -> None:
    for path in files.values():
        path.unlink()
        assert hits() == 0
        assert hits() == 1


def test_a_folder_in_use_is_not_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    folder = cache_folder.__wrapped__()
    assert folder is not None
    os.utime(folder, (0, 0))
    cache_folder.__wrapped__()  # used again a month later
    cache_folders._remove_old(folder.parent, "kernels-*")
    assert folder.exists()
    os.utime(folder, (0, 0))  # not used for a month
    cache_folders._remove_old(folder.parent, "kernels-*")
    assert not folder.exists()
