"""Single key presses, out of the bytes that a terminal sends."""

from __future__ import annotations

import re

ARROWS = {"A": "up", "B": "down", "C": "right", "D": "left"}
LETTERS = {"w": "up", "a": "left", "s": "down", "d": "right", "k": "up", "j": "down", "l": "right"}

ESCAPE = "escape"  # the key alone
UNKNOWN = "?"  # a key, or whatever else a terminal reports, that has no meaning here
FASTER, SLOWER = ("+", "=", "up", "right"), ("-", "_", "down", "left")

# One after another, each is one key: what mice, pastes and terminals report, keys with a sequence
# of their own, Alt and a key, and characters of one to four bytes.
_KEY = re.compile(
    rb"""\x1b\[M.{3}                          # a mouse, as of old
    |\x1b\[200~.*?\x1b\[201~                  # a paste
    |\x1b{1,2}\[\[[A-E]                       # function keys of the Linux console
    |\x1b{1,2}\[(?!\[|M|200~)[0-?]*[ -/]*[@-~]
    |\x1b{1,2}O[ -~]
    |\x1b[P\]X^_].*?(?:\x07|\x1b\\)           # an answer to a question that nobody asked
    |\x1b(?![\[OP\]X^_\x1b])(?:[\x00-\x7f]|[\xc2-\xf4][\x80-\xbf]+)
    |[\x00-\x1a\x1c-\x7f]
    |[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}
    |(?:[\xc2-\xf4][\x80-\xbf]{0,2}(?=[^\x80-\xbf])|[\x80-\xc1\xf5-\xff])  # no character
    """,
    re.S | re.X,
)

# What may become one of these with more bytes.
_BEGUN = re.compile(
    rb"""\x1b{1,2}(?:\[[0-?]*[ -/]*|O|\[\[)?|\x1b\[M.{0,2}|\x1b\[200~.*|\x1b[P\]X^_].*
    |\x1b?(?:[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})""",
    re.S | re.X,
)


def changed(speed: int, key: str, speeds: int) -> int:
    """A speed, of so many, after one of these keys."""
    return min(speed + 1, speeds - 1) if key in FASTER else max(speed - 1, 0)


class KeyReader:
    """Bytes to keys: "up", "left", ..., the character in lower case, ESCAPE or UNKNOWN."""

    def __init__(self) -> None:
        self._begun = b""  # of a key that has not arrived whole

    @property
    def unfinished(self) -> bool:
        """Whether more of a key is to be expected at once."""
        return bool(self._begun)

    def keys(self, data: bytes) -> list[str]:
        """The keys that are complete with these bytes."""
        text, at, found = self._begun + data, 0, []
        while at < len(text):
            match = _KEY.match(text, at)
            if match is None and _BEGUN.fullmatch(text, at):
                break
            found.append(_named(match[0]) if match else ESCAPE)  # Esc, and then something else
            at = match.end() if match else at + 1
        self._begun = text[at:]
        return found

    def give_up(self) -> list[str]:
        """No more has come: Esc was pressed, or something was cut off, which is no key."""
        begun, self._begun = self._begun, b""
        return [ESCAPE if begun in (b"\x1b", b"\x1b\x1b") else UNKNOWN] if begun else []


def _named(key: bytes) -> str:
    if key[0] == 0x1B:
        sent = re.fullmatch(rb"\x1b{1,2}(?:\[[0-9;]*|O)([A-D])", key)
        return ARROWS[sent[1].decode()] if sent else UNKNOWN
    text = key.decode("utf-8", "ignore").lower()
    return LETTERS.get(text, text) or UNKNOWN
