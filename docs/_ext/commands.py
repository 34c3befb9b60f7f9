"""The reference of the command line, from the very declarations that make `--help`.

`.. commands::` lists the commands of tuplet, a sentence each, and documents them one by one.
"""

from __future__ import annotations

from typing import Any

from cyclopts import App
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from tuplet.cli import app as tuplet


def commands(app: App = tuplet, *before: str) -> dict[tuple[str, ...], App]:
    """Every command by its words, those of `sweep` behind it."""
    found = {}
    for name in app:
        if not name.startswith("-"):
            found[*before, name] = app[name]
            found |= commands(app[name], *before, name)
    return found


def listed() -> list[str]:
    """A table of what each command does; the labels are those that Cyclopts gives its entries."""
    lines = [".. list-table::", "   :class: names", ""]
    for words, command in commands().items():
        label = "-".join(("cyclopts-tuplet", *words))
        first = " ".join(command.help.split("\n\n")[0].split())
        lines += [f"   * - :ref:`{' '.join(words)} <{label}>`", f"     - {first}"]
    return lines


class Commands(SphinxDirective):
    """All commands."""

    def run(self) -> list[nodes.Node]:
        """The list, and a section each."""
        self.env.note_reread()  # the code may have changed, whatever the page's date
        tuplet.help_format = "plaintext"  # docstrings as they are: reST fills paragraphs itself
        text = tuplet.generate_docs(output_format="rst", heading_level=2, flatten_commands=True)
        first = next(iter(commands()))
        _, label, entries = text.partition(f".. _cyclopts-tuplet-{'-'.join(first)}:")
        text = "\n".join((*listed(), "", label + entries))
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
