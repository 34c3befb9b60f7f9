"""Pages of the docs: their blocks of code, and what the code prints."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent.parent / "docs"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_BLOCK = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.S | re.M)


def blocks(kind: str, text: str) -> list[str]:
    """The code blocks of a language, in order."""
    return [code for language, code in _BLOCK.findall(text) if language == kind]


def arguments_of(line: str) -> list[str]:
    """The arguments of a line that begins with `tuplet`."""
    return shlex.split(line, comments=True)[1:]


def follow(tuplet: Any, text: str, folder: Path) -> int:
    """Do what a tutorial says, in its order, and compare what it shows; returns how often it did.

    Every line of `sh` is a command, and a `text` behind it is what it printed; Python that begins
    with `# name.py` is a file, Python with `>>>` a session. The folder must be the current one.
    """
    names: dict[str, Any] = {}
    runner, checker = doctest.DocTestRunner(optionflags=FLAGS), doctest.OutputChecker()
    printed, compared = "", 0
    for kind, code in _BLOCK.findall(text):
        if kind == "sh":
            printed = ""
            for line in code.splitlines():
                if not line.startswith("tuplet "):
                    subprocess.run(shlex.split(line), cwd=folder, check=True)
                    continue
                done = tuplet(*arguments_of(line), cwd=folder)
                assert done.returncode == 0, (line, done.stderr)
                printed += done.stdout
        elif kind == "text":
            assert checker.check_output(code, printed, FLAGS), f"shown:\n{code}\nis:\n{printed}"
            compared += 1
        elif kind == "python" and (file := re.match(r"# (\w+\.py)\n", code)):
            (folder / file[1]).write_text(code)
        elif kind == "python":
            test = doctest.DocTestParser().get_doctest(code, names, "page", None, 0)
            failed: list[str] = []
            runner.run(test, out=failed.append, clear_globs=False)
            assert test.examples and not failed, "".join(failed)
            names = test.globs
            compared += len(test.examples)
    return compared
