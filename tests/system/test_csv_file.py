"""Tables as CSV: what is written is read back."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tuplet.system.tables import write_csv


def test_a_table_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    rows = [(1, 0.1, None, 'a "b", c\nd'), (2, 1e-9, "würfelt", "")]
    path = write_csv(tmp_path / "t.csv", ["n", "x", "nothing", "text"], rows)
    with path.open(newline="", encoding="utf-8") as file:
        header, *read = csv.reader(file)
    assert header == ["n", "x", "nothing", "text"]
    assert read == [["1", "0.1", "", 'a "b", c\nd'], ["2", "1e-09", "würfelt", ""]]
    with pytest.raises(FileNotFoundError, match="no folder"):
        write_csv(tmp_path / "no" / "t.csv", ["n"], [])


def test_a_table_that_fails_half_way_leaves_the_old_one(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "t.csv", ["n"], [[1]])

    def rows() -> object:
        yield [2]
        raise ValueError("half-way")

    with pytest.raises(ValueError, match="half-way"):
        write_csv(path, ["n"], rows())  # type: ignore[arg-type]
    assert path.read_text() == "n\n1\n" and list(tmp_path.iterdir()) == [path]
