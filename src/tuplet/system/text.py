"""Text made fit to be shown: sanitized, in one line, or in lines that fit a window."""

from __future__ import annotations

import re
from collections.abc import Sequence


def sanitize(text: str) -> str:
    r"""A text without terminal escape sequences and other control characters, for text from files and programs.

    >>> sanitize("me\x1b[2J\x9b1m")
    'me?[2J?1m'
    """
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)


def in_one_line(text: str, most: int = 2000) -> str:
    """A sanitized text in one line of at most `most` characters."""
    line = sanitize(re.sub(r"\s*\n\s*", " ", text.strip()))
    return line if len(line) <= most else f"{line[: most - 4]} ..."


def flow(items: Sequence[str], columns: int) -> list[str]:
    """Items side by side in as few lines as possible; no item is split.

    >>> flow(["500 of 1,000 games", "mean 24,100", "1:38 left"], 40)
    ['500 of 1,000 games  mean 24,100', '1:38 left']
    """
    gap, lines = "   " if columns >= 60 else "  ", list[str]()
    for item in items:
        if lines and len(lines[-1]) + len(gap) + len(item) <= columns:
            lines[-1] += gap + item
        else:
            lines.append(item)
    return lines
