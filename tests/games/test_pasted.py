"""A board is read in whatever dress it was copied."""

from __future__ import annotations

import pytest

import tuplet
from tuplet import Board

ROWS = [[2, 0, 0, 4], [0, 8, 0, 0], [16, 32, 64, 128], [256, 512, 1024, 2048]]
FLAT = [tile for row in ROWS for tile in row]
BOARD = Board(ROWS)


def joined(sep: str, empty: str = "0", end: str = "\n", before: str = "", after: str = "") -> str:
    lines = (sep.join(str(tile or empty) for tile in row) for row in ROWS)
    return end.join(before + line + after for line in lines)


FORMS = {
    "commas": ",".join(map(str, FLAT)),
    "blanks": " ".join(map(str, FLAT)),
    "printed": str(BOARD),
    "repr": repr(BOARD),
    "list of rows": str(ROWS),
    "list": str(FLAT),
    "tuples": str(tuple(map(tuple, ROWS))),
    "braces": str(ROWS).replace("[", "{").replace("]", "}"),
    "dots": joined(" ", "."),
    "underscores": joined(" ", "_"),
    "dashes": joined(" ", "-"),
    "stars": joined("  ", "*"),
    "bars": joined(" | ", ".", before="| ", after=" |"),
    "nothing between bars": joined(" | ", " ", before="| ", after=" |"),
    "Markdown": "|---|:-:|---|--:|\n" + joined(" | ", " ", before="| ", after=" |"),
    "the Framework's": "+------------------------+\n"
    + "".join("|" + "".join(f"{tile:6}" for tile in row) + "|\n" for row in ROWS)
    + "+------------------------+\n",
    "drawn": "┌────┬────┬────┬────┐\n"
    + joined("│", " ", "\n├────┼────┼────┼────┤\n", "│", "│")
    + "\n└────┴────┴────┴────┘",
    "tabs": joined("\t"),
    "a spreadsheet": joined("\t", ""),
    "CSV": joined(",", ""),
    "commas at the ends": joined(", ", after=","),
    "slashes": joined(" ", ".", "/"),
    "semicolons": joined(",", end="; "),
    "bars between rows": joined(",", end="|"),
    "JSON": f'{{"score": 3, "board": {ROWS}}}',
    "JSON, flat": f'{{"tiles": {FLAT}}}',
    "NumPy": "[" + joined("   ", before="[", after="]") + "]",
    "NumPy's repr": "array([" + joined(", ", before="[", after="]", end=",\n ") + "], dtype=int32)",
    "floats": "[" + joined(". ", before="[", after=".]") + "]",
    "colours": joined(" ", ".", before="\x1b[1;38;2;9;9;9;48;5;7m", after="\x1b[0m"),
    "quoted": f'"{",".join(map(str, FLAT))}"',
    "quoted tiles": str([str(tile) for tile in FLAT]),
    "typed in a shell": joined(" ", ".", "\\n"),
    "Windows": joined(" ", ".", "\r\n"),
    "hard blanks": joined("\u00a0"),
    "indented": "\n\n" + joined(" ", ".", before="    ") + "\n\n",
    "lines above and below": f"{'=' * 20}\n{joined(' ', '.')}\n{'=' * 20}",
    "exponents": "exponents 1 0 0 2 0 3 0 0 4 5 6 7 8 9 10 11",
    "exponents in rows": "exponents:\n1,0,0,2\n0,3,0,0\n4,5,6,7\n8,9,10,11",
    "exponents in JSON": '{"exponents": [1, 0, 0, 2, 0, 3, 0, 0, 4, 5, 6, 7, 8, 9, 10, 11]}',
}


@pytest.mark.parametrize("form", FORMS)
def test_a_board_is_read_as_it_was_pasted(form: str) -> None:
    assert Board(FORMS[form]) == BOARD


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("2 . 4", "not 3 .0 or . is an empty cell"),
        ("0x123456789abcdef0", "is not a board"),
        ("2 4 8 16 / 32 64 128 / 256 512 1024 2048 / 2 2 2 2", "not 15"),
        ("1 2 4 8 " * 4, r"1 is not a tile \(row 1, column 1\)"),
        ("2 4 8 16 3" + " 0" * 11, r"3 is not a tile \(row 2, column 1.*if these are exponents"),
        ("2,4,8,16/0,0,17,0/0,0,0,0/0,0,0,0", r"17 is not a tile \(row 2, column 3\)"),
        ("exponents 1 2 3 18", r"exponents are 0 \(empty\) to 17 \(got 18\)"),
        ("3 " * 15 + "1024", "3 is not a tile"),
        ("[" * 5000, "not 0"),
        ("2 " * 9000, "a text of 18,000 letters"),
    ],
)
def test_ambiguous_text_is_refused_with_the_reason(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Board(text)


def test_a_typing_error_is_no_exponent_wherever_a_board_is_read() -> None:
    typo = "2,4,8,16,3" + ",0" * 11
    for read in (Board, tuplet.read, tuplet.game("2048").parse, tuplet.game("2048").position):
        with pytest.raises(ValueError, match="3 is not a tile"):
            read(typo)
    assert Board("1 0 0 3 0 5 0 0 0 0 0 0 0 0 0 1").tiles[:6] == [2, 0, 0, 8, 0, 32]  # no tile
