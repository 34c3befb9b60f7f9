"""Formulas become MathML when a page is built: browsers draw it themselves, without a script."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator


def _mathml(node: nodes.math | nodes.math_block, display: str) -> str:
    """The formula, or a warning: what cannot be drawn must not be shown as code unnoticed."""
    formula = node.astext()
    try:
        return convert(formula, display=display)
    except Exception as error:  # latex2mathml has a class for each of its complaints
        message = "this formula cannot be drawn (%s): %s"
        logging.getLogger(__name__).warning(message, error, formula, location=node)
        return ""


def _inline(translator: HTML5Translator, node: nodes.math) -> None:
    translator.body.append(_mathml(node, "inline"))
    raise nodes.SkipNode


def _block(translator: HTML5Translator, node: nodes.math_block) -> None:
    translator.body.append(translator.starttag(node, "div", CLASS="formula"))
    translator.body.append(_mathml(node, "block"))
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
