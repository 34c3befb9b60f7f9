"""Texts of others (names in files, what programs say) made fit to be shown."""

from __future__ import annotations

import re


def sanitize(text: str) -> str:
    r"""A text without what a terminal would obey: escape sequences and other controls.

    >>> sanitize("me\x1b[2J\x9b1m")
    'me?[2J?1m'
    """
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)


def in_one_line(text: str, most: int = 2000) -> str:
    """The same, in one line that is not too long."""
    line = sanitize(re.sub(r"\s*\n\s*", " ", text.strip()))
    return line if len(line) <= most else f"{line[: most - 4]} ..."
