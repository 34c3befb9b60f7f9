"""The reference of the API, from `tuplet/__init__.pyi` and docstrings.

`.. public:: learn values` documents the public names of these packages, and what their
functions return; `.. public-names::` lists all of them, with the first sentence of each. A name
that is on no page is a warning, so that no page need be remembered when a name is added.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, get_type_hints

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.pycode import ModuleAnalyzer
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

import tuplet
from tuplet.system.settings import setting_fields

MODULES = {  # of public names
    alias.name: f"tuplet.{node.module}"
    for node in ast.parse(Path(tuplet.__file__).with_suffix(".pyi").read_text()).body
    if isinstance(node, ast.ImportFrom)
    for alias in node.names
}
# Their methods are no news; those of other libraries are documented there.
OF_PYTHON = "object, tuple, str, int, Exception, BaseException, Env, VectorEnv, AECEnv"
# What the docs name that is not at the front door.
BESIDE = {
    "learn": ("tuplet.learn.settings.Method", "tuplet.learn.settings.RunOptions"),
    "adapters": (
        "tuplet.adapters.gym.Env2048",
        "tuplet.adapters.gym.Vector2048",
        "tuplet.adapters.gym.TuplePolicy",
        "tuplet.adapters.pettingzoo.env",
        "tuplet.adapters.pettingzoo.GameEnv",
    ),
    "testing": ("tuplet.testing.check_game", "tuplet.testing.check_agent", "tuplet.testing.CheckFailed"),
}


def package(name: str) -> str:
    """The package of a public name: learn, arena, ..."""
    return MODULES[name].split(".")[1]


def result_of(verb: Any) -> type | None:
    """The class of what a function returns, if it is ours and not public itself."""
    names = vars(tuplet) | {name: getattr(tuplet, name) for name in tuplet.__all__}  # those for type checkers, too
    found = get_type_hints(verb, localns=names).get("return")
    if not inspect.isclass(found) or not found.__module__.startswith("tuplet."):
        return None
    return None if found.__name__ in tuplet.__all__ else found


def in_a_sentence(name: str) -> str:
    """What a public name is: the first paragraph of its docstring, or the comment of a constant."""
    value = getattr(tuplet, name)
    if callable(value):
        text = inspect.getdoc(value) or ""
    else:
        comments = ModuleAnalyzer.for_module(MODULES[name]).find_attr_docs()
        text = "\n".join(comments["", name])
    return " ".join(text.split("\n\n")[0].split())


def settings_of(kind: type) -> Iterator[str]:
    """The settings that a dataclass declares, with their help."""
    for name, _, each in setting_fields(kind):
        usual = each.metadata["usual"] or repr(each.default)
        yield from (f"   ``{name}`` = {usual}", f"      {each.metadata['doc']}", "")


def documented(path: str, value: Any) -> Iterator[str]:
    """The directive that documents a class, a function, or a constant."""
    if is_dataclass(value) and any("doc" in each.metadata for each in fields(value)):
        yield from (f".. autoclass:: {path}()", "")
        yield from settings_of(value)
    elif inspect.isclass(value):
        yield from (f".. autoclass:: {path}", "   :members:")
        yield from (f"   :inherited-members: {OF_PYTHON}", "")
    elif callable(value):
        yield from (f".. autofunction:: {path}", "")
    else:
        yield from (f".. py:data:: {path}", f"   :value: {value!r}", "")
        yield from (f"   {in_a_sentence(path.rpartition('.')[2])}", "")


class Public(SphinxDirective):
    """All public names of some packages: functions with what they return, classes, constants."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """The entries."""
        self.env.note_reread()  # the code may have changed, whatever the page's date
        lines: list[str] = []
        for word in self.arguments[0].split():
            names = [name for name in MODULES if package(name) == word]
            names.sort(key=lambda name: (name[0].isupper() or name[0] == "_", name.lower()))
            for name in names:
                value = getattr(tuplet, name)
                lines += documented(f"tuplet.{name}", value)
                result = result_of(value) if inspect.isfunction(value) else None
                if result is not None:
                    lines += documented(f"{result.__module__}.{result.__name__}", result)
            for path in BESIDE.get(word, ()):
                module, _, name = path.rpartition(".")
                lines += documented(path, getattr(import_module(module), name))
            _covered(self.env).setdefault(self.env.docname, set()).update(names)
        return self.parse_text_to_nodes("\n".join(lines))


class PublicNames(SphinxDirective):
    """A line for each public name: what it is, in a sentence."""

    def run(self) -> list[nodes.Node]:
        """The table."""
        self.env.note_reread()
        lines = [".. list-table::", "   :class: names", ""]
        for name in sorted(tuplet.__all__, key=str.lower):
            lines += [f"   * - :py:obj:`~tuplet.{name}`", f"     - {in_a_sentence(name)}"]
        return self.parse_text_to_nodes("\n".join(lines))


def _covered(env: BuildEnvironment) -> dict[str, set[str]]:
    """The names of each page."""
    if not hasattr(env, "tuplet_covered"):
        env.tuplet_covered = {}
    return env.tuplet_covered


def _purge(_: Sphinx, env: BuildEnvironment, docname: str) -> None:
    _covered(env).pop(docname, None)


def _merge(_: Sphinx, env: BuildEnvironment, names: list[str], other: BuildEnvironment) -> None:
    _covered(env).update({name: x for name, x in _covered(other).items() if name in names})


def _check(_: Sphinx, env: BuildEnvironment) -> None:
    for name in sorted(set(tuplet.__all__).difference(*_covered(env).values())):
        message = "tuplet.%s is on no page of the reference: `.. public:: %s` would document it"
        logging.getLogger(__name__).warning(message, name, package(name))


def _linked(app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.TextElement) -> nodes.Node | None:
    """A type in a signature, named by its module, to where it is documented."""
    name = node.get("reftarget", "").rpartition(".")[2]
    if node.get("refdomain") != "py" or name not in tuplet.__all__:
        return None
    python = env.get_domain("py")
    page = node.get("refdoc", "")
    return python.resolve_xref(env, page, app.builder, "obj", f"tuplet.{name}", node, content)


def _skip(_: Sphinx, what: str, name: str, value: Any, skip: bool, options: Any) -> bool | None:  # noqa: ARG001
    """Fields of named tuples: the signature has them, their docstring is "Alias for ..."."""
    return True if type(value).__name__ == "_tuplegetter" else None


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.setup_extension("sphinx.ext.autodoc")
    app.add_directive("public", Public)
    app.add_directive("public-names", PublicNames)
    app.connect("env-purge-doc", _purge)
    app.connect("env-merge-info", _merge)
    app.connect("env-check-consistency", _check)
    app.connect("missing-reference", _linked)
    app.connect("autodoc-skip-member", _skip)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
