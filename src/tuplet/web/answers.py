"""Answers that many clients get, encoded once."""

from __future__ import annotations

import gzip
import json
from functools import cached_property
from typing import Any


def encode(content: Any) -> bytes:
    """JSON in ASCII: a text from a client may contain lone surrogates, which UTF-8 cannot encode."""
    return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


class Answer(dict[str, Any]):
    """An answer that does not change."""

    @cached_property
    def body(self) -> bytes:
        """The answer as JSON."""
        return encode(self)

    @cached_property
    def compressed(self) -> bytes:
        """The same, compressed."""
        return gzip.compress(self.body, 6, mtime=0)
