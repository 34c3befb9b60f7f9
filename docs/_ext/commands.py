"""The reference of the command line, from the very declarations that make `--help`.

`.. commands::` lists the commands of tuplet, a sentence each, and documents them one by one.
"""

from __future__ import annotations

import re
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


def with_examples(section: str) -> str:
    """A command's section, with the examples of its help at the end."""
    named = {"-".join(words): command for words, command in commands().items()}
    label = re.match(r"\.\. _cyclopts-tuplet-([\w-]+):", section)
    if label is None or label[1] not in named:
        return section
    lines = named[label[1]].help_epilogue.partition("Examples:")[2].split("\n")
    return section + "\n".join(
        ["**Examples:**", "", "::", "", *(f"    {line.strip()}" for line in lines if line), "", ""]
    )


class Commands(SphinxDirective):
    """All commands."""

    def run(self) -> list[nodes.Node]:
        """The list, and a section each."""
        self.env.note_reread()  # the code may have changed, whatever the page's date
        text = tuplet.generate_docs(output_format="rst", heading_level=2, flatten_commands=True)
        text = "".join(map(with_examples, re.split(r"(?m)^(?=\.\. _cyclopts-tuplet-)", text)))
        first = next(iter(commands()))
        _, label, entries = text.partition(f".. _cyclopts-tuplet-{'-'.join(first)}:")
        text = "\n".join((*listed(), "", label + entries))
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
