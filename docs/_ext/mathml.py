"""Formulas become MathML when a page is built: browsers draw it themselves, without a script."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator


def mathml(formula: str, display: str) -> str:
    """The formula; ValueError says why it cannot be drawn."""
    try:
        drawn = convert(formula, display=display)
    except Exception as error:  # latex2mathml has a class for each of its complaints
        raise ValueError(f"{type(error).__name__} {error}") from error
    if "\\" in drawn:  # it shows a command that it does not know as it stands
        raise ValueError("an unknown command")
    return drawn


def _draw(translator: HTML5Translator, node: nodes.math | nodes.math_block, display: str) -> None:
    try:
        translator.body.append(mathml(node.astext(), display))
    except ValueError as error:
        message = "this formula cannot be drawn (%s): %s"
        logging.getLogger(__name__).warning(message, error, node.astext(), location=node)


def _inline(translator: HTML5Translator, node: nodes.math) -> None:
    _draw(translator, node, "inline")
    raise nodes.SkipNode


def _block(translator: HTML5Translator, node: nodes.math_block) -> None:
    translator.body.append(translator.starttag(node, "div", CLASS="formula"))
    _draw(translator, node, "block")
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
