"""Keys: what a terminal sends, and what it means; signs that it lacks."""

from __future__ import annotations

import io

import pytest

from tuplet.cli.ascii_fallback import ERRORS, has_signs, plain
from tuplet.cli.screen import ESCAPE, UNKNOWN, KeyReader


@pytest.mark.parametrize(
    ("sent", "keys"),
    [
        (b"q", ["q"]),
        (b"WasD", ["up", "left", "down", "right"]),
        (b"\x1b[A\x1bOB\x1b[1;5C\x1b\x1b[D", ["up", "down", "right", "left"]),
        ("é漢🂡".encode(), ["é", "漢", "🂡"]),
        (b"\x1bq\x1bn", [UNKNOWN, UNKNOWN]),  # Alt
        ("\x1bé".encode(), [UNKNOWN]),
        (b"\x1bOP\x1b[15~\x1b[[A\x1b[24;2~", [UNKNOWN] * 4),  # function keys
        (b"\x1b[<0;13;4M\x1b[<0;13;4m\x1b[M !!\x1b[I", [UNKNOWN] * 4),  # mice, focus
        (b"\x1b[200~q\nq\x1b[A\x1b[201~1", [UNKNOWN, "1"]),  # a paste
        (b"\x1b]11;rgb:0/0/0\x1b\\\x1bP1q\x07x", [UNKNOWN, UNKNOWN, "x"]),
        (b"\xff\xc3(u", [UNKNOWN, UNKNOWN, "(", "u"]),  # no UTF-8
        (b"\x1b\x1bq", [ESCAPE, UNKNOWN]),
    ],
)
def test_every_sequence_is_one_key(sent: bytes, keys: list[str]) -> None:
    assert KeyReader().keys(sent) == keys
    reader, found = KeyReader(), []
    for byte in sent:  # over the slowest of lines
        found += reader.keys(bytes([byte]))
    assert found + reader.give_up() == keys


def test_esc_alone_is_a_key_once_nothing_follows() -> None:
    reader = KeyReader()
    assert reader.keys(b"\x1b") == [] and reader.unfinished
    assert reader.give_up() == [ESCAPE] and not reader.unfinished
    assert reader.keys(b"\x1b[2") == [] and reader.give_up() == [UNKNOWN]
    assert reader.keys(b"q") == ["q"]


def test_signs_that_an_encoding_lacks_have_lookalikes() -> None:
    assert "3 ↘ ± ▶ 漢".encode("ascii", ERRORS) == b"3 \\ ~ > ?"
    assert "±".encode("cp1252", ERRORS) == b"\xb1"
    assert plain("▸1 3 →  ⚂") == ">1 3 >   "


@pytest.mark.parametrize(
    ("environment", "encoding", "signs"),
    [
        ({}, "utf-8", True),
        ({"LANG": "C.UTF-8"}, "utf-8", True),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, "utf-8", False),  # as Python sets it
        ({"LC_ALL": "POSIX", "LANG": "de_DE.UTF-8"}, "utf-8", False),
        ({"LANG": "de_DE.UTF-8"}, "cp1252", False),
    ],
)
def test_plain_characters_where_the_locale_asks_for_them(environment, encoding, signs) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    assert has_signs(stream, environment) is signs
