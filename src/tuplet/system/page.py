"""Self-contained HTML pages: one file that loads nothing.

The content security policy forbids all network access, and every script and style but the page's own.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from hashlib import sha256
from html import escape
from pathlib import Path


def document(title: str, parts: Iterable[str], style: str = "", script: str = "") -> str:
    """A page of these parts, in the common style, with more style and a script if given."""
    style = Path(__file__).with_suffix(".css").read_text(encoding="utf-8") + style
    own = f"script-src '{_digest(script)}'; " if script else ""
    policy = (
        f"default-src 'none'; {own}style-src '{_digest(style)}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    lines = [
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>",
        *parts,
        f"<script>{script}</script>" if script else "",
        "</body>\n</html>\n",
    ]
    return "\n".join(line for line in lines if line)


def picture(svg: str, alt: str) -> str:
    """An embedded picture, isolated from the page's style."""
    data = b64encode(svg.encode()).decode()
    return f'<img alt="{escape(alt)}" src="data:image/svg+xml;base64,{data}">'


def interval_bars(bars: Sequence[tuple[str, float, tuple[float, float]]], low: float, high: float) -> str:
    """Values with their intervals, one below the other, on the scale from `low` to `high`, as SVG.

    A bar is a CSS class, a value, and the ends of its interval.
    """

    def x(value: float) -> str:
        share = (min(max(value, low), high) - low) / ((high - low) or 1)
        return f"{4 + 192 * share:.1f}"

    parts = [
        f'<g class="{name}"><line x1="{x(ends[0])}" x2="{x(ends[1])}" y1="{y}" y2="{y}" stroke-width="3" '
        f'stroke-linecap="round" opacity="0.45"/><circle cx="{x(value)}" cy="{y}" r="3.5" stroke="none"/></g>'
        for y, (name, value, ends) in zip(range(8, 10**6, 10), bars, strict=False)
    ]
    return f'<svg viewBox="0 0 200 {6 + 10 * len(bars)}" aria-hidden="true">{"".join(parts)}</svg>'


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
