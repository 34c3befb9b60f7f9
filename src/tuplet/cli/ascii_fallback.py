"""Signs that a terminal may lack, and what stands for them: one plain character each, so that
columns stay columns.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Mapping
from typing import TextIO

LOOKALIKES = dict(zip("▶▸‹›·…±–—→←↓↑↘↖↗↙▄▀▁━╸╺×−≥≤λσüöä\u00a0", ">><>.~~--><v^\\\\//  _---x-><Lsuoa ", strict=True))
LOOKALIKES |= dict(zip("⚀⚁⚂⚃⚄⚅⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "      |/-\\|/-\\|/", strict=True))
ERRORS = "tuplet-lookalikes"  # how text is encoded: the name of an error handler
_PLAIN = str.maketrans(LOOKALIKES)


def _stand_in(error: UnicodeError) -> tuple[str, int]:
    """For signs that cannot be encoded: what looks like them, else a question mark."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(LOOKALIKES.get(sign, "?") for sign in lacking), error.end


codecs.register_error(ERRORS, _stand_in)


def plain(text: str) -> str:
    """A text with nothing but plain characters for the signs that we draw with."""
    return text.translate(_PLAIN)


def has_signs(stream: TextIO, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether a terminal shows more than plain characters.

    Python writes UTF-8 also where the locale is C, and then says so in LC_CTYPE; a user who set the locale so has a
    reason.
    """
    locales = [environment.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG")]
    if locales[1] in ("C.UTF-8", "C.utf8", "UTF-8"):  # Python's own words, or the same as LANG's
        del locales[1]
    locale = next((name for name in locales if name), "")
    utf8 = (getattr(stream, "encoding", None) or "utf-8").lower().startswith("utf")
    return utf8 and locale not in ("C", "POSIX")
